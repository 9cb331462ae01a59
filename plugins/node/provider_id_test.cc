#include "plugins/node/provider_id.h"

#include <gtest/gtest.h>

namespace otc::node {
namespace {

constexpr char kId[] = "0a1b2c3d-0000-4000-8000-00000000abcd";

TEST(ProviderIdTest, BothFormsAreReadAndOneIsWritten) {
  for (const std::string& text : {"otc:///" + std::string(kId), "otc://" + std::string(kId),
                                  std::string("otc:///0A1B2C3D-0000-4000-8000-00000000ABCD")}) {
    const ProviderId id = ParseProviderId(text);
    EXPECT_EQ(id.kind, ProviderIdKind::kOurs) << text;
    EXPECT_EQ(id.server_id, kId);
  }
  EXPECT_EQ(FormatProviderId("0A1B2C3D-0000-4000-8000-00000000ABCD"), "otc:///" + std::string(kId));
}

TEST(ProviderIdTest, EverythingElseIsNotOurs) {
  EXPECT_EQ(ParseProviderId("").kind, ProviderIdKind::kNone);
  for (const char* text :
       {"aws:///eu-central-1a/i-0123", "openstack:///0a1b2c3d-0000-4000-8000-0000",
        "kind://docker/kind/kind-worker", "OTC:///x", "otc:/x", "otc", " otc:///x",
        "0a1b2c3d-0000-4000-8000-00000000abcd"}) {
    EXPECT_EQ(ParseProviderId(text).kind, ProviderIdKind::kForeign) << text;
  }
  const std::string id = kId;
  for (const std::string& text :
       {std::string("otc://"), std::string("otc:///"), std::string("otc:///vm-1"), "otc:////" + id,
        "otc:///eu-de/" + id, "otc:///" + id + "/", "otc:///" + id.substr(1),
        "otc:///{" + id.substr(2) + "}", "otc:///" + std::string(36, '-'),
        "otc:///" + std::string(36, 'a')}) {
    EXPECT_EQ(ParseProviderId(text).kind, ProviderIdKind::kMalformed) << text;
  }
}

}  // namespace
}  // namespace otc::node

#include "host/plugin/config_document.h"

#include <gtest/gtest.h>

namespace otc::host::plugin_host {
namespace {

TEST(ConfigDocument, HasSettingsCloudClusterAndRole) {
  const CloudView cloud{"eu-de", "eu-de_p", {{"LoadBalancer", {{"subnet-id", "a\"b"}}}}};
  EXPECT_EQ(ConfigDocument(R"({"x":1})", cloud, {"prod", "u-1"}, Role::kControllers),
            R"({"settings":{"x":1},"cloud":{"region":"eu-de","projectName":"eu-de_p",)"
            R"("sections":{"LoadBalancer":{"subnet-id":"a\"b"}}},)"
            R"("cluster":{"name":"prod","uid":"u-1"},"role":"controllers"})");
}

TEST(ConfigDocument, CsiNodeSeesNoCloud) {
  EXPECT_EQ(ConfigDocument("{}", CloudView{"eu-de", "p", {}}, {}, Role::kCsiNode),
            R"({"settings":{},"cluster":{"name":"","uid":""},"role":"csi-node"})");
}

TEST(ConfigDocument, GlobalSectionIsNeverPassedOn) {
  const CloudView cloud{"eu-de", "p", {{"Global", {{"secret-key", "s3cr3t"}}}, {"global", {}}}};
  EXPECT_EQ(ConfigDocument("{}", cloud, {}, Role::kAll).find("s3cr3t"), std::string::npos);
}

}  // namespace
}  // namespace otc::host::plugin_host

#include "otc/cpp/text.h"

#include <gtest/gtest.h>

#include <string>

#include "otc/cpp/call.h"
#include "otc/cpp/payload_text.h"

namespace otc {
namespace {

TEST(Text, KnowsUtf8) {
  for (const char* good : {"", "a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD",
                           "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xC3", "\xC0\xAF", "\xC1\xBF", "\xE0\x80\x80", "\xE2\x82",
                          "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5", "\xFF"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
    EXPECT_TRUE(IsUtf8(RepairedUtf8(bad))) << bad;
  }
  EXPECT_EQ(RepairedUtf8("a\xFF"
                         "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(RepairedUtf8("\xC3\xA4"), "\xC3\xA4");
}

TEST(Text, ViewsTakeNullAndLength) {
  EXPECT_EQ(View(otc_str{nullptr, 0}), "");
  EXPECT_EQ(View(otc_bytes{nullptr, 0}), "");
  EXPECT_EQ(View(Str(std::string_view("a\0b", 3))).size(), 3u);
  EXPECT_EQ(View(Bytes("xyz")), "xyz");
}

TEST(Text, ShortLineIsOneLineInItsLimit) {
  EXPECT_EQ(ShortLine("a\nb\tc\x7F\xFF").view(), "a b c ?");
  const std::string umlauts(1000, '\xC3');
  EXPECT_LE(ShortLine(umlauts).view().size(), 1024u);
  std::string wide;
  for (int i = 0; i < 600; ++i) wide += "\xC3\xA4";
  EXPECT_EQ(ShortLine("x" + wide).view().size(), 1023u);  // no half character
  EXPECT_TRUE(IsUtf8(ShortLine("x" + wide).view()));
}

TEST(Text, ReasonsAreCamelCaseWords) {
  for (const char* good : {"Abc", "NotConfigured", "E404x"}) EXPECT_TRUE(IsReason(good)) << good;
  for (const char* bad : {"", "Ab", "abc", "Not Configured", "Not-Configured", "\xC3\x84rger"}) {
    EXPECT_FALSE(IsReason(bad)) << bad;
  }
  EXPECT_FALSE(IsReason("A" + std::string(63, 'b')));
}

TEST(PayloadText, RepairsNestedRepeatedAndMappedStrings) {
  plugin::v1::LoadBalancerRequest request;
  request.mutable_service()->add_source_ranges("10.0.0.0/8\xFF");
  request.mutable_service()->mutable_ref()->set_namespace_("n\x80");
  request.add_nodes()->add_addresses()->set_address("\xC0");
  (*request.mutable_defaults())["k"] = "v\xFE";
  EXPECT_FALSE(ValidText(request));
  RepairText(&request);
  EXPECT_TRUE(ValidText(request));
  EXPECT_EQ(request.service().source_ranges(0), "10.0.0.0/8\xEF\xBF\xBD");
  EXPECT_EQ(request.service().ref().namespace_(), "n\xEF\xBF\xBD");
  EXPECT_EQ(request.defaults().at("k"), "v\xEF\xBF\xBD");
  plugin::v1::LoadBalancerRequest read;
  EXPECT_TRUE(read.ParseFromString(request.SerializeAsString()));
}

TEST(PayloadText, LeavesBytesAlone) {
  plugin::v1::CloudRequest request;
  request.set_body("\xFF\x00");
  EXPECT_TRUE(ValidText(request));
}

}  // namespace
}  // namespace otc

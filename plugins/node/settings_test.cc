#include "plugins/node/settings.h"

#include <gtest/gtest.h>

namespace otc::node {
namespace {

Result<Settings> Parse(const std::string& settings) {
  return ParseSettings(R"({"settings":)" + settings +
                       R"(,"cloud":{"region":"eu-de","projectName":"x","sections":{}},)"
                       R"("cluster":{"name":"c","uid":"u"},"role":"controllers","later":1})");
}

TEST(SettingsTest, DefaultsAndEveryKey) {
  const auto none = Parse("{}");
  ASSERT_TRUE(none.ok()) << none.status().ToString();
  EXPECT_EQ(none->region, "eu-de");
  EXPECT_EQ(none->vpc, "");
  EXPECT_TRUE(none->internal_cidrs.empty());
  EXPECT_TRUE(none->ipv6);
  EXPECT_TRUE(none->external_ips);

  const auto all = Parse(R"({"network":{"vpc":"0A1B2C3D-0000-4000-8000-00000000ABCD",
      "internalCIDRs":["10.0.0.0/16","fd00::/8"]},"ipv6":false,"externalIPs":false})");
  ASSERT_TRUE(all.ok()) << all.status().ToString();
  EXPECT_EQ(all->vpc, "0a1b2c3d-0000-4000-8000-00000000abcd");
  ASSERT_EQ(all->internal_cidrs.size(), 2u);
  EXPECT_EQ(all->internal_cidrs[0].bits, 16);
  EXPECT_TRUE(all->internal_cidrs[1].base.v6);
  EXPECT_FALSE(all->ipv6);
  EXPECT_FALSE(all->external_ips);
}

TEST(SettingsTest, AllMistakesAtOnceWithTheirPlace) {
  const auto bad = Parse(R"({"netwrok":{},"ipv6":"yes","network":{"vpc":"vpc-1","cidr":"x",
      "internalCIDRs":["10.0.0.0/33","fd00::","10.0.0.0/-1","10.0.0.0/8x",7]}})");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(bad.status().reason(), "BadSettings");
  for (const char* part :
       {"settings.netwrok: unknown setting; known are network, ipv6, externalIPs",
        "settings.ipv6: wanted true or false, found string", "settings.network.vpc: \"vpc-1\"",
        "settings.network.cidr: unknown", "internalCIDRs[0]: \"10.0.0.0/33\"",
        "internalCIDRs[1]: \"fd00::\"", "internalCIDRs[2]", "internalCIDRs[3]",
        "internalCIDRs[4]: wanted string, found number"}) {
    EXPECT_NE(bad.status().message().find(part), std::string::npos) << part << "\n"
                                                                    << bad.status().message();
  }
}

TEST(SettingsTest, ARoleWithoutACloudSwitchesThePluginOff) {
  const auto off = ParseSettings(R"({"settings":{},"role":"csi-node"})");
  ASSERT_FALSE(off.ok());
  EXPECT_EQ(off.status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(off.status().reason(), "NotConfigured");
}

TEST(SettingsTest, WhatIsNoDocumentIsRefused) {
  for (const char* text : {"", "x", "[]", "7", "{\"settings\":[],\"cloud\":{}}", "{\"cloud\":1}"}) {
    const auto bad = ParseSettings(text);
    ASSERT_FALSE(bad.ok()) << text;
    EXPECT_EQ(bad.status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(IpTest, CidrsHoldTheirAddresses) {
  const auto holds = [](const char* cidr, const char* ip) {
    return ParseCidr(cidr)->Contains(*ParseIp(ip));
  };
  EXPECT_TRUE(holds("10.1.0.0/16", "10.1.255.255"));
  EXPECT_FALSE(holds("10.1.0.0/16", "10.2.0.0"));
  EXPECT_TRUE(holds("10.1.2.3/16", "10.1.9.9"));
  EXPECT_TRUE(holds("10.0.0.128/25", "10.0.0.129"));
  EXPECT_FALSE(holds("10.0.0.128/25", "10.0.0.127"));
  EXPECT_TRUE(holds("0.0.0.0/0", "255.1.2.3"));
  EXPECT_FALSE(holds("0.0.0.0/0", "::1"));
  EXPECT_TRUE(holds("fd00::/8", "fdff::1"));
  EXPECT_FALSE(holds("::/0", "10.0.0.1"));
  EXPECT_TRUE(holds("10.0.0.1/32", "10.0.0.1"));
  EXPECT_FALSE(ParseIp("10.0.0"));
  EXPECT_FALSE(ParseIp("010.0.0.1x"));
  EXPECT_FALSE(ParseIp(""));
  EXPECT_EQ(ParseIp("FD00:0::1"), ParseIp("fd00::1"));
}

}  // namespace
}  // namespace otc::node

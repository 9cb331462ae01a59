#include "host/controllers/node_addresses.h"

#include <gtest/gtest.h>

#include "host/controllers/node_names.h"

namespace otc::host {
namespace {

// "Internal 10.1.1.1" → type InternalIP; "Hostname h".
AddressList List(const std::vector<std::string>& entries) {
  AddressList list;
  for (const std::string& entry : entries) {
    const auto blank = entry.find(' ');
    std::string type = entry.substr(0, blank);
    if (type == "Internal" || type == "External") type += "IP";
    list.push_back({type, entry.substr(blank + 1)});
  }
  return list;
}

Result<AddressList> Filter(const std::string& annotation, const std::vector<std::string>& cloud) {
  return FilterByProvidedIp(annotation, List(cloud));
}

kube::Node NodeWith(const std::vector<std::string>& addresses) {
  kube::Node node;
  node.addresses = List(addresses);
  return node;
}

const std::vector<std::string> kUsual = {"Internal 10.1.1.1", "Internal 10.2.2.2",
                                         "External 55.5.5.5", "Hostname h"};
const std::vector<std::string> kDual = {"Internal 10.1.1.1", "Internal FD00:0::0001",
                                        "External 55.5.5.5", "External 2001:db8::5", "Hostname h"};

TEST(ProvidedNodeIp, N25_InternalIpKeepsOtherTypes) {
  EXPECT_EQ(*Filter("10.1.1.1", kUsual),
            List({"Internal 10.1.1.1", "External 55.5.5.5", "Hostname h"}));
}

TEST(ProvidedNodeIp, N26_ExternalIpComesFirst) {
  EXPECT_EQ(*Filter("55.5.5.5", kUsual),
            List({"External 55.5.5.5", "Internal 10.1.1.1", "Internal 10.2.2.2", "Hostname h"}));
}

TEST(ProvidedNodeIp, N27_UnknownIpIsAnErrorThatNamesTheCloudsAddresses) {
  const auto result = Filter("10.9.9.9", kUsual);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().reason(), "ProvidedNodeIpUnknown");
  EXPECT_NE(result.status().message().find("10.9.9.9"), std::string::npos);
  EXPECT_NE(result.status().message().find("InternalIP 10.2.2.2"), std::string::npos);
}

TEST(ProvidedNodeIp, N28_MalformedAnnotations) {
  for (const char* text : {"", " 10.1.1.1", "10.1.1.1 ", "10.1.1.1,", "10.1.1.1,10.1.1.2",
                           "10.1.1.1,::", "0.0.0.0,fd00::1", "10.1.1.1,fd00::1,10.2.2.2",
                           "10.1.1.1, fd00::1", "host", "10.1.1.256", "10.1.1", "fe80::1%eth0"}) {
    const auto result = Filter(text, kDual);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.status().reason(), "ProvidedNodeIpInvalid") << text;
    EXPECT_NE(result.status().message().find("allowed are"), std::string::npos) << text;
  }
}

TEST(ProvidedNodeIp, N29_PairKeepsItsOrderAndTheCloudsSpelling) {
  EXPECT_EQ(*Filter("10.1.1.1,fd00::1", kDual),
            List({"Internal 10.1.1.1", "Internal FD00:0::0001", "External 55.5.5.5",
                  "External 2001:db8::5", "Hostname h"}));
  EXPECT_EQ(*Filter("fd00::1,10.1.1.1", kDual),
            List({"Internal FD00:0::0001", "Internal 10.1.1.1", "External 55.5.5.5",
                  "External 2001:db8::5", "Hostname h"}));
}

TEST(ProvidedNodeIp, N30_OneFamilyOfADualStackCloud) {
  EXPECT_EQ(*Filter("10.1.1.1", kDual),
            List({"Internal 10.1.1.1", "External 55.5.5.5", "External 2001:db8::5", "Hostname h"}));
  EXPECT_FALSE(Filter("10.1.1.1,fd00::1", kUsual).ok());
}

TEST(ProvidedNodeIp, N31_ExternalAndInternalOfTwoFamilies) {
  EXPECT_EQ(*Filter("55.5.5.5,fd00::1", kDual),
            List({"External 55.5.5.5", "Internal FD00:0::0001", "Hostname h"}));
}

TEST(ProvidedNodeIp, SpellingOfIpsDoesNotMatter) {
  EXPECT_EQ(*Filter("010.001.1.1", kUsual),
            List({"Internal 10.1.1.1", "External 55.5.5.5", "Hostname h"}));
  EXPECT_EQ(*Filter("::ffff:10.1.1.1", kUsual),
            List({"Internal 10.1.1.1", "External 55.5.5.5", "Hostname h"}));
}

TEST(ProvidedNodeIp, AnAddressUnderTwoTypesCountsForBoth) {
  EXPECT_EQ(*Filter("10.1.1.1", {"Internal 10.1.1.1", "External 10.1.1.1", "External 55.5.5.5"}),
            List({"Internal 10.1.1.1", "External 10.1.1.1"}));
}

TEST(ParseIp, Table) {
  EXPECT_TRUE(ParseIp("1.2.3.4")->is_v4);
  EXPECT_TRUE(ParseIp("::ffff:1.2.3.4")->is_v4);
  EXPECT_EQ(*ParseIp("::ffff:1.2.3.4"), *ParseIp("1.2.3.4"));
  EXPECT_FALSE(ParseIp("::1")->is_v4);
  EXPECT_TRUE(ParseIp("0.0.0.0")->IsUnspecified());
  EXPECT_TRUE(ParseIp("::")->IsUnspecified());
  EXPECT_FALSE(ParseIp("::1")->IsUnspecified());
  for (const char* bad :
       {"", "1", "1.2.3.4.5", "1.2.3.-4", "a.b.c.d", "1.2.3.4/24", ":::", "[::1]"}) {
    EXPECT_FALSE(ParseIp(bad).has_value()) << bad;
  }
  EXPECT_FALSE(ParseIp(std::string("::1\0x", 5)).has_value());
}

TEST(WantedAddresses, N22_HostnameOfTheNodeIsKept) {
  EXPECT_EQ(*WantedAddresses(NodeWith({"Hostname h", "Internal 10.0.0.1"}),
                             List({"Internal 10.0.0.2", "External 55.5.5.5"})),
            List({"Internal 10.0.0.2", "External 55.5.5.5", "Hostname h"}));
  EXPECT_EQ(*WantedAddresses(NodeWith({"Hostname old"}), List({"Hostname new"})),
            List({"Hostname new"}));
}

TEST(WantedAddresses, N21_EmptyCloudListWantsNothing) {
  kube::Node node = NodeWith({"Hostname h", "Internal 10.0.0.1"});
  node.meta.annotations[kAnnotationProvidedNodeIp] = "10.0.0.1";
  EXPECT_TRUE(WantedAddresses(node, {})->empty());
}

TEST(WantedAddresses, AnnotationFiltersAfterTheHostnameWasAdded) {
  kube::Node node = NodeWith({"Hostname h"});
  node.meta.annotations[kAnnotationProvidedNodeIp] = "10.1.1.1";
  EXPECT_EQ(*WantedAddresses(node, List({"Internal 10.2.2.2", "Internal 10.1.1.1"})),
            List({"Internal 10.1.1.1", "Hostname h"}));
  node.meta.annotations[kAnnotationProvidedNodeIp] = "10.9.9.9";
  EXPECT_FALSE(WantedAddresses(node, List({"Internal 10.2.2.2"})).ok());
}

TEST(CloudAddresses, RepetitionsAreDropped) {
  plugin::v1::InstanceMetadata metadata;
  for (const char* ip : {"10.0.0.1", "10.0.0.2", "10.0.0.1"}) {
    auto* address = metadata.add_addresses();
    address->set_type("InternalIP");
    address->set_address(ip);
  }
  EXPECT_EQ(CloudAddresses(metadata), List({"Internal 10.0.0.1", "Internal 10.0.0.2"}));
}

struct DifferCase {
  const char* name;
  std::vector<std::string> current;
  std::vector<std::string> wanted;
  bool differ;
};

TEST(AddressesDiffer, N18_N19_N20_Table) {
  const std::vector<DifferCase> cases = {
      {"equal", {"Internal 1.1.1.1", "Hostname h"}, {"Internal 1.1.1.1", "Hostname h"}, false},
      {"order of types",
       {"Hostname h", "Internal 1.1.1.1"},
       {"Internal 1.1.1.1", "Hostname h"},
       false},
      {"dual stack unchanged",
       {"Internal 1.1.1.1", "Internal ::1"},
       {"Internal 1.1.1.1", "Internal ::1"},
       false},
      {"primary swapped",
       {"Internal 1.1.1.1", "Internal ::1"},
       {"Internal ::1", "Internal 1.1.1.1"},
       true},
      {"changed", {"Internal 1.1.1.1"}, {"Internal 1.1.1.2"}, true},
      {"added", {"Internal 1.1.1.1"}, {"Internal 1.1.1.1", "External 5.5.5.5"}, true},
      {"removed", {"Internal 1.1.1.1", "External 5.5.5.5"}, {"Internal 1.1.1.1"}, true},
      {"other type", {"Internal 1.1.1.1"}, {"External 1.1.1.1"}, true},
      {"first addresses", {}, {"Internal 1.1.1.1"}, true},
  };
  for (const DifferCase& c : cases) {
    EXPECT_EQ(AddressesDiffer(List(c.current), List(c.wanted)), c.differ) << c.name;
  }
}

}  // namespace
}  // namespace otc::host

#include "plugins/node/addresses.h"

#include <gtest/gtest.h>

#include "plugins/node/labels.h"

namespace otc::node {
namespace {

namespace pb = otc::plugin::v1;

ServerAddress Fixed(const std::string& text, bool primary = false, const std::string& vpc = "v") {
  return {text, vpc, false, primary};
}
ServerAddress Floating(const std::string& text) { return {text, "v", true, false}; }

std::string Text(const AddressChoice& choice) {
  std::string text;
  for (const auto& address : choice.addresses) {
    text += (text.empty() ? "" : " ") + address.type() + "=" + address.address();
  }
  return text;
}

class AddressesTest : public ::testing::Test {
 protected:
  AddressesTest() { server_.name = "node-1"; }

  AddressChoice Choose() { return ChooseAddresses(server_, node_, settings_); }
  void NodeHas(const std::string& type, const std::string& address) {
    auto* added = node_.add_addresses();
    added->set_type(type);
    added->set_address(address);
  }
  // The Node takes over what was chosen, as the host writes it.
  void Apply(const AddressChoice& choice) {
    node_.clear_addresses();
    for (const auto& address : choice.addresses) *node_.add_addresses() = address;
  }

  Server server_;
  pb::Node node_;
  Settings settings_;
};

TEST_F(AddressesTest, P_H4_KindsComeInAFixedOrder) {
  server_.addresses = {Floating("80.158.1.2"), Fixed("fd00::10"), Fixed("10.0.0.10")};
  EXPECT_EQ(Text(Choose()),
            "InternalIP=10.0.0.10 InternalIP=fd00::10 ExternalIP=80.158.1.2 Hostname=node-1");
}

TEST_F(AddressesTest, P_H4_ThePrimaryInterfaceComesFirst) {
  server_.addresses = {Fixed("10.0.1.1"), Fixed("10.0.2.2", true), Fixed("10.0.3.3")};
  EXPECT_EQ(Text(Choose()),
            "InternalIP=10.0.2.2 InternalIP=10.0.1.1 InternalIP=10.0.3.3 Hostname=node-1");
}

TEST_F(AddressesTest, P_H4_TheOrderStaysWhenAnAnswerLacksThePrimaryMarkOrIsShuffled) {
  server_.addresses = {Fixed("10.0.1.1"), Fixed("10.0.2.2", true), Fixed("10.0.3.3")};
  const AddressChoice first = Choose();
  Apply(first);
  server_.addresses = {Fixed("10.0.3.3"), Fixed("10.0.1.1"), Fixed("10.0.2.2")};
  EXPECT_EQ(Text(Choose()), Text(first));
  server_.addresses.insert(server_.addresses.begin(), Fixed("10.0.0.9"));
  EXPECT_EQ(Text(Choose()),
            "InternalIP=10.0.2.2 InternalIP=10.0.1.1 InternalIP=10.0.3.3 InternalIP=10.0.0.9 "
            "Hostname=node-1")
      << "a new address goes behind those that are known";
}

TEST_F(AddressesTest, P_H4_TheNetworkChoiceFiltersAndRanks) {
  server_.addresses = {Fixed("192.168.0.5"), Fixed("10.0.0.5"), Fixed("172.16.0.5", true),
                       Floating("80.158.1.2")};
  settings_.internal_cidrs = {*ParseCidr("10.0.0.0/8"), *ParseCidr("192.168.0.0/16")};
  EXPECT_EQ(Text(Choose()),
            "InternalIP=10.0.0.5 InternalIP=192.168.0.5 ExternalIP=80.158.1.2 Hostname=node-1");
}

TEST_F(AddressesTest, P_H4_OnlyTheChosenVpcCounts) {
  server_.addresses = {Fixed("10.0.0.1", true, "other"), Fixed("10.0.0.2", false, "mine")};
  settings_.vpc = "mine";
  EXPECT_EQ(Text(Choose()), "InternalIP=10.0.0.2 Hostname=node-1");
}

TEST_F(AddressesTest, NoAddressInTheNetworkMeansNone) {
  server_.addresses = {Fixed("10.0.0.1"), Floating("80.158.1.2")};
  settings_.internal_cidrs = {*ParseCidr("192.168.0.0/16")};
  const AddressChoice choice = Choose();
  EXPECT_EQ(Text(choice), "");
  EXPECT_TRUE(choice.none_in_network);
  server_.addresses.clear();
  EXPECT_FALSE(Choose().none_in_network) << "a server that is being built has none at all";
}

TEST_F(AddressesTest, FamiliesAndElasticAddressesCanBeLeftOut) {
  server_.addresses = {Fixed("fd00::1"), Fixed("10.0.0.1"), Floating("80.158.1.2")};
  settings_.ipv6 = false;
  settings_.external_ips = false;
  EXPECT_EQ(Text(Choose()), "InternalIP=10.0.0.1 Hostname=node-1");
}

TEST_F(AddressesTest, DoublesAndNonsenseAreLeftOut) {
  server_.addresses = {Fixed("10.0.0.1"), Fixed("10.0.0.1"), Fixed("FD00::0001"), Fixed("fd00::1"),
                       Fixed("pending")};
  const AddressChoice choice = Choose();
  EXPECT_EQ(Text(choice), "InternalIP=10.0.0.1 InternalIP=FD00::0001 Hostname=node-1");
  EXPECT_EQ(choice.unreadable, std::vector<std::string>{"pending"});
}

TEST_F(AddressesTest, ANameThatIsNoHostNameIsNotOne) {
  server_.addresses = {Fixed("10.0.0.1")};
  server_.name = "my server";
  EXPECT_EQ(Text(Choose()), "InternalIP=10.0.0.1");
}

TEST(LabelsTest, LabelValues) {
  for (const char* good : {"a", "eu-de-01", "s3.medium.2", "A_b.C-9"}) {
    EXPECT_TRUE(IsLabelValue(good)) << good;
  }
  for (const std::string& bad :
       {std::string(""), std::string("eu-de 01"), std::string("-a"), std::string("a-"),
        std::string("a/b"), std::string("ä"), std::string(64, 'a')}) {
    EXPECT_FALSE(IsLabelValue(bad)) << bad;
  }
  EXPECT_TRUE(IsLabelValue(std::string(63, 'a')));
}

}  // namespace
}  // namespace otc::node

#include "host/controllers/node_sync.h"

#include <gtest/gtest.h>

#include "host/controllers/testing/controller_fixture.h"

namespace otc::host {
namespace {

using plugin::v1::InstanceDescribeResult;

class Sync : public ControllerFixture {
 protected:
  // An initialised node whose cloud says the same as it does.
  kube::Node Join(const std::string& name, const AddressList& addresses) {
    kube::Node node = MakeNode(name);
    node.provider_id = Id(name);
    node.addresses = addresses;
    for (const char* label : {kLabelZone, kLabelZoneBeta}) node.meta.labels[label] = "z1";
    for (const char* label : {kLabelInstanceType, kLabelInstanceTypeBeta}) {
      node.meta.labels[label] = "s3.large.2";
    }
    Serve(name, addresses);
    api_.PutNode(node);
    api_.ClearCalls();
    return node;
  }
  void Serve(const std::string& name, const AddressList& addresses,
             const std::string& type = "s3.large.2") {
    InstanceDescribeResult result = RunningServer(Id(name));
    result.mutable_metadata()->set_zone("z1");
    result.mutable_metadata()->set_instance_type(type);
    for (const auto& address : addresses) {
      AddAddress(result.mutable_metadata(), address.type, address.address);
    }
    instances_.Set(Id(name), result);
  }
  void SyncAll() { sync_.SyncAll(Context()); }

  const AddressList single_{{"InternalIP", "10.0.0.1"}, {"Hostname", "a"}};
  const AddressList dual_{{"InternalIP", "10.0.0.1"}, {"InternalIP", "fd00::1"}, {"Hostname", "a"}};
  NodeSync sync_{Deps(), NodeControllerOptions{}};
};

TEST_F(Sync, N18_ListAfterwardsIsTheCloudsIncludingOrder) {
  Join("a", single_);
  const AddressList wanted{
      {"InternalIP", "fd00::1"}, {"InternalIP", "10.0.0.2"}, {"Hostname", "a"}};
  Serve("a", wanted);
  SyncAll();
  EXPECT_EQ(Stored("a").addresses, wanted);
  const auto patches = api_.Calls("PatchNode");
  ASSERT_EQ(patches.size(), 1U);
  EXPECT_EQ(patches[0].subresource, "status");
  SyncAll();
  EXPECT_EQ(Writes(), 1);
}

TEST_F(Sync, N19_OtherOrderOfTypesIsNoChange) {
  Join("a", single_);
  Serve("a", {single_[1], single_[0]});
  SyncAll();
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Sync, N20_UnchangedDualStackNodeIsNotPatched) {
  Join("a", dual_);
  for (int i = 0; i < 3; ++i) SyncAll();
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Sync, N21_EmptyCloudListEmptiesNothing) {
  Join("a", single_);
  Serve("a", {});
  SyncAll();
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Sync, N22_HostnameOfTheNodeStaysAtTheEnd) {
  Join("a", single_);
  Serve("a", {{"InternalIP", "10.0.0.2"}});
  SyncAll();
  EXPECT_EQ(Stored("a").addresses, (AddressList{{"InternalIP", "10.0.0.2"}, {"Hostname", "a"}}));
}

TEST_F(Sync, N23_UninitialisedNodesAreSkipped) {
  Join("a", single_);
  api_.PutNode(MakeNewNode("b"));
  SyncAll();
  ASSERT_EQ(instances_.Calls().size(), 1U);
  EXPECT_EQ(instances_.Calls()[0].names, std::vector<std::string>{"a"});
  EXPECT_TRUE(instances_.Calls()[0].want_metadata);
}

TEST_F(Sync, N24_AnErrorOfOneNodeDoesNotStopTheOthers) {
  for (const char* name : {"a", "b", "c"}) {
    Join(name, single_);
    Serve(name, {{"InternalIP", "10.0.0.9"}});
  }
  instances_.Set(Id("b"), ServerInState(plugin::v1::INSTANCE_STATE_UNKNOWN, "Throttled"));
  SyncAll();
  EXPECT_EQ(Stored("a").addresses[0].address, "10.0.0.9");
  EXPECT_EQ(Stored("b").addresses[0].address, "10.0.0.1");
  EXPECT_EQ(Stored("c").addresses[0].address, "10.0.0.9");
}

TEST_F(Sync, N27_N28_UnusableAnnotationLeavesAddressesAlone) {
  for (const char* text : {"10.9.9.9", "", "nonsense"}) {
    kube::Node node = Join("a", single_);
    node.meta.annotations[kAnnotationProvidedNodeIp] = text;
    api_.PutNode(node);
    Serve("a", {{"InternalIP", "10.0.0.2"}});
    SyncAll();
    EXPECT_EQ(Stored("a").addresses, single_) << text;
  }
}

TEST_F(Sync, N30_OneProvidedFamilyRemovesTheOther) {
  kube::Node node = Join("a", dual_);
  node.meta.annotations[kAnnotationProvidedNodeIp] = "10.0.0.1";
  api_.PutNode(node);
  SyncAll();
  EXPECT_EQ(Stored("a").addresses, single_);
}

TEST_F(Sync, P_D10_LabelsFollowAResizeBothAtOnce) {
  Join("a", single_);
  Serve("a", single_, "s3.xlarge.4");
  SyncAll();
  EXPECT_EQ(Stored("a").meta.labels.at(kLabelInstanceType), "s3.xlarge.4");
  EXPECT_EQ(Stored("a").meta.labels.at(kLabelInstanceTypeBeta), "s3.xlarge.4");
  EXPECT_EQ(Writes(), 1);
  SyncAll();
  EXPECT_EQ(Writes(), 1);
}

TEST_F(Sync, P_D10_LabelsAreNeverRemoved) {
  Join("a", single_);
  Serve("a", single_, "");
  SyncAll();
  EXPECT_EQ(Stored("a").meta.labels.at(kLabelInstanceType), "s3.large.2");
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Sync, NodesThatAreGoneForeignOrSilentAreLeftAlone) {
  for (const char* name : {"a", "b", "c", "d"}) Join(name, single_);
  instances_.Set(Id("a"), GoneServer());
  instances_.Set(Id("b"), ServerInState(plugin::v1::INSTANCE_STATE_FOREIGN));
  instances_.Set(Id("c"), ServerInState(plugin::v1::INSTANCE_STATE_RUNNING));
  instances_.Forget(Id("d"));
  SyncAll();
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Sync, P_E1_P_E2_OneCallForAllNodes) {
  for (int i = 0; i < 500; ++i) Join("n" + std::to_string(i), single_);
  SyncAll();
  EXPECT_EQ(DescribeCalls(), 1);
  EXPECT_EQ(Writes(), 0);
}

TEST_F(Sync, NoNodesNoCall) {
  SyncAll();
  EXPECT_EQ(DescribeCalls(), 0);
}

TEST_F(Sync, ParallelWritersWriteEachNodeOnce) {
  NodeControllerOptions options;
  options.concurrent_status_updates = 4;
  NodeSync sync(Deps(), options);
  for (int i = 0; i < 50; ++i) {
    const std::string name = "n" + std::to_string(i);
    Join(name, single_);
    Serve(name, {{"InternalIP", "10.0.0.9"}});
  }
  sync.SyncAll(Context());
  EXPECT_EQ(Writes(), 50);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(Stored("n" + std::to_string(i)).addresses[0].address, "10.0.0.9");
  }
}

TEST_F(Sync, E20_ShutGateLetsNoWritePass) {
  Join("a", single_);
  Serve("a", {{"InternalIP", "10.0.0.9"}}, "other");
  gate_.open = false;
  SyncAll();
  EXPECT_EQ(Writes(), 0);
}

}  // namespace
}  // namespace otc::host

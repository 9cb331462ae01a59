#include "host/controllers/node_plan.h"

#include <gtest/gtest.h>

#include "host/controllers/node_names.h"
#include "host/controllers/node_patches.h"
#include "host/controllers/testing/fake_instances.h"

namespace otc::host {
namespace {

using plugin::v1::InstanceMetadata;

InstanceMetadata Metadata(const std::string& zone, const std::string& region,
                          const std::string& type) {
  InstanceMetadata metadata;
  metadata.set_provider_id("otc:///a");
  metadata.set_zone(zone);
  metadata.set_region(region);
  metadata.set_instance_type(type);
  return metadata;
}

kube::Node NewNode() {
  kube::Node node;
  node.meta.name = "n";
  node.taints = {{kTaintUninitialized, "true", kEffectNoSchedule, ""}};
  return node;
}

TEST(PlanInitialization, N01_SEED_02_ProviderIdAllLabelsAndNoTaint) {
  const auto plan = PlanInitialization(NewNode(), Metadata("eu-de-01", "eu-de", "s3.large.2"));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->provider_id, "otc:///a");
  EXPECT_EQ(plan->labels, (LabelMap{{"failure-domain.beta.kubernetes.io/zone", "eu-de-01"},
                                    {"topology.kubernetes.io/zone", "eu-de-01"},
                                    {"failure-domain.beta.kubernetes.io/region", "eu-de"},
                                    {"topology.kubernetes.io/region", "eu-de"},
                                    {"beta.kubernetes.io/instance-type", "s3.large.2"},
                                    {"node.kubernetes.io/instance-type", "s3.large.2"}}));
  EXPECT_TRUE(plan->taints.empty());
  EXPECT_TRUE(plan->unusable.empty());
}

TEST(PlanInitialization, N02_AllTaintsOfTheKeyGoOthersKeepTheirOrder) {
  kube::Node node = NewNode();
  const kube::Taint a{"a", "1", "NoSchedule", ""};
  const kube::Taint b{"b", "", "NoExecute", "2026-01-01T00:00:00Z"};
  node.taints = {a,
                 {kTaintUninitialized, "true", "NoSchedule", ""},
                 b,
                 {kTaintUninitialized, "", "NoExecute", "2026-01-01T00:00:00Z"}};
  const auto plan = PlanInitialization(node, Metadata("", "", ""));
  EXPECT_EQ(plan->taints, (std::vector<kube::Taint>{a, b}));
}

TEST(PlanInitialization, N03_OwnProviderIdStays) {
  kube::Node node = NewNode();
  node.provider_id = "otc:///x";
  EXPECT_EQ(PlanInitialization(node, Metadata("z", "", ""))->provider_id, "");
}

TEST(PlanInitialization, N04_NoProviderIdAnywhereIsAnError) {
  InstanceMetadata metadata = Metadata("z", "r", "t");
  metadata.clear_provider_id();
  const auto plan = PlanInitialization(NewNode(), metadata);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().reason(), "NoProviderId");
}

TEST(PlanInitialization, N05_OwnProviderIdIsEnough) {
  kube::Node node = NewNode();
  node.provider_id = "otc:///x";
  InstanceMetadata metadata = Metadata("z", "r", "t");
  metadata.clear_provider_id();
  EXPECT_TRUE(PlanInitialization(node, metadata).ok());
}

TEST(PlanInitialization, N08_WhatTheCloudDoesNotSayIsNotWritten) {
  kube::Node node = NewNode();
  node.meta.labels[kLabelZone] = "old";
  const auto plan = PlanInitialization(node, Metadata("", "eu-de", ""));
  EXPECT_EQ(plan->labels, (LabelMap{{kLabelRegionBeta, "eu-de"}, {kLabelRegion, "eu-de"}}));
}

TEST(PlanInitialization, N09_OtherZoneLabelsAreOverwritten) {
  kube::Node node = NewNode();
  node.meta.labels = {{kLabelZone, "wrong"}, {kLabelZoneBeta, "right"}};
  EXPECT_EQ(PlanInitialization(node, Metadata("right", "", ""))->labels,
            (LabelMap{{kLabelZone, "right"}}));
}

TEST(PlanInitialization, N10_ReservedAdditionalLabelsAreDropped) {
  InstanceMetadata metadata = Metadata("", "", "");
  for (const char* key :
       {"node.kubernetes.io/a", "k8s.io/b", "x.k8s.io/c", "example.com/d", "mykubernetes.io/e"}) {
    (*metadata.mutable_additional_labels())[key] = "v";
  }
  EXPECT_EQ(PlanInitialization(NewNode(), metadata)->labels,
            (LabelMap{{"example.com/d", "v"}, {"mykubernetes.io/e", "v"}}));
}

TEST(PlanInitialization, N11_AdditionalLabelsNeverOverwrite) {
  kube::Node node = NewNode();
  node.meta.labels["example.com/d"] = "mine";
  InstanceMetadata metadata = Metadata("", "", "");
  (*metadata.mutable_additional_labels())["example.com/d"] = "cloud";
  EXPECT_TRUE(PlanInitialization(node, metadata)->labels.empty());
}

TEST(PlanInitialization, N27_ProvidedIpThatTheCloudLacksAborts) {
  kube::Node node = NewNode();
  node.meta.annotations[kAnnotationProvidedNodeIp] = "10.9.9.9";
  InstanceMetadata metadata = Metadata("z", "", "");
  AddAddress(&metadata, "InternalIP", "10.1.1.1");
  EXPECT_EQ(PlanInitialization(node, metadata).status().reason(), "ProvidedNodeIpUnknown");
  node.meta.annotations[kAnnotationProvidedNodeIp] = "10.1.1.1";
  EXPECT_TRUE(PlanInitialization(node, metadata).ok());
}

// The API server would refuse the whole write, and the node would never start.
TEST(PlanInitialization, ZoneWithABlankIsReportedAndLeftOut) {
  InstanceMetadata metadata = Metadata("eu de 01", "eu-de", "");
  (*metadata.mutable_additional_labels())["example.com/d"] = "-";
  const auto plan = PlanInitialization(NewNode(), metadata);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->labels, (LabelMap{{kLabelRegionBeta, "eu-de"}, {kLabelRegion, "eu-de"}}));
  EXPECT_EQ(plan->unusable,
            (std::vector<std::string>{"topology.kubernetes.io/zone=eu de 01", "example.com/d=-"}));
}

TEST(LabelRules, ReservedNamespaces) {
  for (const char* key : {"kubernetes.io/a", "k8s.io/a", "node.kubernetes.io/a", "a.b.k8s.io/c"}) {
    EXPECT_TRUE(IsReservedLabel(key)) << key;
  }
  for (const char* key : {"mykubernetes.io/a", "myk8s.io/a", "k8s.io", "example.com/k8s.io", "a"}) {
    EXPECT_FALSE(IsReservedLabel(key)) << key;
  }
  EXPECT_TRUE(IsReservedLabel("myk8s.io/x.k8s.io/y"));  // the second match counts, too
}

TEST(LabelRules, Values) {
  for (const char* value : {"", "a", "eu-de-01", "s3.large_2", "A1"}) {
    EXPECT_TRUE(IsValidLabelValue(value)) << value;
  }
  EXPECT_TRUE(IsValidLabelValue(std::string(63, 'a')));
  EXPECT_FALSE(IsValidLabelValue(std::string(64, 'a')));
  for (const char* value : {"-a", "a-", "a b", "ä", "a/b", "."}) {
    EXPECT_FALSE(IsValidLabelValue(value)) << value;
  }
}

struct ReconcileCase {
  const char* name;
  kube::LabelMap labels;
  LabelMap wanted;
};

TEST(PlanLabelReconciliation, N15_N16_BetaLabelIsTheTruth) {
  const std::vector<ReconcileCase> cases = {
      {"nothing", {}, {}},
      {"beta only", {{kLabelZoneBeta, "a"}}, {{kLabelZone, "a"}}},
      {"all beta only",
       {{kLabelZoneBeta, "a"}, {kLabelRegionBeta, "b"}, {kLabelInstanceTypeBeta, "c"}},
       {{kLabelZone, "a"}, {kLabelRegion, "b"}, {kLabelInstanceType, "c"}}},
      {"differ", {{kLabelZoneBeta, "a"}, {kLabelZone, "b"}}, {{kLabelZone, "a"}}},
      {"equal", {{kLabelZoneBeta, "a"}, {kLabelZone, "a"}}, {}},
      {"GA only", {{kLabelZone, "b"}}, {}},
  };
  for (const ReconcileCase& c : cases) {
    kube::Node node;
    node.meta.labels = c.labels;
    EXPECT_EQ(PlanLabelReconciliation(node), c.wanted) << c.name;
  }
}

TEST(PlanLabelCorrection, P_D10_FollowsTheCloudAndKeepsBothLabelsInStep) {
  kube::Node node;
  node.meta.labels = {{kLabelZoneBeta, "z1"},         {kLabelZone, "z1"},
                      {kLabelInstanceTypeBeta, "s2"}, {kLabelInstanceType, "s2"},
                      {kLabelRegionBeta, "r"},        {kLabelRegion, "r"}};
  EXPECT_TRUE(PlanLabelCorrection(node, Metadata("z1", "r", "s2")).empty());
  EXPECT_EQ(PlanLabelCorrection(node, Metadata("z1", "r", "s3")),
            (LabelMap{{kLabelInstanceTypeBeta, "s3"}, {kLabelInstanceType, "s3"}}));
  EXPECT_EQ(PlanLabelCorrection(node, Metadata("z2", "", "")),
            (LabelMap{{kLabelZoneBeta, "z2"}, {kLabelZone, "z2"}}));
  EXPECT_TRUE(PlanLabelCorrection(node, Metadata("z 3", "", "")).empty());
}

TEST(ShutdownTaint, L05_L06_CountsByKeyAndEffect) {
  kube::Node node;
  node.taints = {{kTaintShutdown, "", "NoExecute", ""}, {"a", "", "NoSchedule", ""}};
  EXPECT_FALSE(HasShutdownTaint(node));
  const auto with = WithShutdownTaint(node.taints);
  ASSERT_EQ(with.size(), 3U);
  EXPECT_EQ(with[2], (kube::Taint{kTaintShutdown, "", "NoSchedule", ""}));
  EXPECT_EQ(WithShutdownTaint(with), with);
  EXPECT_EQ(WithoutShutdownTaint(with), node.taints);
  EXPECT_EQ(WithoutShutdownTaint(node.taints), node.taints);
}

TEST(Patches, InitializationIsOneBody) {
  InitializationPlan plan;
  plan.provider_id = "otc:///a";
  plan.labels = {{"a/b", "c"}};
  plan.taints = {{"k", "v", "NoExecute", "2026-01-01T00:00:00Z"}};
  EXPECT_EQ(InitializationPatch(plan, "7"),
            R"({"metadata":{"labels":{"a/b":"c"},"resourceVersion":"7"},)"
            R"("spec":{"providerID":"otc:///a","taints":[{"effect":"NoExecute","key":"k",)"
            R"("timeAdded":"2026-01-01T00:00:00Z","value":"v"}]}})");
  EXPECT_EQ(InitializationPatch(InitializationPlan{}, "8"),
            R"({"metadata":{"resourceVersion":"8"},"spec":{"taints":[]}})");
}

TEST(Patches, LabelsTaintsAddresses) {
  EXPECT_EQ(LabelsPatch({{"a", "1"}, {"b", "2"}}), R"({"metadata":{"labels":{"a":"1","b":"2"}}})");
  EXPECT_EQ(TaintsPatch({{"k", "", "NoSchedule", ""}}, "9"),
            R"({"metadata":{"resourceVersion":"9"},)"
            R"("spec":{"taints":[{"effect":"NoSchedule","key":"k"}]}})");
  EXPECT_EQ(AddressesPatch({{"InternalIP", "10.0.0.1"}}),
            R"({"status":{"addresses":[{"address":"10.0.0.1","type":"InternalIP"}]}})");
}

}  // namespace
}  // namespace otc::host

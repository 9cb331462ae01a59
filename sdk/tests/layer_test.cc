// The C++ layer from the outside: a plugin that offers every interface, driven
// through the harness.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sdk/harness/harness.h"

namespace otc::harness {
namespace {

class Layer : public testing::Test {
 protected:
  void SetUp() override {
    auto library = PluginLibrary::Load(OTC_ALL_INTERFACES);
    ASSERT_TRUE(library.ok()) << library.status().ToString();
    library_ = *library;
    auto made = Instance::Create(library_, host_, {});
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    instance_ = std::move(made).value();
  }
  void TearDown() override { EXPECT_TRUE(host_.violations().empty()) << host_.ViolationText(); }
  Status CreateWith(const std::string& settings) {
    InstanceOptions options;
    options.config = DefaultConfig("controllers", settings);
    return Instance::Create(library_, host_, options).status();
  }
  CallResult Describe(const std::string& mode) {
    pb::InstanceDescribeRequest request;
    request.mutable_cluster()->set_name(mode);
    request.add_nodes()->set_name("a");
    return instance_->Describe(request);
  }

  FakeHost host_;
  PluginLibrary library_;
  Instance::Ptr instance_;
};

TEST_F(Layer, ExceptionsOfEveryKindBecomePluginException) {
  const Status create = CreateWith(R"({"mode":"throw"})");
  EXPECT_EQ(create.code(), Code::kUnknown);
  EXPECT_EQ(create.reason(), "PluginException");
  EXPECT_EQ(create.message(), "create threw ?");  // one line of UTF-8

  for (const char* mode : {"throw", "throw int"}) {
    const CallResult call = Describe(mode);
    EXPECT_EQ(call.code, OTC_UNKNOWN) << mode;
    EXPECT_EQ(call.reason, "PluginException") << mode;
    EXPECT_FALSE(call.message.empty()) << mode;
  }
  EXPECT_EQ(instance_->Update({}).reason, "PluginException");
  EXPECT_EQ(instance_->Grpc("/test.Echo/Echo", "throw").reason, "PluginException");
}

TEST_F(Layer, CreateReportsSettingsAndSwitchedOff) {
  EXPECT_EQ(CreateWith(R"({"mode":"off"})").reason(), "NotConfigured");
  const Status wrong = CreateWith(R"({"mode":5})");
  EXPECT_EQ(wrong.code(), Code::kInvalidArgument);
  EXPECT_EQ(wrong.message(), "settings.mode: wanted string, found number");
  EXPECT_TRUE(CreateWith("{}").ok());
}

TEST_F(Layer, BadTextIsRepairedInResultsAndPlans) {
  const CallResult call = Describe("");
  const auto results = call.All<pb::InstanceDescribeResult>();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].message(), "bad \xEF\xBF\xBD text");
  const auto& labels = results[0].metadata().additional_labels();
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(labels.begin()->first, "k\xEF\xBF\xBD");
  EXPECT_EQ(labels.begin()->second, "v\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(host_.metrics().Value("calls_total", {"describe"}), 1);
}

TEST_F(Layer, StatusesReachTheHostInTheirLimits) {
  const CallResult odd = Describe("bad reason");
  EXPECT_EQ(odd.code, OTC_UNAVAILABLE);
  EXPECT_EQ(odd.reason, "Unspecified");
  EXPECT_EQ(odd.message, "not a word: text");
  EXPECT_EQ(odd.results.size(), 1u);  // they count in describe
  const CallResult longer = Describe("long");
  EXPECT_EQ(longer.reason, "LongText");
  EXPECT_EQ(longer.message.size(), 1024u);
  EXPECT_EQ(longer.retry_after_ms, 1500u);
}

TEST_F(Layer, BalancerSlotsPlanWaitAndAnswer) {
  const CallResult ensure = instance_->Ensure({});
  EXPECT_EQ(ensure.code, OTC_PENDING);
  EXPECT_EQ(ensure.reason, "AddressPending");
  EXPECT_EQ(ensure.retry_after_ms, 2000u);
  ASSERT_EQ(ensure.plans.size(), 1u);
  EXPECT_EQ(ensure.plans[0].reason(), "bad \xEF\xBF\xBD");
  ASSERT_EQ(ensure.progress.size(), 1u);
  ASSERT_EQ(ensure.events.size(), 1u);
  CallOptions dry;
  dry.dry_run = true;
  EXPECT_TRUE(instance_->Ensure({}, dry).ok());
  EXPECT_FALSE(instance_->Get({}).Only<pb::LoadBalancerResult>()->exists());
  EXPECT_TRUE(instance_->Remove({}).Only<pb::LoadBalancerResult>()->exists());
}

TEST_F(Layer, ReconcilerUsesClockAndConfiguration) {
  EXPECT_EQ(instance_->Watches().All<pb::WatchDeclaration>().size(), 1u);
  const auto before = host_.clock().MonotonicNs();
  pb::ReconcileRequest request;
  request.set_deleting(true);
  const auto result = instance_->Reconcile(request).Only<pb::ReconcileResult>();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->finalized());
  EXPECT_EQ(result->status_patch_json(), DefaultConfig());
  EXPECT_EQ(host_.clock().MonotonicNs() - before, 1'000'000u);

  const std::string changed = DefaultConfig("controllers", R"({"x":1})");
  EXPECT_TRUE(instance_->Reconfigure(changed).ok());
  EXPECT_EQ(instance_->Reconfigure("{").reason, "BadJson");
  EXPECT_EQ(instance_->Reconcile({}).Only<pb::ReconcileResult>()->status_patch_json(), changed);
}

TEST_F(Layer, GrpcBytesPassThrough) {
  const CallResult call = instance_->Grpc("/test.Echo/Echo", "\x01\xFF raw");
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call.results[0], "\x01\xFF raw");
  const CallResult stream = instance_->Grpc("/test.Echo/Repeat", "x");
  EXPECT_TRUE(stream.ok());
  EXPECT_EQ(stream.results, (std::vector<std::string>{"x", "x", "x"}));
  EXPECT_EQ(instance_->Grpc("/test.Echo/Other", "").code, OTC_UNIMPLEMENTED);
}

}  // namespace
}  // namespace otc::harness

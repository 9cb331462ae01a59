// The harness on the example plugin and on bad plugins: that it drives slots, and
// that it catches what it says it catches.
#include "sdk/harness/harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace otc::harness {
namespace {

std::string Example() { return OTC_EXAMPLE_PLUGIN; }
std::string Bad(const std::string& name) {
  return std::string(OTC_BAD_PLUGIN_DIR) + "/" + name + ".so";
}

bool Broke(const std::vector<Violation>& violations, const std::string& rule) {
  return std::any_of(violations.begin(), violations.end(),
                     [&](const Violation& violation) { return violation.rule == rule; });
}

pb::InstanceDescribeRequest TwoNodes() {
  pb::InstanceDescribeRequest request;
  for (const char* name : {"a", "b"}) {
    pb::Node* node = request.add_nodes();
    node->set_name(name);
    node->set_uid(std::string("uid-") + name);
    node->set_system_uuid(std::string("server-") + name);
  }
  return request;
}

struct Running {
  FakeHost host;
  Instance::Ptr instance;

  explicit Running(const std::string& path) {
    auto library = PluginLibrary::Load(path);
    EXPECT_TRUE(library.ok()) << library.status().ToString();
    auto made = Instance::Create(*library, host, {});
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    instance = std::move(made).value();
  }
};

TEST(Harness, DrivesAPluginFromCreateToDestroy) {
  Running running(Example());
  FakeHost& host = running.host;
  host.cloud().On("GET", "/v1/{project_id}/cloudservers/server-a", 200, "{}");
  EXPECT_TRUE(running.instance->Start().ok());

  const CallResult call = running.instance->Describe(TwoNodes());
  EXPECT_TRUE(call.ok()) << call.status().ToString();
  const auto results = call.All<pb::InstanceDescribeResult>();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].node_name(), "a");
  EXPECT_EQ(results[0].state(), pb::INSTANCE_STATE_RUNNING);
  EXPECT_EQ(results[0].observed_unix_ms(), host.clock().UnixMs());
  EXPECT_EQ(results[1].state(), pb::INSTANCE_STATE_UNKNOWN);
  EXPECT_EQ(host.cloud().Count("GET", "/v1/"), 2);
  EXPECT_TRUE(host.log().Contains("described nodes"));

  EXPECT_EQ(running.instance->Reconfigure("{}").reason, "NoSlot");
  EXPECT_TRUE(running.instance->Quiesce().ok());
  EXPECT_TRUE(host.violations().empty()) << host.ViolationText();
}

TEST(Harness, TellsOfCancellationAndDeadline) {
  Running running(Example());
  CallOptions options;
  options.cancel = std::make_shared<CancelToken>();
  options.cancel->Cancel();
  CallResult call = running.instance->Describe(TwoNodes(), options);
  EXPECT_EQ(call.code, OTC_CANCELLED);
  EXPECT_EQ(call.reason, "Cancelled");

  CallOptions late;
  late.timeout_ms = 0;
  call = running.instance->Describe(TwoNodes(), late);
  EXPECT_EQ(call.code, OTC_DEADLINE_EXCEEDED);
  EXPECT_EQ(running.host.cloud().requests().size(), 0u);
  EXPECT_TRUE(running.host.violations().empty()) << running.host.ViolationText();
}

TEST(Harness, RepairsBadTextOnTheWayOut) {
  Running running(Example());
  pb::InstanceDescribeRequest request = TwoNodes();
  request.mutable_nodes(0)->set_system_uuid("../\xC3\xA4?x");
  const CallResult call = running.instance->Describe(request);
  EXPECT_TRUE(call.ok()) << call.status().ToString();
  EXPECT_TRUE(running.host.violations().empty()) << running.host.ViolationText();
}

TEST(Harness, RequestsThatCannotBeReadFailWithAReason) {
  Running running(Example());
  const auto library = PluginLibrary::Load(Example());
  const auto* table = static_cast<const otc_instances_v2_1*>(library->Table("otc.instances-v2/1"));
  ASSERT_NE(table, nullptr);
  const CallResult call =
      running.instance->Invoke(table->describe, kDescribeSlot, "\x0A\xFF\xFF\x03");
  EXPECT_EQ(call.code, OTC_INVALID_ARGUMENT);
  EXPECT_EQ(call.reason, "BadRequest");
}

TEST(Harness, InstancesWorkSideBySideAndInParallel) {
  auto library = PluginLibrary::Load(Example());
  ASSERT_TRUE(library.ok());
  FakeHost host;
  host.cloud().On("*", "*", 200, "{}");
  auto first = Instance::Create(*library, host, {});
  auto second = Instance::Create(*library, host, {});
  ASSERT_TRUE(first.ok() && second.ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    Instance& instance = i % 2 == 0 ? **first : **second;
    threads.emplace_back([&instance] {
      for (int round = 0; round < 50; ++round) {
        EXPECT_EQ(instance.Describe(TwoNodes()).results.size(), 2u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(host.cloud().Count("GET", "/"), 400);
  EXPECT_TRUE(host.violations().empty()) << host.ViolationText();
}

TEST(Harness, RefusesWhatTheLoaderWouldRefuse) {
  for (const char* name : {"truncated", "text-file", "no-note", "runpath", "bad-magic",
                           "note-mismatch", "null-entry", "null-table", "newer-symbol"}) {
    const auto library = PluginLibrary::Load(Bad(name));
    EXPECT_FALSE(library.ok()) << name;
    EXPECT_NE(library.status().message().find(name), std::string::npos);
  }
  EXPECT_EQ(PluginLibrary::Load("/nonexistent.so").status().reason(), "NoFile");
}

TEST(Harness, CatchesBadCodesAndReasons) {
  for (const char* name : {"bad-code", "code-without-fail", "bad-reason", "fail-ok"}) {
    Running running(Bad(name));
    const CallResult call = running.instance->Start();
    EXPECT_TRUE(Broke(call.violations, "ABI-R13")) << name;
    EXPECT_TRUE(Broke(running.host.violations(), "ABI-R13")) << name;
  }
}

TEST(Harness, CatchesMissingDoubleAndGarbledResults) {
  for (const char* name : {"no-result", "two-results", "garbage-result"}) {
    Running running(Bad(name));
    EXPECT_TRUE(Broke(running.instance->Get({}).violations, "ABI-R14")) << name;
    EXPECT_EQ(Broke(running.instance->Ensure({}).violations, "ABI-R14"), true) << name;
  }
}

TEST(Harness, CatchesServicesInsidePut) {
  Running running(Bad("service-in-put"));
  running.instance->Describe({});
  EXPECT_TRUE(Broke(running.host.violations(), "ABI-R36")) << running.host.ViolationText();
}

TEST(Harness, CatchesWritesThatDoNotBelong) {
  Running running(Bad("write-without-plan"));
  EXPECT_TRUE(Broke(running.instance->Get({}).violations, "ABI-R25"));
  EXPECT_TRUE(Broke(running.instance->Ensure({}).violations, "ABI-R26"));
  CallOptions dry;
  dry.dry_run = true;
  const CallResult call = running.instance->Ensure({}, dry);
  EXPECT_TRUE(Broke(call.violations, "ABI-R26"));
  EXPECT_EQ(running.host.cloud().Count("DELETE", "/"), 2);  // not in the dry run
}

TEST(HarnessDeathTest, ReadingBehindAnArgumentCrashesAtOnce) {
  const auto library = PluginLibrary::Load(Bad("wants-terminator"));
  ASSERT_TRUE(library.ok());
  EXPECT_DEATH(
      {
        FakeHost host;
        (void)Instance::Create(*library, host, {});
      },
      "");
}

TEST(Fakes, ClockMovesOnlyWhenTold) {
  FakeClock clock;
  const auto start = clock.MonotonicNs();
  const auto unix_start = clock.UnixMs();
  clock.AdvanceMs(1500);
  EXPECT_EQ(clock.MonotonicNs() - start, 1'500'000'000u);
  clock.AdvanceTo(start);  // never back
  EXPECT_EQ(clock.MonotonicNs() - start, 1'500'000'000u);
  clock.SkewMs(-500);
  EXPECT_EQ(clock.UnixMs() - unix_start, 1000);
}

TEST(Fakes, MetricsAnswerAsTheService) {
  MetricsRecorder metrics;
  pb::MetricDefinition definition;
  definition.set_name("calls_total");
  definition.set_kind(pb::METRIC_KIND_COUNTER);
  definition.add_label_names("code");
  std::uint64_t handle = 0, again = 0;
  EXPECT_EQ(metrics.Define(definition, &handle), OTC_OK);
  EXPECT_EQ(metrics.Define(definition, &again), OTC_OK);
  EXPECT_EQ(handle, again);
  definition.set_kind(pb::METRIC_KIND_GAUGE);
  EXPECT_EQ(metrics.Define(definition, &again), OTC_ALREADY_EXISTS);
  EXPECT_TRUE(metrics.Record(handle, 2, {"ok"}));
  EXPECT_TRUE(metrics.Record(handle, 3, {"ok"}));
  EXPECT_FALSE(metrics.Record(handle, 1, {}));
  EXPECT_FALSE(metrics.Record(99, 1, {"ok"}));
  EXPECT_EQ(metrics.Value("calls_total", {"ok"}), 5);
  EXPECT_EQ(metrics.Value("calls_total", {"other"}), 0);
}

TEST(Fakes, TheFirstFittingRuleAnswers) {
  ScriptedCloud cloud;
  cloud.On("GET", "/a", 200, "exact");
  cloud.On("GET", "/a*", 202, "prefix");
  pb::CloudRequest request;
  request.set_method("GET");
  request.set_path("/a");
  EXPECT_EQ(cloud.Answer(request).body(), "exact");
  request.set_path("/ab");
  EXPECT_EQ(cloud.Answer(request).http_status(), 202u);
  request.set_method("POST");
  const auto missing = cloud.Answer(request);
  EXPECT_EQ(missing.http_status(), 404u);
  EXPECT_FALSE(missing.proves_absence());
  EXPECT_TRUE(ScriptedCloud::Absent("Ecs.0114").proves_absence());
}

}  // namespace
}  // namespace otc::harness

// The host services, called as a plugin calls them.
#include <gtest/gtest.h>

#include "host/plugin/call.h"
#include "host/plugin/interfaces.h"
#include "host/plugin/service_hub.h"
#include "host/plugin/test_support.h"
#include "otc/plugin/v1/services.pb.h"

namespace otc::host::plugin_host {
namespace {

using plugin::v1::CloudBatch;
using plugin::v1::CloudRequest;
using std::chrono::seconds;

otc_bytes Bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

struct ServiceFixture : testing::Test {
  FakeClock clock;
  MemoryLog log;
  Metrics metrics;
  MetricNames names;
  RecordingExchange exchange;
  std::shared_ptr<inspect::Manifest> manifest = std::make_shared<inspect::Manifest>();
  std::unique_ptr<PluginLog> plugin_log;
  std::unique_ptr<PluginMetrics> plugin_metrics;
  std::unique_ptr<ServiceHub> hub;
  std::unique_ptr<Call> call;
  CallOptions options;
  std::shared_ptr<Cancellation> cancellation = Cancellation::Create();
  std::vector<std::string> put;

  ServiceFixture() {
    manifest->id = "lb";
    manifest->needs = {{"otc.host.log/1", 0}, {"otc.host.cloud/1", 0}, {"otc.host.time/1", 0}};
    manifest->uses = {"otc.host.config/1", "otc.host.metrics/1", "otc.host.kube/1"};
    manifest->cloud = {"ecs", "metadata"};
    options.slot = "ensure";
    Make(Role::kControllers);
  }
  void Make(Role role) {
    plugin_log = std::make_unique<PluginLog>(log, clock, metrics, "lb");
    plugin_metrics = std::make_unique<PluginMetrics>(metrics, names, "lb");
    ServiceDeps deps;
    deps.clock = &clock;
    deps.exchange = &exchange;
    deps.log = plugin_log.get();
    deps.metrics = plugin_metrics.get();
    deps.role = role;
    deps.host_version = "0.1.0";
    deps.manifest = manifest;
    hub = std::make_unique<ServiceHub>(deps);
    NewCall();
  }
  void NewCall() {
    CallContext context;
    context.clock = &clock;
    context.deadline = clock.Now() + seconds(60);
    context.request_id = "r-1";
    context.cancellation = cancellation;
    call = std::make_unique<Call>(options, context, hub.get());
  }
  template <typename T>
  const T* Get(const char* id) {
    return static_cast<const T*>(hub->abi()->get_service(hub->abi(), ToAbi(id)));
  }
  static void Put(void* self, otc_bytes record) {
    static_cast<ServiceFixture*>(self)->put.emplace_back(reinterpret_cast<const char*>(record.ptr),
                                                         record.len);
  }
  std::int32_t Exchange(const CloudBatch& batch) {
    const std::string bytes = batch.SerializeAsString();
    return Get<otc_host_cloud_1>("otc.host.cloud/1")
        ->exchange(call->abi(), Bytes(bytes), {this, Put});
  }
  static CloudBatch One(const std::string& service, const std::string& method, bool read = true) {
    CloudBatch batch;
    CloudRequest* request = batch.add_requests();
    request->set_service(service);
    request->set_method(method);
    request->set_path("/v1/x");
    if (read) request->set_effect(plugin::v1::EFFECT_READ);
    return batch;
  }
  std::string Bug() {
    call->Returned(OTC_ABORTED);
    return call->Outcome().plugin_bug;
  }
};

using Services = ServiceFixture;

TEST_F(Services, GetServiceAnswersWhatIsOfferedAndNamed) {
  EXPECT_NE(Get<void>("otc.host.log/1"), nullptr);
  EXPECT_NE(Get<void>("otc.host.cloud/1"), nullptr);
  EXPECT_EQ(Get<void>("otc.host.kube/1"), nullptr) << "not offered yet";
  EXPECT_EQ(Get<void>("otc.host.teleport/1"), nullptr);
  EXPECT_EQ(Get<void>(""), nullptr);
  manifest->uses.clear();
  EXPECT_EQ(Get<void>("otc.host.metrics/1"), nullptr) << "not named in the manifest";
}

TEST_F(Services, TheHostObjectSaysWhoAndWhere) {
  const otc_host* host = hub->abi();
  EXPECT_EQ(host->struct_size, 64u);
  EXPECT_EQ(ToView(host->role), "controllers");
  EXPECT_EQ(ToView(host->plugin_id), "lb");
  EXPECT_EQ(ToView(host->host_version), "0.1.0");
}

TEST_F(Services, OfferedServicesFollowTheCloud) {
  EXPECT_EQ(OfferedServices(Role::kAll, true).count("otc.host.cloud/1"), 1u);
  EXPECT_EQ(OfferedServices(Role::kAll, false).count("otc.host.cloud/1"), 0u);
  EXPECT_EQ(OfferedServices(Role::kAll, true).at("otc.host.log/1"), 24u);
}

TEST_F(Services, AnExchangePutsEachAnswerOnce) {
  CloudBatch batch = One("ecs", "GET");
  *batch.add_requests() = batch.requests(0);
  batch.mutable_requests(1)->set_path("/v1/y");
  EXPECT_EQ(Exchange(batch), OTC_OK);
  ASSERT_EQ(put.size(), 2u);
  plugin::v1::CloudResponse response;
  ASSERT_TRUE(response.ParseFromString(put[1]));
  EXPECT_EQ(response.index(), 1u);
  EXPECT_EQ(exchange.Requests(),
            (std::vector<std::string>{"lb ecs GET /v1/x", "lb ecs GET /v1/y"}));
}

TEST_F(Services, AMalformedBatchIsRefusedWholly) {
  const auto* cloud = Get<otc_host_cloud_1>("otc.host.cloud/1");
  EXPECT_EQ(cloud->exchange(call->abi(), Bytes("\xff\xff"), {this, Put}), OTC_INVALID_ARGUMENT);
  EXPECT_EQ(cloud->exchange(call->abi(), {nullptr, 4}, {this, Put}), OTC_INVALID_ARGUMENT);
  EXPECT_EQ(cloud->exchange(call->abi(), {nullptr, 0}, {nullptr, nullptr}), OTC_INVALID_ARGUMENT);
  const auto spoiled = [](const std::function<void(CloudRequest*)>& spoil) {
    CloudBatch batch = One("ecs", "GET");
    spoil(batch.mutable_requests(0));
    return batch;
  };
  EXPECT_EQ(Exchange(One("ecs", "get")), OTC_INVALID_ARGUMENT);
  EXPECT_EQ(Exchange(One("ecs", "TRACE")), OTC_INVALID_ARGUMENT);
  for (const char* method : {"PUT", "PATCH", "DELETE"}) {
    EXPECT_EQ(Exchange(One("ecs", method)), OTC_INVALID_ARGUMENT) << method << " is no READ";
  }
  EXPECT_EQ(Exchange(spoiled([](auto* r) { r->set_path("v1"); })), OTC_INVALID_ARGUMENT);
  EXPECT_EQ(Exchange(spoiled([](auto* r) { r->set_path("/a\r\nb"); })), OTC_INVALID_ARGUMENT);
  EXPECT_EQ(Exchange(spoiled([](auto* r) { (*r->mutable_headers())["a"] = "b\nc"; })),
            OTC_INVALID_ARGUMENT);
  CloudBatch wide = One("ecs", "GET");
  wide.set_max_parallel(9);
  EXPECT_EQ(Exchange(wide), OTC_INVALID_ARGUMENT);
  EXPECT_TRUE(put.empty());
  EXPECT_TRUE(exchange.Requests().empty());
}

TEST_F(Services, APostMayBeARead) { EXPECT_EQ(Exchange(One("ecs", "POST")), OTC_OK); }

TEST_F(Services, OneForbiddenServiceRefusesTheBatch) {
  CloudBatch batch = One("ecs", "GET");
  *batch.add_requests() = One("evs", "GET").requests(0);
  EXPECT_EQ(Exchange(batch), OTC_PERMISSION_DENIED);
  EXPECT_TRUE(exchange.Requests().empty());
}

TEST_F(Services, ADryRunWritesNothingAndTheAttemptIsABug) {
  options.dry_run = true;
  NewCall();
  EXPECT_EQ(Exchange(One("ecs", "GET")), OTC_OK);
  EXPECT_EQ(Exchange(One("ecs", "DELETE", false)), OTC_FAILED_PRECONDITION);
  EXPECT_EQ(exchange.Requests().size(), 1u);
  EXPECT_EQ(Bug(), kDryRunWrite);
}

TEST_F(Services, ReadOnlySlotsCannotWrite) {
  options.writes_allowed = false;
  NewCall();
  EXPECT_EQ(Exchange(One("ecs", "GET", false)), OTC_FAILED_PRECONDITION) << "unspecified is WRITE";
  EXPECT_EQ(Bug(), "WriteInReadOnlySlot");
}

TEST_F(Services, CreateCannotUseTheCloud) {
  options.cloud_allowed = false;
  NewCall();
  EXPECT_EQ(Exchange(One("ecs", "GET")), OTC_FAILED_PRECONDITION);
  EXPECT_EQ(Bug(), "CloudInCreate");
}

TEST_F(Services, RoleCsiNodeReadsMetadataOnly) {
  Make(Role::kCsiNode);
  EXPECT_EQ(Exchange(One("metadata", "GET")), OTC_OK);
  EXPECT_EQ(Exchange(One("ecs", "GET")), OTC_PERMISSION_DENIED);
  EXPECT_EQ(Exchange(One("metadata", "POST", false)), OTC_PERMISSION_DENIED);
}

TEST_F(Services, ACancelledCallSendsNothing) {
  cancellation->Cancel("LeaseLost");
  EXPECT_EQ(Exchange(One("ecs", "GET")), OTC_CANCELLED);
  EXPECT_TRUE(exchange.Requests().empty());
}

TEST_F(Services, InsidePutNoServiceMayBeCalled) {
  struct Nested {
    ServiceFixture* self;
    std::vector<std::int32_t> codes;
  } nested{this, {}};
  const auto inner = [](void* context, otc_bytes) {
    auto* seen = static_cast<Nested*>(context);
    ServiceFixture* self = seen->self;
    seen->codes.push_back(self->Exchange(One("ecs", "GET")));
    seen->codes.push_back(
        self->Get<otc_host_time_1>("otc.host.time/1")->sleep_until(self->call->abi(), 0));
    seen->codes.push_back(
        self->Get<otc_host_config_1>("otc.host.config/1")->current(self->hub->abi(), {self, Put}));
    seen->codes.push_back(self->call->abi()->cancelled(self->call->abi()));
  };
  const std::string batch = One("ecs", "GET").SerializeAsString();
  EXPECT_EQ(Get<otc_host_cloud_1>("otc.host.cloud/1")
                ->exchange(call->abi(), Bytes(batch), {&nested, inner}),
            OTC_OK);
  EXPECT_EQ(nested.codes,
            (std::vector<std::int32_t>{OTC_FAILED_PRECONDITION, OTC_FAILED_PRECONDITION,
                                       OTC_FAILED_PRECONDITION, 0}));
  EXPECT_EQ(Bug(), "CallInSink");
}

TEST_F(Services, AnAbandonedInstanceReachesNothing) {
  const auto* cloud = Get<otc_host_cloud_1>("otc.host.cloud/1");
  const auto* log_table = Get<otc_host_log_1>("otc.host.log/1");
  const auto* time = Get<otc_host_time_1>("otc.host.time/1");
  hub->Abandon();
  const std::string batch = One("ecs", "GET").SerializeAsString();
  EXPECT_EQ(cloud->exchange(call->abi(), Bytes(batch), {this, Put}), OTC_CANCELLED);
  log_table->write(hub->abi(), nullptr, OTC_LOG_ERROR, ToAbi("x"), nullptr, 0);
  EXPECT_EQ(log_table->enabled(hub->abi(), OTC_LOG_ERROR), 0);
  EXPECT_TRUE(log.Lines().empty());
  EXPECT_GT(time->monotonic_ns(hub->abi()), 0u);
  EXPECT_EQ(Get<void>("otc.host.log/1"), nullptr);
}

TEST_F(Services, ConfigIsTheLastAcceptedDocument) {
  const auto* config = Get<otc_host_config_1>("otc.host.config/1");
  EXPECT_EQ(config->current(hub->abi(), {this, Put}), OTC_FAILED_PRECONDITION) << "none yet";
  hub->SetAcceptedConfig("{\"a\":1}");
  EXPECT_EQ(config->current(hub->abi(), {this, Put}), OTC_OK);
  EXPECT_EQ(put, std::vector<std::string>{"{\"a\":1}"});
}

TEST_F(Services, TimeIsTheHostsClock) {
  const auto* time = Get<otc_host_time_1>("otc.host.time/1");
  const std::uint64_t before = time->monotonic_ns(hub->abi());
  const std::int64_t unix_before = time->unix_ns(hub->abi());
  clock.Advance(seconds(3));
  EXPECT_EQ(time->monotonic_ns(hub->abi()) - before, 3'000'000'000u);
  EXPECT_EQ(time->unix_ns(hub->abi()) - unix_before, 3'000'000'000);
  EXPECT_EQ(time->sleep_until(call->abi(), time->monotonic_ns(hub->abi())), OTC_OK);
  cancellation->Cancel("LeaseLost");
  EXPECT_EQ(time->sleep_until(call->abi(), UINT64_MAX), OTC_CANCELLED);
}

TEST_F(Services, ASleepEndsAtTheDeadline) {
  clock.Advance(seconds(60));
  EXPECT_EQ(Get<otc_host_time_1>("otc.host.time/1")->sleep_until(call->abi(), UINT64_MAX),
            OTC_DEADLINE_EXCEEDED);
}

TEST_F(Services, LogLinesCarryPluginRequestAndSubject) {
  options.subject = "node/a";
  NewCall();
  const otc_kv fields[] = {{ToAbi("zone"), ToAbi("eu-de-01")}, {ToAbi("plugin"), ToAbi("fake")}};
  Get<otc_host_log_1>("otc.host.log/1")
      ->write(hub->abi(), call->abi(), OTC_LOG_WARN, ToAbi("two\nlines"), fields, 2);
  EXPECT_EQ(log.Lines(), std::vector<std::string>{"WARN two lines plugin=lb request_id=r-1 "
                                                  "subject=node/a zone=eu-de-01 plugin_=fake"});
}

TEST_F(Services, LogLinesAreBounded) {
  std::vector<otc_kv> fields(40, otc_kv{ToAbi("k"), ToAbi("v")});
  const auto* table = Get<otc_host_log_1>("otc.host.log/1");
  table->write(hub->abi(), nullptr, OTC_LOG_INFO, ToAbi("m"), fields.data(), fields.size());
  EXPECT_NE(log.Lines()[0].find("fields_dropped=8"), std::string::npos) << log.Lines()[0];
  const std::string big(100'000, 'x');
  table->write(hub->abi(), nullptr, OTC_LOG_INFO, ToAbi(big), nullptr, 0);
  EXPECT_LT(log.Lines()[1].size(), 17'000u);
  table->write(hub->abi(), nullptr, OTC_LOG_INFO, {nullptr, 7}, nullptr, 7);
  EXPECT_EQ(log.Lines()[2].substr(0, 5), "INFO ") << "null pointers do no harm";
}

TEST_F(Services, AThousandLinesASecondThenDroppedAndCounted) {
  const auto* table = Get<otc_host_log_1>("otc.host.log/1");
  for (int i = 0; i < 1500; ++i) {
    table->write(hub->abi(), nullptr, OTC_LOG_INFO, ToAbi("m"), nullptr, 0);
  }
  EXPECT_EQ(log.Lines().size(), 1000u);
  EXPECT_EQ(metrics.Sum("otc_plugin_log_lines_dropped_total", {{"plugin", "lb"}}), 500);
  clock.Advance(seconds(1));
  table->write(hub->abi(), nullptr, OTC_LOG_INFO, ToAbi("again"), nullptr, 0);
  EXPECT_EQ(log.Lines()[1000], "WARN log lines of a plugin were dropped plugin=lb lines=500");
  EXPECT_EQ(log.Lines()[1001], "INFO again plugin=lb");
}

struct MetricsFixture : ServiceFixture {
  static std::string Definition(const std::string& name, plugin::v1::MetricKind kind,
                                const std::vector<std::string>& labels = {},
                                const std::vector<double>& buckets = {}) {
    plugin::v1::MetricDefinition definition;
    definition.set_name(name);
    definition.set_help("Help.");
    definition.set_kind(kind);
    for (const auto& label : labels) definition.add_label_names(label);
    for (const double bucket : buckets) definition.add_buckets(bucket);
    return definition.SerializeAsString();
  }
  std::int32_t Define(const std::string& definition, std::uint64_t* handle) {
    return Get<otc_host_metrics_1>("otc.host.metrics/1")
        ->define(hub->abi(), Bytes(definition), handle);
  }
  void Record(std::uint64_t handle, double value, const std::vector<std::string>& labels = {}) {
    std::vector<otc_str> values;
    for (const auto& label : labels) values.push_back(ToAbi(label));
    Get<otc_host_metrics_1>("otc.host.metrics/1")
        ->record(hub->abi(), handle, value, values.data(), values.size());
  }
  double Dropped() { return metrics.Sum("otc_plugin_metric_samples_dropped_total"); }
};

using MetricsService = MetricsFixture;
constexpr auto kCounter = plugin::v1::METRIC_KIND_COUNTER;
constexpr auto kGauge = plugin::v1::METRIC_KIND_GAUGE;
constexpr auto kHistogram = plugin::v1::METRIC_KIND_HISTOGRAM;

TEST_F(MetricsService, CounterGaugeAndHistogramUnderThePluginsPrefix) {
  std::uint64_t counter = 0, gauge = 0, histogram = 0;
  ASSERT_EQ(Define(Definition("calls_total", kCounter, {"zone"}), &counter), OTC_OK);
  ASSERT_EQ(Define(Definition("depth", kGauge), &gauge), OTC_OK);
  ASSERT_EQ(Define(Definition("seconds", kHistogram, {}, {0.1, 1}), &histogram), OTC_OK);
  Record(counter, 2, {"a"});
  Record(counter, 3, {"a"});
  Record(gauge, 7);
  Record(gauge, 5);
  Record(histogram, 0.5);
  EXPECT_EQ(metrics.Sum("otc_plugin_lb_calls_total", {{"zone", "a"}}), 5);
  EXPECT_EQ(metrics.Sum("otc_plugin_lb_depth"), 5);
  EXPECT_NE(metrics.Render().find("otc_plugin_lb_seconds_bucket{le=\"1\"} 1"), std::string::npos);
}

TEST_F(MetricsService, TheSameDefinitionIsTheSameHandle) {
  std::uint64_t first = 0, second = 0;
  ASSERT_EQ(Define(Definition("a_total", kCounter), &first), OTC_OK);
  EXPECT_EQ(Define(Definition("a_total", kCounter), &second), OTC_OK);
  EXPECT_EQ(first, second);
  EXPECT_EQ(Define(Definition("a_total", kGauge), &second), OTC_ALREADY_EXISTS);
}

TEST_F(MetricsService, BadDefinitionsAreRefusedAndNothingAborts) {
  std::uint64_t handle = 0;
  for (const std::string& bad :
       {Definition("", kCounter), Definition("1a", kCounter), Definition("a-b", kCounter),
        Definition("a", plugin::v1::METRIC_KIND_UNSPECIFIED), Definition("a", kCounter, {"le"}),
        Definition("a", kCounter, {"__x"}), Definition("a", kCounter, {"x", "x"}),
        Definition("a", kCounter, {"a", "b", "c", "d", "e"}), Definition("a", kHistogram),
        Definition("a", kHistogram, {}, {1, 1}), Definition("a", kCounter, {}, {1}),
        std::string("\xff")}) {
    EXPECT_EQ(Define(bad, &handle), OTC_INVALID_ARGUMENT);
  }
  EXPECT_EQ(Define(Definition("a", kCounter), nullptr), OTC_INVALID_ARGUMENT);
}

TEST_F(MetricsService, APluginCannotTakeAnothersNameOrTheHosts) {
  std::uint64_t handle = 0;
  PluginMetrics state(metrics, names, "state");  // otc_plugin_state_…
  PluginMetrics calls(metrics, names, "calls");
  const std::string total = Definition("total", kCounter);
  EXPECT_EQ(calls.Define(Bytes(total), &handle), OTC_ALREADY_EXISTS)
      << "otc_plugin_calls_total is the host's";
  PluginMetrics dotted(metrics, names, "a.b"), dashed(metrics, names, "a-b");
  EXPECT_EQ(dotted.Define(Bytes(total), &handle), OTC_OK);
  EXPECT_EQ(dashed.Define(Bytes(total), &handle), OTC_ALREADY_EXISTS);
}

TEST_F(MetricsService, Above200LabelSetsNewOnesAreDroppedAndCounted) {
  std::uint64_t handle = 0;
  ASSERT_EQ(Define(Definition("a_total", kCounter, {"x"}), &handle), OTC_OK);
  for (int i = 0; i < 250; ++i) Record(handle, 1, {std::to_string(i)});
  EXPECT_EQ(metrics.Sum("otc_plugin_lb_a_total"), 200);
  EXPECT_EQ(Dropped(), 50);
  Record(handle, 1, {"0"});
  EXPECT_EQ(metrics.Sum("otc_plugin_lb_a_total"), 201) << "known ones go on";
}

TEST_F(MetricsService, WrongSamplesAreDroppedAndCounted) {
  std::uint64_t handle = 0;
  ASSERT_EQ(Define(Definition("a_total", kCounter, {"x"}), &handle), OTC_OK);
  Record(99, 1);
  Record(0, 1);
  Record(handle, 1, {});
  Record(handle, 1, {"a", "b"});
  Record(handle, -1, {"a"});
  Record(handle, std::nan(""), {"a"});
  EXPECT_EQ(Dropped(), 6);
  EXPECT_EQ(metrics.Sum("otc_plugin_lb_a_total"), 0);
}

}  // namespace
}  // namespace otc::host::plugin_host

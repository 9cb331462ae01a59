// A plugin for the tests of the C++ layer: offers every interface and does what
// the request names: throw, fail, send bad text.
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "otc/cpp/json.h"
#include "otc/cpp/plugin.h"

namespace pb = otc::plugin::v1;

class AllInterfaces : public otc::Plugin,
                      public otc::InstancesV2,
                      public otc::LoadBalancer,
                      public otc::Reconciler {
 public:
  static otc::Result<std::unique_ptr<AllInterfaces>> Create(const otc::Host& host, const otc::Call&,
                                                            std::string_view config) {
    auto document = otc::json::Parse(config);
    if (!document.ok()) return document.status();
    otc::json::Errors errors(*document);
    const std::string mode = document->root().Object("settings", &errors).String("mode", &errors);
    OTC_RETURN_IF_ERROR(errors.ToStatus("BadSettings"));
    if (mode == "throw") throw std::runtime_error("create\nthrew \xFF");
    if (mode == "off") {
      return otc::Status(otc::Code::kFailedPrecondition, "NotConfigured", "switched off");
    }
    auto calls = host.metrics().Counter("calls_total", "Calls by slot.", {"slot"});
    if (!calls.ok()) return calls.status();
    return std::make_unique<AllInterfaces>(host, *calls);
  }

  AllInterfaces(const otc::Host& host, const otc::Metric& calls) : host_(host), calls_(calls) {}

  otc::Status Reconfigure(const otc::Call&, std::string_view config) override {
    const auto document = otc::json::Parse(config);
    return document.ok() ? otc::Status::Ok() : document.status();
  }

  otc::Status Describe(const pb::InstanceDescribeRequest& request,
                       otc::InstanceEmitter& out) override {
    calls_.Record(1, {"describe"});
    const std::string& mode = request.cluster().name();
    if (mode == "throw") throw std::bad_alloc();
    if (mode == "throw int") throw 7;
    for (const pb::Node& node : request.nodes()) {
      pb::InstanceDescribeResult result;
      result.set_node_name(node.name());
      result.set_message("bad \xFF text");
      (*result.mutable_metadata()->mutable_additional_labels())["k\xC3"] = "v\xED\xA0\x80";
      OTC_RETURN_IF_ERROR(out.Emit(result));
    }
    if (mode == "bad reason") return otc::Status(otc::Code::kUnavailable, "not a word", "text");
    if (mode == "long") {
      return otc::Status(otc::Code::kUnavailable, "LongText", std::string(5000, 'x'), 1500);
    }
    return otc::Status::Ok();
  }

  Answer Get(const Request&, const otc::Call&) override { return Result(false); }
  Answer Ensure(const Request&, const otc::Call& call) override {
    pb::PlanRecord plan;
    plan.set_action(pb::PLAN_ACTION_CREATE);
    plan.set_reason("bad \xFF");
    OTC_RETURN_IF_ERROR(call.EmitPlan(plan));
    if (call.dry_run()) return Result(false);
    pb::Progress progress;
    progress.set_step("address");
    OTC_RETURN_IF_ERROR(call.EmitProgress(progress));
    pb::EventRecord event;
    event.set_reason("Waiting");
    OTC_RETURN_IF_ERROR(call.EmitEvent(event));
    return otc::Status(otc::Code::kPending, "AddressPending", "no address yet", 2000);
  }
  Answer Update(const Request&, const otc::Call&) override { throw std::logic_error("update"); }
  Answer Remove(const Request&, const otc::Call&) override { return Result(true); }

  otc::Status Watches(otc::Emitter<pb::WatchDeclaration>& out) override {
    pb::WatchDeclaration watch;
    watch.set_version("v1");
    watch.set_resource("configmaps");
    return out.Emit(watch);
  }
  otc::Result<pb::ReconcileResult> Reconcile(const pb::ReconcileRequest& request,
                                             const otc::Call& call) override {
    // Sleeps through the host, then says how late it is.
    OTC_RETURN_IF_ERROR(host_.time().SleepUntil(call, host_.time().MonotonicNs() + 1'000'000));
    pb::ReconcileResult result;
    result.set_finalized(request.deleting());
    auto config = host_.CurrentConfig();
    if (!config.ok()) return config.status();
    result.set_status_patch_json(*config);
    return result;
  }

  otc::Result<std::string> Echo(std::string_view request, const otc::Call&) {
    if (request == "throw") throw std::runtime_error("echo");
    return std::string(request);
  }
  // The request three times.
  otc::Status Repeat(std::string_view request, const otc::Call& call) {
    for (int i = 0; i < 3; ++i) {
      OTC_RETURN_IF_ERROR(call.EmitBytes(OTC_EMIT_RESULT, request));
    }
    return otc::Status::Ok();
  }

 private:
  static pb::LoadBalancerResult Result(bool exists) {
    pb::LoadBalancerResult result;
    result.set_exists(exists);
    return result;
  }

  otc::Host host_;
  otc::Metric calls_;
};

struct EchoService {
  static constexpr otc_grpc_method kMethods[] = {
      otc::GrpcUnary<AllInterfaces, &AllInterfaces::Echo>("/test.Echo/Echo", OTC_GRPC_INSTANT),
      otc::GrpcServerStream<AllInterfaces, &AllInterfaces::Repeat>("/test.Echo/Repeat")};
  static constexpr otc_grpc_service_1 kTable = {sizeof(otc_grpc_service_1), 0, kMethods, 2};
  static constexpr otc_interface kInterface = {otc::Str("otc.grpc-service/draft-1"), &kTable};
};

OTC_DEFINE_PLUGIN(AllInterfaces, otc::InstancesV2Interface<AllInterfaces>,
                  otc::LoadBalancerInterface<AllInterfaces>,
                  otc::ReconcilerInterface<AllInterfaces>, EchoService);

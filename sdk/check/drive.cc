#include "sdk/check/drive.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "otc/cpp/text.h"
#include "sdk/inspect/descriptor.h"

namespace otc::check {
namespace {

using harness::CallOptions;
using harness::CallResult;
using harness::FakeHost;
using harness::Instance;
using harness::ScriptedCloud;
using harness::SlotSpec;
using inspect::InterfaceKind;
namespace pb = otc::plugin::v1;

// What driving an instance through its life judges.
const std::vector<const char*> kLifeRules = {"ABI-R14", "ABI-R16", "ABI-R21",
                                             "ABI-R25", "ABI-R26", "ABI-R36"};

// The role in which a plugin is meant to run.
std::string RoleFor(const inspect::Manifest& manifest) {
  for (const std::string& id : manifest.provides) {
    if (id == "otc.csi-node/1") return "csi-node";
    if (id == "otc.csi-controller/1") return "csi-controller";
  }
  return "controllers";
}

pb::Node MakeNode(int number) {
  pb::Node node;
  const std::string name = "node-" + std::to_string(number);
  node.set_name(name);
  node.set_uid("00000000-0000-4000-8000-" + std::to_string(100000000000 + number));
  node.set_system_uuid("11111111-0000-4000-8000-" + std::to_string(100000000000 + number));
  if (number % 3 == 0) node.set_provider_id("otc:///" + node.system_uuid());
  if (number % 7 == 0) node.set_provider_id("aws:///eu-west-1a/i-0abc");
  pb::NodeAddress* address = node.add_addresses();
  address->set_type("InternalIP");
  address->set_address("10.0.0." + std::to_string(number % 250 + 1));
  node.set_ready(number % 2 == 0);
  return node;
}

std::string DescribeRequest(int nodes) {
  pb::InstanceDescribeRequest request;
  request.mutable_cluster()->set_name("check");
  request.set_want_metadata(true);
  for (int i = 0; i < nodes; ++i) *request.add_nodes() = MakeNode(i);
  return request.SerializeAsString();
}

std::string BalancerRequest(bool deleting) {
  pb::LoadBalancerRequest request;
  request.mutable_cluster()->set_name("check");
  pb::Service* service = request.mutable_service();
  service->mutable_ref()->set_namespace_("default");
  service->mutable_ref()->set_name("web");
  service->mutable_ref()->set_uid("22222222-0000-4000-8000-000000000001");
  service->set_deleting(deleting);
  pb::ServicePort* port = service->add_ports();
  port->set_protocol("TCP");
  port->set_port(80);
  port->set_node_port(30080);
  *request.add_nodes() = MakeNode(1);
  request.set_nodes_confirmed(true);
  return request.SerializeAsString();
}

std::string ReconcileRequest(bool gone) {
  pb::ReconcileRequest request;
  request.mutable_ref()->set_name("thing");
  request.mutable_ref()->set_uid("33333333-0000-4000-8000-000000000001");
  if (!gone) request.set_object_json(R"({"metadata":{"name":"thing"},"spec":{}})");
  return request.SerializeAsString();
}

// Bytes from a fixed seed: the same on every run.
class Bytes {
 public:
  std::uint32_t Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  std::string Random(std::size_t size) {
    std::string out(size, '\0');
    for (char& c : out) c = static_cast<char>(Next());
    return out;
  }
  // `text` with a few bytes replaced, or cut off.
  std::string Damaged(std::string text) {
    if (text.empty()) return text;
    for (int i = 0; i < 3; ++i) text[Next() % text.size()] = static_cast<char>(Next());
    if (Next() % 4 == 0) text.resize(Next() % text.size());
    return text;
  }

 private:
  std::uint32_t state_ = 1;
};

}  // namespace

Driver::Driver(const harness::PluginLibrary& library, std::string role, std::string config,
               const Wire& wire)
    : library_(library), role_(std::move(role)), config_(std::move(config)), wire_(wire) {
  if (role_.empty()) role_ = RoleFor(library.manifest());
  if (config_.empty()) config_ = harness::DefaultConfig(role_);
  FindSlots();
}

void Driver::FindSlots() {
  const otc_plugin& plugin = library_.descriptor();
  for (std::uint64_t i = 0; i < plugin.interface_count; ++i) {
    const std::string id(View(plugin.interfaces[i].id));
    const void* const table = plugin.interfaces[i].table;
    switch (inspect::KindOfInterface(id)) {
      case InterfaceKind::kInstancesV2:
        slots_.push_back({"describe",
                          static_cast<const otc_instances_v2_1*>(table)->describe,
                          harness::kDescribeSlot,
                          {DescribeRequest(0), DescribeRequest(1), DescribeRequest(30)}});
        break;
      case InterfaceKind::kLoadBalancer: {
        const auto* balancer = static_cast<const otc_load_balancer_1*>(table);
        const std::vector<std::string> requests = {BalancerRequest(false), BalancerRequest(true)};
        slots_.push_back({"get", balancer->get, harness::kGetSlot, requests});
        slots_.push_back({"ensure", balancer->ensure, harness::kEnsureSlot, requests});
        slots_.push_back({"update", balancer->update, harness::kUpdateSlot, requests});
        slots_.push_back({"remove", balancer->remove, harness::kRemoveSlot, requests});
        break;
      }
      case InterfaceKind::kReconciler: {
        const auto* reconciler = static_cast<const otc_reconciler_1*>(table);
        slots_.push_back({"watches", reconciler->watches, harness::kWatchesSlot, {""}});
        slots_.push_back({"reconcile",
                          reconciler->reconcile,
                          harness::kReconcileSlot,
                          {ReconcileRequest(false), ReconcileRequest(true)}});
        break;
      }
      case InterfaceKind::kGrpcService: {
        const auto* service = static_cast<const otc_grpc_service_1*>(table);
        for (std::uint64_t m = 0; m < service->method_count; ++m) {
          const otc_grpc_method& method = service->methods[m];
          slots_.push_back(
              {std::string(View(method.name)),
               method.invoke,
               method.kind == OTC_GRPC_UNARY ? harness::kGrpcUnarySlot : harness::kGrpcStreamSlot,
               {""}});
        }
        break;
      }
      case InterfaceKind::kUnknown:
        break;
    }
  }
}

Instance::Ptr Driver::Create(FakeHost& host, const std::vector<const char*>& rules) {
  wire_.Stage("create");
  auto instance = Instance::Create(library_, host, {role_, config_});
  TellViolations(host);
  if (instance.ok()) return std::move(instance).value();
  for (const char* rule : rules) {
    wire_.NotJudged(rule, "create answered " + instance.status().ToString() +
                              "; give a fitting configuration with --config");
  }
  return nullptr;
}

void Driver::TellViolations(FakeHost& host) {
  for (const inspect::Violation& violation : host.violations()) wire_.Violation(violation);
  host.ClearViolations();
}

void Driver::Call(Instance& instance, const Slot& slot, std::string_view what,
                  std::string_view request, const CallOptions& options) {
  wire_.Stage(slot.name + " (" + std::string(what) + ")");
  instance.Invoke(slot.method, slot.spec, request, options);
}

void Driver::Life() {
  struct Cloud {
    const char* name;
    std::function<pb::CloudResponse()> answer;
  };
  const std::vector<Cloud> clouds = {
      {"a cloud that knows nothing", [] { return ScriptedCloud::Reply(404, "{}"); }},
      {"a cloud that answers {}", [] { return ScriptedCloud::Reply(200, "{}"); }},
      {"a cloud that answers garbage", [] { return ScriptedCloud::Reply(200, "<html>\xFF"); }},
      {"a cloud that is out of order", [] { return ScriptedCloud::Reply(503, ""); }},
      {"a cloud that throttles", [] { return ScriptedCloud::Reply(429, "{}"); }},
      {"no connection", [] { return ScriptedCloud::NotSent(); }},
      {"a lost reply", [] { return ScriptedCloud::Unclear(); }}};
  FakeHost host;
  const Instance::Ptr instance = Create(host, kLifeRules);
  wire_.Judged("ABI-R13");
  if (instance == nullptr) return;
  for (const Cloud& cloud : clouds) {
    host.cloud().Clear();
    host.cloud().On("*", "*", [&cloud](const pb::CloudRequest&) { return cloud.answer(); });
    wire_.Stage(std::string("start (") + cloud.name + ")");
    instance->Start();
    TellViolations(host);
  }
  for (const Slot& slot : slots_) {
    for (const Cloud& cloud : clouds) {
      host.cloud().Clear();
      host.cloud().On("*", "*", [&cloud](const pb::CloudRequest&) { return cloud.answer(); });
      for (const std::string& request : slot.requests) Call(*instance, slot, cloud.name, request);
    }
    CallOptions dry;
    dry.dry_run = slot.spec.plans_first;
    CallOptions cancelled;
    cancelled.cancel = std::make_shared<harness::CancelToken>();
    cancelled.cancel->Cancel();
    CallOptions late;
    late.timeout_ms = 0;
    for (const std::string& request : slot.requests) {
      if (dry.dry_run) Call(*instance, slot, "dry run", request, dry);
      Call(*instance, slot, "cancelled", request, cancelled);
      Call(*instance, slot, "deadline passed", request, late);
    }
    TellViolations(host);
  }
  wire_.Stage("reconfigure");
  instance->Reconfigure(config_);
  wire_.Stage("quiesce");
  instance->Quiesce();
  TellViolations(host);
  for (const char* rule : kLifeRules) wire_.Judged(rule);
}

void Driver::Configurations() {
  const std::vector<std::pair<const char*, std::string>> documents = {
      {"{}", "{}"},
      {"no JSON", "settings: {}"},
      {"half a document", config_.substr(0, config_.size() / 2)},
      {"an array", "[]"},
      {"null", "null"},
      {"a number", "7"},
      {"wrong types", R"({"settings":[],"cloud":"x","cluster":7,"role":{}})"},
      {"not UTF-8", "{\"settings\":{\"a\":\"\xFF\xFE\"}}"},
      {"a NUL inside", std::string("{\"settings\":{}}\0{}", 18)},
      {"100,000 brackets", std::string(100'000, '[')},
      {"1 MiB of text", "{\"settings\":{\"a\":\"" + std::string(1u << 20, 'x') + "\"}}"}};
  FakeHost host;
  wire_.Stage("create (default configuration)");
  auto running = Instance::Create(library_, host, {role_, config_});
  for (const auto& [name, document] : documents) {
    wire_.Stage(std::string("create (configuration: ") + name + ")");
    {
      // Destroyed at once; the result may be an error, but a described one.
      const auto instance = Instance::Create(library_, host, {role_, document});
      (void)instance.ok();
    }
    if (running.ok()) {
      wire_.Stage(std::string("reconfigure (") + name + ")");
      (*running)->Reconfigure(document);
    }
    TellViolations(host);
  }
  wire_.Stage("create (empty configuration)");
  {
    // Past the harness, which replaces an empty document by the default one.
    harness::HostFace face(host, library_.manifest(), role_);
    harness::CallFrame frame(host, library_.manifest(), harness::kCreateSlot, CallOptions{});
    void* self = nullptr;
    const std::int32_t code =
        library_.descriptor().create(face.raw(), frame.raw(), otc_bytes{nullptr, 0}, &self);
    frame.Finish(code);
    if (code == OTC_OK) library_.descriptor().destroy(self);
  }
  TellViolations(host);
}

void Driver::Inputs() {
  constexpr int kRandomRounds = 300;
  FakeHost host;
  const Instance::Ptr instance = Create(host, {"ABI-R10"});
  if (instance == nullptr) return;
  Bytes bytes;
  for (const Slot& slot : slots_) {
    Call(*instance, slot, "empty request", "");
    Call(*instance, slot, "one byte", std::string(1, '\0'));
    Call(*instance, slot, "0xFF bytes", std::string(64, '\xFF'));
    Call(*instance, slot, "16 MiB of zeros", std::string(16u << 20, '\0'));
    Call(*instance, slot, "1 MiB of random bytes", bytes.Random(1u << 20));
    for (int i = 0; i < kRandomRounds; ++i) {
      const std::string& request =
          slot.requests[static_cast<std::size_t>(i) % slot.requests.size()];
      Call(*instance, slot, "damaged request " + std::to_string(i),
           request.empty() ? bytes.Random(bytes.Next() % 200) : bytes.Damaged(request));
    }
    // Two requests back to back are one legal message.
    Call(*instance, slot, "concatenated requests", slot.requests.back() + slot.requests.back());
    TellViolations(host);
  }
  wire_.Judged("ABI-R10");
}

}  // namespace otc::check

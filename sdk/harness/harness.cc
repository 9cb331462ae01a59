#include "sdk/harness/harness.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "otc/cpp/text.h"
#include "sdk/inspect/descriptor.h"
#include "sdk/inspect/file.h"
#include "sdk/inspect/rules.h"

namespace otc::harness {
namespace {

using inspect::InterfaceKind;

template <typename Message>
bool Parses(const std::string& record) {
  return Message().ParseFromString(record);
}

CallResult NoSlot(const char* name) {
  CallResult result;
  result.code = OTC_UNIMPLEMENTED;
  result.reason = "NoSlot";
  result.message = std::string("the plugin offers no slot ") + name;
  return result;
}

Status Refused(const std::string& path, const std::vector<Violation>& violations) {
  std::string text = path + ": ";
  for (const Violation& violation : violations) text += violation.ToString() + "; ";
  return Status(Code::kFailedPrecondition, "PluginRefused", text);
}

Status LoadFailed(const std::string& path, const char* error) {
  return Status(Code::kFailedPrecondition, "LoadFailed",
                path + ": " + (error == nullptr ? "unknown error" : error));
}

}  // namespace

using Results = SlotSpec::Results;
const SlotSpec kCreateSlot = {"create", Results::kNone, true, false, nullptr};
const SlotSpec kStartSlot = {"start", Results::kNone, true, false, nullptr};
const SlotSpec kReconfigureSlot = {"reconfigure", Results::kNone, true, false, nullptr};
const SlotSpec kQuiesceSlot = {"quiesce", Results::kNone, true, false, nullptr};
const SlotSpec kDescribeSlot = {"describe", Results::kMany, true, false,
                                &Parses<pb::InstanceDescribeResult>};
const SlotSpec kGetSlot = {"get", Results::kOne, true, false, &Parses<pb::LoadBalancerResult>};
const SlotSpec kEnsureSlot = {"ensure", Results::kOne, false, true,
                              &Parses<pb::LoadBalancerResult>};
const SlotSpec kUpdateSlot = {"update", Results::kOne, false, true,
                              &Parses<pb::LoadBalancerResult>};
const SlotSpec kRemoveSlot = {"remove", Results::kOne, false, true,
                              &Parses<pb::LoadBalancerResult>};
const SlotSpec kWatchesSlot = {"watches", Results::kMany, true, false,
                               &Parses<pb::WatchDeclaration>};
const SlotSpec kReconcileSlot = {"reconcile", Results::kOne, false, true,
                                 &Parses<pb::ReconcileResult>};
const SlotSpec kGrpcUnarySlot = {"invoke", Results::kOne, false, false, nullptr};
const SlotSpec kGrpcStreamSlot = {"invoke", Results::kMany, false, false, nullptr};

otc::Result<PluginLibrary> PluginLibrary::Load(const std::string& path) {
  const auto bytes = inspect::ReadPluginFile(path);
  if (!bytes.ok()) return bytes.status();
  inspect::ManifestExpectations expected;
  expected.allow_debug = true;
  auto manifest = std::make_shared<inspect::Manifest>();
  const auto violations = inspect::CheckPluginFile(*bytes, expected, nullptr, manifest.get());
  if (!violations.empty()) return Refused(path, violations);

  // An absolute path: a bare name would be searched for elsewhere.
  char* const absolute = realpath(path.c_str(), nullptr);
  void* const handle = dlopen(absolute, RTLD_NOW | RTLD_LOCAL);
  std::free(absolute);
  if (handle == nullptr) return LoadFailed(path, dlerror());
  void* const symbol = dlsym(handle, "otc_plugin_entry_v1");
  if (symbol == nullptr) return LoadFailed(path, dlerror());
  decltype(&otc_plugin_entry_v1) entry;
  std::memcpy(&entry, &symbol, sizeof(entry));

  PluginLibrary library;
  library.manifest_ = std::move(manifest);
  FakeHost host;
  const HostFace face(host, *library.manifest_, "controllers");
  library.descriptor_ = entry(face.raw());
  if (library.descriptor_ == nullptr) return LoadFailed(path, "the entry refused the host (NULL)");
  const auto problems = inspect::CheckDescriptor(*library.descriptor_, *library.manifest_);
  if (!problems.empty()) return Refused(path, problems);
  return library;
}

const void* PluginLibrary::Table(std::string_view id) const {
  for (std::uint64_t i = 0; i < descriptor_->interface_count; ++i) {
    if (View(descriptor_->interfaces[i].id) == id) return descriptor_->interfaces[i].table;
  }
  return nullptr;
}

std::string DefaultConfig(std::string_view role, std::string_view settings_json) {
  return R"({"settings":)" + std::string(settings_json) +
         (role == "csi-node"
              ? ""
              : R"(,"cloud":{"region":"eu-de","projectName":"eu-de","sections":{}})") +
         R"(,"cluster":{"name":"harness","uid":"5f7c1d6e-0000-4000-8000-000000000001"})"
         R"(,"role":")" +
         std::string(role) + R"("})";
}

Instance::Instance(const PluginLibrary& library, FakeHost& host, const std::string& role)
    : library_(library), host_(host), face_(host, library_.manifest(), role) {}

otc::Result<Instance::Ptr> Instance::Create(const PluginLibrary& library, FakeHost& host,
                                            const InstanceOptions& options) {
  Ptr instance(new Instance(library, host, options.role));
  const std::string config = options.config.empty() ? DefaultConfig(options.role) : options.config;
  instance->face_.SetConfig(config);
  CallFrame frame(host, library.manifest(), kCreateSlot, CallOptions{});
  std::int32_t code;
  {
    const Guarded document(config);
    code = library.descriptor().create(instance->face_.raw(), frame.raw(), document.bytes(),
                                       &instance->self_);
  }
  const CallResult result = frame.Finish(code);
  if (!result.ok()) return result.status();
  instance->created_ = true;
  return instance;
}

Instance::~Instance() {
  if (created_) library_.descriptor().destroy(self_);
}

CallResult Instance::Invoke(otc_method slot, const SlotSpec& spec, std::string_view request,
                            const CallOptions& options) {
  if (slot == nullptr) return NoSlot(spec.name);
  CallFrame frame(host_, library_.manifest(), spec, options);
  std::int32_t code;
  {
    const Guarded bytes(request);
    code = slot(self_, frame.raw(), bytes.bytes());
  }
  return frame.Finish(code);
}

CallResult Instance::Start(const CallOptions& options) {
  return Invoke(library_.descriptor().start, kStartSlot, "", options);
}

CallResult Instance::Reconfigure(std::string_view config, const CallOptions& options) {
  CallResult result = Invoke(library_.descriptor().reconfigure, kReconfigureSlot, config, options);
  if (result.ok()) face_.SetConfig(std::string(config));
  return result;
}

CallResult Instance::Quiesce(const CallOptions& options) {
  return Invoke(library_.descriptor().quiesce, kQuiesceSlot, "", options);
}

namespace {

// The table of the first interface of a kind that the plugin offers.
template <typename Table>
const Table* TableOf(const PluginLibrary& library, InterfaceKind kind) {
  for (const std::string& id : library.manifest().provides) {
    if (inspect::KindOfInterface(id) == kind) return static_cast<const Table*>(library.Table(id));
  }
  return nullptr;
}

const otc_load_balancer_1* Balancer(const PluginLibrary& library) {
  return TableOf<otc_load_balancer_1>(library, InterfaceKind::kLoadBalancer);
}

}  // namespace

CallResult Instance::Describe(const pb::InstanceDescribeRequest& request,
                              const CallOptions& options) {
  const auto* table = TableOf<otc_instances_v2_1>(library_, InterfaceKind::kInstancesV2);
  return Invoke(table == nullptr ? nullptr : table->describe, kDescribeSlot,
                request.SerializeAsString(), options);
}

CallResult Instance::Get(const pb::LoadBalancerRequest& request, const CallOptions& options) {
  const auto* table = Balancer(library_);
  return Invoke(table == nullptr ? nullptr : table->get, kGetSlot, request.SerializeAsString(),
                options);
}

CallResult Instance::Ensure(const pb::LoadBalancerRequest& request, const CallOptions& options) {
  const auto* table = Balancer(library_);
  return Invoke(table == nullptr ? nullptr : table->ensure, kEnsureSlot,
                request.SerializeAsString(), options);
}

CallResult Instance::Update(const pb::LoadBalancerRequest& request, const CallOptions& options) {
  const auto* table = Balancer(library_);
  return Invoke(table == nullptr ? nullptr : table->update, kUpdateSlot,
                request.SerializeAsString(), options);
}

CallResult Instance::Remove(const pb::LoadBalancerRequest& request, const CallOptions& options) {
  const auto* table = Balancer(library_);
  return Invoke(table == nullptr ? nullptr : table->remove, kRemoveSlot,
                request.SerializeAsString(), options);
}

CallResult Instance::Watches(const CallOptions& options) {
  const auto* table = TableOf<otc_reconciler_1>(library_, InterfaceKind::kReconciler);
  return Invoke(table == nullptr ? nullptr : table->watches, kWatchesSlot, "", options);
}

CallResult Instance::Reconcile(const pb::ReconcileRequest& request, const CallOptions& options) {
  const auto* table = TableOf<otc_reconciler_1>(library_, InterfaceKind::kReconciler);
  return Invoke(table == nullptr ? nullptr : table->reconcile, kReconcileSlot,
                request.SerializeAsString(), options);
}

CallResult Instance::Grpc(std::string_view path, std::string_view request,
                          const CallOptions& options) {
  for (const std::string& id : library_.manifest().provides) {
    if (inspect::KindOfInterface(id) != InterfaceKind::kGrpcService) continue;
    const auto* table = static_cast<const otc_grpc_service_1*>(library_.Table(id));
    for (std::uint64_t i = 0; i < table->method_count; ++i) {
      const otc_grpc_method& method = table->methods[i];
      if (View(method.name) != path) continue;
      return Invoke(method.invoke, method.kind == OTC_GRPC_UNARY ? kGrpcUnarySlot : kGrpcStreamSlot,
                    request, options);
    }
  }
  return NoSlot("for this gRPC method");
}

}  // namespace otc::harness

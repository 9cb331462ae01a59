// The test harness for plugins: loads any plugin file without the host, gives it
// fake host services, drives its slots and checks the protocol while it goes.
//
//   #include "sdk/harness/harness.h"
//   using namespace otc::harness;
//
//   auto library = PluginLibrary::Load(PLUGIN_PATH);      // judged, then dlopen-ed
//   ASSERT_TRUE(library.ok()) << library.status().ToString();
//   FakeHost host;
//   host.cloud().On("GET", "/v1/{project_id}/cloudservers/*", 200, body);
//   auto instance = Instance::Create(*library, host, {});
//   ASSERT_TRUE(instance.ok()) << instance.status().ToString();
//   ASSERT_TRUE((*instance)->Start().ok());
//   CallResult call = (*instance)->Describe(request);
//   for (auto& result : call.All<pb::InstanceDescribeResult>()) …
//   EXPECT_TRUE(host.violations().empty()) << host.ViolationText();
//
// Works with GoogleTest and without. Arguments lie before unreadable memory and
// vanish after each call, so a plugin that reads too far or too late crashes the
// test at that line. The clock is fake: AdvanceMs moves it, a plugin's sleep moves
// it, deadlines run on it. FakeHost::SetCloud takes other clouds: SimCloud (sim_cloud.h)
// sends to a running otc-sim.
//
// Checked on every call: codes and reasons (ABI-R13), results (R14), return after
// a cancellation (R16), no WRITE where none belongs (R25), PLAN before WRITE and
// dry runs (R26), services inside sink.put or outside of the manifest (R36).
//
// A library is never unloaded. Slots of one Instance may be called from several
// threads where the ABI allows it; the other classes are thread-safe.
#ifndef OTC_SDK_HARNESS_HARNESS_H_
#define OTC_SDK_HARNESS_HARNESS_H_

#include <memory>
#include <string>
#include <string_view>

#include "otc/cpp/status.h"
#include "otc/plugin.h"
#include "otc/plugin/v1/instances.pb.h"
#include "otc/plugin/v1/load_balancer.pb.h"
#include "otc/plugin/v1/reconciler.pb.h"
#include "sdk/harness/call.h"
#include "sdk/harness/fake_host.h"
#include "sdk/inspect/elf.h"
#include "sdk/inspect/manifest.h"

namespace otc::harness {

// A plugin file that passed the loading rules (the file's name and debug builds
// are not judged), with its descriptor. Copies share the same loaded library.
class PluginLibrary {
 public:
  // FAILED_PRECONDITION `PluginRefused` with every broken rule, or `LoadFailed`
  // with what the dynamic linker says.
  static otc::Result<PluginLibrary> Load(const std::string& path);

  const inspect::Manifest& manifest() const { return *manifest_; }
  const otc_plugin& descriptor() const { return *descriptor_; }
  // The table of an interface that the plugin offers; null if it does not.
  const void* Table(std::string_view id) const;

 private:
  std::shared_ptr<const inspect::Manifest> manifest_;
  const otc_plugin* descriptor_ = nullptr;
};

struct InstanceOptions {
  std::string role = "controllers";
  // The document that `create` gets; DefaultConfig() if empty.
  std::string config;
};

// A configuration as the host gives it: no settings, one region, one cluster.
std::string DefaultConfig(std::string_view role = "controllers",
                          std::string_view settings_json = "{}");

// One instance of a plugin. The destructor calls `destroy` (not `quiesce`: that is
// part of what a test says).
class Instance {
 public:
  using Ptr = std::unique_ptr<Instance>;

  // Calls `create`. On a failed code: its status, and nothing is left behind.
  static otc::Result<Ptr> Create(const PluginLibrary& library, FakeHost& host,
                                 const InstanceOptions& options);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  CallResult Start(const CallOptions& options = {});
  // UNIMPLEMENTED `NoSlot` if the plugin has no such slot.
  CallResult Reconfigure(std::string_view config, const CallOptions& options = {});
  CallResult Quiesce(const CallOptions& options = {});

  // otc.instances-v2/1
  CallResult Describe(const pb::InstanceDescribeRequest& request, const CallOptions& options = {});
  // otc.load-balancer
  CallResult Get(const pb::LoadBalancerRequest& request, const CallOptions& options = {});
  CallResult Ensure(const pb::LoadBalancerRequest& request, const CallOptions& options = {});
  CallResult Update(const pb::LoadBalancerRequest& request, const CallOptions& options = {});
  CallResult Remove(const pb::LoadBalancerRequest& request, const CallOptions& options = {});
  // otc.reconciler
  CallResult Watches(const CallOptions& options = {});
  CallResult Reconcile(const pb::ReconcileRequest& request, const CallOptions& options = {});
  // Any gRPC interface: request and response are the message's bytes.
  CallResult Grpc(std::string_view path, std::string_view request, const CallOptions& options = {});

  // Any slot with any bytes, for tests of bad input.
  CallResult Invoke(otc_method slot, const SlotSpec& spec, std::string_view request,
                    const CallOptions& options = {});

 private:
  Instance(const PluginLibrary& library, FakeHost& host, const std::string& role);

  const PluginLibrary library_;
  FakeHost& host_;
  HostFace face_;
  void* self_ = nullptr;
  bool created_ = false;
};

// What the rules say of each slot of the known interfaces.
extern const SlotSpec kDescribeSlot, kGetSlot, kEnsureSlot, kUpdateSlot, kRemoveSlot, kWatchesSlot,
    kReconcileSlot, kGrpcUnarySlot, kGrpcStreamSlot, kCreateSlot, kStartSlot, kReconfigureSlot,
    kQuiesceSlot;

}  // namespace otc::harness

#endif  // OTC_SDK_HARNESS_HARNESS_H_

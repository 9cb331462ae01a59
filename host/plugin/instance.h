// PluginInstance: one created instance of a loaded plugin: its slots, called by
// the rules of docs/reference/plugin-abi.md §4 and §6.
//
// Control slots (create, start, reconfigure, quiesce, destroy) are called by one
// host thread at a time, the manager's, and never while a worker slot runs;
// Invoke may be called by any number of threads. Slots run on threads of the
// instance. A slot that is not back 10 s after its deadline is an overrun: a
// worker is written off; after a control slot the instance is lost. A lost
// instance is abandoned: its memory and threads stay until the process ends.
#ifndef OTC_HOST_PLUGIN_INSTANCE_H_
#define OTC_HOST_PLUGIN_INSTANCE_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "host/plugin/call.h"
#include "host/plugin/service_hub.h"
#include "host/plugin/worker_pool.h"
#include "otc/plugin.h"

namespace otc::host::plugin_host {

// Told about every finished call. Called on the thread that made the call.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void OnCallEnd(const std::string& slot, const CallOutcome& outcome, Duration took,
                         bool worker_slot) = 0;
};

// The deadline that the ABI gives a slot.
Duration DefaultDeadline(const std::string& slot);

class PluginInstance : public std::enable_shared_from_this<PluginInstance> {
 public:
  struct Options {
    int workers = 8;
    std::map<std::string, Duration> deadlines;  // by slot, over the defaults
  };

  PluginInstance(const otc_plugin& descriptor, const ServiceDeps& deps, Options options,
                 CallObserver& observer);
  ~PluginInstance();

  // Control. `cancellation` ends a slot early (shutdown). After a status other
  // than OK from Create there is nothing to shut down, unless Lost().
  Status Create(const std::string& document, std::shared_ptr<Cancellation> cancellation);
  Status Start(std::uint32_t attempt, std::shared_ptr<Cancellation> cancellation);
  // Waits for running calls first. The old document stays in force on failure.
  bool CanReconfigure() const { return descriptor_.reconfigure != nullptr; }
  Status Reconfigure(const std::string& document, std::shared_ptr<Cancellation> cancellation);
  // Cancels what runs, quiesces, destroys. False: abandoned.
  bool Shutdown();
  // A control slot did not come back in time; only Abandon is left.
  bool Lost() const { return lost_; }
  // Gives the instance up without calling it again.
  void Abandon();

  // A worker slot; the slot's name is its lane. Records arrive on the calling
  // thread. UNAVAILABLE with reason NotStarted once shut down.
  struct Work {
    otc_method method = nullptr;
    std::string request;
    CallOptions options;
  };
  CallOutcome Invoke(Work work, const CallContext& context, const Call::OnRecord& on_record);

  const otc_plugin& descriptor() const { return descriptor_; }
  const std::string& plugin_id() const { return hub_.plugin_id(); }

 private:
  using Slot = std::function<std::int32_t(const otc_call*)>;

  Duration Deadline(const std::string& slot) const;
  CallOutcome RunControl(CallOptions options, std::shared_ptr<Cancellation> cancellation,
                         Duration grace, const Slot& slot);
  CallOutcome RunCall(const std::shared_ptr<WorkerPool>& pool, const WorkerPool::PlacePtr& place,
                      const std::shared_ptr<Call>& call, Duration grace, Slot slot,
                      const Call::OnRecord& on_record);
  void CancelActive();

  const otc_plugin& descriptor_;
  const Options options_;
  CallObserver& observer_;
  ServiceHub hub_;
  void* self_ = nullptr;            // the plugin's; written by create before any other slot
  std::shared_ptr<void*> created_;  // where create puts it
  bool lost_ = false;               // control thread only
  std::shared_ptr<WorkerPool> workers_;
  std::shared_ptr<WorkerPool> control_;

  std::mutex mutex_;  // guards all below
  std::set<std::shared_ptr<Call>> active_;
  bool closing_ = false;
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_INSTANCE_H_

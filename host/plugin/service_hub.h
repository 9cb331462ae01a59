// ServiceHub: the host services as one plugin instance sees them: the otc_host
// object, which services get_service answers, and what they need.
//
// One for each instance, owned by it. The tables are static; a slot finds its
// hub through the otc_host or otc_call that it is given. Slots run on whatever
// thread the plugin calls them from. After Abandon they refuse or do nothing, so
// that a plugin which never came back touches nothing of the host any more.
//
// Offered today: log, cloud, config, metrics, time. get_service answers NULL for
// everything else, and for what the manifest does not name.
#ifndef OTC_HOST_PLUGIN_SERVICE_HUB_H_
#define OTC_HOST_PLUGIN_SERVICE_HUB_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/cloud/exchange.h"
#include "host/plugin/plugin_log.h"
#include "host/plugin/plugin_metrics.h"
#include "host/plugin/role.h"
#include "otc/plugin.h"
#include "sdk/inspect/manifest.h"
#include "sdk/inspect/rules.h"

namespace otc::host::plugin_host {

class Call;

// The services of a role with the size of their tables: what `needs` is held
// against before any code runs.
inspect::ServiceSizes OfferedServices(Role role, bool has_cloud);

struct ServiceDeps {
  Clock* clock = nullptr;
  cloud::CloudExchange* exchange = nullptr;  // may be null
  PluginLog* log = nullptr;                  // shared by all instances of a plugin
  PluginMetrics* metrics = nullptr;          // shared by all instances of a plugin
  Role role = Role::kControllers;
  std::string host_version;
  std::shared_ptr<const inspect::Manifest> manifest;
};

class ServiceHub {
 public:
  explicit ServiceHub(const ServiceDeps& deps);
  ServiceHub(const ServiceHub&) = delete;
  ServiceHub& operator=(const ServiceHub&) = delete;

  const otc_host* abi() const { return &handle_.abi; }
  static ServiceHub* From(const otc_host* host);

  const ServiceDeps& deps() const { return deps_; }
  const std::string& plugin_id() const { return deps_.manifest->id; }

  void Abandon() { abandoned_.store(true, std::memory_order_release); }
  bool abandoned() const { return abandoned_.load(std::memory_order_acquire); }

  // The document that otc.host.config/1 hands out; null before the first.
  void SetAcceptedConfig(std::string document);
  std::shared_ptr<const std::string> accepted_config() const;

 private:
  struct Handle {
    otc_host abi{};
    ServiceHub* self = nullptr;
  };
  const void* Find(std::string_view id) const;

  const ServiceDeps deps_;
  const inspect::ServiceSizes offered_;
  Handle handle_;
  std::atomic<bool> abandoned_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> config_;
};

// True while this thread is inside a sink.put of a plugin, where services must
// not be called (ABI-R36).
class InSink {
 public:
  InSink();
  ~InSink();
  static bool Active();
};

// The table of otc.host.cloud/1 (cloud_service.cc).
const otc_host_cloud_1* CloudServiceTable();

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_SERVICE_HUB_H_

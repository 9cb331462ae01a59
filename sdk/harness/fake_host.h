// The host as plugins under test see it: all services faked, everything recorded.
//
// One FakeHost may serve several instances, as in the real process. It outlives
// them. Thread-safe. get_service gives a plugin only what its manifest names, and
// only what is offered here: log, time, config, metrics and cloud always, kube and
// exec once a handler is set.
#ifndef OTC_SDK_HARNESS_FAKE_HOST_H_
#define OTC_SDK_HARNESS_FAKE_HOST_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "otc/plugin.h"
#include "otc/plugin/v1/cloud.pb.h"
#include "otc/plugin/v1/services.pb.h"
#include "sdk/harness/call.h"
#include "sdk/harness/fakes.h"
#include "sdk/harness/guarded.h"
#include "sdk/inspect/manifest.h"
#include "sdk/inspect/rules.h"

namespace otc::harness {

class FakeHost {
 public:
  FakeHost();
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  FakeClock& clock() { return clock_; }
  LogCapture& log() { return log_; }
  MetricsRecorder& metrics() { return metrics_; }
  // The cloud unless another client is set.
  ScriptedCloud& cloud() { return scripted_; }
  // Sends every request to `client` instead (null: back to the script).
  void SetCloud(CloudClient* client) { cloud_ = client; }

  // Handlers give a code and, with OK, the records for the sink. They also offer
  // the service; without one get_service answers NULL.
  using KubeReadHandler =
      std::function<std::int32_t(const pb::KubeRead&, std::vector<pb::KubeObject>*)>;
  using KubeWriteHandler =
      std::function<std::int32_t(const pb::KubeWrite&, std::vector<pb::KubeObject>*)>;
  using ExecHandler = std::function<std::int32_t(const pb::ExecRequest&, pb::ExecResult*)>;
  void SetKube(KubeReadHandler read, KubeWriteHandler write);
  void SetExec(ExecHandler run);

  // Rules broken by any call or service use so far.
  std::vector<Violation> violations() const;
  std::string ViolationText() const;
  void AddViolation(Violation violation);
  void ClearViolations();
  // Whether a marked secret showed up in a log line or a metric.
  bool Leaked(std::string_view secret) const {
    return log_.Contains(secret) || metrics_.Contains(secret);
  }

  // The offered services with their sizes, as the loader compares them with needs=.
  inspect::ServiceSizes services() const;
  std::uint64_t NextCallId() { return ++call_ids_; }

 private:
  friend class HostFace;
  friend struct ServiceSlots;
  const void* Table(std::string_view id) const;

  FakeClock clock_;
  LogCapture log_;
  MetricsRecorder metrics_;
  ScriptedCloud scripted_;
  std::atomic<CloudClient*> cloud_{nullptr};
  KubeReadHandler kube_read_;
  KubeWriteHandler kube_write_;
  ExecHandler exec_;
  std::atomic<std::uint64_t> call_ids_{0};
  mutable std::mutex mutex_;
  std::vector<Violation> violations_;
  // Tables of exactly their size in ABI 1.0, at the end of readable memory.
  Guarded log_table_, time_table_, config_table_, metrics_table_, cloud_table_, kube_table_,
      exec_table_;
};

// The otc_host of one instance.
class HostFace {
 public:
  HostFace(FakeHost& host, const inspect::Manifest& manifest, const std::string& role);

  const otc_host* raw() const;
  void SetConfig(std::string document);
  std::string config() const;

  static HostFace& Of(const otc_host* host);
  FakeHost& host() { return host_; }
  const inspect::Manifest& manifest() const { return manifest_; }

 private:
  static const void* GetService(const otc_host* host, otc_str id);

  FakeHost& host_;
  const inspect::Manifest& manifest_;
  const Guarded version_, role_, plugin_id_;
  Guarded memory_;  // a pointer to this face, then the otc_host
  mutable std::mutex mutex_;
  std::string config_;
};

}  // namespace otc::harness

#endif  // OTC_SDK_HARNESS_FAKE_HOST_H_

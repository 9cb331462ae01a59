// LeaderElector: one Lease, one leader, as client-go elects it.
//
// Two threads of its own. The *elector* tries to acquire the Lease, then renews
// it. The *watchdog* ends leadership when the last successful renewal is too
// long ago, even if the elector hangs in a call: retry_period + renew_deadline
// (12 s) after that renewal was sent, 3 s before anybody else can lead. Time is
// the boot-time clock only; nothing in the Lease is compared with a clock of
// ours. What is kept in the Lease is for readers.
//
// Failure: on_lost is called exactly once, from either thread, and must end the
// process without waiting for workers; the write gate is shut before. A clean
// Stop releases the Lease; call it after all work has ended.
//
// Owned by main; deps outlive it.
#ifndef OTC_HOST_ELECTION_LEADER_ELECTOR_H_
#define OTC_HOST_ELECTION_LEADER_ELECTOR_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "host/base/cancellation.h"
#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/random.h"
#include "host/election/election_options.h"
#include "host/election/lease_write_gate.h"
#include "host/kube/api.h"
#include "host/kube/event_recorder.h"

namespace otc::host {

struct ElectionDeps {
  kube::KubeApi& api;
  kube::EventRecorder& events;
  Clock& clock;
  Random& random;
  Log& log;
  Metrics& metrics;
};

struct ElectionCallbacks {
  // On the elector's thread, once; must return at once (renewals wait for it).
  std::function<void()> on_started_leading;
  // See above. Not called when Stop ended a healthy leadership.
  std::function<void(const Status& why)> on_lost;
  // The holder that was seen changed; may be null.
  std::function<void(const std::string& identity)> on_new_leader;
};

class LeaderElector {
 public:
  LeaderElector(const ElectionDeps& deps, ElectionOptions options, ElectionCallbacks callbacks);
  ~LeaderElector();  // Stop
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  // INVALID_ARGUMENT with all wrong settings; nothing runs then.
  Status Start();
  // Ends both threads; releases the Lease if it is ours and release_on_exit is
  // set. Bounded by renew_deadline. Idempotent. Not from a callback.
  void Stop();

  WriteGate& gate() { return gate_; }
  bool IsLeader() const;
  std::string Holder() const;  // as last seen; empty: nobody or not seen yet
  // The health check `leaderElection`: fails only while this process holds the
  // Lease and has not been able to look at it for lease_duration + 20 s.
  Status Health() const;

 private:
  struct Observed {
    kube::Lease lease;
    MonoTime at;  // when this record was first seen
  };

  void Run();
  void Watch();
  // False: cancelled.
  bool Acquire();
  void RenewUntilLost();
  // One attempt to get or to keep the Lease, bounded by `deadline`.
  Status TryAcquireOrRenew(MonoTime deadline);
  // Takes or renews the Lease, of which `current` is the newest state known.
  Status Update(kube::Lease current, MonoTime deadline);
  Status Create(MonoTime deadline);
  // The server has stored our record; its renewal was sent at `sent`.
  void Hold(const kube::Lease& stored, MonoTime sent);
  void Observe(const kube::Lease& lease, MonoTime at);
  void BecomeLeader();
  void Lose(const Status& why);
  void Release();

  // When leadership ends unless a renewal succeeds.
  MonoTime LostAt() const;
  MonoTime LostAtLocked() const;
  CallContext Context(MonoTime deadline) const;
  CallContext RequestContext(MonoTime deadline) const;
  void RecordEvent(const std::string& what);

  const ElectionDeps deps_;
  const ElectionOptions options_;
  const ElectionCallbacks callbacks_;
  LeaseWriteGate gate_;
  Gauge& master_status_;
  Counter& slow_path_;
  std::shared_ptr<Cancellation> stop_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::optional<Observed> observed_;
  MonoTime last_renewal_sent_{};
  bool leading_ = false;
  bool lost_ = false;
  bool stopping_ = false;
  bool released_ = false;
  std::string reported_leader_;

  std::thread elector_;
  std::thread watchdog_;
};

}  // namespace otc::host

#endif  // OTC_HOST_ELECTION_LEADER_ELECTOR_H_

// DeletionGuard: whether a Node whose server the cloud calls gone may be deleted.
//
// A kubelet whose Node was deleted does not register again until somebody
// restarts it, so a wrong deletion costs a manual repair for each node, while a
// late one costs nothing. The guard therefore wants several proofs of absence
// over some time without any other answer in between, a Node that is not brand
// new, a providerID of this cloud, and stops altogether when too many nodes seem
// to vanish: that is an outage or a wrong account, not a scale-down.
//
// Pure bookkeeping without clock or I/O. All memory is lost with the process,
// which only delays deletions. Owned and used by one thread (the lifecycle
// controller's). Bounded by the number of nodes that are absent now or were
// deleted within the stop window.
#ifndef OTC_HOST_CONTROLLERS_DELETION_GUARD_H_
#define OTC_HOST_CONTROLLERS_DELETION_GUARD_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "host/base/clock.h"
#include "host/controllers/options.h"
#include "host/kube/types.h"

namespace otc::host {

enum class GuardVerdict {
  kDelete,
  kWait,     // more proofs, more time, or an older Node are needed
  kStopped,  // too many nodes vanish
  kNever,    // no providerID of this cloud
};

struct GuardDecision {
  GuardVerdict verdict = GuardVerdict::kWait;
  std::string why;  // for logs
  // When asking the cloud again can change the verdict.
  MonoTime ask_again = MonoTime::min();
};

bool HasOwnProviderId(const kube::Node& node);

class DeletionGuard {
 public:
  explicit DeletionGuard(const DeletionGuardOptions& options) : options_(options) {}

  // One fresh proof that the node's server does not exist.
  void Absent(const kube::Node& node, MonoTime now);
  // Any other answer, or none, or the node is Ready: proofs start anew.
  void NotAbsent(const std::string& uid) { absences_.erase(uid); }
  // Forgets all but these nodes (the others are Ready, or not there any more).
  void Retain(const std::set<std::string>& uids);
  // A DELETE is about to be sent; whatever comes of it, it counts as vanished.
  void Deleting(const std::string& uid, MonoTime now) { deletions_[uid] = now; }

  // Judges the stop anew, with all answers of this pass in; `own_nodes` is the
  // number of Nodes with a providerID of this cloud. True: it was just tripped.
  bool UpdateStop(std::size_t own_nodes, MonoTime now);
  bool stopped() const { return stopped_; }
  // "4 of 10 nodes …", for the alarm.
  const std::string& stop_text() const { return stop_text_; }

  // Decides nothing but this node; call after Absent and UpdateStop of the pass.
  GuardDecision Decide(const kube::Node& node, MonoTime now, WallTime wall) const;

  std::size_t absent() const { return absences_.size(); }

 private:
  struct Absence {
    int proofs = 0;
    MonoTime first{};
    MonoTime last{};
  };

  Duration ProofSpacing() const;

  const DeletionGuardOptions options_;
  std::map<std::string, Absence> absences_;    // by UID; own nodes only
  std::map<std::string, MonoTime> deletions_;  // by UID; within the stop window
  bool stopped_ = false;
  std::string stop_text_;
};

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_DELETION_GUARD_H_

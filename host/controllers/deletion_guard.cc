#include "host/controllers/deletion_guard.h"

#include <algorithm>
#include <chrono>

#include "host/controllers/node_names.h"

namespace otc::host {
namespace {

std::string Seconds(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(duration).count()) + " s";
}

}  // namespace

bool HasOwnProviderId(const kube::Node& node) {
  return node.provider_id.rfind(kProviderIdPrefix, 0) == 0;
}

void DeletionGuard::Absent(const kube::Node& node, MonoTime now) {
  if (!HasOwnProviderId(node)) return;
  Absence& absence = absences_[node.meta.uid];
  if (absence.proofs == 0) absence.first = now;
  ++absence.proofs;
  absence.last = now;
}

void DeletionGuard::Retain(const std::set<std::string>& uids) {
  std::erase_if(absences_, [&](const auto& entry) { return uids.count(entry.first) == 0; });
}

bool DeletionGuard::UpdateStop(std::size_t own_nodes, MonoTime now) {
  std::erase_if(deletions_,
                [&](const auto& entry) { return entry.second + options_.stop_window <= now; });
  const auto deleted = static_cast<std::size_t>(
      std::count_if(deletions_.begin(), deletions_.end(), [&](const auto& entry) {
        return absences_.count(entry.first) == 0;  // else it is still there
      }));
  const std::size_t vanished = absences_.size() + deleted;
  const std::size_t all = own_nodes + deleted;
  const bool before = stopped_;
  stopped_ = vanished >= static_cast<std::size_t>(options_.stop_count) &&
             vanished * 100 > all * static_cast<std::size_t>(options_.stop_percent);
  stop_text_.clear();
  if (stopped_) {
    stop_text_ = std::to_string(vanished) + " of " + std::to_string(all) +
                 " nodes seem to have vanished from the cloud (" + std::to_string(deleted) +
                 " of them deleted within " + Seconds(options_.stop_window) +
                 "); no Node is deleted while that is so";
  }
  return stopped_ && !before;
}

Duration DeletionGuard::ProofSpacing() const {
  if (options_.proofs <= 1) return options_.proof_span;
  return options_.proof_span / (options_.proofs - 1);
}

GuardDecision DeletionGuard::Decide(const kube::Node& node, MonoTime now, WallTime wall) const {
  if (!HasOwnProviderId(node)) {
    return {GuardVerdict::kNever,
            node.provider_id.empty() ? "the node has no providerID"
                                     : "the node's providerID is not of this cloud",
            now};
  }
  const auto it = absences_.find(node.meta.uid);
  const Absence absence = it == absences_.end() ? Absence{} : it->second;
  if (absence.proofs < options_.proofs || now - absence.first < options_.proof_span) {
    return {GuardVerdict::kWait,
            std::to_string(absence.proofs) + " of " + std::to_string(options_.proofs) +
                " proofs of absence over " + Seconds(options_.proof_span),
            std::max(now, absence.last + ProofSpacing())};
  }
  // A creation time in the future (skewed clocks) counts as brand new.
  const Duration age = wall - WallFromUnixMillis(node.meta.creation_unix_ms);
  if (age < options_.min_node_age) {
    return {GuardVerdict::kWait, "the Node is younger than " + Seconds(options_.min_node_age),
            now + (options_.min_node_age - age)};
  }
  if (stopped_) return {GuardVerdict::kStopped, stop_text_, now};
  return {GuardVerdict::kDelete, "its server is proved to be gone", now};
}

}  // namespace otc::host

#include "host/controllers/options.h"

namespace otc::host {
namespace {

void AtLeast(const char* what, long long value, long long min, std::vector<std::string>* errors) {
  if (value >= min) return;
  errors->push_back(std::string(what) + "=" + std::to_string(value) + " must be at least " +
                    std::to_string(min));
}

void Positive(const char* what, Duration value, std::vector<std::string>* errors) {
  if (value > Duration::zero()) return;
  errors->push_back(std::string(what) + " must be above zero");
}

void NotNegative(const char* what, Duration value, std::vector<std::string>* errors) {
  if (value >= Duration::zero()) return;
  errors->push_back(std::string(what) + " must not be negative");
}

}  // namespace

std::vector<std::string> Validate(const NodeControllerOptions& options) {
  std::vector<std::string> errors;
  AtLeast("--concurrent-node-syncs", options.concurrent_syncs, 1, &errors);
  AtLeast("--concurrent-node-status-updates", options.concurrent_status_updates, 0, &errors);
  Positive("--node-status-update-frequency", options.status_update_period, &errors);
  AtLeast("the size of a batch of new nodes", static_cast<long long>(options.batch_max), 1,
          &errors);
  NotNegative("the time in which new nodes are collected", options.batch_window, &errors);
  return errors;
}

std::vector<std::string> Validate(const LifecycleOptions& options) {
  std::vector<std::string> errors;
  Positive("--node-monitor-period", options.monitor_period, &errors);
  NotNegative("the longest pause between two questions about a node", options.recheck_max, &errors);
  const DeletionGuardOptions& guard = options.guard;
  AtLeast("the number of proofs of absence", guard.proofs, 1, &errors);
  NotNegative("the time over which absence is proved", guard.proof_span, &errors);
  NotNegative("the least age of a Node before it is deleted", guard.min_node_age, &errors);
  AtLeast("the share of vanished nodes that stops deletions, in percent,", guard.stop_percent, 0,
          &errors);
  AtLeast("the number of vanished nodes that stops deletions", guard.stop_count, 1, &errors);
  NotNegative("the time for which deletions count as vanished nodes", guard.stop_window, &errors);
  return errors;
}

}  // namespace otc::host

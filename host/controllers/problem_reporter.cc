#include "host/controllers/problem_reporter.h"

#include "host/controllers/node_names.h"

namespace otc::host {

void ProblemReporter::Report(const kube::Node& node, const std::string& text) {
  const MonoTime now = clock_.Now();
  {
    std::lock_guard lock(mutex_);
    auto [it, fresh] = problems_.try_emplace(node.meta.name);
    Problem& problem = it->second;
    if (fresh) problem.since = now;
    if (now - problem.since < after_) return;
    if (problem.text == text && now - problem.reported < again_) return;
    problem.text = text;
    problem.reported = now;
  }
  events_.Record(kNodeComponent, kube::ReferenceTo(node), kube::EventType::kWarning, kReason,
                 "The node stays tainted as uninitialized: " + text);
}

void ProblemReporter::Clear(const std::string& name) {
  std::lock_guard lock(mutex_);
  problems_.erase(name);
}

}  // namespace otc::host

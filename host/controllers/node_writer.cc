#include "host/controllers/node_writer.h"

#include <algorithm>

#include "host/controllers/node_patches.h"

namespace otc::host {

Status RetryOnConflict(const ConflictRetry& policy, Random& random, const CallContext& context,
                       const std::function<Status(int attempt)>& write) {
  for (int attempt = 0;; ++attempt) {
    const Status status = write(attempt);
    if (status.code() != Code::kAborted || attempt + 1 >= policy.tries) return status;
    const auto pause = std::chrono::duration_cast<Duration>(policy.base * (1.0 + random.Uniform()));
    OTC_RETURN_IF_ERROR(context.SleepUntil(context.clock->Now() + pause));
  }
}

void LogWrite(Log& log, std::string_view what, const std::string& node, const Status& status) {
  if (status.ok()) {
    log.Info(what, {{"node", node}});
  } else {
    log.Warn("write failed", {{"what", what}, {"node", node}, {"why", status}});
  }
}

Result<CallContext> NodeWriter::Admit(const CallContext& context) {
  const Result<MonoTime> until = gate_.Admit();
  if (!until.ok()) return until.status();
  CallContext admitted = context.WithTimeout(timeout_);
  admitted.deadline = std::min(admitted.deadline, *until);
  return admitted;
}

Status NodeWriter::Patch(const std::string& name, kube::PatchType type, const std::string& body,
                         const std::string& subresource, const CallContext& context) {
  const Result<CallContext> admitted = Admit(context);
  if (!admitted.ok()) return admitted.status();
  return api_.PatchNode(name, type, body, subresource, *admitted).status();
}

Status NodeWriter::MergePatch(const std::string& name, const std::string& body,
                              const std::string& subresource, const CallContext& context) {
  return Patch(name, kube::PatchType::kMerge, body, subresource, context);
}

Result<kube::Node> NodeWriter::Get(const std::string& name, const std::string& resource_version,
                                   const CallContext& context) {
  return api_.GetNode(name, resource_version, context.WithTimeout(timeout_));
}

Status NodeWriter::Delete(const std::string& name, const kube::DeletePreconditions& preconditions,
                          const CallContext& context) {
  const Result<CallContext> admitted = Admit(context);
  if (!admitted.ok()) return admitted.status();
  return api_.DeleteNode(name, preconditions, *admitted);
}

Result<kube::Node> NodeWriter::GetForAttempt(const std::string& name, int attempt,
                                             const CallContext& context) {
  return Get(name, attempt == 0 ? "0" : "", context);
}

Status NodeWriter::UpdateLabels(const std::string& name,
                                const std::function<LabelMap(const kube::Node&)>& plan,
                                const CallContext& context) {
  return RetryOnConflict({}, random_, context, [&](int attempt) -> Status {
    const Result<kube::Node> node = GetForAttempt(name, attempt, context);
    if (!node.ok()) return node.status();
    const LabelMap labels = plan(*node);
    if (labels.empty()) return Status::Ok();
    return Patch(name, kube::PatchType::kStrategicMerge, LabelsPatch(labels), "", context);
  });
}

Status NodeWriter::UpdateTaints(
    const std::string& name,
    const std::function<std::vector<kube::Taint>(std::vector<kube::Taint>)>& change,
    const CallContext& context) {
  return RetryOnConflict({}, random_, context, [&](int attempt) -> Status {
    const Result<kube::Node> node = GetForAttempt(name, attempt, context);
    if (!node.ok()) return node.status();
    const std::vector<kube::Taint> taints = change(node->taints);
    if (taints == node->taints) return Status::Ok();
    return Patch(name, kube::PatchType::kStrategicMerge,
                 TaintsPatch(taints, node->meta.resource_version), "", context);
  });
}

}  // namespace otc::host

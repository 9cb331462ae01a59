#include "host/controllers/controller_set.h"

#include "host/base/strings.h"
#include "host/controllers/lifecycle_controller.h"
#include "host/controllers/node_controller.h"

namespace otc::host {

ControllerSet::ControllerSet(const ControllerDeps& deps, const ControllerSetOptions& options)
    : deps_(deps), options_(options) {}

ControllerSet::~ControllerSet() { Stop(); }

Status ControllerSet::Start() {
  std::vector<std::string> errors = Validate(options_.node);
  const std::vector<std::string> more = Validate(options_.lifecycle);
  errors.insert(errors.end(), more.begin(), more.end());
  if (!errors.empty()) {
    return Status(Code::kInvalidArgument, "BadControllerOptions", Join(errors, "; "));
  }
  for (const ControllerId id : {ControllerId::kNode, ControllerId::kNodeLifecycle}) {
    if (!options_.selection.Enabled(id)) continue;
    if (deps_.instances == nullptr) {
      deps_.log.Warn("controller skipped: no plugin offers otc.instances-v2/1",
                     {{"controller", NameOf(id).canonical}});
      continue;
    }
    if (id == ControllerId::kNode) {
      node_ = std::make_unique<NodeController>(deps_, options_.node);
      node_->Start();
    } else {
      lifecycle_ = std::make_unique<NodeLifecycleController>(deps_, options_.lifecycle);
      lifecycle_->Start();
    }
    running_.push_back(NameOf(id).canonical);
    SetRunningMetric(id, true);
    deps_.log.Info("controller started", {{"controller", NameOf(id).canonical}});
  }
  return Status::Ok();
}

void ControllerSet::Cancel() {
  if (lifecycle_) lifecycle_->Cancel();
  if (node_) node_->Cancel();
}

void ControllerSet::Stop() {
  Cancel();
  if (lifecycle_) {
    lifecycle_.reset();
    SetRunningMetric(ControllerId::kNodeLifecycle, false);
  }
  if (node_) {
    node_.reset();
    SetRunningMetric(ControllerId::kNode, false);
  }
  running_.clear();
}

void ControllerSet::SetRunningMetric(ControllerId id, bool running) {
  deps_.metrics
      .GetGauge("running_managed_controllers", "1 while the controller runs, else 0.",
                {{"name", NameOf(id).alias}, {"manager", "cloud-controller-manager"}})
      .Set(running ? 1 : 0);
}

}  // namespace otc::host

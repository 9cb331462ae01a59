#include "host/cli/settings.h"

#include "host/base/strings.h"

namespace otc::host::cli {
namespace {

using plugin_host::Role;

Duration Millis(std::int64_t ms) { return std::chrono::milliseconds(ms); }

Status Combine(const std::vector<std::string>& errors) {
  return Status(Code::kInvalidArgument, "BadConfiguration", Join(errors, "\n"));
}

bool NeedsCloud(Role role) { return role != Role::kCsiNode; }

}  // namespace

Result<Settings> LoadSettings(const HostFlags& flags) {
  Settings settings;
  std::vector<std::string> errors;

  std::optional<Role> role;
  if (!flags.role.empty()) {
    role = plugin_host::ParseRole(flags.role);
    if (!role) {
      errors.push_back("flag --role=" + flags.role + ": allowed are " +
                       Join(plugin_host::RoleNames(), ", "));
    }
  }
  bool have_host_config = false;
  if (!flags.config.empty()) {
    auto host = plugin_host::ReadHostConfig(flags.config);
    if (host.ok()) {
      settings.host = std::move(host).value();
      have_host_config = true;
    } else {
      errors.push_back(host.status().message());
    }
  }
  if (!role) role = settings.host.role.value_or(Role::kControllers);
  settings.role = *role;
  if (!have_host_config) settings.host = plugin_host::DefaultHostConfig(settings.role);
  if (!flags.plugin_dir.empty()) settings.host.plugin_dir = flags.plugin_dir;

  if (NeedsCloud(settings.role)) {
    if (flags.cloud_config.empty()) {
      errors.push_back(
          "flag --cloud-config is missing: role " + std::string(RoleName(settings.role)) +
          " needs a cloud.conf with access-key, secret-key and region in section [Global]");
    } else {
      auto cloud = cloud::LoadCloudConfig(flags.cloud_config);
      if (cloud.ok()) {
        settings.cloud = std::move(cloud).value();
      } else {
        errors.push_back(cloud.status().message());
      }
    }
  }
  if (!errors.empty()) return Combine(errors);
  settings.cluster_name = settings.cloud && !settings.cloud->cluster_name.empty()
                              ? settings.cloud->cluster_name
                              : flags.cluster_name;
  return settings;
}

plugin_host::ConfigInputs InputsFor(const Settings& settings, const std::string& cluster_uid) {
  plugin_host::ConfigInputs inputs;
  if (settings.cloud) {
    inputs.cloud = plugin_host::CloudView{settings.cloud->region, settings.cloud->project_name,
                                          settings.cloud->sections};
  }
  inputs.cluster = {settings.cluster_name, cluster_uid};
  return inputs;
}

Result<ControllerFlags> ControllerOptionsFrom(const HostFlags& flags) {
  ControllerFlags out;
  std::vector<std::string> errors;

  auto selection = ParseControllers(flags.controllers);
  if (selection.ok()) {
    out.controllers.selection = *selection;
  } else {
    errors.push_back("flag " + selection.status().message());
  }
  NodeControllerOptions& node = out.controllers.node;
  node.concurrent_syncs = static_cast<int>(flags.concurrent_node_syncs);
  node.concurrent_status_updates = static_cast<int>(flags.concurrent_node_status_updates);
  node.status_update_period = Millis(flags.node_status_update_frequency_ms);

  LifecycleOptions& lifecycle = out.controllers.lifecycle;
  lifecycle.monitor_period = Millis(flags.node_monitor_period_ms);
  lifecycle.recheck_max = Millis(flags.node_recheck_max_ms);
  lifecycle.guard.proofs = static_cast<int>(flags.guard_proofs);
  lifecycle.guard.proof_span = Millis(flags.guard_window_ms);
  lifecycle.guard.min_node_age = Millis(flags.guard_min_age_ms);
  lifecycle.guard.stop_percent = static_cast<int>(flags.guard_stop_percent);
  lifecycle.guard.stop_count = static_cast<int>(flags.guard_stop_count);
  lifecycle.guard.stop_window = Millis(flags.guard_stop_period_ms);

  ElectionOptions& election = out.election;
  election.lease_duration = Millis(flags.lease_duration_ms);
  election.renew_deadline = Millis(flags.renew_deadline_ms);
  election.retry_period = Millis(flags.retry_period_ms);
  election.resource_lock = flags.resource_lock;
  election.resource_name = flags.resource_name;
  election.resource_namespace = flags.resource_namespace;
  election.release_on_exit = flags.leader_elect_release_on_exit;
  election.identity = MakeElectionIdentity();

  for (const auto& list : {Validate(node), Validate(lifecycle)}) {
    errors.insert(errors.end(), list.begin(), list.end());
  }
  if (flags.leader_elect) {
    for (const std::string& error : Validate(election)) errors.push_back(error);
  }
  if (!errors.empty()) return Combine(errors);
  return out;
}

}  // namespace otc::host::cli

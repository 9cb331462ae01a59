// The flags of otc-host, as plain values.
//
// Names and defaults are those of k8s.io/cloud-provider (docs/reference/flags.md)
// so that the arguments of an existing cloud controller manager keep working;
// those without effect here are accepted and marked so in --help. Own flags are
// the deletion guard's, --config, --role and a few more.
#ifndef OTC_HOST_CLI_HOST_FLAGS_H_
#define OTC_HOST_CLI_HOST_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/cli/flag_set.h"

namespace otc::host::cli {

struct HostFlags {
  // Process
  std::string config;      // host.yaml
  std::string role;        // empty: host.yaml's
  std::string plugin_dir;  // empty: host.yaml's
  bool allow_debug_plugins = false;
  std::int64_t verbosity = 0;  // klog levels: 0-3 info, 4 and more debug
  std::string logging_format = "text";
  std::string termination_message_path = "/dev/termination-log";
  std::int64_t shutdown_timeout_ms = 25'000;
  bool version = false;
  bool help = false;

  // Cloud
  std::string cloud_provider = "otc";
  std::string cloud_config;
  std::string cluster_name = "kubernetes";

  // API server
  std::string kubeconfig;
  std::string master;
  double kube_api_qps = 20;
  std::int64_t kube_api_burst = 30;

  // Controllers
  std::vector<std::string> controllers = {"*"};
  std::int64_t concurrent_node_syncs = 1;
  std::int64_t concurrent_node_status_updates = 0;
  std::int64_t node_monitor_period_ms = 5'000;
  std::int64_t node_recheck_max_ms = 60'000;
  std::int64_t node_status_update_frequency_ms = 300'000;
  bool configure_cloud_routes = false;

  // Deletion guard
  std::int64_t guard_proofs = 3;
  std::int64_t guard_window_ms = 60'000;
  std::int64_t guard_min_age_ms = 120'000;
  std::int64_t guard_stop_percent = 20;
  std::int64_t guard_stop_count = 3;
  std::int64_t guard_stop_period_ms = 600'000;

  // Leader election
  bool leader_elect = true;
  bool leader_elect_release_on_exit = true;
  std::int64_t lease_duration_ms = 15'000;
  std::int64_t renew_deadline_ms = 10'000;
  std::int64_t retry_period_ms = 2'000;
  std::string resource_lock = "leases";
  std::string resource_name = "cloud-controller-manager";
  std::string resource_namespace = "kube-system";

  // Serving
  std::string bind_address = "0.0.0.0";
  std::int64_t secure_port = 10258;
  std::string tls_cert_file;
  std::string tls_private_key_file;
  std::string tls_min_version = "VersionTLS12";
  std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
  std::string authentication_kubeconfig;
  std::string authorization_kubeconfig;
  bool authentication_skip_lookup = false;
  bool authentication_tolerate_lookup_failure = false;
  std::int64_t token_cache_ttl_ms = 10'000;
  std::int64_t authorized_ttl_ms = 10'000;
  std::int64_t unauthorized_ttl_ms = 10'000;
};

// Every flag bound to `flags`; `set` must not outlive it.
void DefineHostFlags(HostFlags* flags, FlagSet* set);

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_HOST_FLAGS_H_

#include "host/cli/host_flags.h"

namespace otc::host::cli {
namespace {

constexpr std::int64_t kMaxParallel = 1'000;

void DefineProcess(HostFlags* f, FlagSet* set) {
  set->String("config", &f->config,
              "host.yaml: role and plugins. Empty: the plugin `node` of --plugin-dir in role "
              "controllers.");
  set->String("role", &f->role,
              "controllers, csi-controller, csi-node or all; wins over host.yaml.");
  set->String("plugin-dir", &f->plugin_dir, "Folder of the plugins; wins over host.yaml.");
  set->Bool("allow-debug-plugins", &f->allow_debug_plugins,
            "Load plugins whose manifest says build=debug, asan or tsan.");
  set->Int("v", &f->verbosity, 0, 10, "Log verbosity; 4 and more shows debug lines.");
  set->String("logging-format", &f->logging_format, "Form of the log lines: text or json.");
  set->Check("logging-format", [f]() -> std::string {
    if (f->logging_format == "text" || f->logging_format == "json") return "";
    return "value \"" + f->logging_format + "\" is not supported: allowed are text and json";
  });
  set->String("termination-message-path", &f->termination_message_path,
              "File that gets the reason when the process ends on an error; empty: none.");
  set->DurationMs("shutdown-timeout", &f->shutdown_timeout_ms,
                  "How long running work may take to end after SIGTERM.");
  set->Bool("version", &f->version, "Print the version and exit.");
  set->Bool("help", &f->help, "Print this text and exit.");
}

void DefineCloud(HostFlags* f, FlagSet* set) {
  set->String("cloud-provider", &f->cloud_provider, "The cloud provider; only otc is offered.");
  set->Check("cloud-provider", [f]() -> std::string {
    if (f->cloud_provider == "otc") return "";
    return "value \"" + f->cloud_provider + "\" is not supported: the only provider is otc";
  });
  set->String("cloud-config", &f->cloud_config, "cloud.conf with credentials and region.");
  set->String("cluster-name", &f->cluster_name,
              "Name of the cluster; cloud.conf's cluster-name wins over it.");
}

void DefineApiServer(HostFlags* f, FlagSet* set) {
  set->String("kubeconfig", &f->kubeconfig,
              "kubeconfig of the API server. Empty: the pod's service account.");
  set->String("master", &f->master, "URL of the API server; wins over the kubeconfig's.");
  set->Double("kube-api-qps", &f->kube_api_qps, 0.1,
              "Calls per second to the API server (leader election has its own).");
  set->Int("kube-api-burst", &f->kube_api_burst, 1, 100'000, "Burst above --kube-api-qps.");
}

void DefineControllers(HostFlags* f, FlagSet* set) {
  set->List("controllers", &f->controllers,
            "Controllers to run: * is all, -name switches one off. Names: cloud-node-controller "
            "(cloud-node), cloud-node-lifecycle-controller (cloud-node-lifecycle).");
  set->Int("concurrent-node-syncs", &f->concurrent_node_syncs, 1, kMaxParallel,
           "Workers of the node controller.");
  set->Int("concurrent-node-status-updates", &f->concurrent_node_status_updates, 0, kMaxParallel,
           "Workers of the periodic address update; 0: as --concurrent-node-syncs.");
  set->DurationMs("node-monitor-period", &f->node_monitor_period_ms,
                  "Pause between two passes of the node lifecycle controller.");
  set->DurationMs("node-recheck-max", &f->node_recheck_max_ms,
                  "A NotReady node whose server is still there is asked about less and less "
                  "often, down to once in this time; 0: at every pass.");
  set->DurationMs("node-status-update-frequency", &f->node_status_update_frequency_ms,
                  "Pause between two updates of addresses and labels.");
  set->Bool("configure-cloud-routes", &f->configure_cloud_routes,
            "Routes belong to the network plugin of the cluster: only false is allowed.");
  set->Check("configure-cloud-routes", [f]() -> std::string {
    return f->configure_cloud_routes
               ? "value true is not supported: routes belong to the network plugin of the cluster; "
                 "set it to false or leave it out"
               : "";
  });
}

void DefineGuard(HostFlags* f, FlagSet* set) {
  set->Int("node-deletion-proofs", &f->guard_proofs, 1, 100,
           "Proofs of absence that a Node needs before it is deleted; 1 with the other "
           "--node-deletion flags at 0 is the behaviour of the stock controller.");
  set->DurationMs("node-deletion-proof-window", &f->guard_window_ms,
                  "Time that must lie between the first and the last proof.");
  set->DurationMs("node-deletion-min-age", &f->guard_min_age_ms,
                  "Nodes younger than this are not deleted.");
  set->Int("node-deletion-stop-percent", &f->guard_stop_percent, 0, 100,
           "Stop all deletions when more than this share of the nodes vanishes within "
           "--node-deletion-stop-period; 100: never stop.");
  set->Int("node-deletion-stop-count", &f->guard_stop_count, 1, 100'000,
           "Never stop below this number of vanished nodes.");
  set->DurationMs("node-deletion-stop-period", &f->guard_stop_period_ms,
                  "Period over which vanished nodes are counted.");
}

void DefineElection(HostFlags* f, FlagSet* set) {
  set->Bool("leader-elect", &f->leader_elect, "Work only while holding the Lease.");
  set->Bool("leader-elect-release-on-exit", &f->leader_elect_release_on_exit,
            "Give the Lease up after a clean stop, so that a standby takes over at once.");
  set->DurationMs("leader-elect-lease-duration", &f->lease_duration_ms,
                  "How long a Lease that is not renewed holds others off.");
  set->DurationMs("leader-elect-renew-deadline", &f->renew_deadline_ms,
                  "How long the leader tries to renew before it gives up.");
  set->DurationMs("leader-elect-retry-period", &f->retry_period_ms, "Pause between two tries.");
  set->String("leader-elect-resource-lock", &f->resource_lock, "Kind of lock; only leases.");
  set->Check("leader-elect-resource-lock", [f]() -> std::string {
    return f->resource_lock == "leases"
               ? ""
               : "value \"" + f->resource_lock + "\" is not supported: the only lock is leases";
  });
  set->String("leader-elect-resource-name", &f->resource_name, "Name of the Lease.");
  set->String("leader-elect-resource-namespace", &f->resource_namespace, "Namespace of the Lease.");
}

void DefineServing(HostFlags* f, FlagSet* set) {
  set->String("bind-address", &f->bind_address, "Address of the HTTPS port.");
  set->Int("secure-port", &f->secure_port, 0, 65'535,
           "HTTPS port of health, metrics and /plugins; 0: none.");
  set->String("tls-cert-file", &f->tls_cert_file,
              "Serving certificate (PEM chain); empty: self-signed, in memory.");
  set->String("tls-private-key-file", &f->tls_private_key_file, "Key of --tls-cert-file.");
  set->Check("tls-private-key-file", [f]() -> std::string {
    return f->tls_cert_file.empty() == f->tls_private_key_file.empty()
               ? ""
               : "--tls-cert-file and --tls-private-key-file go together: give both or none";
  });
  set->String("tls-min-version", &f->tls_min_version, "VersionTLS12 or VersionTLS13.");
  set->Check("tls-min-version", [f]() -> std::string {
    if (f->tls_min_version == "VersionTLS12" || f->tls_min_version == "VersionTLS13") return "";
    return "value \"" + f->tls_min_version +
           "\" is not supported: allowed are VersionTLS12 and VersionTLS13";
  });
  set->List("authorization-always-allow-paths", &f->always_allow_paths,
            "Paths that need no authorization; a final * matches any rest.");
  set->String("authentication-kubeconfig", &f->authentication_kubeconfig,
              "kubeconfig for TokenReviews; empty: as --kubeconfig.");
  set->String("authorization-kubeconfig", &f->authorization_kubeconfig,
              "kubeconfig for SubjectAccessReviews; empty: as --kubeconfig.");
  set->Bool("authentication-skip-lookup", &f->authentication_skip_lookup,
            "Do not read ConfigMap kube-system/extension-apiserver-authentication.");
  set->Bool("authentication-tolerate-lookup-failure", &f->authentication_tolerate_lookup_failure,
            "Start even if that ConfigMap cannot be read.");
  set->DurationMs("authentication-token-webhook-cache-ttl", &f->token_cache_ttl_ms,
                  "How long a TokenReview is remembered.");
  set->DurationMs("authorization-webhook-cache-authorized-ttl", &f->authorized_ttl_ms,
                  "How long an allowed SubjectAccessReview is remembered.");
  set->DurationMs("authorization-webhook-cache-unauthorized-ttl", &f->unauthorized_ttl_ms,
                  "How long a denied SubjectAccessReview is remembered.");
}

void DefineIgnored(FlagSet* set) {
  using Form = FlagSet::Form;
  struct Row {
    const char* name;
    Form form;
    const char* why;
  };
  static constexpr char kRoutes[] = "Routes and pod CIDRs belong to the network plugin.";
  static constexpr char kService[] = "Takes effect with the service controller.";
  static constexpr char kMigration[] = "There is no in-tree predecessor to migrate from.";
  static constexpr char kServing[] = "The HTTPS port speaks HTTP/1.1 with OpenSSL's defaults.";
  static constexpr char kWebhook[] = "No webhook is served; the port is never opened.";
  static constexpr char kProxy[] = "Front-proxy identities are not used.";
  static constexpr char kLogs[] = "Lines are written at once to standard error.";
  static constexpr char kGo[] = "There is no Go runtime to profile.";
  static constexpr Row kRows[] = {
      {"allocate-node-cidrs", Form::kBool, kRoutes},
      {"cluster-cidr", Form::kString, kRoutes},
      {"cidr-allocator-type", Form::kString, kRoutes},
      {"route-reconciliation-period", Form::kDuration, kRoutes},
      {"concurrent-service-syncs", Form::kInt, kService},
      {"use-service-account-credentials", Form::kBool,
       "All controllers use the identity of the process."},
      {"allow-untagged-cloud", Form::kBool, "Ownership rests on marks, not on tags."},
      {"external-cloud-volume-plugin", Form::kString, "Volumes are the CSI driver's."},
      {"node-sync-period", Form::kDuration, "Has no effect in the stock controller either."},
      {"min-resync-period", Form::kDuration, "The cache is not replayed to handlers."},
      {"controller-start-interval", Form::kDuration, "Controllers start together."},
      {"kube-api-content-type", Form::kString, "Reads use protobuf where offered, writes JSON."},
      {"enable-leader-migration", Form::kBool, kMigration},
      {"leader-migration-config", Form::kString, kMigration},
      {"profiling", Form::kBool, kGo},
      {"contention-profiling", Form::kBool, kGo},
      {"cert-dir", Form::kString, "A self-signed certificate is kept in memory."},
      {"tls-sni-cert-key", Form::kString, kServing},
      {"tls-cipher-suites", Form::kString, kServing},
      {"tls-curve-preferences", Form::kString, kServing},
      {"disable-http2-serving", Form::kBool, kServing},
      {"http2-max-streams-per-connection", Form::kInt, kServing},
      {"permit-port-sharing", Form::kBool, kServing},
      {"permit-address-sharing", Form::kBool, kServing},
      {"client-ca-file", Form::kString, "Clients authenticate with bearer tokens."},
      {"requestheader-client-ca-file", Form::kString, kProxy},
      {"requestheader-allowed-names", Form::kString, kProxy},
      {"requestheader-username-headers", Form::kString, kProxy},
      {"requestheader-uid-headers", Form::kString, kProxy},
      {"requestheader-group-headers", Form::kString, kProxy},
      {"requestheader-extra-headers-prefix", Form::kString, kProxy},
      {"webhooks", Form::kString, kWebhook},
      {"webhook-bind-address", Form::kString, kWebhook},
      {"webhook-secure-port", Form::kInt, kWebhook},
      {"webhook-cert-dir", Form::kString, kWebhook},
      {"webhook-tls-cert-file", Form::kString, kWebhook},
      {"webhook-tls-private-key-file", Form::kString, kWebhook},
      {"vmodule", Form::kString, kLogs},
      {"log-flush-frequency", Form::kDuration, kLogs},
      {"log-text-split-stream", Form::kBool, kLogs},
      {"log-text-info-buffer-size", Form::kString, kLogs},
      {"log-json-split-stream", Form::kBool, kLogs},
      {"log-json-info-buffer-size", Form::kString, kLogs},
      {"feature-gates", Form::kString, "No gate of the framework changes anything here."},
  };
  for (const Row& row : kRows) set->Ignored(row.name, row.form, row.why);
}

}  // namespace

void DefineHostFlags(HostFlags* flags, FlagSet* set) {
  DefineProcess(flags, set);
  DefineCloud(flags, set);
  DefineApiServer(flags, set);
  DefineControllers(flags, set);
  DefineGuard(flags, set);
  DefineElection(flags, set);
  DefineServing(flags, set);
  DefineIgnored(set);
}

}  // namespace otc::host::cli

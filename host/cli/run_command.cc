#include "host/cli/run_command.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/random.h"
#include "host/base/strings.h"
#include "host/cli/cloud_check.h"
#include "host/cli/cluster_part.h"
#include "host/cli/reloader.h"
#include "host/cli/settings.h"
#include "host/cli/shared_gate.h"
#include "host/cli/version.h"
#include "host/cloud/transport.h"
#include "host/ops/health.h"
#include "host/ops/server.h"
#include "host/plugin/crash_handler.h"
#include "host/plugin/plugin_manager.h"

namespace otc::host::cli {
namespace {

using plugin_host::Role;

constexpr std::chrono::milliseconds kLook{1'000};  // between looks at files

bool NeedsCluster(Role role) { return role == Role::kControllers || role == Role::kAll; }

class HostProcess {
 public:
  HostProcess(const HostFlags& flags, const FlagSet& set, Supervisor& supervisor, Settings settings,
              ControllerFlags options)
      : flags_(flags),
        set_(set),
        supervisor_(supervisor),
        settings_(std::move(settings)),
        options_(std::move(options)),
        redactor_(std::make_shared<SecretRedactor>()),
        log_(STDERR_FILENO, flags.logging_format == "json" ? LogFormat::kJson : LogFormat::kText,
             flags.verbosity >= 4 ? LogLevel::kDebug : LogLevel::kInfo, clock_, redactor_) {}

  int Run() {
    const Status status = Start();
    if (!status.ok()) return End(kExitFailed, status);
    return Supervise();
  }

 private:
  Status Start();
  Status StartServing();
  Status StartCloud();
  void StartPlugins();
  Status Apply(const Settings& fresh, const CallContext& context);
  int Supervise();
  std::optional<int> Handle(const Notice& notice);
  int End(int code, const Status& why);
  void Stop();

  const HostFlags& flags_;
  const FlagSet& set_;
  Supervisor& supervisor_;
  Settings settings_;
  const ControllerFlags options_;
  SystemClock clock_;
  SystemRandom random_;
  Metrics metrics_;
  std::shared_ptr<SecretRedactor> redactor_;
  StreamLog log_;
  SharedGate gate_;
  ops::Health health_;

  std::unique_ptr<ClusterPart> cluster_;
  std::unique_ptr<cloud::Transport> transport_;
  std::unique_ptr<CloudCheck> cloud_check_;
  std::unique_ptr<plugin_host::PluginManager> plugins_;
  std::unique_ptr<Reloader> reloader_;
  std::unique_ptr<ops::AccessReviewer> access_;
  std::unique_ptr<ops::Server> server_;
};

Status HostProcess::Start() {
  if (settings_.cloud) settings_.cloud->RegisterSecrets(*redactor_);
  log_.Info("otc-host starts", {{"version", HostVersion()},
                                {"role", plugin_host::RoleName(settings_.role)},
                                {"cluster", settings_.cluster_name}});
  metrics_.GetGauge("otc_host_build_info", "Version of the host.", {{"version", HostVersion()}})
      .Set(1);

  if (NeedsCluster(settings_.role)) {
    auto cluster = ClusterPart::Create(
        flags_, options_, PartDeps{clock_, random_, log_, metrics_, gate_, supervisor_, health_});
    if (!cluster.ok()) return cluster.status();
    cluster_ = std::move(cluster).value();
  }
  OTC_RETURN_IF_ERROR(StartCloud());
  StartPlugins();
  OTC_RETURN_IF_ERROR(StartServing());
  if (!cluster_) return Status::Ok();
  OTC_RETURN_IF_ERROR(cluster_->Connect());
  plugins_->Reload(settings_.host, InputsFor(settings_, cluster_->cluster_uid()));
  return cluster_->Campaign();
}

Status HostProcess::StartCloud() {
  cloud::TransportDeps deps{
      clock_,
      random_,
      log_,
      metrics_,
      gate_,
      [this](http::ClientOptions options) { return http::MakeClient(std::move(options), clock_); },
      UserAgent()};
  auto transport = settings_.cloud ? cloud::Transport::Create(*settings_.cloud, std::move(deps))
                                   : cloud::Transport::CreateForMetadata("", std::move(deps));
  if (!transport.ok()) return transport.status();
  transport_ = std::move(transport).value();
  if (!settings_.cloud) return Status::Ok();
  cloud_check_ = std::make_unique<CloudCheck>(
      [this](const CallContext& context) { return transport_->Probe(context); }, clock_, log_);
  health_.Add("cloud", ops::Health::kReadyz, [this] { return cloud_check_->Ready(); });
  cloud_check_->Start();
  return Status::Ok();
}

void HostProcess::StartPlugins() {
  plugin_host::PluginManagerOptions options;
  options.config = settings_.host;
  options.role = settings_.role;
  options.inputs = InputsFor(settings_, cluster_ ? cluster_->cluster_uid() : "");
  options.host_version = HostVersion();
  options.allow_debug_plugins = flags_.allow_debug_plugins;
  options.callbacks.on_fatal = [this](const Status& why) {
    supervisor_.Post({Notice::Kind::kFatal, why, kExitRequired});
  };
  plugins_ = std::make_unique<plugin_host::PluginManager>(
      std::move(options),
      plugin_host::PluginManagerDeps{clock_, log_, metrics_, random_, transport_.get()});
  plugins_->Start();
  health_.Add("plugins", ops::Health::kReadyz, [this] { return plugins_->Ready(); });
  reloader_ = std::make_unique<Reloader>(
      flags_, settings_, clock_, log_, metrics_, redactor_,
      [this](const Settings& fresh, const CallContext& context) { return Apply(fresh, context); });
}

Status HostProcess::StartServing() {
  if (flags_.secure_port == 0) return Status::Ok();
  auto certificate = flags_.tls_cert_file.empty()
                         ? ops::ServingCertificate::SelfSigned(clock_, log_)
                         : ops::ServingCertificate::FromFiles(
                               flags_.tls_cert_file, flags_.tls_private_key_file, clock_, log_);
  if (!certificate.ok()) return certificate.status();

  ops::AccessOptions access;
  access.always_allow_paths = flags_.always_allow_paths;
  access.token_ttl = std::chrono::milliseconds(flags_.token_cache_ttl_ms);
  access.allowed_ttl = std::chrono::milliseconds(flags_.authorized_ttl_ms);
  access.denied_ttl = std::chrono::milliseconds(flags_.unauthorized_ttl_ms);
  access_ = std::make_unique<ops::AccessReviewer>(
      std::move(access), cluster_ ? &cluster_->authentication() : nullptr,
      cluster_ ? &cluster_->authorization() : nullptr, clock_, log_);

  ops::ServerOptions options;
  options.bind_address = flags_.bind_address;
  options.port = static_cast<std::uint16_t>(flags_.secure_port);
  options.tls13_only = flags_.tls_min_version == "VersionTLS13";
  server_ = std::make_unique<ops::Server>(
      options, std::move(certificate).value(),
      [this](const ops::Request& request) { return access_->Judge(request); }, log_);
  using Endpoint = ops::Health::Endpoint;
  for (const auto& [path, endpoint] :
       {std::pair<const char*, Endpoint>{"/healthz", Endpoint::kHealthz},
        {"/livez", Endpoint::kLivez},
        {"/readyz", Endpoint::kReadyz}}) {
    server_->Handle(path, [this, endpoint = endpoint](const ops::Request& request) {
      return health_.Serve(endpoint, request);
    });
  }
  server_->Handle("/metrics", [this](const ops::Request&) {
    return ops::Response{200, "text/plain; version=0.0.4; charset=utf-8", metrics_.Render()};
  });
  server_->Handle("/plugins", [this](const ops::Request&) {
    return ops::Response{200, ops::kJson,
                         plugin_host::RenderPluginJson(plugins_->SnapshotWithUnconfigured())};
  });
  server_->Handle("/configz", [this](const ops::Request&) {
    std::string body = "{\"otc-host\":{";
    for (const auto& [name, value] : set_.Values()) {
      if (body.back() != '{') body += ',';
      body += JsonQuote(name) + ":" + JsonQuote(value);
    }
    return ops::Response{200, ops::kJson, body + "}}\n"};
  });
  return server_->Start();
}

Status HostProcess::Apply(const Settings& fresh, const CallContext& context) {
  if (transport_ && fresh.cloud) OTC_RETURN_IF_ERROR(transport_->Reload(*fresh.cloud, context));
  if (cloud_check_) cloud_check_->Again();
  settings_ = fresh;
  plugins_->Reload(fresh.host, InputsFor(fresh, cluster_ ? cluster_->cluster_uid() : ""));
  return Status::Ok();
}

int HostProcess::Supervise() {
  for (;;) {
    const auto notice = supervisor_.Wait(kLook);
    if (notice) {
      if (const auto code = Handle(*notice)) return *code;
    }
    reloader_->Look(notice && notice->kind == Notice::Kind::kReload);
  }
}

std::optional<int> HostProcess::Handle(const Notice& notice) {
  switch (notice.kind) {
    case Notice::Kind::kTerminate:
      log_.Info("asked to end");
      return End(kExitOk, Status::Ok());
    case Notice::Kind::kReload:
      return std::nullopt;
    case Notice::Kind::kFatal:
      return End(notice.exit_code, notice.status);
    case Notice::Kind::kLeading: {
      const Status status = cluster_->Lead(plugins_->Instances());
      if (!status.ok()) return End(kExitFailed, status);
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void HostProcess::Stop() {
  // Work first, then the lease; the port stays open to the end for the probes.
  if (cluster_) cluster_->Stop();
  if (cloud_check_) cloud_check_->Stop();
  std::vector<std::string> abandoned;
  if (plugins_) abandoned = plugins_->Stop();
  if (server_) server_->Stop();
  if (!abandoned.empty()) {
    log_.Warn("plugins still run and are left behind", {{"plugins", Join(abandoned, ",")}});
    _exit(kExitOk);
  }
}

int HostProcess::End(int code, const Status& why) {
  if (!why.ok()) {
    log_.Error("ending", {{"error", why}, {"exit_code", code}});
    WriteTerminationMessage(flags_.termination_message_path, redactor_->Redact(why.ToString()));
  }
  // Whatever hangs below must not keep a pod alive for ever; a second signal
  // ends the process at once.
  ArmExitTimer(std::chrono::milliseconds(flags_.shutdown_timeout_ms),
               code == kExitOk ? kExitFailed : code);
  Stop();
  log_.Info("ended", {{"exit_code", code}});
  return code;
}

}  // namespace

int Refuse(const HostFlags& flags, const std::string& errors) {
  std::fprintf(stderr, "%s\n", errors.c_str());
  WriteTerminationMessage(flags.termination_message_path, errors);
  return kExitUsage;
}

int RunHost(const HostFlags& flags, const FlagSet& set, Supervisor& supervisor) {
  auto settings = LoadSettings(flags);
  auto options = ControllerOptionsFrom(flags);
  std::vector<std::string> errors;
  for (const Status& status : {settings.status(), options.status()}) {
    if (!status.ok()) errors.push_back(status.message());
  }
  if (!errors.empty()) return Refuse(flags, Join(errors, "\n"));
  plugin_host::InstallCrashHandler();
  HostProcess process(flags, set, supervisor, std::move(settings).value(),
                      std::move(options).value());
  return process.Run();
}

}  // namespace otc::host::cli

#include "host/cli/cluster_part.h"

#include <Poco/Exception.h>
#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>
#include <unistd.h>

#include "host/cli/reloader.h"
#include "host/cli/version.h"

namespace otc::host::cli {
namespace {

constexpr Duration kServerWait = std::chrono::seconds(10);
constexpr Duration kServerPause = std::chrono::seconds(1);
constexpr Duration kEventGrace = std::chrono::seconds(2);
constexpr char kAuthenticationConfig[] =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

kube::RawRequest Get(const std::string& path) {
  kube::RawRequest request;
  request.method = "GET";
  request.path = path;
  return request;
}

Result<std::unique_ptr<kube::KubeClient>> MakeClient(const HostFlags& flags,
                                                     const std::string& kubeconfig,
                                                     const std::string& agent,
                                                     const PartDeps& deps) {
  auto config = kube::LoadConfig({kubeconfig, flags.master});
  if (!config.ok()) return config.status();
  for (const std::string& warning : config->warnings) {
    deps.log.Warn("kubeconfig", {{"warning", warning}});
  }
  deps.log.Info("API server", {{"url", config->server.origin.ToString() + config->server.prefix},
                               {"from", config->source}});
  kube::KubeClientOptions options;
  options.config = std::move(config).value();
  options.user_agent = agent;
  options.qps = flags.kube_api_qps;
  options.burst = static_cast<int>(flags.kube_api_burst);
  return kube::KubeClient::Create(std::move(options), deps.gate, deps.clock, deps.log,
                                  deps.metrics);
}

}  // namespace

ClusterPart::ClusterPart(const HostFlags& flags, const ControllerFlags& options,
                         const PartDeps& deps)
    : flags_(flags), options_(options), deps_(deps) {}

ClusterPart::~ClusterPart() { Stop(); }

Result<std::unique_ptr<ClusterPart>> ClusterPart::Create(const HostFlags& flags,
                                                         const ControllerFlags& options,
                                                         const PartDeps& deps) {
  std::unique_ptr<ClusterPart> part(new ClusterPart(flags, options, deps));
  OTC_RETURN_IF_ERROR(part->MakeClients());
  part->events_ = std::make_unique<kube::ApiEventRecorder>(*part->client_, deps.clock, deps.random,
                                                           deps.log, deps.metrics);
  part->nodes_ = std::make_unique<kube::NodeInformer>(*part->client_, deps.clock, deps.random,
                                                      deps.log, deps.metrics);
  return part;
}

Status ClusterPart::MakeClients() {
  auto client = MakeClient(flags_, flags_.kubeconfig, UserAgent(), deps_);
  if (!client.ok()) return client.status();
  client_ = std::move(client).value();
  authentication_ = authorization_ = client_.get();
  if (!flags_.authentication_kubeconfig.empty()) {
    auto other = MakeClient(flags_, flags_.authentication_kubeconfig, UserAgent(), deps_);
    if (!other.ok()) return other.status().WithPrefix("--authentication-kubeconfig: ");
    authentication_client_ = std::move(other).value();
    authentication_ = authentication_client_.get();
  }
  if (!flags_.authorization_kubeconfig.empty()) {
    auto other = MakeClient(flags_, flags_.authorization_kubeconfig, UserAgent(), deps_);
    if (!other.ok()) return other.status().WithPrefix("--authorization-kubeconfig: ");
    authorization_client_ = std::move(other).value();
    authorization_ = authorization_client_.get();
  }
  return Status::Ok();
}

CallContext ClusterPart::Context(Duration timeout) const {
  CallContext context;
  context.clock = &deps_.clock;
  context.deadline = deps_.clock.Now() + timeout;
  return context;
}

Status ClusterPart::Connect() {
  if (!flags_.authentication_skip_lookup) {
    const auto found = authentication_->Call(Get(kAuthenticationConfig), Context(kServerWait));
    if (!found.ok() && !flags_.authentication_tolerate_lookup_failure) {
      return Status(found.status().code(), "AuthenticationLookupFailed",
                    "ConfigMap kube-system/extension-apiserver-authentication cannot be read: " +
                        found.status().ToString() +
                        "; bind the ServiceAccount to Role extension-apiserver-authentication-"
                        "reader, or start with --authentication-tolerate-lookup-failure or "
                        "--authentication-skip-lookup");
    }
    if (!found.ok()) {
      deps_.log.Warn("authentication lookup failed, going on", {{"error", found.status()}});
    }
  }
  const Status uid = ReadClusterUid();
  if (!uid.ok()) deps_.log.Warn("cluster UID not read yet", {{"error", uid}});
  return Status::Ok();
}

Status ClusterPart::ReadClusterUid() {
  const auto answer = client_->Call(Get("/api/v1/namespaces/kube-system"), Context(kServerWait));
  if (!answer.ok()) return answer.status();
  try {
    Poco::JSON::Parser parser;
    const auto object = parser.parse(answer->body).extract<Poco::JSON::Object::Ptr>();
    const auto meta = object->getObject("metadata");
    if (meta) cluster_uid_ = meta->optValue<std::string>("uid", "");
  } catch (const Poco::Exception& e) {
    return Status(Code::kUnknown, "BadAnswer",
                  "namespace kube-system is not a JSON object: " + e.displayText());
  }
  return Status::Ok();
}

Status ClusterPart::Campaign() {
  if (!flags_.leader_elect) {
    deps_.gate.Set(&open_gate_);
    deps_.supervisor.Post({Notice::Kind::kLeading, Status(), 0});
    return Status::Ok();
  }
  ElectionCallbacks callbacks;
  callbacks.on_started_leading = [this] {
    deps_.supervisor.Post({Notice::Kind::kLeading, Status(), 0});
  };
  callbacks.on_lost = [this](const Status& why) { Die(why); };
  elector_ = std::make_unique<LeaderElector>(
      ElectionDeps{*client_, *events_, deps_.clock, deps_.random, deps_.log, deps_.metrics},
      options_.election, std::move(callbacks));
  deps_.gate.Set(&elector_->gate());
  deps_.health.Add("leaderElection", ops::Health::kHealthz, [this] { return elector_->Health(); });
  return elector_->Start();
}

void ClusterPart::Die(const Status& why) {
  // Called on the elector's or the watchdog's thread while workers may hang: no
  // destructor may run, nobody is waited for, and a log that blocks must not
  // keep the process beyond the lease either.
  ArmExitTimer(std::chrono::seconds(1), 1);
  deps_.log.Error("leader election lost, ending at once", {{"error", why}});
  WriteTerminationMessage(flags_.termination_message_path, why.ToString());
  _exit(1);
}

Status ClusterPart::Lead(InstancesProvider* instances) {
  const MonoTime until = deps_.clock.Now() + kServerWait;
  for (;;) {
    const auto healthy = client_->Call(Get("/healthz"), Context(kServerWait));
    if (healthy.ok()) break;
    if (deps_.clock.Now() >= until) {
      return Status(
          Code::kUnavailable, "ApiServerUnhealthy",
          "the API server's /healthz was not 200 within 10 s: " + healthy.status().ToString());
    }
    Status slept = Context(kServerWait).SleepUntil(deps_.clock.Now() + kServerPause);
    if (!slept.ok()) return slept;
  }
  if (cluster_uid_.empty()) {
    const Status uid = ReadClusterUid();
    if (!uid.ok()) deps_.log.Warn("cluster UID not read", {{"error", uid}});
  }
  controllers_ = std::make_unique<ControllerSet>(
      ControllerDeps{*nodes_, *client_, *events_, deps_.gate, instances, deps_.clock, deps_.random,
                     deps_.log, deps_.metrics},
      options_.controllers);
  OTC_RETURN_IF_ERROR(controllers_->Start());
  for (const std::string& name : controllers_->Running()) {
    deps_.health.Add(name, ops::Health::kHealthz, [] { return Status::Ok(); });
  }
  nodes_->Start();
  return Status::Ok();
}

void ClusterPart::Stop() {
  if (controllers_) controllers_->Stop();
  if (nodes_) nodes_->Stop();
  if (elector_) elector_->Stop();
  if (events_) events_->Stop(kEventGrace);
}

}  // namespace otc::host::cli

#include "tests/sim/kube/server.h"

#include "host/base/strings.h"
#include "tests/sim/kube/api_server.h"
#include "tests/sim/kube/control.h"
#include "tests/sim/kube/http_server.h"
#include "tests/sim/kube/kubeconfig.h"
#include "tests/sim/kube/node_generator.h"
#include "tests/sim/kube/tls.h"

namespace otc::kubesim {
namespace {

constexpr char kAdminName[] = "kube-sim-admin";

Status NoSuchResource(const std::string& resource) {
  std::vector<std::string> known;
  for (const ResourceInfo& info : AllResources()) {
    if (!info.review) {
      known.push_back(info.plural);
    }
  }
  return Status(Code::kInvalidArgument, "NoSuchResource",
                "resource " + host::JsonQuote(resource) + "; known: " + host::Join(known, ", "));
}

// By plural name, which is unique among what is stored.
const ResourceInfo* ByPlural(const std::string& plural) {
  for (const ResourceInfo& info : AllResources()) {
    if (info.plural == plural && !info.review) {
      return &info;
    }
  }
  return nullptr;
}

std::string RefusalBody(int status, const std::string& why) {
  const ApiError error =
      status == 413 ? TooLarge()
                    : ApiError{.code = status, .reason = ReasonOfCode(status), .message = why};
  return DumpJson(error.ToStatus());
}

}  // namespace

struct Server::Parts {
  Options options;
  host::SystemClock system_clock;
  const host::Clock* clock;
  ApiServer api;
  std::shared_ptr<CertificateAuthority> authority;
  std::string admin_token = "admin-" + host::RandomUuid();
  std::unique_ptr<HttpServer> http;
  std::unique_ptr<HttpServer> control;

  explicit Parts(Options given)
      : options(std::move(given)),
        clock(options.clock != nullptr ? options.clock : &system_clock),
        api(options, *clock) {}

  Status SeedDefaults() {
    const ResourceInfo& namespaces = *ByPlural("namespaces");
    for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
      OTC_RETURN_IF_ERROR(api.crud().Seed(
          namespaces,
          {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/metadata.name", name}}}}},
           {"spec", {{"finalizers", {"kubernetes"}}}},
           {"status", {{"phase", "Active"}}}}));
    }
    const std::string ca = authority != nullptr ? authority->pem() : "";
    return api.crud().Seed(
        *ByPlural("configmaps"),
        {{"metadata",
          {{"name", "extension-apiserver-authentication"}, {"namespace", "kube-system"}}},
         {"data",
          {{"client-ca-file", ca},
           {"requestheader-client-ca-file", ca},
           {"requestheader-allowed-names", "[\"front-proxy-client\"]"},
           {"requestheader-extra-headers-prefix", "[\"X-Remote-Extra-\"]"},
           {"requestheader-group-headers", "[\"X-Remote-Group\"]"},
           {"requestheader-username-headers", "[\"X-Remote-User\"]"}}}});
  }
};

Server::Server(Options options) : parts_(std::make_unique<Parts>(std::move(options))) {}

Server::~Server() { Stop(); }

Status Server::Start() {
  Parts& parts = *parts_;
  HttpServerOptions http;
  http.address = parts.options.address;
  http.port = parts.options.port;
  http.max_connections = parts.options.max_connections;
  if (parts.options.tls) {
    auto authority = CertificateAuthority::Create("kube-sim-ca");
    if (!authority.ok()) {
      return authority.status();
    }
    parts.authority = *authority;
    std::vector<std::string> names = parts.options.certificate_names;
    if (names.empty()) {
      names = {"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default.svc"};
    }
    const auto certificate = parts.authority->IssueServer(names);
    if (!certificate.ok()) {
      return certificate.status();
    }
    const auto context = MakeServerContext(*certificate, parts.authority->pem(),
                                           parts.options.require_client_certificate);
    if (!context.ok()) {
      return context.status();
    }
    http.tls = *context;
  }
  OTC_RETURN_IF_ERROR(
      parts.api.auth().AddUser({kAdminName, parts.admin_token, {"system:masters"}, "[]"}));
  OTC_RETURN_IF_ERROR(parts.SeedDefaults());
  parts.http = std::make_unique<HttpServer>(
      http,
      [&parts](HttpRequest& request, ResponseWriter& writer) { parts.api.Handle(request, writer); },
      RefusalBody);
  OTC_RETURN_IF_ERROR(parts.http->Start());
  parts.api.set_address(parts.options.address + ":" + std::to_string(port()));
  if (parts.options.control) {
    HttpServerOptions control;
    control.address = parts.options.address;
    control.port = parts.options.control_port;
    parts.control = std::make_unique<HttpServer>(
        control,
        [this](HttpRequest& request, ResponseWriter& writer) {
          ServeControl(*this, request, writer);
        },
        RefusalBody);
    OTC_RETURN_IF_ERROR(parts.control->Start());
  }
  return Status::Ok();
}

void Server::Stop() {
  if (parts_->control != nullptr) {
    parts_->control->Stop();
  }
  if (parts_->http != nullptr) {
    parts_->http->Stop();
  }
}

std::uint16_t Server::port() const { return parts_->http != nullptr ? parts_->http->port() : 0; }

std::string Server::url() const {
  const std::string& address = parts_->options.address;
  const bool ipv6 = address.find(':') != std::string::npos;
  return (parts_->options.tls ? "https://" : "http://") + (ipv6 ? "[" + address + "]" : address) +
         ":" + std::to_string(port());
}

std::string Server::control_url() const {
  return parts_->control == nullptr
             ? ""
             : "http://" + parts_->options.address + ":" + std::to_string(parts_->control->port());
}

std::string Server::ca_pem() const {
  return parts_->authority != nullptr ? parts_->authority->pem() : "";
}

std::string Server::Kubeconfig() const {
  return MakeKubeconfig(url(), ca_pem(), kAdminName, parts_->admin_token);
}

std::string Server::KubeconfigFor(const User& user) const {
  return MakeKubeconfig(url(), ca_pem(), user.name, user.token);
}

Status Server::AddUser(const User& user) { return parts_->api.auth().AddUser(user); }

Result<Server::ClientCertificate> Server::IssueClientCertificate(
    const std::string& user, const std::vector<std::string>& groups) const {
  if (parts_->authority == nullptr) {
    return Status(Code::kFailedPrecondition, "NoTls", "client certificates need a TLS server");
  }
  const auto issued = parts_->authority->IssueClient(user, groups);
  if (!issued.ok()) {
    return issued.status();
  }
  return ClientCertificate{issued->certificate, issued->key};
}

Status Server::AddNode(const std::string& json) { return Put("nodes", json); }

Status Server::Put(const std::string& resource, const std::string& json) {
  const ResourceInfo* info = ByPlural(resource);
  if (info == nullptr) {
    return NoSuchResource(resource);
  }
  std::optional<Json> document = ParseJson(json);
  if (!document) {
    return Status(Code::kInvalidArgument, "NotJson", "the document is not JSON");
  }
  return parts_->api.crud().Seed(*info, std::move(*document));
}

Result<std::string> Server::GetObject(const std::string& resource,
                                      const std::string& namespace_name,
                                      const std::string& name) const {
  const ResourceInfo* info = ByPlural(resource);
  if (info == nullptr) {
    return NoSuchResource(resource);
  }
  const ObjectPtr object = parts_->api.store().Get(*info, ObjectKey(namespace_name, name));
  if (object == nullptr) {
    return Status(Code::kNotFound, "NotFound", resource + " " + name + " is not there");
  }
  return object->json();
}

std::vector<std::string> Server::ListObjects(const std::string& resource) const {
  std::vector<std::string> texts;
  if (const ResourceInfo* info = ByPlural(resource)) {
    const std::optional<Snapshot> snapshot = parts_->api.store().List(*info);
    for (const ObjectPtr& object : snapshot->objects) {
      texts.push_back(object->json());
    }
  }
  return texts;
}

Status Server::DeleteObject(const std::string& resource, const std::string& namespace_name,
                            const std::string& name) {
  const ResourceInfo* info = ByPlural(resource);
  if (info == nullptr) {
    return NoSuchResource(resource);
  }
  const std::string key = ObjectKey(namespace_name, name);
  const ObjectPtr object = parts_->api.store().Get(*info, key);
  if (object == nullptr || !parts_->api.store().Remove(*info, key, object)) {
    return Status(Code::kNotFound, "NotFound", resource + " " + name + " is not there");
  }
  return Status::Ok();
}

Status Server::AddManyNodes(std::size_t count, const std::string& prefix) {
  const ResourceInfo& nodes = *ByPlural("nodes");
  const std::string now = host::FormatRfc3339(parts_->clock->Wall());
  for (std::size_t i = 0; i < count; ++i) {
    OTC_RETURN_IF_ERROR(parts_->api.crud().Seed(nodes, GenerateNode(prefix, i, now)));
  }
  return Status::Ok();
}

Result<std::uint64_t> Server::ArmFault(const std::string& json) {
  const std::optional<Json> fault = ParseJson(json);
  if (!fault) {
    return Status(Code::kInvalidArgument, "BadFault", "the fault is not JSON: " + json);
  }
  return parts_->api.faults().Arm(*fault);
}

bool Server::DisarmFault(std::uint64_t id) { return parts_->api.faults().Disarm(id); }

void Server::ClearFaults() { parts_->api.faults().Clear(); }

std::string Server::DescribeFaults() const { return DumpJson(parts_->api.faults().Describe()); }

void Server::Compact(std::uint64_t up_to) { parts_->api.store().Compact(up_to); }

Status Server::HoldCache(const std::string& resource) {
  const ResourceInfo* info = ByPlural(resource);
  if (info == nullptr) {
    return NoSuchResource(resource);
  }
  parts_->api.store().HoldCache(*info);
  return Status::Ok();
}

Status Server::ReleaseCache(const std::string& resource) {
  const ResourceInfo* info = ByPlural(resource);
  if (info == nullptr) {
    return NoSuchResource(resource);
  }
  parts_->api.store().ReleaseCache(*info);
  return Status::Ok();
}

void Server::SetBookmarkInterval(int milliseconds) {
  parts_->api.list_watch().set_bookmark_interval_ms(milliseconds);
}

void Server::EndWatches() { parts_->api.list_watch().EndWatches(); }

void Server::CloseConnections(bool reset) {
  if (parts_->http != nullptr) {
    parts_->http->CloseConnections(reset);
  }
}

void Server::PauseListening() {
  if (parts_->http != nullptr) {
    parts_->http->PauseListening();
  }
}

Status Server::ResumeListening() {
  if (parts_->http == nullptr) {
    return Status(Code::kFailedPrecondition, "NotStarted", "the server was not started");
  }
  return parts_->http->ResumeListening();
}

void Server::Reset() {
  parts_->api.faults().Clear();
  parts_->api.store().Clear();
  parts_->api.calls().Clear();
  // Seeding known-good documents into an empty store cannot fail.
  const Status seeded = parts_->SeedDefaults();
  (void)seeded;
}

std::vector<Call> Server::Calls() const { return parts_->api.calls().All(); }

void Server::ClearCalls() { parts_->api.calls().Clear(); }

Counters Server::counters() const {
  Counters counters = parts_->api.calls().counters();
  counters.connections = parts_->http != nullptr ? parts_->http->accepted_connections() : 0;
  return counters;
}

std::uint64_t Server::resource_version() const { return parts_->api.store().version(); }

std::size_t Server::active_watches() const { return parts_->api.list_watch().active_watches(); }

std::size_t Server::open_connections() const {
  return parts_->http != nullptr ? parts_->http->open_connections() : 0;
}

}  // namespace otc::kubesim

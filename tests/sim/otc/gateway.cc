#include "tests/sim/otc/gateway.h"

#include <cstdio>
#include <utility>

#include "tests/sim/otc/errors.h"

namespace otc::sim {
namespace {

constexpr std::size_t kMaxBody = std::size_t{12} << 20;
constexpr std::size_t kMaxTarget = std::size_t{32} << 10;
constexpr std::size_t kLoggedBody = std::size_t{64} << 10;

std::optional<Response> CheckSize(const Request& request, const std::string& request_id) {
  const auto refuse = [&](int status, const char* what) {
    return GatewayError(status, "APIGW.0201", what, request_id);
  };
  if (request.body.size() > kMaxBody) return refuse(413, "Request entity too large");
  if (request.target.size() > kMaxTarget) return refuse(414, "Request URI too large");
  if (request.body_cut) {
    return GatewayError(400, "APIGW.0106", "The request body is shorter than it claims",
                        request_id);
  }
  return std::nullopt;
}

// The words of Nova and of ECS for a path whose project is not the context's.
std::string MalformedUrl(const std::string& in_url, const std::string& in_context) {
  return "Malformed request URL: URL's project_id '" + in_url +
         "' doesn't match Context's project_id '" + (in_context.empty() ? "null" : in_context) +
         "'";
}

Response NoProject(const std::string& in_url) {
  JsonWriter json;
  json.BeginObject().Key("badRequest").BeginObject();
  json.Field("message", MalformedUrl(in_url, "")).Field("code", "401");
  json.EndObject().EndObject();
  return Response::Json(401, json.Take());
}

std::string HttpDate(host::WallTime wall) {
  const std::time_t seconds = host::UnixMillis(wall) / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text;
}

const char* NameOf(Delivery::Kind kind) {
  switch (kind) {
    case Delivery::Kind::kSend:
      return "sent";
    case Delivery::Kind::kClose:
      return "closed";
    case Delivery::Kind::kTruncate:
      return "truncated";
    case Delivery::Kind::kRaw:
      return "raw";
    case Delivery::Kind::kHold:
      return "held";
  }
  return "";
}

const char* NameOf(Principal::Kind kind) {
  switch (kind) {
    case Principal::Kind::kNone:
      return "none";
    case Principal::Kind::kSignature:
      return "signature";
    case Principal::Kind::kToken:
      return "token";
  }
  return "";
}

}  // namespace

Gateway::Gateway(const GatewayParts& parts, std::uint64_t seed)
    : parts_(parts), authenticator_(parts.identity, parts.time), random_(seed ^ 0x9aU) {}

std::string Gateway::NewRequestId() {
  std::lock_guard lock(random_mutex_);
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(random_()),
                static_cast<unsigned long long>(random_()));
  return text;
}

std::int64_t Gateway::DrawLatency(const Latency& latency) {
  if (latency.jitter_ms == 0) return latency.ms;
  std::lock_guard lock(random_mutex_);
  return latency.ms +
         static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(latency.jitter_ms));
}

std::optional<Response> Gateway::CheckScope(Call& call, Scope scope) {
  if (call.principal.kind == Principal::Kind::kToken) {
    call.project_id = call.principal.project_id;
  } else if (!call.request.FindHeader("X-Domain-Id")) {
    const auto wanted = call.request.FindHeader("X-Project-Id");
    const auto project = wanted ? parts_.identity->FindProject(*wanted)
                                : parts_.identity->DefaultProject(call.principal.domain_id);
    if (wanted && (!project || project->domain_id != call.principal.domain_id)) {
      return GatewayError(403, "APIGW.0302", "The project is not one of this account",
                          call.request_id);
    }
    if (project) call.project_id = project->id;
  }
  const std::string in_url = call.args.empty() ? "" : call.args.front();
  switch (scope) {
    case Scope::kOpen:
    case Scope::kAccount:
      return std::nullopt;
    case Scope::kEcsProject:
      if (call.project_id.empty()) return NoProject(in_url);
      if (in_url == call.project_id) return std::nullopt;
      return EcsError(400, "Ecs.0023", "The project id in the URL is not that of the request");
    case Scope::kNovaProject:
      if (call.project_id.empty()) return NoProject(in_url);
      if (in_url == call.project_id) return std::nullopt;
      return NovaError(400, "badRequest", MalformedUrl(in_url, call.project_id));
    case Scope::kVpcProject:
      if (in_url == call.project_id && !in_url.empty()) return std::nullopt;
      return VpcError(400, "VPC.0007", "urlTenantId is not equal tokenTenantId");
    case Scope::kProject:
      if (!call.project_id.empty()) return std::nullopt;
      return GatewayError(401, "APIGW.0301", "The request has no project", call.request_id);
  }
  return std::nullopt;
}

Response Gateway::Process(Call& call, const std::optional<Match>& match, LoggedCall* entry) {
  if (auto refused = CheckSize(call.request, call.request_id)) return *std::move(refused);
  if (!match) {
    return GatewayError(404, "APIGW.0101", "The API does not exist or has not been published",
                        call.request_id);
  }
  const Route& route = *match->route;
  if (route.scope != Scope::kOpen) {
    auto verdict = authenticator_.Check(call.request, call.behaviour, call.request_id);
    if (auto* refused = std::get_if<Response>(&verdict)) return std::move(*refused);
    call.principal = std::get<Principal>(std::move(verdict));
    entry->auth = NameOf(call.principal.kind);
    entry->access_key = call.principal.access_key;
  }
  if (auto refused = parts_.rate_limits->Check(call.request, call.request_id)) {
    return *std::move(refused);
  }
  if (route.scope != Scope::kOpen) {
    if (auto refused = CheckScope(call, route.scope)) return *std::move(refused);
    entry->project_id = call.project_id;
  }
  entry->handled = true;
  return route.handle(call);
}

Reply Gateway::Handle(const Request& request) {
  const host::MonoTime begin = parts_.time->Mono();
  const Behaviour behaviour = parts_.behaviour->Get();
  auto match = parts_.router->Find(request.service, request.method, request.RawPath());

  LoggedCall entry;
  entry.unix_ms = host::UnixMillis(parts_.time->Wall());
  entry.service = request.service;
  entry.method = request.method;
  entry.target = request.target;
  entry.operation = match ? match->route->operation : "";
  entry.auth = NameOf(Principal::Kind::kNone);
  entry.request_id = NewRequestId();
  entry.headers = LoggableHeaders(request.headers);
  if (request.service != "iam") entry.body = request.body.substr(0, kLoggedBody);

  Call call{request, behaviour, entry.request_id, {}, "", {}, {}};
  if (match) call.args = std::move(match->args);
  const auto fault = parts_.faults->Next(request, entry.operation);
  Reply reply;
  if (fault) {
    call.view = fault->view;
    entry.fault = fault->rule.id;
    Response real = fault->before() ? Response{} : Process(call, match, &entry);
    reply = ApplyFault(*fault, request, std::move(real), entry.request_id);
  } else {
    reply.response = Process(call, match, &entry);
  }
  reply.response.headers.push_back({"X-Request-Id", entry.request_id});
  if (!behaviour.Defect("no-date")) {
    reply.response.headers.push_back({"Date", HttpDate(parts_.time->Wall())});
  }
  reply.delivery.delay_ms += DrawLatency(behaviour.LatencyOf(request.service));

  entry.status = reply.response.status;
  entry.delivery = NameOf(reply.delivery.kind);
  entry.response_bytes = static_cast<std::int64_t>(reply.response.body.size());
  entry.micros =
      std::chrono::duration_cast<std::chrono::microseconds>(parts_.time->Mono() - begin).count();
  parts_.log->Add(std::move(entry));
  return reply;
}

}  // namespace otc::sim

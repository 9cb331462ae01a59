#include "tests/sim/otc/control_api.h"

#include <limits>

#include "host/base/strings.h"
#include "tests/sim/otc/document.h"
#include "tests/sim/otc/ecs_render.h"
#include "tests/sim/otc/server_filter.h"
#include "tests/sim/otc/server_json.h"
#include "tests/sim/otc/simulator.h"

namespace otc::sim {
namespace {

using JsonObject = Poco::JSON::Object::Ptr;

Response Failed(const Status& status) {
  const int http = status.code() == Code::kNotFound        ? 404
                   : status.code() == Code::kAlreadyExists ? 409
                                                           : 400;
  JsonWriter json;
  json.BeginObject().Field("error", status.message()).EndObject();
  return Response::Json(http, json.Take());
}

Response Done() { return Response::Json(200, "{}"); }

Response OfStatus(const Status& status) { return status.ok() ? Done() : Failed(status); }

Response Ids(const std::vector<std::string>& ids) {
  JsonWriter json;
  json.BeginObject().Key("ids").BeginArray();
  for (const std::string& id : ids) json.String(id);
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

// The request's body as an object; an empty body is an empty object.
Result<JsonObject> Body(const Request& request) {
  if (request.body.empty()) return JsonObject(new Poco::JSON::Object);
  return ParseJsonObject(request.body);
}

Response Load(Simulator& simulator, const Request& request) {
  const auto ids = simulator.Load(request.body);
  return ids.ok() ? Ids(*ids) : Failed(ids.status());
}

// POST servers: one seed, or {"servers":[…]} for several.
Response PostServers(Simulator& simulator, const Request& request) {
  auto body = Body(request);
  if (!body.ok()) return Failed(body.status());
  JsonObject document = *body;
  if (!document->has("servers")) {
    Poco::JSON::Array::Ptr list(new Poco::JSON::Array);
    list->add(*body);
    document = JsonObject(new Poco::JSON::Object);
    document->set("servers", list);
  }
  const auto ids = LoadDocument(simulator, document);
  return ids.ok() ? Ids(*ids) : Failed(ids.status());
}

RenderContext RenderingContext(Simulator& simulator) {
  RenderContext context;
  for (Flavor& flavor : simulator.world().Flavors()) context.flavors[flavor.id] = std::move(flavor);
  context.floating = simulator.world().FloatingAddresses();
  return context;
}

Response GetServers(Simulator& simulator, const std::string& id) {
  const RenderContext context = RenderingContext(simulator);
  JsonWriter json;
  if (!id.empty()) {
    const auto server = simulator.world().FindServer(id);
    if (!server) return Failed(Status(Code::kNotFound, "NotFound", "no server " + id));
    RenderServerV1(*server, context, &json);
    return Response::Json(200, json.Take());
  }
  json.BeginObject().Key("servers").BeginArray();
  const auto all = simulator.world().Servers();
  for (const auto& server : *all) RenderServerV1(*server, context, &json);
  json.EndArray().EndObject();
  return Response::Json(200, json.Take());
}

Response PatchServer(Simulator& simulator, const Request& request, const std::string& id) {
  const auto body = Body(request);
  if (!body.ok()) return Failed(body.status());
  std::vector<std::string> errors;
  const auto current = simulator.world().FindServer(id);
  if (!current) return Failed(Status(Code::kNotFound, "NotFound", "no server " + id));
  Server trial = *current;
  ReadServerPatch(*body, "", &trial, &errors);
  if (!simulator.world().FindFlavor(trial.flavor)) {
    errors.push_back("flavor: '" + trial.flavor + "' is unknown");
  }
  if (!errors.empty()) return Failed(ErrorsToStatus(errors));
  return OfStatus(simulator.world().ChangeServer(id, [&](Server& server) {
    std::vector<std::string> none;
    ReadServerPatch(*body, "", &server, &none);
  }));
}

Response PublicIps(Simulator& simulator, const Request& request, const std::string& id) {
  if (request.method == "DELETE") return OfStatus(simulator.world().RemovePublicIp(id));
  const auto body = Body(request);
  if (!body.ok()) return Failed(body.status());
  std::vector<std::string> errors;
  if (request.method == "POST") {
    PublicIp ip = ReadPublicIp(*body, "", &errors);
    if (!errors.empty()) return Failed(ErrorsToStatus(errors));
    if (ip.project_id.empty()) ip.project_id = kProjectId;
    const auto added = simulator.world().AddPublicIp(std::move(ip));
    return added.ok() ? Ids({*added}) : Failed(added.status());
  }
  PublicIp trial;
  ReadPublicIpPatch(*body, "", &trial, &errors);
  if (!errors.empty()) return Failed(ErrorsToStatus(errors));
  return OfStatus(simulator.world().ChangePublicIp(id, [&](PublicIp& ip) {
    std::vector<std::string> none;
    ReadPublicIpPatch(*body, "", &ip, &none);
  }));
}

Response PatchOptions(Simulator& simulator, const Request& request) {
  const auto body = Body(request);
  if (!body.ok()) return Failed(body.status());
  std::vector<std::string> errors;
  Behaviour trial = simulator.behaviour().Get();
  ReadBehaviour(*body, "", &trial, &errors);
  if (!errors.empty()) return Failed(ErrorsToStatus(errors));
  simulator.behaviour().Change([&](Behaviour& behaviour) { behaviour = trial; });
  return Response::Json(200, BehaviourToJson(trial));
}

Response PostFault(Simulator& simulator, const Request& request) {
  const auto id = simulator.AddFault(request.body);
  return id.ok() ? Ids({*id}) : Failed(id.status());
}

Response PutRateLimits(Simulator& simulator, const Request& request) {
  const auto body = Body(request);
  if (!body.ok()) return Failed(body.status());
  std::vector<std::string> errors;
  std::vector<RateLimit> limits;
  JsonFields fields(*body, "", &errors);
  for (const auto& object : fields.Objects("rate_limits")) {
    limits.push_back(
        ReadRateLimit(object, "rate_limits[" + std::to_string(limits.size()) + "]", &errors));
  }
  fields.Finish();
  if (!errors.empty()) return Failed(ErrorsToStatus(errors));
  simulator.rate_limits().Set(std::move(limits));
  return Done();
}

// {"skew_ms":…} sets the clock wrong, {"advance_ms":…} lets time pass.
Response PatchClock(Simulator& simulator, const Request& request) {
  constexpr std::int64_t kLimit = std::int64_t{366} * 86'400'000;
  const auto body = Body(request);
  if (!body.ok()) return Failed(body.status());
  std::vector<std::string> errors;
  JsonFields fields(*body, "", &errors);
  std::int64_t skew = simulator.time().skew_ms(), advance = 0;
  fields.Int("skew_ms", &skew, -kLimit, kLimit);
  fields.Int("advance_ms", &advance, 0, kLimit);
  fields.Finish();
  if (!errors.empty()) return Failed(ErrorsToStatus(errors));
  simulator.time().SetSkew(skew);
  simulator.time().Advance(advance);
  return Done();
}

Response GetClock(Simulator& simulator) {
  JsonWriter json;
  json.BeginObject().Field("now", TimeFraction(simulator.time().Wall()));
  json.Field("skew_ms", simulator.time().skew_ms());
  json.Field("advanced_ms", simulator.time().advanced_ms()).EndObject();
  return Response::Json(200, json.Take());
}

// JSON lines, as in the call log file.
Response GetCalls(Simulator& simulator, const Request& request) {
  const auto after = QueryInt(request, "after", 0, 0, std::numeric_limits<std::int64_t>::max());
  if (!after) return Failed(Status(Code::kInvalidArgument, "BadInput", "after: not a number"));
  const auto operation = request.Query("operation");
  std::string lines;
  for (const LoggedCall& call : simulator.log().Since(*after)) {
    if (operation && call.operation != *operation) continue;
    lines += call.ToJson();
    lines += '\n';
  }
  Response response{200, std::move(lines), {}};
  response.content_type = "application/x-ndjson";
  return response;
}

Response GetCounters(Simulator& simulator) {
  JsonWriter json;
  json.BeginObject();
  for (const auto& [name, count] : simulator.log().Counters()) json.Field(name, count);
  json.EndObject();
  return Response::Json(200, json.Take());
}

Response Unknown(const Request& request) {
  return Failed(Status(Code::kNotFound, "NotFound",
                       request.method + " " + std::string(request.RawPath()) +
                           " is not part of the control API, see docs/reference/otc-sim.md"));
}

}  // namespace

Response HandleControl(Simulator& simulator, const Request& request) {
  auto parts = host::Split(request.RawPath(), '/');
  if (parts.size() < 3 || parts[1] != "_sim") return Unknown(request);
  const std::string what = parts[2];
  const std::string id = parts.size() > 3 ? parts[3] : "";
  const std::string call = request.method + " " + what + (id.empty() ? "" : "/{}");

  if (call == "GET health") return Done();
  if (call == "GET ports") return Response::Json(200, simulator.PortsJson());
  if (call == "POST load") return Load(simulator, request);
  if (call == "POST reset") return simulator.Reset(), Done();
  if (call == "POST servers") return PostServers(simulator, request);
  if (call == "GET servers" || call == "GET servers/{}") return GetServers(simulator, id);
  if (call == "PATCH servers/{}") return PatchServer(simulator, request, id);
  if (call == "DELETE servers/{}") return OfStatus(simulator.world().RemoveServer(id));
  if (call == "POST publicips" || call == "PATCH publicips/{}" || call == "DELETE publicips/{}") {
    return PublicIps(simulator, request, id);
  }
  if (call == "GET options") {
    return Response::Json(200, BehaviourToJson(simulator.behaviour().Get()));
  }
  if (call == "PATCH options") return PatchOptions(simulator, request);
  if (call == "GET faults") return Response::Json(200, simulator.faults().ToJson());
  if (call == "POST faults") return PostFault(simulator, request);
  if (call == "DELETE faults") return simulator.faults().Clear(), Done();
  if (call == "DELETE faults/{}") {
    return simulator.faults().Remove(id)
               ? Done()
               : Failed(Status(Code::kNotFound, "NotFound", "no fault " + id));
  }
  if (call == "GET rate_limits") return Response::Json(200, simulator.rate_limits().ToJson());
  if (call == "PUT rate_limits") return PutRateLimits(simulator, request);
  if (call == "GET clock") return GetClock(simulator);
  if (call == "PATCH clock") return PatchClock(simulator, request);
  if (call == "GET calls") return GetCalls(simulator, request);
  if (call == "DELETE calls") return simulator.log().Clear(), Done();
  if (call == "GET counters") return GetCounters(simulator);
  if (call == "DELETE tokens") return simulator.identity().ForgetTokens(), Done();
  return Unknown(request);
}

}  // namespace otc::sim

// ECS native v1, changing side: delete, start, stop and reboot by job, tags. The
// job ends after `job_ms`; until then task_state tells what goes on.
#include <algorithm>
#include <map>

#include "host/base/strings.h"
#include "tests/sim/otc/errors.h"
#include "tests/sim/otc/server_filter.h"
#include "tests/sim/otc/services.h"

namespace otc::sim {
namespace {

using JsonObject = Poco::JSON::Object::Ptr;

struct Action {
  const char* job_type;
  const char* task_state;
  const char* from;  // the status it needs, empty: any
  const char* to;    // the status it ends in, empty: gone
};

const std::map<std::string, Action>& BatchActions() {
  static const std::map<std::string, Action> kActions = {
      {"os-start", {"startServer", "powering-on", "SHUTOFF", "ACTIVE"}},
      {"os-stop", {"stopServer", "powering-off", "ACTIVE", "SHUTOFF"}},
      {"reboot", {"rebootServer", "rebooting", "ACTIVE", "ACTIVE"}}};
  return kActions;
}

constexpr Action kDelete = {"deleteServer", "deleting", "", ""};

// Carries the action out on every server whose state allows it; the others fail
// in their sub job, which is how a batch fails in part.
void Finish(World& world, Job& job, const Action& action) {
  for (Job& sub : job.sub_jobs) {
    sub.end = job.end;
    if (sub.status == "FAIL") continue;
    const std::string id = sub.entities.at("server_id");
    const Status status = *action.to == '\0' ? world.RemoveServerLocked(id)
                                             : world.ChangeServerLocked(id, [&](Server& server) {
                                                 server.status = action.to;
                                                 server.task_state.clear();
                                               });
    sub.status = status.ok() ? "SUCCESS" : "FAIL";
    if (!status.ok()) sub.error_code = "Ecs.0114";
  }
  for (const Job& sub : job.sub_jobs) {
    if (sub.status != "FAIL") continue;
    job.status = "FAIL";
    job.error_code = sub.error_code;
    job.fail_reason = "sub job " + sub.id + " failed";
  }
}

// What forbids the action now: an error code, or empty.
std::string Obstacle(const Server& server, const Action& action) {
  if (server.locked) return "Ecs.0605";
  if (!server.task_state.empty()) return "Ecs.0100";
  if (*action.from != '\0' && server.status != action.from) return "Ecs.0100";
  return "";
}

Response StartBatch(const Cloud& cloud, Call& call, const Action& action,
                    const std::vector<JsonObject>& references) {
  Job job;
  job.type = action.job_type;
  job.project_id = call.project_id;
  std::vector<std::string> ids;
  for (const JsonObject& reference : references) {
    std::vector<std::string> errors;
    std::string id;
    JsonFields(reference, "", &errors).String("id", &id);
    const auto server = cloud.world->FindServer(id);
    if (!server || server->project_id != call.project_id) {
      return EcsError(404, "Ecs.0114", "Instance[" + id + "] could not be found.");
    }
    ids.push_back(id);
  }
  if (ids.empty()) return EcsError(400, "Ecs.0005", "servers must name at least one server");
  for (const std::string& id : ids) {
    Job sub;
    sub.id = cloud.world->NewHexId();
    sub.type = action.job_type;
    sub.status = "RUNNING";
    sub.entities["server_id"] = id;
    const Status changed = cloud.world->ChangeServer(id, [&](Server& server) {
      sub.error_code = Obstacle(server, action);
      if (sub.error_code.empty()) server.task_state = action.task_state;
    });
    if (!changed.ok()) sub.error_code = "Ecs.0114";
    if (!sub.error_code.empty()) {
      sub.status = "FAIL";
      sub.fail_reason = "the state of the server forbids it";
    }
    job.sub_jobs.push_back(std::move(sub));
  }
  const std::string id =
      cloud.world->StartJob(std::move(job), call.behaviour.job_ms,
                            [action](World& world, Job& done) { Finish(world, done, action); });
  JsonWriter json;
  json.BeginObject().Field("job_id", id).EndObject();
  return Response::Json(200, json.Take());
}

Response DeleteServers(const Cloud& cloud, Call& call) {
  const auto body = ParseJsonObject(call.request.body);
  if (!body.ok()) return EcsError(400, "Ecs.0005", "the body is not valid JSON");
  std::vector<std::string> errors;
  const auto references = JsonFields(*body, "", &errors).Objects("servers");
  if (!errors.empty()) return EcsError(400, "Ecs.0005", errors.front());
  return StartBatch(cloud, call, kDelete, references);
}

Response ServerAction(const Cloud& cloud, Call& call) {
  const auto body = ParseJsonObject(call.request.body);
  if (!body.ok()) return EcsError(400, "Ecs.0005", "the body is not valid JSON");
  for (const auto& [name, action] : BatchActions()) {
    std::vector<std::string> errors;
    const auto parameters = JsonFields(*body, "", &errors).Object(name);
    if (parameters.isNull()) continue;
    const auto references = JsonFields(parameters, name, &errors).Objects("servers");
    if (!errors.empty()) return EcsError(400, "Ecs.0005", errors.front());
    return StartBatch(cloud, call, action, references);
  }
  return EcsError(400, "Ecs.0005", "one of os-start, os-stop, reboot is needed");
}

// Letters, digits, `_`, `-`; key 1 to 36, value up to 43 (ecs.md section 10).
bool IsTagText(const std::string& text, std::size_t min, std::size_t max) {
  return text.size() >= min && text.size() <= max &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
         });
}

Response TagAction(const Cloud& cloud, Call& call) {
  const auto body = ParseJsonObject(call.request.body);
  if (!body.ok()) return EcsError(400, "Ecs.0005", "the body is not valid JSON");
  std::vector<std::string> errors;
  std::string action;
  std::vector<std::pair<std::string, std::string>> tags;
  JsonFields fields(*body, "", &errors);
  if (!fields.OneOf("action", &action, {"create", "delete"})) errors.push_back("action is needed");
  for (const auto& object : fields.Objects("tags")) {
    std::string key, value;
    JsonFields tag(object, "tags", &errors);
    tag.String("key", &key);
    tag.String("value", &value);
    if (!IsTagText(key, 1, 36) || !IsTagText(value, 0, 43)) errors.push_back("bad tag " + key);
    tags.emplace_back(key, value);
  }
  if (!errors.empty()) return EcsError(400, "Ecs.0005", errors.front());
  const auto server = cloud.world->FindServer(call.args[1]);
  if (!server || server->project_id != call.project_id) {
    return EcsError(404, "Ecs.0114", "Instance[" + call.args[1] + "] could not be found.");
  }
  std::vector<std::string> changed = server->tags;
  for (const auto& [key, value] : tags) {
    std::erase_if(changed,
                  [&](const std::string& tag) { return tag.substr(0, tag.find('=')) == key; });
    if (action == "create") changed.push_back(key + "=" + value);
  }
  if (changed.size() > 10) return EcsError(400, "Ecs.0005", "a server has at most 10 tags");
  const Status status =
      cloud.world->ChangeServer(call.args[1], [&](Server& target) { target.tags = changed; });
  return status.ok() ? Response{204, "", {}} : EcsError(404, "Ecs.0114", status.message());
}

}  // namespace

void AddEcsActionRoutes(const Cloud& cloud, Router* router) {
  const auto add = [&](const char* pattern, const char* operation,
                       Response (*handle)(const Cloud&, Call&)) {
    router->Add({"ecs", "POST", pattern, operation, Scope::kEcsProject,
                 [cloud, handle](Call& call) { return handle(cloud, call); }});
  };
  add("/v1/{}/cloudservers/delete", "ecs.servers.delete", DeleteServers);
  add("/v1/{}/cloudservers/action", "ecs.servers.action", ServerAction);
  add("/v1/{}/cloudservers/{}/tags/action", "ecs.tags.action", TagAction);
}

}  // namespace otc::sim

#include "tests/sim/kube/control.h"

#include <functional>
#include <map>

#include "host/base/strings.h"
#include "tests/sim/kube/call_log.h"
#include "tests/sim/kube/json.h"

namespace otc::kubesim {
namespace {

struct Answer {
  int status = 200;
  Json document = Json::object();
  std::string text;  // instead of the document
};

Answer FromStatus(const Status& status) {
  if (status.ok()) {
    return {200, {{"ok", true}}, ""};
  }
  return {status.code() == Code::kNotFound ? 404 : 400,
          {{"ok", false}, {"reason", status.reason()}, {"message", status.message()}},
          ""};
}

Answer GetCalls(Server& server, const HttpRequest& request, const Json&) {
  const std::uint64_t after = host::ParseUint(request.Query("after")).value_or(0);
  Answer answer;
  for (const Call& call : server.Calls()) {
    if (call.sequence > after) {
      answer.text += DumpJson(CallLog::ToJson(call)) + "\n";
    }
  }
  if (answer.text.empty()) {
    answer.text = "\n";
  }
  return answer;
}

Answer DeleteCalls(Server& server, const HttpRequest&, const Json&) {
  server.ClearCalls();
  return FromStatus(Status::Ok());
}

Answer GetCounters(Server& server, const HttpRequest&, const Json&) {
  const Counters counters = server.counters();
  return {200,
          {{"requests", counters.requests},
           {"reads", counters.reads},
           {"writes", counters.writes},
           {"lists", counters.lists},
           {"watches", counters.watches},
           {"faults", counters.faults},
           {"connections", counters.connections},
           {"activeWatches", server.active_watches()},
           {"openConnections", server.open_connections()},
           {"resourceVersion", server.resource_version()}},
          ""};
}

Answer PostFaults(Server& server, const HttpRequest&, const Json& body) {
  // All or nothing would need a trial run; ids of those armed are answered, and
  // the first bad one stops.
  const Json list = body.is_array() ? body : Json::array({body});
  Json ids = Json::array();
  for (const Json& fault : list) {
    const Result<std::uint64_t> id = server.ArmFault(DumpJson(fault));
    if (!id.ok()) {
      return FromStatus(id.status());
    }
    ids.push_back(*id);
  }
  return {200, {{"ok", true}, {"ids", ids}}, ""};
}

Answer GetFaults(Server& server, const HttpRequest&, const Json&) {
  return {200, {}, server.DescribeFaults() + "\n"};
}

Answer DeleteFaults(Server& server, const HttpRequest& request, const Json&) {
  const std::string id = request.Query("id");
  if (id.empty()) {
    server.ClearFaults();
    return FromStatus(Status::Ok());
  }
  const auto number = host::ParseUint(id);
  if (!number || !server.DisarmFault(*number)) {
    return FromStatus(Status(Code::kNotFound, "NoSuchFault", "no fault has the id " + id));
  }
  return FromStatus(Status::Ok());
}

Answer PostReset(Server& server, const HttpRequest&, const Json&) {
  server.Reset();
  return FromStatus(Status::Ok());
}

Answer PostCompact(Server& server, const HttpRequest&, const Json& body) {
  server.Compact(static_cast<std::uint64_t>(IntAt(body, {"upTo"}).value_or(0)));
  return FromStatus(Status::Ok());
}

Answer PostCache(Server& server, const HttpRequest&, const Json& body) {
  const std::string resource = TextAt(body, {"resource"});
  return FromStatus(BoolAt(body, {"hold"}) ? server.HoldCache(resource)
                                           : server.ReleaseCache(resource));
}

Answer PostBookmarks(Server& server, const HttpRequest&, const Json& body) {
  const auto interval = IntAt(body, {"intervalMs"});
  if (!interval || *interval < 1 || *interval > 3'600'000) {
    return FromStatus(Status(Code::kInvalidArgument, "BadInterval",
                             "intervalMs must be a number from 1 to 3600000"));
  }
  server.SetBookmarkInterval(static_cast<int>(*interval));
  return FromStatus(Status::Ok());
}

Answer PostWatchesEnd(Server& server, const HttpRequest&, const Json&) {
  server.EndWatches();
  return FromStatus(Status::Ok());
}

Answer PostConnections(Server& server, const HttpRequest&, const Json& body) {
  const std::string action = TextAt(body, {"action"});
  if (action != "fin" && action != "reset") {
    return FromStatus(Status(Code::kInvalidArgument, "BadAction", "action must be fin or reset"));
  }
  server.CloseConnections(action == "reset");
  return FromStatus(Status::Ok());
}

Answer PostListener(Server& server, const HttpRequest&, const Json& body) {
  const Json* open = Find(body, {"open"});
  if (open == nullptr || !open->is_boolean()) {
    return FromStatus(Status(Code::kInvalidArgument, "BadOpen", "open must be true or false"));
  }
  if (open->get<bool>()) {
    return FromStatus(server.ResumeListening());
  }
  server.PauseListening();
  return FromStatus(Status::Ok());
}

Answer PostNodes(Server& server, const HttpRequest&, const Json& body) {
  const auto count = IntAt(body, {"count"});
  if (!count || *count < 1 || *count > 100'000) {
    return FromStatus(
        Status(Code::kInvalidArgument, "BadCount", "count must be a number from 1 to 100000"));
  }
  const std::string prefix = TextAt(body, {"prefix"});
  return FromStatus(
      server.AddManyNodes(static_cast<std::size_t>(*count), prefix.empty() ? "node" : prefix));
}

Answer PostObjects(Server& server, const HttpRequest& request, const Json& body) {
  return FromStatus(server.Put(request.Query("resource"), DumpJson(body)));
}

Answer PostUsers(Server& server, const HttpRequest&, const Json& body) {
  User user;
  user.name = TextAt(body, {"name"});
  user.token = TextAt(body, {"token"});
  if (const Json* groups = Find(body, {"groups"}); groups != nullptr && groups->is_array()) {
    for (const Json& group : *groups) {
      user.groups.push_back(group.is_string() ? group.get<std::string>() : DumpJson(group));
    }
  }
  if (const Json* rules = Find(body, {"rules"})) {
    user.rules_json = DumpJson(*rules);
  }
  const Status added = server.AddUser(user);
  if (!added.ok()) {
    return FromStatus(added);
  }
  return {200, {{"ok", true}, {"kubeconfig", server.KubeconfigFor(user)}}, ""};
}

using Route = std::function<Answer(Server&, const HttpRequest&, const Json&)>;

const std::map<std::string, Route>& Routes() {
  static const std::map<std::string, Route> routes = {
      {"GET /_sim/calls", GetCalls},
      {"DELETE /_sim/calls", DeleteCalls},
      {"GET /_sim/counters", GetCounters},
      {"POST /_sim/faults", PostFaults},
      {"GET /_sim/faults", GetFaults},
      {"DELETE /_sim/faults", DeleteFaults},
      {"POST /_sim/reset", PostReset},
      {"POST /_sim/compact", PostCompact},
      {"POST /_sim/cache", PostCache},
      {"POST /_sim/bookmarks", PostBookmarks},
      {"POST /_sim/watches/end", PostWatchesEnd},
      {"POST /_sim/connections", PostConnections},
      {"POST /_sim/listener", PostListener},
      {"POST /_sim/nodes", PostNodes},
      {"POST /_sim/objects", PostObjects},
      {"POST /_sim/users", PostUsers},
  };
  return routes;
}

}  // namespace

void ServeControl(Server& server, const HttpRequest& request, ResponseWriter& writer) {
  Answer answer;
  const auto route = Routes().find(request.method + " " + request.path);
  const std::optional<Json> body = request.body.empty() ? Json::object() : ParseJson(request.body);
  if (route == Routes().end()) {
    std::vector<std::string> known;
    for (const auto& [name, each] : Routes()) {
      known.push_back(name);
    }
    answer = {404, {{"ok", false}, {"message", "no such control call"}, {"known", known}}, ""};
  } else if (!body) {
    answer = FromStatus(Status(Code::kInvalidArgument, "NotJson", "the body is not JSON"));
  } else {
    answer = route->second(server, request, *body);
  }
  writer.Send(answer.status, answer.text.empty() ? "application/json" : "application/x-ndjson",
              answer.text.empty() ? DumpJson(answer.document) + "\n" : answer.text);
}

}  // namespace otc::kubesim

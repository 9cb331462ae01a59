#include "tests/sim/otc/faults.h"

#include <algorithm>

#include "host/base/strings.h"
#include "tests/sim/otc/errors.h"

namespace otc::sim {
namespace {

using Poco::Dynamic::Var;

const std::map<std::string, FaultKind>& Kinds() {
  static const std::map<std::string, FaultKind> kKinds = {{"delay", FaultKind::kDelay},
                                                          {"timeout", FaultKind::kTimeout},
                                                          {"drop_before", FaultKind::kDropBefore},
                                                          {"drop_after", FaultKind::kDropAfter},
                                                          {"lost_reply", FaultKind::kLostReply},
                                                          {"status", FaultKind::kStatus},
                                                          {"garbage", FaultKind::kGarbage},
                                                          {"garbage_wire", FaultKind::kGarbageWire},
                                                          {"truncate", FaultKind::kTruncate},
                                                          {"lag", FaultKind::kLag},
                                                          {"empty_list", FaultKind::kEmptyList},
                                                          {"edit_reply", FaultKind::kEditReply}};
  return kKinds;
}

std::string NameOf(FaultKind kind) {
  for (const auto& [name, value] : Kinds()) {
    if (value == kind) return name;
  }
  return "";
}

// Removes (no value) or sets the member at `path` ("servers.*.id", `*` for every
// element of a list) below `node`.
void Edit(const Var& node, const std::vector<std::string>& path, std::size_t at, const Var* value) {
  if (node.type() == typeid(Poco::JSON::Array::Ptr)) {
    if (path[at] != "*" || at + 1 == path.size()) return;
    for (const Var& item : *node.extract<Poco::JSON::Array::Ptr>()) {
      Edit(item, path, at + 1, value);
    }
    return;
  }
  if (node.type() != typeid(Poco::JSON::Object::Ptr)) return;
  Poco::JSON::Object::Ptr object = node.extract<Poco::JSON::Object::Ptr>();
  if (at + 1 < path.size()) {
    if (object->has(path[at])) Edit(object->get(path[at]), path, at + 1, value);
  } else if (value != nullptr) {
    object->set(path[at], *value);
  } else {
    object->remove(path[at]);
  }
}

std::string EditBody(const std::string& body, const FaultRule& rule) {
  const auto document = ParseJsonObject(body);
  if (!document.ok()) return body;
  const Var root(*document);
  for (const std::string& path : rule.remove) Edit(root, host::Split(path, '.'), 0, nullptr);
  for (const auto& [path, value] : rule.set) Edit(root, host::Split(path, '.'), 0, &value);
  return ToJsonText(root);
}

}  // namespace

FaultRule ReadFaultRule(Poco::JSON::Object::Ptr object, const std::string& path,
                        std::vector<std::string>* errors) {
  constexpr std::int64_t kMax = 1'000'000'000;
  FaultRule rule;
  JsonFields fields(object, path, errors);
  fields.String("id", &rule.id);
  fields.OneOf("service", &rule.service, {"iam", "ecs", "evs", "vpc", "elb", "metadata"});
  fields.String("method", &rule.method);
  fields.String("operation", &rule.operation);
  if (fields.String("path", &rule.path)) {
    try {
      std::regex check(rule.path);
    } catch (const std::regex_error& error) {
      fields.Error("path", "'" + rule.path + "' is not a regular expression: " + error.what());
      rule.path.clear();
    }
  }
  fields.Int("nth", &rule.nth, 1, kMax);
  fields.Int("count", &rule.count, 0, kMax);
  std::vector<std::string> names;
  for (const auto& [name, kind] : Kinds()) names.push_back(name);
  std::string kind;
  if (fields.OneOf("kind", &kind, names)) {
    rule.kind = Kinds().at(kind);
  } else if (!fields.Has("kind")) {
    fields.Error("kind", "missing; allowed are " + host::Join(names, ", "));
  }
  fields.Int("ms", &rule.ms, 0, kMax);
  fields.Int("status", &rule.status, 200, 599);
  std::string body;
  if (fields.String("body", &body)) rule.body = body;
  fields.String("content_type", &rule.content_type);
  fields.StringMap("headers", &rule.headers);
  fields.Bool("commit", &rule.commit);
  std::int64_t bytes = 0;
  if (fields.Int("bytes", &bytes, 0, kMax)) rule.bytes = bytes;
  fields.Int("calls", &rule.calls, 0, 10'000);
  fields.Strings("remove", &rule.remove);
  const auto set = fields.Object("set");
  if (!set.isNull()) {
    for (const auto& [member, value] : *set) rule.set[member] = value;
  }
  if (rule.kind == FaultKind::kLag && rule.calls == 0 && rule.ms == 0) {
    fields.Error("kind", "lag needs calls or ms");
  }
  fields.Finish();
  return rule;
}

bool ActiveFault::before() const {
  switch (rule.kind) {
    case FaultKind::kTimeout:
    case FaultKind::kDropBefore:
      return true;
    case FaultKind::kStatus:
    case FaultKind::kGarbage:
    case FaultKind::kGarbageWire:
      return !rule.commit;
    default:
      return false;
  }
}

std::string Faults::Add(FaultRule rule) {
  std::lock_guard lock(mutex_);
  if (rule.id.empty()) rule.id = "fault-" + std::to_string(next_id_++);
  const std::string id = rule.id;
  std::erase_if(entries_, [&](const Entry& entry) { return entry.rule.id == id; });
  Entry entry;
  if (!rule.path.empty()) entry.path.emplace(rule.path);
  if (rule.kind == FaultKind::kLag && rule.calls > 0) {
    entry.past.assign(static_cast<std::size_t>(rule.calls), world_->CurrentRevision());
  }
  entry.rule = std::move(rule);
  entries_.push_back(std::move(entry));
  return id;
}

bool Faults::Remove(const std::string& id) {
  std::lock_guard lock(mutex_);
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.rule.id == id; }) != 0;
}

void Faults::Clear() {
  std::lock_guard lock(mutex_);
  entries_.clear();
}

bool Faults::Matches(const Entry& entry, const Request& request, const std::string& operation) {
  const FaultRule& rule = entry.rule;
  return (rule.service.empty() || rule.service == request.service) &&
         (rule.method.empty() || rule.method == request.method) &&
         (rule.operation.empty() || rule.operation == operation) &&
         (!entry.path || std::regex_search(request.target, *entry.path));
}

View Faults::ViewFor(Entry* entry) {
  View view;
  if (entry->rule.kind == FaultKind::kEmptyList) view.empty = true;
  if (entry->rule.kind != FaultKind::kLag) return view;
  if (entry->rule.calls > 0) {
    view.as_of = entry->past.front();
    entry->past.pop_front();
    entry->past.push_back(world_->CurrentRevision());
  } else {
    view.as_of = world_->RevisionBefore(entry->rule.ms);
  }
  return view;
}

std::optional<ActiveFault> Faults::Next(const Request& request, const std::string& operation) {
  std::lock_guard lock(mutex_);
  std::optional<ActiveFault> active;
  for (Entry& entry : entries_) {
    if (!Matches(entry, request, operation)) continue;
    ++entry.seen;
    const FaultRule& rule = entry.rule;
    const bool due =
        entry.seen >= rule.nth && (rule.count == 0 || entry.seen < rule.nth + rule.count);
    if (!due || active) continue;
    ++entry.fired;
    active = ActiveFault{rule, ViewFor(&entry)};
    fired_.notify_all();
  }
  return active;
}

std::int64_t Faults::Fired(const std::string& id) const {
  std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.rule.id == id) return entry.fired;
  }
  return 0;
}

bool Faults::WaitFired(const std::string& id, std::int64_t times, std::int64_t timeout_ms) const {
  std::unique_lock lock(mutex_);
  return fired_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.rule.id == id && entry.fired >= times;
    });
  });
}

std::string Faults::ToJson() const {
  std::lock_guard lock(mutex_);
  JsonWriter json;
  json.BeginArray();
  for (const Entry& entry : entries_) {
    json.BeginObject().Field("id", entry.rule.id).Field("kind", NameOf(entry.rule.kind));
    json.Field("service", entry.rule.service).Field("method", entry.rule.method);
    json.Field("operation", entry.rule.operation).Field("path", entry.rule.path);
    json.Field("nth", entry.rule.nth).Field("count", entry.rule.count);
    json.Field("seen", entry.seen).Field("fired", entry.fired).EndObject();
  }
  json.EndArray();
  return json.Take();
}

Reply ApplyFault(const ActiveFault& fault, const Request& request, Response real,
                 const std::string& request_id) {
  const FaultRule& rule = fault.rule;
  Reply reply{std::move(real), {}};
  using Kind = Delivery::Kind;
  switch (rule.kind) {
    case FaultKind::kDelay:
      reply.delivery.delay_ms = rule.ms;
      break;
    case FaultKind::kTimeout:
    case FaultKind::kLostReply:
      reply.delivery.kind = Kind::kHold;
      reply.delivery.hold_ms = rule.ms;
      break;
    case FaultKind::kDropBefore:
    case FaultKind::kDropAfter:
      reply.delivery.kind = Kind::kClose;
      break;
    case FaultKind::kStatus: {
      const int status = static_cast<int>(rule.status);
      reply.response = rule.body ? Response{status, *rule.body, {}, rule.content_type}
                                 : ScriptedError(request.service, status, request_id);
      for (const auto& [name, value] : rule.headers)
        reply.response.headers.push_back({name, value});
      break;
    }
    case FaultKind::kGarbage:
      reply.response = {
          200, rule.body.value_or("<html>{]\x01 not what you asked for"), {}, rule.content_type};
      break;
    case FaultKind::kGarbageWire:
      reply.delivery.kind = Kind::kRaw;
      reply.delivery.raw = rule.body.value_or("SSH-2.0-otc-sim\r\n");
      break;
    case FaultKind::kTruncate:
      reply.delivery.kind = Kind::kTruncate;
      reply.delivery.keep_bytes =
          rule.bytes ? static_cast<std::size_t>(*rule.bytes) : reply.response.body.size() / 2;
      break;
    case FaultKind::kEditReply:
      reply.response.body = EditBody(reply.response.body, rule);
      break;
    case FaultKind::kLag:
    case FaultKind::kEmptyList:
      break;
  }
  return reply;
}

}  // namespace otc::sim

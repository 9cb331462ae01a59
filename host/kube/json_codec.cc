#include "host/kube/json_codec.h"

#include <Poco/Exception.h>
#include <Poco/JSON/Array.h>
#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>
#include <time.h>

#include <cstdio>
#include <sstream>

#include "host/base/strings.h"
#include "host/kube/trim.h"

namespace otc::host::kube {
namespace {

using Poco::JSON::Array;
using Poco::JSON::Object;

constexpr int kMaxDepth = 64;

// Poco reports everything by exceptions; they end here.
template <typename T, typename F>
Result<T> Parsed(const std::string& text, const char* what, F convert) {
  try {
    Poco::JSON::Parser parser;
    parser.setDepth(kMaxDepth);
    const Poco::Dynamic::Var value = parser.parse(text);
    if (value.type() != typeid(Object::Ptr)) {
      return Status(Code::kInvalidArgument, "BadJson", std::string(what) + ": not a JSON object");
    }
    const auto object = value.extract<Object::Ptr>();
    if (object.isNull()) {
      return Status(Code::kInvalidArgument, "BadJson", std::string(what) + ": null");
    }
    return convert(object);
  } catch (const Poco::Exception& e) {
    return Status(Code::kInvalidArgument, "BadJson", std::string(what) + ": " + e.displayText());
  } catch (const std::exception& e) {
    return Status(Code::kInvalidArgument, "BadJson", std::string(what) + ": " + e.what());
  }
}

std::string Text(const Object::Ptr& object, const char* key) {
  if (object.isNull()) return "";
  const Poco::Dynamic::Var value = object->get(key);
  return value.isString() ? value.extract<std::string>() : "";
}

std::int64_t Number(const Object::Ptr& object, const char* key) {
  if (object.isNull()) return 0;
  const Poco::Dynamic::Var value = object->get(key);
  return value.isInteger() ? value.convert<Poco::Int64>() : 0;
}

Object::Ptr Child(const Object::Ptr& object, const char* key) {
  return object.isNull() ? Object::Ptr() : object->getObject(key);
}

// Calls `use` for every element of the array `key` that is an object.
template <typename F>
void ForEach(const Object::Ptr& object, const char* key, F use) {
  if (object.isNull()) return;
  const Array::Ptr array = object->getArray(key);
  if (array.isNull()) return;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const Object::Ptr element = array->getObject(static_cast<unsigned>(i));
    if (!element.isNull()) use(element);
  }
}

enum class Annotations { kWanted, kAll };

ObjectMeta MetaFrom(const Object::Ptr& meta, Annotations annotations_kept = Annotations::kWanted) {
  ObjectMeta result;
  if (meta.isNull()) return result;
  result.name = Text(meta, "name");
  result.namespace_ = Text(meta, "namespace");
  result.uid = Text(meta, "uid");
  result.resource_version = Text(meta, "resourceVersion");
  result.creation_unix_ms = UnixMillisFromRfc3339(Text(meta, "creationTimestamp"));
  result.deleting = !Text(meta, "deletionTimestamp").empty();
  if (const Object::Ptr labels = Child(meta, "labels"); !labels.isNull()) {
    for (const auto& [key, value] : *labels) {
      if (value.isString()) result.labels[key] = value.extract<std::string>();
    }
  }
  if (const Object::Ptr annotations = Child(meta, "annotations"); !annotations.isNull()) {
    for (const auto& [key, value] : *annotations) {
      if (value.isString() && (annotations_kept == Annotations::kAll || KeepAnnotation(key))) {
        result.annotations[key] = value.extract<std::string>();
      }
    }
  }
  return result;
}

Node NodeFrom(const Object::Ptr& object) {
  Node node;
  node.meta = MetaFrom(Child(object, "metadata"));
  const Object::Ptr spec = Child(object, "spec");
  node.provider_id = Text(spec, "providerID");
  ForEach(spec, "taints", [&](const Object::Ptr& taint) {
    node.taints.push_back({Text(taint, "key"), Text(taint, "value"), Text(taint, "effect"),
                           Text(taint, "timeAdded")});
  });
  const Object::Ptr status = Child(object, "status");
  ForEach(status, "addresses", [&](const Object::Ptr& address) {
    node.addresses.push_back({Text(address, "type"), Text(address, "address")});
  });
  ForEach(status, "conditions", [&](const Object::Ptr& condition) {
    if (Text(condition, "type") == "Ready") node.ready = TristateFrom(Text(condition, "status"));
  });
  node.system_uuid = Text(Child(status, "nodeInfo"), "systemUUID");
  return node;
}

Lease LeaseFrom(const Object::Ptr& object) {
  Lease lease;
  // All of them: a Lease is written with PUT, which would erase what is missing.
  lease.meta = MetaFrom(Child(object, "metadata"), Annotations::kAll);
  const Object::Ptr spec = Child(object, "spec");
  lease.holder = Text(spec, "holderIdentity");
  lease.duration_seconds = static_cast<std::int32_t>(Number(spec, "leaseDurationSeconds"));
  lease.acquire_time = Text(spec, "acquireTime");
  lease.renew_time = Text(spec, "renewTime");
  lease.transitions = static_cast<std::int32_t>(Number(spec, "leaseTransitions"));
  return lease;
}

ApiStatus ApiStatusFrom(const Object::Ptr& object) {
  ApiStatus status;
  status.code = static_cast<int>(Number(object, "code"));
  status.reason = Text(object, "reason");
  status.message = Text(object, "message");
  const Object::Ptr details = Child(object, "details");
  const std::int64_t wait = Number(details, "retryAfterSeconds");
  status.retry_after_seconds = wait > 0 ? static_cast<std::uint64_t>(wait) : 0;
  ForEach(details, "causes",
          [&](const Object::Ptr& cause) { status.causes.push_back(Text(cause, "reason")); });
  return status;
}

std::string ToText(const Object::Ptr& object) {
  std::ostringstream out;
  object->stringify(out);
  return out.str();
}

void AppendMember(std::string& out, const char* key, const std::string& value) {
  if (value.empty()) return;
  if (out.back() != '{') out += ',';
  out += JsonQuote(key) + ":" + JsonQuote(value);
}

template <typename Map>
void AppendMap(std::string& out, const char* name, const Map& values) {
  if (values.empty()) return;
  std::string members = "{";
  for (const auto& [key, value] : values) AppendMember(members, std::string(key).c_str(), value);
  out += "," + JsonQuote(name) + ":" + members + "}";
}

}  // namespace

Result<Node> NodeFromJson(const std::string& text) {
  return Parsed<Node>(text, "Node", [](const Object::Ptr& object) -> Result<Node> {
    Node node = NodeFrom(object);
    if (node.meta.name.empty()) {
      return Status(Code::kInvalidArgument, "BadJson", "Node without a name");
    }
    return node;
  });
}

Result<Lease> LeaseFromJson(const std::string& text) {
  return Parsed<Lease>(text, "lease", LeaseFrom);
}

std::string LeaseToJson(const Lease& lease) {
  std::string out = R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{)";
  AppendMember(out, "name", lease.meta.name);
  AppendMember(out, "namespace", lease.meta.namespace_);
  AppendMember(out, "uid", lease.meta.uid);
  AppendMember(out, "resourceVersion", lease.meta.resource_version);
  AppendMap(out, "labels", lease.meta.labels);
  AppendMap(out, "annotations", lease.meta.annotations);
  out += R"(},"spec":{"holderIdentity":)" + JsonQuote(lease.holder);
  out += R"(,"leaseDurationSeconds":)" + std::to_string(lease.duration_seconds);
  out += R"(,"leaseTransitions":)" + std::to_string(lease.transitions);
  AppendMember(out, "acquireTime", lease.acquire_time);
  AppendMember(out, "renewTime", lease.renew_time);
  out += "}}";
  return out;
}

std::optional<ApiStatus> ApiStatusFromJson(const std::string& text) {
  bool is_status = false;
  const Result<ApiStatus> status =
      Parsed<ApiStatus>(text, "status", [&](const Object::Ptr& object) {
        is_status = Text(object, "kind") == "Status";
        return ApiStatusFrom(object);
      });
  if (!status.ok() || !is_status) return std::nullopt;
  return status.value();
}

Result<ListEnvelope> ListEnvelopeFromJson(const std::string& text) {
  return Parsed<ListEnvelope>(text, "list", [](const Object::Ptr& object) {
    const Object::Ptr meta = Child(object, "metadata");
    return ListEnvelope{Text(object, "kind"), Text(meta, "resourceVersion"),
                        Text(meta, "continue")};
  });
}

Result<JsonWatchEvent> WatchEventFromJson(const std::string& text) {
  return Parsed<JsonWatchEvent>(text, "watch event", [](const Object::Ptr& object) {
    JsonWatchEvent event;
    event.type = Text(object, "type");
    const Object::Ptr body = Child(object, "object");
    if (body.isNull()) return event;
    const Object::Ptr meta = Child(body, "metadata");
    event.kind = Text(body, "kind");
    event.resource_version = Text(meta, "resourceVersion");
    event.initial_events_end =
        Text(Child(meta, "annotations"), kInitialEventsEndAnnotation) == "true";
    event.object = ToText(body);
    return event;
  });
}

std::int64_t UnixMillisFromRfc3339(const std::string& text) {
  struct tm parts = {};
  char zone = 0;
  double fraction = 0;
  int seconds_end = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec,
                  &seconds_end) != 6) {
    return 0;
  }
  const std::string rest = text.substr(static_cast<std::size_t>(seconds_end));
  if (rest != "Z" && std::sscanf(rest.c_str(), "%lf%c", &fraction, &zone) != 2) return 0;
  if (rest != "Z" && (zone != 'Z' || fraction < 0 || fraction >= 1)) return 0;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return static_cast<std::int64_t>(timegm(&parts)) * 1000 +
         static_cast<std::int64_t>(fraction * 1000);
}

}  // namespace otc::host::kube

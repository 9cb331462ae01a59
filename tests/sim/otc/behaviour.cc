#include "tests/sim/otc/behaviour.h"

#include "host/base/strings.h"

namespace otc::sim {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

const char* Name(SignatureMode mode) {
  switch (mode) {
    case SignatureMode::kStrict:
      return "strict";
    case SignatureMode::kCompat:
      return "compat";
    case SignatureMode::kOff:
      return "off";
  }
  return "";
}

void ReadLatency(JsonFields& fields, std::map<std::string, Latency>* latency,
                 std::vector<std::string>* errors) {
  const auto object = fields.Object("latency");
  if (object.isNull()) return;
  JsonFields services(object, fields.PathOf("latency"), errors);
  for (const char* service : {"all", "iam", "ecs", "evs", "vpc", "elb", "metadata"}) {
    const auto entry = services.Object(service);
    if (entry.isNull()) continue;
    Latency value;
    JsonFields members(entry, services.PathOf(service), errors);
    members.Int("ms", &value.ms, 0, kDayMs);
    members.Int("jitter_ms", &value.jitter_ms, 0, kDayMs);
    members.Finish();
    (*latency)[std::string(service) == "all" ? "" : service] = value;
  }
  services.Finish();
}

}  // namespace

const std::map<std::string, std::string>& KnownDefects() {
  static const std::map<std::string, std::string> kDefects = {
      {"any-signature", "every signature of a known key is taken"},
      {"catalog-star-only", "the catalog holds the identity entry of region * alone"},
      {"eip-ignores-marker", "the EIP list answers the first page whatever the marker"},
      {"flavor-numbers", "flavor vcpus, ram and disk of v1 servers are numbers"},
      {"no-date", "answers carry no Date header"},
      {"nova-no-microversion", "the Nova version document names no maximum version"},
      {"offset-is-record", "offset of the v1 server list counts records, not pages"},
      {"projects-by-prefix", "name= of the project list matches prefixes"},
      {"security-token-unchecked", "the security token of a temporary key is not compared"},
      {"strict-host", "signatures without a signed Host header are refused"},
      {"times-without-z", "created and updated of servers lack the final Z"},
  };
  return kDefects;
}

Latency Behaviour::LatencyOf(const std::string& service) const {
  auto it = latency.find(service);
  if (it == latency.end()) it = latency.find("");
  return it == latency.end() ? Latency{} : it->second;
}

void ReadBehaviour(Poco::JSON::Object::Ptr object, const std::string& path, Behaviour* behaviour,
                   std::vector<std::string>* errors) {
  JsonFields fields(object, path, errors);
  std::string mode;
  if (fields.OneOf("signatures", &mode, {"strict", "compat", "off"})) {
    behaviour->signatures = mode == "strict"   ? SignatureMode::kStrict
                            : mode == "compat" ? SignatureMode::kCompat
                                               : SignatureMode::kOff;
  }
  fields.Int("clock_window_s", &behaviour->clock_window_s, 0, 86'400);
  fields.Int("lock_after", &behaviour->lock_after, 1, 1'000'000);
  fields.Int("lock_ms", &behaviour->lock_ms, 0, kDayMs);
  fields.Bool("canonical_in_error", &behaviour->canonical_in_error);
  fields.OneOf("name_filter", &behaviour->name_filter, {"regex", "substring", "ignored"});
  fields.Bool("ip_eq_filter", &behaviour->ip_eq_filter);
  fields.Bool("eip_port_filter", &behaviour->eip_port_filter);
  fields.Bool("internal_links", &behaviour->internal_links);
  fields.Bool("nova_microversions", &behaviour->nova_microversions);
  std::int64_t status = 0;
  if (fields.Int("metadata_token_status", &status, 200, 599)) {
    if (status == 200 || status == 404 || status == 405 || status == 500 || status == 503) {
      behaviour->metadata_token_status = status;
    } else {
      fields.Error("metadata_token_status", "allowed are 200, 404, 405, 500, 503");
    }
  }
  fields.String("metadata_server", &behaviour->metadata_server);
  fields.Int("job_ms", &behaviour->job_ms, 0, kDayMs);
  ReadLatency(fields, &behaviour->latency, errors);
  std::vector<std::string> defects;
  if (fields.Strings("defects", &defects)) {
    behaviour->defects.clear();
    for (const std::string& defect : defects) {
      if (KnownDefects().count(defect) == 0) {
        fields.Error("defects", "'" + defect + "' does not exist; see --list-defects");
      }
      behaviour->defects.insert(defect);
    }
  }
  fields.Finish();
}

std::string BehaviourToJson(const Behaviour& behaviour) {
  JsonWriter json;
  json.BeginObject().Field("signatures", Name(behaviour.signatures));
  json.Field("clock_window_s", behaviour.clock_window_s);
  json.Field("lock_after", behaviour.lock_after).Field("lock_ms", behaviour.lock_ms);
  json.Field("canonical_in_error", behaviour.canonical_in_error);
  json.Field("name_filter", behaviour.name_filter);
  json.Field("ip_eq_filter", behaviour.ip_eq_filter);
  json.Field("eip_port_filter", behaviour.eip_port_filter);
  json.Field("internal_links", behaviour.internal_links);
  json.Field("nova_microversions", behaviour.nova_microversions);
  json.Field("metadata_token_status", behaviour.metadata_token_status);
  json.Field("metadata_server", behaviour.metadata_server).Field("job_ms", behaviour.job_ms);
  json.Key("latency").BeginObject();
  for (const auto& [service, latency] : behaviour.latency) {
    json.Key(service.empty() ? "all" : service).BeginObject();
    json.Field("ms", latency.ms).Field("jitter_ms", latency.jitter_ms).EndObject();
  }
  json.EndObject().Key("defects").BeginArray();
  for (const std::string& defect : behaviour.defects) json.String(defect);
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace otc::sim

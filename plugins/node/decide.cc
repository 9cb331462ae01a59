#include "plugins/node/decide.h"

#include <algorithm>

#include "plugins/node/addresses.h"
#include "plugins/node/labels.h"
#include "plugins/node/provider_id.h"

namespace otc::node {
namespace {

Verdict Start(const pb::Node& node, pb::InstanceState state, std::int64_t observed_unix_ms) {
  Verdict verdict;
  verdict.result.set_node_name(node.name());
  verdict.result.set_node_uid(node.uid());
  verdict.result.set_state(state);
  verdict.result.set_observed_unix_ms(observed_unix_ms);
  return verdict;
}

void Explain(const std::string& reason, const std::string& message, Verdict* verdict) {
  verdict->result.set_reason(reason);
  verdict->result.set_message(message);
}

// Something of the metadata is missing: the Node's owner learns why. The first one
// is the result's reason too.
void Warn(const pb::Node& node, const std::string& reason, const std::string& message,
          Verdict* verdict) {
  pb::EventRecord event;
  event.set_type(pb::EVENT_TYPE_WARNING);
  event.set_reason(reason);
  event.set_message(message);
  event.set_about_uid(node.uid());
  if (verdict->events.empty()) Explain(reason, message, verdict);
  verdict->events.push_back(std::move(event));
}

// `value` if it may be a label value; else "", with a warning unless it is absent.
std::string LabelOrNothing(const pb::Node& node, const std::string& value, const char* reason,
                           const char* what, Verdict* verdict) {
  if (value.empty() || IsLabelValue(value)) return value;
  Warn(
      node, reason,
      std::string(what) + " \"" + value +
          "\" cannot be a label value (at most 63 letters, digits, '-', '_', '.'): no label is set",
      verdict);
  return "";
}

void FillAddresses(const pb::Node& node, const Server& server, const Settings& settings,
                   Verdict* verdict) {
  const AddressChoice choice = ChooseAddresses(server, node, settings);
  for (const auto& address : choice.addresses) {
    *verdict->result.mutable_metadata()->add_addresses() = address;
  }
  for (const std::string& text : choice.unreadable) {
    Warn(node, kUnreadableAddress,
         "server " + server.id + ": \"" + text + "\" is no IP address: left out", verdict);
  }
  if (choice.none_in_network) {
    Warn(node, kNoAddressInNetwork,
         "server " + server.id +
             " has no internal address in settings.network (vpc, internalCIDRs): no address is set",
         verdict);
  }
}

std::string RequestIdText(const pb::CloudResponse& response) {
  return response.request_id().empty() ? "" : ", request id " + response.request_id();
}

Verdict Gone(const pb::Node& node, const std::string& server_id, pb::ProofMethod method,
             const std::string& what, const pb::CloudResponse& response,
             std::int64_t observed_unix_ms) {
  Verdict verdict = Start(node, pb::INSTANCE_STATE_GONE, observed_unix_ms);
  Explain(kServerGone, "server " + server_id + ": " + what + RequestIdText(response), &verdict);
  pb::AbsenceProof* proof = verdict.result.mutable_proof();
  proof->set_method(method);
  proof->set_http_status(response.http_status());
  proof->set_service_code(response.service_code());
  proof->set_request_id(response.request_id());
  proof->set_observed_unix_ms(observed_unix_ms);
  return verdict;
}

}  // namespace

Verdict Found(const pb::Node& node, const Server& server, const Settings& settings,
              bool want_metadata, std::int64_t observed_unix_ms) {
  if (!server.fault.empty()) {
    return Unknown(node, kBadServerData, "server " + server.id + ": " + server.fault,
                   observed_unix_ms);
  }
  const bool shut_down = IsShutDownStatus(server.status);
  Verdict verdict =
      Start(node, shut_down ? pb::INSTANCE_STATE_SHUT_DOWN : pb::INSTANCE_STATE_RUNNING,
            observed_unix_ms);
  if (want_metadata) {
    pb::InstanceMetadata* metadata = verdict.result.mutable_metadata();
    metadata->set_provider_id(FormatProviderId(server.id));
    metadata->set_zone(
        LabelOrNothing(node, server.zone, kInvalidZone, "availability zone", &verdict));
    metadata->set_region(LabelOrNothing(node, settings.region, kInvalidRegion, "region", &verdict));
    metadata->set_instance_type(
        LabelOrNothing(node, server.flavor, kInvalidType, "flavor", &verdict));
    FillAddresses(node, server, settings, &verdict);
  }
  if (verdict.events.empty() && server.status != "ACTIVE") {
    Explain(kServerNotActive, "server " + server.id + " is " + server.status, &verdict);
  }
  return verdict;
}

Verdict Unknown(const pb::Node& node, const std::string& reason, const std::string& message,
                std::int64_t observed_unix_ms) {
  Verdict verdict = Start(node, pb::INSTANCE_STATE_UNKNOWN, observed_unix_ms);
  Explain(reason, message, &verdict);
  return verdict;
}

Verdict Unknown(const pb::Node& node, const Status& why, std::int64_t observed_unix_ms) {
  return Unknown(node, why.reason(), why.message(), observed_unix_ms);
}

Verdict Foreign(const pb::Node& node, bool malformed, std::int64_t observed_unix_ms) {
  Verdict verdict = Start(node, pb::INSTANCE_STATE_FOREIGN, observed_unix_ms);
  const std::string id = "providerID \"" + node.provider_id() + "\"";
  if (malformed) {
    Explain(kMalformedProviderId, id + " is not otc:///<server UUID>: the node is left alone",
            &verdict);
  } else {
    Explain(kForeignProviderId, id + " is not of this cloud: the node is left alone", &verdict);
  }
  return verdict;
}

bool ProvesAbsence(const pb::CloudResponse& response) {
  return response.outcome() == pb::OUTCOME_ANSWERED && response.http_status() == 404 &&
         response.proves_absence();
}

Status AnswerProblem(const pb::CloudResponse& response) {
  const std::string said = (response.service_code().empty() ? "" : " " + response.service_code()) +
                           (response.message().empty() ? "" : ": " + response.message()) +
                           RequestIdText(response);
  if (response.outcome() != pb::OUTCOME_ANSWERED) {
    return Status(Code::kUnavailable, kCloudUnreachable, "ECS gave no answer" + said,
                  response.retry_after_ms());
  }
  const std::uint32_t http = response.http_status();
  if (http >= 200 && http < 300) return Status::Ok();
  const std::string text = "ECS answered " + std::to_string(http) + said;
  if (http == 401 || http == 403) {
    return Status(http == 401 ? Code::kUnauthenticated : Code::kPermissionDenied, kAccessDenied,
                  text);
  }
  if (http == 429) {
    return Status(Code::kResourceExhausted, kThrottled, text, response.retry_after_ms());
  }
  if (http == 404) return Status(Code::kUnavailable, kNotProven, text);
  return Status(Code::kUnavailable, kCloudError, text, response.retry_after_ms());
}

Verdict FromGet(const pb::Node& node, const std::string& server_id,
                const pb::CloudResponse& response, const Settings& settings, bool want_metadata,
                std::int64_t observed_unix_ms) {
  if (ProvesAbsence(response)) {
    return Gone(node, server_id, pb::PROOF_METHOD_GET_BY_ID,
                "404 " + response.service_code() + " from ECS", response, observed_unix_ms);
  }
  if (const Status problem = AnswerProblem(response); !problem.ok()) {
    return Unknown(node, problem.WithPrefix("server " + server_id + ": "), observed_unix_ms);
  }
  const auto server = ParseServer(response.body(), server_id);
  if (!server.ok()) {
    return Unknown(node, server.status().WithPrefix("server " + server_id + ": "),
                   observed_unix_ms);
  }
  if (server->fault.empty() && IsDeletedStatus(server->status)) {
    return Gone(node, server_id, pb::PROOF_METHOD_STATUS_DELETED, "status " + server->status,
                response, observed_unix_ms);
  }
  return Found(node, *server, settings, want_metadata, observed_unix_ms);
}

NameMatch MatchByName(const pb::Node& node, const std::vector<const Server*>& named) {
  if (named.empty()) {
    return {nullptr, kServerNotFound,
            "no server is named \"" + node.name() +
                "\"; name the server as the node, or start the kubelet with --provider-id"};
  }
  if (named.size() == 1) return {named.front(), "", ""};
  const std::string uuid = LowerCase(node.system_uuid());
  std::string ids;
  for (const Server* server : named) {
    if (server->id == uuid) return {server, "", ""};
    ids += (ids.empty() ? "" : ", ") + server->id;
  }
  return {nullptr, kAmbiguousName,
          std::to_string(named.size()) + " servers are named \"" + node.name() + "\" (" + ids +
              ") and none of them has the node's system UUID; rename one, or start the kubelet "
              "with --provider-id"};
}

}  // namespace otc::node

#include "host/cloud/project.h"

#include <Poco/Exception.h>
#include <Poco/JSON/Array.h>
#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "host/base/strings.h"
#include "host/cloud/call_wait.h"

namespace otc::host::cloud {
namespace {

using plugin::v1::CloudResponse;

constexpr Duration kRememberFailure = std::chrono::seconds(30);
constexpr Duration kRememberOutage = std::chrono::seconds(5);

const Caller kHost{"host", false};

// A project or a domain as IAM lists it.
struct Item {
  std::string id;
  std::string name;
  std::string domain_id;
  bool enabled = true;
};

std::string TextMember(const Poco::JSON::Object& object, const char* name) {
  const Poco::Dynamic::Var value = object.get(name);
  return value.isString() ? value.extract<std::string>() : "";
}

// The objects of array `list`; nothing if the body is not what IAM answers. The
// only place here that Poco's exceptions reach.
std::optional<std::vector<Item>> ParseList(const std::string& body, const char* list) {
  try {
    Poco::JSON::Parser parser;
    const Poco::Dynamic::Var top = parser.parse(body);
    if (top.type() != typeid(Poco::JSON::Object::Ptr)) return std::nullopt;
    const auto array = top.extract<Poco::JSON::Object::Ptr>()->getArray(list);
    if (array.isNull()) return std::nullopt;
    std::vector<Item> items;
    for (std::size_t i = 0; i < array->size(); ++i) {
      const auto object = array->getObject(static_cast<unsigned>(i));
      if (object.isNull()) return std::nullopt;
      Item item{TextMember(*object, "id"), TextMember(*object, "name"),
                TextMember(*object, "domain_id")};
      const Poco::Dynamic::Var enabled = object->get("enabled");
      item.enabled = !enabled.isBoolean() || enabled.extract<bool>();
      items.push_back(std::move(item));
    }
    return items;
  } catch (const Poco::Exception&) {
    return std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool IsProjectId(const std::string& id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

std::string IamUrl(const Session& session) {
  const Result<Endpoint> iam = session.endpoints.Find("iam");
  return iam.ok() ? iam->base.origin.ToString() + iam->base.prefix : "iam";
}

// What an unsuccessful answer of IAM means for whoever wrote cloud.conf.
Status Explain(const Session& session, const CloudResponse& response) {
  const std::string where = "IAM at " + IamUrl(session) + ": ";
  std::string answer = response.message();
  if (response.http_status() != 0) {
    answer = "HTTP " + std::to_string(response.http_status()) + " " + response.service_code() +
             " " + answer;
    if (!response.request_id().empty()) answer += " (request " + response.request_id() + ")";
  }
  const auto code = static_cast<Code>(response.code());
  if (code == Code::kUnauthenticated) {
    return Status(code, "CredentialsRefused",
                  where +
                      "the cloud refuses access-key and secret-key of cloud.conf; check that "
                      "both are complete, belong together and to this cloud, and that this "
                      "machine's clock is right. Answer: " +
                      answer);
  }
  if (code == Code::kPermissionDenied) {
    return Status(code, "ProjectLookupDenied",
                  where +
                      "the key may not look up projects; give project-id in cloud.conf. "
                      "Answer: " +
                      answer);
  }
  const bool unreachable =
      response.http_status() == 0 && code != Code::kCancelled && code != Code::kResourceExhausted;
  if (!unreachable) {
    return Status(code, "IamFailed", where + answer, response.retry_after_ms());
  }
  return Status(
      code, "CloudUnreachable",
      where + "no answer; check network, [Endpoints] and ca-file of cloud.conf. " + answer,
      response.retry_after_ms());
}

Status BadAnswer(const Session& session) {
  return Status(Code::kUnavailable, "IamFailed",
                "IAM at " + IamUrl(session) +
                    ": the answer is not a list of projects; is [Endpoints] iam right?");
}

}  // namespace

Result<std::string> ProjectResolver::Get(Session& session, const CallContext& context) {
  ProjectState& state = session.project;
  CallWait wait(state.mutex, state.changed, context);
  std::unique_lock lock(state.mutex);
  for (;;) {
    if (!state.id.empty()) return state.id;
    if (clock_.Now() < state.failure_ends) return state.failure;
    if (!state.looking) break;
    OTC_RETURN_IF_ERROR(wait.Until(lock, [&] { return !state.looking; }));
  }
  state.looking = true;
  lock.unlock();
  Result<std::string> id = LookUp(session, context);
  lock.lock();
  state.looking = false;
  if (id.ok()) {
    state.id = *id;
  } else if (context.Check().ok()) {  // the caller's own end says nothing about IAM
    state.failure = id.status();
    state.failure_ends =
        clock_.Now() +
        (id.status().code() == Code::kUnavailable ? kRememberOutage : kRememberFailure);
  }
  state.changed.notify_all();
  return id;
}

Result<std::string> ProjectResolver::LookUp(Session& session, const CallContext& context) {
  const std::string& name = session.config.project_name;
  const std::string where = "IAM at " + IamUrl(session) + ": ";
  const CloudResponse response = Ask(session, "/v3/projects", name, context);
  if (response.code() != 0) return Explain(session, response);
  std::optional<std::vector<Item>> projects = ParseList(response.body(), "projects");
  if (!projects) return BadAnswer(session);
  std::erase_if(*projects, [&](const Item& item) { return item.name != name; });
  if (projects->size() > 1 && !session.config.domain_name.empty()) {
    const CloudResponse domains =
        Ask(session, "/v3/auth/domains", session.config.domain_name, context);
    if (domains.code() != 0) return Explain(session, domains);
    for (const Item& domain : ParseList(domains.body(), "domains").value_or(std::vector<Item>())) {
      if (domain.name != session.config.domain_name) continue;
      std::erase_if(*projects, [&](const Item& item) { return item.domain_id != domain.id; });
    }
  }
  if (projects->empty()) {
    return Status(Code::kNotFound, "ProjectNotFound",
                  where + "no project is named " + JsonQuote(name) +
                      "; correct project-name (or region) in cloud.conf, or give project-id");
  }
  if (projects->size() > 1) {
    return Status(Code::kFailedPrecondition, "ProjectAmbiguous",
                  where + std::to_string(projects->size()) + " projects are named " +
                      JsonQuote(name) + "; give project-id (or domain-name) in cloud.conf");
  }
  const Item& project = projects->front();
  if (!project.enabled) {
    return Status(Code::kFailedPrecondition, "ProjectDisabled",
                  where + "project " + JsonQuote(name) + " is disabled");
  }
  if (!IsProjectId(project.id)) return BadAnswer(session);
  return project.id;
}

Status ProjectResolver::Check(Session& session, const CallContext& context) {
  OTC_RETURN_IF_ERROR(session.endpoints.Find("iam").status());  // role csi-node has no keys
  if (!session.config.project_id.empty()) return CheckId(session, context);
  const Result<std::string> id = LookUp(session, context);
  std::lock_guard lock(session.project.mutex);
  if (id.ok()) session.project.id = *id;
  return id.status();
}

Status ProjectResolver::CheckId(Session& session, const CallContext& context) {
  const std::string& id = session.config.project_id;
  const CloudResponse response = Ask(session, "/v3/projects/" + id, "", context);
  const auto code = static_cast<Code>(response.code());
  // No right to look: the signature was good, and that is all one can know.
  if (code == Code::kOk || code == Code::kPermissionDenied) return Status::Ok();
  if (code == Code::kNotFound) {
    return Status(Code::kNotFound, "ProjectNotFound",
                  "IAM at " + IamUrl(session) + ": no project has the id " + id +
                      "; correct project-id in cloud.conf");
  }
  return Explain(session, response);
}

CloudResponse ProjectResolver::Ask(Session& session, const std::string& path,
                                   const std::string& name, const CallContext& context) {
  const Result<Endpoint> iam = session.endpoints.Find("iam");
  if (!iam.ok()) return NotSentResponse(iam.status());
  plugin::v1::CloudRequest request;
  request.set_service("iam");
  request.set_method("GET");
  request.set_path(path);
  request.set_effect(plugin::v1::EFFECT_READ);
  request.set_idempotent(true);
  request.set_purpose("project");
  if (!name.empty()) {
    auto* pair = request.add_query();
    pair->set_key("name");
    pair->set_value(name);
  }
  return sender_.Send(session, kHost, BuildRequest(request, *iam, ""), context);
}

}  // namespace otc::host::cloud

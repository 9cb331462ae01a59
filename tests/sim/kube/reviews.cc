#include "tests/sim/kube/reviews.h"

namespace otc::kubesim {
namespace {

std::vector<std::string> TextsAt(const Json& document, JsonPath path) {
  std::vector<std::string> texts;
  if (const Json* list = Find(document, path); list != nullptr && list->is_array()) {
    for (const Json& entry : *list) {
      if (entry.is_string()) {
        texts.push_back(entry.get<std::string>());
      }
    }
  }
  return texts;
}

ApiResult<Json> JsonBody(const HttpRequest& request) {
  const std::string type = request.Header("content-type");
  if (!type.empty() && type.rfind("application/json", 0) != 0) {
    return UnsupportedMediaType("application/json");
  }
  std::optional<Json> document = ParseJson(request.body);
  if (!document || !document->is_object()) {
    return BadRequest("the body is not a JSON object");
  }
  return std::move(*document);
}

AccessQuestion QuestionOf(const Json& document) {
  AccessQuestion question;
  question.path = TextAt(document, {"spec", "nonResourceAttributes", "path"});
  question.verb = TextAt(document, {"spec", "nonResourceAttributes", "verb"});
  if (Find(document, {"spec", "resourceAttributes"}) != nullptr) {
    const Json& asked = document["spec"]["resourceAttributes"];
    question.path.clear();
    question.verb = TextAt(asked, {"verb"});
    question.group = TextAt(asked, {"group"});
    question.resource = TextAt(asked, {"resource"});
    if (!TextAt(asked, {"subresource"}).empty()) {
      question.resource += "/" + TextAt(asked, {"subresource"});
    }
    question.namespace_name = TextAt(asked, {"namespace"});
    question.name = TextAt(asked, {"name"});
  }
  return question;
}

}  // namespace

ApiResult<Json> Reviews::Review(const RequestInfo& info, const HttpRequest& request,
                                const Identity& identity) const {
  ApiResult<Json> body = JsonBody(request);
  if (!body.ok()) {
    return body;
  }
  Json* document = &body.value();
  (*document)["apiVersion"] = info.resource->GroupVersion();
  (*document)["kind"] = info.resource->kind;
  ObjectAt(*document, "metadata");
  Json& status = ObjectAt(*document, "status");
  if (info.resource->kind == "TokenReview") {
    const auto who = auth_.IdentityOfToken(TextAt(*document, {"spec", "token"}));
    if (who) {
      status["authenticated"] = true;
      status["user"] = {{"username", who->name}, {"groups", who->groups}};
      if (const auto audiences = TextsAt(*document, {"spec", "audiences"}); !audiences.empty()) {
        status["audiences"] = audiences;
      }
    } else {
      status["error"] = "invalid bearer token";
      status["user"] = Json::object();
    }
    return std::move(*document);
  }
  Identity who = identity;
  if (info.resource->kind == "SubjectAccessReview") {
    who = {TextAt(*document, {"spec", "user"}), TextsAt(*document, {"spec", "groups"})};
  }
  const std::string why = auth_.WhyForbidden(who, QuestionOf(*document));
  status["allowed"] = why.empty();
  if (!why.empty()) {
    status["reason"] = why;
  }
  return std::move(*document);
}

ApiResult<Json> Reviews::RequestToken(const RequestInfo& info, const HttpRequest& request) {
  const std::string key = ObjectKey(info.namespace_name, info.name);
  if (store_.Get(*info.resource, key) == nullptr) {
    return NotFound(*info.resource, info.name);
  }
  ApiResult<Json> body = JsonBody(request);
  if (!body.ok()) {
    return body;
  }
  Json* document = &body.value();
  constexpr std::int64_t kMinSeconds = 600;
  const std::int64_t seconds = IntAt(*document, {"spec", "expirationSeconds"}).value_or(3600);
  if (seconds < kMinSeconds) {
    ResourceInfo request_kind;
    request_kind.group = "authentication.k8s.io";
    request_kind.kind = "TokenRequest";
    return Invalid(request_kind, "",
                   {{"FieldValueInvalid",
                     "Invalid value: " + std::to_string(seconds) +
                         ": may not specify a duration less than 10 minutes",
                     "spec.expirationSeconds"}});
  }
  (*document)["kind"] = "TokenRequest";
  (*document)["apiVersion"] = "authentication.k8s.io/v1";
  ObjectAt(*document, "spec")["expirationSeconds"] = seconds;
  ObjectAt(*document, "status") = {
      {"token", auth_.IssueServiceAccountToken(info.namespace_name, info.name)},
      {"expirationTimestamp", host::FormatRfc3339(clock_.Wall() + std::chrono::seconds(seconds))}};
  return std::move(*document);
}

}  // namespace otc::kubesim

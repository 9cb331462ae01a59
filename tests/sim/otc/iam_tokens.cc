// IAM: tokens and temporary access keys (iam.md section 3, signing.md section 7).
#include "host/base/strings.h"
#include "tests/sim/otc/errors.h"
#include "tests/sim/otc/iam_render.h"
#include "tests/sim/otc/services.h"

namespace otc::sim {
namespace {

using JsonObject = Poco::JSON::Object::Ptr;

constexpr std::int64_t kDefaultKeyLife = 900;
constexpr std::int64_t kMinKeyLife = 900;
constexpr std::int64_t kMaxKeyLife = 86'400;

// Members of a request body: absent or of another type is an empty answer, as
// unknown members are never refused there.
JsonObject Child(const JsonObject& object, const std::string& key) {
  return object.isNull() ? JsonObject() : object->getObject(key);
}

std::string Text(const JsonObject& object, const std::string& key) {
  if (object.isNull() || !object->has(key) || !object->get(key).isString()) return "";
  return object->getValue<std::string>(key);
}

bool HasMethod(const JsonObject& identity, const std::string& method) {
  const auto methods = identity.isNull() ? nullptr : identity->getArray("methods");
  if (methods.isNull() || methods->size() != 1) return false;
  return methods->get(0).isString() && methods->getElement<std::string>(0) == method;
}

std::optional<Domain> DomainOf(const Cloud& cloud, const JsonObject& reference) {
  const std::string id = Text(reference, "id");
  const auto domain = cloud.identity->FindDomain(id.empty() ? Text(reference, "name") : id);
  return domain;
}

Response BadRequest(const std::string& message) {
  return KeystoneError(400, "Bad Request", message);
}

Response Unauthorized() {
  return KeystoneError(401, "Unauthorized", "The username or password is wrong.");
}

// The user whose password is right.
std::optional<User> PasswordUser(const Cloud& cloud, const JsonObject& identity) {
  const auto reference = Child(Child(identity, "password"), "user");
  std::optional<User> user;
  if (const std::string id = Text(reference, "id"); !id.empty()) {
    user = cloud.identity->FindUser(id);
  } else if (const auto domain = DomainOf(cloud, Child(reference, "domain"))) {
    user = cloud.identity->FindUserByName(Text(reference, "name"), domain->id);
  }
  if (!user || user->password != Text(reference, "password")) return std::nullopt;
  return user;
}

void RenderToken(const Cloud& cloud, const Call& call, const Token& token, const User& user,
                 JsonWriter* json) {
  const auto domain = cloud.identity->FindDomain(user.domain_id);
  const std::string domain_name = domain ? domain->name : "";
  const auto render_domain = [&] {
    json->Key("domain").BeginObject().Field("id", user.domain_id).Field("name", domain_name);
    json->EndObject();
  };
  json->BeginObject().Key("token").BeginObject().Field("expires_at",
                                                       TimeFraction(token.expires_at));
  json->Field("issued_at", TimeFraction(token.issued_at));
  json->Key("methods").BeginArray().String("password").EndArray();
  json->Key("user").BeginObject().Field("id", user.id).Field("name", user.name);
  json->Field("password_expires_at", "");
  render_domain();
  json->EndObject().Key("roles").BeginArray().BeginObject();
  json->Field("id", "0").Field("name", "te_admin").EndObject().EndArray();
  if (const auto project = cloud.identity->FindProject(token.project_id)) {
    json->Key("project").BeginObject().Field("id", project->id).Field("name", project->name);
    render_domain();
    json->EndObject();
  } else {
    render_domain();
  }
  json->Key("catalog");
  if (call.request.Query("nocatalog")) {
    json->BeginArray().EndArray();
  } else {
    RenderCatalog(cloud, token.project_id, call.behaviour, json);
  }
  json->EndObject().EndObject();
}

Response PostToken(const Cloud& cloud, Call& call) {
  const auto body = ParseJsonObject(call.request.body);
  if (!body.ok()) return BadRequest("The request body is not valid JSON.");
  const auto auth = Child(*body, "auth");
  const auto identity = Child(auth, "identity");
  if (!HasMethod(identity, "password")) {
    return BadRequest("auth.identity.methods must be [\"password\"].");
  }
  const auto user = PasswordUser(cloud, identity);
  if (!user) return Unauthorized();

  std::string project_id;
  const auto scope = Child(auth, "scope");
  if (const auto project = Child(scope, "project"); !project.isNull()) {
    const std::string id = Text(project, "id");
    const auto found =
        id.empty() ? cloud.identity->FindProjectByName(Text(project, "name"), user->domain_id)
                   : cloud.identity->FindProject(id);
    if (!found || found->domain_id != user->domain_id) return Unauthorized();
    project_id = found->id;
  } else if (const auto domain = Child(scope, "domain"); !domain.isNull()) {
    const auto found = DomainOf(cloud, domain);
    if (!found || found->id != user->domain_id) return Unauthorized();
  }
  const Token token = cloud.identity->IssueToken(*user, project_id);
  JsonWriter json;
  RenderToken(cloud, call, token, *user, &json);
  Response response = Response::Json(201, json.Take());
  response.headers.push_back({"X-Subject-Token", token.id});
  return response;
}

void RenderCredential(const AccessKey& key, JsonWriter* json) {
  json->BeginObject().Key("credential").BeginObject().Field("access", key.access);
  json->Field("secret", key.secret).Field("securitytoken", key.security_token);
  json->Field("expires_at", TimeFraction(*key.expires_at)).EndObject().EndObject();
}

Response PostSecurityToken(const Cloud& cloud, Call& call) {
  const auto body = ParseJsonObject(call.request.body);
  if (!body.ok()) return IamError(400, "IAM.0011", "The request body is not valid JSON.");
  const auto identity = Child(Child(*body, "auth"), "identity");
  JsonObject method;
  if (HasMethod(identity, "token")) {
    method = Child(identity, "token");
  } else if (HasMethod(identity, "assume_role")) {
    method = Child(identity, "assume_role");
    const auto domain =
        cloud.identity->FindDomain(Text(method, "domain_id").empty() ? Text(method, "domain_name")
                                                                     : Text(method, "domain_id"));
    const bool agency = !Text(method, "agency_name").empty() || !Text(method, "xrole_name").empty();
    if (!domain || !agency) return IamError(404, "IAM.0004", "Could not find the agency.");
  } else {
    return IamError(400, "IAM.0011", "methods must be [\"token\"] or [\"assume_role\"].");
  }
  std::int64_t duration = kDefaultKeyLife;
  std::vector<std::string> errors;
  if (!method.isNull()) {
    JsonFields(method, "", &errors).Int("duration_seconds", &duration, kMinKeyLife, kMaxKeyLife);
  }
  if (!errors.empty()) return IamError(400, "IAM.0011", errors.front());
  const AccessKey key =
      cloud.identity->IssueTemporaryKey(call.principal.user_id, call.principal.domain_id, duration);
  JsonWriter json;
  RenderCredential(key, &json);
  return Response::Json(201, json.Take());
}

Response GetCredential(const Cloud& cloud, Call& call) {
  const auto key = cloud.identity->FindAccessKey(call.args[0]);
  if (!key || key->domain_id != call.principal.domain_id || key->expires_at) {
    return IamError(404, "IAM.0004", "Could not find credential: " + call.args[0]);
  }
  JsonWriter json;
  json.BeginObject().Key("credential").BeginObject().Field("access", key->access);
  json.Field("user_id", key->user_id).Field("status", key->active ? "active" : "inactive");
  json.Field("create_time", "2024-01-01T00:00:00.000000Z").Field("description", "");
  json.EndObject().EndObject();
  return Response::Json(200, json.Take());
}

}  // namespace

void AddIamTokenRoutes(const Cloud& cloud, Router* router) {
  using Handle = Response (*)(const Cloud&, Call&);
  const auto add = [&](const char* method, const char* pattern, const char* operation, Scope scope,
                       Handle handle) {
    router->Add({"iam", method, pattern, operation, scope,
                 [cloud, handle](Call& call) { return handle(cloud, call); }});
  };
  add("POST", "/v3/auth/tokens", "iam.token.create", Scope::kOpen, PostToken);
  add("POST", "/v3.0/OS-CREDENTIAL/securitytokens", "iam.security_token.create", Scope::kAccount,
      PostSecurityToken);
  add("GET", "/v3.0/OS-CREDENTIAL/credentials/{}", "iam.credential.get", Scope::kAccount,
      GetCredential);
}

}  // namespace otc::sim

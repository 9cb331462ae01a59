#include "sdk/harness/sim_cloud.h"

#include <utility>

#include "otc/cpp/json.h"
#include "sdk/harness/http_once.h"

namespace otc::harness {
namespace {

std::string Escaped(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

// The service's own error code, wherever its kind of error body has it.
std::string ServiceCode(const std::string& body) {
  const auto document = json::Parse(body);
  if (!document.ok()) return "";
  const auto of = [](json::Value object) {
    const std::string code = object.String("error_code", nullptr);
    return code.empty() ? object.String("code", nullptr) : code;
  };
  std::string found = of(document->root());
  document->root().ForEachMember([&](std::string_view, json::Value value) {
    if (found.empty()) found = of(value);
  });
  return found;
}

std::string TokenRequest(const SimAccount& account) {
  json::Writer body;
  body.Object().Key("auth").Object().Key("identity").Object();
  body.Key("methods").Array().String("password").End();
  body.Key("password").Object().Key("user").Object();
  body.Key("name").String(account.user).Key("password").String(account.password);
  body.Key("domain").Object().Key("name").String(account.domain).End();
  body.End().End().End();
  body.Key("scope").Object().Key("project").Object().Key("name").String(account.project);
  body.End().End().End().End();
  return body.Text();
}

}  // namespace

otc::Result<std::unique_ptr<SimCloud>> SimCloud::Connect(std::string_view start_line,
                                                         const SimAccount& account) {
  const auto document = json::Parse(start_line);
  if (!document.ok()) return document.status().WithPrefix("start line of otc-sim: ");
  std::unique_ptr<SimCloud> cloud(new SimCloud());
  document->root()["urls"].ForEachMember([&](std::string_view service, json::Value url) {
    cloud->urls_[std::string(service)] = url.AsString(nullptr);
  });
  OTC_RETURN_IF_ERROR(cloud->GetToken(account));
  return cloud;
}

Status SimCloud::GetToken(const SimAccount& account) {
  const auto iam = urls_.find("iam");
  if (iam == urls_.end()) {
    return Status(Code::kInvalidArgument, "NoEndpoint", "the start line has no URL of iam");
  }
  const HttpAnswer answer = HttpOnce(iam->second, "POST", "/v3/auth/tokens",
                                     {{"Content-Type", "application/json"}}, TokenRequest(account));
  const auto token = answer.headers.find("x-subject-token");
  if (answer.kind != HttpAnswer::Kind::kAnswered || answer.status != 201 ||
      token == answer.headers.end()) {
    return Status(
        Code::kUnauthenticated, "NoToken",
        "token of " + account.user + ": " +
            (answer.problem.empty() ? "HTTP " + std::to_string(answer.status) : answer.problem));
  }
  token_ = token->second;
  const auto document = json::Parse(answer.body);
  if (document.ok()) {
    project_id_ = document->root()["token"]["project"].String("id", nullptr);
  }
  if (!project_id_.empty()) return Status::Ok();
  return Status(Code::kUnauthenticated, "NoToken", "the token has no project");
}

pb::CloudResponse SimCloud::Answer(const pb::CloudRequest& request) {
  const auto url = urls_.find(request.service());
  if (url == urls_.end()) {
    pb::CloudResponse response = ScriptedCloud::NotSent();
    response.set_message("otc-sim has no service " + request.service());
    return response;
  }
  std::string target = request.path();
  constexpr std::string_view kProject = "{project_id}";
  for (std::size_t at; (at = target.find(kProject)) != std::string::npos;) {
    target.replace(at, kProject.size(), project_id_);
  }
  char separator = '?';
  for (const pb::Pair& pair : request.query()) {
    target += separator + Escaped(pair.key()) + "=" + Escaped(pair.value());
    separator = '&';
  }
  std::map<std::string, std::string> headers = {{"X-Auth-Token", token_}};
  if (request.service() == "metadata") headers.clear();
  for (const auto& [name, value] : request.headers()) headers[name] = value;
  if (!request.body().empty()) headers.emplace("Content-Type", "application/json");

  const HttpAnswer answer =
      HttpOnce(url->second, request.method(), target, headers, request.body());
  if (answer.kind != HttpAnswer::Kind::kAnswered) {
    pb::CloudResponse response = answer.kind == HttpAnswer::Kind::kNotSent
                                     ? ScriptedCloud::NotSent()
                                     : ScriptedCloud::Unclear();
    response.set_message(answer.problem);
    return response;
  }
  pb::CloudResponse response = ScriptedCloud::Reply(answer.status, answer.body);
  for (const auto& [name, value] : answer.headers) (*response.mutable_headers())[name] = value;
  const auto id = answer.headers.find("x-request-id");
  if (id != answer.headers.end()) response.set_request_id(id->second);
  if (answer.status >= 400) response.set_service_code(ServiceCode(answer.body));
  // A 404 of the gateway says nothing of the object.
  response.set_proves_absence(answer.status == 404 && !response.service_code().empty() &&
                              response.service_code().rfind("APIGW.", 0) != 0);
  return response;
}

}  // namespace otc::harness

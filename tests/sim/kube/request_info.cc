#include "tests/sim/kube/request_info.h"

#include "host/base/strings.h"

namespace otc::kubesim {
namespace {

bool IsTrue(const std::string& text) { return text == "true" || text == "1"; }

std::string VerbOf(const HttpRequest& request, const RequestInfo& info) {
  if (request.method == "GET" || request.method == "HEAD") {
    if (info.name.empty()) {
      return IsTrue(request.Query("watch")) ? "watch" : "list";
    }
    return "get";
  }
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "PATCH") return "patch";
  if (request.method == "DELETE") return info.name.empty() ? "deletecollection" : "delete";
  return host::ToLower(request.method);
}

}  // namespace

RequestInfo ParseRequestInfo(const HttpRequest& request) {
  RequestInfo info;
  info.verb = host::ToLower(request.method);
  std::vector<std::string> parts;
  for (const std::string& part : host::Split(request.path, '/')) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  std::string group;
  std::string version;
  std::size_t at = 0;
  if (parts.size() >= 3 && parts[0] == "api") {
    version = parts[1];
    at = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    group = parts[1];
    version = parts[2];
    at = 3;
  } else {
    return info;
  }
  info.is_resource_path = true;
  // /namespaces/x/<resource> is in a namespace; /namespaces/x is the namespace
  // itself, and so are its subresources.
  if (parts[at] == "namespaces" && parts.size() > at + 2 && parts[at + 2] != "status" &&
      parts[at + 2] != "finalize") {
    info.namespace_name = parts[at + 1];
    at += 2;
  }
  info.resource = FindResource(group, version, parts[at]);
  if (parts.size() > at + 1) {
    info.name = parts[at + 1];
  }
  if (parts.size() > at + 2) {
    info.subresource = parts[at + 2];
  }
  info.verb = VerbOf(request, info);
  return info;
}

}  // namespace otc::kubesim

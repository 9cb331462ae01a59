#include "tests/sim/kube/request_body.h"

#include <vector>

#include "host/base/strings.h"
#include "tests/sim/kube/decode.h"

namespace otc::kubesim {

std::string MediaType(const HttpRequest& request) {
  const std::string header = request.Header("content-type");
  return host::ToLower(host::TrimSpace(host::Split(header, ';')[0]));
}

ApiResult<Json> DecodeBody(const RequestInfo& info, const HttpRequest& request) {
  const std::string type = MediaType(request);
  if (!type.empty() && type != "application/json") {
    return UnsupportedMediaType("application/json");
  }
  std::optional<Json> document = ParseJson(request.body);
  if (!document || !document->is_object()) {
    return BadRequest("the object provided is unrecognized (must be of type " +
                      info.resource->kind + "): couldn't get version/kind; json parse error");
  }
  const std::string api_version = TextAt(*document, {"apiVersion"});
  const std::string kind = TextAt(*document, {"kind"});
  if (!api_version.empty() && api_version != info.resource->GroupVersion()) {
    return BadRequest("the API version in the data (" + api_version +
                      ") does not match the expected API version (" +
                      info.resource->GroupVersion() + ")");
  }
  if (!kind.empty() && kind != info.resource->kind) {
    return BadRequest(kind + " in version \"" + info.resource->version +
                      "\" cannot be handled as a " + info.resource->kind + ": converting (" + kind +
                      ") to (" + info.resource->kind + "): unknown conversion");
  }
  if (auto error = CheckTypes(*info.resource, *document)) {
    return *error;
  }
  if (request.Query("fieldValidation") == "Strict") {
    std::vector<std::string> unknown;
    for (const std::string& path : UnknownFields(*info.resource, *document)) {
      unknown.push_back("unknown field " + host::JsonQuote(path));
    }
    if (!unknown.empty()) {
      return BadRequest(info.resource->kind + " in version \"" + info.resource->version +
                        "\" cannot be handled as a " + info.resource->kind +
                        ": strict decoding error: " + host::Join(unknown, ", "));
    }
  }
  return std::move(*document);
}

std::optional<ApiError> CheckNames(const RequestInfo& info, Json& document) {
  Json& meta = ObjectAt(document, "metadata");
  const std::string name = TextAt(meta, {"name"});
  if (!info.name.empty() && name != info.name) {
    return BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                      info.name + ")");
  }
  const std::string namespace_name = TextAt(meta, {"namespace"});
  if (!namespace_name.empty() && namespace_name != info.namespace_name) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on "
        "the request");
  }
  if (info.resource->namespaced) {
    meta["namespace"] = info.namespace_name;
  }
  return std::nullopt;
}

}  // namespace otc::kubesim

#include "tests/sim/kube/delete_options.h"

#include "host/base/strings.h"

namespace otc::kubesim {

ApiResult<DeleteOptions> ParseDeleteOptions(const HttpRequest& request) {
  DeleteOptions options;
  options.dry_run = request.Query("dryRun") == "All";
  if (host::TrimSpace(request.body).empty()) {
    return options;
  }
  const std::string type = request.Header("content-type");
  if (!type.empty() && type.rfind("application/json", 0) != 0) {
    return UnsupportedMediaType("application/json");
  }
  const std::optional<Json> body = ParseJson(request.body);
  if (!body || !body->is_object()) {
    return BadRequest("the DeleteOptions in the body are not a JSON object");
  }
  const std::string kind = TextAt(*body, {"kind"});
  if (!kind.empty() && kind != "DeleteOptions") {
    return BadRequest(kind + " in the body where DeleteOptions is expected");
  }
  options.uid = TextAt(*body, {"preconditions", "uid"});
  options.resource_version = TextAt(*body, {"preconditions", "resourceVersion"});
  if (const Json* dry_run = Find(*body, {"dryRun"}); dry_run != nullptr && !dry_run->empty()) {
    options.dry_run = true;
  }
  return options;
}

std::string FailedPrecondition(const DeleteOptions& options, const std::string& uid,
                               const std::string& version) {
  if (!options.uid.empty() && options.uid != uid) {
    return "the UID in the precondition (" + options.uid + ") does not match the UID in record (" +
           uid + "). The object might have been deleted and then recreated";
  }
  if (!options.resource_version.empty() && options.resource_version != version) {
    return "the ResourceVersion in the precondition (" + options.resource_version +
           ") does not match the ResourceVersion in record (" + version +
           "). The object might have been modified";
  }
  return "";
}

Json DeletedStatus(const ResourceInfo& resource, const std::string& name, const std::string& uid) {
  Json status = {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Success"},
                 {"details", {{"name", name}, {"kind", resource.plural}, {"uid", uid}}}};
  if (!resource.group.empty()) {
    status["details"]["group"] = resource.group;
  }
  return status;
}

}  // namespace otc::kubesim

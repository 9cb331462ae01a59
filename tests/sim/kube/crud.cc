#include "tests/sim/kube/crud.h"

#include "host/base/strings.h"
#include "tests/sim/kube/decode.h"
#include "tests/sim/kube/delete_options.h"
#include "tests/sim/kube/request_body.h"
#include "tests/sim/kube/strategic_patch.h"
#include "tests/sim/kube/validation.h"

namespace otc::kubesim {
namespace {

constexpr int kMaxAttempts = 100;
constexpr char kModified[] =
    "the object has been modified; please apply your changes to the latest version and try again";

bool IsDryRun(const HttpRequest& request) { return request.Query("dryRun") == "All"; }

bool CreatesOnUpdate(const ResourceInfo& resource) {
  return resource.kind == "Lease" || resource.kind == "Event" || resource.kind == "Service";
}

bool NeedsVersionOnUpdate(const ResourceInfo& resource) { return resource.kind == "Lease"; }

// The real server names the resource here where it names the kind elsewhere.
ApiError VersionMissing(const ResourceInfo& resource, const std::string& name) {
  ResourceInfo named = resource;
  named.kind = resource.plural;
  return Invalid(named, name,
                 {{"FieldValueInvalid", "Invalid value: 0: must be specified for an update",
                   "metadata.resourceVersion"}});
}

// Terminating and nothing holds it any more.
bool IsFinished(const Json& document) {
  return Find(document, {"metadata", "deletionTimestamp"}) != nullptr &&
         Find(document, {"metadata", "finalizers"}) == nullptr &&
         Find(document, {"spec", "finalizers"}) == nullptr;
}

Json WithoutManagers(Json document) {
  document["metadata"].erase("managedFields");
  return document;
}

// Applies the patch of the request; the media type says which kind.
ApiResult<Json> ApplyPatch(const RequestInfo& info, const std::string& media_type,
                           const Json& current, const Json& patch) {
  if (media_type == "application/json-patch+json") {
    return JsonPatch(current, patch);
  }
  if (media_type == "application/merge-patch+json") {
    return JsonMergePatch(current, patch);
  }
  return StrategicMergePatch(current, patch, *info.resource->schema);
}

}  // namespace

WriteContext Crud::ContextOf(const RequestInfo& info, const HttpRequest& request) const {
  WriteContext context;
  context.now = host::FormatRfc3339(clock_.Wall());
  context.field_manager = request.Query("fieldManager");
  if (context.field_manager.empty()) {
    context.field_manager = host::Split(request.Header("user-agent"), '/')[0];
  }
  if (context.field_manager.empty()) {
    context.field_manager = "unknown";
  }
  context.subresource = info.subresource;
  context.not_ready_taint = not_ready_taint_;
  return context;
}

ApiResult<ObjectPtr> Crud::Get(const RequestInfo& info, const HttpRequest& request) const {
  const std::string key = ObjectKey(info.namespace_name, info.name);
  const std::string version = request.Query("resourceVersion");
  if (!version.empty() && version != "0") {
    const auto number = host::ParseUint(version);
    if (!number) {
      return BadRequest("Invalid value: " + host::JsonQuote(version));
    }
    if (*number > store_.CacheVersion(*info.resource)) {
      return TooLargeResourceVersion(*number, store_.CacheVersion(*info.resource));
    }
  }
  ObjectPtr object =
      version.empty() ? store_.Get(*info.resource, key) : store_.GetCached(*info.resource, key);
  if (object == nullptr) {
    return NotFound(*info.resource, info.name);
  }
  return object;
}

std::optional<ApiError> Crud::CheckNamespace(const RequestInfo& info) const {
  if (!info.resource->namespaced) {
    return std::nullopt;
  }
  const ResourceInfo& namespaces = *FindResource("", "v1", "namespaces");
  const ObjectPtr found = store_.Get(namespaces, info.namespace_name);
  if (found == nullptr) {
    return NotFound(namespaces, info.namespace_name);
  }
  if (Find(found->Document(), {"metadata", "deletionTimestamp"}) != nullptr) {
    return Forbidden(*info.resource, info.name,
                     "unable to create new content in namespace " + info.namespace_name +
                         " because it is being terminated");
  }
  return std::nullopt;
}

ApiResult<WriteResult> Crud::Create(const RequestInfo& info, const HttpRequest& request) {
  ApiResult<Json> document = DecodeBody(info, request);
  if (!document.ok()) {
    return document.error();
  }
  if (info.resource->namespaced && info.namespace_name.empty()) {
    return MethodNotAllowed();
  }
  if (auto error = CheckNames(info, document.value())) {
    return *error;
  }
  if (!TextAt(document.value(), {"metadata", "resourceVersion"}).empty()) {
    return PlainError("resourceVersion should not be set on objects to be created");
  }
  return CreateDocument(info, request, std::move(document.value()));
}

ApiResult<WriteResult> Crud::CreateDocument(const RequestInfo& info, const HttpRequest& request,
                                            Json document) {
  if (auto error = CheckNamespace(info)) {
    return *error;
  }
  const WriteContext context = ContextOf(info, request);
  PrepareCreate(*info.resource, context, document);
  const std::string name = TextAt(document, {"metadata", "name"});
  const std::vector<Cause> causes = ValidateCreate(*info.resource, document);
  if (!causes.empty()) {
    return Invalid(*info.resource, name, causes);
  }
  TrackManager(*info.resource, context, document);
  const std::string key = ObjectKey(info.namespace_name, name);
  if (IsDryRun(request)) {
    if (store_.Get(*info.resource, key) != nullptr) {
      return AlreadyExists(*info.resource, name);
    }
    return WriteResult{std::make_shared<StoredObject>(*info.resource, document, 0), {}, 201};
  }
  ObjectPtr object = store_.Commit(*info.resource, key, nullptr, std::move(document));
  if (object == nullptr) {
    return AlreadyExists(*info.resource, name);
  }
  return WriteResult{object, {}, 201};
}

std::optional<ApiResult<WriteResult>> Crud::TryModify(const RequestInfo& info,
                                                      const WriteContext& context, bool dry_run,
                                                      const ObjectPtr& current,
                                                      const Change& change) {
  const ResourceInfo& resource = *info.resource;
  const Json old_document = current->Document();
  ApiResult<Json> changed = change(old_document);
  if (!changed.ok()) {
    return ApiResult<WriteResult>(changed.error());
  }
  Json document = std::move(changed.value());
  const std::string version = TextAt(document, {"metadata", "resourceVersion"});
  if (!version.empty() && version != std::to_string(current->version())) {
    return ApiResult<WriteResult>(Conflict(resource, info.name, kModified));
  }
  if (version.empty() && NeedsVersionOnUpdate(resource)) {
    return ApiResult<WriteResult>(VersionMissing(resource, info.name));
  }
  document["metadata"]["resourceVersion"] = std::to_string(current->version());
  PrepareUpdate(resource, context, old_document, document);
  const std::vector<Cause> causes = ValidateUpdate(resource, old_document, document);
  if (!causes.empty()) {
    return ApiResult<WriteResult>(Invalid(resource, info.name, causes));
  }
  if (WithoutManagers(document) == WithoutManagers(old_document)) {
    return ApiResult<WriteResult>(WriteResult{current, {}, 200});  // no new version
  }
  TrackManager(resource, context, document);
  if (dry_run) {
    return ApiResult<WriteResult>(WriteResult{
        std::make_shared<StoredObject>(resource, document, current->version()), {}, 200});
  }
  const std::string key = ObjectKey(info.namespace_name, info.name);
  if (IsFinished(document)) {
    if (!store_.Remove(resource, key, current)) {
      return std::nullopt;
    }
    return ApiResult<WriteResult>(WriteResult{
        std::make_shared<StoredObject>(resource, document, current->version()), {}, 200});
  }
  ObjectPtr object = store_.Commit(resource, key, current, std::move(document));
  if (object == nullptr) {
    return std::nullopt;
  }
  return ApiResult<WriteResult>(WriteResult{object, {}, 200});
}

ApiResult<WriteResult> Crud::Modify(const RequestInfo& info, const HttpRequest& request,
                                    const Change& change) {
  const WriteContext context = ContextOf(info, request);
  const std::string key = ObjectKey(info.namespace_name, info.name);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const ObjectPtr current = store_.Get(*info.resource, key);
    if (current == nullptr) {
      return NotFound(*info.resource, info.name);
    }
    if (auto result = TryModify(info, context, IsDryRun(request), current, change)) {
      return std::move(*result);
    }
  }
  return Conflict(*info.resource, info.name, kModified);
}

ApiResult<WriteResult> Crud::Update(const RequestInfo& info, const HttpRequest& request) {
  ApiResult<Json> document = DecodeBody(info, request);
  if (!document.ok()) {
    return document.error();
  }
  if (auto error = CheckNames(info, document.value())) {
    return *error;
  }
  const std::string key = ObjectKey(info.namespace_name, info.name);
  if (CreatesOnUpdate(*info.resource) && info.subresource.empty() &&
      store_.Get(*info.resource, key) == nullptr) {
    if (NeedsVersionOnUpdate(*info.resource) &&
        TextAt(document.value(), {"metadata", "resourceVersion"}).empty()) {
      return VersionMissing(*info.resource, info.name);
    }
    return CreateDocument(info, request, std::move(document.value()));
  }
  return Modify(info, request, [&](const Json& current) -> ApiResult<Json> {
    const std::string uid = TextAt(current, {"metadata", "uid"});
    const std::string sent_uid = TextAt(document.value(), {"metadata", "uid"});
    if (!sent_uid.empty() && sent_uid != uid) {
      return Conflict(
          *info.resource, info.name,
          "Precondition failed: UID in precondition: " + sent_uid + ", UID in object meta: " + uid);
    }
    return document.value();
  });
}

ApiResult<WriteResult> Crud::Patch(const RequestInfo& info, const HttpRequest& request) {
  const std::string type = MediaType(request);
  if (type != "application/json-patch+json" && type != "application/merge-patch+json" &&
      type != "application/strategic-merge-patch+json") {
    return UnsupportedMediaType(
        "application/json-patch+json, application/merge-patch+json, "
        "application/strategic-merge-patch+json");
  }
  const std::optional<Json> patch = ParseJson(request.body);
  if (!patch) {
    return BadRequest("error decoding patch: the body is not JSON");
  }
  if (type != "application/json-patch+json" && !patch->is_object()) {
    return BadRequest(
        "error decoding patch: json: cannot unmarshal array into Go value of type "
        "map[string]interface {}");
  }
  return Modify(info, request, [&](const Json& current) -> ApiResult<Json> {
    ApiResult<Json> changed = ApplyPatch(info, type, current, *patch);
    if (!changed.ok()) {
      return changed;
    }
    if (auto why = WhyUnreadable(*info.resource, changed.value())) {
      return InvalidPatch(DumpJson(*patch), *why);
    }
    if (TextAt(changed.value(), {"kind"}) != info.resource->kind ||
        TextAt(changed.value(), {"apiVersion"}) != info.resource->GroupVersion()) {
      return InvalidPatch(DumpJson(*patch), "kind and apiVersion cannot be changed");
    }
    if (auto error = CheckNames(info, changed.value())) {
      return *error;
    }
    return changed;
  });
}

ApiResult<WriteResult> Crud::Delete(const RequestInfo& info, const HttpRequest& request) {
  const ResourceInfo& resource = *info.resource;
  ApiResult<DeleteOptions> options = ParseDeleteOptions(request);
  if (!options.ok()) {
    return options.error();
  }
  const std::string key = ObjectKey(info.namespace_name, info.name);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const ObjectPtr current = store_.Get(resource, key);
    if (current == nullptr) {
      return NotFound(resource, info.name);
    }
    const std::string failed =
        FailedPrecondition(options.value(), current->uid(), std::to_string(current->version()));
    if (!failed.empty()) {
      ResourceInfo named = resource;
      named.plural = resource.kind;  // as the real server names it in this place
      return Conflict(named, info.name, failed);
    }
    Json document = current->Document();
    const bool held = Find(document, {"metadata", "finalizers"}) != nullptr ||
                      Find(document, {"spec", "finalizers"}) != nullptr;
    if (!held) {
      if (options.value().dry_run || store_.Remove(resource, key, current)) {
        return WriteResult{nullptr, DeletedStatus(resource, info.name, current->uid()), 200};
      }
      continue;
    }
    if (Find(document, {"metadata", "deletionTimestamp"}) != nullptr || options.value().dry_run) {
      return WriteResult{current, {}, 200};
    }
    document["metadata"]["deletionTimestamp"] = host::FormatRfc3339(clock_.Wall());
    document["metadata"]["deletionGracePeriodSeconds"] = 0;
    if (resource.kind == "Namespace") {
      ObjectAt(document, "status")["phase"] = "Terminating";
    }
    if (ObjectPtr object = store_.Commit(resource, key, current, std::move(document))) {
      return WriteResult{object, {}, 200};
    }
  }
  return Conflict(resource, info.name, kModified);
}

Status Crud::Seed(const ResourceInfo& resource, Json document) {
  if (!document.is_object()) {
    return Status(Code::kInvalidArgument, "NotAnObject", "a JSON object is needed");
  }
  const std::string name = TextAt(document, {"metadata", "name"});
  if (name.empty()) {
    return Status(Code::kInvalidArgument, "NoName", "metadata.name is missing");
  }
  if (auto error = CheckTypes(resource, document)) {
    return Status(Code::kInvalidArgument, error->reason, error->message);
  }
  document["apiVersion"] = resource.GroupVersion();
  document["kind"] = resource.kind;
  Json& meta = document["metadata"];
  if (TextAt(meta, {"uid"}).empty()) {
    meta["uid"] = host::RandomUuid();
  }
  if (TextAt(meta, {"creationTimestamp"}).empty()) {
    meta["creationTimestamp"] = host::FormatRfc3339(clock_.Wall());
  }
  DropEmpties(meta);
  FillMessages(*resource.schema, document);
  const std::string key = ObjectKey(TextAt(meta, {"namespace"}), name);
  const ObjectPtr current = store_.Get(resource, key);
  if (store_.Commit(resource, key, current, std::move(document)) == nullptr) {
    return Status(Code::kAborted, "Conflict", key + " changed at the same moment");
  }
  return Status::Ok();
}

}  // namespace otc::kubesim

#include "host/kube/testing/fake_kube_api.h"

#include <Poco/Exception.h>
#include <Poco/JSON/Array.h>

#include <set>
#include <utility>

#include "host/base/strings.h"
#include "host/kube/api_status.h"
#include "host/kube/json_codec.h"
#include "host/kube/testing/node_json.h"

namespace otc::host::kube {
namespace {

using Poco::JSON::Array;
using Poco::JSON::Object;

Status ApiError(int code, const std::string& reason, const std::string& message) {
  ApiStatus status;
  status.code = code;
  status.reason = reason;
  status.message = message;
  return StatusFromApi(code, status, 0, "fake");
}

Status NotFound(const std::string& what) { return ApiError(404, "NotFound", what + " not found"); }

Status Conflict(const std::string& what) {
  return ApiError(409, "Conflict", what + ": the object has been modified");
}

std::string TextAt(const Object::Ptr& object, const char* parent, const char* key) {
  const Object::Ptr inner = object->getObject(parent);
  return inner.isNull() ? "" : inner->optValue<std::string>(key, "");
}

// What the server's validation refuses of a changed node.
Status Validate(const Object::Ptr& before, const Object::Ptr& after) {
  const std::string old_id = TextAt(before, "spec", "providerID");
  if (!old_id.empty() && TextAt(after, "spec", "providerID") != old_id) {
    return ApiError(422, "Invalid", "spec.providerID: Forbidden: may not be changed");
  }
  const Object::Ptr status = after->getObject("status");
  const Array::Ptr addresses = status.isNull() ? Array::Ptr() : status->getArray("addresses");
  std::set<std::string> seen;
  for (unsigned i = 0; !addresses.isNull() && i < addresses->size(); ++i) {
    const Object::Ptr address = addresses->getObject(i);
    const std::string key = address->optValue<std::string>("type", "") + "/" +
                            address->optValue<std::string>("address", "");
    if (!seen.insert(key).second) {
      return ApiError(422, "Invalid", "status.addresses: Duplicate value: " + key);
    }
  }
  return Status::Ok();
}

void TakeOver(Object::Ptr target, const char* key, const Object::Ptr& source) {
  if (source->has(key)) {
    target->set(key, source->get(key));
  } else {
    target->remove(key);
  }
}

Node ToNode(const Object::Ptr& object) { return NodeFromJson(ToJson(object)).value(); }

}  // namespace

struct FakeKubeApi::State {
  std::map<std::string, Object::Ptr> nodes;
};

FakeKubeApi::FakeKubeApi() : state_(std::make_unique<State>()) {}
FakeKubeApi::~FakeKubeApi() = default;

Node FakeKubeApi::PutNode(const Node& node) { return PutNodeJson(NodeToJson(node)); }

Node FakeKubeApi::PutNodeJson(const std::string& json) {
  std::lock_guard order(order_);
  return Store(json);
}

Node FakeKubeApi::Store(const std::string& json) {
  Object::Ptr object = ParseObject(json);
  Node node;
  FakeNodeLister* mirror = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (object->getObject("metadata").isNull()) object->set("metadata", Object::Ptr(new Object));
    Object::Ptr meta = object->getObject("metadata");
    if (meta->optValue<std::string>("uid", "").empty()) meta->set("uid", RandomUuid());
    meta->set("resourceVersion", std::to_string(++next_version_));
    node = ToNode(object);
    state_->nodes[node.meta.name] = object;
    mirror = mirror_;
  }
  if (mirror != nullptr) mirror->Set(node);
  return node;
}

void FakeKubeApi::ChangeNode(const std::string& name, const std::string& merge_patch) {
  std::lock_guard order(order_);
  const std::string json = NodeJson(name);
  if (json.empty()) return;
  Object::Ptr object = ParseObject(json);
  ApplyMergePatch(object, ParseObject(merge_patch));
  Store(ToJson(object));
}

void FakeKubeApi::RemoveNode(const std::string& name) {
  std::lock_guard order(order_);
  (void)Remove(name, {});
}

void FakeKubeApi::RemoveLease(const std::string& namespace_name, const std::string& name) {
  std::lock_guard lock(mutex_);
  leases_.erase(namespace_name + "/" + name);
}

Status FakeKubeApi::Remove(const std::string& name, const DeletePreconditions& preconditions) {
  FakeNodeLister* mirror = nullptr;
  {
    std::lock_guard lock(mutex_);
    const auto it = state_->nodes.find(name);
    if (it == state_->nodes.end()) return NotFound("nodes \"" + name + "\"");
    const Object::Ptr meta = it->second->getObject("metadata");
    if (!preconditions.uid.empty() && meta->optValue<std::string>("uid", "") != preconditions.uid) {
      return Conflict("nodes \"" + name + "\"");
    }
    if (!preconditions.resource_version.empty() &&
        meta->optValue<std::string>("resourceVersion", "") != preconditions.resource_version) {
      return Conflict("nodes \"" + name + "\"");
    }
    state_->nodes.erase(it);
    ++next_version_;
    mirror = mirror_;
  }
  if (mirror != nullptr) mirror->Delete(name);
  return Status::Ok();
}

std::string FakeKubeApi::NodeJson(const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto it = state_->nodes.find(name);
  return it == state_->nodes.end() ? "" : ToJson(it->second);
}

void FakeKubeApi::MirrorTo(FakeNodeLister* lister) {
  std::lock_guard order(order_);
  std::vector<Node> present;
  {
    std::lock_guard lock(mutex_);
    mirror_ = lister;
    for (const auto& [name, object] : state_->nodes) present.push_back(ToNode(object));
  }
  if (lister == nullptr) return;
  for (Node& node : present) lister->Set(std::move(node));
}

void FakeKubeApi::FailNext(const std::string& method, Status status, int times) {
  std::lock_guard lock(mutex_);
  failures_[method].push_back({std::move(status), times, false});
}

void FakeKubeApi::LoseReplies(const std::string& method, Status status, int times) {
  std::lock_guard lock(mutex_);
  failures_[method].push_back({std::move(status), times, true});
}

void FakeKubeApi::OnCall(std::function<void(const RecordedCall&)> hook) {
  std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

void FakeKubeApi::AnswerCalls(std::function<Result<RawResponse>(const RawRequest&)> answer) {
  std::lock_guard lock(mutex_);
  answer_ = std::move(answer);
}

std::vector<RecordedCall> FakeKubeApi::Calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}

std::vector<RecordedCall> FakeKubeApi::Calls(const std::string& method) const {
  std::lock_guard lock(mutex_);
  std::vector<RecordedCall> matching;
  for (const RecordedCall& call : calls_) {
    if (call.method == method) matching.push_back(call);
  }
  return matching;
}

void FakeKubeApi::ClearCalls() {
  std::lock_guard lock(mutex_);
  calls_.clear();
}

Status FakeKubeApi::Begin(const RecordedCall& call, const CallContext& context) {
  std::function<void(const RecordedCall&)> hook;
  {
    std::lock_guard lock(mutex_);
    calls_.push_back(call);
    hook = hook_;
  }
  if (hook) hook(call);
  OTC_RETURN_IF_ERROR(context.Check());
  return TakeFailure(call.method, false);
}

Status FakeKubeApi::TakeFailure(const std::string& method, bool after_commit) {
  std::lock_guard lock(mutex_);
  auto& queue = failures_[method];
  if (queue.empty() || queue.front().after_commit != after_commit) return Status::Ok();
  const Status status = queue.front().status;
  if (--queue.front().times <= 0) queue.pop_front();
  return status;
}

template <typename T>
T FakeKubeApi::Finish(const std::string& method, T outcome) {
  const Status lost = TakeFailure(method, true);
  if (!lost.ok()) return lost;
  return outcome;
}

Result<Node> FakeKubeApi::GetNode(const std::string& name, const std::string& resource_version,
                                  const CallContext& context) {
  RecordedCall call;
  call.method = "GetNode";
  call.name = name;
  call.resource_version = resource_version;
  OTC_RETURN_IF_ERROR(Begin(call, context));
  std::lock_guard lock(mutex_);
  const auto it = state_->nodes.find(name);
  if (it == state_->nodes.end()) return NotFound("nodes \"" + name + "\"");
  return ToNode(it->second);
}

Result<Node> FakeKubeApi::PatchNode(const std::string& name, PatchType type,
                                    const std::string& body, const std::string& subresource,
                                    const CallContext& context) {
  RecordedCall call;
  call.method = "PatchNode";
  call.name = name;
  call.patch_type = type;
  call.subresource = subresource;
  call.body = body;
  OTC_RETURN_IF_ERROR(Begin(call, context));
  std::lock_guard order(order_);
  try {
    return Finish("PatchNode", Patch(name, type, body, subresource));
  } catch (const Poco::Exception& e) {
    return ApiError(400, "BadRequest", "patch: " + e.displayText());
  }
}

Result<Node> FakeKubeApi::Patch(const std::string& name, PatchType type, const std::string& body,
                                const std::string& subresource) {
  const std::string stored = NodeJson(name);
  if (stored.empty()) return NotFound("nodes \"" + name + "\"");
  const Object::Ptr before = ParseObject(stored);
  Object::Ptr after = DeepCopy(before);
  const Object::Ptr patch = ParseObject(body);
  for (const char* key : {"resourceVersion", "uid"}) {
    const std::string wanted = TextAt(patch, "metadata", key);
    if (!wanted.empty() && wanted != TextAt(before, "metadata", key)) {
      return Conflict("nodes \"" + name + "\"");
    }
  }
  switch (type) {
    case PatchType::kMerge:
      ApplyMergePatch(after, patch);
      break;
    case PatchType::kStrategicMerge:
      ApplyStrategicPatch(after, patch);
      break;
    case PatchType::kJson:
      return ApiError(415, "UnsupportedMediaType", "JSON patch is not supported by this fake");
  }
  // The main resource leaves the status alone, the subresource everything but
  // status and metadata.
  TakeOver(after, subresource == "status" ? "spec" : "status", before);
  OTC_RETURN_IF_ERROR(Validate(before, after));
  if (ToJson(after) == ToJson(before)) return ToNode(after);  // no change, no new version
  return Store(ToJson(after));
}

Status FakeKubeApi::DeleteNode(const std::string& name, const DeletePreconditions& preconditions,
                               const CallContext& context) {
  RecordedCall call;
  call.method = "DeleteNode";
  call.name = name;
  call.preconditions = preconditions;
  OTC_RETURN_IF_ERROR(Begin(call, context));
  std::lock_guard order(order_);
  return Finish("DeleteNode", Remove(name, preconditions));
}

Result<Lease> FakeKubeApi::GetLease(const std::string& namespace_name, const std::string& name,
                                    const CallContext& context) {
  RecordedCall call;
  call.method = "GetLease";
  call.name = namespace_name + "/" + name;
  OTC_RETURN_IF_ERROR(Begin(call, context));
  std::lock_guard lock(mutex_);
  const auto it = leases_.find(call.name);
  if (it == leases_.end()) return NotFound("leases \"" + name + "\"");
  return it->second;
}

Result<Lease> FakeKubeApi::CreateLease(const Lease& lease, const CallContext& context) {
  RecordedCall call;
  call.method = "CreateLease";
  call.name = lease.meta.namespace_ + "/" + lease.meta.name;
  call.body = LeaseToJson(lease);
  OTC_RETURN_IF_ERROR(Begin(call, context));
  Result<Lease> outcome = [&]() -> Result<Lease> {
    std::lock_guard lock(mutex_);
    if (leases_.count(call.name) != 0) {
      return ApiError(409, "AlreadyExists", "leases \"" + lease.meta.name + "\" already exists");
    }
    Lease stored = lease;
    stored.meta.uid = RandomUuid();
    stored.meta.resource_version = std::to_string(++next_version_);
    leases_[call.name] = stored;
    return stored;
  }();
  return Finish("CreateLease", std::move(outcome));
}

Result<Lease> FakeKubeApi::UpdateLease(const Lease& lease, const CallContext& context) {
  RecordedCall call;
  call.method = "UpdateLease";
  call.name = lease.meta.namespace_ + "/" + lease.meta.name;
  call.resource_version = lease.meta.resource_version;
  call.body = LeaseToJson(lease);
  OTC_RETURN_IF_ERROR(Begin(call, context));
  Result<Lease> outcome = [&]() -> Result<Lease> {
    std::lock_guard lock(mutex_);
    const auto it = leases_.find(call.name);
    if (it == leases_.end()) return NotFound("leases \"" + lease.meta.name + "\"");
    if (it->second.meta.resource_version != lease.meta.resource_version) {
      return Conflict("leases \"" + lease.meta.name + "\"");
    }
    Lease stored = lease;
    stored.meta.uid = it->second.meta.uid;
    stored.meta.resource_version = std::to_string(++next_version_);
    it->second = stored;
    return stored;
  }();
  return Finish("UpdateLease", std::move(outcome));
}

Result<RawResponse> FakeKubeApi::Call(const RawRequest& request, const CallContext& context) {
  RecordedCall call;
  call.method = "Call";
  call.name = request.path;
  call.body = request.body;
  OTC_RETURN_IF_ERROR(Begin(call, context));
  std::function<Result<RawResponse>(const RawRequest&)> answer;
  {
    std::lock_guard lock(mutex_);
    answer = answer_;
  }
  if (!answer) {
    return Status(Code::kUnimplemented, "NoAnswer", "the test gave no answer for raw calls");
  }
  return Finish("Call", answer(request));
}

}  // namespace otc::host::kube

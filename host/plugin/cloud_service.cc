// otc.host.cloud/1: judges a plugin's batch and hands it to the transport.
#include <algorithm>

#include "host/base/strings.h"
#include "host/plugin/call.h"
#include "host/plugin/service_hub.h"

namespace otc::host::plugin_host {
namespace {

using plugin::v1::CloudBatch;
using plugin::v1::CloudRequest;
using plugin::v1::CloudResponse;

constexpr int kMaxRequests = 1024;
constexpr std::uint32_t kMaxParallel = 8;
constexpr char kMetadata[] = "metadata";

bool IsOneOf(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; });
}

bool IsRead(const CloudRequest& request) { return request.effect() == plugin::v1::EFFECT_READ; }

bool HasControlCharacter(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

Status Malformed(const std::string& what) {
  return Status(Code::kInvalidArgument, "MalformedBatch", what);
}

Status CheckRequest(const CloudRequest& request, const Call& call) {
  const ServiceDeps& deps = call.hub()->deps();
  const auto& allowed = deps.manifest->cloud;
  if (std::find(allowed.begin(), allowed.end(), request.service()) == allowed.end()) {
    return Status(Code::kPermissionDenied, "ServiceNotNamed",
                  "service " + JsonQuote(request.service()) + " is not in cloud= of the manifest");
  }
  if (!IsOneOf(request.method(), {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})) {
    return Malformed("method " + JsonQuote(request.method()));
  }
  if (IsRead(request) && IsOneOf(request.method(), {"PUT", "PATCH", "DELETE"})) {
    return Malformed(request.method() + " cannot be a READ");
  }
  if (request.path().empty() || request.path()[0] != '/' || HasControlCharacter(request.path())) {
    return Malformed("path " + JsonQuote(request.path()));
  }
  for (const auto& [name, value] : request.headers()) {
    if (name.empty() || HasControlCharacter(name) || HasControlCharacter(value)) {
      return Malformed("header " + JsonQuote(name));
    }
  }
  if (deps.role == Role::kCsiNode && (request.service() != kMetadata || !IsRead(request))) {
    return Status(Code::kPermissionDenied, "NoCredentials",
                  "role csi-node has no credentials; only reads of service metadata are served");
  }
  return Status::Ok();
}

// Writes where none may be: a bug of the plugin.
Status CheckEffect(const CloudRequest& request, Call* call) {
  if (IsRead(request)) return Status::Ok();
  const CallOptions& options = call->options();
  if (options.dry_run) {
    call->NoteBug(kDryRunWrite);
    return Status(Code::kFailedPrecondition, kDryRunWrite, "a write in a dry run");
  }
  if (!options.writes_allowed) {
    call->NoteBug("WriteInReadOnlySlot");
    return Status(Code::kFailedPrecondition, "WriteInReadOnlySlot",
                  "slot " + options.slot + " must not write");
  }
  return Status::Ok();
}

Status CheckBatch(const CloudBatch& batch, Call* call) {
  if (batch.requests_size() > kMaxRequests) return Malformed("more than 1024 requests");
  if (batch.max_parallel() > kMaxParallel) return Malformed("max_parallel above 8");
  for (const CloudRequest& request : batch.requests()) {
    OTC_RETURN_IF_ERROR(CheckRequest(request, *call));
  }
  for (const CloudRequest& request : batch.requests()) {
    OTC_RETURN_IF_ERROR(CheckEffect(request, call));
  }
  return Status::Ok();
}

Status CheckPlace(const Call& call) {
  if (call.hub()->abandoned()) {
    return Status(Code::kCancelled, kQuiescing, "the instance was given up");
  }
  if (InSink::Active()) {
    return Status(Code::kFailedPrecondition, "CallInSink", "exchange inside sink.put");
  }
  if (!call.options().cloud_allowed) {
    return Status(Code::kFailedPrecondition, "CloudInCreate",
                  "slot " + call.options().slot + " must not use the cloud");
  }
  return Status::Ok();
}

void Put(const CloudResponse& response, const otc_sink& sink) {
  const std::string bytes = response.SerializeAsString();
  const InSink inside;
  sink.put(sink.ctx, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

Status Exchange(Call* call, otc_bytes bytes, const otc_sink& sink) {
  const Status place = CheckPlace(*call);
  if (!place.ok()) {
    if (place.code() == Code::kFailedPrecondition) call->NoteBug(place.reason());
    return place;
  }
  CloudBatch batch;
  if (sink.put == nullptr || (bytes.len > 0 && bytes.ptr == nullptr) ||
      bytes.len > kMaxRecordBytes ||
      !batch.ParseFromArray(bytes.ptr, static_cast<int>(bytes.len))) {
    return Malformed("the batch is no CloudBatch");
  }
  OTC_RETURN_IF_ERROR(CheckBatch(batch, call));
  OTC_RETURN_IF_ERROR(call->context().Check());
  const ServiceDeps& deps = call->hub()->deps();
  const cloud::Caller caller{call->hub()->plugin_id(), call->options().leader_only};
  return deps.exchange->Exchange(caller, batch, call->context(),
                                 [&sink](const CloudResponse& response) { Put(response, sink); });
}

std::int32_t ExchangeSlot(const otc_call* abi, otc_bytes bytes, otc_sink sink) {
  Call* call = Call::From(abi);
  const Status status = Exchange(call, bytes, sink);
  if (!status.ok() && !call->hub()->abandoned()) {
    // The plugin only sees the code; its author needs the rest.
    const std::string text = "exchange refused: " + status.ToString();
    call->hub()->deps().log->Write(OTC_LOG_DEBUG, {text.data(), text.size()}, nullptr, 0,
                                   call->context().request_id, call->options().subject);
  }
  return static_cast<std::int32_t>(status.code());
}

constexpr otc_host_cloud_1 kTable = {sizeof(otc_host_cloud_1), 0, ExchangeSlot};

}  // namespace

const otc_host_cloud_1* CloudServiceTable() { return &kTable; }

}  // namespace otc::host::plugin_host

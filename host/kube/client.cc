#include "host/kube/client.h"

#include <algorithm>
#include <utility>

#include "host/base/strings.h"
#include "host/http/url.h"
#include "host/kube/json_codec.h"
#include "host/kube/proto_codec.h"

namespace otc::host::kube {
namespace {

constexpr int kMaxRetries = 10;
constexpr Duration kTransportRetry = std::chrono::seconds(1);
constexpr std::size_t kMaxErrorBody = 64u << 10;
constexpr char kAcceptBoth[] = "application/vnd.kubernetes.protobuf,application/json";

const char* MediaType(PatchType type) {
  switch (type) {
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
    case PatchType::kJson:
      return "application/json-patch+json";
  }
  return "";
}

bool IsRead(const std::string& method) { return method == "GET" || method == "HEAD"; }

std::uint64_t RetryAfterMs(const http::Response& response) {
  return ParseUint(TrimSpace(response.Find("retry-after"))).value_or(0) * 1000;
}

bool MayRetry(const http::Response& response) {
  const bool overloaded =
      response.status == 429 || (response.status >= 500 && response.status < 600);
  return overloaded && ParseUint(TrimSpace(response.Find("retry-after"))).has_value();
}

// Bodies are never compressed, since nothing here asks for it.
Status CheckPlain(const http::Response& response) {
  const std::string_view encoding = TrimSpace(response.Find("content-encoding"));
  if (encoding.empty() || EqualsIgnoreCase(encoding, "identity")) return Status::Ok();
  return Status(Code::kUnavailable, "UnexpectedEncoding",
                "the answer has the content encoding \"" +
                    ReplaceInvalidUtf8(encoding.substr(0, 40)) + "\" although none was asked for");
}

ApiStatus ReadApiStatus(const http::Response& response) {
  ApiStatus status;
  const Result<Encoding> encoding = EncodingOf(response.Find("content-type"));
  if (encoding.ok() && encoding.value() == Encoding::kProtobuf) {
    const Result<Envelope> envelope = OpenEnvelope(response.body);
    if (envelope.ok() && envelope->kind == "Status") {
      const Result<ApiStatus> read = ApiStatusFromProto(envelope->raw);
      if (read.ok()) status = read.value();
    }
  } else if (encoding.ok()) {
    if (auto read = ApiStatusFromJson(response.body)) status = std::move(*read);
  }
  status.code = response.status;
  return status;
}

// An answer that came, but cannot be understood, is like none: try again later.
Status Unreadable(const Status& why, const std::string& what) {
  return Status(Code::kUnavailable, why.reason(), what + ": " + why.message());
}

Result<Node> NodeFrom(const RawResponse& response) {
  const Result<Encoding> encoding = EncodingOf(response.content_type);
  if (!encoding.ok()) return encoding.status();
  if (encoding.value() == Encoding::kJson) return NodeFromJson(response.body);
  const Result<Envelope> envelope = OpenEnvelope(response.body);
  if (!envelope.ok()) return envelope.status();
  if (envelope->kind != "Node") {
    return Status(Code::kInvalidArgument, "UnexpectedKind",
                  "expected a Node, got \"" + ReplaceInvalidUtf8(envelope->kind) + "\"");
  }
  return NodeProtoDecoder().Decode(envelope->raw);
}

std::string What(const RawRequest& request) { return request.method + " " + request.path; }

std::string LeasePath(const std::string& namespace_name, const std::string& name) {
  std::vector<std::string> segments = {"apis",       "coordination.k8s.io", "v1",
                                       "namespaces", namespace_name,        "leases"};
  if (!name.empty()) segments.push_back(name);
  return http::JoinPath(segments);
}

// Hands the body on, or keeps it if it explains a refusal.
class StreamAdapter final : public http::StreamHandler {
 public:
  explicit StreamAdapter(StreamConsumer& consumer) : consumer_(consumer) {}

  bool OnHead(const http::Response& head) override {
    head_ = head;
    if (head.status < 200 || head.status > 299) return true;
    failure_ = CheckPlain(head);
    if (!failure_.ok()) return false;
    const Result<Encoding> encoding = EncodingOf(head.Find("content-type"));
    failure_ = encoding.status();
    if (!encoding.ok()) return false;
    started_ = true;
    failure_ = consumer_.OnStart(encoding.value());
    return failure_.ok();
  }

  bool OnBody(std::string_view data) override {
    bytes_ += data.size();
    if (!started_) {
      head_.body.append(data.substr(0, kMaxErrorBody - std::min(kMaxErrorBody, head_.body.size())));
      return head_.body.size() < kMaxErrorBody;
    }
    failure_ = consumer_.OnData(data);
    return failure_.ok();
  }

  const http::Response& head() const { return head_; }
  bool started() const { return started_; }
  const Status& failure() const { return failure_; }
  std::size_t bytes() const { return bytes_; }

 private:
  StreamConsumer& consumer_;
  http::Response head_;
  bool started_ = false;
  std::size_t bytes_ = 0;
  Status failure_;
};

// A call's cancellation that also ends when the lane's certificate was replaced.
class StreamCancellation {
 public:
  StreamCancellation(std::shared_ptr<Cancellation> caller, std::shared_ptr<Cancellation> replaced)
      : both_(Cancellation::Create(std::move(caller))), replaced_(std::move(replaced)) {
    std::weak_ptr<Cancellation> weak = both_;
    registration_ = replaced_->OnCancel([weak] {
      if (auto both = weak.lock()) {
        both->Cancel("CredentialsChanged", "the client certificate was replaced");
      }
    });
  }
  ~StreamCancellation() { replaced_->Remove(registration_); }
  StreamCancellation(const StreamCancellation&) = delete;
  StreamCancellation& operator=(const StreamCancellation&) = delete;

  const std::shared_ptr<Cancellation>& get() const { return both_; }

 private:
  std::shared_ptr<Cancellation> both_;
  std::shared_ptr<Cancellation> replaced_;
  std::uint64_t registration_ = 0;
};

// The connection broke under the call, which a new one may cure at once. That
// nobody listens, or the wrong one, is for the caller to know.
bool WasCutOff(const Status& status) {
  return status.code() == Code::kUnavailable && status.reason() != "ConnectFailed" &&
         status.reason() != "DnsFailed" && status.reason() != "TlsFailed";
}

// Errors of the connection in the terms of api.h: kUnavailable, unless the call's
// own deadline, cancellation or content ended it.
Status TransportError(const Status& error, const std::string& what) {
  switch (error.code()) {
    case Code::kDeadlineExceeded:
    case Code::kCancelled:
    case Code::kInvalidArgument:
      return error.WithPrefix(what + ": ");
    default:
      return Status(Code::kUnavailable, error.reason(), what + ": " + error.message());
  }
}

}  // namespace

Result<std::unique_ptr<KubeClient>> KubeClient::Create(KubeClientOptions options, WriteGate& gate,
                                                       Clock& clock, Log& log, Metrics& metrics) {
  std::unique_ptr<KubeClient> client(new KubeClient(std::move(options), gate, clock, log, metrics));
  for (ApiLane* lane : {&client->normal_, &client->leases_, &client->events_}) {
    const auto use = lane->connection.Get();
    if (!use.ok()) return use.status();
  }
  const Result<std::string> authorization = client->tokens_.Authorization();
  if (!authorization.ok()) return authorization.status();
  return client;
}

KubeClient::KubeClient(KubeClientOptions options, WriteGate& gate, Clock& clock, Log& log,
                       Metrics& metrics)
    : options_(std::move(options)),
      gate_(gate),
      clock_(clock),
      log_(log),
      metrics_(metrics, options_.config.server.origin.host + ":" +
                            std::to_string(options_.config.server.origin.port)),
      tokens_(options_.config, clock, log),
      tls_(options_.config),
      normal_(tls_, options_.user_agent, options_.make_http_client, options_.qps, options_.burst,
              clock, log),
      leases_(tls_, options_.user_agent + "/leader-election", options_.make_http_client,
              options_.qps, options_.burst, clock, log),
      events_(tls_, options_.user_agent, options_.make_http_client, options_.qps, options_.burst,
              clock, log) {}

KubeClient::~KubeClient() = default;

ApiLane& KubeClient::LaneFor(Lane lane) {
  if (lane == Lane::kLease) return leases_;
  return lane == Lane::kEvents ? events_ : normal_;
}

Status KubeClient::TakeToken(ApiLane& lane, const std::string& method, const CallContext& context) {
  const Duration wait = lane.bucket.Reserve();
  if (wait > Duration::zero()) OTC_RETURN_IF_ERROR(context.SleepUntil(clock_.Now() + wait));
  metrics_.RateLimited(method, wait);
  return Status::Ok();
}

Result<http::Request> KubeClient::Build(const RawRequest& request) {
  http::Request wire;
  wire.method = request.method;
  wire.origin = options_.config.server.origin;
  wire.target = options_.config.server.prefix + request.path;
  wire.headers = {{"Accept", request.accept}};
  if (!request.content_type.empty()) wire.headers.push_back({"Content-Type", request.content_type});
  Result<std::string> authorization = tokens_.Authorization();
  if (!authorization.ok()) return authorization.status();
  if (!authorization->empty()) {
    wire.headers.push_back({"Authorization", std::move(authorization).value()});
  }
  wire.body = request.body;
  wire.max_response_bytes = kMaxObjectBytes;
  return wire;
}

Result<http::Response> KubeClient::Attempt(const RawRequest& request, const CallContext& context) {
  ApiLane& lane = LaneFor(request.lane);
  OTC_RETURN_IF_ERROR(TakeToken(lane, request.method, context));
  CallContext call = context;
  if (!IsRead(request.method) && request.lane == Lane::kNormal) {
    const Result<MonoTime> until = gate_.Admit();
    if (!until.ok()) return until.status();
    call.deadline = std::min(call.deadline, until.value());
  }
  const Result<LaneConnection::Use> use = lane.connection.Get();
  if (!use.ok()) return use.status();
  const Result<http::Request> wire = Build(request);
  if (!wire.ok()) return wire.status();

  const MonoTime start = clock_.Now();
  http::Outcome outcome = use->http->Send(*wire, call);
  const bool answered = outcome.delivery == http::Delivery::kAnswered;
  metrics_.Attempt(request.method, answered ? std::to_string(outcome.response.status) : "<error>",
                   clock_.Now() - start);
  if (!answered) return TransportError(outcome.error, What(request));
  metrics_.Sizes(request.method, request.body.size(), outcome.response.body.size());
  if (outcome.response.status == 401) tokens_.OnUnauthorized(start);
  return std::move(outcome.response);
}

Result<RawResponse> KubeClient::Call(const RawRequest& request, const CallContext& context) {
  if (request.method == "PUT" && request.lane != Lane::kLease) {
    return Status(Code::kInvalidArgument, "PutRefused",
                  What(request) + ": only leases are written with PUT, everything else is patched");
  }
  for (int retries = 0;; ++retries) {
    OTC_RETURN_IF_ERROR(context.Check());
    Result<http::Response> response = Attempt(request, context);
    Duration wait;
    std::string code = "<error>";
    if (!response.ok()) {
      const bool again =
          request.method == "GET" && retries < kMaxRetries && WasCutOff(response.status());
      if (!again) return response.status();
      wait = kTransportRetry;
    } else {
      if (response->status >= 200 && response->status <= 299) {
        const Status plain = CheckPlain(*response);
        if (!plain.ok()) return plain.WithPrefix(What(request) + ": ");
        RawResponse answer;
        answer.http_status = response->status;
        answer.content_type = std::string(response->Find("content-type"));
        answer.body = std::move(response->body);
        return answer;
      }
      const std::uint64_t wait_ms = RetryAfterMs(*response);
      const bool again = MayRetry(*response) && retries < kMaxRetries;
      wait = std::chrono::milliseconds(std::min<std::uint64_t>(wait_ms, 86'400'000));
      if (!again ||
          (context.deadline != MonoTime::max() && clock_.Now() + wait >= context.deadline)) {
        return StatusFromApi(response->status, ReadApiStatus(*response), wait_ms, What(request));
      }
      code = std::to_string(response->status);
    }
    log_.Debug("API call is repeated", {{"call", What(request)}, {"after", code}});
    OTC_RETURN_IF_ERROR(context.SleepUntil(clock_.Now() + wait));
    metrics_.Retry(request.method, code);
  }
}

StreamOutcome KubeClient::Stream(const StreamRequest& request, const CallContext& context,
                                 StreamConsumer& consumer) {
  StreamOutcome result;
  const std::string what = "GET " + request.path;
  RawRequest raw;
  raw.method = "GET";
  raw.path = request.path;
  raw.accept = kAcceptBoth;
  if (request.take_token) {
    result.status = TakeToken(normal_, raw.method, context);
    if (!result.status.ok()) return result;
  }
  const Result<LaneConnection::Use> use = normal_.connection.Get();
  const Result<http::Request> wire = Build(raw);
  result.status = use.ok() ? wire.status() : use.status();
  if (!result.status.ok()) return result;

  const StreamCancellation cancellation(context.cancellation, use->replaced);
  CallContext call = context;
  call.cancellation = cancellation.get();
  StreamAdapter adapter(consumer);
  const MonoTime start = clock_.Now();
  const http::Outcome outcome = use->http->Stream(*wire, call, request.idle_timeout, adapter);
  result.started = adapter.started();
  result.http_status = adapter.head().status;
  metrics_.Attempt(raw.method,
                   result.http_status == 0 ? "<error>" : std::to_string(result.http_status),
                   clock_.Now() - start);
  if (result.http_status == 401) tokens_.OnUnauthorized(start);
  if (result.http_status != 0 && (result.http_status < 200 || result.http_status > 299)) {
    result.api = ReadApiStatus(adapter.head());
    result.status =
        StatusFromApi(result.http_status, result.api, RetryAfterMs(adapter.head()), what);
  } else if (!adapter.failure().ok()) {
    result.status = adapter.failure();
  } else if (outcome.delivery != http::Delivery::kAnswered) {
    result.status = TransportError(outcome.error, what);
  }
  return result;
}

Result<Node> KubeClient::NodeCall(const RawRequest& request, const CallContext& context) {
  const Result<RawResponse> response = Call(request, context);
  if (!response.ok()) return response.status();
  Result<Node> node = NodeFrom(*response);
  if (!node.ok()) return Unreadable(node.status(), What(request));
  return node;
}

Result<Lease> KubeClient::LeaseCall(const RawRequest& request, const CallContext& context) {
  const Result<RawResponse> response = Call(request, context);
  if (!response.ok()) return response.status();
  Result<Lease> lease = LeaseFromJson(response->body);
  if (!lease.ok()) return Unreadable(lease.status(), What(request));
  return lease;
}

Result<Node> KubeClient::GetNode(const std::string& name, const std::string& resource_version,
                                 const CallContext& context) {
  RawRequest request;
  request.method = "GET";
  request.path = http::JoinPath({"api", "v1", "nodes", name});
  if (!resource_version.empty()) {
    request.path += "?" + http::BuildQuery({{"resourceVersion", resource_version}});
  }
  request.accept = kAcceptBoth;
  return NodeCall(request, context);
}

Result<Node> KubeClient::PatchNode(const std::string& name, PatchType type, const std::string& body,
                                   const std::string& subresource, const CallContext& context) {
  RawRequest request;
  request.method = "PATCH";
  std::vector<std::string> segments = {"api", "v1", "nodes", name};
  if (!subresource.empty()) segments.push_back(subresource);
  request.path = http::JoinPath(segments);
  request.content_type = MediaType(type);
  request.body = body;
  request.accept = kAcceptBoth;
  return NodeCall(request, context);
}

Status KubeClient::DeleteNode(const std::string& name, const DeletePreconditions& preconditions,
                              const CallContext& context) {
  RawRequest request;
  request.method = "DELETE";
  request.path = http::JoinPath({"api", "v1", "nodes", name});
  request.content_type = "application/json";
  std::string wanted;
  if (!preconditions.uid.empty()) wanted = R"("uid":)" + JsonQuote(preconditions.uid);
  if (!preconditions.resource_version.empty()) {
    if (!wanted.empty()) wanted += ',';
    wanted += R"("resourceVersion":)" + JsonQuote(preconditions.resource_version);
  }
  request.body = R"({"apiVersion":"v1","kind":"DeleteOptions")";
  if (!wanted.empty()) request.body += R"(,"preconditions":{)" + wanted + "}";
  request.body += "}";
  return Call(request, context).status();
}

Result<Lease> KubeClient::GetLease(const std::string& namespace_name, const std::string& name,
                                   const CallContext& context) {
  RawRequest request;
  request.method = "GET";
  request.path = LeasePath(namespace_name, name);
  request.lane = Lane::kLease;
  return LeaseCall(request, context);
}

Result<Lease> KubeClient::CreateLease(const Lease& lease, const CallContext& context) {
  RawRequest request;
  request.method = "POST";
  request.path = LeasePath(lease.meta.namespace_, "");
  request.content_type = "application/json";
  request.body = LeaseToJson(lease);
  request.lane = Lane::kLease;
  return LeaseCall(request, context);
}

Result<Lease> KubeClient::UpdateLease(const Lease& lease, const CallContext& context) {
  RawRequest request;
  request.method = "PUT";
  request.path = LeasePath(lease.meta.namespace_, lease.meta.name);
  request.content_type = "application/json";
  request.body = LeaseToJson(lease);
  request.lane = Lane::kLease;
  if (lease.meta.resource_version.empty()) {
    return Status(Code::kInvalidArgument, "NoResourceVersion",
                  What(request) + ": a lease without resourceVersion would overwrite any other");
  }
  return LeaseCall(request, context);
}

}  // namespace otc::host::kube

// KubeClient: KubeApi over HTTPS, and the streams that reflectors read.
//
// Three lanes, each with its own connections and rate limit: leases, events,
// everything else. Retries are those of client-go: 429 and 5xx only when the
// server says how long to wait (Retry-After), at most 10 times; a GET whose
// connection broke after 1 s; a write never. Each write of the normal lane asks the
// WriteGate before every attempt and ends before the gate closes.
//
// Thread-safe; blocks the calling thread. Owned by main; outlives its users.
#ifndef OTC_HOST_KUBE_CLIENT_H_
#define OTC_HOST_KUBE_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/write_gate.h"
#include "host/kube/api.h"
#include "host/kube/api_status.h"
#include "host/kube/config.h"
#include "host/kube/lane.h"
#include "host/kube/request_metrics.h"
#include "host/kube/stream_decoder.h"

namespace otc::host::kube {

struct KubeClientOptions {
  KubeConfig config;
  std::string user_agent = "otc-host";
  double qps = 20.0;  // of each lane; <= 0: no limit
  int burst = 30;
  HttpFactory make_http_client = http::MakeClient;
};

// Takes the body of a stream as it arrives, on the calling thread.
class StreamConsumer {
 public:
  virtual ~StreamConsumer() = default;
  // The server accepted; comes before the first byte. A failure ends the stream.
  virtual Status OnStart(Encoding encoding) = 0;
  virtual Status OnData(std::string_view data) = 0;
};

struct StreamRequest {
  std::string path;
  bool take_token = true;  // lists are rate-limited, watches are not
  // Longest wait without a byte.
  Duration idle_timeout = std::chrono::seconds(60);
};

struct StreamOutcome {
  // OK: accepted, and the body ended normally. Otherwise the consumer's failure,
  // the mapped answer of the server, or what happened to the connection.
  Status status;
  bool started = false;  // the consumer saw OnStart
  int http_status = 0;   // 0: no answer
  ApiStatus api;         // of an HTTP error
};

class KubeClient final : public KubeApi {
 public:
  // Fails if certificates or CA cannot be used. The gate is not asked for leases
  // and events.
  static Result<std::unique_ptr<KubeClient>> Create(KubeClientOptions options, WriteGate& gate,
                                                    Clock& clock, Log& log, Metrics& metrics);
  ~KubeClient() override;

  Result<Node> GetNode(const std::string& name, const std::string& resource_version,
                       const CallContext& context) override;
  Result<Node> PatchNode(const std::string& name, PatchType type, const std::string& body,
                         const std::string& subresource, const CallContext& context) override;
  Status DeleteNode(const std::string& name, const DeletePreconditions& preconditions,
                    const CallContext& context) override;
  Result<Lease> GetLease(const std::string& namespace_name, const std::string& name,
                         const CallContext& context) override;
  Result<Lease> CreateLease(const Lease& lease, const CallContext& context) override;
  Result<Lease> UpdateLease(const Lease& lease, const CallContext& context) override;
  Result<RawResponse> Call(const RawRequest& request, const CallContext& context) override;

  // A GET in protobuf or JSON, on a connection of its own, without retries.
  StreamOutcome Stream(const StreamRequest& request, const CallContext& context,
                       StreamConsumer& consumer);

 private:
  KubeClient(KubeClientOptions options, WriteGate& gate, Clock& clock, Log& log, Metrics& metrics);

  ApiLane& LaneFor(Lane lane);
  Status TakeToken(ApiLane& lane, const std::string& method, const CallContext& context);
  // The request as it goes to the wire, with a fresh Authorization header.
  Result<http::Request> Build(const RawRequest& request);
  // One attempt; OK: answered, whatever the HTTP status.
  Result<http::Response> Attempt(const RawRequest& request, const CallContext& context);
  Result<Node> NodeCall(const RawRequest& request, const CallContext& context);
  Result<Lease> LeaseCall(const RawRequest& request, const CallContext& context);

  const KubeClientOptions options_;
  WriteGate& gate_;
  Clock& clock_;
  Log& log_;
  RequestMetrics metrics_;
  TokenSource tokens_;
  const TlsSource tls_;
  ApiLane normal_;
  ApiLane leases_;
  ApiLane events_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_CLIENT_H_

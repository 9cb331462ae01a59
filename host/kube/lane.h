// ApiLane: the connections and the rate limit of one kind of calls.
//
// Each lane has an http::Client of its own, so that hanging or throttled traffic
// of one kind (nodes, events) can never hold up another (leases). The client is
// replaced when certificates or CA on disk changed; calls that run keep the old
// one. Thread-safe; owned by KubeClient.
#ifndef OTC_HOST_KUBE_LANE_H_
#define OTC_HOST_KUBE_LANE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "host/base/cancellation.h"
#include "host/base/log.h"
#include "host/http/client.h"
#include "host/kube/credentials.h"
#include "host/kube/token_bucket.h"

namespace otc::host::kube {

using HttpFactory =
    std::function<Result<std::unique_ptr<http::Client>>(http::ClientOptions, Clock&)>;

class LaneConnection {
 public:
  // What a call uses from its start to its end.
  struct Use {
    std::shared_ptr<http::Client> http;
    // Raised when the client certificate was replaced: streams must reconnect.
    std::shared_ptr<Cancellation> replaced;
  };

  LaneConnection(const TlsSource& tls, std::string user_agent, const HttpFactory& factory,
                 Clock& clock, Log& log);

  // Looks at the files if the last look is 5 minutes old. Fails only as long as
  // there was never a usable client.
  Result<Use> Get();

 private:
  Status Replace(http::TlsOptions tls);

  const TlsSource& tls_;
  const std::string user_agent_;
  const HttpFactory& factory_;
  Clock& clock_;
  Log& log_;
  std::mutex mutex_;
  Use use_;
  http::TlsOptions loaded_;
  MonoTime checked_{};
};

struct ApiLane {
  ApiLane(const TlsSource& tls, std::string agent, const HttpFactory& factory, double qps,
          int burst, Clock& clock, Log& log)
      : connection(tls, std::move(agent), factory, clock, log), bucket(clock, qps, burst) {}

  LaneConnection connection;
  TokenBucket bucket;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_LANE_H_

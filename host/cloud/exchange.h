// CloudExchange: sends a plugin's batch of requests to the cloud.
//
// The real one is transport.h: endpoint, project, signature, budget, retries,
// caches. The plugin layer has already checked the batch (services named in the
// manifest, effects, dry run); tests of the plugin layer use a recording fake.
#ifndef OTC_HOST_CLOUD_EXCHANGE_H_
#define OTC_HOST_CLOUD_EXCHANGE_H_

#include <functional>
#include <string>

#include "host/base/cancellation.h"
#include "otc/plugin/v1/cloud.pb.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::cloud {

struct Caller {
  std::string plugin_id;     // budget share, metric label, log field
  bool leader_only = false;  // writes pass the WriteGate
};

class CloudExchange {
 public:
  using Put = std::function<void(const plugin::v1::CloudResponse&)>;

  virtual ~CloudExchange() = default;

  // Contract of otc.host.cloud/1 exchange: OK means that `put` was called
  // exactly once for each request, on the calling thread, in order of
  // completion, whatever the HTTP status; any other status that it was never
  // called. Blocks; returns within 1 s of cancellation.
  virtual Status Exchange(const Caller& caller, const plugin::v1::CloudBatch& batch,
                          const CallContext& context, const Put& put) = 0;
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_EXCHANGE_H_

// Health: the named checks behind /healthz, /livez and /readyz.
//
// healthz is the stock controller's (leader election and one ping a controller);
// livez never depends on the cloud or the API server; readyz is false until
// every required plugin has started. Checks must not block. Thread-safe.
#ifndef OTC_HOST_OPS_HEALTH_H_
#define OTC_HOST_OPS_HEALTH_H_

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "host/ops/server.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::ops {

class Health {
 public:
  enum Endpoint : unsigned { kHealthz = 1, kLivez = 2, kReadyz = 4 };
  using Check = std::function<Status()>;

  // `endpoints` is a set of Endpoint bits.
  void Add(const std::string& name, unsigned endpoints, Check check);

  // 200 "ok" or, failed, 500 with a line a check. ?verbose shows the lines
  // always, ?exclude=name (repeatable) leaves a check out. Reasons are shown:
  // they carry no secrets, and on-call people need them.
  Response Serve(Endpoint endpoint, const Request& request) const;

 private:
  struct Entry {
    std::string name;
    unsigned endpoints;
    Check check;
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace otc::host::ops

#endif  // OTC_HOST_OPS_HEALTH_H_

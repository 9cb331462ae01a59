// RateLimits: token buckets of the gateway, one set for each service.
//
// Thread-safe; owned by Simulator; time is the simulated monotonic clock.
#ifndef OTC_TESTS_SIM_OTC_RATE_LIMIT_H_
#define OTC_TESTS_SIM_OTC_RATE_LIMIT_H_

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/otc/http_types.h"
#include "tests/sim/otc/json.h"
#include "tests/sim/otc/sim_time.h"

namespace otc::sim {

struct RateLimit {
  std::string service;        // empty: each service has its own bucket of this size
  std::string calls = "all";  // all, read (GET), write
  double rate = 10;           // tokens a second; 0: none ever come back
  std::int64_t burst = 10;
  std::int64_t retry_after_s = 0;  // 0: the header is not sent
  // gateway: 429 APIGW.0308 (IAM: IAM.0012); ecs: 429 Common.1503; accepted: 202
  // with Common.0024, which looks like success.
  std::string answer = "gateway";
};

RateLimit ReadRateLimit(Poco::JSON::Object::Ptr object, const std::string& path,
                        std::vector<std::string>* errors);

class RateLimits {
 public:
  explicit RateLimits(const SimTime* time) : time_(time) {}

  void Set(std::vector<RateLimit> limits);
  // Takes a token of every bucket that applies, or says no with the answer.
  std::optional<Response> Check(const Request& request, const std::string& request_id);
  std::string ToJson() const;

 private:
  struct Bucket {
    RateLimit limit;
    double tokens = 0;
    host::MonoTime filled{};
  };

  const SimTime* time_;
  mutable std::mutex mutex_;
  std::vector<Bucket> buckets_;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_RATE_LIMIT_H_

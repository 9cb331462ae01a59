// RequestSender: one request to the cloud until it is answered, given up, or the
// call ends. Budget, credential guard, write gate, signature, retries, clock
// correction, metrics and the request log meet here.
//
// Thread-safe; blocks the calling thread. Never fails: what went wrong is in the
// response (outcome, code, message).
#ifndef OTC_HOST_CLOUD_REQUEST_SENDER_H_
#define OTC_HOST_CLOUD_REQUEST_SENDER_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/base/cancellation.h"
#include "host/base/log.h"
#include "host/base/random.h"
#include "host/base/write_gate.h"
#include "host/cloud/budget.h"
#include "host/cloud/call_meter.h"
#include "host/cloud/cloud_clock.h"
#include "host/cloud/exchange.h"
#include "host/cloud/request_builder.h"
#include "host/cloud/session.h"
#include "host/cloud/transport_metrics.h"

namespace otc::host::cloud {

class RequestSender {
 public:
  RequestSender(Clock& clock, Random& random, Log& log, WriteGate& gate, Budgets& budgets,
                TransportMetrics& metrics)
      : clock_(clock),
        random_(random),
        log_(log),
        gate_(gate),
        budgets_(budgets),
        metrics_(metrics),
        cloud_clock_(clock),
        meter_(clock) {}

  plugin::v1::CloudResponse Send(Session& session, const Caller& caller,
                                 const BuiltRequest& request, const CallContext& context);

  // Warns when an hour holds more calls; 0: never.
  void SetHourlyAlarm(std::uint64_t limit) { hourly_alarm_ = limit; }

 private:
  struct Call;
  struct Attempt;

  // Everything that may refuse before a byte is sent; the deadline of the attempt.
  Result<MonoTime> Prepare(Call& call);
  Attempt SendOnce(Call& call, MonoTime deadline);
  void Understand(Call& call, Attempt& attempt);
  void ReportToGuard(Call& call, Attempt& attempt);
  bool CorrectClock(Call& call, const Attempt& attempt);
  void Count(const Call& call, const Attempt& attempt, Duration duration);
  // How long to wait before the next attempt; nothing if there is to be none.
  std::optional<Duration> NextPause(Call& call, const Attempt& attempt);
  plugin::v1::CloudResponse NotStarted(const Call& call, const Status& status);
  plugin::v1::CloudResponse Finish(const Call& call, Attempt attempt);
  void LogCall(const Call& call, const plugin::v1::CloudResponse& response,
               const std::vector<LogField>& more);

  Clock& clock_;
  Random& random_;
  Log& log_;
  WriteGate& gate_;
  Budgets& budgets_;
  TransportMetrics& metrics_;
  CloudClock cloud_clock_;
  CallMeter meter_;
  std::atomic<std::uint64_t> hourly_alarm_{0};
};

// A response for a request that was never sent, as `status` says why.
plugin::v1::CloudResponse NotSentResponse(const Status& status);

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_REQUEST_SENDER_H_

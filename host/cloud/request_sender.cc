#include "host/cloud/request_sender.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "host/base/strings.h"
#include "host/cloud/http_date.h"

namespace otc::host::cloud {
namespace {

using plugin::v1::CloudResponse;

constexpr int kMaxAttempts = 5;
constexpr int kFewAttempts = 3;
constexpr Duration kBasePause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(60);
constexpr std::size_t kMaxShownPath = 200;
// Documented for a server that is being changed: try again after a minute.
constexpr std::string_view kSlowBusyCode = "Ecs.0603";

constexpr std::array<std::string_view, 17> kAnswerHeaders = {"content-type",
                                                             "date",
                                                             "etag",
                                                             "last-modified",
                                                             "location",
                                                             "openstack-api-version",
                                                             "retry-after",
                                                             "vary",
                                                             "x-apig-ratelimit-api",
                                                             "x-apig-ratelimit-api-allenv",
                                                             "x-apig-ratelimit-app",
                                                             "x-apig-ratelimit-ip",
                                                             "x-apig-ratelimit-user",
                                                             "x-compute-request-id",
                                                             "x-openstack-nova-api-version",
                                                             "x-openstack-request-id",
                                                             "x-request-id"};

constexpr std::array<std::string_view, 3> kRequestIdHeaders = {
    "x-request-id", "x-openstack-request-id", "x-compute-request-id"};

const char* ConditionName(Condition condition) {
  switch (condition) {
    case Condition::kDone:
      return "done";
    case Condition::kNotSent:
      return "not_sent";
    case Condition::kLost:
      return "lost";
    case Condition::kTimedOut:
      return "timed_out";
    case Condition::kThrottled:
      return "throttled";
    case Condition::kFlowLimit:
      return "flow_limit";
    case Condition::kServerError:
      return "server_error";
    case Condition::kUnavailable:
      return "unavailable";
    case Condition::kBusy:
      return "busy";
    case Condition::kConflict:
      return "conflict";
    case Condition::kUnauthorized:
      return "unauthorized";
    case Condition::kRefused:
      return "refused";
  }
  return "unknown";
}

std::string TextOf(const Status& status) {
  return status.reason().empty() ? status.message() : status.reason() + ": " + status.message();
}

std::uint64_t Millis(Duration duration) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()));
}

// An answer after an earlier attempt that may have been carried out: does it
// still leave that open?
bool LeavesEarlierOpen(Condition condition) {
  return condition == Condition::kThrottled || condition == Condition::kFlowLimit ||
         condition == Condition::kBusy || condition == Condition::kUnauthorized;
}

}  // namespace

CloudResponse NotSentResponse(const Status& status) {
  CloudResponse response;
  response.set_outcome(plugin::v1::OUTCOME_NOT_SENT);
  response.set_code(static_cast<std::int32_t>(status.code()));
  response.set_message(TextOf(status));
  response.set_retry_after_ms(status.retry_after_ms());
  return response;
}

struct RequestSender::Call {
  Session& session;
  const Caller& caller;
  const BuiltRequest& request;
  const CallContext& context;
  MonoTime started;
  http::Request wire;  // the request with this attempt's signature
  std::size_t unsigned_headers = 0;
  int attempts = 0;
  bool may_have_happened = false;  // an earlier attempt
  bool clock_corrected = false;
};

struct RequestSender::Attempt {
  http::Outcome outcome;
  CloudError error;  // of an answer that is none of success
  Verdict verdict;
  WallTime signed_at{};
  Duration asked_pause{};  // Retry-After
  bool clock_was_wrong = false;
  std::uint64_t retry_after_ms = 0;

  bool answered() const { return outcome.delivery == http::Delivery::kAnswered; }
};

CloudResponse RequestSender::Send(Session& session, const Caller& caller,
                                  const BuiltRequest& request, const CallContext& context) {
  Call call{
      session, caller, request, context, clock_.Now(), request.http, request.http.headers.size()};
  for (;;) {
    const Result<MonoTime> deadline = Prepare(call);
    if (!deadline.ok()) return NotStarted(call, deadline.status());
    Attempt attempt = SendOnce(call, *deadline);
    const std::optional<Duration> pause = NextPause(call, attempt);
    if (!pause) return Finish(call, std::move(attempt));
    if (clock_.Now() + *pause >= context.deadline) {
      attempt.retry_after_ms = Millis(*pause);
      return Finish(call, std::move(attempt));
    }
    call.may_have_happened |= MayHaveHappened(attempt.verdict.condition, request.group);
    metrics_.Retry(request.service,
                   attempt.clock_was_wrong ? "clock" : ConditionName(attempt.verdict.condition));
    const Status slept = context.SleepUntil(clock_.Now() + *pause);
    if (!slept.ok()) return Finish(call, std::move(attempt));
  }
}

Result<MonoTime> RequestSender::Prepare(Call& call) {
  const CallContext& context = call.context;
  OTC_RETURN_IF_ERROR(context.Check());
  const MonoTime asked = clock_.Now();
  OTC_RETURN_IF_ERROR(budgets_.For(call.request.service, call.request.write)
                          .Acquire(call.caller.plugin_id, context));
  metrics_.BudgetWait(call.caller.plugin_id, call.request.service, clock_.Now() - asked);
  if (call.request.is_signed) OTC_RETURN_IF_ERROR(call.session.guard.Admit(context));
  MonoTime deadline = std::min(context.deadline, clock_.Now() + call.request.timeout);
  if (call.caller.leader_only && call.request.write) {
    const Result<MonoTime> admitted = gate_.Admit();
    if (!admitted.ok()) {
      if (call.request.is_signed) call.session.guard.Report(CredentialGuard::Answer::kNone);
      return admitted.status();
    }
    deadline = std::min(deadline, *admitted);
  }
  return deadline;
}

RequestSender::Attempt RequestSender::SendOnce(Call& call, MonoTime deadline) {
  ++call.attempts;
  Attempt attempt;
  attempt.signed_at = cloud_clock_.Now();
  call.wire.headers.resize(call.unsigned_headers);
  if (call.request.is_signed) {
    for (http::Header& header :
         call.session.signer.Sign(call.wire.method, call.wire.target, call.wire.host_header,
                                  call.request.signed_headers, call.wire.body, attempt.signed_at)) {
      call.wire.headers.push_back(std::move(header));
    }
  }
  CallContext context = call.context;
  context.deadline = deadline;
  const MonoTime sent = clock_.Now();
  attempt.outcome = call.session.client->Send(call.wire, context);
  Understand(call, attempt);
  if (call.request.is_signed) ReportToGuard(call, attempt);
  Count(call, attempt, clock_.Now() - sent);
  return attempt;
}

void RequestSender::Understand(Call& call, Attempt& attempt) {
  const http::Outcome& outcome = attempt.outcome;
  if (!attempt.answered()) {
    attempt.verdict.code = outcome.error.code();
    attempt.verdict.condition =
        outcome.delivery == http::Delivery::kNotSent ? Condition::kNotSent : Condition::kLost;
    return;
  }
  const http::Response& response = outcome.response;
  // A 202 may be a refusal; other successes are not looked into: they can be big.
  constexpr std::size_t kRefusalBytes = 4096;
  const bool success = response.status >= 200 && response.status < 300;
  if (!success || (response.status == 202 && response.body.size() <= kRefusalBytes)) {
    attempt.error = ParseErrorBody(response.body);
    attempt.error.message = call.session.redactor.Redact(std::move(attempt.error.message));
  }
  attempt.verdict = Judge(response.status, attempt.error);
  attempt.asked_pause =
      ParseRetryAfter(response.Find("retry-after"), cloud_clock_.Now()).value_or(Duration::zero());
}

void RequestSender::ReportToGuard(Call& call, Attempt& attempt) {
  using Answer = CredentialGuard::Answer;
  Answer answer = Answer::kNone;
  if (attempt.answered() && attempt.verdict.code == Code::kUnauthenticated) {
    attempt.clock_was_wrong = CorrectClock(call, attempt);
    if (!attempt.clock_was_wrong) answer = Answer::kRefused;
  } else if (attempt.answered()) {
    // Only what the service itself says shows that the signature passed.
    const int status = attempt.outcome.response.status;
    const bool service_spoke = status < 500 && status != 401 && status != 429 &&
                               !IsGatewayCode(attempt.error.service_code);
    if (service_spoke) answer = Answer::kAccepted;
  }
  call.session.guard.Report(answer);
  if (answer == Answer::kRefused) {
    metrics_.Refused();
    if (call.session.guard.stopped()) {
      metrics_.CredentialsStopped(true);
      log_.Error("cloud refused the credentials twice, nothing is sent until cloud.conf changes",
                 {{"service", call.request.service},
                  {"endpoint", call.wire.origin.ToString()},
                  {"service_code", attempt.error.service_code},
                  {"answer", attempt.error.message}});
    }
  }
}

bool RequestSender::CorrectClock(Call& call, const Attempt& attempt) {
  if (call.clock_corrected) return false;
  const auto cloud_now = ParseHttpDate(attempt.outcome.response.Find("date"));
  if (!cloud_now || std::chrono::abs(*cloud_now - attempt.signed_at) <= CloudClock::kTolerance) {
    return false;
  }
  call.clock_corrected = true;
  // Another call may have corrected it meanwhile; the same once more does no harm.
  cloud_clock_.Correct(*cloud_now);
  const Duration offset = cloud_clock_.Offset();
  metrics_.ClockCorrected(offset);
  log_.Warn("this machine's clock is off, signing with the cloud's time",
            {{"offset_seconds", std::chrono::duration_cast<std::chrono::seconds>(offset).count()},
             {"endpoint", call.wire.origin.ToString()}});
  return true;
}

void RequestSender::Count(const Call& call, const Attempt& attempt, Duration duration) {
  const BuiltRequest& request = call.request;
  metrics_.Request(call.caller.plugin_id, request.service, request.http.method, request.purpose,
                   attempt.answered() ? std::to_string(attempt.outcome.response.status) : "none",
                   duration);
  const std::uint64_t limit = hourly_alarm_.load();
  const bool alarm = meter_.Count(limit);
  const std::uint64_t calls = meter_.LastHour();
  metrics_.LastHour(calls, limit != 0 && calls > limit);
  if (alarm) {
    log_.Warn("more calls to the cloud within an hour than calls-per-hour-alarm",
              {{"calls", calls}, {"limit", limit}});
  }
}

std::optional<Duration> RequestSender::NextPause(Call& call, const Attempt& attempt) {
  if (attempt.clock_was_wrong) return Duration::zero();
  const Condition condition = attempt.verdict.condition;
  const Retry rule = RetryRule(condition, call.request.group);
  const bool throttled = condition == Condition::kThrottled || condition == Condition::kFlowLimit;
  const double steps = 1u << static_cast<unsigned>(std::min(call.attempts - 1, 6));
  const Duration full =
      std::min(kLongestPause, std::chrono::duration_cast<Duration>(kBasePause * steps));
  Duration pause = std::chrono::duration_cast<Duration>(full * random_.Uniform());
  if (throttled) {
    // Everybody who uses this budget waits, not only this call.
    pause = std::max(attempt.asked_pause, kBasePause + pause);
    budgets_.For(call.request.service, call.request.write).RestUntil(clock_.Now() + pause);
    metrics_.Throttled(call.request.service);
  }
  if (rule == Retry::kNever || !call.context.Check().ok()) return std::nullopt;
  if (rule == Retry::kIfIdempotent && !call.request.idempotent) return std::nullopt;
  if (call.attempts >= (rule == Retry::kFewTimes ? kFewAttempts : kMaxAttempts)) {
    return std::nullopt;
  }
  if (!attempt.answered() && attempt.outcome.error.reason() == "AnswerTooLarge") {
    return std::nullopt;  // it will be as large again
  }
  // The server closed an idle connection: nothing is wrong with it.
  if (!attempt.answered() && attempt.outcome.reused_connection && call.attempts == 1) {
    return Duration::zero();
  }
  if (attempt.error.service_code == kSlowBusyCode) pause = std::max(pause, kLongestPause);
  return std::max(pause, attempt.asked_pause);
}

CloudResponse RequestSender::NotStarted(const Call& call, const Status& status) {
  CloudResponse response = NotSentResponse(status);
  if (call.may_have_happened) response.set_outcome(plugin::v1::OUTCOME_UNCLEAR);
  response.set_attempts(static_cast<std::uint32_t>(call.attempts));
  LogCall(call, response, {});
  return response;
}

CloudResponse RequestSender::Finish(const Call& call, Attempt attempt) {
  CloudResponse response;
  response.set_code(static_cast<std::int32_t>(attempt.verdict.code));
  response.set_attempts(static_cast<std::uint32_t>(call.attempts));
  const Condition condition = attempt.verdict.condition;
  const bool open =
      MayHaveHappened(condition, call.request.group) ||
      (call.may_have_happened && (!attempt.answered() || LeavesEarlierOpen(condition)));
  if (open) {
    response.set_outcome(plugin::v1::OUTCOME_UNCLEAR);
  } else if (attempt.answered()) {
    response.set_outcome(plugin::v1::OUTCOME_ANSWERED);
  } else {
    // A lost read changed nothing, but it was sent.
    response.set_outcome(condition == Condition::kNotSent ? plugin::v1::OUTCOME_NOT_SENT
                                                          : plugin::v1::OUTCOME_UNCLEAR);
  }
  response.set_retry_after_ms(std::max(attempt.retry_after_ms, Millis(attempt.asked_pause)));
  std::vector<LogField> ids;
  if (attempt.answered()) {
    http::Response& http = attempt.outcome.response;
    response.set_http_status(static_cast<std::uint32_t>(http.status));
    response.set_service_code(attempt.error.service_code);
    response.set_message(attempt.error.message);
    response.set_proves_absence(attempt.verdict.proves_absence);
    for (const std::string_view name : kAnswerHeaders) {
      const std::string_view value = http.Find(name);
      if (!value.empty()) {
        (*response.mutable_headers())[std::string(name)] = ReplaceInvalidUtf8(value);
      }
    }
    for (const std::string_view name : kRequestIdHeaders) {
      const std::string id = ReplaceInvalidUtf8(http.Find(name));
      if (id.empty()) continue;
      if (response.request_id().empty()) response.set_request_id(id);
      ids.emplace_back(name, id);
    }
    if (response.request_id().empty() && !attempt.error.request_id.empty()) {
      response.set_request_id(attempt.error.request_id);
      ids.emplace_back("x-request-id", attempt.error.request_id);
    }
    if (IsGatewayCode(attempt.error.service_code) && http.status == 404) {
      response.set_message(response.message() + " (asked " + call.wire.origin.ToString() +
                           call.request.path.substr(0, kMaxShownPath) +
                           "; does the region offer it? see [Endpoints])");
    }
    if (response.code() != 0 && response.message().empty()) {
      response.set_message("HTTP " + std::to_string(http.status) + " without a text");
    }
    response.set_body(std::move(http.body));
  } else {
    response.set_message(
        ReplaceInvalidUtf8(call.session.redactor.Redact(TextOf(attempt.outcome.error))));
  }
  LogCall(call, response, ids);
  return response;
}

void RequestSender::LogCall(const Call& call, const CloudResponse& response,
                            const std::vector<LogField>& more) {
  const bool ok = response.code() == 0;
  // Reads that succeed or find nothing are everyday; writes are always of interest.
  const bool everyday = ok || static_cast<Code>(response.code()) == Code::kNotFound;
  const LogLevel level = !everyday            ? LogLevel::kWarn
                         : call.request.write ? LogLevel::kInfo
                                              : LogLevel::kDebug;
  if (!log_.Enabled(level)) return;
  std::vector<LogField> fields = {{"plugin", call.caller.plugin_id},
                                  {"service", call.request.service},
                                  {"method", call.request.http.method},
                                  {"path", call.request.path},
                                  {"purpose", call.request.purpose},
                                  {"outcome", plugin::v1::Outcome_Name(response.outcome())},
                                  {"status", response.http_status()},
                                  {"attempts", response.attempts()},
                                  {"duration_ms", Millis(clock_.Now() - call.started)},
                                  {"bytes", static_cast<std::uint64_t>(response.body().size())}};
  if (!ok) {
    fields.emplace_back("code", CodeName(static_cast<Code>(response.code())));
    fields.emplace_back("service_code", response.service_code());
    fields.emplace_back("answer", response.message());
  }
  if (!call.context.request_id.empty()) fields.emplace_back("request_id", call.context.request_id);
  fields.insert(fields.end(), more.begin(), more.end());
  log_.Write(level, "cloud request", fields);
}

}  // namespace otc::host::cloud

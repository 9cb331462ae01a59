#include "host/kube/events.h"

#include <cinttypes>
#include <cstdio>
#include <utility>

#include "host/base/strings.h"
#include "host/http/url.h"

namespace otc::host::kube {
namespace {

constexpr std::size_t kQueueLimit = 1000;
constexpr std::size_t kNameLimit = 253;
constexpr int kTries = 12;
constexpr Duration kBetweenTries = std::chrono::seconds(10);
constexpr Duration kCallTimeout = std::chrono::seconds(10);

// RFC 1123 subdomain, as the API server asks of object names.
bool IsValidName(const std::string& name) {
  if (name.empty() || name.size() > kNameLimit) return false;
  char previous = '.';
  for (const char c : name) {
    const bool alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!alnum && c != '-' && c != '.') return false;
    if (!alnum && (previous == '.' || (previous == '-' && c == '.'))) return false;
    previous = c;
  }
  return previous != '.' && previous != '-';
}

std::string Member(const char* key, const std::string& value) {
  return JsonQuote(key) + ":" + JsonQuote(value);
}

std::string ReferenceJson(const ObjectReference& about) {
  std::string out = "{" + Member("kind", about.kind) + "," + Member("name", about.name);
  const std::pair<const char*, const std::string&> optional[] = {
      {"apiVersion", about.api_version},
      {"namespace", about.namespace_},
      {"uid", about.uid},
      {"resourceVersion", about.resource_version}};
  for (const auto& [key, value] : optional) {
    if (!value.empty()) out += "," + Member(key, value);
  }
  return out + "}";
}

std::string EventJson(const Event& event) {
  return R"({"apiVersion":"v1","kind":"Event","metadata":{)" + Member("name", event.name) + "," +
         Member("namespace", event.namespace_) + R"(},"involvedObject":)" +
         ReferenceJson(event.about) + "," + Member("reason", event.reason) + "," +
         Member("message", event.message) + R"(,"source":{)" +
         Member("component", event.component) + "}," +
         Member("reportingComponent", event.component) + R"(,"reportingInstance":"",)" +
         Member("firstTimestamp", FormatRfc3339(event.first)) + "," +
         Member("lastTimestamp", FormatRfc3339(event.last)) + R"(,"count":)" +
         std::to_string(event.count) + "," +
         Member("type", event.type == EventType::kNormal ? "Normal" : "Warning") + "}";
}

}  // namespace

ApiEventRecorder::ApiEventRecorder(KubeApi& api, Clock& clock, Random& random, Log& log,
                                   Metrics& metrics)
    : api_(api),
      clock_(clock),
      random_(random),
      log_(log),
      metrics_(metrics),
      correlator_(clock),
      thread_([this] { Run(); }) {}

ApiEventRecorder::~ApiEventRecorder() { Stop(Duration::zero()); }

void ApiEventRecorder::Record(const std::string& component, const ObjectReference& about,
                              EventType type, const std::string& reason,
                              const std::string& message) {
  Event event;
  event.component = component;
  event.about = about;
  event.namespace_ = about.namespace_.empty() ? "default" : about.namespace_;
  event.type = type;
  event.reason = reason;
  event.message = CutUtf8(ReplaceInvalidUtf8(message), kEventMessageBytes);
  event.first = event.last = clock_.Wall();
  event.name = NameFor(about.name, event.first);
  std::lock_guard lock(mutex_);
  if (stopping_) return Dropped("Stopped");
  if (queue_.size() >= kQueueLimit) return Dropped("QueueFull");
  queue_.push_back(std::move(event));
  changed_.notify_all();
}

std::string ApiEventRecorder::NameFor(const std::string& object_name, WallTime now) const {
  char suffix[24];
  std::snprintf(suffix, sizeof(suffix), ".%" PRIx64,
                static_cast<std::uint64_t>(now.time_since_epoch().count()));
  const std::string name = object_name + suffix;
  return IsValidName(name) ? name : RandomUuid();
}

void ApiEventRecorder::Dropped(const char* reason) {
  metrics_
      .GetCounter("otc_host_events_dropped_total", "Events that were not sent, by reason.",
                  {{"reason", reason}})
      .Add();
}

void ApiEventRecorder::Stop(Duration grace) {
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    const MonoTime until = clock_.Now() + grace;
    while (!finished_ && clock_.Now() < until) clock_.WaitUntil(changed_, lock, until);
  }
  cancellation_->Cancel("Quiescing", "the event recorder stops");
  if (thread_.joinable()) thread_.join();
}

bool ApiEventRecorder::Take(Event* event) {
  std::unique_lock lock(mutex_);
  while (queue_.empty()) {
    if (stopping_) return false;
    changed_.wait(lock);
  }
  *event = std::move(queue_.front());
  queue_.pop_front();
  return true;
}

void ApiEventRecorder::Run() {
  Event event;
  while (!cancellation_->cancelled() && Take(&event)) Deliver(std::move(event));
  std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void ApiEventRecorder::Deliver(Event event) {
  EventCorrelator::Outcome outcome = correlator_.Correlate(std::move(event));
  if (outcome.skip) return Dropped("TooMany");
  CallContext context;
  context.clock = &clock_;
  context.cancellation = cancellation_;
  for (int tries = 1;; ++tries) {
    const Sent sent = Try(&outcome);
    if (sent == Sent::kDone) return correlator_.Sent(outcome.key, outcome.event);
    if (sent == Sent::kRefused) return Dropped("Refused");
    if (tries == kTries) return Dropped("Unreachable");
    // The first wait is random, so that hosts do not come back all at once.
    const double factor = tries == 1 ? random_.Uniform() : 1.0;
    const auto wait = std::chrono::duration_cast<Duration>(kBetweenTries * factor);
    if (!context.SleepUntil(clock_.Now() + wait).ok()) return Dropped("Stopped");
  }
}

ApiEventRecorder::Sent ApiEventRecorder::Try(EventCorrelator::Outcome* outcome) {
  Status status;
  if (outcome->patch) {
    status = Count(outcome->event);
    if (status.code() == Code::kNotFound) {
      // The server dropped the old one meanwhile (events live for an hour).
      outcome->patch = false;
      outcome->event.name = NameFor(outcome->event.about.name, clock_.Wall());
    }
  }
  if (!outcome->patch) status = Post(outcome->event);
  if (status.ok() || status.code() == Code::kAlreadyExists) return Sent::kDone;
  log_.Debug("event was not stored", {{"reason", outcome->event.reason}, {"error", status}});
  switch (status.code()) {
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    case Code::kResourceExhausted:
    case Code::kUnauthenticated:  // the token is read again for the next try
      return Sent::kUnreachable;
    default:
      return Sent::kRefused;
  }
}

Status ApiEventRecorder::Post(const Event& event) {
  RawRequest request;
  request.method = "POST";
  request.path = http::JoinPath({"api", "v1", "namespaces", event.namespace_, "events"});
  request.content_type = "application/json";
  request.body = EventJson(event);
  request.lane = Lane::kEvents;
  CallContext context;
  context.clock = &clock_;
  context.cancellation = cancellation_;
  return api_.Call(request, context.WithTimeout(kCallTimeout)).status();
}

Status ApiEventRecorder::Count(const Event& event) {
  RawRequest request;
  request.method = "PATCH";
  request.path =
      http::JoinPath({"api", "v1", "namespaces", event.namespace_, "events", event.name});
  request.content_type = "application/strategic-merge-patch+json";
  request.body = R"({"count":)" + std::to_string(event.count) + "," +
                 Member("lastTimestamp", FormatRfc3339(event.last)) + "," +
                 Member("message", event.message) + "}";
  request.lane = Lane::kEvents;
  CallContext context;
  context.clock = &clock_;
  context.cancellation = cancellation_;
  return api_.Call(request, context.WithTimeout(kCallTimeout)).status();
}

}  // namespace otc::host::kube

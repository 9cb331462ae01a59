#include "host/kube/reflector.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "host/base/strings.h"
#include "host/http/url.h"
#include "host/kube/watchdog.h"

namespace otc::host::kube {
namespace {

// Beyond the time agreed with the server, a silent stream is given up.
constexpr Duration kGrace = std::chrono::seconds(30);
constexpr Duration kListTimeout = std::chrono::minutes(5);
constexpr Duration kListIdle = std::chrono::seconds(60);
constexpr Duration kVeryShort = std::chrono::seconds(1);
constexpr int kFewestSeconds = 300;
constexpr int kMostSeconds = 600;
constexpr int kFailedStreamsAllowed = 2;

using Query = std::vector<std::pair<std::string, std::string>>;

// A reason that came over the wire, as a bounded word for a metric label.
std::string Word(const std::string& reason, const char* otherwise) {
  if (reason.empty() || reason.size() > 40) return otherwise;
  for (const char c : reason) {
    if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
      return otherwise;
    }
  }
  return reason;
}

}  // namespace

// Gathers the items of a list while they arrive.
class Reflector::ListConsumer final : public StreamConsumer {
 public:
  explicit ListConsumer(ObjectSink& sink) : sink_(sink) {}

  Status OnStart(Encoding encoding) override {
    decoder_ = MakeListDecoder(encoding, [this, encoding](std::string_view object) {
      return sink_.Gather(Change::kAdded, encoding, object);
    });
    return Status::Ok();
  }
  Status OnData(std::string_view data) override { return decoder_->Feed(data); }

  Result<ListEnvelope> Finish() { return decoder_->Finish(); }

 private:
  ObjectSink& sink_;
  std::unique_ptr<ListDecoder> decoder_;
};

// Hands the events of a watch to the sink; with `initial` the first part of the
// stream is a list.
class Reflector::WatchConsumer final : public StreamConsumer {
 public:
  WatchConsumer(Reflector& owner, bool initial, Watchdog* watchdog)
      : owner_(owner), initial_(initial), watchdog_(watchdog) {}

  Status OnStart(Encoding encoding) override {
    encoding_ = encoding;
    decoder_ = MakeWatchDecoder(encoding, [this](WatchItem& event) { return OnEvent(event); });
    return Status::Ok();
  }
  Status OnData(std::string_view data) override {
    failure_ = decoder_->Feed(data);
    return failure_;
  }

  bool initial() const { return initial_; }
  int events() const { return events_; }
  const std::optional<ApiStatus>& error() const { return error_; }
  // Why the stream was given up by us; OK if it was not.
  const Status& failure() const { return failure_; }

 private:
  Status OnEvent(WatchItem& event);
  Status OnChange(Change change, const WatchItem& event);
  void OnBookmark(const WatchItem& event);

  Reflector& owner_;
  bool initial_;
  Watchdog* watchdog_;
  Encoding encoding_ = Encoding::kProtobuf;
  std::unique_ptr<WatchDecoder> decoder_;
  int events_ = 0;
  std::optional<ApiStatus> error_;
  Status failure_;
};

Status Reflector::WatchConsumer::OnEvent(WatchItem& event) {
  ++events_;
  owner_.CountEvent();
  if (watchdog_ != nullptr) watchdog_->Feed();
  if (event.type == "ADDED") return OnChange(Change::kAdded, event);
  if (event.type == "MODIFIED") return OnChange(Change::kModified, event);
  if (event.type == "DELETED") return OnChange(Change::kDeleted, event);
  if (event.type == "BOOKMARK") {
    OnBookmark(event);
    return Status::Ok();
  }
  if (event.type == "ERROR") {
    error_ = std::move(event.error);
    return Status(Code::kAborted, "WatchError", "the server ended the watch with an error");
  }
  owner_.log_.Warn("unknown type of watch event is skipped",
                   {{"collection", owner_.options_.name}, {"type", event.type.substr(0, 40)}});
  return Status::Ok();
}

Status Reflector::WatchConsumer::OnChange(Change change, const WatchItem& event) {
  if (event.kind != owner_.options_.kind) {
    owner_.log_.Warn("object of another kind in a watch is skipped",
                     {{"collection", owner_.options_.name}, {"kind", event.kind.substr(0, 40)}});
    return Status::Ok();
  }
  if (initial_) return owner_.sink_.Gather(change, encoding_, event.object);
  OTC_RETURN_IF_ERROR(owner_.sink_.Apply(change, encoding_, event.object));
  owner_.Moved(event.resource_version);
  return Status::Ok();
}

void Reflector::WatchConsumer::OnBookmark(const WatchItem& event) {
  if (!initial_) {
    owner_.Moved(event.resource_version);
  } else if (event.initial_events_end) {
    if (watchdog_ != nullptr) watchdog_->Disarm();
    owner_.sink_.CommitReplace();
    owner_.Positioned(event.resource_version);
    initial_ = false;
  }
}

Reflector::Reflector(ReflectorOptions options, KubeClient& client, ObjectSink& sink, Clock& clock,
                     Random& random, Log& log, Metrics& metrics)
    : options_(std::move(options)),
      client_(client),
      sink_(sink),
      clock_(clock),
      random_(random),
      log_(log),
      metrics_(metrics),
      last_event_(metrics.GetGauge("otc_host_informer_last_event_timestamp_seconds",
                                   "When the collection's last list, change or bookmark came.",
                                   {{"name", options_.name}})),
      backoff_(clock, random),
      streaming_(options_.streaming_list) {}

void Reflector::Run(const CallContext& context) {
  Next next = Next::kList;
  while (context.Check().ok()) {
    Step step;
    if (next == Next::kWatch) {
      step = Watch(context);
    } else {
      step = streaming_ ? StreamingList(context) : List(context);
    }
    if (!context.Check().ok()) return;
    if (!step.reason.empty()) {
      const bool relist = step.next == Next::kList;
      metrics_
          .GetCounter(
              relist ? "otc_host_informer_relists_total" : "otc_host_informer_rewatches_total",
              relist ? "Lists that had to be done again, by reason."
                     : "Watches that were opened again, by reason.",
              {{"name", options_.name}, {"reason", step.reason}})
          .Add();
    }
    next = step.next;
    if (!step.wait) continue;
    const Duration wait = std::max(backoff_.Next(), step.at_least);
    if (!context.SleepUntil(clock_.Now() + wait).ok()) return;
  }
}

Reflector::Step Reflector::Repeat(Next next, std::string reason, const Status& status) {
  Step step;
  step.next = next;
  step.reason = std::move(reason);
  step.wait = true;
  step.at_least =
      std::chrono::milliseconds(std::min<std::uint64_t>(status.retry_after_ms(), 3'600'000));
  if (!status.ok()) {
    log_.Warn(next == Next::kList ? "reading a collection failed; trying again"
                                  : "watching a collection failed; trying again",
              {{"collection", options_.name}, {"error", status}});
  }
  return step;
}

// --- List --------------------------------------------------------------------

std::string Reflector::ListVersion() const {
  if (version_unavailable_) return "";
  return version_.empty() ? "0" : version_;
}

StreamOutcome Reflector::ReadPage(const std::string& version, const std::string& continue_token,
                                  bool limited, const CallContext& context,
                                  ListEnvelope* envelope) {
  Query query;
  if (limited) query.emplace_back("limit", std::to_string(options_.page_size));
  if (!continue_token.empty()) {
    query.emplace_back("continue", continue_token);
  } else if (!version.empty()) {
    query.emplace_back("resourceVersion", version);
  }
  StreamRequest request;
  request.path = options_.path;
  if (!query.empty()) request.path += "?" + http::BuildQuery(query);
  request.idle_timeout = kListIdle;
  ListConsumer consumer(sink_);
  StreamOutcome outcome = client_.Stream(request, context.WithTimeout(kListTimeout), consumer);
  if (!outcome.status.ok()) return outcome;
  Result<ListEnvelope> finished = consumer.Finish();
  outcome.status = finished.status();
  if (!finished.ok()) return outcome;
  if (finished->kind != options_.kind + "List" || finished->resource_version.empty()) {
    outcome.status = Status(Code::kUnavailable, "UnexpectedKind",
                            "GET " + options_.path + ": expected a " + options_.kind +
                                "List with a resourceVersion, got \"" +
                                ReplaceInvalidUtf8(finished->kind.substr(0, 60)) + "\"");
    return outcome;
  }
  *envelope = std::move(finished).value();
  return outcome;
}

Reflector::Step Reflector::List(const CallContext& context) {
  std::string version = ListVersion();
  // A list of a version other than "0" is answered from the server's cache only
  // without a limit; with one it would be read from etcd.
  bool limited = version.empty() || version == "0" || paged_from_cache_;
  std::string continue_token;
  std::string list_version;
  sink_.BeginReplace();
  while (true) {
    ListEnvelope envelope;
    const StreamOutcome outcome = ReadPage(version, continue_token, limited, context, &envelope);
    if (outcome.status.ok()) {
      if (list_version.empty()) list_version = envelope.resource_version;
      continue_token = envelope.continue_token;
      if (continue_token.empty()) break;
      paged_from_cache_ = paged_from_cache_ || version == "0";
      continue;
    }
    const bool expired = outcome.http_status != 0 && IsExpired(outcome.api);
    if (expired && !continue_token.empty()) {
      // The continue token outlived its snapshot: everything in one piece.
      limited = false;
    } else if (!version.empty() && outcome.http_status != 0 &&
               (expired || IsResourceVersionTooLarge(outcome.api))) {
      version_unavailable_ = true;
      version.clear();
      limited = true;
    } else {
      return Repeat(Next::kList, Word(outcome.status.reason(), "ListFailed"), outcome.status);
    }
    continue_token.clear();
    list_version.clear();
    sink_.BeginReplace();
  }
  sink_.CommitReplace();
  Positioned(list_version);
  Step step;
  step.next = Next::kWatch;
  return step;
}

void Reflector::Positioned(const std::string& version) {
  version_ = version;
  version_unavailable_ = false;
  failed_streams_ = 0;
  CountEvent();
}

void Reflector::Moved(const std::string& version) {
  if (!version.empty()) version_ = version;
}

void Reflector::CountEvent() {
  last_event_.Set(static_cast<double>(UnixMillis(clock_.Wall())) / 1000.0);
}

// --- Watch -------------------------------------------------------------------

int Reflector::WatchSeconds() {
  return kFewestSeconds + static_cast<int>(random_.Uniform() * (kMostSeconds - kFewestSeconds + 1));
}

std::string Reflector::WatchPath(const std::string& version, int timeout_seconds,
                                 bool initial_events) const {
  Query query = {{"watch", "true"}, {"allowWatchBookmarks", "true"}};
  if (!version.empty()) query.emplace_back("resourceVersion", version);
  if (initial_events) {
    query.emplace_back("resourceVersionMatch", "NotOlderThan");
    query.emplace_back("sendInitialEvents", "true");
  }
  query.emplace_back("timeoutSeconds", std::to_string(timeout_seconds));
  return options_.path + "?" + http::BuildQuery(query);
}

Reflector::Step Reflector::Watch(const CallContext& context) {
  const int seconds = WatchSeconds();
  const Duration limit = std::chrono::seconds(seconds) + kGrace;
  StreamRequest request;
  request.path = WatchPath(version_, seconds, false);
  request.take_token = false;
  request.idle_timeout = limit;
  WatchConsumer consumer(*this, false, nullptr);
  const MonoTime start = clock_.Now();
  const StreamOutcome outcome = client_.Stream(request, context.WithTimeout(limit), consumer);
  return AfterStream(outcome, consumer, clock_.Now() - start);
}

Reflector::Step Reflector::StreamingList(const CallContext& context) {
  const int seconds = WatchSeconds();
  const Duration limit = std::chrono::seconds(seconds) + kGrace;
  StreamRequest request;
  request.path = WatchPath(version_unavailable_ ? "" : version_, seconds, true);
  request.idle_timeout = limit;
  CallContext call = context.WithTimeout(limit);
  call.cancellation = Cancellation::Create(context.cancellation);
  sink_.BeginReplace();
  Watchdog watchdog(clock_, options_.streaming_patience, [cancellation = call.cancellation] {
    cancellation->Cancel("StreamingListStalled", "no progress of the streaming list");
  });
  WatchConsumer consumer(*this, true, &watchdog);
  const MonoTime start = clock_.Now();
  const StreamOutcome outcome = client_.Stream(request, call, consumer);
  watchdog.Disarm();
  if (!consumer.initial()) return AfterStream(outcome, consumer, clock_.Now() - start);
  return AfterFailedStreamingList(outcome, consumer, watchdog.barked());
}

Reflector::Step Reflector::AfterFailedStreamingList(const StreamOutcome& outcome,
                                                    const WatchConsumer& consumer, bool stalled) {
  if (consumer.error() || (!outcome.started && outcome.http_status != 0)) {
    const ApiStatus& api = consumer.error() ? *consumer.error() : outcome.api;
    if (IsExpired(api) || IsResourceVersionTooLarge(api)) {
      version_unavailable_ = true;
      return Repeat(Next::kList, Word(api.reason, "Expired"), outcome.status);
    }
  }
  const bool refused = !outcome.started && outcome.status.code() == Code::kInvalidArgument;
  if (outcome.started) ++failed_streams_;
  if (!refused && !stalled && failed_streams_ < kFailedStreamsAllowed) {
    return Repeat(Next::kList, Word(outcome.status.reason(), "StreamingListFailed"),
                  outcome.status.ok() ? Status(Code::kUnavailable, "StreamingListEnded",
                                               "the streaming list ended before it was complete")
                                      : outcome.status);
  }
  log_.Info("the server gives no streaming list; reading pages from now on",
            {{"collection", options_.name}, {"answer", outcome.status}});
  streaming_ = false;
  Step step;
  step.next = Next::kList;
  step.reason = refused ? "StreamingListRefused" : "StreamingListStalled";
  return step;
}

Reflector::Step Reflector::AfterStream(const StreamOutcome& outcome, const WatchConsumer& consumer,
                                       Duration lived) {
  if (consumer.error()) return AfterError(*consumer.error());
  if (!outcome.started) return AfterRefusal(outcome);
  if (!consumer.failure().ok()) return Repeat(Next::kList, "Undecodable", consumer.failure());
  if (lived < kVeryShort && consumer.events() == 0) {
    return Repeat(Next::kList, "VeryShortWatch",
                  Status(Code::kUnavailable, "VeryShortWatch",
                         "the watch ended at once and brought nothing"));
  }
  // The time agreed was over, the connection was cut, or it went silent: go on
  // where it stopped.
  Step step;
  step.next = Next::kWatch;
  step.reason = outcome.status.ok() ? "Ended" : Word(outcome.status.reason(), "Cut");
  return step;
}

Reflector::Step Reflector::AfterError(const ApiStatus& error) {
  const Status status = StatusFromApi(error.code, error, 0, "watch of " + options_.path);
  if (IsExpired(error)) return Repeat(Next::kList, "Expired", status);
  if (IsResourceVersionTooLarge(error)) {
    version_unavailable_ = true;
    return Repeat(Next::kList, "ResourceVersionTooLarge", status);
  }
  if (error.code == 429) return Repeat(Next::kWatch, "TooManyRequests", status);
  return Repeat(Next::kList, Word(error.reason, "WatchError"), status);
}

Reflector::Step Reflector::AfterRefusal(const StreamOutcome& outcome) {
  const Status& status = outcome.status;
  if (outcome.http_status == 0) {
    // Nobody answered. Listing now would only add load when the server returns.
    return Repeat(Next::kWatch, Word(status.reason(), "ConnectionFailed"), status);
  }
  if (IsExpired(outcome.api)) return Repeat(Next::kList, "Expired", status);
  if (IsResourceVersionTooLarge(outcome.api)) {
    version_unavailable_ = true;
    return Repeat(Next::kList, "ResourceVersionTooLarge", status);
  }
  const int http = outcome.http_status;
  const bool same_again = http == 401 || http == 403 || http == 429 || http >= 500;
  return Repeat(same_again ? Next::kWatch : Next::kList, Word(status.reason(), "Refused"), status);
}

}  // namespace otc::host::kube

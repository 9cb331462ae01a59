#include "tests/sim/kube/faults.h"

#include <algorithm>
#include <functional>

#include "host/base/strings.h"
#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/base64.h"

namespace otc::kubesim {
namespace {

// Reads the keys of one JSON object into fields, collecting every complaint.
class Reader {
 public:
  Reader(const Json& object, std::string where, std::vector<std::string>& complaints)
      : object_(object), where_(std::move(where)), complaints_(complaints) {}

  ~Reader() {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) {
        continue;
      }
      std::string complaint = where_ + ": unknown key " + host::JsonQuote(key);
      if (const auto nearest = host::Nearest(key, known_)) {
        complaint += " (did you mean " + host::JsonQuote(*nearest) + "?)";
      }
      complaints_.push_back(complaint + "; known: " + host::Join(known_, ", "));
    }
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool Text(const std::string& key, std::string& into) {
    return Read(key, "a text", &Json::is_string, [&](const Json& v) { into = v; });
  }
  bool Flag(const std::string& key, bool& into) {
    return Read(key, "true or false", &Json::is_boolean, [&](const Json& v) { into = v; });
  }
  bool Number(const std::string& key, std::uint64_t& into) {
    return Read(key, "a number of at least 0", &Json::is_number_unsigned,
                [&](const Json& v) { into = v; });
  }
  bool Number(const std::string& key, int& into) {
    std::uint64_t wide = 0;
    if (!Number(key, wide)) {
      return false;
    }
    constexpr std::uint64_t kDay = 86'400'000;  // also in milliseconds
    if (wide > kDay) {
      Complain(key, "at most " + std::to_string(kDay));
      return false;
    }
    into = static_cast<int>(wide);
    return true;
  }
  bool Object(const std::string& key, Json& into) {
    return Read(key, "an object", &Json::is_object, [&](const Json& v) { into = v; });
  }
  bool Style(const std::string& key, EndStyle& into) {
    std::string text;
    if (!Text(key, text)) {
      return false;
    }
    if (text == "fin") {
      into = EndStyle::kFin;
    } else if (text == "reset") {
      into = EndStyle::kReset;
    } else if (text == "silent") {
      into = EndStyle::kSilent;
    } else {
      Complain(key, "fin, reset or silent");
    }
    return true;
  }
  void Complain(const std::string& key, const std::string& allowed) {
    complaints_.push_back(where_ + "." + key + " is " + DumpJson(object_[key]) +
                          "; allowed: " + allowed);
  }

 private:
  bool Read(const std::string& key, const std::string& allowed,
            bool (Json::*check)() const noexcept, const std::function<void(const Json&)>& take) {
    known_.push_back(key);
    const auto found = object_.find(key);
    if (found == object_.end()) {
      return false;
    }
    if (!((*found).*check)()) {
      Complain(key, allowed);
      return false;
    }
    take(*found);
    return true;
  }

  const Json& object_;
  const std::string where_;
  std::vector<std::string>& complaints_;
  std::vector<std::string> known_;
};

// A Status body for a fault that only names a status code.
std::string StatusBody(const FaultAction& action, const std::string& reason,
                       const std::string& message, int retry_after) {
  ApiError error{.code = action.status,
                 .reason = reason.empty() ? ReasonOfCode(action.status) : reason,
                 .message = message.empty() ? "injected by a fault" : message,
                 .retry_after_seconds = retry_after};
  return DumpJson(error.ToStatus());
}

void ReadAnswer(Reader& reader, FaultAction& action) {
  std::string reason;
  std::string message;
  int retry_after = 0;
  Json headers;
  const bool has_status = reader.Number("status", action.status);
  reader.Text("reason", reason);
  reader.Text("message", message);
  reader.Text("contentType", action.content_type);
  if (reader.Number("retryAfter", retry_after)) {
    action.headers["Retry-After"] = std::to_string(retry_after);
  }
  if (reader.Object("headers", headers)) {
    for (const auto& [name, value] : headers.items()) {
      action.headers[name] = value.is_string() ? value.get<std::string>() : DumpJson(value);
    }
  }
  bool has_body = reader.Text("body", action.body);
  std::string encoded;
  if (reader.Text("bodyBase64", encoded)) {
    action.body = DecodeBase64(encoded);
    has_body = true;
  }
  if (has_status) {
    action.effect = Effect::kRespond;
    if (!has_body) {
      action.body = StatusBody(action, reason, message, retry_after);
    }
    if (action.content_type.empty()) {
      action.content_type = "application/json";
    }
  }
}

void ReadWire(Reader& reader, FaultAction& action) {
  std::uint64_t cut_after = 0;
  if (reader.Number("cutAfter", cut_after)) {
    action.wire.cut_after = cut_after;
  }
  reader.Style("cutStyle", action.wire.cut_style);
  std::uint64_t drip = 0;
  if (reader.Number("dripBytes", drip)) {
    action.wire.drip_bytes = drip;
  }
  reader.Number("dripIntervalMs", action.wire.drip_interval_ms);
  reader.Flag("swallowEnd", action.wire.swallow_end);
  reader.Flag("close", action.wire.close_after);
}

void ReadWatch(Reader& reader, FaultAction& action) {
  WatchFault& watch = action.watch;
  reader.Flag("noBookmarks", watch.no_bookmarks);
  reader.Flag("noInitialEventsEnd", watch.no_initial_events_end);
  reader.Number("refuseWatchList", watch.refuse_watch_list);
  std::uint64_t number = 0;
  if (reader.Number("endAfterEvents", number)) {
    watch.end_after_events = number;
  }
  if (reader.Number("expireAfterEvents", number)) {
    watch.expire_after_events = number;
  }
  if (reader.Number("errorAfterEvents", number)) {
    watch.error_after_events = number;
  }
  if (!reader.Object("errorStatus", watch.error_status)) {
    watch.error_status = InternalError("injected by a fault").ToStatus();
  }
  reader.Text("rawFrame", watch.raw_frame);
}

FaultAction ReadAction(const Json& source, std::vector<std::string>& complaints) {
  FaultAction action;
  Reader reader(source, "action", complaints);
  reader.Number("delayMs", action.delay_ms);
  ReadAnswer(reader, action);
  ReadWire(reader, action);
  ReadWatch(reader, action);
  std::string when;
  if (reader.Text("when", when)) {
    action.after_commit = when == "after";
    if (when != "before" && when != "after") {
      reader.Complain("when", "before or after");
    }
  }
  bool hang = false;
  if (reader.Flag("hang", hang) && hang) {
    action.effect = Effect::kHang;
  }
  if (reader.Style("drop", action.drop_style)) {
    action.effect = Effect::kDrop;
  }
  if (reader.Text("raw", action.body)) {
    action.effect = Effect::kRaw;
  }
  return action;
}

}  // namespace

Result<std::uint64_t> FaultScript::Arm(const Json& fault) {
  std::vector<std::string> complaints;
  Armed armed;
  armed.source = fault;
  if (!fault.is_object()) {
    return Status(Code::kInvalidArgument, "BadFault", "a fault is a JSON object");
  }
  {
    Reader reader(fault, "fault", complaints);
    Json match = Json::object();
    Json action = Json::object();
    reader.Object("match", match);
    reader.Object("action", action);
    reader.Number("skip", armed.skip);
    reader.Number("times", armed.times);
    armed.action = ReadAction(action, complaints);
    Reader match_reader(match, "match", complaints);
    match_reader.Text("verb", armed.verb);
    match_reader.Text("userAgent", armed.user_agent);
    std::string target;
    if (match_reader.Text("target", target)) {
      try {
        armed.target = std::regex(target);
      } catch (const std::regex_error& error) {
        match_reader.Complain("target", std::string("a regular expression (") + error.what() + ")");
      }
    }
  }
  if (!complaints.empty()) {
    return Status(Code::kInvalidArgument, "BadFault", host::Join(complaints, "; "));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  armed.id = next_id_++;
  armed_.push_back(std::move(armed));
  return armed_.back().id;
}

bool FaultScript::Disarm(std::uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto size = armed_.size();
  armed_.remove_if([id](const Armed& armed) { return armed.id == id; });
  return armed_.size() != size;
}

void FaultScript::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  armed_.clear();
}

std::optional<std::pair<std::uint64_t, FaultAction>> FaultScript::Take(const RequestInfo& info,
                                                                       const HttpRequest& request) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Armed& armed : armed_) {
    if ((armed.times != 0 && armed.hits >= armed.times) ||
        (!armed.verb.empty() && armed.verb != info.verb) ||
        (!armed.user_agent.empty() &&
         request.Header("user-agent").find(armed.user_agent) == std::string::npos) ||
        (armed.target && !std::regex_search(request.target, *armed.target))) {
      continue;
    }
    if (armed.matched++ < armed.skip) {
      continue;
    }
    ++armed.hits;
    return std::make_pair(armed.id, armed.action);
  }
  return std::nullopt;
}

Json FaultScript::Describe() const {
  std::lock_guard<std::mutex> lock(mutex_);
  Json list = Json::array();
  for (const Armed& armed : armed_) {
    Json entry = armed.source;
    entry["id"] = armed.id;
    entry["matched"] = armed.matched;
    entry["hits"] = armed.hits;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace otc::kubesim

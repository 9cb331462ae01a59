#include "tests/sim/kube/list_watch.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>

#include "tests/sim/kube/proto_encode.h"

namespace otc::kubesim {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kBatchChanges = 500;

ApiError ContinueExpired(const std::string& last_key) {
  ApiError error = Expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this "
      "response to retrieve the remainder of the results. Continuing with the provided token "
      "results in an inconsistent list - objects that were created, modified, or deleted between "
      "the time the first chunk was returned and now may show up in the list.");
  error.list_continue = EncodeContinue({0, last_key});
  return error;
}

std::uint64_t DefaultTimeoutSeconds() {
  // As the real server: somewhere in the second half hour.
  static thread_local std::mt19937 generator{std::random_device{}()};
  return 1800 + generator() % 1800;
}

std::string KeyOf(const StoredObject& object) {
  return ObjectKey(object.namespace_name(), object.name());
}

std::string EncodeJsonList(const ResourceInfo& resource, const Json& meta,
                           const std::vector<ObjectPtr>& items) {
  std::size_t size = 256;
  for (const ObjectPtr& item : items) {
    size += item->item_json().size() + 1;
  }
  std::string text;
  text.reserve(size);
  text = "{\"kind\":\"" + resource.kind + "List\",\"apiVersion\":\"" + resource.GroupVersion() +
         "\",\"metadata\":" + DumpJson(meta) + ",\"items\":[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) {
      text += ',';
    }
    text += items[i]->item_json();
  }
  return text + "]}";
}

}  // namespace

TableOptions ListWatch::TableOptionsOf(const ListOptions& options) const {
  TableOptions table;
  table.now_seconds = host::UnixMillis(clock_.Wall()) / 1000;
  table.include = options.include_object == "None"     ? IncludeObject::kNone
                  : options.include_object == "Object" ? IncludeObject::kObject
                                                       : IncludeObject::kMetadata;
  return table;
}

ApiResult<Snapshot> ListWatch::SnapshotFor(const RequestInfo& info, const ListOptions& options,
                                           std::string& after_key) const {
  const ResourceInfo& resource = *info.resource;
  std::uint64_t at = 0;
  if (!options.continue_token.empty()) {
    const auto token = DecodeContinue(options.continue_token);
    if (!token) {
      return BadRequest("continue key is not valid: " + options.continue_token);
    }
    if (!options.resource_version_text.empty() && options.resource_version_text != "0") {
      return BadRequest("specifying resource version is not allowed when using continue");
    }
    after_key = token->last_key;
    at = token->version;
  } else if (!options.resource_version_text.empty()) {
    // With a limit and without a match the version is meant exactly.
    const bool exact = options.match == "Exact" ||
                       (options.match.empty() && options.limit > 0 && options.resource_version > 0);
    const std::uint64_t newest = exact ? store_.version() : store_.CacheVersion(resource);
    if (options.resource_version > newest) {
      return TooLargeResourceVersion(options.resource_version, newest);
    }
    at = exact ? options.resource_version : newest;
  }
  std::optional<Snapshot> snapshot = store_.List(resource, at);
  if (!snapshot) {
    return options.continue_token.empty()
               ? Expired("The resourceVersion for the provided list is too old.")
               : ContinueExpired(after_key);
  }
  return std::move(*snapshot);
}

Json ListWatch::TableOf(const ObjectPtr& object, const std::string& include_object) const {
  ListOptions options;
  options.include_object = include_object;
  const Json meta = {{"resourceVersion", std::to_string(object->version())}};
  return MakeTable(object->resource(), meta, {object}, TableOptionsOf(options));
}

ApiResult<Reply> ListWatch::List(const RequestInfo& info, const ListOptions& options,
                                 Format format) const {
  ApiResult<Selector> selector =
      Selector::Parse(*info.resource, options.label_selector, options.field_selector);
  if (!selector.ok()) {
    return selector.error();
  }
  std::string after_key;
  ApiResult<Snapshot> snapshot = SnapshotFor(info, options, after_key);
  if (!snapshot.ok()) {
    return snapshot.error();
  }
  // A list from the cache comes whole, whatever the limit.
  const bool from_cache = options.resource_version_text == "0" || options.match == "NotOlderThan";
  const std::size_t limit =
      options.limit > 0 && !from_cache ? options.limit : std::numeric_limits<std::size_t>::max();
  std::vector<ObjectPtr> items;
  // Objects behind the page; selected or not, as nobody has looked at them yet.
  std::size_t rest = 0;
  for (const ObjectPtr& object : snapshot.value().objects) {
    if ((!after_key.empty() && KeyOf(*object) <= after_key) ||
        (!info.namespace_name.empty() && object->namespace_name() != info.namespace_name)) {
      continue;
    }
    if (items.size() == limit) {
      ++rest;
    } else if (InScope(info, selector.value(), *object)) {
      items.push_back(object);
    }
  }
  Json meta = {{"resourceVersion", std::to_string(snapshot.value().version)}};
  if (rest > 0) {
    if (selector.value().empty()) {
      meta["remainingItemCount"] = rest;
    }
    meta["continue"] = EncodeContinue({snapshot.value().version, KeyOf(*items.back())});
  }
  Reply reply;
  reply.content_type = ContentTypeOf(format, false);
  if (format == Format::kTable) {
    reply.body = DumpJson(MakeTable(*info.resource, meta, items, TableOptionsOf(options)));
  } else if (format == Format::kProtobuf) {
    std::vector<std::string_view> messages;
    for (const ObjectPtr& item : items) {
      messages.push_back(item->proto());
    }
    reply.body = Envelope(info.resource->GroupVersion(), info.resource->kind + "List",
                          EncodeList(meta, messages));
  } else {
    reply.body = EncodeJsonList(*info.resource, meta, items);
  }
  return reply;
}

std::optional<ApiError> ListWatch::Watch(const RequestInfo& info, const ListOptions& options,
                                         Format format, const WatchFault& fault,
                                         ResponseWriter& writer) {
  const ResourceInfo& resource = *info.resource;
  ApiResult<Selector> selector =
      Selector::Parse(resource, options.label_selector, options.field_selector);
  if (!selector.ok()) {
    return selector.error();
  }
  const bool watch_list = options.send_initial_events.value_or(false);
  if (options.send_initial_events.has_value() && fault.refuse_watch_list != 0) {
    ApiError refusal = InvalidListOptions({ForbiddenField(
        "sendInitialEvents",
        "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")});
    refusal.code = fault.refuse_watch_list;
    refusal.reason = ReasonOfCode(refusal.code);
    return refusal;
  }
  const bool from_start =
      watch_list || (options.resource_version == 0 && !options.send_initial_events.has_value());
  const int event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event_fd < 0) {
    return InternalError("no descriptor for the watch");
  }
  store_.Subscribe(resource, event_fd);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    event_fds_.insert(event_fd);
  }
  WatchStream stream(info, std::move(selector.value()), format, fault, TableOptionsOf(options),
                     writer);
  std::uint64_t since = options.resource_version;
  if (stream.Begin() && !stream.FaultEnds()) {
    const std::uint64_t newest = store_.CacheVersion(resource);
    if (watch_list && since > newest) {
      // Refused inside the stream, as the real server does.
      stream.Error(TooLargeResourceVersion(since, newest).ToStatus());
    } else if (from_start) {
      const auto snapshot = store_.List(resource, store_.CacheVersion(resource));
      if (!snapshot) {
        stream.Error(Expired("too old resource version").ToStatus());
      } else {
        for (const ObjectPtr& object : snapshot->objects) {
          if (InScope(info, stream.selector(), *object)) {
            stream.Event("ADDED", object);
          }
        }
        since = snapshot->version;
        // The real server marks the end whenever everything was sent first.
        if (options.allow_bookmarks) {
          stream.Bookmark(since, /*initial_events_end=*/true);
        }
      }
    } else if (options.resource_version == 0) {
      since = store_.CacheVersion(resource);
    }
    stream.Flush();
    Follow(stream, info, options, since, event_fd);
  }
  store_.Unsubscribe(resource, event_fd);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    event_fds_.erase(event_fd);
  }
  close(event_fd);
  return std::nullopt;
}

void ListWatch::Follow(WatchStream& stream, const RequestInfo& info, const ListOptions& options,
                       std::uint64_t since, int event_fd) {
  const std::uint64_t seconds =
      options.timeout_seconds > 0 ? options.timeout_seconds : DefaultTimeoutSeconds();
  const auto deadline = Steady::now() + std::chrono::seconds(seconds);
  // Bookmarks come in their interval, and once shortly before the end.
  const auto farewell = deadline - std::chrono::seconds(std::min<std::uint64_t>(2, seconds / 2));
  bool farewell_sent = !options.allow_bookmarks;
  auto last_bookmark = Steady::now();
  const std::uint64_t epoch = epoch_;
  while (stream.open()) {
    std::uint64_t wakes = 0;
    [[maybe_unused]] const auto drained = read(event_fd, &wakes, sizeof(wakes));
    const Store::Changes changes = store_.ChangesSince(*info.resource, since, kBatchChanges);
    if (changes.compacted) {
      stream.Error(Expired("too old resource version: " + std::to_string(since) + " (" +
                           std::to_string(store_.version()) + ")")
                       .ToStatus());
      return;
    }
    for (const Change& change : changes.changes) {
      stream.Apply(change);
    }
    stream.Flush();
    since = changes.version;
    if (changes.changes.size() == kBatchChanges) {
      continue;
    }
    const auto now = Steady::now();
    if (epoch_ != epoch || now >= deadline) {
      stream.End();
      return;
    }
    const auto next_bookmark =
        last_bookmark + std::chrono::milliseconds(bookmark_interval_ms_.load());
    if (options.allow_bookmarks && (now >= next_bookmark || (!farewell_sent && now >= farewell))) {
      stream.Bookmark(since, /*initial_events_end=*/false);
      farewell_sent = farewell_sent || now >= farewell;
      last_bookmark = now;
      continue;
    }
    auto wake = deadline;
    if (options.allow_bookmarks) {
      wake = std::min(wake, farewell_sent ? next_bookmark : std::min(next_bookmark, farewell));
    }
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(wake - now).count() + 1;
    const WaitResult woken = stream.writer().Wait(static_cast<int>(wait), event_fd);
    if (woken == WaitResult::kClosed || woken == WaitResult::kStopped) {
      return;
    }
  }
}

void ListWatch::EndWatches() {
  ++epoch_;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const int fd : event_fds_) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(fd, &one, sizeof(one));
  }
}

std::size_t ListWatch::active_watches() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return event_fds_.size();
}

}  // namespace otc::kubesim

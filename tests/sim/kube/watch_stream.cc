#include "tests/sim/kube/watch_stream.h"

#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/proto_encode.h"

namespace otc::kubesim {
namespace {

constexpr char kInitialEventsEnd[] = "k8s.io/initial-events-end";
constexpr std::size_t kBatchBytes = 64 * 1024;

}  // namespace

bool InScope(const RequestInfo& info, const Selector& selector, const StoredObject& object) {
  return (info.namespace_name.empty() || object.namespace_name() == info.namespace_name) &&
         (info.name.empty() || object.name() == info.name) && selector.Matches(object);
}

WatchStream::WatchStream(const RequestInfo& info, Selector selector, Format format,
                         const WatchFault& fault, const TableOptions& table, ResponseWriter& writer)
    : info_(info),
      selector_(std::move(selector)),
      format_(format),
      fault_(fault),
      table_(table),
      writer_(writer) {}

bool WatchStream::Begin() {
  open_ = writer_.BeginStream(200, ContentTypeOf(format_, true));
  batch_ += fault_.raw_frame;
  return open_;
}

void WatchStream::Event(const char* type, const ObjectPtr& object) {
  if (!open_ || FaultEnds()) {
    return;
  }
  Append(type, object);
  ++events_;
  if (batch_.size() >= kBatchBytes) {
    Flush();
  }
  FaultEnds();
}

void WatchStream::Apply(const Change& change) {
  const bool was = change.previous != nullptr && InScope(info_, selector_, *change.previous);
  const bool is = change.type != ChangeType::kDeleted && InScope(info_, selector_, *change.object);
  if (is) {
    Event(was ? "MODIFIED" : "ADDED", change.object);
  } else if (was && change.type == ChangeType::kDeleted) {
    Event("DELETED", change.object);
  } else if (was) {
    // Left the selection: the state before, under the new version.
    Json document = change.previous->Document();
    document["metadata"]["resourceVersion"] = std::to_string(change.version);
    Event("DELETED", std::make_shared<StoredObject>(*info_.resource, document, change.version));
  }
}

void WatchStream::Bookmark(std::uint64_t version, bool initial_events_end) {
  if (!open_ || fault_.no_bookmarks || (initial_events_end && fault_.no_initial_events_end)) {
    return;
  }
  Json document = {{"metadata", {{"resourceVersion", std::to_string(version)}}}};
  if (initial_events_end) {
    document["metadata"]["annotations"][kInitialEventsEnd] = "true";
  }
  Append("BOOKMARK", std::make_shared<StoredObject>(*info_.resource, document, version));
  Flush();
}

void WatchStream::Error(const Json& status) {
  if (!open_) {
    return;
  }
  if (format_ == Format::kProtobuf) {
    batch_ += WatchFrame("ERROR", EncodeStatus(status, format_));
  } else {
    batch_ += "{\"type\":\"ERROR\",\"object\":" + DumpJson(status) + "}\n";
  }
  End();
}

void WatchStream::Flush() {
  if (open_ && !batch_.empty()) {
    open_ = writer_.Chunk(batch_);
    batch_.clear();
  }
}

void WatchStream::End() {
  Flush();
  if (open_) {
    writer_.EndStream();
    open_ = false;
  }
}

bool WatchStream::FaultEnds() {
  if (!open_) {
    return true;
  }
  if (fault_.end_after_events && events_ >= *fault_.end_after_events) {
    End();
  } else if (fault_.expire_after_events && events_ >= *fault_.expire_after_events) {
    Error(Expired("too old resource version: 1 (2)").ToStatus());
  } else if (fault_.error_after_events && events_ >= *fault_.error_after_events) {
    Error(fault_.error_status);
  }
  return !open_;
}

void WatchStream::Append(const char* type, const ObjectPtr& object) {
  if (format_ == Format::kProtobuf) {
    batch_ += WatchFrame(type, EncodeObject(*object, format_));
    return;
  }
  batch_.append("{\"type\":\"").append(type).append("\",\"object\":");
  if (format_ == Format::kTable) {
    const Json meta = {{"resourceVersion", std::to_string(object->version())}};
    batch_ += DumpJson(MakeTable(*info_.resource, meta, {object}, table_));
    table_.with_columns = false;
  } else {
    batch_ += object->json();
  }
  batch_ += "}\n";
}

}  // namespace otc::kubesim

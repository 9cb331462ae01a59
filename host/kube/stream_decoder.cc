#include "host/kube/stream_decoder.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "host/base/strings.h"
#include "host/kube/proto_codec.h"

namespace otc::host::kube {
namespace {

constexpr std::size_t kMaxEnvelopeBytes = 1u << 20;

Status BadProtobuf(const std::string& message) {
  return Status(Code::kInvalidArgument, "BadProtobuf", message);
}
Status BadJson(const std::string& message) {
  return Status(Code::kInvalidArgument, "BadJson", message);
}
Status TooLarge(std::size_t bytes) {
  return Status(Code::kInvalidArgument, "ObjectTooLarge",
                "an object of " + std::to_string(bytes) + " bytes, at most " +
                    std::to_string(kMaxObjectBytes) + " are taken");
}

enum class Peek { kOk, kNeedMore, kBad };

Peek PeekVarint(std::string_view data, std::size_t* size, std::uint64_t* value) {
  *value = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    if (i == data.size()) return Peek::kNeedMore;
    const auto byte = static_cast<unsigned char>(data[i]);
    *value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      *size = i + 1;
      return Peek::kOk;
    }
  }
  return Peek::kBad;
}

// Tag and size of the next field.
struct Field {
  std::uint64_t number = 0;
  bool has_bytes = false;   // length-delimited
  std::size_t header = 0;   // bytes before the payload
  std::uint64_t bytes = 0;  // of the payload
};

Peek PeekField(std::string_view data, Field* field) {
  std::uint64_t tag = 0;
  std::size_t tag_size = 0;
  if (const Peek peek = PeekVarint(data, &tag_size, &tag); peek != Peek::kOk) return peek;
  field->number = tag >> 3;
  field->header = tag_size;
  field->has_bytes = false;
  const std::string_view rest = data.substr(tag_size);
  std::size_t size = 0;
  std::uint64_t value = 0;
  switch (tag & 7) {
    case 0: {
      const Peek peek = PeekVarint(rest, &size, &value);
      field->bytes = size;
      return peek;
    }
    case 1:
      field->bytes = 8;
      return Peek::kOk;
    case 2: {
      const Peek peek = PeekVarint(rest, &size, &value);
      field->has_bytes = true;
      field->header += size;
      field->bytes = value;
      return peek;
    }
    case 5:
      field->bytes = 4;
      return Peek::kOk;
    default:
      return Peek::kBad;  // groups do not occur in Kubernetes' messages
  }
}

// Reads `magic Unknown{1 type, 2 raw: List{1 metadata, 2 items…}, 3 encoding}`
// without ever holding more than one field of the innermost level.
class ProtobufListDecoder final : public ListDecoder {
 public:
  explicit ProtobufListDecoder(ItemSink sink) : sink_(std::move(sink)) {}

  Status Feed(std::string_view data) override {
    pending_.append(data);
    std::size_t used = 0;
    Status status;
    bool progress = true;
    while (status.ok() && progress) {
      const std::size_t before = used;
      status = Step(std::string_view(pending_).substr(used), &used, &progress);
      progress = progress && (used != before);
    }
    pending_.erase(0, used);
    return status;
  }

  Result<ListEnvelope> Finish() override {
    if (place_ != Place::kOuter || !pending_.empty() || skip_ != 0 || !seen_raw_) {
      return BadProtobuf("the list ends in the middle");
    }
    return envelope_;
  }

 private:
  enum class Place { kMagic, kOuter, kInner };

  // Consumes one element; clears `progress` if more bytes are needed.
  Status Step(std::string_view data, std::size_t* used, bool* progress) {
    if (skip_ != 0) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, data.size()));
      skip_ -= part;
      *used += part;
      return Status::Ok();
    }
    if (place_ == Place::kMagic) return ReadMagic(data, used, progress);
    if (place_ == Place::kInner && inner_left_ == 0) place_ = Place::kOuter;
    Field field;
    switch (PeekField(data, &field)) {
      case Peek::kNeedMore:
        // Within the list a field may not start beyond its end.
        if (place_ == Place::kInner && data.size() > inner_left_) {
          return BadProtobuf("the list's length is wrong");
        }
        *progress = false;
        return Status::Ok();
      case Peek::kBad:
        return BadProtobuf("the list is not a valid protobuf message");
      case Peek::kOk:
        break;
    }
    return place_ == Place::kOuter ? Outer(field, data, used, progress)
                                   : Inner(field, data, used, progress);
  }

  Status ReadMagic(std::string_view data, std::size_t* used, bool* progress) {
    if (data.size() < kProtobufMagic.size()) {
      *progress = false;
      return Status::Ok();
    }
    if (data.substr(0, kProtobufMagic.size()) != kProtobufMagic) {
      return BadProtobuf("the body does not start with the mark of Kubernetes protobuf");
    }
    *used += kProtobufMagic.size();
    place_ = Place::kOuter;
    return Status::Ok();
  }

  Status Outer(const Field& field, std::string_view data, std::size_t* used, bool* progress) {
    if (field.number == 2 && field.has_bytes) {
      if (seen_raw_) return BadProtobuf("the envelope holds two objects");
      seen_raw_ = true;
      inner_left_ = field.bytes;
      *used += field.header;
      place_ = Place::kInner;
      return Status::Ok();
    }
    if ((field.number == 1 || field.number == 3) && field.has_bytes) {
      std::string_view payload;
      OTC_RETURN_IF_ERROR(Collect(field, data, kMaxEnvelopeBytes, used, progress, &payload));
      if (!*progress) return Status::Ok();
      if (field.number == 3) {
        return payload.empty() ? Status::Ok() : BadProtobuf("the envelope has a content encoding");
      }
      Result<std::string> kind = KindFromProto(payload);
      if (!kind.ok()) return kind.status();
      envelope_.kind = std::move(kind).value();
      return Status::Ok();
    }
    return Skip(field, used);
  }

  Status Inner(const Field& field, std::string_view data, std::size_t* used, bool* progress) {
    if (field.header > inner_left_ || field.bytes > inner_left_ - field.header) {
      return BadProtobuf("the list's length is wrong");
    }
    const std::uint64_t left = inner_left_ - field.header - field.bytes;
    if ((field.number == 1 || field.number == 2) && field.has_bytes) {
      std::string_view payload;
      OTC_RETURN_IF_ERROR(Collect(field, data, kMaxObjectBytes, used, progress, &payload));
      if (!*progress) return Status::Ok();
      inner_left_ = left;
      if (field.number == 2) return sink_(payload);
      Result<ProtoListMeta> meta = ListMetaFromProto(payload);
      if (!meta.ok()) return meta.status();
      envelope_.resource_version = meta->resource_version;
      envelope_.continue_token = meta->continue_token;
      return Status::Ok();
    }
    inner_left_ = left;
    return Skip(field, used);
  }

  static Status Collect(const Field& field, std::string_view data, std::size_t limit,
                        std::size_t* used, bool* progress, std::string_view* payload) {
    if (field.bytes > limit) return TooLarge(field.bytes);
    if (data.size() < field.header + field.bytes) {
      *progress = false;
      return Status::Ok();
    }
    *payload = data.substr(field.header, field.bytes);
    *used += field.header + field.bytes;
    return Status::Ok();
  }

  Status Skip(const Field& field, std::size_t* used) {
    *used += field.header;
    skip_ = field.bytes;
    return Status::Ok();
  }

  const ItemSink sink_;
  std::string pending_;
  Place place_ = Place::kMagic;
  std::uint64_t inner_left_ = 0;  // bytes of the list that are still to come
  std::uint64_t skip_ = 0;        // bytes of an unwanted field that are still to come
  bool seen_raw_ = false;
  ListEnvelope envelope_;
};

class ProtobufWatchDecoder final : public WatchDecoder {
 public:
  explicit ProtobufWatchDecoder(EventSink sink) : sink_(std::move(sink)) {}

  Status Feed(std::string_view data) override {
    pending_.append(data);
    std::size_t used = 0;
    Status status;
    while (status.ok() && pending_.size() - used >= 4) {
      const std::size_t length = FrameLength(std::string_view(pending_).substr(used, 4));
      if (length > kMaxObjectBytes) {
        status = TooLarge(length);
      } else if (pending_.size() - used - 4 < length) {
        break;
      } else {
        status = Event(std::string_view(pending_).substr(used + 4, length));
        used += 4 + length;
      }
    }
    pending_.erase(0, used);
    return status;
  }

 private:
  static std::size_t FrameLength(std::string_view bytes) {
    std::size_t length = 0;
    for (const char c : bytes) length = (length << 8) | static_cast<unsigned char>(c);
    return length;
  }

  Status Event(std::string_view frame) {
    Result<ProtoWatchEvent> event = WatchEventFromProto(frame);
    if (!event.ok()) return event.status();
    WatchItem item;
    item.type = std::move(event->type);
    item.kind = std::move(event->object.kind);
    if (item.type == "ERROR") {
      if (item.kind == "Status") {
        Result<ApiStatus> error = ApiStatusFromProto(event->object.raw);
        if (!error.ok()) return error.status();
        item.error = std::move(error).value();
      }
    } else {
      Result<ObjectPosition> position = PositionFromProto(event->object.raw);
      if (!position.ok()) return position.status();
      item.resource_version = std::move(position->resource_version);
      item.initial_events_end = position->initial_events_end;
    }
    item.object = std::move(event->object.raw);
    return sink_(item);
  }

  const EventSink sink_;
  std::string pending_;
};

// Whether the scan is inside a string literal, where brackets mean nothing.
class StringState {
 public:
  // True if `c` belongs to a string, its quotes included.
  bool Consume(char c) {
    if (!inside_) {
      inside_ = c == '"';
      return inside_;
    }
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      inside_ = false;
    }
    return true;
  }
  bool inside() const { return inside_; }

 private:
  bool inside_ = false;
  bool escaped_ = false;
};

bool IsJsonSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Cuts `{"kind":…, "metadata":…, "items":[{…},{…}]}` into its items and the rest.
class JsonListDecoder final : public ListDecoder {
 public:
  explicit JsonListDecoder(ItemSink sink) : sink_(std::move(sink)) {}

  Status Feed(std::string_view data) override {
    for (const char c : data) OTC_RETURN_IF_ERROR(Take(c));
    return Status::Ok();
  }

  Result<ListEnvelope> Finish() override {
    if (depth_ != 0 || envelope_.empty()) return BadJson("the list ends in the middle");
    return ListEnvelopeFromJson(envelope_);
  }

 private:
  bool InItem() const { return in_items_ && depth_ >= 3; }

  Status Take(char c) {
    if (string_.Consume(c)) {
      if (in_items_ && depth_ == 2) return BadJson("the list holds something else than objects");
      if (depth_ == 0) return BadJson("not an object");
      if (depth_ == 1) TakeKey(c);
      return Append(c);
    }
    if (c == '{' || c == '[') return Open(c);
    if (c == '}' || c == ']') return Close(c);
    if (depth_ == 0) return IsJsonSpace(c) ? Status::Ok() : BadJson("not an object");
    if (in_items_ && depth_ == 2) {
      if (c == ',' || IsJsonSpace(c)) return Status::Ok();
      return BadJson("the list holds something else than objects");
    }
    return Append(c);
  }

  // Remembers the last string on the outermost level.
  void TakeKey(char c) {
    if (!key_open_) {
      key_.clear();
      key_open_ = true;
      return;
    }
    key_open_ = string_.inside();
    if (key_open_ && key_.size() < 64) key_ += c;
  }

  Status Open(char c) {
    if (depth_ == 0 && (c != '{' || !envelope_.empty())) return BadJson("not one object");
    ++depth_;
    if (!in_items_ && depth_ == 2 && c == '[' && key_ == "items") {
      OTC_RETURN_IF_ERROR(Append(c));
      in_items_ = true;
      return Status::Ok();
    }
    if (in_items_ && depth_ == 3 && c != '{') {
      return BadJson("the list holds something else than objects");
    }
    return Append(c);
  }

  Status Close(char c) {
    if (depth_ == 0) return BadJson("a closing bracket too many");
    if (InItem()) {
      OTC_RETURN_IF_ERROR(Append(c));
      if (--depth_ != 2) return Status::Ok();
      const Status status = sink_(item_);
      item_.clear();
      return status;
    }
    --depth_;
    if (in_items_) in_items_ = false;
    return Append(c);
  }

  Status Append(char c) {
    std::string& out = InItem() ? item_ : envelope_;
    if (out.size() >= (InItem() ? kMaxObjectBytes : kMaxEnvelopeBytes)) {
      return TooLarge(out.size());
    }
    out += c;
    return Status::Ok();
  }

  const ItemSink sink_;
  StringState string_;
  int depth_ = 0;
  bool in_items_ = false;
  bool key_open_ = false;
  std::string key_;
  std::string item_;
  std::string envelope_;
};

// Cuts a sequence of JSON objects, with anything white between them.
class JsonWatchDecoder final : public WatchDecoder {
 public:
  explicit JsonWatchDecoder(EventSink sink) : sink_(std::move(sink)) {}

  Status Feed(std::string_view data) override {
    for (const char c : data) OTC_RETURN_IF_ERROR(Take(c));
    return Status::Ok();
  }

 private:
  Status Take(char c) {
    const bool in_string = string_.Consume(c);
    if (depth_ == 0) {
      if (!in_string && IsJsonSpace(c)) return Status::Ok();
      if (c != '{') return BadJson("the watch holds something else than objects");
    }
    if (text_.size() >= kMaxObjectBytes) return TooLarge(text_.size());
    text_ += c;
    if (in_string) return Status::Ok();
    if (c == '{' || c == '[') ++depth_;
    if (c == '}' || c == ']') --depth_;
    if (depth_ != 0) return Status::Ok();
    const Status status = Event();
    text_.clear();
    return status;
  }

  Status Event() {
    Result<JsonWatchEvent> event = WatchEventFromJson(text_);
    if (!event.ok()) return event.status();
    WatchItem item;
    item.type = std::move(event->type);
    item.kind = std::move(event->kind);
    item.resource_version = std::move(event->resource_version);
    item.initial_events_end = event->initial_events_end;
    if (item.type == "ERROR") {
      if (auto error = ApiStatusFromJson(event->object)) item.error = std::move(*error);
    }
    item.object = std::move(event->object);
    return sink_(item);
  }

  const EventSink sink_;
  StringState string_;
  int depth_ = 0;
  std::string text_;
};

}  // namespace

Result<Encoding> EncodingOf(std::string_view content_type) {
  const std::string_view type = TrimSpace(content_type.substr(0, content_type.find(';')));
  if (EqualsIgnoreCase(type, "application/vnd.kubernetes.protobuf")) return Encoding::kProtobuf;
  if (EqualsIgnoreCase(type, "application/json")) return Encoding::kJson;
  return Status(Code::kInvalidArgument, "UnexpectedMediaType",
                "the server answered with the media type \"" +
                    ReplaceInvalidUtf8(content_type.substr(0, 100)) +
                    "\"; understood are application/vnd.kubernetes.protobuf and application/json");
}

std::unique_ptr<ListDecoder> MakeListDecoder(Encoding encoding, ListDecoder::ItemSink sink) {
  if (encoding == Encoding::kProtobuf) {
    return std::make_unique<ProtobufListDecoder>(std::move(sink));
  }
  return std::make_unique<JsonListDecoder>(std::move(sink));
}

std::unique_ptr<WatchDecoder> MakeWatchDecoder(Encoding encoding, WatchDecoder::EventSink sink) {
  if (encoding == Encoding::kProtobuf) {
    return std::make_unique<ProtobufWatchDecoder>(std::move(sink));
  }
  return std::make_unique<JsonWatchDecoder>(std::move(sink));
}

}  // namespace otc::host::kube

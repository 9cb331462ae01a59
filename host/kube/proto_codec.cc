#include "host/kube/proto_codec.h"

#include "host/base/clock.h"
#include "host/kube/trim.h"
#include "k8s/core.pb.h"
#include "k8s/meta.pb.h"

namespace otc::host::kube {
namespace {

Status Bad(const std::string& what) {
  return Status(Code::kInvalidArgument, "BadProtobuf", what + ": not a valid protobuf message");
}

template <typename M>
bool Parse(std::string_view raw, M* message) {
  return message->ParseFromArray(raw.data(), static_cast<int>(raw.size()));
}

std::int64_t UnixMillisFrom(const k8s::Time& time) {
  return time.seconds() * 1000 + time.nanos() / 1'000'000;
}

bool IsSet(const k8s::Time& time) { return time.seconds() != 0 || time.nanos() != 0; }

// Texts that most nodes have in common.
struct TextPools {
  TextPool keys{1'000};
  TextPool values{1'000};
};

void CopyMeta(const k8s::ObjectMeta& from, TextPools* pools, ObjectMeta* to) {
  to->name = from.name();
  to->namespace_ = from.namespace_();
  to->uid = from.uid();
  to->resource_version = from.resource_version();
  if (IsSet(from.creation_timestamp())) {
    to->creation_unix_ms = UnixMillisFrom(from.creation_timestamp());
  }
  to->deleting = from.has_deletion_timestamp();
  to->labels.Reserve(static_cast<std::size_t>(from.labels_size()));
  for (const auto& label : from.labels()) {
    // A node's name is in one of its labels and in no other node's.
    const bool own = label.value() == from.name();
    to->labels.Set(pools->keys.Get(label.key()),
                   own ? SharedText(label.value()) : pools->values.Get(label.value()));
  }
  for (const auto& annotation : from.annotations()) {
    if (KeepAnnotation(annotation.key())) to->annotations[annotation.key()] = annotation.value();
  }
}

Node CopyNode(const k8s::Node& from, TextPools* pools) {
  Node node;
  CopyMeta(from.metadata(), pools, &node.meta);
  node.provider_id = from.spec().provider_id();
  node.taints.reserve(static_cast<std::size_t>(from.spec().taints_size()));
  for (const auto& taint : from.spec().taints()) {
    std::string added;
    if (taint.has_time_added() && IsSet(taint.time_added())) {
      added = FormatRfc3339(WallFromUnixMillis(UnixMillisFrom(taint.time_added())));
    }
    node.taints.push_back({taint.key(), taint.value(), taint.effect(), std::move(added)});
  }
  node.addresses.reserve(static_cast<std::size_t>(from.status().addresses_size()));
  for (const auto& address : from.status().addresses()) {
    node.addresses.push_back({address.type(), address.address()});
  }
  for (const auto& condition : from.status().conditions()) {
    if (condition.type() == "Ready") node.ready = TristateFrom(condition.status());
  }
  node.system_uuid = from.status().node_info().system_uuid();
  return node;
}

}  // namespace

Result<Envelope> OpenEnvelope(std::string_view body) {
  if (body.substr(0, kProtobufMagic.size()) != kProtobufMagic) {
    return Status(Code::kInvalidArgument, "BadProtobuf",
                  "the body does not start with the mark of Kubernetes protobuf (\"k8s\" and a "
                  "zero byte)");
  }
  k8s::Unknown unknown;
  if (!Parse(body.substr(kProtobufMagic.size()), &unknown)) return Bad("envelope");
  if (!unknown.content_encoding().empty()) {
    return Status(Code::kInvalidArgument, "BadProtobuf",
                  "the envelope has the content encoding \"" + unknown.content_encoding() +
                      "\"; only plain ones are understood");
  }
  return Envelope{unknown.type_meta().kind(), std::move(*unknown.mutable_raw())};
}

Result<ObjectPosition> PositionFromProto(std::string_view raw) {
  k8s::PartialObject object;
  if (!Parse(raw, &object)) return Bad("object metadata");
  ObjectPosition position;
  position.resource_version = object.metadata().resource_version();
  for (const auto& annotation : object.metadata().annotations()) {
    if (annotation.key() == kInitialEventsEndAnnotation && annotation.value() == "true") {
      position.initial_events_end = true;
    }
  }
  return position;
}

Result<ApiStatus> ApiStatusFromProto(std::string_view raw) {
  k8s::Status message;
  if (!Parse(raw, &message)) return Bad("Status");
  ApiStatus status;
  status.code = message.code();
  status.reason = message.reason();
  status.message = message.message();
  for (const auto& cause : message.details().causes()) status.causes.push_back(cause.reason());
  if (message.details().retry_after_seconds() > 0) {
    status.retry_after_seconds =
        static_cast<std::uint64_t>(message.details().retry_after_seconds());
  }
  return status;
}

Result<ProtoWatchEvent> WatchEventFromProto(std::string_view frame) {
  k8s::WatchEvent message;
  if (!Parse(frame, &message)) return Bad("watch event");
  Result<Envelope> object = OpenEnvelope(message.object().raw());
  if (!object.ok()) return object.status().WithPrefix("watch event: ");
  return ProtoWatchEvent{message.type(), std::move(object).value()};
}

Result<ProtoListMeta> ListMetaFromProto(std::string_view raw) {
  k8s::ListMeta message;
  if (!Parse(raw, &message)) return Bad("list metadata");
  return ProtoListMeta{message.resource_version(), message.continue_()};
}

Result<std::string> KindFromProto(std::string_view type_meta) {
  k8s::TypeMeta message;
  if (!Parse(type_meta, &message)) return Bad("type");
  return message.kind();
}

struct NodeProtoDecoder::Message {
  k8s::Node node;
  TextPools pools;
};

NodeProtoDecoder::NodeProtoDecoder() : message_(std::make_unique<Message>()) {}
NodeProtoDecoder::~NodeProtoDecoder() = default;

Result<Node> NodeProtoDecoder::Decode(std::string_view raw) {
  // Parsing clears the message first and keeps its allocations.
  if (!Parse(raw, &message_->node)) return Bad("Node");
  if (message_->node.metadata().name().empty()) {
    return Status(Code::kInvalidArgument, "BadProtobuf", "Node without a name");
  }
  return CopyNode(message_->node, &message_->pools);
}

}  // namespace otc::host::kube

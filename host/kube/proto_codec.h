// Protobuf bodies of the API server (application/vnd.kubernetes.protobuf):
// envelopes, nodes, watch events and Status, copied into own structs.
//
// Errors: INVALID_ARGUMENT "BadProtobuf" naming what was read. Bytes that are
// missing at the end make a decoder fail, never read too far; never throws.
#ifndef OTC_HOST_KUBE_PROTO_CODEC_H_
#define OTC_HOST_KUBE_PROTO_CODEC_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/kube/api_status.h"
#include "host/kube/types.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::kube {

inline constexpr std::string_view kProtobufMagic{"k8s\0", 4};

// One envelope: magic, type, and the bytes of the object.
struct Envelope {
  std::string kind;
  std::string raw;
};
Result<Envelope> OpenEnvelope(std::string_view body);

// Metadata of any object, as far as a watch needs it.
struct ObjectPosition {
  std::string resource_version;
  bool initial_events_end = false;
};
Result<ObjectPosition> PositionFromProto(std::string_view raw);

Result<ApiStatus> ApiStatusFromProto(std::string_view raw);

struct ProtoWatchEvent {
  std::string type;
  Envelope object;
};
// `frame` without its length prefix.
Result<ProtoWatchEvent> WatchEventFromProto(std::string_view frame);

struct ProtoListMeta {
  std::string resource_version;
  std::string continue_token;
};
Result<ProtoListMeta> ListMetaFromProto(std::string_view raw);
Result<std::string> KindFromProto(std::string_view type_meta);

// Decodes nodes one after the other with the same message, so that its memory is
// used again. Not thread-safe.
class NodeProtoDecoder {
 public:
  NodeProtoDecoder();
  ~NodeProtoDecoder();
  Result<Node> Decode(std::string_view raw);

 private:
  struct Message;
  const std::unique_ptr<Message> message_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_PROTO_CODEC_H_

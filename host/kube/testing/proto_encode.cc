#include "host/kube/testing/proto_encode.h"

#include "host/kube/proto_codec.h"
#include "host/kube/trim.h"
#include "k8s/core.pb.h"
#include "k8s/meta.pb.h"

namespace otc::host::kube {
namespace {

void AppendVarint(std::string* out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>((value & 0x7f) | 0x80);
  *out += static_cast<char>(value);
}

void AppendBytes(std::string* out, unsigned field, const std::string& bytes) {
  AppendVarint(out, field << 3 | 2);
  AppendVarint(out, bytes.size());
  *out += bytes;
}

void FillMeta(const ObjectMeta& from, k8s::ObjectMeta* to) {
  to->set_name(from.name);
  to->set_uid(from.uid);
  to->set_resource_version(from.resource_version);
  if (from.creation_unix_ms != 0) {
    to->mutable_creation_timestamp()->set_seconds(from.creation_unix_ms / 1000);
  }
  if (from.deleting) to->mutable_deletion_timestamp()->set_seconds(1);
  for (const auto& [key, value] : from.labels) {
    auto* pair = to->add_labels();
    pair->set_key(key);
    pair->set_value(value);
  }
  for (const auto& [key, value] : from.annotations) {
    auto* pair = to->add_annotations();
    pair->set_key(key);
    pair->set_value(value);
  }
}

}  // namespace

std::string EncodeNode(const Node& node, std::size_t padding) {
  k8s::Node message;
  FillMeta(node.meta, message.mutable_metadata());
  message.mutable_spec()->set_provider_id(node.provider_id);
  for (const Taint& taint : node.taints) {
    auto* added = message.mutable_spec()->add_taints();
    added->set_key(taint.key);
    added->set_value(taint.value);
    added->set_effect(taint.effect);
  }
  for (const NodeAddress& address : node.addresses) {
    auto* added = message.mutable_status()->add_addresses();
    added->set_type(address.type);
    added->set_address(address.address);
  }
  auto* condition = message.mutable_status()->add_conditions();
  condition->set_type("Ready");
  condition->set_status(node.ready == Tristate::kTrue    ? "True"
                        : node.ready == Tristate::kFalse ? "False"
                                                         : "Unknown");
  message.mutable_status()->mutable_node_info()->set_system_uuid(node.system_uuid);
  std::string raw = message.SerializeAsString();
  if (padding != 0) AppendBytes(&raw, 900, std::string(padding, 'p'));
  return raw;
}

std::string EncodeEnvelope(const std::string& kind, const std::string& raw) {
  k8s::Unknown unknown;
  unknown.mutable_type_meta()->set_api_version("v1");
  unknown.mutable_type_meta()->set_kind(kind);
  unknown.set_raw(raw);
  unknown.set_content_encoding("");
  unknown.set_content_type("");
  return std::string(kProtobufMagic) + unknown.SerializeAsString();
}

std::string EncodeList(const std::string& kind, const std::string& version,
                       const std::string& continue_token, const std::vector<std::string>& items) {
  k8s::ListMeta meta;
  meta.set_resource_version(version);
  meta.set_continue_(continue_token);
  std::string raw;
  AppendBytes(&raw, 1, meta.SerializeAsString());
  for (const std::string& item : items) AppendBytes(&raw, 2, item);
  return EncodeEnvelope(kind, raw);
}

std::string EncodeWatchFrame(const std::string& type, const std::string& kind,
                             const std::string& raw) {
  k8s::WatchEvent event;
  event.set_type(type);
  event.mutable_object()->set_raw(EncodeEnvelope(kind, raw));
  const std::string body = event.SerializeAsString();
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame += static_cast<char>((body.size() >> shift) & 0xff);
  }
  return frame + body;
}

std::string EncodeBookmark(const std::string& version, bool initial_events_end) {
  Node node;
  node.meta.resource_version = version;
  if (initial_events_end) node.meta.annotations[kInitialEventsEndAnnotation] = "true";
  k8s::PartialObject object;
  FillMeta(node.meta, object.mutable_metadata());
  return EncodeWatchFrame("BOOKMARK", "Node", object.SerializeAsString());
}

std::string EncodeStatus(int code, const std::string& reason, const std::string& message,
                         const std::string& cause) {
  k8s::Status status;
  status.set_status("Failure");
  status.set_code(code);
  status.set_reason(reason);
  status.set_message(message);
  if (!cause.empty()) status.mutable_details()->add_causes()->set_reason(cause);
  return status.SerializeAsString();
}

}  // namespace otc::host::kube

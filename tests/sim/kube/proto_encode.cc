#include "tests/sim/kube/proto_encode.h"

#include <cstdint>

#include "tests/sim/kube/base64.h"
#include "tests/sim/kube/times.h"

namespace otc::kubesim {
namespace {

constexpr std::string_view kMagic("k8s\0", 4);

void PutVarint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void PutVarintField(std::string& out, int number, std::int64_t value) {
  PutVarint(out, static_cast<std::uint64_t>(number) << 3);
  PutVarint(out, static_cast<std::uint64_t>(value));  // negative: ten bytes, as protobuf has it
}

void PutBytesField(std::string& out, int number, std::string_view bytes) {
  PutVarint(out, (static_cast<std::uint64_t>(number) << 3) | 2);
  PutVarint(out, bytes.size());
  out.append(bytes);
}

// A Timestamp; empty for an absent or zero time, as the API types write it.
std::string EncodeTime(const Json& value, bool with_fraction) {
  std::string out;
  if (!value.is_string()) {
    return out;
  }
  if (const auto time = ParseRfc3339(value.get_ref<const std::string&>())) {
    PutVarintField(out, 1, time->seconds);
    PutVarintField(out, 2, with_fraction ? time->nanos : 0);
  }
  return out;
}

std::string EncodeIntOrString(const Json& value) {
  std::string out;
  PutVarintField(out, 1, value.is_string() ? 1 : 0);
  PutVarintField(out, 2, value.is_number_integer() ? value.get<std::int64_t>() : 0);
  PutBytesField(out, 3, value.is_string() ? value.get_ref<const std::string&>() : std::string());
  return out;
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get_ref<const std::string&>() : std::string();
}

void PutValue(std::string& out, const FieldInfo& field, int number, const Json& value) {
  switch (field.type) {
    case FieldType::kString:
      PutBytesField(out, number, TextOf(value));
      break;
    case FieldType::kBytes:
      PutBytesField(out, number, DecodeBase64(TextOf(value)));
      break;
    case FieldType::kInt32:
    case FieldType::kInt64:
      PutVarintField(out, number, value.is_number_integer() ? value.get<std::int64_t>() : 0);
      break;
    case FieldType::kBool:
      PutVarintField(out, number, value.is_boolean() && value.get<bool>() ? 1 : 0);
      break;
    case FieldType::kTime:
      PutBytesField(out, number, EncodeTime(value, false));
      break;
    case FieldType::kMicroTime:
      PutBytesField(out, number, EncodeTime(value, true));
      break;
    case FieldType::kQuantity: {
      std::string quantity;
      PutBytesField(quantity, 1, value.is_string() ? TextOf(value) : DumpJson(value));
      PutBytesField(out, number, quantity);
      break;
    }
    case FieldType::kIntOrString:
      PutBytesField(out, number, EncodeIntOrString(value));
      break;
    case FieldType::kFieldsV1: {
      std::string fields;
      PutBytesField(fields, 1, DumpJson(value));
      PutBytesField(out, number, fields);
      break;
    }
    case FieldType::kMessage:
      PutBytesField(out, number, EncodeMessage(*field.message, value));
      break;
  }
}

void PutField(std::string& out, const FieldInfo& field, const Json* value) {
  if (field.shape == Shape::kAlways) {
    static const Json kNull;
    PutValue(out, field, field.number, value != nullptr ? *value : kNull);
    return;
  }
  if (value == nullptr) {
    return;
  }
  if (field.shape == Shape::kOptional) {
    PutValue(out, field, field.number, *value);
  } else if (field.shape == Shape::kRepeated && value->is_array()) {
    for (const Json& each : *value) {
      PutValue(out, field, field.number, each);
    }
  } else if (field.shape == Shape::kMap && value->is_object()) {
    for (const auto& [key, each] : value->items()) {
      std::string entry;
      PutBytesField(entry, 1, key);
      PutValue(entry, field, 2, each);
      PutBytesField(out, field.number, entry);
    }
  }
}

}  // namespace

std::string EncodeMessage(const MessageType& type, const Json& document) {
  std::string out;
  for (const FieldInfo& field : type.fields) {
    PutField(out, field, Find(document, {field.name}));
  }
  return out;
}

std::string Envelope(std::string_view api_version, std::string_view kind,
                     std::string_view message) {
  std::string type_meta;
  PutBytesField(type_meta, 1, api_version);
  PutBytesField(type_meta, 2, kind);
  std::string out(kMagic);
  out.reserve(message.size() + 64);
  PutBytesField(out, 1, type_meta);
  PutBytesField(out, 2, message);
  PutBytesField(out, 3, "");  // contentEncoding
  PutBytesField(out, 4, "");  // contentType
  return out;
}

std::string EncodeList(const Json& list_meta, const std::vector<std::string_view>& items) {
  std::size_t size = 64;
  for (const std::string_view item : items) {
    size += item.size() + 6;
  }
  std::string out;
  out.reserve(size);
  PutBytesField(out, 1, EncodeMessage(ListMetaType(), list_meta));
  for (const std::string_view item : items) {
    PutBytesField(out, 2, item);
  }
  return out;
}

std::string WatchFrame(std::string_view event_type, std::string_view enveloped_object) {
  std::string object;
  object.reserve(enveloped_object.size() + 8);
  PutBytesField(object, 1, enveloped_object);
  std::string event;
  event.reserve(object.size() + 32);
  PutBytesField(event, 1, event_type);
  PutBytesField(event, 2, object);
  std::string frame;
  frame.reserve(event.size() + 4);
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame.push_back(static_cast<char>(event.size() >> shift));
  }
  return frame + event;
}

}  // namespace otc::kubesim

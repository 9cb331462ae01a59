// Schema: what the simulator knows about the fields of the kinds it serves.
//
// One table per message serves three users: the decoder that refuses wrong types
// (decode.h), the protobuf encoder (proto_encode.h) and the strategic merge patch
// (strategic_patch.h). Names, numbers and merge keys are those of k8s.io/api.
// Fields that are not listed are kept in JSON, not checked, and absent in
// protobuf. All tables are constant and live for the whole process.
#ifndef OTC_TESTS_SIM_KUBE_SCHEMA_H_
#define OTC_TESTS_SIM_KUBE_SCHEMA_H_

#include <string_view>
#include <vector>

namespace otc::kubesim {

enum class FieldType {
  kString,
  kBytes,  // base64 text in JSON
  kInt32,
  kInt64,
  kBool,
  kTime,       // RFC 3339, whole seconds
  kMicroTime,  // RFC 3339, exactly six fractional digits
  kQuantity,
  kIntOrString,
  kFieldsV1,  // any JSON object, carried as text
  kMessage,
};

enum class Shape {
  kOptional,  // a pointer in the API types: absent stays absent
  kAlways,    // a plain value: protobuf carries it even when it is zero
  kRepeated,
  kMap,  // text → type
};

struct MessageType;

struct FieldInfo {
  std::string_view name;
  int number;
  FieldType type;
  Shape shape;
  const MessageType* message = nullptr;
  // Lists of messages only: elements are merged by this key in strategic patches.
  std::string_view merge_key = {};
  // Lists of scalars only: a strategic patch makes the set union.
  bool merge_as_set = false;
};

struct MessageType {
  std::string_view name;
  std::vector<FieldInfo> fields;  // in order of numbers

  const FieldInfo* Field(std::string_view field_name) const;
};

const MessageType& NodeType();
const MessageType& LeaseType();
const MessageType& EventType();
const MessageType& NamespaceType();
const MessageType& ServiceType();
const MessageType& ConfigMapType();
const MessageType& StatusType();
const MessageType& ListMetaType();
const MessageType& ObjectMetaType();
// Only metadata: for kinds that are stored as plain JSON.
const MessageType& UntypedType();

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_SCHEMA_H_

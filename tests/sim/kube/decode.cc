#include "tests/sim/kube/decode.h"

#include <limits>

#include "host/base/strings.h"
#include "tests/sim/kube/times.h"

namespace otc::kubesim {
namespace {

const char* JsonTypeName(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return "object";
    case Json::value_t::array:
      return "array";
    case Json::value_t::string:
      return "string";
    case Json::value_t::boolean:
      return "bool";
    default:
      return "number";
  }
}

const char* GoTypeName(FieldType type) {
  switch (type) {
    case FieldType::kInt32:
      return "int32";
    case FieldType::kInt64:
      return "int64";
    case FieldType::kBool:
      return "bool";
    default:
      return "string";
  }
}

// Walks a document along its schema; stops at the first error, as the decoder of
// the real server does.
class Checker {
 public:
  std::optional<std::string> Message(const MessageType& type, const Json& value,
                                     const std::string& path) {
    if (!value.is_object()) {
      return Wrong(type, path, value, "object");
    }
    for (const FieldInfo& field : type.fields) {
      const Json* child = Find(value, {field.name});
      if (child == nullptr) {
        continue;
      }
      const std::string child_path =
          path.empty() ? std::string(field.name) : path + "." + std::string(field.name);
      if (auto error = Field(type, field, *child, child_path)) {
        return error;
      }
    }
    return std::nullopt;
  }

 private:
  static std::string Wrong(const MessageType& owner, const std::string& path, const Json& value,
                           const std::string& wanted) {
    return std::string("json: cannot unmarshal ") + JsonTypeName(value) + " into Go struct field " +
           std::string(owner.name) + "." + path + " of type " + wanted;
  }

  std::optional<std::string> Field(const MessageType& owner, const FieldInfo& field,
                                   const Json& value, const std::string& path) {
    if (field.shape == Shape::kRepeated) {
      if (!value.is_array()) {
        return Wrong(owner, path, value, "[]" + std::string(GoTypeName(field.type)));
      }
      for (const Json& element : value) {
        if (auto error = Value(owner, field, element, path)) {
          return error;
        }
      }
      return std::nullopt;
    }
    if (field.shape == Shape::kMap) {
      if (!value.is_object()) {
        return Wrong(owner, path, value, "map[string]" + std::string(GoTypeName(field.type)));
      }
      for (const auto& [key, element] : value.items()) {
        if (auto error = Value(owner, field, element, path)) {
          return error;
        }
      }
      return std::nullopt;
    }
    return Value(owner, field, value, path);
  }

  std::optional<std::string> Value(const MessageType& owner, const FieldInfo& field,
                                   const Json& value, const std::string& path) {
    if (value.is_null()) {
      return std::nullopt;
    }
    switch (field.type) {
      case FieldType::kString:
      case FieldType::kBytes:
        return value.is_string() ? std::nullopt
                                 : std::optional(Wrong(owner, path, value, "string"));
      case FieldType::kBool:
        return value.is_boolean() ? std::nullopt : std::optional(Wrong(owner, path, value, "bool"));
      case FieldType::kInt32:
      case FieldType::kInt64: {
        const bool fits = value.is_number_integer() &&
                          (field.type == FieldType::kInt64 ||
                           (value.get<std::int64_t>() >= std::numeric_limits<std::int32_t>::min() &&
                            value.get<std::int64_t>() <= std::numeric_limits<std::int32_t>::max()));
        return fits ? std::nullopt
                    : std::optional(Wrong(owner, path, value, GoTypeName(field.type)));
      }
      case FieldType::kTime:
      case FieldType::kMicroTime:
        return Time(owner, field, value, path);
      case FieldType::kQuantity:
        return value.is_string() || value.is_number()
                   ? std::nullopt
                   : std::optional<std::string>(
                         "quantities must match the regular expression "
                         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
      case FieldType::kIntOrString:
        return value.is_string() || value.is_number_integer()
                   ? std::nullopt
                   : std::optional(Wrong(owner, path, value, "int32"));
      case FieldType::kFieldsV1:
        return std::nullopt;
      case FieldType::kMessage:
        return Message(*field.message, value, path);
    }
    return std::nullopt;
  }

  static std::optional<std::string> Time(const MessageType& owner, const FieldInfo& field,
                                         const Json& value, const std::string& path) {
    if (!value.is_string()) {
      return Wrong(owner, path, value, "string");
    }
    const std::string text = value.get<std::string>();
    const auto time = ParseRfc3339(text);
    const bool micro = field.type == FieldType::kMicroTime;
    if (time && (!micro || time->fraction_digits == 6)) {
      return std::nullopt;
    }
    const std::string layout =
        micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
    return "parsing time " + host::JsonQuote(text) + " as " + host::JsonQuote(layout) +
           ": cannot parse " + host::JsonQuote(text) + " as " + host::JsonQuote(layout);
  }
};

void CollectUnknown(const MessageType& type, const Json& value, const std::string& path,
                    std::vector<std::string>& unknown) {
  if (!value.is_object()) {
    return;
  }
  for (const auto& [key, child] : value.items()) {
    const std::string child_path = path.empty() ? key : path + "." + key;
    const FieldInfo* field = type.Field(key);
    if (field == nullptr) {
      if (!path.empty() || (key != "apiVersion" && key != "kind")) {
        unknown.push_back(child_path);
      }
      continue;
    }
    if (field->message == nullptr) {
      continue;
    }
    if (field->shape != Shape::kRepeated) {
      CollectUnknown(*field->message, child, child_path, unknown);
      continue;
    }
    std::size_t index = 0;
    for (const Json& element : child) {
      CollectUnknown(*field->message, element, child_path + "[" + std::to_string(index++) + "]",
                     unknown);
    }
  }
}

}  // namespace

std::optional<std::string> WhyUnreadable(const ResourceInfo& resource, const Json& document) {
  return Checker().Message(*resource.schema, document, "");
}

std::optional<ApiError> CheckTypes(const ResourceInfo& resource, const Json& document) {
  if (auto error = WhyUnreadable(resource, document)) {
    return BadRequest(resource.kind + " in version \"" + resource.version +
                      "\" cannot be handled as a " + resource.kind + ": " + *error);
  }
  return std::nullopt;
}

std::vector<std::string> UnknownFields(const ResourceInfo& resource, const Json& document) {
  std::vector<std::string> unknown;
  if (resource.schema != &UntypedType()) {
    CollectUnknown(*resource.schema, document, "", unknown);
  }
  return unknown;
}

}  // namespace otc::kubesim

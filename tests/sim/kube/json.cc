#include "tests/sim/kube/json.h"

namespace otc::kubesim {

const Json* Find(const Json& document, JsonPath path) {
  const Json* at = &document;
  for (const std::string_view key : path) {
    if (!at->is_object()) {
      return nullptr;
    }
    const auto found = at->find(std::string(key));
    if (found == at->end() || found->is_null()) {
      return nullptr;
    }
    at = &*found;
  }
  return at;
}

std::string TextAt(const Json& document, JsonPath path) {
  const Json* value = Find(document, path);
  return value != nullptr && value->is_string() ? value->get_ref<const std::string&>() : "";
}

std::optional<std::int64_t> IntAt(const Json& document, JsonPath path) {
  const Json* value = Find(document, path);
  if (value == nullptr || !value->is_number_integer()) {
    return std::nullopt;
  }
  return value->get<std::int64_t>();
}

bool BoolAt(const Json& document, JsonPath path) {
  const Json* value = Find(document, path);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

Json& ObjectAt(Json& document, std::string_view key) {
  if (!document.is_object()) {
    document = Json::object();
  }
  Json& value = document[std::string(key)];
  if (!value.is_object()) {
    value = Json::object();
  }
  return value;
}

std::optional<Json> ParseJson(std::string_view text) {
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    return std::nullopt;
  }
  return document;
}

std::string DumpJson(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace otc::kubesim

// Json: the document type of the simulator, and accessors that never throw.
//
// nlohmann::json throws on a wrong type; what clients send may have any type, so
// all reading of foreign documents goes through these helpers.
#ifndef OTC_TESTS_SIM_KUBE_JSON_H_
#define OTC_TESTS_SIM_KUBE_JSON_H_

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace otc::kubesim {

using Json = nlohmann::json;
using JsonPath = std::initializer_list<std::string_view>;

// The value below `document` along object keys; null pointer if there is none
// (a JSON null counts as none, as it does for the API server).
const Json* Find(const Json& document, JsonPath path);

// The text there, "" if absent or of another type.
std::string TextAt(const Json& document, JsonPath path);
std::optional<std::int64_t> IntAt(const Json& document, JsonPath path);
bool BoolAt(const Json& document, JsonPath path);

// The object at `key`, made (in place of anything else) when it is not there.
Json& ObjectAt(Json& document, std::string_view key);

// Nothing if the text is not exactly one JSON document. Duplicate keys: the
// last one wins, as with the real server's lenient decoder.
std::optional<Json> ParseJson(std::string_view text);

// Compact text. Bytes that are not UTF-8 become U+FFFD.
std::string DumpJson(const Json& document);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_JSON_H_

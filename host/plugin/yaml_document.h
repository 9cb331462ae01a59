// YamlDocument: one YAML document as a small tree that remembers where each
// value stood. yaml-cpp does the scanning; this file's .cc is the only one that
// sees it.
//
// Refused, each with line and column: anchors, aliases, tags, merge keys, keys
// that are not scalars, repeated keys, a second document, nesting deeper than
// 64, text that is not UTF-8 or larger than 1 MiB. All problems of a text are
// found in one pass, except that a syntax error ends it. Never throws.
#ifndef OTC_HOST_PLUGIN_YAML_DOCUMENT_H_
#define OTC_HOST_PLUGIN_YAML_DOCUMENT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace otc::host::plugin_host {

inline constexpr std::size_t kMaxYamlBytes = 1u << 20;
inline constexpr int kMaxYamlDepth = 64;

struct YamlPosition {
  int line = 1;  // both from 1
  int column = 1;
};

struct YamlEntry;

struct YamlNode {
  enum class Kind { kScalar, kSequence, kMapping };
  Kind kind = Kind::kScalar;
  YamlPosition at;
  std::string text;                // kScalar
  bool plain = true;               // kScalar: neither quoted nor a block; its type is open
  std::vector<YamlNode> items;     // kSequence
  std::vector<YamlEntry> entries;  // kMapping, in order, no key twice
};

struct YamlEntry {
  std::string key;
  YamlPosition at;  // of the key
  YamlNode value;
};

struct YamlProblem {
  YamlPosition at;
  std::string text;
};

struct YamlDocument {
  std::optional<YamlNode> root;  // empty: no document, or only comments
  std::vector<YamlProblem> problems;
};

YamlDocument ParseYaml(std::string_view text);

// What a scalar means. Plain scalars follow the core schema of YAML 1.2 (no
// yes/no/on/off, 010 is ten); quoted ones and blocks are always strings.
enum class YamlType { kNull, kBool, kInt, kFloat, kString };
YamlType ScalarType(const YamlNode& scalar);
const char* YamlTypeName(YamlType type);  // "a number", "a string", …

// The value as JSON text (RFC 8259). Adds a problem for what JSON cannot say
// (.inf, .nan, an integer in hex or octal beyond 64 bits).
std::string YamlToJson(const YamlNode& node, std::vector<YamlProblem>* problems);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_YAML_DOCUMENT_H_

// The core schema of YAML 1.2 (§10.3.2 of its specification) and JSON output.
#include <algorithm>
#include <charconv>

#include "host/base/strings.h"
#include "host/plugin/yaml_document.h"

namespace otc::host::plugin_host {
namespace {

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool IsDigits(std::string_view text, int base) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [base](char c) {
    if (c >= '0' && c <= '9') return c - '0' < base;
    return base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
  });
}

std::string_view WithoutSign(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text;
}

// The parts of [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
struct FloatParts {
  std::string_view whole;
  std::string_view fraction;
  std::string_view exponent;  // with its sign
};

bool SplitFloat(std::string_view text, FloatParts* parts) {
  text = WithoutSign(text);
  const auto take_digits = [&text] {
    const auto end =
        std::find_if_not(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    const auto length = static_cast<std::size_t>(end - text.begin());
    const std::string_view digits = text.substr(0, length);
    text.remove_prefix(length);
    return digits;
  };
  parts->whole = take_digits();
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    parts->fraction = take_digits();
  }
  if (parts->whole.empty() && parts->fraction.empty()) return false;
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    text.remove_prefix(1);
    parts->exponent = text;
    return IsDigits(WithoutSign(text), 10);
  }
  return text.empty();
}

bool IsInfinityOrNan(std::string_view text) {
  return IsOneOf(text, {".nan", ".NaN", ".NAN"}) ||
         IsOneOf(WithoutSign(text), {".inf", ".Inf", ".INF"});
}

std::string_view WithoutLeadingZeros(std::string_view digits) {
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

std::string IntToJson(const YamlNode& node, std::vector<YamlProblem>* problems) {
  const std::string_view text = node.text;
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0o") {
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data() + 2, text.data() + text.size(), value, text[1] == 'x' ? 16 : 8);
    if (error != std::errc()) {
      problems->push_back({node.at, node.text + " does not fit into 64 bits"});
    }
    return std::to_string(value);
  }
  const std::string sign = text.front() == '-' ? "-" : "";
  return sign + std::string(WithoutLeadingZeros(WithoutSign(text)));
}

std::string FloatToJson(const YamlNode& node, std::vector<YamlProblem>* problems) {
  if (IsInfinityOrNan(node.text)) {
    problems->push_back(
        {node.at, node.text + " is a number that JSON cannot hold; put it in quotes"});
    return "null";
  }
  FloatParts parts;
  SplitFloat(node.text, &parts);
  std::string out = node.text.front() == '-' ? "-" : "";
  out += parts.whole.empty() ? "0" : std::string(WithoutLeadingZeros(parts.whole));
  if (!parts.fraction.empty()) out += "." + std::string(parts.fraction);
  if (!parts.exponent.empty()) out += "e" + std::string(parts.exponent);
  return out;
}

std::string ScalarToJson(const YamlNode& node, std::vector<YamlProblem>* problems) {
  switch (ScalarType(node)) {
    case YamlType::kNull:
      return "null";
    case YamlType::kBool:
      return ToLower(node.text);
    case YamlType::kInt:
      return IntToJson(node, problems);
    case YamlType::kFloat:
      return FloatToJson(node, problems);
    case YamlType::kString:
      break;
  }
  return JsonQuote(node.text);
}

}  // namespace

YamlType ScalarType(const YamlNode& scalar) {
  if (!scalar.plain) return YamlType::kString;
  const std::string_view text = scalar.text;
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return YamlType::kNull;
  if (IsOneOf(text, {"true", "True", "TRUE", "false", "False", "FALSE"})) return YamlType::kBool;
  if (IsDigits(WithoutSign(text), 10)) return YamlType::kInt;
  if (text.substr(0, 2) == "0o" && IsDigits(text.substr(2), 8)) return YamlType::kInt;
  if (text.substr(0, 2) == "0x" && IsDigits(text.substr(2), 16)) return YamlType::kInt;
  FloatParts parts;
  if (IsInfinityOrNan(text) || SplitFloat(text, &parts)) return YamlType::kFloat;
  return YamlType::kString;
}

const char* YamlTypeName(YamlType type) {
  switch (type) {
    case YamlType::kNull:
      return "null";
    case YamlType::kBool:
      return "a boolean";
    case YamlType::kInt:
    case YamlType::kFloat:
      return "a number";
    case YamlType::kString:
      break;
  }
  return "a string";
}

std::string YamlToJson(const YamlNode& node, std::vector<YamlProblem>* problems) {
  if (node.kind == YamlNode::Kind::kScalar) return ScalarToJson(node, problems);
  std::vector<std::string> parts;
  if (node.kind == YamlNode::Kind::kSequence) {
    for (const YamlNode& item : node.items) parts.push_back(YamlToJson(item, problems));
    return "[" + Join(parts, ",") + "]";
  }
  for (const YamlEntry& entry : node.entries) {
    parts.push_back(JsonQuote(entry.key) + ":" + YamlToJson(entry.value, problems));
  }
  return "{" + Join(parts, ",") + "}";
}

}  // namespace otc::host::plugin_host

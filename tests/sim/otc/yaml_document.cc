#include "tests/sim/otc/yaml_document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "host/base/strings.h"

namespace otc::sim {
namespace {

constexpr std::size_t kMaxDepth = 64;

std::string ScalarToJson(const std::string& value, bool plain) {
  static const std::regex kNumber("-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,17})?");
  if (!plain) return host::JsonQuote(value);
  if (value.empty() || value == "~" || value == "null") return "null";
  if (value == "true" || value == "false" || std::regex_match(value, kNumber)) return value;
  return host::JsonQuote(value);
}

// Appends JSON as the parser's events come. The first mistake is kept, the rest
// of the events are ignored.
class JsonBuilder final : public YAML::EventHandler {
 public:
  std::string text;
  std::string error;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Scalar(mark, anchor, "", true);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Scalar(mark, anchor, value, tag == "?");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fail(mark, "aliases are not allowed");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, anchor, false);
  }
  void OnSequenceEnd() override { Close(']'); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, anchor, true);
  }
  void OnMapEnd() override { Close('}'); }

 private:
  struct Level {
    bool map = false;
    bool awaiting_value = false;
    bool empty = true;
    std::set<std::string> keys;
  };

  void Fail(const YAML::Mark& mark, const std::string& what) {
    if (error.empty()) error = "line " + std::to_string(mark.line + 1) + ": " + what;
  }

  // Commas and colons before a node; false: the node is refused.
  bool Separate(const YAML::Mark& mark, YAML::anchor_t anchor, bool scalar) {
    if (anchor != 0) Fail(mark, "anchors are not allowed");
    if (!error.empty()) return false;
    if (levels_.empty()) return true;
    Level& level = levels_.back();
    if (level.map && level.awaiting_value) {
      text += ':';
      return true;
    }
    if (level.map && !scalar) Fail(mark, "a key must be a plain word");
    if (!level.empty) text += ',';
    level.empty = false;
    return error.empty();
  }

  void Scalar(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& value, bool plain) {
    if (!Separate(mark, anchor, true)) return;
    if (!levels_.empty() && levels_.back().map && !levels_.back().awaiting_value) {
      if (!levels_.back().keys.insert(value).second) Fail(mark, "'" + value + "' stands twice");
      text += host::JsonQuote(value);
      levels_.back().awaiting_value = true;
      return;
    }
    text += ScalarToJson(value, plain);
    ValueDone();
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, bool map) {
    if (!Separate(mark, anchor, false)) return;
    if (levels_.size() == kMaxDepth) return Fail(mark, "nested too deeply");
    text += map ? '{' : '[';
    levels_.push_back({map, false, true, {}});
  }

  void Close(char bracket) {
    if (!error.empty()) return;
    text += bracket;
    levels_.pop_back();
    ValueDone();
  }

  void ValueDone() {
    if (!levels_.empty()) levels_.back().awaiting_value = false;
  }

  std::vector<Level> levels_;
};

}  // namespace

Result<std::string> YamlToJson(const std::string& text) {
  const auto bad = [](const std::string& what) {
    return Status(Code::kInvalidArgument, "BadYaml", what);
  };
  JsonBuilder builder;
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return bad("the file is empty");
    JsonBuilder second;
    if (builder.error.empty() && parser.HandleNextDocument(second)) {
      return bad("only one document is allowed");
    }
  } catch (const YAML::Exception& error) {
    return bad("line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
  if (!builder.error.empty()) return bad(builder.error);
  return builder.text;
}

}  // namespace otc::sim

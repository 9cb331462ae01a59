#include "host/plugin/yaml_document.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <set>
#include <sstream>

#include "host/base/strings.h"

namespace otc::host::plugin_host {
namespace {

YamlPosition At(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Builds the tree. What stands inside a refused place (a complex key, too deep)
// is skipped, so that one mistake is one problem.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlDocument* document) : document_(document) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Scalar(mark, "?", anchor, "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Problem(mark, "an alias (*name) is not allowed; write the value out");
    Scalar(mark, "?", YAML::NullAnchor, "");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Scalar(mark, tag, anchor, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlNode::Kind::kSequence);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlNode::Kind::kMapping);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    YamlNode node;
    bool has_key = false;  // mapping: a key was read, its value comes next
    YamlEntry entry;
    bool drop_value = false;  // the key was refused
    std::set<std::string> keys;
  };

  void Problem(const YAML::Mark& mark, std::string text) {
    if (skipping_ == 0) document_->problems.push_back({At(mark), std::move(text)});
  }

  void CheckDecoration(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) Problem(mark, "an anchor (&name) is not allowed; write it out");
    if (!tag.empty() && tag != "?" && tag != "!") {
      Problem(mark, "a tag (" + tag + ") is not allowed; quote the value to make it a string");
    }
  }

  bool WantsKey() const {
    return !stack_.empty() && stack_.back().node.kind == YamlNode::Kind::kMapping &&
           !stack_.back().has_key;
  }

  void Scalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
              const std::string& value) {
    CheckDecoration(mark, tag, anchor);
    if (skipping_ > 0) return;
    if (WantsKey()) return Key(mark, tag, value);
    YamlNode node;
    node.at = At(mark);
    node.text = value;
    node.plain = tag == "?";
    Add(std::move(node));
  }

  void Key(const YAML::Mark& mark, const std::string& tag, const std::string& value) {
    Frame& frame = stack_.back();
    frame.has_key = true;
    frame.entry = YamlEntry{value, At(mark), {}};
    frame.drop_value = true;
    if (tag == "?" && value.empty()) {
      Problem(mark, "a key must not be empty or null");
    } else if (tag == "?" && value == "<<") {
      Problem(mark, "a merge key (<<) is not allowed; write the keys out");
    } else if (!frame.keys.insert(value).second) {
      Problem(mark, "key " + JsonQuote(value) + " is there twice in this mapping");
    } else {
      frame.drop_value = false;
    }
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    CheckDecoration(mark, tag, anchor);
    if (skipping_ > 0) {
      ++skipping_;
      return;
    }
    if (WantsKey()) {
      Problem(mark, "a key must be a simple value, not a list or a mapping");
      Frame& frame = stack_.back();
      frame.has_key = true;
      frame.drop_value = true;
      skipped_is_key_ = true;
      ++skipping_;
      return;
    }
    if (stack_.size() >= kMaxYamlDepth) {
      Problem(mark, "nested deeper than " + std::to_string(kMaxYamlDepth) + " levels");
      skipped_is_key_ = false;
      ++skipping_;
      return;
    }
    Frame frame;
    frame.node.kind = kind;
    frame.node.at = At(mark);
    stack_.push_back(std::move(frame));
  }

  void Close() {
    if (skipping_ > 0) {
      if (--skipping_ == 0 && !skipped_is_key_) Add(YamlNode{});
      return;
    }
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    Add(std::move(node));
  }

  void Add(YamlNode node) {
    if (stack_.empty()) {
      document_->root = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.kind == YamlNode::Kind::kSequence) {
      frame.node.items.push_back(std::move(node));
      return;
    }
    if (!frame.drop_value) {
      frame.entry.value = std::move(node);
      frame.node.entries.push_back(std::move(frame.entry));
    }
    frame.has_key = false;
    frame.drop_value = false;
  }

  YamlDocument* document_;
  std::vector<Frame> stack_;
  int skipping_ = 0;  // open collections inside a refused place
  bool skipped_is_key_ = false;
};

// Only tells whether there is anything.
class Presence final : public YAML::EventHandler {
 public:
  std::optional<YamlPosition> at;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (!at) at = At(mark);
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// The first byte that makes the text unfit, as a problem.
std::optional<YamlProblem> TextProblem(std::string_view text) {
  if (text.size() > kMaxYamlBytes) {
    return YamlProblem{{}, "the file is larger than 1 MiB"};
  }
  YamlPosition at;
  std::size_t line_start = 0;
  for (std::size_t end; line_start <= text.size(); line_start = end + 1, ++at.line) {
    end = std::min(text.find('\n', line_start), text.size());
    const std::string_view line = text.substr(line_start, end - line_start);
    if (!IsValidUtf8(line)) return YamlProblem{at, "this line is not valid UTF-8"};
    if (line.find('\0') != std::string_view::npos) {
      return YamlProblem{at, "this line has a NUL byte"};
    }
  }
  return std::nullopt;
}

}  // namespace

YamlDocument ParseYaml(std::string_view text) {
  YamlDocument document;
  if (auto problem = TextProblem(text)) {
    document.problems.push_back(std::move(*problem));
    return document;
  }
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    TreeBuilder builder(&document);
    if (!parser.HandleNextDocument(builder)) return document;
    Presence second;
    if (parser.HandleNextDocument(second)) {
      document.problems.push_back({second.at.value_or(YamlPosition{}),
                                   "a second document is not allowed; only one may be here"});
    }
  } catch (const YAML::Exception& error) {
    const YamlPosition at = error.mark.is_null() ? YamlPosition{} : At(error.mark);
    document.problems.push_back({at, "not valid YAML: " + error.msg});
  }
  return document;
}

}  // namespace otc::host::plugin_host

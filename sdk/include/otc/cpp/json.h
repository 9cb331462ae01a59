// JSON for plugin authors: cloud answers and configuration documents, read
// without exceptions and without surprises.
//
//   auto document = otc::json::Parse(response.body());
//   if (!document.ok()) return document.status();
//   otc::json::Errors errors(*document);
//   for (otc::json::Value server : document->root().Array("servers", &errors)) {
//     std::string id = server.String("id", &errors);        // "" when absent
//     std::int64_t cpus = server.Object("flavor", &errors).Int("vcpus", &errors);
//   }
//   if (!errors.empty()) return errors.ToStatus("BadAnswer");
//
// The parser is strict (RFC 8259, UTF-8 checked, nothing behind the document) and
// bounded in depth; it does not recurse. Absent members and null are no errors: a
// getter then gives its fallback. A member of the wrong type is one: it is added
// to `errors` with its path ("servers[3].id: wanted string, found number"), and
// the getter gives the fallback too.
//
// A Document owns its memory; Values are views into it and die with it. Reading
// one document from several threads is fine. Needs RapidJSON's headers.
#ifndef OTC_CPP_JSON_H_
#define OTC_CPP_JSON_H_

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "otc/cpp/json_writer.h"
#include "otc/cpp/status.h"

namespace otc::json {

class Document;
class Errors;
class Range;

// One value of a document; the default one is absent.
class Value {
 public:
  Value() = default;

  bool exists() const { return node_ != nullptr && !node_->IsNull(); }
  bool is_object() const { return node_ != nullptr && node_->IsObject(); }
  bool is_array() const { return node_ != nullptr && node_->IsArray(); }
  bool is_string() const { return node_ != nullptr && node_->IsString(); }
  bool is_number() const { return node_ != nullptr && node_->IsNumber(); }
  bool is_bool() const { return node_ != nullptr && node_->IsBool(); }

  // The member of an object, absent if there is none or this is no object. A name
  // is taken as it is: "a.b" is one name.
  Value operator[](std::string_view name) const;
  // Number of elements or members; 0 for other types.
  std::size_t size() const;
  // An element of an array; absent if there is none.
  Value At(std::size_t index) const;

  // Members by type. `errors` may be null: then a wrong type is silently the
  // fallback, for values that do not matter.
  std::string String(std::string_view name, Errors* errors, std::string_view fallback = "") const;
  std::int64_t Int(std::string_view name, Errors* errors, std::int64_t fallback = 0) const;
  double Number(std::string_view name, Errors* errors, double fallback = 0) const;
  bool Bool(std::string_view name, Errors* errors, bool fallback = false) const;
  Value Object(std::string_view name, Errors* errors) const;
  Range Array(std::string_view name, Errors* errors) const;

  // This value itself by type.
  std::string AsString(Errors* errors, std::string_view fallback = "") const;
  std::int64_t AsInt(Errors* errors, std::int64_t fallback = 0) const;
  double AsNumber(Errors* errors, double fallback = 0) const;
  bool AsBool(Errors* errors, bool fallback = false) const;
  Value AsObject(Errors* errors) const;
  Range AsArray(Errors* errors) const;

  // Members of an object in document order; nothing for other types.
  template <typename Visit>  // void(std::string_view name, Value value)
  void ForEachMember(Visit&& visit) const {
    if (!is_object()) return;
    for (const auto& member : node_->GetObject()) {
      visit(std::string_view(member.name.GetString(), member.name.GetStringLength()),
            Value(&member.value));
    }
  }

  // The value as JSON text; empty if absent.
  std::string ToText() const;

 private:
  friend class Document;
  friend class Errors;
  friend class Range;
  explicit Value(const rapidjson::Value* node) : node_(node) {}

  const rapidjson::Value* node_ = nullptr;
};

// The elements of an array, for range-for.
class Range {
 public:
  class Iterator {
   public:
    explicit Iterator(const rapidjson::Value* at) : at_(at) {}
    Value operator*() const { return Value(at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const rapidjson::Value* at_;
  };

  Range() = default;
  explicit Range(Value array)
      : begin_(array.is_array() ? array.node_->Begin() : nullptr),
        end_(array.is_array() ? array.node_->End() : nullptr) {}

  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }
  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  bool empty() const { return begin_ == end_; }

 private:
  const rapidjson::Value* begin_ = nullptr;
  const rapidjson::Value* end_ = nullptr;
};

class Document {
 public:
  Value root() const { return Value(tree_.get()); }

 private:
  friend Result<Document> Parse(std::string_view, std::size_t);
  Document() : tree_(std::make_unique<rapidjson::Document>()) {}

  std::unique_ptr<rapidjson::Document> tree_;  // a stable address for Values
};

// Type errors of one document or of one part of it, at most 20 in words.
class Errors {
 public:
  explicit Errors(const Document& document) : root_(document.root()) {}

  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  const std::vector<std::string>& texts() const { return texts_; }

  // Adds "<path>: <text>" for an error that the caller found in a value.
  void Add(const Value& value, const std::string& text) {
    ++count_;
    if (texts_.size() < kMaxTexts) texts_.push_back(PathOf(value) + ": " + text);
  }
  void AddWrongType(const Value& value, const char* wanted) {
    Add(value, std::string("wanted ") + wanted + ", found " + TypeName(value));
  }

  Status ToStatus(const std::string& reason, Code code = Code::kInvalidArgument) const {
    if (empty()) return Status::Ok();
    std::string message;
    for (const std::string& text : texts_) message += (message.empty() ? "" : "; ") + text;
    if (count_ > texts_.size()) {
      message += "; and " + std::to_string(count_ - texts_.size()) + " more";
    }
    return Status(code, reason, message);
  }

  // Where a value stands: "servers[3].id", "(root)"; searched only when asked.
  std::string PathOf(const Value& value) const {
    std::string path;
    if (value.node_ == root_.node_) return "(root)";
    return Search(value.node_, &path) ? path : "(unknown)";
  }

 private:
  static constexpr std::size_t kMaxTexts = 20;

  static const char* TypeName(const Value& value) {
    if (!value.exists()) return "nothing";
    if (value.is_object()) return "object";
    if (value.is_array()) return "array";
    if (value.is_string()) return "string";
    return value.is_number() ? "number" : "bool";
  }

  // One visited value and how it was reached.
  struct Step {
    const rapidjson::Value* node;
    std::size_t parent;            // index of its step; its own for the root
    const rapidjson::Value* name;  // null: an element
    rapidjson::SizeType index;
  };

  // Level by level, without recursion: documents may be nested deeply. Names are
  // put together only for the value that was found: a page of a list may have an
  // error in each of its entries.
  bool Search(const rapidjson::Value* wanted, std::string* path) const {
    std::vector<Step> steps;
    if (root_.node_ != nullptr) steps.push_back({root_.node_, 0, nullptr, 0});
    for (std::size_t at = 0; at < steps.size(); ++at) {
      const rapidjson::Value& node = *steps[at].node;
      if (&node == wanted) {
        *path = PathOfStep(steps, at);
        return true;
      }
      if (node.IsObject()) {
        for (const auto& member : node.GetObject()) {
          steps.push_back({&member.value, at, &member.name, 0});
        }
      } else if (node.IsArray()) {
        for (rapidjson::SizeType i = 0; i < node.Size(); ++i) {
          steps.push_back({&node[i], at, nullptr, i});
        }
      }
    }
    return false;
  }

  static std::string PathOfStep(const std::vector<Step>& steps, std::size_t at) {
    std::string path;
    for (; at != 0; at = steps[at].parent) {
      const Step& step = steps[at];
      std::string part = step.name == nullptr
                             ? "[" + std::to_string(step.index) + "]"
                             : std::string(step.name->GetString(), step.name->GetStringLength());
      if (step.name != nullptr && step.parent != 0) part.insert(0, ".");
      path.insert(0, part);
    }
    return path;
  }

  Value root_;
  std::size_t count_ = 0;
  std::vector<std::string> texts_;
};

namespace detail {

// Passes events on to the document under construction and stops at a depth.
class DepthLimit {
 public:
  DepthLimit(rapidjson::Document* to, std::size_t limit) : to_(to), limit_(limit) {}

  bool Null() { return to_->Null(); }
  bool Bool(bool value) { return to_->Bool(value); }
  bool Int(int value) { return to_->Int(value); }
  bool Uint(unsigned value) { return to_->Uint(value); }
  bool Int64(std::int64_t value) { return to_->Int64(value); }
  bool Uint64(std::uint64_t value) { return to_->Uint64(value); }
  bool Double(double value) { return to_->Double(value); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool copy) {
    return to_->RawNumber(text, size, copy);
  }
  bool String(const char* text, rapidjson::SizeType size, bool copy) {
    return to_->String(text, size, copy);
  }
  bool Key(const char* text, rapidjson::SizeType size, bool copy) {
    return to_->Key(text, size, copy);
  }
  bool StartObject() { return ++depth_ <= limit_ && to_->StartObject(); }
  bool EndObject(rapidjson::SizeType count) {
    --depth_;
    return to_->EndObject(count);
  }
  bool StartArray() { return ++depth_ <= limit_ && to_->StartArray(); }
  bool EndArray(rapidjson::SizeType count) {
    --depth_;
    return to_->EndArray(count);
  }

 private:
  rapidjson::Document* to_;
  std::size_t limit_;
  std::size_t depth_ = 0;
};

}  // namespace detail

// INVALID_ARGUMENT `BadJson` with the offset of the first error; never any of the
// text itself, which may be secret.
inline Result<Document> Parse(std::string_view text, std::size_t max_depth = 64) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  if (text.empty()) return Status(Code::kInvalidArgument, "BadJson", "the document is empty");
  Document document;
  rapidjson::MemoryStream raw(text.data(), text.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream(raw);
  rapidjson::Reader reader;
  rapidjson::ParseResult result;
  const auto generate = [&](rapidjson::Document& tree) {
    detail::DepthLimit handler(&tree, max_depth);
    result = reader.Parse<kFlags>(stream, handler);
    return !result.IsError();
  };
  document.tree_->Populate(generate);
  if (!result.IsError()) return document;
  const std::string reason = result.Code() == rapidjson::kParseErrorTermination
                                 ? "nested deeper than " + std::to_string(max_depth)
                                 : rapidjson::GetParseError_En(result.Code());
  return Status(Code::kInvalidArgument, "BadJson",
                "at byte " + std::to_string(result.Offset()) + ": " + reason);
}

inline Value Value::operator[](std::string_view name) const {
  if (!is_object()) return Value();
  const rapidjson::Value key(
      rapidjson::StringRef(name.data() == nullptr ? "" : name.data(), name.size()));
  const auto found = node_->FindMember(key);
  return found == node_->MemberEnd() ? Value() : Value(&found->value);
}

inline std::size_t Value::size() const {
  if (is_array()) return node_->Size();
  return is_object() ? node_->MemberCount() : 0;
}

inline Value Value::At(std::size_t index) const {
  if (!is_array() || index >= node_->Size()) return Value();
  return Value(&(*node_)[static_cast<rapidjson::SizeType>(index)]);
}

inline std::string Value::AsString(Errors* errors, std::string_view fallback) const {
  if (is_string()) return std::string(node_->GetString(), node_->GetStringLength());
  if (exists() && errors != nullptr) errors->AddWrongType(*this, "string");
  return std::string(fallback);
}

inline std::int64_t Value::AsInt(Errors* errors, std::int64_t fallback) const {
  if (node_ != nullptr && node_->IsInt64()) return node_->GetInt64();
  if (exists() && errors != nullptr) errors->AddWrongType(*this, "whole number of 64 bits");
  return fallback;
}

inline double Value::AsNumber(Errors* errors, double fallback) const {
  if (is_number()) return node_->GetDouble();
  if (exists() && errors != nullptr) errors->AddWrongType(*this, "number");
  return fallback;
}

inline bool Value::AsBool(Errors* errors, bool fallback) const {
  if (is_bool()) return node_->GetBool();
  if (exists() && errors != nullptr) errors->AddWrongType(*this, "true or false");
  return fallback;
}

inline Value Value::AsObject(Errors* errors) const {
  if (is_object()) return *this;
  if (exists() && errors != nullptr) errors->AddWrongType(*this, "object");
  return Value();
}

inline Range Value::AsArray(Errors* errors) const {
  if (exists() && !is_array() && errors != nullptr) errors->AddWrongType(*this, "array");
  return Range(*this);
}

inline std::string Value::String(std::string_view name, Errors* errors,
                                 std::string_view fallback) const {
  return (*this)[name].AsString(errors, fallback);
}

inline std::int64_t Value::Int(std::string_view name, Errors* errors, std::int64_t fallback) const {
  return (*this)[name].AsInt(errors, fallback);
}

inline double Value::Number(std::string_view name, Errors* errors, double fallback) const {
  return (*this)[name].AsNumber(errors, fallback);
}

inline bool Value::Bool(std::string_view name, Errors* errors, bool fallback) const {
  return (*this)[name].AsBool(errors, fallback);
}

inline Value Value::Object(std::string_view name, Errors* errors) const {
  return (*this)[name].AsObject(errors);
}

inline Range Value::Array(std::string_view name, Errors* errors) const {
  return (*this)[name].AsArray(errors);
}

inline std::string Value::ToText() const {
  if (node_ == nullptr) return "";
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  node_->Accept(writer);
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace otc::json

#endif  // OTC_CPP_JSON_H_

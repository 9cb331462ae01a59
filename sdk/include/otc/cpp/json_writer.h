// Writes JSON: request bodies of plugins. The other direction is otc/cpp/json.h.
//
// A value of one thread; nothing throws. Text that is not UTF-8 is written as it
// is: repair it first (otc/cpp/text.h). Needs RapidJSON's headers.
#ifndef OTC_CPP_JSON_WRITER_H_
#define OTC_CPP_JSON_WRITER_H_

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace otc::json {

// Builds request bodies: the caller's calls are the document, in order.
//   Writer body; body.Object(); body.Key("name"); body.String(name); body.End();
class Writer {
 public:
  Writer& Object() { return Open(true); }
  Writer& Array() { return Open(false); }
  // Closes the innermost object or array.
  Writer& End() {
    if (open_.empty()) return *this;
    open_.back() ? writer_.EndObject() : writer_.EndArray();
    open_.pop_back();
    return *this;
  }
  Writer& Key(std::string_view name) {
    writer_.Key(Pointer(name), static_cast<rapidjson::SizeType>(name.size()));
    return *this;
  }
  Writer& String(std::string_view text) {
    writer_.String(Pointer(text), static_cast<rapidjson::SizeType>(text.size()));
    return *this;
  }
  Writer& Int(std::int64_t value) { return writer_.Int64(value), *this; }
  Writer& Bool(bool value) { return writer_.Bool(value), *this; }
  Writer& Null() { return writer_.Null(), *this; }

  // The text, once everything is closed.
  std::string Text() const { return std::string(buffer_.GetString(), buffer_.GetSize()); }

 private:
  static const char* Pointer(std::string_view text) {
    return text.data() == nullptr ? "" : text.data();
  }
  Writer& Open(bool object) {
    object ? writer_.StartObject() : writer_.StartArray();
    open_.push_back(object);
    return *this;
  }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
  std::vector<bool> open_;
};

}  // namespace otc::json

#endif  // OTC_CPP_JSON_WRITER_H_

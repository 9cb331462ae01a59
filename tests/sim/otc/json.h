// JSON for the simulator. JsonWriter appends text as it goes, so a page of a
// thousand servers needs no document tree. JsonFields reads an object of the
// start-up file or the control API and gathers every mistake at once: wrong
// types, missing and unknown members, each with its path.
//
// Values, one thread. Parse errors are Status (Poco's exceptions end here).
#ifndef OTC_TESTS_SIM_OTC_JSON_H_
#define OTC_TESTS_SIM_OTC_JSON_H_

#include <Poco/JSON/Array.h>
#include <Poco/JSON/Object.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/include/otc/cpp/status.h"

namespace otc::sim {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);
  JsonWriter& String(std::string_view value);
  JsonWriter& Int(std::int64_t value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  JsonWriter& Raw(std::string_view json);  // one value that is JSON already

  // Member shorthands: Field("id", server.id). A null pointer is null.
  JsonWriter& Field(std::string_view key, std::string_view value) { return Key(key).String(value); }
  JsonWriter& Field(std::string_view key, const std::string& value) {
    return Key(key).String(value);
  }
  JsonWriter& Field(std::string_view key, const char* value) { return Key(key).String(value); }
  JsonWriter& Field(std::string_view key, std::int64_t value) { return Key(key).Int(value); }
  JsonWriter& Field(std::string_view key, int value) { return Key(key).Int(value); }
  JsonWriter& Field(std::string_view key, bool value) { return Key(key).Bool(value); }
  JsonWriter& Field(std::string_view key, std::nullptr_t) { return Key(key).Null(); }

  std::string Take() { return std::move(text_); }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Comma();
  void Quote(std::string_view text);

  std::string text_;
  bool need_comma_ = false;
};

// A document whose top level is an object; INVALID_ARGUMENT "BadJson" else.
Result<Poco::JSON::Object::Ptr> ParseJsonObject(const std::string& text);
std::string ToJsonText(const Poco::Dynamic::Var& value);

class JsonFields {
 public:
  // `errors` outlives the reader and collects one line a mistake.
  JsonFields(Poco::JSON::Object::Ptr object, std::string path, std::vector<std::string>* errors);

  bool Has(const std::string& key) const;

  // Each returns whether the member was there and of the right type; `out` is
  // left alone otherwise. Null counts as absent.
  bool String(const std::string& key, std::string* out);
  bool Int(const std::string& key, std::int64_t* out, std::int64_t min, std::int64_t max);
  bool Number(const std::string& key, double* out);  // not negative
  bool Bool(const std::string& key, bool* out);
  bool OneOf(const std::string& key, std::string* out, const std::vector<std::string>& allowed);
  bool Strings(const std::string& key, std::vector<std::string>* out);
  bool StringMap(const std::string& key, std::map<std::string, std::string>* out);
  Poco::JSON::Object::Ptr Object(const std::string& key);                // null if absent or wrong
  std::vector<Poco::JSON::Object::Ptr> Objects(const std::string& key);  // an array of objects
  bool Any(const std::string& key, Poco::Dynamic::Var* out);

  void Error(const std::string& key, const std::string& what);
  std::string PathOf(const std::string& key) const;
  // Reports members that nobody asked for; call last.
  void Finish();

 private:
  // Marks `key` as known; null Var if absent.
  Poco::Dynamic::Var Take(const std::string& key);

  Poco::JSON::Object::Ptr object_;
  std::string path_;
  std::vector<std::string>* errors_;
  std::vector<std::string> known_;
};

// OK, or INVALID_ARGUMENT "BadInput" with all lines joined by "; ".
Status ErrorsToStatus(const std::vector<std::string>& errors);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_JSON_H_

#include "tests/sim/otc/json.h"

#include <Poco/Exception.h>
#include <Poco/JSON/Parser.h>
#include <Poco/JSON/Stringifier.h>

#include <algorithm>
#include <sstream>

#include "host/base/strings.h"

namespace otc::sim {

using Poco::Dynamic::Var;
using JsonArray = Poco::JSON::Array;
using JsonObject = Poco::JSON::Object;

void JsonWriter::Comma() {
  if (need_comma_) text_ += ',';
}

JsonWriter& JsonWriter::Open(char bracket) {
  Comma();
  text_ += bracket;
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_ += bracket;
  need_comma_ = true;
  return *this;
}

void JsonWriter::Quote(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
  });
  if (!plain) {
    text_ += host::JsonQuote(text);
    return;
  }
  text_ += '"';
  text_ += text;
  text_ += '"';
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Comma();
  Quote(key);
  text_ += ':';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) {
  Comma();
  Quote(value);
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Comma();
  text_ += json;
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Int(std::int64_t value) { return Raw(std::to_string(value)); }
JsonWriter& JsonWriter::Bool(bool value) { return Raw(value ? "true" : "false"); }
JsonWriter& JsonWriter::Null() { return Raw("null"); }

Result<JsonObject::Ptr> ParseJsonObject(const std::string& text) {
  try {
    Poco::JSON::Parser parser;
    const Var value = parser.parse(text);
    if (value.type() == typeid(JsonObject::Ptr)) return value.extract<JsonObject::Ptr>();
    return Status(Code::kInvalidArgument, "BadJson", "the document is not a JSON object");
  } catch (const Poco::Exception& error) {
    return Status(Code::kInvalidArgument, "BadJson", error.displayText());
  }
}

std::string ToJsonText(const Var& value) {
  std::ostringstream out;
  Poco::JSON::Stringifier::condense(value, out);
  return out.str();
}

JsonFields::JsonFields(JsonObject::Ptr object, std::string path, std::vector<std::string>* errors)
    : object_(std::move(object)), path_(std::move(path)), errors_(errors) {}

std::string JsonFields::PathOf(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void JsonFields::Error(const std::string& key, const std::string& what) {
  errors_->push_back(PathOf(key) + ": " + what);
}

bool JsonFields::Has(const std::string& key) const {
  return object_->has(key) && !object_->isNull(key);
}

Var JsonFields::Take(const std::string& key) {
  known_.push_back(key);
  return Has(key) ? object_->get(key) : Var();
}

bool JsonFields::String(const std::string& key, std::string* out) {
  const Var value = Take(key);
  if (value.isEmpty()) return false;
  if (!value.isString()) {
    Error(key, "must be a string, is " + ToJsonText(value));
    return false;
  }
  *out = value.extract<std::string>();
  return true;
}

bool JsonFields::Int(const std::string& key, std::int64_t* out, std::int64_t min,
                     std::int64_t max) {
  const Var value = Take(key);
  if (value.isEmpty()) return false;
  if (value.isInteger() && !value.isBoolean()) {
    const auto number = value.convert<std::int64_t>();
    if (number >= min && number <= max) {
      *out = number;
      return true;
    }
  }
  Error(key, "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max) +
                 ", is " + ToJsonText(value));
  return false;
}

bool JsonFields::Number(const std::string& key, double* out) {
  const Var value = Take(key);
  if (value.isEmpty()) return false;
  if (value.isNumeric() && !value.isBoolean() && value.convert<double>() >= 0) {
    *out = value.convert<double>();
    return true;
  }
  Error(key, "must be a number that is not negative, is " + ToJsonText(value));
  return false;
}

bool JsonFields::Bool(const std::string& key, bool* out) {
  const Var value = Take(key);
  if (value.isEmpty()) return false;
  if (!value.isBoolean()) {
    Error(key, "must be true or false, is " + ToJsonText(value));
    return false;
  }
  *out = value.convert<bool>();
  return true;
}

bool JsonFields::OneOf(const std::string& key, std::string* out,
                       const std::vector<std::string>& allowed) {
  std::string text;
  if (!String(key, &text)) return false;
  if (std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
    Error(key, "'" + text + "' is not one of " + host::Join(allowed, ", "));
    return false;
  }
  *out = text;
  return true;
}

bool JsonFields::Strings(const std::string& key, std::vector<std::string>* out) {
  const Var value = Take(key);
  if (value.isEmpty()) return false;
  std::vector<std::string> strings;
  if (value.type() == typeid(JsonArray::Ptr)) {
    const auto& array = value.extract<JsonArray::Ptr>();
    for (const Var& item : *array) {
      if (!item.isString()) break;
      strings.push_back(item.extract<std::string>());
    }
    if (strings.size() == array->size()) {
      *out = std::move(strings);
      return true;
    }
  }
  Error(key, "must be a list of strings, is " + ToJsonText(value));
  return false;
}

bool JsonFields::StringMap(const std::string& key, std::map<std::string, std::string>* out) {
  const JsonObject::Ptr object = Object(key);
  if (object.isNull()) return false;
  std::map<std::string, std::string> map;
  for (const auto& [name, value] : *object) {
    if (!value.isString()) {
      Error(key, "'" + name + "' must be a string, is " + ToJsonText(value));
      return false;
    }
    map[name] = value.extract<std::string>();
  }
  *out = std::move(map);
  return true;
}

JsonObject::Ptr JsonFields::Object(const std::string& key) {
  const Var value = Take(key);
  if (value.isEmpty()) return nullptr;
  if (value.type() != typeid(JsonObject::Ptr)) {
    Error(key, "must be an object, is " + ToJsonText(value));
    return nullptr;
  }
  return value.extract<JsonObject::Ptr>();
}

std::vector<JsonObject::Ptr> JsonFields::Objects(const std::string& key) {
  const Var value = Take(key);
  std::vector<JsonObject::Ptr> objects;
  if (value.isEmpty()) return objects;
  if (value.type() == typeid(JsonArray::Ptr)) {
    const auto& array = value.extract<JsonArray::Ptr>();
    for (const Var& item : *array) {
      if (item.type() == typeid(JsonObject::Ptr))
        objects.push_back(item.extract<JsonObject::Ptr>());
    }
    if (objects.size() == array->size()) return objects;
  }
  Error(key, "must be a list of objects");
  return {};
}

bool JsonFields::Any(const std::string& key, Var* out) {
  const Var value = Take(key);
  if (value.isEmpty()) return false;
  *out = value;
  return true;
}

void JsonFields::Finish() {
  for (const auto& [name, value] : *object_) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const auto nearest = host::Nearest(name, known_);
    Error(name, nearest ? "unknown; did you mean '" + *nearest + "'?"
                        : "unknown; allowed are " + host::Join(known_, ", "));
  }
}

Status ErrorsToStatus(const std::vector<std::string>& errors) {
  if (errors.empty()) return Status::Ok();
  return Status(Code::kInvalidArgument, "BadInput", host::Join(errors, "; "));
}

}  // namespace otc::sim

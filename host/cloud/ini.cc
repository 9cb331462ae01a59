#include "host/cloud/ini.h"

#include <algorithm>
#include <optional>

#include "host/base/strings.h"

namespace otc::host::cloud {
namespace {

bool IsComment(char c) { return c == ';' || c == '#'; }

class Reader {
 public:
  IniFile Read(std::string_view text) {
    if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);  // editors add it
    for (const std::string& line : Split(text, '\n')) {
      ++line_;
      ReadLine(TrimSpace(line));
    }
    return std::move(file_);
  }

 private:
  void Error(std::string message) { file_.errors.push_back({line_, std::move(message)}); }

  void ReadLine(std::string_view line) {
    if (line.empty() || IsComment(line.front())) return;
    if (!IsValidUtf8(line) || std::any_of(line.begin(), line.end(), [](unsigned char c) {
          return (c < ' ' && c != '\t') || c == 0x7f;
        })) {
      Error("control characters or bytes that are not UTF-8");
    } else if (line.front() == '[') {
      ReadSection(line);
    } else {
      ReadEntry(line);
    }
  }

  void ReadSection(std::string_view line) {
    const std::size_t close = line.find(']');
    const std::string name(
        TrimSpace(line.substr(1, close == std::string_view::npos ? close : close - 1)));
    const std::string_view rest =
        close == std::string_view::npos ? "" : TrimSpace(line.substr(close + 1));
    // Also after an error, so that the keys below are not reported once more.
    section_ = file_.sections.size();
    file_.sections.push_back({name, line_, {}});
    if (close == std::string_view::npos || !LooksLikeKeyName(name) ||
        (!rest.empty() && !IsComment(rest.front()))) {
      Error("malformed section header, expected [Name] alone on its line");
      return;
    }
    for (std::size_t i = 0; i < section_; ++i) {
      const IniSection& other = file_.sections[i];
      if (!EqualsIgnoreCase(other.name, name)) continue;
      Error("section [" + name + "] is already on line " + std::to_string(other.line) +
            "; put its keys there");
      return;
    }
  }

  void ReadEntry(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      Error("expected `key = value`, found no `=` (line not shown: it may hold a secret)");
      return;
    }
    const std::string key(TrimSpace(line.substr(0, equals)));
    if (!LooksLikeKeyName(key)) {
      Error("what stands before `=` is no key name (not shown: it may be a secret)");
      return;
    }
    const std::optional<std::string> value = ReadValue(key, TrimSpace(line.substr(equals + 1)));
    if (!value) return;
    if (file_.sections.empty()) {
      Error("key " + key + " stands before the first section; put it below [Global]");
      return;
    }
    IniSection& section = file_.sections[section_];
    for (const IniEntry& other : section.entries) {
      if (EqualsIgnoreCase(other.key, key)) {
        Error("key " + key + " is already on line " + std::to_string(other.line));
        return;
      }
    }
    section.entries.push_back({key, *value, line_});
  }

  std::optional<std::string> ReadValue(const std::string& key, std::string_view text) {
    if (text.empty() || text.front() != '"') {
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (IsComment(text[i]) && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t')) {
          text = text.substr(0, i);
          break;
        }
      }
      return std::string(TrimSpace(text));
    }
    std::string value;
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '"') {
        const std::string_view rest = TrimSpace(text.substr(i + 1));
        if (rest.empty() || IsComment(rest.front())) return value;
        Error("key " + key + ": text behind the closing quote");
        return std::nullopt;
      }
      if (text[i] != '\\') {
        value += text[i];
        continue;
      }
      const char escaped = ++i < text.size() ? text[i] : '\0';
      if (escaped == '"' || escaped == '\\') {
        value += escaped;
      } else if (escaped == 'n' || escaped == 't') {
        value += escaped == 'n' ? '\n' : '\t';
      } else {
        Error("key " + key + ": unknown escape; allowed are \\\" \\\\ \\n \\t");
        return std::nullopt;
      }
    }
    Error("key " + key + ": the closing quote is missing");
    return std::nullopt;
  }

  IniFile file_;
  std::size_t section_ = 0;  // index into file_.sections
  int line_ = 0;
};

}  // namespace

bool LooksLikeKeyName(std::string_view word) {
  constexpr std::size_t kLongest = 32;
  if (word.empty() || word.size() > kLongest) return false;
  // Digits are rare in names and common in keys.
  const auto digits =
      std::count_if(word.begin(), word.end(), [](unsigned char c) { return c >= '0' && c <= '9'; });
  return digits <= 2 && std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
         });
}

IniFile ParseIni(std::string_view text) { return Reader().Read(text); }

}  // namespace otc::host::cloud

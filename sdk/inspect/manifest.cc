#include "sdk/inspect/manifest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

namespace otc::inspect {
namespace {

constexpr std::size_t kMaxErrors = 50;
constexpr std::array<std::string_view, 6> kBuilds = {"release", "debug", "asan",
                                                     "tsan",    "msan",  "ubsan"};

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A word of lower-case letters, digits and the characters of `extra`.
bool IsWord(std::string_view text, std::string_view extra) {
  return !text.empty() && IsLowerOrDigit(text.front()) && IsLowerOrDigit(text.back()) &&
         std::all_of(text.begin(), text.end(), [extra](char c) {
           return IsLowerOrDigit(c) || extra.find(c) != std::string_view::npos;
         });
}

template <typename T>
bool ParseNumber(std::string_view text, T* out) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

// Text of the note as it may appear in a message: short, printable ASCII.
std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 80)) out += c >= 0x20 && c < 0x7f ? c : '?';
  if (text.size() > 80) out += "…";
  return out + "\"";
}

class Parser {
 public:
  ManifestResult Run(std::string_view note);

 private:
  void Error(std::string text) {
    if (result_.errors.size() < kMaxErrors) result_.errors.push_back({line_, std::move(text)});
  }
  void Line(std::string_view line);
  void Value(std::string_view key, std::string_view value);
  void Abi(std::string_view value);
  void Needs(std::string_view value);
  void Kube(std::string_view value);
  void CheckMandatory();
  // Splits at single blanks; an empty item is an error.
  std::vector<std::string_view> Items(std::string_view key, std::string_view value);
  // A list whose items pass `valid`, without repeats.
  std::vector<std::string> List(std::string_view key, std::string_view value,
                                bool (*valid)(std::string_view), const char* wanted);

  ManifestResult result_;
  std::set<std::string, std::less<>> seen_;
  int line_ = 0;
};

ManifestResult Parser::Run(std::string_view note) {
  if (note.size() > kMaxManifestBytes) {
    Error("the text has " + std::to_string(note.size()) + " bytes; allowed are 4096 with the NUL");
    return std::move(result_);
  }
  if (note.empty() || note.back() != '\0') {
    Error("the text must end with one NUL that is counted in the size of the note");
    return std::move(result_);
  }
  note.remove_suffix(1);
  while (!note.empty()) {
    ++line_;
    const std::size_t end = note.find('\n');
    Line(note.substr(0, end));
    note.remove_prefix(end == std::string_view::npos ? note.size() : end + 1);
  }
  line_ = 0;
  CheckMandatory();
  return std::move(result_);
}

void Parser::Line(std::string_view line) {
  const bool printable =
      std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (!printable) return Error("a byte that is not printable ASCII in " + Quote(line));
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Error("expected key=value, found " + Quote(line));
  }
  const std::string_view key = line.substr(0, equals);
  const std::string_view value = line.substr(equals + 1);
  if (line_ == 1 && key != "manifest") {
    Error("the first line must be manifest=1, found " + Quote(line));
  }
  if (!seen_.emplace(key).second && key != "kube") {
    return Error("key " + Quote(key) + " is repeated");
  }
  Value(key, value);
}

void Parser::Value(std::string_view key, std::string_view value) {
  Manifest& manifest = result_.manifest;
  if (key == "manifest") {
    if (line_ != 1) Error("manifest=1 must be the first line");
    if (value != "1") Error("manifest=" + std::string(value) + " is not known; wanted manifest=1");
  } else if (key == "id") {
    manifest.id = value;
    if (!IsPluginId(value)) {
      Error("id " + Quote(value) +
            ": wanted 1 to 63 lower-case letters, digits, dots and dashes, a letter or digit at "
            "both ends");
    }
  } else if (key == "version") {
    manifest.version = value;
    if (!IsSemanticVersion(value)) {
      Error("version " + Quote(value) + ": wanted a semantic version such as 1.2.3");
    }
  } else if (key == "abi") {
    Abi(value);
  } else if (key == "provides") {
    manifest.provides = List(key, value, IsInterfaceId, "an interface id such as otc.thing/1");
  } else if (key == "needs") {
    Needs(value);
  } else if (key == "uses") {
    manifest.uses = List(key, value, IsInterfaceId, "a service id such as otc.host.log/1");
  } else if (key == "cloud") {
    manifest.cloud = List(
        key, value, [](std::string_view word) { return IsWord(word, "-"); },
        "a service name such as ecs");
  } else if (key == "exec") {
    manifest.exec = List(
        key, value, [](std::string_view word) { return IsWord(word, "-_.+"); },
        "a tool name such as mkfs.ext4");
  } else if (key == "kube") {
    Kube(value);
  } else if (key == "threads") {
    manifest.own_threads = value == "own";
    if (value != "own" && value != "none") {
      Error("threads " + Quote(value) + ": allowed are none and own");
    }
  } else if (key == "build") {
    manifest.build = value;
    if (std::find(kBuilds.begin(), kBuilds.end(), value) == kBuilds.end()) {
      Error("build " + Quote(value) + ": allowed are release, debug, asan, tsan, msan, ubsan");
    }
  } else {
    manifest.unknown_keys.emplace_back(key);
  }
}

void Parser::Abi(std::string_view value) {
  const std::size_t dot = value.find('.');
  if (dot == std::string_view::npos ||
      !ParseNumber(value.substr(0, dot), &result_.manifest.abi_major) ||
      !ParseNumber(value.substr(dot + 1), &result_.manifest.abi_minor)) {
    Error("abi " + Quote(value) + ": wanted <major>.<minor>, for instance 1.0");
  }
}

void Parser::Needs(std::string_view value) {
  for (const std::string_view item : Items("needs", value)) {
    ServiceNeed need;
    const std::size_t at = item.find(">=");
    need.id = item.substr(0, at);
    if (!IsInterfaceId(need.id) ||
        (at != std::string_view::npos && !ParseNumber(item.substr(at + 2), &need.min_size))) {
      Error("needs " + Quote(item) +
            ": wanted <service id> or <service id>>=<struct_size>, for instance "
            "otc.host.cloud/1>=16");
      continue;
    }
    const bool repeated =
        std::any_of(result_.manifest.needs.begin(), result_.manifest.needs.end(),
                    [&need](const ServiceNeed& other) { return other.id == need.id; });
    if (repeated) Error("needs " + Quote(item) + ": the service is listed twice");
    result_.manifest.needs.push_back(std::move(need));
  }
}

void Parser::Kube(std::string_view value) {
  std::vector<std::string_view> items = Items("kube", value);
  if (items.size() < 2) {
    return Error("kube " + Quote(value) +
                 ": wanted <verbs> <group>/<version>/<resource>, for instance "
                 "get list /v1/nodes");
  }
  const std::string_view path = items.back();
  items.pop_back();
  const std::size_t first = path.find('/');
  const std::size_t second = first == std::string_view::npos ? first : path.find('/', first + 1);
  if (second == std::string_view::npos) {
    return Error("kube " + Quote(path) +
                 ": wanted <group>/<version>/<resource>; the core group is empty: /v1/nodes");
  }
  KubeRule rule;
  rule.group = path.substr(0, first);
  rule.version = path.substr(first + 1, second - first - 1);
  rule.resource = path.substr(second + 1);
  if ((!rule.group.empty() && !IsWord(rule.group, ".-")) || !IsWord(rule.version, "") ||
      !IsWord(rule.resource, "/-.")) {
    Error("kube " + Quote(path) + ": group, version and resource are lower-case words");
  }
  for (const std::string_view verb : items) {
    if (!IsWord(verb, "")) Error("kube verb " + Quote(verb) + ": wanted a lower-case word");
    rule.verbs.emplace_back(verb);
  }
  result_.manifest.kube.push_back(std::move(rule));
}

void Parser::CheckMandatory() {
  for (const char* key : {"manifest", "id", "version", "abi", "provides", "build"}) {
    if (seen_.count(key) == 0) Error(std::string("key \"") + key + "\" is missing");
  }
}

std::vector<std::string_view> Parser::Items(std::string_view key, std::string_view value) {
  std::vector<std::string_view> items;
  while (!value.empty()) {
    const std::size_t end = value.find(' ');
    const std::string_view item = value.substr(0, end);
    if (item.empty() || end == value.size() - 1) {
      Error(std::string(key) + ": items are separated by one blank, none at the ends");
    }
    if (!item.empty()) items.push_back(item);
    value.remove_prefix(end == std::string_view::npos ? value.size() : end + 1);
  }
  return items;
}

std::vector<std::string> Parser::List(std::string_view key, std::string_view value,
                                      bool (*valid)(std::string_view), const char* wanted) {
  std::vector<std::string> out;
  for (const std::string_view item : Items(key, value)) {
    if (!valid(item)) {
      Error(std::string(key) + " " + Quote(item) + ": wanted " + wanted);
    } else if (std::find(out.begin(), out.end(), item) != out.end()) {
      Error(std::string(key) + " " + Quote(item) + ": listed twice");
    } else {
      out.emplace_back(item);
    }
  }
  return out;
}

// Consumes a number without leading zeros; false if there is none.
bool TakeNumber(std::string_view* text) {
  std::size_t digits = 0;
  while (digits < text->size() && IsDigit((*text)[digits])) ++digits;
  if (digits == 0 || digits > 9 || (digits > 1 && text->front() == '0')) return false;
  text->remove_prefix(digits);
  return true;
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

// Dot-separated words of letters, digits and dashes, up to `stop`.
bool TakeLabels(std::string_view* text, char stop) {
  const std::string_view labels = text->substr(0, text->find(stop));
  text->remove_prefix(labels.size());
  if (labels.empty() || labels.back() == '.') return false;
  char previous = '.';
  for (const char c : labels) {
    if (c == '.' && previous == '.') return false;
    if (!IsDigit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '-' && c != '.') {
      return false;
    }
    previous = c;
  }
  return true;
}

}  // namespace

bool Manifest::Names(std::string_view service) const {
  return std::find(uses.begin(), uses.end(), service) != uses.end() ||
         std::any_of(needs.begin(), needs.end(),
                     [service](const ServiceNeed& need) { return need.id == service; });
}

std::string ManifestResult::ErrorText() const {
  std::string out;
  for (const ManifestError& error : errors) {
    if (!out.empty()) out += "; ";
    if (error.line > 0) out += "line " + std::to_string(error.line) + ": ";
    out += error.text;
  }
  return out;
}

ManifestResult ParseManifestNote(std::string_view note) { return Parser().Run(note); }

std::vector<const Note*> ManifestNotes(const ElfInfo& elf) {
  std::vector<const Note*> out;
  for (const Note& note : elf.notes) {
    if (note.owner == kManifestOwner && note.type == kManifestNoteType) out.push_back(&note);
  }
  return out;
}

bool IsPluginId(std::string_view id) { return id.size() <= 63 && IsWord(id, ".-"); }

bool IsInterfaceId(std::string_view id) {
  const std::size_t slash = id.find('/');
  if (slash == std::string_view::npos || id.size() > 63) return false;
  std::string_view number = id.substr(slash + 1);
  if (number.substr(0, 6) == "draft-") number.remove_prefix(6);
  return IsWord(id.substr(0, slash), ".-") && TakeNumber(&number) && number.empty();
}

bool IsDraftId(std::string_view id) { return id.find("/draft-") != std::string_view::npos; }

bool IsSemanticVersion(std::string_view version) {
  if (version.size() > 63) return false;
  if (!TakeNumber(&version) || !TakeChar(&version, '.') || !TakeNumber(&version) ||
      !TakeChar(&version, '.') || !TakeNumber(&version)) {
    return false;
  }
  if (TakeChar(&version, '-') && !TakeLabels(&version, '+')) return false;
  if (TakeChar(&version, '+') && !TakeLabels(&version, '\0')) return false;
  return version.empty();
}

}  // namespace otc::inspect

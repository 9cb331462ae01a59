// INI reader for cloud.conf: sections, keys, values, each with its line.
//
// The dialect is what Go programs with gcfg accept and people really write:
// `[Section]`, `key = value`, comments from `;` or `#` (at the start of a line or
// behind a blank), values in double quotes with \" \\ \n \t. Names are compared
// without regard to case. Not accepted: keys before the first section, line
// continuation, sub-sections, the same section or key twice.
//
// Pure. Never stops at the first error and never repeats a value in an error: it
// may be a secret in the wrong place.
#ifndef OTC_HOST_CLOUD_INI_H_
#define OTC_HOST_CLOUD_INI_H_

#include <string>
#include <string_view>
#include <vector>

namespace otc::host::cloud {

struct IniEntry {
  std::string key;
  std::string value;
  int line = 0;
};

struct IniSection {
  std::string name;
  int line = 0;
  std::vector<IniEntry> entries;
};

struct IniError {
  int line = 0;
  std::string message;
};

struct IniFile {
  std::vector<IniSection> sections;
  std::vector<IniError> errors;
};

IniFile ParseIni(std::string_view text);

// Whether a word may be shown in an error: short and made like a key name, so
// that a key pasted into the wrong place is not printed.
bool LooksLikeKeyName(std::string_view word);

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_INI_H_

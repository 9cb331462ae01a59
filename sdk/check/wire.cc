#include "sdk/check/wire.h"

#include <unistd.h>

namespace otc::check {

void Wire::Send(std::string_view kind, std::initializer_list<std::string_view> fields) const {
  std::string line(kind);
  for (const std::string_view field : fields) {
    line += '\t';
    for (const char c : field) {
      if (c == '\\') {
        line += "\\\\";
      } else if (c == '\t') {
        line += "\\t";
      } else if (c == '\n') {
        line += "\\n";
      } else {
        line += c;
      }
    }
  }
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t sent = write(fd_, rest.data(), rest.size());
    if (sent <= 0) return;  // the parent is gone or will see that "done" is missing
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::vector<std::string> ParseWireLine(std::string_view line) {
  std::vector<std::string> fields(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') {
      fields.emplace_back();
    } else if (line[i] == '\\' && i + 1 < line.size()) {
      ++i;
      fields.back() += line[i] == 't' ? '\t' : line[i] == 'n' ? '\n' : line[i];
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

}  // namespace otc::check

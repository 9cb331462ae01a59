// What a judging child tells its parent, line by line over a pipe, so that the
// verdict survives a child that crashes, hangs or exits.
#ifndef OTC_SDK_CHECK_WIRE_H_
#define OTC_SDK_CHECK_WIRE_H_

#include <string>
#include <string_view>
#include <vector>

#include "sdk/inspect/rules.h"

namespace otc::check {

// The child's end. Each call is one write(2), so nothing is lost in a buffer.
class Wire {
 public:
  explicit Wire(int fd) : fd_(fd) {}

  void Stage(std::string_view name) const { Send("stage", {name}); }
  void Judged(std::string_view rule) const { Send("judged", {rule}); }
  void NotJudged(std::string_view rule, std::string_view why) const {
    Send("not-judged", {rule, why});
  }
  void Violation(const inspect::Violation& violation) const {
    Send("violation", {violation.rule, violation.found, violation.wanted, violation.advice});
  }
  void Done() const { Send("done", {}); }

 private:
  void Send(std::string_view kind, std::initializer_list<std::string_view> fields) const;

  int fd_;
};

// The fields of a line, the kind first. Tabs and line breaks inside are escaped.
std::vector<std::string> ParseWireLine(std::string_view line);

}  // namespace otc::check

#endif  // OTC_SDK_CHECK_WIRE_H_

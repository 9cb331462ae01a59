// A snapshot of what a constructor or an entry must not touch (rule ABI-R06):
// open files, threads, environment, working directory, umask, locale, signal
// handlers, resource limits.
//
// For single-threaded use in a judging child.
#ifndef OTC_SDK_CHECK_PROCESS_STATE_H_
#define OTC_SDK_CHECK_PROCESS_STATE_H_

#include <map>
#include <string>
#include <vector>

namespace otc::check {

class ProcessState {
 public:
  static ProcessState Now();

  // "environment: OTC_X=1 is new", one entry for each difference.
  std::vector<std::string> ChangesSince(const ProcessState& before) const;

 private:
  std::map<std::string, std::string> facts_;
};

}  // namespace otc::check

#endif  // OTC_SDK_CHECK_PROCESS_STATE_H_

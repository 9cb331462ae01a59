// Judges a plugin file: the static rules here, the rest in child processes that
// may crash, hang or exit without harm.
#ifndef OTC_SDK_CHECK_JUDGE_H_
#define OTC_SDK_CHECK_JUDGE_H_

#include <string>

#include "otc/cpp/status.h"
#include "sdk/check/report.h"

namespace otc::check {

struct JudgeOptions {
  std::string role;
  std::string config;
  bool allow_debug = false;
  int step_timeout_s = 10;  // of real time, for each step of a child
};

// NOT_FOUND if the file cannot be read; every other finding is in the report.
Result<Report> Judge(const std::string& path, const JudgeOptions& options);

}  // namespace otc::check

#endif  // OTC_SDK_CHECK_JUDGE_H_

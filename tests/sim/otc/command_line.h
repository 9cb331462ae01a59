// Command line of otc-sim: full option names only, all mistakes at once.
#ifndef OTC_TESTS_SIM_OTC_COMMAND_LINE_H_
#define OTC_TESTS_SIM_OTC_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "sdk/include/otc/cpp/status.h"
#include "tests/sim/otc/simulator.h"

namespace otc::sim {

struct CommandLine {
  Options options;
  std::string document;  // JSON text of the start-up file, empty: none
  std::string ports_file;
  bool die_with_parent = false;
  std::string text_to_print;  // --help, --list-defects: print and leave
};

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

// The kernel sends SIGTERM when the parent ends; UNAVAILABLE if it is gone already.
Status DieWithParent();

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_COMMAND_LINE_H_

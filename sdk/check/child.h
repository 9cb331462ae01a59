// The part of otc-plugin-check that runs plugin code. Each group runs in a child
// process of its own (child_process.h), so that a crash in one leaves the others'
// verdicts alone.
#ifndef OTC_SDK_CHECK_CHILD_H_
#define OTC_SDK_CHECK_CHILD_H_

#include <string>

namespace otc::check {

enum class Group {
  kLoad,    // load it, call the entry, read the descriptor: LOAD-8, LOAD-10, R05, R06, R38
  kLife,    // create … destroy and every slot with plausible input: R13, R14, R16, R25, R26, R36
  kConfig,  // create with odd configurations: R10
  kInput,   // every slot with empty, huge, random input: R10
};
inline constexpr Group kGroups[] = {Group::kLoad, Group::kLife, Group::kConfig, Group::kInput};

const char* GroupName(Group group);
bool ParseGroup(const std::string& name, Group* out);

struct ChildOptions {
  Group group = Group::kLoad;
  std::string path;
  std::string role;    // empty: chosen from the interfaces
  std::string config;  // empty: the harness's default
  int wire_fd = -1;
};

// Runs one group, telling the parent through the wire. Standard output and error
// are caught. Returns the exit code.
int RunChild(const ChildOptions& options);

}  // namespace otc::check

#endif  // OTC_SDK_CHECK_CHILD_H_

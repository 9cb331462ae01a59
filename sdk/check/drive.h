// Drives the slots of a loaded plugin for the rules about behaviour, through the
// harness: its guard pages and protocol checks do the judging.
//
// Runs inside a judging child; every step is announced first, so that the parent
// knows where a child died.
#ifndef OTC_SDK_CHECK_DRIVE_H_
#define OTC_SDK_CHECK_DRIVE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/check/wire.h"
#include "sdk/harness/harness.h"

namespace otc::check {

class Driver {
 public:
  Driver(const harness::PluginLibrary& library, std::string role, std::string config,
         const Wire& wire);

  // create, start, every slot with plausible requests against a cloud that knows
  // nothing, answers garbage, fails or is away; then cancelled; quiesce, destroy.
  void Life();
  // create with configurations that are empty, no JSON, deep, large, not UTF-8.
  void Configurations();
  // Every slot with empty, huge and random bytes.
  void Inputs();

 private:
  struct Slot {
    std::string name;
    otc_method method;
    harness::SlotSpec spec;
    std::vector<std::string> requests;  // plausible ones
  };

  void FindSlots();
  // Creates an instance; empty if `create` fails. The rules that need one are then
  // told to be not judged.
  harness::Instance::Ptr Create(harness::FakeHost& host, const std::vector<const char*>& rules);
  void Call(harness::Instance& instance, const Slot& slot, std::string_view what,
            std::string_view request, const harness::CallOptions& options = {});
  void TellViolations(harness::FakeHost& host);

  const harness::PluginLibrary& library_;
  std::string role_;
  std::string config_;
  const Wire& wire_;
  std::vector<Slot> slots_;
};

}  // namespace otc::check

#endif  // OTC_SDK_CHECK_DRIVE_H_

// SharedGate: one WriteGate for all, made before the part that decides exists.
//
// The Kubernetes client and the cloud transport need a gate when they are made;
// the leader elector, whose gate it is, needs the client. Closed until Set was
// called. Thread-safe.
#ifndef OTC_HOST_CLI_SHARED_GATE_H_
#define OTC_HOST_CLI_SHARED_GATE_H_

#include <atomic>

#include "host/base/write_gate.h"

namespace otc::host::cli {

class SharedGate final : public WriteGate {
 public:
  Result<MonoTime> Admit() override {
    WriteGate* gate = gate_.load(std::memory_order_acquire);
    if (gate != nullptr) return gate->Admit();
    return Status(Code::kFailedPrecondition, "LeaseLost", "this process is not the leader (yet)");
  }
  // `gate` outlives this object's users.
  void Set(WriteGate* gate) { gate_.store(gate, std::memory_order_release); }

 private:
  std::atomic<WriteGate*> gate_{nullptr};
};

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_SHARED_GATE_H_

// WriteGate: whether this process may change anything right now.
//
// Only the leader of the controllers role writes. A write is sent only while at
// least 5 s of the lease are left, and its time-out is cut to the rest
// (docs/reference/plugin-abi.md §6). Asked directly before each attempt of each
// write, to the cloud and to the API server. Thread-safe, never blocks.
#ifndef OTC_HOST_BASE_WRITE_GATE_H_
#define OTC_HOST_BASE_WRITE_GATE_H_

#include "host/base/clock.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host {

class WriteGate {
 public:
  virtual ~WriteGate() = default;
  // Until when a write that starts now may last; FAILED_PRECONDITION with reason
  // "LeaseLost" when it must not start.
  virtual Result<MonoTime> Admit() = 0;
};

// For roles without leader election and for --leader-elect=false.
class OpenWriteGate final : public WriteGate {
 public:
  Result<MonoTime> Admit() override { return MonoTime::max(); }
};

}  // namespace otc::host

#endif  // OTC_HOST_BASE_WRITE_GATE_H_

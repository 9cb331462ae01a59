// WatchStream: the answer to one open watch: selects and encodes events, sends
// them in batches, and applies the watch's faults.
//
// Used by the connection's thread; what it is given must outlive it.
#ifndef OTC_TESTS_SIM_KUBE_WATCH_STREAM_H_
#define OTC_TESTS_SIM_KUBE_WATCH_STREAM_H_

#include <cstdint>
#include <string>

#include "tests/sim/kube/faults.h"
#include "tests/sim/kube/negotiate.h"
#include "tests/sim/kube/request_info.h"
#include "tests/sim/kube/response_writer.h"
#include "tests/sim/kube/selectors.h"
#include "tests/sim/kube/store.h"
#include "tests/sim/kube/table.h"

namespace otc::kubesim {

// Namespace, name and selectors of the request fit the object.
bool InScope(const RequestInfo& info, const Selector& selector, const StoredObject& object);

class WatchStream {
 public:
  WatchStream(const RequestInfo& info, Selector selector, Format format, const WatchFault& fault,
              const TableOptions& table, ResponseWriter& writer);

  bool Begin();  // the head; false: the peer is gone
  void Event(const char* type, const ObjectPtr& object);
  // A change as the selection sees it: entered, changed, left.
  void Apply(const Change& change);
  void Bookmark(std::uint64_t version, bool initial_events_end);
  void Error(const Json& status);  // and the end
  void Flush();
  void End();
  // Ends the stream if a fault says so at this number of events.
  bool FaultEnds();

  bool open() const { return open_; }
  const Selector& selector() const { return selector_; }
  ResponseWriter& writer() { return writer_; }

 private:
  void Append(const char* type, const ObjectPtr& object);

  const RequestInfo& info_;
  const Selector selector_;
  const Format format_;
  const WatchFault& fault_;
  TableOptions table_;
  ResponseWriter& writer_;
  std::string batch_;
  std::uint64_t events_ = 0;
  bool open_ = false;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_WATCH_STREAM_H_

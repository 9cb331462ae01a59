// ListWatch: lists in pages and watches that stream, from the Store.
//
// Reads only. A watch occupies the calling (connection's) thread until it ends:
// by its timeout, by the peer, by a fault, by EndWatches. Thread-safe.
#ifndef OTC_TESTS_SIM_KUBE_LIST_WATCH_H_
#define OTC_TESTS_SIM_KUBE_LIST_WATCH_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "host/base/clock.h"
#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/faults.h"
#include "tests/sim/kube/list_options.h"
#include "tests/sim/kube/negotiate.h"
#include "tests/sim/kube/request_info.h"
#include "tests/sim/kube/response_writer.h"
#include "tests/sim/kube/selectors.h"
#include "tests/sim/kube/store.h"
#include "tests/sim/kube/table.h"
#include "tests/sim/kube/watch_stream.h"

namespace otc::kubesim {

class ListWatch {
 public:
  ListWatch(Store& store, const host::Clock& clock) : store_(store), clock_(clock) {}

  ApiResult<Reply> List(const RequestInfo& info, const ListOptions& options, Format format) const;

  // One object as a table of one row.
  Json TableOf(const ObjectPtr& object, const std::string& include_object) const;

  // Answers through the writer; an error before the first byte is returned.
  std::optional<ApiError> Watch(const RequestInfo& info, const ListOptions& options, Format format,
                                const WatchFault& fault, ResponseWriter& writer);

  void set_bookmark_interval_ms(int interval) { bookmark_interval_ms_ = interval; }
  // Ends all running watches in good order, as after their timeout.
  void EndWatches();
  std::size_t active_watches() const;

 private:
  TableOptions TableOptionsOf(const ListOptions& options) const;
  ApiResult<Snapshot> SnapshotFor(const RequestInfo& info, const ListOptions& options,
                                  std::string& after_key) const;
  void Follow(WatchStream& stream, const RequestInfo& info, const ListOptions& options,
              std::uint64_t since, int event_fd);

  Store& store_;
  const host::Clock& clock_;
  std::atomic<int> bookmark_interval_ms_{60'000};
  std::atomic<std::uint64_t> epoch_{0};  // moves with EndWatches
  mutable std::mutex mutex_;             // guards event_fds_
  std::set<int> event_fds_;              // of the running watches
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_LIST_WATCH_H_

// One describe call: which questions are asked, in which order, and how many.
//
//   few nodes   → a GET for each (a new node: for the server with its system UUID)
//   many nodes  → the paged list, once, however many they are
//   then        → a GET for each server that the list did not show or showed as
//                 deleted, at most kMaxLookups; the rest stays UNKNOWN this time
//
// "Few" is: no more than the list has pages. A new node is found by its name,
// which must be that of exactly one server (or of one with its system UUID).
#ifndef OTC_PLUGINS_NODE_DESCRIBE_H_
#define OTC_PLUGINS_NODE_DESCRIBE_H_

#include <atomic>
#include <cstdint>

#include "otc/cpp/plugin.h"
#include "plugins/node/settings.h"

namespace otc::node {

inline constexpr std::size_t kMaxLookups = 64;
inline constexpr std::size_t kLookupsAtOnce = 16;
inline constexpr std::uint32_t kMaxFew = 8;

struct DescribeMetrics {
  Metric results;       // state
  Metric list_pages;    // –
  Metric single_reads;  // purpose
  Metric deferred;      // –

  static Result<DescribeMetrics> Define(const Metrics& metrics);
};

// What calls of one instance know of each other; only to choose the cheaper way.
struct DescribeMemory {
  std::atomic<std::uint32_t> list_pages{1};   // of the last complete list
  std::atomic<std::uint32_t> next_lookup{0};  // so that the limit starves nobody
};

// Emits a result for each node of which something is known. Failure: the list
// could not be read, or the call ended; nodes without a result are then UNKNOWN
// for that reason.
Status DescribeNodes(const plugin::v1::InstanceDescribeRequest& request, const Host& host,
                     const Settings& settings, const DescribeMetrics& metrics,
                     DescribeMemory* memory, InstanceEmitter& out);

}  // namespace otc::node

#endif  // OTC_PLUGINS_NODE_DESCRIBE_H_

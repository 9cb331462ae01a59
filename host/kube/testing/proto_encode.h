// Protobuf bodies as an API server writes them, for tests: envelopes, lists,
// watch frames.
#ifndef OTC_HOST_KUBE_TESTING_PROTO_ENCODE_H_
#define OTC_HOST_KUBE_TESTING_PROTO_ENCODE_H_

#include <string>
#include <vector>

#include "host/kube/types.h"

namespace otc::host::kube {

// The message of a Node, with `padding` bytes of a field the host does not know.
std::string EncodeNode(const Node& node, std::size_t padding = 0);
std::string EncodeEnvelope(const std::string& kind, const std::string& raw);
std::string EncodeList(const std::string& kind, const std::string& version,
                       const std::string& continue_token, const std::vector<std::string>& items);
// With its length prefix.
std::string EncodeWatchFrame(const std::string& type, const std::string& kind,
                             const std::string& raw);
std::string EncodeBookmark(const std::string& version, bool initial_events_end);
std::string EncodeStatus(int code, const std::string& reason, const std::string& message,
                         const std::string& cause = "");

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TESTING_PROTO_ENCODE_H_

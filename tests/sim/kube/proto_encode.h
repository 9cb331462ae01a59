// Protobuf as the API server sends it, made from JSON documents.
//
// Written by hand over field numbers (schema.h) and not with generated classes:
// the simulator sends full-size messages, the host reads them with its own
// trimmed ones, and neither shares code with the other.
#ifndef OTC_TESTS_SIM_KUBE_PROTO_ENCODE_H_
#define OTC_TESTS_SIM_KUBE_PROTO_ENCODE_H_

#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/kube/json.h"
#include "tests/sim/kube/schema.h"

namespace otc::kubesim {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// The bare message. Values of a wrong type are left out; decode.h has refused
// them before anything is stored.
std::string EncodeMessage(const MessageType& type, const Json& document);

// Magic number and runtime.Unknown around a bare message: a whole body.
std::string Envelope(std::string_view api_version, std::string_view kind, std::string_view message);

// The bare message of a list: ListMeta and items that are bare messages already.
std::string EncodeList(const Json& list_meta, const std::vector<std::string_view>& items);

// One frame of a watch: length, WatchEvent, enveloped object.
std::string WatchFrame(std::string_view event_type, std::string_view enveloped_object);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_PROTO_ENCODE_H_

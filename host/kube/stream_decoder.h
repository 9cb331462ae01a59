// Decoders for bodies that arrive in pieces: lists item by item, watches event
// by event, in protobuf or JSON. What is in memory is one object at a time,
// however long the list is.
//
// Feed takes bytes as they come, cut anywhere. Errors are INVALID_ARGUMENT
// ("BadProtobuf", "BadJson", "ObjectTooLarge") and end the decoder's use. Not
// thread-safe; never throws.
#ifndef OTC_HOST_KUBE_STREAM_DECODER_H_
#define OTC_HOST_KUBE_STREAM_DECODER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/kube/api_status.h"
#include "host/kube/json_codec.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::kube {

// etcd stores at most 1.5 MiB an object; more is no object of an API server.
inline constexpr std::size_t kMaxObjectBytes = 8u << 20;

enum class Encoding { kProtobuf, kJson };

// What a Content-Type says; INVALID_ARGUMENT "UnexpectedMediaType" naming it for
// anything but the two encodings.
Result<Encoding> EncodingOf(std::string_view content_type);

class ListDecoder {
 public:
  // Gets one object of the list; a failure ends the decoding.
  using ItemSink = std::function<Status(std::string_view object)>;

  virtual ~ListDecoder() = default;
  virtual Status Feed(std::string_view data) = 0;
  // Fails if the list is not complete.
  virtual Result<ListEnvelope> Finish() = 0;
};
std::unique_ptr<ListDecoder> MakeListDecoder(Encoding encoding, ListDecoder::ItemSink sink);

struct WatchItem {
  std::string type;              // ADDED, MODIFIED, DELETED, BOOKMARK, ERROR, …
  std::string kind;              // of the object
  std::string resource_version;  // of the object; not for ERROR
  bool initial_events_end = false;
  std::string object;  // encoded
  ApiStatus error;     // of an ERROR
};

class WatchDecoder {
 public:
  // Gets one event; a failure ends the decoding.
  using EventSink = std::function<Status(WatchItem& event)>;

  virtual ~WatchDecoder() = default;
  // Bytes of an event that was cut off at the end are simply never delivered.
  virtual Status Feed(std::string_view data) = 0;
};
std::unique_ptr<WatchDecoder> MakeWatchDecoder(Encoding encoding, WatchDecoder::EventSink sink);

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_STREAM_DECODER_H_

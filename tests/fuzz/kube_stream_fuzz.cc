// Lists and watches of an API server, in protobuf and JSON, cut anywhere: any
// bytes. However the bytes are cut, the outcome must be the same; nothing may
// crash or grow beyond its input.
// The first byte chooses the decoder, the second the size of the pieces.
// FUZZ_DEPS: otc_kube
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "host/kube/json_codec.h"
#include "host/kube/proto_codec.h"
#include "host/kube/stream_decoder.h"

namespace {

using namespace otc;
using namespace otc::host::kube;

void Require(bool holds) {
  if (!holds) std::abort();
}

// What a body decodes to: one line an object, then the end.
struct Outcome {
  std::vector<std::string> objects;
  bool ok = false;
};

void DecodeObject(Encoding encoding, std::string_view object) {
  const Result<Node> node = encoding == Encoding::kProtobuf ? NodeProtoDecoder().Decode(object)
                                                            : NodeFromJson(std::string(object));
  if (node.ok()) Require(!node->meta.name.empty());
}

template <typename Decoder>
Status FeedAll(Decoder& decoder, std::string_view body, std::size_t step) {
  for (std::size_t at = 0; at < body.size(); at += step) {
    OTC_RETURN_IF_ERROR(decoder.Feed(body.substr(at, step)));
  }
  return Status::Ok();
}

Outcome List(Encoding encoding, std::string_view body, std::size_t step) {
  Outcome outcome;
  auto decoder = MakeListDecoder(encoding, [&](std::string_view object) {
    DecodeObject(encoding, object);
    outcome.objects.emplace_back(object);
    return Status::Ok();
  });
  outcome.ok = FeedAll(*decoder, body, step).ok() && decoder->Finish().ok();
  return outcome;
}

Outcome Watch(Encoding encoding, std::string_view body, std::size_t step) {
  Outcome outcome;
  auto decoder = MakeWatchDecoder(encoding, [&](WatchItem& event) {
    DecodeObject(encoding, event.object);
    outcome.objects.push_back(event.type + " " + event.resource_version + " " + event.object);
    return Status::Ok();
  });
  outcome.ok = FeedAll(*decoder, body, step).ok();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Encoding encoding = (data[0] & 1) == 0 ? Encoding::kProtobuf : Encoding::kJson;
  const bool watch = (data[0] & 2) != 0;
  const std::size_t step = data[1] == 0 ? 1 : data[1];
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Outcome whole =
      watch ? Watch(encoding, body, body.size() + 1) : List(encoding, body, body.size() + 1);
  const Outcome pieces = watch ? Watch(encoding, body, step) : List(encoding, body, step);
  Require(whole.ok == pieces.ok);
  Require(whole.objects == pieces.objects);
  std::size_t bytes = 0;
  for (const std::string& object : whole.objects) bytes += object.size();
  // A JSON event is written out anew: escapes may grow it, but not without bound.
  Require(bytes <= 8 * size + 64 * (whole.objects.size() + 1));
  return 0;
}

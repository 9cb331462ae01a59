// ObjectSink: where a reflector puts what it reads. All calls come from the
// reflector's thread.
#ifndef OTC_HOST_KUBE_OBJECT_SINK_H_
#define OTC_HOST_KUBE_OBJECT_SINK_H_

#include <string_view>

#include "host/kube/stream_decoder.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::kube {

enum class Change { kAdded, kModified, kDeleted };

class ObjectSink {
 public:
  virtual ~ObjectSink() = default;

  // Starts to gather a complete new content; what an earlier, unfinished
  // gathering holds is thrown away.
  virtual void BeginReplace() = 0;
  // One object, or one change of it, of the new content. Fails if it cannot be
  // decoded.
  virtual Status Gather(Change change, Encoding encoding, std::string_view object) = 0;
  // What was gathered becomes the content, all at once.
  virtual void CommitReplace() = 0;
  // One change of the content.
  virtual Status Apply(Change change, Encoding encoding, std::string_view object) = 0;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_OBJECT_SINK_H_

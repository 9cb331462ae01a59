// Negotiation: in which form a client wants its answer.
#ifndef OTC_TESTS_SIM_KUBE_NEGOTIATE_H_
#define OTC_TESTS_SIM_KUBE_NEGOTIATE_H_

#include <optional>
#include <string>

#include "tests/sim/kube/http_message.h"
#include "tests/sim/kube/json.h"
#include "tests/sim/kube/object.h"

namespace otc::kubesim {

enum class Format { kJson, kProtobuf, kTable };

// The first form in Accept that the server can give; nothing: 406. Without the
// header: JSON.
std::optional<Format> NegotiateFormat(const std::string& accept, bool protobuf_possible,
                                      bool table_possible);

std::string ContentTypeOf(Format format, bool watch);

struct Reply {
  int status = 200;
  std::string content_type;
  std::string body;
  int retry_after_seconds = 0;
};

// One object, whole; not for kTable.
std::string EncodeObject(const StoredObject& object, Format format);
// A metav1.Status.
std::string EncodeStatus(const Json& status, Format format);

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_NEGOTIATE_H_

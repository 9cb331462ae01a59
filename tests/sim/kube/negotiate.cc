#include "tests/sim/kube/negotiate.h"

#include "host/base/strings.h"
#include "tests/sim/kube/proto_encode.h"
#include "tests/sim/kube/schema.h"

namespace otc::kubesim {

std::optional<Format> NegotiateFormat(const std::string& accept, bool protobuf_possible,
                                      bool table_possible) {
  if (accept.empty()) {
    return Format::kJson;
  }
  for (const std::string& entry : host::Split(accept, ',')) {
    const std::vector<std::string> parts = host::Split(entry, ';');
    const std::string type = host::ToLower(host::TrimSpace(parts[0]));
    bool as_table = false;
    bool other_transform = false;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::string parameter(host::TrimSpace(parts[i]));
      if (parameter == "as=Table") {
        as_table = true;
      } else if (parameter.rfind("as=", 0) == 0) {
        other_transform = true;  // PartialObjectMetadata is not served
      } else if (parameter == "v=v1beta1") {
        other_transform = true;
      }
    }
    if (other_transform) {
      continue;
    }
    if (as_table) {
      if (table_possible && type == "application/json") {
        return Format::kTable;
      }
      continue;
    }
    if (type == "application/json" || type == "*/*" || type == "application/*") {
      return Format::kJson;
    }
    if (type == kProtobufType && protobuf_possible) {
      return Format::kProtobuf;
    }
  }
  return std::nullopt;
}

std::string ContentTypeOf(Format format, bool watch) {
  if (format == Format::kProtobuf) {
    return std::string(kProtobufType) + (watch ? ";stream=watch" : "");
  }
  return "application/json";
}

std::string EncodeObject(const StoredObject& object, Format format) {
  if (format != Format::kProtobuf) {
    return object.json();
  }
  return Envelope(object.resource().GroupVersion(), object.resource().kind, object.proto());
}

std::string EncodeStatus(const Json& status, Format format) {
  if (format != Format::kProtobuf) {
    return DumpJson(status);
  }
  return Envelope("v1", "Status", EncodeMessage(StatusType(), status));
}

}  // namespace otc::kubesim

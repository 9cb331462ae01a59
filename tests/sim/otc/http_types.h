// What a simulated service sees of HTTP and what it answers. Plain values; the
// Poco side of it is http_port.h.
#ifndef OTC_TESTS_SIM_OTC_HTTP_TYPES_H_
#define OTC_TESTS_SIM_OTC_HTTP_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/http/client.h"

namespace otc::sim {

using host::http::Header;

struct Request {
  std::string service;  // "iam", "ecs", "evs", "vpc", "elb", "metadata", "control"
  std::string method;
  std::string target;  // path and query exactly as on the wire
  std::vector<Header> headers;
  std::string body;
  bool body_cut = false;     // fewer bytes came than Content-Length said
  std::string peer_address;  // without port

  // The first header of that name, in any case; nothing if absent.
  std::optional<std::string> FindHeader(std::string_view name) const;

  std::string_view RawPath() const;
  std::string_view RawQuery() const;
  // Decoded; a key without `=` has an empty value.
  std::vector<std::pair<std::string, std::string>> QueryPairs() const;
  std::optional<std::string> Query(std::string_view key) const;  // the first value
};

struct Response {
  int status = 200;
  std::string body;  // empty: no body at all (204, 202)
  std::vector<Header> headers;
  std::string content_type = "application/json";

  static Response Json(int status, std::string body) { return {status, std::move(body), {}}; }
};

// What happens to the response on its way out.
struct Delivery {
  enum class Kind {
    kSend,      // whole
    kClose,     // connection closed without a byte
    kTruncate,  // headers promise the whole body, `keep_bytes` of it arrive, then close
    kRaw,       // `raw` instead of HTTP, then close
    kHold,      // nothing for `hold_ms` (0: until the client gives up), then close
  };
  Kind kind = Kind::kSend;
  std::int64_t delay_ms = 0;  // before anything is sent
  std::int64_t hold_ms = 0;
  std::size_t keep_bytes = 0;
  std::string raw;
};

struct Reply {
  Response response;
  Delivery delivery;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_HTTP_TYPES_H_

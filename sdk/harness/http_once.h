// One HTTP/1.1 request on a connection of its own, for tests against loopback
// servers. Internal to the harness.
#ifndef OTC_SDK_HARNESS_HTTP_ONCE_H_
#define OTC_SDK_HARNESS_HTTP_ONCE_H_

#include <cstdint>
#include <map>
#include <string>

namespace otc::harness {

struct HttpAnswer {
  // Nothing was sent, or it was sent and no whole answer came back.
  enum class Kind { kAnswered, kNotSent, kUnclear } kind = Kind::kNotSent;
  std::string problem;  // unless answered
  std::uint32_t status = 0;
  std::map<std::string, std::string> headers;  // lower-case names
  std::string body;
};

// `base_url` is http://<IPv4 address>:<port>. Bodies have a Content-Length or end
// with the connection; chunked ones count as unclear.
HttpAnswer HttpOnce(const std::string& base_url, const std::string& method,
                    const std::string& target, const std::map<std::string, std::string>& headers,
                    const std::string& body);

}  // namespace otc::harness

#endif  // OTC_SDK_HARNESS_HTTP_ONCE_H_

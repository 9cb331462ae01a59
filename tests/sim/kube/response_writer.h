// ResponseWriter: the answer to one request, byte by byte, spoiled on demand.
//
// Every method tells whether the peer may still be listening (false: stop
// working for it). After a fault has ended the connection, all further output is
// swallowed. Used by the connection's thread only.
#ifndef OTC_TESTS_SIM_KUBE_RESPONSE_WRITER_H_
#define OTC_TESTS_SIM_KUBE_RESPONSE_WRITER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/sim/kube/connection.h"

namespace otc::kubesim {

// How a connection ends when a fault says that it ends.
enum class EndStyle {
  kFin,     // orderly on TCP level, in the middle of HTTP
  kReset,   // RST
  kSilent,  // nothing, for ever: half-open
};

struct WireFault {
  std::optional<std::uint64_t> cut_after;  // bytes of the answer, head included
  EndStyle cut_style = EndStyle::kFin;
  std::size_t drip_bytes = 0;  // > 0: at most so many bytes at once …
  int drip_interval_ms = 0;    // … and a pause after each
  // At the end of the answer: no final chunk, no FIN, no further answer.
  bool swallow_end = false;
  bool close_after = false;  // "Connection: close"
};

class ResponseWriter {
 public:
  explicit ResponseWriter(Connection& connection) : connection_(connection) {}

  void set_fault(const WireFault& fault) { fault_ = fault; }
  // Called with the status before its first byte leaves, so that whoever has read
  // an answer finds it in the log.
  void set_on_status(std::function<void(int)> callback) { on_status_ = std::move(callback); }
  // An additional header of the answer to come.
  void AddHeader(const std::string& name, const std::string& value) { headers_[name] = value; }

  bool Send(int status, std::string_view content_type, std::string_view body);
  bool BeginStream(int status, std::string_view content_type);
  bool Chunk(std::string_view bytes);
  bool EndStream();
  // Bytes as they are, in place of an HTTP answer; the connection ends after them.
  bool Raw(std::string_view bytes);
  // Ends the connection without any (further) byte.
  void End(EndStyle style);
  // Sleeps as Connection::WaitActivity.
  WaitResult Wait(int timeout_ms, int other_fd);

  // The connection can serve another request.
  bool reusable() const { return !ended_ && complete_ && !fault_.close_after; }

 private:
  bool Put(std::string_view bytes);
  std::string Head(int status, std::string_view content_type, const std::string& framing) const;

  void TellStatus(int status);

  Connection& connection_;
  std::function<void(int)> on_status_;
  WireFault fault_;
  std::map<std::string, std::string> headers_;
  std::uint64_t sent_ = 0;
  bool ended_ = false;
  bool complete_ = false;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_RESPONSE_WRITER_H_

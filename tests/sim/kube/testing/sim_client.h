// SimClient: a small, blunt HTTP client for the simulator's own tests.
//
// Plain TCP, one connection, no retries: it shows bytes as they arrive, which a
// real client would hide. Every read is bounded (5 s), so a test fails instead of
// hanging. Used by one thread.
#ifndef OTC_TESTS_SIM_KUBE_TESTING_SIM_CLIENT_H_
#define OTC_TESTS_SIM_KUBE_TESTING_SIM_CLIENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/sim/kube/json.h"

namespace otc::kubesim {

// How reading ended.
enum class ReadEnd { kData, kClosed, kReset, kTimeout };

struct SimResponse {
  int status = 0;                              // 0: none arrived
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // chunks joined
  bool complete = false;                       // to the length or the last chunk
  ReadEnd end = ReadEnd::kData;

  Json json() const;           // null if it is none
  std::string reason() const;  // of a Status
};

class SimClient {
 public:
  explicit SimClient(std::uint16_t port);
  ~SimClient();
  SimClient(const SimClient&) = delete;
  SimClient& operator=(const SimClient&) = delete;

  bool connected() const { return fd_ >= 0; }

  // One whole exchange. `headers` are complete lines without line end.
  SimResponse Do(const std::string& method, const std::string& target, const std::string& body = "",
                 const std::string& headers = "");
  SimResponse Get(const std::string& target) { return Do("GET", target); }
  SimResponse Post(const std::string& target, const Json& body);
  SimResponse Put(const std::string& target, const Json& body);
  // `kind`: "merge", "strategic" or "json".
  SimResponse Patch(const std::string& target, const std::string& kind, const Json& patch);
  SimResponse Delete(const std::string& target, const Json& options = Json());

  // In pieces, for watches: send, read the head, then one watch event at a time.
  void Send(const std::string& method, const std::string& target, const std::string& body = "",
            const std::string& headers = "");
  SimResponse ReadHead();
  // The next JSON event; nothing: the stream ended, see end().
  std::optional<Json> NextEvent(int timeout_ms = 5000);
  // Whatever arrives next, undecoded.
  std::string ReadSome(int timeout_ms = 5000);
  ReadEnd end() const { return end_; }

 private:
  bool Fill(int timeout_ms);  // more bytes into buffer_
  // Decodes at most one chunk into `out`; false: none is complete.
  bool TakeChunk(std::string& out, bool& last);

  int fd_ = -1;
  std::string buffer_;  // undecoded
  std::string stream_;  // decoded, of a watch
  ReadEnd end_ = ReadEnd::kData;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_TESTING_SIM_CLIENT_H_

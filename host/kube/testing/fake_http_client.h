// FakeHttpClient: http::Client whose answers a test scripts. Thread-safe.
#ifndef OTC_HOST_KUBE_TESTING_FAKE_HTTP_CLIENT_H_
#define OTC_HOST_KUBE_TESTING_FAKE_HTTP_CLIENT_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/http/client.h"
#include "host/kube/lane.h"

namespace otc::host::kube {

// What one stream does: head, then pieces of body, then its end.
struct StreamScript {
  int status = 200;
  std::vector<http::Header> headers;
  std::vector<std::string> pieces;
  enum class End {
    kNormal,
    kCut,     // the connection is lost after the pieces
    kSilent,  // nothing more comes until deadline or cancellation
    kRefused  // there is no answer at all: connection refused
  };
  End end = End::kNormal;
  // Runs before the pieces are delivered, for instance to move a fake clock.
  std::function<void()> before;
  std::function<void()> after;
};

class FakeHttpClient final : public http::Client {
 public:
  using Answer = std::function<http::Outcome(const http::Request&, const CallContext&)>;
  using StreamAnswer = std::function<StreamScript(const http::Request&)>;

  // Shared by all clients that a lane makes.
  struct Script {
    std::mutex mutex;
    std::condition_variable changed;
    Answer answer;               // for Send
    StreamAnswer stream_answer;  // for Stream
    std::vector<http::Request> requests;
    std::vector<http::Request> streams;
    int clients = 0;  // made so far
    int idle_closed = 0;
    std::vector<http::ClientOptions> options;

    // Blocks (real time, at most 10 s) until so many streams were opened.
    bool AwaitStreams(std::size_t count);
  };

  explicit FakeHttpClient(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  http::Outcome Send(const http::Request& request, const CallContext& context) override;
  http::Outcome Stream(const http::Request& request, const CallContext& context,
                       Duration idle_timeout, http::StreamHandler& handler) override;
  void CloseIdle() override;

  static HttpFactory Factory(std::shared_ptr<Script> script);

 private:
  const std::shared_ptr<Script> script_;
};

http::Outcome Answered(int status, const std::string& body,
                       const std::string& content_type = "application/json",
                       std::vector<http::Header> headers = {});
http::Outcome Failed(http::Delivery delivery, const std::string& reason);

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TESTING_FAKE_HTTP_CLIENT_H_

// FakeClient: an http::Client whose answers a test writes, and which remembers
// every request.
#ifndef OTC_HOST_CLOUD_TESTING_FAKE_CLIENT_H_
#define OTC_HOST_CLOUD_TESTING_FAKE_CLIENT_H_

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/http/client.h"

namespace otc::host::cloud {

inline http::Outcome Reply(int status, std::string body = "{}",
                           std::vector<http::Header> headers = {}) {
  http::Outcome outcome;
  outcome.delivery = http::Delivery::kAnswered;
  outcome.response.status = status;
  outcome.response.body = std::move(body);
  outcome.response.headers = std::move(headers);
  return outcome;
}

inline http::Outcome Failure(http::Delivery delivery, Code code, std::string reason) {
  http::Outcome outcome;
  outcome.delivery = delivery;
  outcome.error = Status(code, std::move(reason), "by the test");
  return outcome;
}
inline http::Outcome NotSent() {
  return Failure(http::Delivery::kNotSent, Code::kUnavailable, "ConnectFailed");
}
inline http::Outcome Lost() {
  return Failure(http::Delivery::kUnclear, Code::kUnavailable, "ConnectionLost");
}

class FakeClient final : public http::Client {
 public:
  using Handler = std::function<http::Outcome(const http::Request&, const CallContext&)>;

  // What all clients of one test share: they may be made and dropped by a reload.
  struct Script {
    std::mutex mutex;
    Handler handler;                      // called without the mutex
    std::vector<http::Request> requests;  // in the order of arrival

    std::vector<http::Request> Requests() {
      std::lock_guard lock(mutex);
      return requests;
    }
    // How many requests begin with this path.
    int Count(const std::string& path) {
      int count = 0;
      for (const http::Request& request : Requests()) {
        if (request.target.substr(0, path.size()) == path) ++count;
      }
      return count;
    }
  };

  explicit FakeClient(Script& script) : script_(script) {}

  http::Outcome Send(const http::Request& request, const CallContext& context) override {
    {
      std::lock_guard lock(script_.mutex);
      script_.requests.push_back(request);
    }
    return script_.handler(request, context);
  }
  http::Outcome Stream(const http::Request&, const CallContext&, Duration,
                       http::StreamHandler&) override {
    return Failure(http::Delivery::kNotSent, Code::kUnimplemented, "NotInThisTest");
  }
  void CloseIdle() override {}

 private:
  Script& script_;
};

// Value of a request's header; "" if absent.
inline std::string HeaderOf(const http::Request& request, const std::string& name) {
  for (const http::Header& header : request.headers) {
    if (header.name == name) return header.value;
  }
  return "";
}

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_TESTING_FAKE_CLIENT_H_

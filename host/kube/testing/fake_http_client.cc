#include "host/kube/testing/fake_http_client.h"

#include <chrono>
#include <utility>

namespace otc::host::kube {

bool FakeHttpClient::Script::AwaitStreams(std::size_t count) {
  std::unique_lock lock(mutex);
  return changed.wait_for(lock, std::chrono::seconds(10), [&] { return streams.size() >= count; });
}

http::Outcome FakeHttpClient::Send(const http::Request& request, const CallContext& context) {
  Answer answer;
  {
    std::lock_guard lock(script_->mutex);
    script_->requests.push_back(request);
    answer = script_->answer;
  }
  const Status check = context.Check();
  if (!check.ok()) {
    http::Outcome outcome;
    outcome.error = check;
    return outcome;
  }
  return answer ? answer(request, context) : Failed(http::Delivery::kNotSent, "ConnectFailed");
}

http::Outcome FakeHttpClient::Stream(const http::Request& request, const CallContext& context,
                                     Duration, http::StreamHandler& handler) {
  StreamAnswer answer;
  {
    std::lock_guard lock(script_->mutex);
    script_->streams.push_back(request);
    answer = script_->stream_answer;
    script_->changed.notify_all();
  }
  StreamScript script = answer ? answer(request) : StreamScript{};
  if (script.before) script.before();
  if (script.end == StreamScript::End::kRefused) {
    return Failed(http::Delivery::kNotSent, "ConnectFailed");
  }
  http::Outcome outcome;
  outcome.delivery = http::Delivery::kAnswered;
  outcome.response.status = script.status;
  outcome.response.headers = script.headers;
  if (!handler.OnHead(outcome.response)) return outcome;
  for (const std::string& piece : script.pieces) {
    if (!handler.OnBody(piece)) return outcome;
  }
  if (script.after) script.after();
  if (script.end == StreamScript::End::kCut) {
    return Failed(http::Delivery::kUnclear, "TruncatedAnswer");
  }
  if (script.end == StreamScript::End::kSilent) {
    outcome.delivery = http::Delivery::kUnclear;
    outcome.error = context.SleepUntil(MonoTime::max());
  }
  return outcome;
}

void FakeHttpClient::CloseIdle() {
  std::lock_guard lock(script_->mutex);
  ++script_->idle_closed;
}

HttpFactory FakeHttpClient::Factory(std::shared_ptr<Script> script) {
  return [script](http::ClientOptions options, Clock&) -> Result<std::unique_ptr<http::Client>> {
    std::lock_guard lock(script->mutex);
    if (options.tls.ca_pem.find("broken") != std::string::npos) {
      return Status(Code::kInvalidArgument, "BadTls", "CA is not PEM");
    }
    ++script->clients;
    script->options.push_back(std::move(options));
    return std::unique_ptr<http::Client>(new FakeHttpClient(script));
  };
}

http::Outcome Answered(int status, const std::string& body, const std::string& content_type,
                       std::vector<http::Header> headers) {
  http::Outcome outcome;
  outcome.delivery = http::Delivery::kAnswered;
  outcome.response.status = status;
  outcome.response.headers = std::move(headers);
  outcome.response.headers.push_back({"content-type", content_type});
  outcome.response.body = body;
  return outcome;
}

http::Outcome Failed(http::Delivery delivery, const std::string& reason) {
  http::Outcome outcome;
  outcome.delivery = delivery;
  outcome.error = Status(Code::kUnavailable, reason, "scripted");
  return outcome;
}

}  // namespace otc::host::kube

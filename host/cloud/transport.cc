#include "host/cloud/transport.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/strings.h"

namespace otc::host::cloud {
namespace {

using plugin::v1::CloudBatch;
using plugin::v1::CloudRequest;
using plugin::v1::CloudResponse;

constexpr std::uint32_t kMaxParallel = 8;
constexpr int kMaxThreads = 32;

// Tells equal reads apart from others: everything that shapes the answer.
std::string CacheKey(const CloudRequest& request) {
  std::string key = request.service() + '\n' + request.method() + '\n' + request.path() + '\n';
  for (const auto& pair : request.query()) key += pair.key() + '\0' + pair.value() + '\0';
  std::vector<std::string> headers;
  for (const auto& [name, value] : request.headers()) {
    headers.push_back(ToLower(name) + '\0' + value + '\0');
  }
  std::sort(headers.begin(), headers.end());
  key += '\n' + Join(headers, "") + '\n' + std::to_string(request.max_response_bytes());
  if (!request.body().empty()) key += '\n' + Sha256Hex(request.body());
  return key;
}

// Whether the cloud must be asked before the new configuration is believed.
bool SameIdentity(const CloudConfig& a, const CloudConfig& b) {
  return a.credentials == b.credentials && a.region == b.region &&
         a.project_name == b.project_name && a.project_id == b.project_id &&
         a.domain_name == b.domain_name && a.endpoints == b.endpoints && a.ca_file == b.ca_file &&
         a.sign_form == b.sign_form;
}

}  // namespace

// One batch under way: hands out the requests and brings the answers back to the
// calling thread.
class Transport::Batch {
 public:
  Batch(Transport& transport, Session& session, const Caller& caller, const CloudBatch& batch,
        const CallContext& context)
      : transport_(transport),
        session_(session),
        caller_(caller),
        batch_(batch),
        context_(context) {}

  void RunHere(const Put& put) {
    for (int index = 0; index < batch_.requests_size(); ++index) put(Run(index));
  }

  // `threads` workers; this thread only passes answers on.
  void RunOn(int threads, const Put& put) {
    most_waiting_ = static_cast<std::size_t>(threads);
    std::vector<std::thread> workers;
    try {
      for (int i = 0; i < threads; ++i) workers.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      // No more threads: those that started do the work.
      if (workers.empty()) return RunHere(put);
    }
    for (int passed = 0; passed < batch_.requests_size(); ++passed) put(AwaitAnswer());
    for (std::thread& worker : workers) worker.join();
  }

 private:
  void Work() {
    for (;;) {
      int index = 0;
      {
        // Answers that nobody has fetched yet take room.
        std::unique_lock lock(mutex_);
        fetched_.wait(lock, [&] { return answers_.size() < most_waiting_; });
        if (next_ == batch_.requests_size()) return;
        index = next_++;
      }
      CloudResponse response = Run(index);
      std::lock_guard lock(mutex_);
      answers_.push_back(std::move(response));
      ready_.notify_one();
    }
  }

  CloudResponse AwaitAnswer() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return !answers_.empty(); });
    CloudResponse response = std::move(answers_.front());
    answers_.pop_front();
    fetched_.notify_all();
    return response;
  }

  CloudResponse Run(int index) {
    CloudResponse response;
    const Status call = context_.Check();
    if (stopped_.load()) {
      response = NotSentResponse(
          Status(Code::kAborted, "BatchStopped", "an earlier request of the batch failed"));
    } else if (!call.ok()) {
      response = NotSentResponse(call);
    } else {
      response = transport_.Perform(session_, caller_, batch_.requests(index), context_);
    }
    response.set_index(static_cast<std::uint32_t>(index));
    if (response.code() != 0 && batch_.stop_on_error()) stopped_ = true;
    return response;
  }

  Transport& transport_;
  Session& session_;
  const Caller& caller_;
  const CloudBatch& batch_;
  const CallContext& context_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable ready_;    // an answer was added
  std::condition_variable fetched_;  // an answer was taken
  std::deque<CloudResponse> answers_;
  std::size_t most_waiting_ = 1;
  int next_ = 0;
};

Transport::Transport(TransportDeps deps, const CloudConfig& config)
    : deps_(std::move(deps)),
      metrics_(deps_.metrics),
      budgets_(deps_.clock, config),
      sender_(deps_.clock, deps_.random, deps_.log, deps_.gate, budgets_, metrics_),
      projects_(deps_.clock, sender_),
      free_threads_(kMaxThreads) {}

Result<std::unique_ptr<Transport>> Transport::Create(CloudConfig config, TransportDeps deps) {
  Result<Endpoints> endpoints = Endpoints::ForCloud(config);
  return Make(std::move(config), std::move(endpoints), std::move(deps));
}

Result<std::unique_ptr<Transport>> Transport::CreateForMetadata(const std::string& metadata_url,
                                                                TransportDeps deps) {
  return Make(CloudConfig(), Endpoints::MetadataOnly(metadata_url), std::move(deps));
}

Result<std::unique_ptr<Transport>> Transport::Make(CloudConfig config, Result<Endpoints> endpoints,
                                                   TransportDeps deps) {
  if (!endpoints.ok()) return endpoints.status();
  std::unique_ptr<Transport> transport(new Transport(std::move(deps), config));
  Result<std::shared_ptr<http::Client>> client = transport->MakeHttpClient(config);
  if (!client.ok()) return client.status();
  transport->config_ = config;
  transport->sender_.SetHourlyAlarm(config.calls_per_hour_alarm);
  transport->session_ = std::make_shared<Session>(std::move(config), *std::move(endpoints),
                                                  *std::move(client), transport->deps_.clock);
  transport->metrics_.CredentialsStopped(false);
  return transport;
}

Result<std::shared_ptr<http::Client>> Transport::MakeHttpClient(const CloudConfig& config) const {
  http::ClientOptions options;
  options.tls.ca_file = config.ca_file;
  options.user_agent = deps_.user_agent;
  Result<std::unique_ptr<http::Client>> client = deps_.make_client(std::move(options));
  if (!client.ok()) return client.status().WithPrefix("ca-file of cloud.conf: ");
  return std::shared_ptr<http::Client>(*std::move(client));
}

std::shared_ptr<Session> Transport::CurrentSession() const {
  std::lock_guard lock(mutex_);
  return session_;
}

Status Transport::CheckBatch(const Session& session, const CloudBatch& batch) const {
  if (batch.max_parallel() > kMaxParallel) {
    return Status(Code::kInvalidArgument, "BadBatch",
                  "max_parallel is " + std::to_string(batch.max_parallel()) + "; at most " +
                      std::to_string(kMaxParallel));
  }
  for (int i = 0; i < batch.requests_size(); ++i) {
    const std::string where = "request " + std::to_string(i) + ": ";
    OTC_RETURN_IF_ERROR(CheckRequest(batch.requests(i)).WithPrefix(where));
    OTC_RETURN_IF_ERROR(
        session.endpoints.Find(batch.requests(i).service()).status().WithPrefix(where));
  }
  return Status::Ok();
}

Status Transport::Exchange(const Caller& caller, const CloudBatch& batch,
                           const CallContext& context, const Put& put) {
  const std::shared_ptr<Session> session = CurrentSession();
  OTC_RETURN_IF_ERROR(CheckBatch(*session, batch));
  OTC_RETURN_IF_ERROR(context.Check());
  const int wanted =
      std::min(std::max(1, static_cast<int>(batch.max_parallel())), batch.requests_size());
  const int threads = wanted > 1 ? TakeThreads(wanted) : 0;
  Batch run(*this, *session, caller, batch, context);
  if (threads > 1) {
    run.RunOn(threads, put);
  } else {
    run.RunHere(put);
  }
  free_threads_ += threads;
  return Status::Ok();
}

int Transport::TakeThreads(int wanted) {
  int free = free_threads_.load();
  int taken = 0;
  do {
    taken = std::min(wanted, free);
  } while (taken > 0 && !free_threads_.compare_exchange_weak(free, free - taken));
  return std::max(0, taken);
}

CloudResponse Transport::Perform(Session& session, const Caller& caller,
                                 const CloudRequest& request, const CallContext& context) {
  const Result<Endpoint> endpoint = session.endpoints.Find(request.service());
  if (!endpoint.ok()) return NotSentResponse(endpoint.status());
  if (request.max_age_ms() == 0) return PerformNow(session, caller, request, *endpoint, context);
  Result<ResponseCache::Answer> answer = session.cache.Get(
      request.service(), CacheKey(request), std::chrono::milliseconds(request.max_age_ms()),
      context, [&] { return PerformNow(session, caller, request, *endpoint, context); });
  if (!answer.ok()) return NotSentResponse(answer.status());
  metrics_.Cache(request.service(), answer->source);
  return std::move(answer->response);
}

CloudResponse Transport::PerformNow(Session& session, const Caller& caller,
                                    const CloudRequest& request, const Endpoint& endpoint,
                                    const CallContext& context) {
  std::string project_id;
  if (NeedsProject(request, endpoint)) {
    Result<std::string> found = projects_.Get(session, context);
    if (!found.ok()) return NotSentResponse(found.status());
    project_id = *std::move(found);
  }
  const BuiltRequest built = BuildRequest(request, endpoint, project_id);
  if (built.write) session.cache.Drop(built.service);
  CloudResponse response = sender_.Send(session, caller, built, context);
  if (built.write) session.cache.Drop(built.service);
  return response;
}

Status Transport::Probe(const CallContext& context) {
  return projects_.Check(*CurrentSession(), context);
}

Result<std::shared_ptr<Session>> Transport::NextSession(CloudConfig config,
                                                        const CallContext& context) {
  const std::shared_ptr<Session> old = CurrentSession();
  Result<Endpoints> endpoints = Endpoints::ForCloud(config);
  if (!endpoints.ok()) return endpoints.status();
  Result<std::shared_ptr<http::Client>> client = MakeHttpClient(config);
  if (!client.ok()) return client.status();
  auto next = std::make_shared<Session>(std::move(config), *std::move(endpoints),
                                        *std::move(client), deps_.clock);
  OTC_RETURN_IF_ERROR(projects_.Check(*next, context));
  return next;
}

Status Transport::Reload(CloudConfig config, const CallContext& context) {
  std::lock_guard one_at_a_time(reload_mutex_);
  const CloudConfig old = this->config();
  if (config == old) return Status::Ok();
  std::shared_ptr<Session> next;  // stays null if keys, project and endpoints are the same
  if (!SameIdentity(config, old)) {
    Result<std::shared_ptr<Session>> made = NextSession(config, context);
    if (!made.ok()) return RefuseReload(made.status());
    next = *std::move(made);
  }
  budgets_.Configure(config);
  sender_.SetHourlyAlarm(config.calls_per_hour_alarm);
  {
    std::lock_guard lock(mutex_);
    config_ = std::move(config);
    if (next) session_ = next;
  }
  if (next) metrics_.CredentialsStopped(false);
  metrics_.Reload("success");
  deps_.log.Info("cloud.conf changed and is in force", {{"credentials_tried", next != nullptr}});
  return Status::Ok();
}

Status Transport::ReloadText(std::string_view text, const std::string& file_name,
                             const CallContext& context) {
  Result<CloudConfig> config = ParseCloudConfig(text, file_name);
  if (!config.ok()) return RefuseReload(config.status());
  return Reload(*std::move(config), context);
}

Status Transport::RefuseReload(const Status& status) {
  const bool unreachable =
      status.code() == Code::kUnavailable || status.code() == Code::kDeadlineExceeded;
  metrics_.Reload(status.code() == Code::kInvalidArgument ? "invalid"
                  : unreachable                           ? "unreachable"
                                                          : "rejected");
  deps_.log.Error("changed cloud.conf is not taken over, the old one stays in force",
                  {{"error", status}});
  return status;
}

CloudConfig Transport::config() const {
  std::lock_guard lock(mutex_);
  return config_;
}

}  // namespace otc::host::cloud

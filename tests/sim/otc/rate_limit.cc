#include "tests/sim/otc/rate_limit.h"

#include <algorithm>

#include "tests/sim/otc/errors.h"

namespace otc::sim {
namespace {

bool Applies(const RateLimit& limit, const Request& request) {
  if (limit.service != request.service) return false;
  if (limit.calls == "read") return request.method == "GET";
  if (limit.calls == "write") return request.method != "GET";
  return true;
}

Response Refuse(const RateLimit& limit, const Request& request, const std::string& request_id) {
  Response response = limit.answer == "ecs" ? EcsError(429, "Common.1503", "Too many requests")
                      : limit.answer == "accepted"
                          ? EcsError(202, "Common.0024", "Flow limit exceeded")
                          : ScriptedError(request.service, 429, request_id);
  if (limit.retry_after_s > 0) {
    response.headers.push_back({"Retry-After", std::to_string(limit.retry_after_s)});
  }
  return response;
}

}  // namespace

RateLimit ReadRateLimit(Poco::JSON::Object::Ptr object, const std::string& path,
                        std::vector<std::string>* errors) {
  RateLimit limit;
  JsonFields fields(object, path, errors);
  fields.OneOf("service", &limit.service, {"iam", "ecs", "evs", "vpc", "elb"});
  fields.OneOf("calls", &limit.calls, {"all", "read", "write"});
  fields.Number("rate", &limit.rate);
  fields.Int("burst", &limit.burst, 1, 1'000'000);
  fields.Int("retry_after_s", &limit.retry_after_s, 0, 86'400);
  fields.OneOf("answer", &limit.answer, {"gateway", "ecs", "accepted"});
  fields.Finish();
  return limit;
}

void RateLimits::Set(std::vector<RateLimit> limits) {
  std::lock_guard lock(mutex_);
  buckets_.clear();
  for (RateLimit& limit : limits) {
    const std::vector<std::string> services =
        limit.service.empty() ? std::vector<std::string>{"iam", "ecs", "evs", "vpc", "elb"}
                              : std::vector<std::string>{limit.service};
    for (const std::string& service : services) {
      RateLimit one = limit;
      one.service = service;
      buckets_.push_back({one, static_cast<double>(one.burst), time_->Mono()});
    }
  }
}

std::optional<Response> RateLimits::Check(const Request& request, const std::string& request_id) {
  std::lock_guard lock(mutex_);
  const auto now = time_->Mono();
  for (Bucket& bucket : buckets_) {
    if (!Applies(bucket.limit, request)) continue;
    const std::chrono::duration<double> passed = now - bucket.filled;
    bucket.tokens = std::min(static_cast<double>(bucket.limit.burst),
                             bucket.tokens + passed.count() * bucket.limit.rate);
    bucket.filled = now;
    if (bucket.tokens < 1) return Refuse(bucket.limit, request, request_id);
    bucket.tokens -= 1;
  }
  return std::nullopt;
}

std::string RateLimits::ToJson() const {
  std::lock_guard lock(mutex_);
  JsonWriter json;
  json.BeginArray();
  for (const Bucket& bucket : buckets_) {
    json.BeginObject().Field("service", bucket.limit.service).Field("calls", bucket.limit.calls);
    json.Key("rate").Raw(std::to_string(bucket.limit.rate)).Field("burst", bucket.limit.burst);
    json.Field("retry_after_s", bucket.limit.retry_after_s);
    json.Field("answer", bucket.limit.answer).EndObject();
  }
  json.EndArray();
  return json.Take();
}

}  // namespace otc::sim

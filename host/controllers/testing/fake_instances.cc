#include "host/controllers/testing/fake_instances.h"

#include <algorithm>
#include <utility>

namespace otc::host {

using plugin::v1::InstanceDescribeResult;

void FakeInstances::Set(const std::string& key, Answer answer) {
  std::lock_guard lock(mutex_);
  answers_[key] = std::move(answer);
}

void FakeInstances::Forget(const std::string& key) {
  std::lock_guard lock(mutex_);
  answers_.erase(key);
}

void FakeInstances::EndWith(Status status) {
  std::lock_guard lock(mutex_);
  end_ = std::move(status);
}

void FakeInstances::FailAll(Status status) {
  std::lock_guard lock(mutex_);
  fail_all_ = std::move(status);
}

void FakeInstances::OnCall(std::function<void(const DescribeCall&)> hook) {
  std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

void FakeInstances::Emit(plugin::v1::EventRecord event) {
  std::lock_guard lock(mutex_);
  emit_.push_back(std::move(event));
}

std::vector<DescribeCall> FakeInstances::Calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}

int FakeInstances::MostParallelCalls() const {
  std::lock_guard lock(mutex_);
  return most_parallel_;
}

bool FakeInstances::Overlapped() const {
  std::lock_guard lock(mutex_);
  return overlapped_;
}

Status FakeInstances::Describe(const std::vector<kube::NodePtr>& nodes,
                               const DescribeOptions& options, const CallContext& context,
                               const OnResult& on_result, const OnEvent& on_event) {
  DescribeCall call;
  call.want_metadata = options.want_metadata;
  for (const kube::NodePtr& node : nodes) call.names.push_back(node->meta.name);
  std::function<void(const DescribeCall&)> hook;
  {
    std::lock_guard lock(mutex_);
    calls_.push_back(call);
    hook = hook_;
    most_parallel_ = std::max(most_parallel_, ++parallel_);
    for (const std::string& name : call.names) {
      overlapped_ = overlapped_ || running_.count(name) != 0;
      running_.insert(name);
    }
  }
  if (hook) hook(call);

  std::vector<InstanceDescribeResult> results;
  std::vector<plugin::v1::EventRecord> events;
  Status status;
  {
    std::lock_guard lock(mutex_);
    --parallel_;
    for (const std::string& name : call.names) running_.erase(running_.find(name));
    events = emit_;
    status = fail_all_.ok() ? end_ : fail_all_;
    for (const kube::NodePtr& node : nodes) {
      const std::string& key = node->provider_id.empty() ? node->meta.name : node->provider_id;
      const auto it = answers_.find(key);
      if (it == answers_.end() || !fail_all_.ok()) continue;
      results.push_back(it->second);
      results.back().set_node_name(node->meta.name);
      results.back().set_node_uid(node->meta.uid);
      if (!options.want_metadata) results.back().clear_metadata();
    }
  }
  OTC_RETURN_IF_ERROR(context.Check());
  for (const auto& event : events) on_event(event);
  for (const auto& result : results) on_result(result);
  return status;
}

InstanceDescribeResult RunningServer(const std::string& provider_id) {
  InstanceDescribeResult result;
  result.set_state(plugin::v1::INSTANCE_STATE_RUNNING);
  result.mutable_metadata()->set_provider_id(provider_id);
  return result;
}

InstanceDescribeResult ServerInState(plugin::v1::InstanceState state, const std::string& reason) {
  InstanceDescribeResult result;
  result.set_state(state);
  result.set_reason(reason);
  return result;
}

InstanceDescribeResult GoneServer() {
  InstanceDescribeResult result = ServerInState(plugin::v1::INSTANCE_STATE_GONE, "ServerNotFound");
  result.mutable_proof()->set_method(plugin::v1::PROOF_METHOD_GET_BY_ID);
  result.mutable_proof()->set_http_status(404);
  result.mutable_proof()->set_service_code("Ecs.0114");
  return result;
}

void AddAddress(plugin::v1::InstanceMetadata* metadata, const std::string& type,
                const std::string& address) {
  auto* entry = metadata->add_addresses();
  entry->set_type(type);
  entry->set_address(address);
}

}  // namespace otc::host

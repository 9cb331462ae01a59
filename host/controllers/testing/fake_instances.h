// FakeInstances: a node plugin that a test scripts, by server.
//
// A node is looked up by its providerID, or by its name while it has none, as
// the real plugin does. Calls are recorded. Thread-safe.
#ifndef OTC_HOST_CONTROLLERS_TESTING_FAKE_INSTANCES_H_
#define OTC_HOST_CONTROLLERS_TESTING_FAKE_INSTANCES_H_

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "host/controllers/instances.h"

namespace otc::host {

struct DescribeCall {
  std::vector<std::string> names;
  bool want_metadata = false;
};

class FakeInstances final : public InstancesProvider {
 public:
  using Answer = plugin::v1::InstanceDescribeResult;

  // What is answered about this providerID (or node name), from now on; name and
  // UID of the node are filled in.
  void Set(const std::string& key, Answer answer);
  // No answer about it at all.
  void Forget(const std::string& key);
  // The whole call ends so, after the answers that are known were given.
  void EndWith(Status status);
  // No answers while this is set: the call fails as a whole.
  void FailAll(Status status);
  // Runs at the begin of each call, without locks held.
  void OnCall(std::function<void(const DescribeCall&)> hook);
  // Emitted in each call.
  void Emit(plugin::v1::EventRecord event);

  std::vector<DescribeCall> Calls() const;
  int MostParallelCalls() const;
  // A node was part of two calls at the same time.
  bool Overlapped() const;

  Status Describe(const std::vector<kube::NodePtr>& nodes, const DescribeOptions& options,
                  const CallContext& context, const OnResult& on_result,
                  const OnEvent& on_event) override;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Answer> answers_;
  Status end_;
  Status fail_all_;
  std::vector<plugin::v1::EventRecord> emit_;
  std::function<void(const DescribeCall&)> hook_;
  std::vector<DescribeCall> calls_;
  std::multiset<std::string> running_;
  int parallel_ = 0;
  int most_parallel_ = 0;
  bool overlapped_ = false;
};

// Answers in a line each.
plugin::v1::InstanceDescribeResult RunningServer(const std::string& provider_id);
plugin::v1::InstanceDescribeResult ServerInState(plugin::v1::InstanceState state,
                                                 const std::string& reason = "");
// GONE with the proof that a GET by id was answered 404 by the service.
plugin::v1::InstanceDescribeResult GoneServer();
void AddAddress(plugin::v1::InstanceMetadata* metadata, const std::string& type,
                const std::string& address);

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_TESTING_FAKE_INSTANCES_H_

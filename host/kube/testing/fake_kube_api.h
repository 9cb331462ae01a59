// FakeKubeApi: nodes and leases in memory, with the conflicts and refusals of
// a real API server, recorded calls and scripted failures.
//
// Nodes are kept as whole JSON documents, so a test sees when a patch would lose
// fields that the host does not know. With MirrorTo every change also reaches a
// FakeNodeLister, as a watch would do it, on the thread that made the change.
// Thread-safe.
#ifndef OTC_HOST_KUBE_TESTING_FAKE_KUBE_API_H_
#define OTC_HOST_KUBE_TESTING_FAKE_KUBE_API_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/kube/api.h"
#include "host/kube/testing/fake_node_lister.h"

namespace otc::host::kube {

struct RecordedCall {
  std::string method;  // "GetNode", "PatchNode", "DeleteNode", "GetLease", …, "Call"
  std::string name;    // of the object; path of a Call
  PatchType patch_type = PatchType::kMerge;
  std::string subresource;
  std::string resource_version;  // asked for by GetNode, written by UpdateLease
  DeletePreconditions preconditions;
  std::string body;
};

class FakeKubeApi final : public KubeApi {
 public:
  FakeKubeApi();
  ~FakeKubeApi() override;

  // --- What the rest of the cluster does -----------------------------------
  // Creates or replaces the object (uid is made up if empty); answers it as
  // stored, with its new resourceVersion.
  Node PutNode(const Node& node);
  Node PutNodeJson(const std::string& json);
  // Merges into an existing node, as some other client would.
  void ChangeNode(const std::string& name, const std::string& merge_patch);
  void RemoveNode(const std::string& name);
  void RemoveLease(const std::string& namespace_name, const std::string& name);
  // The stored document; empty if there is none.
  std::string NodeJson(const std::string& name) const;
  void MirrorTo(FakeNodeLister* lister);

  // --- Scripted failures -----------------------------------------------------
  // The next `times` calls of `method` fail before anything is changed.
  void FailNext(const std::string& method, Status status, int times = 1);
  // The next `times` calls of `method` are carried out, but answer this.
  void LoseReplies(const std::string& method, Status status, int times = 1);
  // Runs before each call is carried out, without locks held.
  void OnCall(std::function<void(const RecordedCall&)> hook);
  // Answers for Call; without one they fail with UNIMPLEMENTED.
  void AnswerCalls(std::function<Result<RawResponse>(const RawRequest&)> answer);

  std::vector<RecordedCall> Calls() const;
  // Calls of this method, in order.
  std::vector<RecordedCall> Calls(const std::string& method) const;
  void ClearCalls();

  // --- KubeApi ---------------------------------------------------------------
  Result<Node> GetNode(const std::string& name, const std::string& resource_version,
                       const CallContext& context) override;
  Result<Node> PatchNode(const std::string& name, PatchType type, const std::string& body,
                         const std::string& subresource, const CallContext& context) override;
  Status DeleteNode(const std::string& name, const DeletePreconditions& preconditions,
                    const CallContext& context) override;
  Result<Lease> GetLease(const std::string& namespace_name, const std::string& name,
                         const CallContext& context) override;
  Result<Lease> CreateLease(const Lease& lease, const CallContext& context) override;
  Result<Lease> UpdateLease(const Lease& lease, const CallContext& context) override;
  Result<RawResponse> Call(const RawRequest& request, const CallContext& context) override;

 private:
  struct State;
  struct Failure {
    Status status;
    int times = 0;
    bool after_commit = false;
  };

  // Records, runs the hook, and says whether the call fails before its effect.
  Status Begin(const RecordedCall& call, const CallContext& context);
  // Turns the outcome into a scripted lost reply if one is due.
  template <typename T>
  T Finish(const std::string& method, T outcome);
  Status TakeFailure(const std::string& method, bool after_commit);
  Node Store(const std::string& json);
  Result<Node> Patch(const std::string& name, PatchType type, const std::string& body,
                     const std::string& subresource);
  Status Remove(const std::string& name, const DeletePreconditions& preconditions);

  std::recursive_mutex order_;  // one change and its mirror at a time; taken first
  mutable std::mutex mutex_;    // guards all below
  std::unique_ptr<State> state_;
  std::map<std::string, Lease> leases_;
  std::map<std::string, std::deque<Failure>> failures_;
  std::vector<RecordedCall> calls_;
  std::function<void(const RecordedCall&)> hook_;
  std::function<Result<RawResponse>(const RawRequest&)> answer_;
  FakeNodeLister* mirror_ = nullptr;
  std::uint64_t next_version_ = 100;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_TESTING_FAKE_KUBE_API_H_

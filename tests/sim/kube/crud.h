// Crud: get, create, update, patch, delete of single objects.
//
// Every method answers what the real server answers, error or not. Thread-safe;
// writes retry on the store's compare-and-swap as the server retries on etcd's.
#ifndef OTC_TESTS_SIM_KUBE_CRUD_H_
#define OTC_TESTS_SIM_KUBE_CRUD_H_

#include <atomic>
#include <functional>

#include "host/base/clock.h"
#include "sdk/include/otc/cpp/status.h"
#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/http_message.h"
#include "tests/sim/kube/negotiate.h"
#include "tests/sim/kube/prepare.h"
#include "tests/sim/kube/request_info.h"
#include "tests/sim/kube/store.h"

namespace otc::kubesim {

// The object that a write answers, and the status code (200 or 201).
struct WriteResult {
  ObjectPtr object;  // null: answer `status` instead
  Json status;
  int code = 200;
};

class Crud {
 public:
  Crud(Store& store, const host::Clock& clock) : store_(store), clock_(clock) {}

  void set_not_ready_taint(bool on) { not_ready_taint_ = on; }

  ApiResult<ObjectPtr> Get(const RequestInfo& info, const HttpRequest& request) const;
  ApiResult<WriteResult> Create(const RequestInfo& info, const HttpRequest& request);
  ApiResult<WriteResult> Update(const RequestInfo& info, const HttpRequest& request);
  ApiResult<WriteResult> Patch(const RequestInfo& info, const HttpRequest& request);
  ApiResult<WriteResult> Delete(const RequestInfo& info, const HttpRequest& request);

  // Stores a document as it is, without admission and validation (seeding).
  Status Seed(const ResourceInfo& resource, Json document);

 private:
  using Change = std::function<ApiResult<Json>(const Json& current)>;

  ApiResult<WriteResult> CreateDocument(const RequestInfo& info, const HttpRequest& request,
                                        Json document);
  // Applies `change` to the stored object until it is written.
  ApiResult<WriteResult> Modify(const RequestInfo& info, const HttpRequest& request,
                                const Change& change);
  // One attempt; nothing: somebody else was faster.
  std::optional<ApiResult<WriteResult>> TryModify(const RequestInfo& info,
                                                  const WriteContext& context, bool dry_run,
                                                  const ObjectPtr& current, const Change& change);
  std::optional<ApiError> CheckNamespace(const RequestInfo& info) const;
  WriteContext ContextOf(const RequestInfo& info, const HttpRequest& request) const;

  Store& store_;
  const host::Clock& clock_;
  std::atomic<bool> not_ready_taint_{true};
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_CRUD_H_

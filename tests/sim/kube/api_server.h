// ApiServer: takes one parsed request through log, faults, authentication and
// authorization to the part that answers it.
#ifndef OTC_TESTS_SIM_KUBE_API_SERVER_H_
#define OTC_TESTS_SIM_KUBE_API_SERVER_H_

#include <string>

#include "tests/sim/kube/auth.h"
#include "tests/sim/kube/call_log.h"
#include "tests/sim/kube/crud.h"
#include "tests/sim/kube/faults.h"
#include "tests/sim/kube/list_watch.h"
#include "tests/sim/kube/reviews.h"
#include "tests/sim/kube/server.h"
#include "tests/sim/kube/store.h"

namespace otc::kubesim {

class ApiServer {
 public:
  ApiServer(const Options& options, const host::Clock& clock);

  // Called on connection threads.
  void Handle(HttpRequest& request, ResponseWriter& writer);

  Store& store() { return store_; }
  Crud& crud() { return crud_; }
  ListWatch& list_watch() { return list_watch_; }
  FaultScript& faults() { return faults_; }
  CallLog& calls() { return calls_; }
  Auth& auth() { return auth_; }
  void set_address(std::string address) { address_ = std::move(address); }

 private:
  void Answer(const RequestInfo& info, const HttpRequest& request, const WatchFault& watch_fault,
              const Identity& identity, ResponseWriter& writer);
  Reply Resource(const RequestInfo& info, const HttpRequest& request, const Identity& identity);
  std::optional<ApiError> CheckPath(const RequestInfo& info) const;
  void Watch(const RequestInfo& info, const HttpRequest& request, const WatchFault& fault,
             ResponseWriter& writer);
  ApiResult<Reply> DeleteCollection(const RequestInfo& info, const HttpRequest& request);

  const Options& options_;
  const host::Clock& clock_;
  std::string address_;
  Store store_;
  Crud crud_;
  ListWatch list_watch_;
  FaultScript faults_;
  CallLog calls_;
  Auth auth_;
  Reviews reviews_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_API_SERVER_H_

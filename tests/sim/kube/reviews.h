// Reviews: questions about credentials, answered from Auth and never stored.
#ifndef OTC_TESTS_SIM_KUBE_REVIEWS_H_
#define OTC_TESTS_SIM_KUBE_REVIEWS_H_

#include "host/base/clock.h"
#include "tests/sim/kube/api_error.h"
#include "tests/sim/kube/auth.h"
#include "tests/sim/kube/request_info.h"
#include "tests/sim/kube/store.h"

namespace otc::kubesim {

class Reviews {
 public:
  Reviews(Auth& auth, const Store& store, const host::Clock& clock)
      : auth_(auth), store_(store), clock_(clock) {}

  // TokenReview, SubjectAccessReview, SelfSubjectAccessReview: the document with
  // its status filled in.
  ApiResult<Json> Review(const RequestInfo& info, const HttpRequest& request,
                         const Identity& identity) const;
  // POST serviceaccounts/<name>/token.
  ApiResult<Json> RequestToken(const RequestInfo& info, const HttpRequest& request);

 private:
  Auth& auth_;
  const Store& store_;
  const host::Clock& clock_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_REVIEWS_H_

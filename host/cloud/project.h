// ProjectResolver: the id of the project that cloud.conf names, asked of IAM once.
//
// A project id in cloud.conf skips the call. A failure is remembered for a while,
// so that many callers do not become many calls. Thread-safe; one caller asks, the
// others wait for it and wake on cancellation.
#ifndef OTC_HOST_CLOUD_PROJECT_H_
#define OTC_HOST_CLOUD_PROJECT_H_

#include <string>

#include "host/cloud/request_sender.h"
#include "host/cloud/session.h"

namespace otc::host::cloud {

class ProjectResolver {
 public:
  ProjectResolver(Clock& clock, RequestSender& sender) : clock_(clock), sender_(sender) {}

  // NOT_FOUND "ProjectNotFound", FAILED_PRECONDITION "ProjectAmbiguous" or
  // "ProjectDisabled", or how the call to IAM failed.
  Result<std::string> Get(Session& session, const CallContext& context);

  // Asks the cloud whether key, project and endpoint are right, whatever is known
  // already. Messages are for an operator: endpoint, what is wrong, what to do.
  Status Check(Session& session, const CallContext& context);

 private:
  Result<std::string> LookUp(Session& session, const CallContext& context);
  Status CheckId(Session& session, const CallContext& context);
  plugin::v1::CloudResponse Ask(Session& session, const std::string& path, const std::string& name,
                                const CallContext& context);

  Clock& clock_;
  RequestSender& sender_;
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_PROJECT_H_

// Session: everything that belongs to one accepted cloud.conf. A reload makes a
// new one; calls under way keep theirs until they end.
//
// The members are constant or thread-safe in themselves.
#ifndef OTC_HOST_CLOUD_SESSION_H_
#define OTC_HOST_CLOUD_SESSION_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "host/base/log.h"
#include "host/cloud/cloud_config.h"
#include "host/cloud/credential_guard.h"
#include "host/cloud/endpoints.h"
#include "host/cloud/response_cache.h"
#include "host/cloud/signer.h"
#include "host/http/client.h"

namespace otc::host::cloud {

// The project's id, looked up at first use. Guarded by its mutex.
struct ProjectState {
  std::mutex mutex;
  std::condition_variable changed;
  bool looking = false;
  std::string id;           // empty: not known yet
  Status failure;           // of the last look-up
  MonoTime failure_ends{};  // until then `failure` is the answer
};

struct Session {
  Session(CloudConfig config_in, Endpoints endpoints_in, std::shared_ptr<http::Client> client_in,
          Clock& clock)
      : config(std::move(config_in)),
        endpoints(std::move(endpoints_in)),
        client(std::move(client_in)),
        signer(config.credentials, config.sign_form),
        cache(clock) {
    config.RegisterSecrets(redactor);
    project.id = config.project_id;
  }

  const CloudConfig config;
  const Endpoints endpoints;
  const std::shared_ptr<http::Client> client;
  const Signer signer;
  SecretRedactor redactor;
  CredentialGuard guard;
  ResponseCache cache;
  ProjectState project;
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_SESSION_H_

// Transport: the host's way to the cloud, behind otc.host.cloud/1 exchange.
//
// Takes batches of requests from plugins, finds endpoint and project, keeps caches
// within the age that a request allows, and hands each to RequestSender. In role
// csi-node there are no credentials and only the metadata service is served.
//
// Thread-safe. Exchange blocks; a parallel batch uses up to 7 more threads, all
// batches together at most 32, and falls back to the calling thread. Reload swaps
// the configuration under running calls, which end with the old one.
#ifndef OTC_HOST_CLOUD_TRANSPORT_H_
#define OTC_HOST_CLOUD_TRANSPORT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "host/cloud/exchange.h"
#include "host/cloud/project.h"
#include "host/cloud/request_sender.h"
#include "host/cloud/session.h"

namespace otc::host::cloud {

struct TransportDeps {
  Clock& clock;
  Random& random;
  Log& log;
  Metrics& metrics;
  WriteGate& gate;
  // http::MakeClient, or a test's. Called at creation and for each new CA file.
  std::function<Result<std::unique_ptr<http::Client>>(http::ClientOptions)> make_client;
  std::string user_agent;  // "otc-host/1.2.3"
};

class Transport final : public CloudExchange {
 public:
  // INVALID_ARGUMENT for a bad override or CA file. Sends nothing.
  static Result<std::unique_ptr<Transport>> Create(CloudConfig config, TransportDeps deps);
  // Role csi-node. `metadata_url` empty: the link-local address.
  static Result<std::unique_ptr<Transport>> CreateForMetadata(const std::string& metadata_url,
                                                              TransportDeps deps);

  Status Exchange(const Caller& caller, const plugin::v1::CloudBatch& batch,
                  const CallContext& context, const Put& put) override;

  // Takes over a changed configuration. If keys, project or endpoints changed, the
  // new ones are first tried against IAM; on any failure the old configuration
  // stays in force. UNAVAILABLE: worth trying again with the same configuration.
  Status Reload(CloudConfig config, const CallContext& context);
  // The same from the text of a changed file.
  Status ReloadText(std::string_view text, const std::string& file_name,
                    const CallContext& context);

  // The check at start: does the cloud accept key and project? Reasons:
  // CredentialsRefused, ProjectNotFound, ProjectAmbiguous, ProjectDisabled,
  // ProjectLookupDenied, CloudUnreachable, IamFailed.
  Status Probe(const CallContext& context);

  CloudConfig config() const;

 private:
  class Batch;

  Transport(TransportDeps deps, const CloudConfig& config);

  static Result<std::unique_ptr<Transport>> Make(CloudConfig config, Result<Endpoints> endpoints,
                                                 TransportDeps deps);
  Result<std::shared_ptr<http::Client>> MakeHttpClient(const CloudConfig& config) const;
  std::shared_ptr<Session> CurrentSession() const;
  Status CheckBatch(const Session& session, const plugin::v1::CloudBatch& batch) const;
  plugin::v1::CloudResponse Perform(Session& session, const Caller& caller,
                                    const plugin::v1::CloudRequest& request,
                                    const CallContext& context);
  plugin::v1::CloudResponse PerformNow(Session& session, const Caller& caller,
                                       const plugin::v1::CloudRequest& request,
                                       const Endpoint& endpoint, const CallContext& context);
  Result<std::shared_ptr<Session>> NextSession(CloudConfig config, const CallContext& context);
  Status RefuseReload(const Status& status);
  int TakeThreads(int wanted);

  TransportDeps deps_;
  TransportMetrics metrics_;
  Budgets budgets_;
  RequestSender sender_;
  ProjectResolver projects_;
  std::atomic<int> free_threads_;
  std::mutex reload_mutex_;  // one Reload at a time
  mutable std::mutex mutex_;
  CloudConfig config_;                // guarded by mutex_
  std::shared_ptr<Session> session_;  // guarded by mutex_; its config may lack later changes
                                      // of what is not keys, project or endpoints
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_TRANSPORT_H_

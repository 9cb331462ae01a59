// Reflector: keeps an ObjectSink equal to one collection of the API server, by
// list and watch, for as long as it runs.
//
// Reads the collection once (as a streaming list where the server offers it, else
// page by page), then follows its changes from there. A watch that ends is opened
// again where it stopped; what the server has forgotten is listed again; failures
// are repeated with growing, jittered waits. Never gives up, never goes back in
// time. A stream that went silent is replaced 30 s after the end that was agreed
// with the server.
//
// Runs on the thread that calls Run, one a reflector; ends within a moment of
// the cancellation.
#ifndef OTC_HOST_KUBE_REFLECTOR_H_
#define OTC_HOST_KUBE_REFLECTOR_H_

#include <string>

#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/random.h"
#include "host/kube/backoff.h"
#include "host/kube/client.h"
#include "host/kube/object_sink.h"

namespace otc::host::kube {

struct ReflectorOptions {
  std::string name;  // label of metrics and logs: "nodes"
  std::string path;  // "/api/v1/nodes"
  std::string kind;  // of the objects: "Node"; the list's is "NodeList"
  int page_size = 500;
  bool streaming_list = true;
  // How long the first part of a streaming list may make no progress before the
  // classic list is used for good.
  Duration streaming_patience = std::chrono::seconds(15);
};

class Reflector {
 public:
  Reflector(ReflectorOptions options, KubeClient& client, ObjectSink& sink, Clock& clock,
            Random& random, Log& log, Metrics& metrics);

  // Until the context's cancellation or deadline.
  void Run(const CallContext& context);

 private:
  enum class Next { kList, kWatch };
  // What follows a list or a watch.
  struct Step {
    Next next = Next::kList;
    std::string reason;  // of a repetition, for the metrics
    bool wait = false;   // with growing delays, and at least:
    Duration at_least = Duration::zero();
  };
  class ListConsumer;
  class WatchConsumer;

  Step List(const CallContext& context);
  Step StreamingList(const CallContext& context);
  Step Watch(const CallContext& context);
  // Reads one page; the envelope's continue token is empty on the last one.
  StreamOutcome ReadPage(const std::string& version, const std::string& continue_token,
                         bool limited, const CallContext& context, ListEnvelope* envelope);
  std::string WatchPath(const std::string& version, int timeout_seconds, bool initial_events) const;
  int WatchSeconds();

  Step AfterStream(const StreamOutcome& outcome, const WatchConsumer& consumer, Duration lived);
  Step AfterError(const ApiStatus& error);
  Step AfterRefusal(const StreamOutcome& outcome);
  Step AfterFailedStreamingList(const StreamOutcome& outcome, const WatchConsumer& consumer,
                                bool stalled);
  Step Repeat(Next next, std::string reason, const Status& status = Status::Ok());

  std::string ListVersion() const;
  void Positioned(const std::string& version);
  void Moved(const std::string& version);
  void CountEvent();

  const ReflectorOptions options_;
  KubeClient& client_;
  ObjectSink& sink_;
  Clock& clock_;
  Random& random_;
  Log& log_;
  Metrics& metrics_;
  Gauge& last_event_;
  Backoff backoff_;

  std::string version_;               // of the last list, change or bookmark
  bool version_unavailable_ = false;  // the server refused it: read the newest
  bool paged_from_cache_ = false;     // the server pages even from its cache
  bool streaming_ = true;
  int failed_streams_ = 0;  // streaming lists that broke off, one after the other
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_REFLECTOR_H_

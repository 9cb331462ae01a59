// The Kubernetes client against a whole API server: kube-sim, or the real one
// whose kubeconfig $OTC_E2E_KUBECONFIG names (as an administrator; the tests
// remove the nodes they make).
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "host/base/strings.h"
#include "host/kube/client.h"
#include "host/kube/config.h"
#include "host/kube/events.h"
#include "host/kube/json_codec.h"
#include "host/kube/node_informer.h"
#include "host/kube/testing/node_json.h"
#include "tests/sim/kube/server.h"

namespace otc::host::kube {
namespace {

using std::chrono::seconds;

// Passes everything on to a real client and notes what was asked for; may answer
// a stream itself, to play a server that forgot.
class RecordingHttp final : public http::Client {
 public:
  struct Notes {
    std::mutex mutex;
    std::vector<std::string> streams;  // targets
    int refuse = 0;                    // so many streams get 410
    bool cut = false;                  // streams end after their first piece of body
  };

  RecordingHttp(std::unique_ptr<http::Client> real, Notes& notes)
      : real_(std::move(real)), notes_(notes) {}

  http::Outcome Send(const http::Request& request, const CallContext& context) override {
    return real_->Send(request, context);
  }
  http::Outcome Stream(const http::Request& request, const CallContext& context,
                       Duration idle_timeout, http::StreamHandler& handler) override {
    {
      std::lock_guard lock(notes_.mutex);
      notes_.streams.push_back(request.target);
      if (notes_.refuse > 0) {
        --notes_.refuse;
        http::Outcome outcome;
        outcome.delivery = http::Delivery::kAnswered;
        outcome.response.status = 410;
        handler.OnHead(outcome.response);
        return outcome;
      }
    }
    Cutter cutter(handler, notes_);
    return real_->Stream(request, context, idle_timeout, cutter);
  }
  void CloseIdle() override { real_->CloseIdle(); }

 private:
  class Cutter final : public http::StreamHandler {
   public:
    Cutter(http::StreamHandler& handler, Notes& notes) : handler_(handler), notes_(notes) {}
    bool OnHead(const http::Response& head) override { return handler_.OnHead(head); }
    bool OnBody(std::string_view data) override {
      if (!handler_.OnBody(data)) return false;
      std::lock_guard lock(notes_.mutex);
      return !notes_.cut;
    }

   private:
    http::StreamHandler& handler_;
    Notes& notes_;
  };

  const std::unique_ptr<http::Client> real_;
  Notes& notes_;
};

int CountEntries(const char* directory) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) {
    ++count;
  }
  return count;
}

long ResidentKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6);
  }
  return 0;
}

class ApiServerTest : public ::testing::Test {
 protected:
  ApiServerTest() {
    context_.clock = &clock_;
    context_.deadline = clock_.Now() + seconds(90);
    KubeClientOptions options;
    const char* path = std::getenv("OTC_E2E_KUBECONFIG");
    if (path != nullptr) {
      auto config = LoadConfig({path, ""});
      EXPECT_TRUE(config.ok()) << config.status().ToString();
      if (config.ok()) options.config = std::move(config).value();
    } else {
      StartSimulator(&options.config);
    }
    options.qps = 0;
    options.make_http_client = [this](http::ClientOptions http_options,
                                      Clock& clock) -> Result<std::unique_ptr<http::Client>> {
      auto made = http::MakeClient(std::move(http_options), clock);
      if (!made.ok()) return made.status();
      return std::unique_ptr<http::Client>(new RecordingHttp(std::move(made).value(), notes_));
    };
    auto client = KubeClient::Create(std::move(options), gate_, clock_, log_, metrics_);
    EXPECT_TRUE(client.ok()) << client.status().ToString();
    client_ = std::move(client).value();
  }

  ~ApiServerTest() override {
    for (const std::string& name : created_) (void)client_->DeleteNode(name, {}, context_);
    if (HasFailure()) {
      for (const std::string& line : log_.Lines()) std::fprintf(stderr, "%s\n", line.c_str());
    }
  }

  void StartSimulator(KubeConfig* config) {
    simulator_ = std::make_unique<kubesim::Server>(kubesim::Options{});
    const Status started = simulator_->Start();
    EXPECT_TRUE(started.ok()) << started.ToString();
    const std::string path = ::testing::TempDir() + "kubeconfig." + prefix_;
    std::FILE* file = std::fopen(path.c_str(), "w");
    const std::string text = simulator_->Kubeconfig();
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
    auto loaded = LoadConfig({path, ""});
    std::remove(path.c_str());
    EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
    if (loaded.ok()) *config = std::move(loaded).value();
  }

  Result<RawResponse> Post(const std::string& path, const std::string& body) {
    RawRequest request;
    request.method = "POST";
    request.path = path;
    request.content_type = "application/json";
    request.body = body;
    return client_->Call(request, context_);
  }
  std::string NodeName(int i) { return "n-" + prefix_ + "-" + std::to_string(i); }
  void CreateNode(const std::string& name, const std::string& more = "") {
    const auto created =
        Post("/api/v1/nodes", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
                                  "\"}" + more + "}");
    ASSERT_TRUE(created.ok()) << created.status().ToString();
    created_.insert(name);
  }
  void CreateNodes(int count) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = t; i < count; i += 4) {
          const auto created = Post("/api/v1/nodes", R"({"metadata":{"name":")" + NodeName(i) +
                                                         R"("},"kind":"Node","apiVersion":"v1"})");
          EXPECT_TRUE(created.ok()) << created.status().ToString();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    for (int i = 0; i < count; ++i) created_.insert(NodeName(i));
  }

  std::unique_ptr<NodeInformer> Inform(bool streaming) {
    ReflectorOptions options = NodeInformer::NodeOptions();
    options.streaming_list = streaming;
    auto informer =
        std::make_unique<NodeInformer>(*client_, clock_, random_, log_, metrics_, options);
    informer->Start();
    return informer;
  }
  template <typename F>
  bool Eventually(F condition) {
    const MonoTime until = clock_.Now() + seconds(20);
    while (!condition()) {
      if (clock_.Now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  int Cached(const NodeInformer& informer) {
    int count = 0;
    for (const NodePtr& node : informer.List()) count += created_.count(node->meta.name) != 0;
    return count;
  }
  std::vector<std::string> Streams() {
    std::lock_guard lock(notes_.mutex);
    return notes_.streams;
  }
  static bool Has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  const std::string prefix_ = RandomUuid().substr(0, 8);
  SystemClock clock_;
  SystemRandom random_;
  MemoryLog log_;
  Metrics metrics_;
  OpenWriteGate gate_;
  CallContext context_;
  RecordingHttp::Notes notes_;
  std::unique_ptr<kubesim::Server> simulator_;
  std::unique_ptr<KubeClient> client_;
  std::set<std::string> created_;
};

TEST_F(ApiServerTest, C01_C05_TwelveHundredNodesFromCacheThenPagedWithoutAVersion) {
  CreateNodes(1200);
  {
    auto informer = Inform(false);
    ASSERT_TRUE(Eventually([&] { return informer->HasSynced(); }));
    EXPECT_EQ(Cached(*informer), 1200);
    ASSERT_TRUE(Eventually([&] { return Has(Streams().back(), "watch=true"); }));
    informer->Stop();
    EXPECT_TRUE(Has(Streams().front(), "resourceVersion=0"));
    const std::string watch = Streams().back();
    EXPECT_TRUE(Has(watch, "allowWatchBookmarks=true"));
    EXPECT_TRUE(Has(watch, "timeoutSeconds="));
    EXPECT_FALSE(Has(watch, "resourceVersion=0"));
  }
  {
    std::lock_guard lock(notes_.mutex);
    notes_.streams.clear();
    notes_.refuse = 1;  // the cached version is refused: read the newest
  }
  auto informer = Inform(false);
  ASSERT_TRUE(Eventually([&] { return informer->HasSynced(); }));
  informer->Stop();
  EXPECT_EQ(Cached(*informer), 1200);
  const auto streams = Streams();
  int pages = 0;
  for (const std::string& target : streams) {
    if (Has(target, "watch=true")) continue;
    if (Has(target, "resourceVersion=0")) continue;  // the one that was refused
    ++pages;
    EXPECT_FALSE(Has(target, "resourceVersion")) << target;
    EXPECT_TRUE(Has(target, "limit=500")) << target;
    EXPECT_EQ(Has(target, "continue="), pages > 1) << target;
  }
  EXPECT_GE(pages, 3);
}

TEST_F(ApiServerTest, C08_C22_StreamingListThenChangesOnTheSameStream) {
  CreateNodes(20);
  auto informer = Inform(true);
  std::mutex mutex;
  std::vector<std::string> log;
  informer->AddHandler([&](const NodePtr& before, const NodePtr& after) {
    const std::string name = (before ? before : after)->meta.name;
    if (name != NodeName(0)) return;
    std::lock_guard lock(mutex);
    log.push_back(!before ? "add" : after ? "change" : "delete");
  });
  ASSERT_TRUE(Eventually([&] { return informer->HasSynced(); }));
  EXPECT_EQ(Cached(*informer), 20);
  ASSERT_TRUE(client_
                  ->PatchNode(NodeName(0), PatchType::kMerge,
                              R"({"metadata":{"labels":{"x":"y"}}})", "", context_)
                  .ok());
  ASSERT_TRUE(Eventually([&] { return informer->Get(NodeName(0))->meta.labels.count("x") != 0; }));
  Node copy = *informer->Get(NodeName(0));
  copy.meta.labels.clear();
  EXPECT_EQ(informer->Get(NodeName(0))->meta.labels.count("x"), 1u);
  ASSERT_TRUE(client_->DeleteNode(NodeName(0), {}, context_).ok());
  ASSERT_TRUE(Eventually([&] { return informer->Get(NodeName(0)) == nullptr; }));
  ASSERT_TRUE(Eventually([&] {
    std::lock_guard lock(mutex);
    return !log.empty() && log.back() == "delete";
  }));
  informer->Stop();
  EXPECT_EQ(Streams().size(), 1u) << "one stream for the list and all changes";
  EXPECT_TRUE(Has(Streams().front(), "sendInitialEvents=true"));
  EXPECT_EQ(log, (std::vector<std::string>{"add", "change", "delete"}));
}

TEST_F(ApiServerTest, C40_HundredsOfWatchRestartsKeepSocketsThreadsAndMemory) {
  CreateNode(NodeName(0));
  auto informer = Inform(false);
  ASSERT_TRUE(Eventually([&] { return informer->HasSynced() && Streams().size() == 2; }));
  {
    std::lock_guard lock(notes_.mutex);
    notes_.cut = true;
  }
  auto restart = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const std::size_t before = Streams().size();
      ASSERT_TRUE(client_
                      ->PatchNode(NodeName(0), PatchType::kMerge,
                                  R"({"metadata":{"labels":{"i":")" + RandomUuid() + R"("}}})", "",
                                  context_)
                      .ok());
      ASSERT_TRUE(Eventually([&] { return Streams().size() > before; }));
    }
  };
  restart(20);
  const int sockets = CountEntries("/proc/self/fd");
  const int threads = CountEntries("/proc/self/task");
  [[maybe_unused]] const long memory = ResidentKilobytes();
  restart(300);
  // The simulator runs in this process and may hold a connection of either side
  // a moment longer.
  EXPECT_TRUE(Eventually([&] { return CountEntries("/proc/self/fd") <= sockets + 2; }))
      << CountEntries("/proc/self/fd") << " descriptors instead of " << sockets;
  EXPECT_LE(CountEntries("/proc/self/task"), threads + 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Sanitizers keep freed memory on purpose.
  EXPECT_LT(ResidentKilobytes() - memory, 4096);
#endif
  informer->Stop();
  EXPECT_GE(metrics_.Sum("otc_host_informer_rewatches_total"), 320);
  EXPECT_EQ(metrics_.Sum("otc_host_informer_relists_total"), 0);
}

TEST_F(ApiServerTest, N13_PatchesOfEveryKindKeepUnknownFields) {
  CreateNode(NodeName(0), R"(,"spec":{"podCIDR":"10.9.0.0/24","podCIDRs":["10.9.0.0/24"]})");
  const auto before = client_->GetNode(NodeName(0), "", context_);
  ASSERT_TRUE(before.ok()) << before.status().ToString();
  auto patched = client_->PatchNode(
      NodeName(0), PatchType::kMerge,
      R"({"metadata":{"resourceVersion":")" + before->meta.resource_version +
          R"(","labels":{"a":"1"}},"spec":{"providerID":"otc:///1","taints":null}})",
      "", context_);
  ASSERT_TRUE(patched.ok()) << patched.status().ToString();
  EXPECT_EQ(patched->provider_id, "otc:///1");
  EXPECT_TRUE(patched->taints.empty());
  patched =
      client_->PatchNode(NodeName(0), PatchType::kJson,
                         R"([{"op":"add","path":"/metadata/labels/b","value":"2"}])", "", context_);
  ASSERT_TRUE(patched.ok()) << patched.status().ToString();
  EXPECT_EQ(patched->meta.labels.at("b"), "2");
  const std::string addresses =
      R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"},)"
      R"({"type":"InternalIP","address":"fd00::1"},{"type":"Hostname","address":"h"},)"
      R"({"$patch":"replace"}]}})";
  patched =
      client_->PatchNode(NodeName(0), PatchType::kStrategicMerge, addresses, "status", context_);
  ASSERT_TRUE(patched.ok()) << patched.status().ToString();
  ASSERT_EQ(patched->addresses.size(), 3u);
  EXPECT_EQ(patched->addresses[1].address, "fd00::1");
  const std::string version = patched->meta.resource_version;
  patched =
      client_->PatchNode(NodeName(0), PatchType::kStrategicMerge, addresses, "status", context_);
  ASSERT_TRUE(patched.ok());
  EXPECT_EQ(patched->meta.resource_version, version) << "a patch without effect writes nothing";
  RawRequest raw;
  raw.method = "GET";
  raw.path = "/api/v1/nodes/" + NodeName(0);
  EXPECT_TRUE(Has(client_->Call(raw, context_)->body, "10.9.0.0/24"));
}

TEST_F(ApiServerTest, N12_StaleVersionsAndForeignUidsAreConflicts) {
  CreateNode(NodeName(0));
  const auto node = client_->GetNode(NodeName(0), "", context_);
  ASSERT_TRUE(node.ok());
  ASSERT_TRUE(client_
                  ->PatchNode(NodeName(0), PatchType::kMerge,
                              R"({"metadata":{"labels":{"a":"1"}}})", "", context_)
                  .ok());
  const std::string stale = R"({"metadata":{"resourceVersion":")" + node->meta.resource_version +
                            R"(","labels":{"a":"2"}}})";
  for (const PatchType type : {PatchType::kMerge, PatchType::kStrategicMerge}) {
    const Status status = client_->PatchNode(NodeName(0), type, stale, "", context_).status();
    EXPECT_EQ(status.code(), Code::kAborted) << status.ToString();
    EXPECT_EQ(status.reason(), "Conflict");
  }
  const Status foreign =
      client_->DeleteNode(NodeName(0), {"00000000-0000-0000-0000-000000000000", ""}, context_);
  EXPECT_EQ(foreign.code(), Code::kAborted) << foreign.ToString();
  EXPECT_TRUE(client_->DeleteNode(NodeName(0), {node->meta.uid, ""}, context_).ok());
  const Status gone = client_->GetNode(NodeName(0), "", context_).status();
  EXPECT_EQ(gone.code(), Code::kNotFound);
  EXPECT_EQ(gone.reason(), "NotFound");
}

TEST_F(ApiServerTest, RefusalsSayWhy) {
  CreateNode(NodeName(0), R"(,"spec":{"providerID":"otc:///1"})");
  const Status status = client_
                            ->PatchNode(NodeName(0), PatchType::kMerge,
                                        R"({"spec":{"providerID":"otc:///2"}})", "", context_)
                            .status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
  EXPECT_EQ(status.reason(), "Invalid");
  EXPECT_TRUE(Has(status.message(), "providerID")) << status.message();
}

TEST_F(ApiServerTest, E02_LeasesWithMicroTimes) {
  Lease lease;
  lease.meta.namespace_ = "kube-system";
  lease.meta.name = "test-" + prefix_;
  EXPECT_EQ(client_->GetLease("kube-system", lease.meta.name, context_).status().code(),
            Code::kNotFound);
  lease.holder = "me_" + RandomUuid();
  lease.duration_seconds = 15;
  lease.acquire_time = lease.renew_time = FormatMicroTime(clock_.Wall());
  const auto created = client_->CreateLease(lease, context_);
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  EXPECT_EQ(created->renew_time, lease.renew_time);
  EXPECT_EQ(client_->CreateLease(lease, context_).status().code(), Code::kAlreadyExists);
  Lease next = *created;
  next.transitions = 1;
  next.renew_time = FormatMicroTime(clock_.Wall());
  const auto updated = client_->UpdateLease(next, context_);
  ASSERT_TRUE(updated.ok()) << updated.status().ToString();
  EXPECT_EQ(updated->transitions, 1);
  EXPECT_EQ(client_->UpdateLease(next, context_).status().code(), Code::kAborted);
  next = *updated;
  next.renew_time = "2026-01-01T00:00:00.000Z";
  EXPECT_EQ(client_->UpdateLease(next, context_).status().code(), Code::kInvalidArgument)
      << "only six digits are a MicroTime";
  RawRequest remove;
  remove.method = "DELETE";
  remove.path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/" + lease.meta.name;
  EXPECT_TRUE(client_->Call(remove, context_).ok());
}

TEST_F(ApiServerTest, Q07_Q11_EventsAreStoredAndCountedUp) {
  CreateNode(NodeName(0));
  const auto node = client_->GetNode(NodeName(0), "", context_);
  ASSERT_TRUE(node.ok());
  ApiEventRecorder recorder(*client_, clock_, random_, log_, metrics_);
  recorder.Record("cloud-node-controller", ReferenceTo(*node), EventType::kNormal, "Synced",
                  "Node synced successfully");
  recorder.Record("cloud-node-controller", ReferenceTo(*node), EventType::kNormal, "Synced",
                  "Node synced successfully");
  recorder.Record("otc-host", {"coordination.k8s.io/v1", "Lease", "kube-system", "l", "u", ""},
                  EventType::kWarning, "Ä", std::string(3000, 'x'));
  recorder.Stop(seconds(20));
  RawRequest list;
  list.method = "GET";
  list.path =
      "/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid%3D" + node->meta.uid;
  const auto events = client_->Call(list, context_);
  ASSERT_TRUE(events.ok()) << events.status().ToString();
  EXPECT_TRUE(Has(events->body, "\"count\":2")) << events->body;
  EXPECT_TRUE(Has(events->body, "\"component\":\"cloud-node-controller\""));
  EXPECT_TRUE(Has(events->body, NodeName(0) + "."));
  EXPECT_EQ(metrics_.Sum("otc_host_events_dropped_total"), 0);
}

TEST_F(ApiServerTest, C36_OddNamesReachTheServerAsTheyAre) {
  const Status status = client_->GetNode("a b+c:d\xc3\xa4", "", context_).status();
  EXPECT_EQ(status.code(), Code::kNotFound) << status.ToString();
  EXPECT_TRUE(Has(status.message(), "a b+c:d\xc3\xa4")) << status.message();
}

}  // namespace
}  // namespace otc::host::kube

#include "host/kube/node_informer.h"

#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <vector>

#include "host/kube/testing/kube_fixture.h"
#include "host/kube/testing/proto_encode.h"

namespace otc::host::kube {
namespace {

Node MakeNode(const std::string& name, const std::string& version, const std::string& uid = "u") {
  Node node;
  node.meta.name = name;
  node.meta.uid = uid;
  node.meta.resource_version = version;
  return node;
}

// An informer on its own thread; each Play hands it one more stream and waits
// until it asks for the next.
class NodeInformerTest : public KubeTest {
 protected:
  NodeInformerTest() : random_(0.0) {
    options_.qps = 0;
    script_->stream_answer = [this](const http::Request&) { return Next(); };
    ReflectorOptions options = NodeInformer::NodeOptions();
    options.streaming_list = false;
    informer_ = std::make_unique<NodeInformer>(client(), clock_, random_, log_, metrics_, options);
  }
  ~NodeInformerTest() override {
    {
      std::lock_guard lock(mutex_);
      over_ = true;
      changed_.notify_all();
    }
    informer_->Stop();
  }

  StreamScript Next() {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return over_ || !scripts_.empty(); });
    StreamScript script;
    script.end = StreamScript::End::kRefused;
    if (over_) return script;
    script = std::move(scripts_.front());
    scripts_.pop_front();
    return script;
  }

  void Play(std::vector<std::string> pieces, bool watch) {
    StreamScript script;
    script.headers = {{"content-type", "application/vnd.kubernetes.protobuf"}};
    script.pieces = std::move(pieces);
    if (watch) script.after = [this] { clock_.Advance(std::chrono::seconds(5)); };
    std::unique_lock lock(mutex_);
    scripts_.push_back(std::move(script));
    const int before = asked_;
    changed_.notify_all();
    // A wait in between (410) is skipped.
    while (!changed_.wait_for(lock, std::chrono::milliseconds(20),
                              [&] { return asked_ > before && scripts_.empty(); })) {
      clock_.Advance(std::chrono::seconds(60));
    }
  }
  void Start() {
    informer_->Start();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_ == 1; });
  }
  void List(const std::string& version, const std::vector<Node>& nodes) {
    std::vector<std::string> items;
    for (const Node& node : nodes) items.push_back(EncodeNode(node));
    Play({EncodeList("NodeList", version, "", items)}, false);
  }
  void Event(const std::string& type, const Node& node) {
    Play({EncodeWatchFrame(type, "Node", EncodeNode(node))}, true);
  }
  void Expire() {
    Play({EncodeWatchFrame("ERROR", "Status", EncodeStatus(410, "Expired", ""))}, true);
  }

  NodeHandler Recorder(std::vector<std::string>* log) {
    return [log](const NodePtr& before, const NodePtr& after) {
      auto text = [](const NodePtr& node) {
        return node ? node->meta.name + "@" + node->meta.resource_version + "/" + node->meta.uid
                    : std::string("-");
      };
      log->push_back(text(before) + ">" + text(after));
    };
  }

  FixedRandom random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<StreamScript> scripts_;
  int asked_ = 0;
  bool over_ = false;
  std::unique_ptr<NodeInformer> informer_;
};

using Log = std::vector<std::string>;

TEST_F(NodeInformerTest, KeepsTheCacheAndTellsHandlersInOrder) {
  Log log;
  informer_->AddHandler(Recorder(&log));
  EXPECT_FALSE(informer_->HasSynced());
  Start();
  List("100", {MakeNode("b", "2"), MakeNode("a", "1")});
  EXPECT_TRUE(informer_->HasSynced());
  Event("MODIFIED", MakeNode("a", "101"));
  Event("ADDED", MakeNode("c", "102"));
  Event("DELETED", MakeNode("b", "103"));
  EXPECT_EQ(log, (Log{"->a@1/u", "->b@2/u", "a@1/u>a@101/u", "->c@102/u", "b@103/u>-"}));
  std::vector<std::string> names;
  for (const NodePtr& node : informer_->List()) names.push_back(node->meta.name);
  EXPECT_EQ(names, (Log{"a", "c"}));
  EXPECT_EQ(informer_->Get("b"), nullptr);
  EXPECT_EQ(metrics_.Sum("otc_host_informer_objects"), 2);
}

TEST_F(NodeInformerTest, C03_VanishedObjectsAreDeletedWithTheirLastState) {
  Log log;
  Start();
  List("100", {MakeNode("a", "1"), MakeNode("b", "2"), MakeNode("c", "3")});
  informer_->AddHandler(Recorder(&log));
  log.clear();
  Expire();
  List("200", {MakeNode("a", "1"), MakeNode("b", "150")});
  EXPECT_EQ(log, (Log{"b@2/u>b@150/u", "c@3/u>-"})) << "a did not change and stays quiet";
}

TEST_F(NodeInformerTest, UnchangedObjectsAreSharedByANewList) {
  Start();
  List("100", {MakeNode("a", "1")});
  const NodePtr before = informer_->Get("a");
  Expire();
  List("200", {MakeNode("a", "1")});
  EXPECT_EQ(informer_->Get("a"), before) << "a new list would double the memory";
}

TEST_F(NodeInformerTest, C20_DeletedAndCreatedAgainInTheGapIsOneUpdateWithAnotherUid) {
  Log log;
  Start();
  List("100", {MakeNode("a", "1", "u1")});
  informer_->AddHandler(Recorder(&log));
  log.clear();
  Expire();
  List("200", {MakeNode("a", "150", "u2")});
  EXPECT_EQ(log, (Log{"a@1/u1>a@150/u2"}));
}

TEST_F(NodeInformerTest, C22_ChangingACopyLeavesTheCacheAlone) {
  Start();
  List("100", {MakeNode("a", "1")});
  Node copy = *informer_->Get("a");
  copy.meta.labels["x"] = "y";
  EXPECT_TRUE(informer_->Get("a")->meta.labels.empty());
  static_assert(std::is_const_v<NodePtr::element_type>, "handlers cannot change the cache");
}

TEST_F(NodeInformerTest, C23_LateHandlerGetsEveryCachedObjectOnce) {
  Start();
  List("100", {MakeNode("a", "1"), MakeNode("b", "2")});
  Log log;
  informer_->AddHandler(Recorder(&log));
  EXPECT_EQ(log, (Log{"->a@1/u", "->b@2/u"}));
  Event("ADDED", MakeNode("c", "101"));
  EXPECT_EQ(log.size(), 3u);
}

TEST_F(NodeInformerTest, RepeatedAndUnknownEventsAreTakenForWhatTheyMean) {
  Log log;
  Start();
  List("100", {MakeNode("a", "1")});
  informer_->AddHandler(Recorder(&log));
  log.clear();
  Event("ADDED", MakeNode("a", "101"));
  Event("MODIFIED", MakeNode("new", "102"));
  Event("DELETED", MakeNode("never-seen", "103"));
  EXPECT_EQ(log, (Log{"a@1/u>a@101/u", "->new@102/u"}));
}

TEST_F(NodeInformerTest, StopsAtOnceWhileAWatchIsSilent) {
  Start();
  List("100", {});
  {
    std::lock_guard lock(mutex_);
    StreamScript silent;
    silent.headers = {{"content-type", "application/vnd.kubernetes.protobuf"}};
    silent.end = StreamScript::End::kSilent;
    scripts_.push_back(std::move(silent));
    changed_.notify_all();
  }
  const auto start = std::chrono::steady_clock::now();
  informer_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

}  // namespace
}  // namespace otc::host::kube

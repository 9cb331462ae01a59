#include "host/kube/node_informer.h"

#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <thread>
#include <utility>
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

  // What a handler saw, in words; waits until it is what is expected.
  class Seen {
   public:
    NodeHandler Handler() {
      return [this](const NodePtr& before, const NodePtr& after) {
        std::lock_guard lock(mutex_);
        lines_.push_back(Text(before) + ">" + Text(after));
        changed_.notify_all();
      };
    }
    std::vector<std::string> Take(std::size_t count) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::seconds(10), [&] { return lines_.size() >= count; });
      return std::exchange(lines_, {});
    }
    // Waits for a line that ends so.
    bool AwaitEnd(const std::string& end) {
      std::unique_lock lock(mutex_);
      return changed_.wait_for(lock, std::chrono::seconds(10), [&] {
        for (const std::string& line : lines_) {
          if (line.ends_with(end)) return true;
        }
        return false;
      });
    }

   private:
    static std::string Text(const NodePtr& node) {
      return node ? node->meta.name + "@" + node->meta.resource_version + "/" + node->meta.uid
                  : std::string("-");
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> lines_;
  };

  Seen seen_;  // outlives the informer
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
  informer_->AddHandler(seen_.Handler());
  EXPECT_FALSE(informer_->HasSynced());
  Start();
  List("100", {MakeNode("b", "2"), MakeNode("a", "1")});
  EXPECT_EQ(seen_.Take(2), (Log{"->a@1/u", "->b@2/u"}));
  while (!informer_->HasSynced()) std::this_thread::yield();
  Event("MODIFIED", MakeNode("a", "101"));
  Event("ADDED", MakeNode("c", "102"));
  Event("DELETED", MakeNode("b", "103"));
  EXPECT_EQ(seen_.Take(3), (Log{"a@1/u>a@101/u", "->c@102/u", "b@103/u>-"}));
  std::vector<std::string> names;
  for (const NodePtr& node : informer_->List()) names.push_back(node->meta.name);
  EXPECT_EQ(names, (Log{"a", "c"}));
  EXPECT_EQ(informer_->Get("b"), nullptr);
  EXPECT_EQ(metrics_.Sum("otc_host_informer_objects"), 2);
}

TEST_F(NodeInformerTest, C03_VanishedObjectsAreDeletedWithTheirLastState) {
  Start();
  List("100", {MakeNode("a", "1"), MakeNode("b", "2"), MakeNode("c", "3")});
  informer_->AddHandler(seen_.Handler());
  seen_.Take(3);
  Expire();
  List("200", {MakeNode("a", "1"), MakeNode("b", "150")});
  EXPECT_EQ(seen_.Take(2), (Log{"b@2/u>b@150/u", "c@3/u>-"})) << "a did not change and stays quiet";
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
  Start();
  List("100", {MakeNode("a", "1", "u1")});
  informer_->AddHandler(seen_.Handler());
  seen_.Take(1);
  Expire();
  List("200", {MakeNode("a", "150", "u2")});
  EXPECT_EQ(seen_.Take(1), (Log{"a@1/u1>a@150/u2"}));
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
  informer_->AddHandler(seen_.Handler());
  EXPECT_EQ(seen_.Take(2), (Log{"->a@1/u", "->b@2/u"}));
  Event("ADDED", MakeNode("c", "101"));
  EXPECT_EQ(seen_.Take(1), (Log{"->c@101/u"}));
}

TEST_F(NodeInformerTest, RepeatedAndUnknownEventsAreTakenForWhatTheyMean) {
  Start();
  List("100", {MakeNode("a", "1")});
  informer_->AddHandler(seen_.Handler());
  seen_.Take(1);
  Event("ADDED", MakeNode("a", "101"));
  Event("MODIFIED", MakeNode("new", "102"));
  Event("DELETED", MakeNode("never-seen", "103"));
  EXPECT_EQ(seen_.Take(2), (Log{"a@1/u>a@101/u", "->new@102/u"}));
}

TEST_F(NodeInformerTest, C24_ASlowHandlerDelaysNeitherOthersNorTheCache) {
  std::mutex mutex;
  std::condition_variable changed;
  bool released = false;
  Log slow;
  informer_->AddHandler([&](const NodePtr& before, const NodePtr& after) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return released; });
    slow.push_back((before ? before->meta.resource_version : "-") + ">" +
                   (after ? after->meta.resource_version : "-"));
    changed.notify_all();
  });
  informer_->AddHandler(seen_.Handler());
  Start();
  List("100", {MakeNode("a", "1")});
  Event("ADDED", MakeNode("b", "2"));
  for (int version = 101; version < 110; ++version) {
    Event("MODIFIED", MakeNode("b", std::to_string(version)));
  }
  // The quick one got everything, however it was merged on the way.
  EXPECT_TRUE(seen_.AwaitEnd(">b@109/u"));
  Event("ADDED", MakeNode("gone", "110"));
  Event("DELETED", MakeNode("gone", "111"));
  EXPECT_EQ(informer_->Get("b")->meta.resource_version, "109");
  EXPECT_FALSE(informer_->HasSynced()) << "one handler has not seen the first list";
  std::unique_lock lock(mutex);
  released = true;
  changed.notify_all();
  changed.wait_for(lock, std::chrono::seconds(10), [&] { return slow.size() == 2; });
  EXPECT_EQ(slow, (Log{"->1", "->109"})) << "what waited was merged, node by node";
  lock.unlock();
  while (!informer_->HasSynced()) std::this_thread::yield();
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

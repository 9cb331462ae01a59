#include "host/kube/events.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <set>

#include "host/base/fake_clock.h"
#include "host/base/strings.h"
#include "host/kube/testing/fake_kube_api.h"
#include "host/kube/testing/node_json.h"

namespace otc::host::kube {
namespace {

using std::chrono::seconds;

const ObjectReference kNode{"v1", "Node", "", "node-1", "uid-1", "55"};

class EventsTest : public ::testing::Test {
 protected:
  EventsTest() : random_(0.5) {
    api_.AnswerCalls([this](const RawRequest& request) { return Answer(request); });
    Open();
  }

  void Open() {
    recorder_ = std::make_unique<ApiEventRecorder>(api_, clock_, random_, log_, metrics_);
  }

  Result<RawResponse> Answer(const RawRequest& request) {
    std::lock_guard lock(mutex_);
    requests_.push_back(request);
    changed_.notify_all();
    if (!failures_.empty()) {
      const Status failure = failures_.front();
      if (failures_.size() > 1 || once_) failures_.pop_front();
      if (!failure.ok()) return failure;
    }
    return RawResponse{201, "application/json", "{}", 0};
  }

  void Record(const std::string& message, const std::string& reason = "Synced",
              const ObjectReference& about = kNode, EventType type = EventType::kNormal) {
    recorder_->Record("cloud-node-controller", about, type, reason, message);
  }
  // Waits until so many requests were made.
  void Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, seconds(10), [&] { return requests_.size() >= count; }))
        << requests_.size() << " requests";
  }
  // Ends the recorder after it has worked off its queue.
  void Finish() { recorder_->Stop(std::chrono::hours(1)); }
  std::vector<RawRequest> Requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }
  void FailAlways(Status status) {
    std::lock_guard lock(mutex_);
    failures_ = {std::move(status)};
    once_ = false;
  }
  void FailOnce(std::deque<Status> statuses) {
    std::lock_guard lock(mutex_);
    failures_ = std::move(statuses);
    once_ = true;
  }

  FakeClock clock_;
  FixedRandom random_;
  MemoryLog log_;
  Metrics metrics_;
  FakeKubeApi api_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RawRequest> requests_;
  std::deque<Status> failures_;
  bool once_ = true;
  std::unique_ptr<ApiEventRecorder> recorder_;
};

TEST_F(EventsTest, Q11_ANodesEventLiesInDefaultWithEveryField) {
  Record("Node synced");
  Finish();
  const auto requests = Requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].path, "/api/v1/namespaces/default/events");
  EXPECT_EQ(requests[0].lane, Lane::kEvents);
  auto body = ParseObject(requests[0].body);
  auto about = body->getObject("involvedObject");
  EXPECT_EQ(about->getValue<std::string>("uid"), "uid-1");
  EXPECT_EQ(about->getValue<std::string>("kind"), "Node");
  EXPECT_FALSE(about->has("namespace"));
  EXPECT_EQ(body->getObject("source")->getValue<std::string>("component"), "cloud-node-controller");
  EXPECT_EQ(body->getValue<std::string>("reportingComponent"), "cloud-node-controller");
  EXPECT_EQ(body->getValue<std::string>("type"), "Normal");
  EXPECT_EQ(body->getValue<int>("count"), 1);
  EXPECT_EQ(body->getValue<std::string>("firstTimestamp"), "2026-01-01T00:00:00Z");
  const std::string name = body->getObject("metadata")->getValue<std::string>("name");
  EXPECT_EQ(name, "node-1.18867251edfa0000");
}

TEST_F(EventsTest, Q11_NamespacesAndNamesFollowTheObject) {
  ObjectReference service{"v1", "Service", "shop", "web", "u", ""};
  ObjectReference odd{"v1", "Node", "", "Not_A_Valid_Name", "u", ""};
  ObjectReference longest{"v1", "Node", "", std::string(250, 'n'), "u", ""};
  Record("x", "R", service);
  Record("x", "R", odd);
  Record("x", "R", longest);
  Finish();
  const auto requests = Requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].path, "/api/v1/namespaces/shop/events");
  for (std::size_t i : {1u, 2u}) {
    const std::string name =
        ParseObject(requests[i].body)->getObject("metadata")->getValue<std::string>("name");
    EXPECT_EQ(name.size(), 36u) << "a UUID: " << name;
  }
}

TEST_F(EventsTest, Q07_TheSameEventTwiceIsCountedUp) {
  Record("same");
  Await(1);
  clock_.Advance(seconds(90));
  Record("same");
  Await(2);
  Record("same");
  Finish();
  const auto requests = Requests();
  ASSERT_EQ(requests.size(), 3u);
  const std::string name =
      ParseObject(requests[0].body)->getObject("metadata")->getValue<std::string>("name");
  EXPECT_EQ(requests[1].method, "PATCH");
  EXPECT_EQ(requests[1].path, "/api/v1/namespaces/default/events/" + name);
  EXPECT_EQ(requests[1].content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(ParseObject(requests[1].body)->getValue<int>("count"), 2);
  EXPECT_EQ(ParseObject(requests[1].body)->getValue<std::string>("lastTimestamp"),
            "2026-01-01T00:01:30Z");
  EXPECT_EQ(ParseObject(requests[2].body)->getValue<int>("count"), 3);
}

TEST_F(EventsTest, Q07_AnEventThatIsGoneIsPostedAgain) {
  Record("same");
  Await(1);
  clock_.Advance(seconds(5000));
  FailOnce({Status(Code::kNotFound, "NotFound", "gone")});
  Record("same");
  Await(3);
  Record("same");
  Finish();
  const auto requests = Requests();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[1].method, "PATCH");
  EXPECT_EQ(requests[2].method, "POST");
  auto again = ParseObject(requests[2].body);
  EXPECT_EQ(again->getValue<int>("count"), 2);
  const std::string name = again->getObject("metadata")->getValue<std::string>("name");
  EXPECT_EQ(requests[3].path, "/api/v1/namespaces/default/events/" + name)
      << "counted up under its new name";
}

TEST_F(EventsTest, Q08_ElevenDifferentMessagesEndInOneCombinedEvent) {
  for (int i = 1; i <= 11; ++i) Record("message " + std::to_string(i));
  Finish();
  const auto requests = Requests();
  ASSERT_EQ(requests.size(), 11u);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(requests[i].method, "POST");
  auto combined = ParseObject(requests[9].body);
  EXPECT_EQ(combined->getValue<std::string>("message"),
            "(combined from similar events): message 10");
  EXPECT_EQ(requests[10].method, "PATCH");
  EXPECT_EQ(ParseObject(requests[10].body)->getValue<std::string>("message"),
            "(combined from similar events): message 11");
}

TEST_F(EventsTest, Q08_AfterTenQuietMinutesMessagesAreTheirOwnAgain) {
  for (int i = 1; i <= 10; ++i) Record("message " + std::to_string(i));
  Await(10);
  clock_.Advance(seconds(601));
  Record("later");
  Finish();
  EXPECT_EQ(ParseObject(Requests().back().body)->getValue<std::string>("message"), "later");
}

TEST_F(EventsTest, Q09_ThirtyEventsForOneObjectAre25AndOneMoreAfterFiveMinutes) {
  for (int i = 0; i < 30; ++i) Record("same");
  Record("other object", "Synced", {"v1", "Node", "", "node-2", "uid-2", ""});
  Await(26);
  clock_.Advance(seconds(300));
  Record("same");
  Record("same");
  Finish();
  EXPECT_EQ(Requests().size(), 27u);
  EXPECT_EQ(metrics_.Sum("otc_host_events_dropped_total", {{"reason", "TooMany"}}), 6);
}

TEST_F(EventsTest, Q10_TwelveTriesTenSecondsApartWhileTheApiIsDown) {
  FailAlways(Status(Code::kUnavailable, "ConnectFailed", ""));
  Record("x");
  for (std::size_t tries = 1; tries < 12; ++tries) {
    Await(tries);
    ASSERT_TRUE(clock_.AwaitWaiters(1));
    // The first wait is half of ten seconds here: random in general.
    clock_.Advance(seconds(tries == 1 ? 5 : 10));
  }
  Await(12);
  Finish();
  EXPECT_EQ(Requests().size(), 12u);
  EXPECT_EQ(metrics_.Sum("otc_host_events_dropped_total", {{"reason", "Unreachable"}}), 1);
}

TEST_F(EventsTest, Q10_TheQueueHoldsAThousandAndRecordNeverBlocks) {
  FailAlways(Status(Code::kUnavailable, "ConnectFailed", ""));
  Record("first");
  Await(1);  // taken from the queue, being retried
  for (int i = 0; i < 1100; ++i) Record("event " + std::to_string(i));
  EXPECT_EQ(metrics_.Sum("otc_host_events_dropped_total", {{"reason", "QueueFull"}}), 100);
  recorder_->Stop(Duration::zero());
}

TEST_F(EventsTest, ARefusalIsNotRepeated) {
  for (const Code code : {Code::kPermissionDenied, Code::kNotFound, Code::kInvalidArgument}) {
    FailOnce({Status(code, "Refused", "")});
    Record("message " + std::to_string(static_cast<int>(code)));
  }
  Finish();
  EXPECT_EQ(Requests().size(), 3u);
}

TEST_F(EventsTest, ALostReplyThatWasStoredCountsAsSent) {
  FailOnce({Status(Code::kUnavailable, "ConnectionLost", ""),
            Status(Code::kAlreadyExists, "AlreadyExists", "")});
  Record("x");
  Await(1);
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  clock_.Advance(seconds(10));
  Await(2);
  Record("x");
  Finish();
  EXPECT_EQ(Requests().back().method, "PATCH");
}

TEST_F(EventsTest, LongMessagesAreCutBetweenCharacters) {
  std::string message(1023, 'x');
  message += "\xc3\xa4 and more";
  Record(message);
  Record("bad \xff byte");
  Finish();
  EXPECT_EQ(ParseObject(Requests()[0].body)->getValue<std::string>("message"),
            std::string(1023, 'x'));
  EXPECT_EQ(ParseObject(Requests()[1].body)->getValue<std::string>("message"),
            "bad \xef\xbf\xbd byte");
  EXPECT_EQ(CutUtf8("\xf0\x9f\x98\x80", 3), "");
  EXPECT_EQ(CutUtf8("abc", 3), "abc");
}

TEST_F(EventsTest, AfterStopEventsAreDropped) {
  Finish();
  Record("late");
  EXPECT_EQ(Requests().size(), 0u);
  EXPECT_EQ(metrics_.Sum("otc_host_events_dropped_total", {{"reason", "Stopped"}}), 1);
}

TEST(LruMap, ForgetsWhatWasUsedLongestAgo) {
  LruMap<int> map(3);
  map.Put("a", 1);
  map.Put("b", 2);
  map.Put("c", 3);
  ASSERT_NE(map.Find("a"), nullptr);
  map.Put("d", 4);
  EXPECT_EQ(map.Find("b"), nullptr);
  EXPECT_EQ(*map.Find("a"), 1);
  map.Put("a", 9);
  EXPECT_EQ(*map.Find("a"), 9);
  EXPECT_EQ(map.size(), 3u);
}

}  // namespace
}  // namespace otc::host::kube

#include "host/cloud/response_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "host/base/fake_clock.h"
#include "host/cloud/call_meter.h"

namespace otc::host::cloud {
namespace {

using std::chrono::seconds;
using Source = ResponseCache::Source;

ResponseCache::Response Answered(const std::string& body, Code code = Code::kOk) {
  ResponseCache::Response response;
  response.set_outcome(plugin::v1::OUTCOME_ANSWERED);
  response.set_code(static_cast<std::int32_t>(code));
  response.set_body(body);
  return response;
}

class ResponseCacheTest : public testing::Test {
 protected:
  CallContext Context() {
    CallContext context;
    context.clock = &clock_;
    return context;
  }
  Source Get(const std::string& key, Duration max_age, const std::string& body = "x",
             Code code = Code::kOk) {
    const auto answer = cache_.Get("ecs", key, max_age, Context(), [&] {
      ++fetches_;
      return Answered(body, code);
    });
    return answer->source;
  }

  FakeClock clock_;
  ResponseCache cache_{clock_};
  std::atomic<int> fetches_{0};
};

TEST_F(ResponseCacheTest, OnlyWithinTheAgeThatIsAskedFor) {
  EXPECT_EQ(Get("a", seconds(10)), Source::kFetched);
  clock_.Advance(seconds(5));
  EXPECT_EQ(Get("a", seconds(10)), Source::kStored);
  EXPECT_EQ(Get("a", seconds(5)), Source::kStored);
  EXPECT_EQ(Get("a", seconds(4)), Source::kFetched);  // and is fresh again
  EXPECT_EQ(Get("b", seconds(10)), Source::kFetched);
  clock_.Advance(seconds(5));
  EXPECT_EQ(Get("a", seconds(5)), Source::kStored);
  EXPECT_EQ(fetches_, 3);
}

TEST_F(ResponseCacheTest, AWriteDropsTheService) {
  Get("a", seconds(10));
  cache_.Drop("vpc");
  EXPECT_EQ(Get("a", seconds(10)), Source::kStored);
  cache_.Drop("ecs");
  EXPECT_EQ(Get("a", seconds(10)), Source::kFetched);
}

TEST_F(ResponseCacheTest, AnAnswerOvertakenByAWriteIsNotKept) {
  const auto answer = cache_.Get("ecs", "a", seconds(10), Context(), [&] {
    cache_.Drop("ecs");
    return Answered("old");
  });
  EXPECT_EQ(answer->response.body(), "old");
  EXPECT_EQ(Get("a", seconds(10)), Source::kFetched);
}

TEST_F(ResponseCacheTest, ErrorsAndLargeAnswersAreNotKept) {
  Get("a", seconds(10), "x", Code::kUnavailable);
  EXPECT_EQ(Get("a", seconds(10)), Source::kFetched);
  Get("big", seconds(10), std::string(ResponseCache::kMaxEntryBytes + 1, 'x'));
  EXPECT_EQ(Get("big", seconds(10)), Source::kFetched);
}

TEST_F(ResponseCacheTest, BoundedInEntriesAndBytes) {
  for (std::size_t i = 0; i <= ResponseCache::kMaxEntries; ++i) {
    Get("k" + std::to_string(i), seconds(100));
    clock_.Advance(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(Get("k" + std::to_string(ResponseCache::kMaxEntries), seconds(100)), Source::kStored);
  EXPECT_EQ(Get("k1", seconds(100)), Source::kStored);
  EXPECT_EQ(Get("k0", seconds(100)), Source::kFetched);  // the oldest had to go
  const std::string megabyte(ResponseCache::kMaxEntryBytes, 'x');
  for (int i = 0; i < 6; ++i) {
    clock_.Advance(std::chrono::milliseconds(1));
    Get("m" + std::to_string(i), seconds(100), megabyte);
  }
  EXPECT_EQ(Get("m5", seconds(100)), Source::kStored);
  EXPECT_EQ(Get("m0", seconds(100)), Source::kFetched);
}

TEST_F(ResponseCacheTest, EqualReadsAtOnceAreOneCall) {
  std::atomic<bool> release{false};
  std::atomic<int> joined{0};
  std::thread leader([&] {
    (void)cache_.Get("ecs", "a", seconds(10), Context(), [&] {
      ++fetches_;
      while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return Answered("shared");
    });
  });
  while (fetches_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::vector<std::thread> followers;
  for (int i = 0; i < 5; ++i) {
    followers.emplace_back([&] {
      const auto answer = cache_.Get("ecs", "a", seconds(10), Context(), [&] {
        ++fetches_;
        return Answered("own");
      });
      if (answer->response.body() == "shared" && answer->source == Source::kJoined) ++joined;
    });
  }
  ASSERT_TRUE(clock_.AwaitWaiters(5));
  release = true;
  leader.join();
  for (std::thread& follower : followers) follower.join();
  EXPECT_EQ(fetches_, 1);
  EXPECT_EQ(joined, 5);
}

TEST_F(ResponseCacheTest, AFollowerOfAFailedCallTriesForItself) {
  std::atomic<bool> release{false};
  std::thread leader([&] {
    (void)cache_.Get("ecs", "a", seconds(10), Context(), [&] {
      ++fetches_;
      while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ResponseCache::Response response;  // the leader was cancelled
      response.set_outcome(plugin::v1::OUTCOME_NOT_SENT);
      response.set_code(static_cast<std::int32_t>(Code::kCancelled));
      return response;
    });
  });
  while (fetches_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Source source = Source::kJoined;
  std::thread follower([&] { source = Get("a", seconds(10)); });
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  release = true;
  leader.join();
  follower.join();
  EXPECT_EQ(source, Source::kFetched);
  EXPECT_EQ(fetches_, 2);
}

TEST_F(ResponseCacheTest, CancellationEndsTheFollower) {
  std::atomic<bool> release{false};
  std::thread leader([&] {
    (void)cache_.Get("ecs", "a", seconds(10), Context(), [&] {
      ++fetches_;
      while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return Answered("x");
    });
  });
  while (fetches_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CallContext context = Context();
  context.cancellation = Cancellation::Create();
  Status status;
  std::thread follower([&] {
    status = cache_.Get("ecs", "a", seconds(10), context, [] { return Answered("y"); }).status();
  });
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  context.cancellation->Cancel("ClientGone");
  follower.join();
  EXPECT_EQ(status.reason(), "ClientGone");
  release = true;
  leader.join();
}

TEST(CallMeterTest, P_E2_CountsTheLastHourAndSaysOnceWhenItIsTooMuch) {
  FakeClock clock;
  CallMeter meter(clock);
  int alarms = 0;
  for (int i = 0; i < 120; ++i) {  // 2 a minute: as many as allowed
    if (meter.Count(120)) ++alarms;
    clock.Advance(seconds(30));
  }
  EXPECT_EQ(alarms, 0);
  EXPECT_NEAR(static_cast<double>(meter.LastHour()), 119, 2);
  for (int i = 0; i < 200; ++i) alarms += meter.Count(120) ? 1 : 0;
  EXPECT_EQ(alarms, 1);
  clock.Advance(std::chrono::hours(30));
  EXPECT_EQ(meter.LastHour(), 0u);
  for (int i = 0; i < 200; ++i) alarms += meter.Count(120) ? 1 : 0;
  EXPECT_EQ(alarms, 2);
  for (int i = 0; i < 1000; ++i) alarms += meter.Count(0) ? 1 : 0;
  EXPECT_EQ(alarms, 2);
}

}  // namespace
}  // namespace otc::host::cloud

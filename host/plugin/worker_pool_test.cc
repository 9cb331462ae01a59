#include "host/plugin/worker_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "host/base/fake_clock.h"
#include "host/plugin/health_window.h"
#include "host/plugin/test_support.h"

namespace otc::host::plugin_host {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// A door that jobs wait behind. Jobs keep a copy: they may outlive their test.
class Door {
 public:
  void Open() { *open_ = true; }
  void Pass() const {
    while (!*open_) std::this_thread::sleep_for(milliseconds(1));
  }

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

struct PoolFixture : testing::Test {
  FakeClock clock;
  CallContext context;
  std::shared_ptr<WorkerPool> pool =
      std::make_shared<WorkerPool>("test", 3, std::map<std::string, int>{{"narrow", 1}});

  PoolFixture() {
    context.clock = &clock;
    context.deadline = clock.Now() + seconds(60);
  }
  ~PoolFixture() override { pool->Close(); }
  WorkerPool::PlacePtr Begin(const std::string& lane, std::function<void()> job) {
    auto place = pool->Acquire(lane, context);
    EXPECT_TRUE(place.ok()) << place.status().ToString();
    EXPECT_TRUE(pool->Run(*place, std::move(job)).ok());
    return *place;
  }
};

using Pool = PoolFixture;

TEST_F(Pool, RunsJobsOnThreadsWithBigStacksAndBlockedSignals) {
  std::atomic<std::size_t> stack{0};
  std::atomic<bool> term_blocked{false}, segv_blocked{true}, alternate{false}, done{false};
  Begin("a", [&] {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    std::size_t size = 0;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    stack = size;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    term_blocked = sigismember(&mask, SIGTERM) == 1;
    segv_blocked = sigismember(&mask, SIGSEGV) == 1;
    stack_t present{};
    sigaltstack(nullptr, &present);
    alternate = (present.ss_flags & SS_DISABLE) == 0;
    done = true;
  });
  ASSERT_TRUE(Eventually([&] { return done.load(); }));
  EXPECT_GE(stack, 1u << 20);
  EXPECT_TRUE(term_blocked);
  EXPECT_FALSE(segv_blocked);
  EXPECT_TRUE(alternate);
}

TEST_F(Pool, NoMoreThanItsWorkersRunAtOnce) {
  Door door;
  std::atomic<int> running{0};
  for (int i = 0; i < 3; ++i) {
    Begin("a", [&running, door] {
      ++running;
      door.Pass();
    });
  }
  ASSERT_TRUE(Eventually([&] { return running == 3; }));
  const auto refused = pool->Acquire("a", context.WithTimeout(Duration::zero()));
  EXPECT_EQ(refused.status().code(), Code::kDeadlineExceeded);
  door.Open();
}

TEST_F(Pool, AFullLaneDoesNotHoldUpOthers) {
  Door door;
  Begin("narrow", [door] { door.Pass(); });
  std::thread waiting([&] {
    const auto place = pool->Acquire("narrow", context);
    ASSERT_TRUE(place.ok());
    EXPECT_TRUE(pool->Run(*place, [] {}).ok());
  });
  std::atomic<bool> done{false};
  Begin("wide", [&] { done = true; });
  EXPECT_TRUE(Eventually([&] { return done.load(); }));
  door.Open();
  waiting.join();
}

TEST_F(Pool, AWaitingCallerIsWokenByItsCancellation) {
  Door door;
  for (int i = 0; i < 3; ++i) Begin("a", [door] { door.Pass(); });
  context.cancellation = Cancellation::Create();
  std::thread other([&] { context.cancellation->Cancel("ClientGone"); });
  EXPECT_EQ(pool->Acquire("a", context).status().reason(), "ClientGone");
  other.join();
  door.Open();
}

TEST_F(Pool, AWrittenOffWorkerIsReplacedAndEndsWhenItsJobReturns) {
  Door door;
  const auto lost = Begin("narrow", [door] { door.Pass(); });
  EXPECT_TRUE(pool->WriteOff(lost));
  EXPECT_FALSE(pool->WriteOff(lost)) << "once";
  EXPECT_EQ(pool->Lost(), 1);
  std::atomic<bool> done{false};
  Begin("narrow", [&] { done = true; });
  EXPECT_TRUE(Eventually([&] { return done.load(); })) << "the lane is free again";
  door.Open();
  EXPECT_TRUE(Eventually([&] { return pool->Lost() == 0; }));
}

TEST_F(Pool, PauseWaitsForJobsAndHoldsNewOnes) {
  Door door;
  Begin("a", [door] { door.Pass(); });
  EXPECT_FALSE(pool->Pause(context.WithTimeout(Duration::zero()))) << "a job runs";
  door.Open();
  EXPECT_TRUE(pool->Pause(context));
  EXPECT_FALSE(pool->Acquire("a", context.WithTimeout(Duration::zero())).ok());
  pool->Resume();
  EXPECT_TRUE(pool->Run(*pool->Acquire("a", context), [] {}).ok());
}

TEST_F(Pool, PauseIsNeverTrueWhileALostJobRuns) {
  Door door;
  pool->WriteOff(Begin("a", [door] { door.Pass(); }));
  EXPECT_FALSE(pool->Pause(context));
  door.Open();
  ASSERT_TRUE(Eventually([&] { return pool->Lost() == 0; }));
  EXPECT_TRUE(pool->Pause(context));
}

TEST_F(Pool, CloseReleasesWaitersAndRefusesNewOnes) {
  Door door;
  for (int i = 0; i < 3; ++i) Begin("a", [door] { door.Pass(); });
  std::thread waiting(
      [&] { EXPECT_EQ(pool->Acquire("a", context).status().reason(), "NotStarted"); });
  pool->Close();  // the running ones are written off
  waiting.join();
  EXPECT_EQ(pool->Acquire("a", context).status().reason(), "NotStarted");
  door.Open();
  EXPECT_TRUE(Eventually([&] { return pool->Lost() == 0; }));
}

TEST_F(Pool, ManyCallersShareIt) {
  std::atomic<int> done{0}, running{0}, most{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        Begin("a", [&] {
          const int now = ++running;
          int seen = most;
          while (now > seen && !most.compare_exchange_weak(seen, now)) {
          }
          --running;
          ++done;
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  ASSERT_TRUE(Eventually([&] { return done == 400; }));
  EXPECT_LE(most, 3);
}

TEST(HealthWindow, ForgetsAfterFiveMinutes) {
  HealthWindow window;
  MonoTime now{std::chrono::hours(2)};
  for (int i = 0; i < 10; ++i) window.Add(now, i < 6);
  EXPECT_TRUE(window.Unhealthy(now));
  EXPECT_TRUE(window.Unhealthy(now + minutes(4)));
  EXPECT_FALSE(window.Unhealthy(now + minutes(5)));
}

TEST(HealthWindow, NeedsTenCallsAndMoreThanHalf) {
  HealthWindow few;
  const MonoTime now{std::chrono::hours(2)};
  for (int i = 0; i < 9; ++i) few.Add(now, true);
  EXPECT_FALSE(few.Unhealthy(now));
  HealthWindow half;
  for (int i = 0; i < 10; ++i) half.Add(now, i < 5);
  EXPECT_FALSE(half.Unhealthy(now));
}

TEST(HealthWindow, OldBucketsAreReused) {
  HealthWindow window;
  MonoTime now{std::chrono::hours(2)};
  for (int i = 0; i < 12; ++i) window.Add(now, true);
  now += minutes(5);  // the same slot of the ring
  window.Add(now, false);
  EXPECT_FALSE(window.Unhealthy(now));
}

}  // namespace
}  // namespace otc::host::plugin_host

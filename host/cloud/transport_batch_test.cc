// Batches: order, parallelism, stopping, cancellation.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "host/cloud/testing/transport_fixture.h"

namespace otc::host::cloud {
namespace {

using plugin::v1::CloudBatch;
using plugin::v1::OUTCOME_ANSWERED;
using plugin::v1::OUTCOME_NOT_SENT;
using std::chrono::milliseconds;

class TransportBatchTest : public TransportFixture {
 protected:
  TransportBatchTest() { config_.project_id = kTestProject; }

  static CloudBatch Batch(int count, std::uint32_t parallel) {
    CloudBatch batch;
    for (int i = 0; i < count; ++i) *batch.add_requests() = Get("/v1/" + std::to_string(i));
    batch.set_max_parallel(parallel);
    return batch;
  }
  Status Run(const CloudBatch& batch, const CallContext& context) {
    const std::thread::id caller = std::this_thread::get_id();
    return transport().Exchange({"node", false}, batch, context, [&](const Response& response) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      responses_.push_back(response);
    });
  }
  std::set<std::uint32_t> Indexes() const {
    std::set<std::uint32_t> indexes;
    for (const Response& response : responses_) indexes.insert(response.index());
    return indexes;
  }

  std::vector<Response> responses_;
};

TEST_F(TransportBatchTest, AnEmptyBatchIsDone) {
  EXPECT_TRUE(Run(CloudBatch(), Context()).ok());
  EXPECT_TRUE(responses_.empty());
  EXPECT_EQ(Sent(), 0);
}

TEST_F(TransportBatchTest, OneAfterTheOtherByDefault) {
  std::atomic<int> now{0}, most{0};
  cloud_ = [&](const http::Request&, const CallContext&) {
    most = std::max(most.load(), ++now);
    --now;
    return Reply(200);
  };
  ASSERT_TRUE(Run(Batch(20, 0), Context()).ok());
  ASSERT_EQ(responses_.size(), 20u);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(responses_[i].index(), i);
  EXPECT_EQ(most, 1);
}

TEST_F(TransportBatchTest, ParallelUpToTheLimitEachAnsweredOnce) {
  One(Get("/v1/warm-up"));  // the key is proven, else requests go one at a time
  std::atomic<int> now{0}, most{0};
  cloud_ = [&](const http::Request& request, const CallContext&) {
    const int running = ++now;
    int seen = most.load();
    while (running > seen && !most.compare_exchange_weak(seen, running)) {
    }
    std::this_thread::sleep_for(milliseconds(3));
    --now;
    return Reply(200, request.target);
  };
  ASSERT_TRUE(Run(Batch(40, 8), Context()).ok());
  EXPECT_EQ(responses_.size(), 40u);
  EXPECT_EQ(Indexes().size(), 40u);
  for (const Response& response : responses_) {
    EXPECT_EQ(response.body(), "/v1/" + std::to_string(response.index()));
  }
  EXPECT_LE(most, 8);
  EXPECT_GE(most, 2);
}

TEST_F(TransportBatchTest, AnswersComeInTheOrderOfCompletion) {
  One(Get("/v1/warm-up"));
  std::atomic<bool> second_done{false};
  cloud_ = [&](const http::Request& request, const CallContext&) {
    if (request.target == "/v1/0") {
      for (int i = 0; i < 5000 && !second_done; ++i) std::this_thread::sleep_for(milliseconds(1));
    }
    return Reply(200);
  };
  std::vector<std::uint32_t> order;
  ASSERT_TRUE(transport()
                  .Exchange({"node", false}, Batch(2, 2), Context(),
                            [&](const Response& response) {
                              order.push_back(response.index());
                              second_done = true;
                            })
                  .ok());
  EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 0}));
}

TEST_F(TransportBatchTest, StopOnErrorSendsNothingMore) {
  cloud_ = [](const http::Request& request, const CallContext&) {
    return request.target == "/v1/2" ? Reply(400, "") : Reply(200);
  };
  CloudBatch batch = Batch(6, 1);
  batch.set_stop_on_error(true);
  ASSERT_TRUE(Run(batch, Context()).ok());
  ASSERT_EQ(responses_.size(), 6u);
  EXPECT_EQ(Sent(), 3);
  EXPECT_EQ(responses_[2].outcome(), OUTCOME_ANSWERED);
  for (std::size_t i = 3; i < 6; ++i) {
    EXPECT_EQ(responses_[i].outcome(), OUTCOME_NOT_SENT);
    EXPECT_EQ(CodeOf(responses_[i]), Code::kAborted);
  }
  responses_.clear();
  batch.set_stop_on_error(false);
  ASSERT_TRUE(Run(batch, Context()).ok());
  EXPECT_EQ(Sent(), 3 + 6);
}

TEST_F(TransportBatchTest, CancelledBeforeTheStart) {
  CallContext context = Context();
  context.cancellation = Cancellation::Create();
  context.cancellation->Cancel("Quiescing");
  const Status status = Run(Batch(3, 2), context);
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_TRUE(responses_.empty());
  EXPECT_EQ(Sent(), 0);
}

TEST_F(TransportBatchTest, CancelledOnTheWayEveryRequestIsStillAnswered) {
  CallContext context = Context();
  context.cancellation = Cancellation::Create();
  int calls = 0;
  cloud_ = [&](const http::Request&, const CallContext& call) {
    if (++calls == 2) {
      context.cancellation->Cancel("LeaseLost");
      return Failure(http::Delivery::kUnclear, call.Check().code(), "LeaseLost");
    }
    return Reply(200);
  };
  ASSERT_TRUE(Run(Batch(5, 1), context).ok());
  ASSERT_EQ(responses_.size(), 5u);
  EXPECT_EQ(Sent(), 2);
  EXPECT_EQ(CodeOf(responses_[0]), Code::kOk);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(CodeOf(responses_[i]), Code::kCancelled);
  EXPECT_EQ(responses_[2].outcome(), OUTCOME_NOT_SENT);
}

TEST_F(TransportBatchTest, ManyBatchesAtOnceStayWithinTheThreads) {
  One(Get("/v1/warm-up"));
  std::atomic<int> now{0}, most{0}, answers{0};
  cloud_ = [&](const http::Request&, const CallContext&) {
    const int running = ++now;
    int seen = most.load();
    while (running > seen && !most.compare_exchange_weak(seen, running)) {
    }
    std::this_thread::sleep_for(milliseconds(2));
    --now;
    return Reply(200);
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 12; ++i) {
    callers.emplace_back([&] {
      const Status status = transport_->Exchange({"node", false}, Batch(16, 8), Context(),
                                                 [&](const Response&) { ++answers; });
      EXPECT_TRUE(status.ok());
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(answers, 12 * 16);
  EXPECT_LE(most, 32 + 12);  // all extra threads, and callers that work themselves
}

}  // namespace
}  // namespace otc::host::cloud

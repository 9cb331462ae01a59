#include "host/plugin/call.h"

#include <gtest/gtest.h>

#include <thread>

#include "host/base/fake_clock.h"
#include "host/plugin/code_mapping.h"
#include "host/plugin/interfaces.h"

namespace otc::host::plugin_host {
namespace {

using Results = CallOptions::Results;
using std::chrono::seconds;

otc_bytes Bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

struct CallFixture : testing::Test {
  FakeClock clock;
  CallContext context;
  std::shared_ptr<Cancellation> caller = Cancellation::Create();
  std::unique_ptr<Call> call;

  CallFixture() {
    context.clock = &clock;
    context.deadline = clock.Now() + seconds(60);
    context.cancellation = caller;
    context.request_id = "r-1";
  }
  const otc_call* Make(Results results = Results::kExactlyOne, bool dry_run = false) {
    CallOptions options;
    options.slot = "ensure";
    options.results = results;
    options.dry_run = dry_run;
    options.attempt = 3;
    call = std::make_unique<Call>(options, context, nullptr);
    return call->abi();
  }
  CallOutcome End(std::int32_t code) {
    call->Returned(code);
    EXPECT_TRUE(call->Await(clock.Now() + seconds(1), nullptr));
    return call->Outcome();
  }
  std::int32_t Emit(std::uint32_t kind, std::string_view text) {
    return call->abi()->emit(call->abi(), kind, Bytes(text));
  }
  std::int32_t Fail(std::int32_t code, const char* reason, const std::string& message,
                    std::uint64_t retry_ms = 0) {
    return call->abi()->fail(call->abi(), code, ToAbi(reason), ToAbi(message), retry_ms);
  }
};

using PluginCall = CallFixture;

TEST_F(PluginCall, CarriesWhatTheAbiPromises) {
  const otc_call* abi = Make(Results::kExactlyOne, true);
  EXPECT_EQ(abi->struct_size, 88u);
  EXPECT_EQ(abi->flags, OTC_CALL_DRY_RUN);
  EXPECT_EQ(abi->attempt, 3u);
  EXPECT_EQ(abi->deadline_ns,
            static_cast<std::uint64_t>(context.deadline.time_since_epoch().count()));
  EXPECT_EQ(ToView(abi->request_id), "r-1");
  const std::uint64_t first = abi->call_id;
  EXPECT_GT(Make()->call_id, first);
}

TEST_F(PluginCall, OkWithOneResultSucceeds) {
  Make();
  EXPECT_EQ(Emit(OTC_EMIT_RESULT, "x"), OTC_OK);
  const CallOutcome outcome = End(OTC_OK);
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.result, "x");
  EXPECT_EQ(outcome.plugin_bug, "");
}

TEST_F(PluginCall, OkWithoutAResultIsNoResult) {
  Make();
  const CallOutcome outcome = End(OTC_OK);
  EXPECT_EQ(outcome.status.code(), Code::kUnknown);
  EXPECT_EQ(outcome.status.reason(), kNoResult);
  EXPECT_EQ(outcome.plugin_bug, kNoResult);
}

TEST_F(PluginCall, OkWithTwoResultsIsBadResult) {
  Make();
  Emit(OTC_EMIT_RESULT, "x");
  Emit(OTC_EMIT_RESULT, "y");
  EXPECT_EQ(End(OTC_OK).plugin_bug, kBadResult);
}

TEST_F(PluginCall, ADryRunNeedsNoResult) {
  Make(Results::kExactlyOne, true);
  EXPECT_TRUE(End(OTC_OK).status.ok());
}

TEST_F(PluginCall, ResultsOfAFailedUnaryCallAreDropped) {
  Make();
  Emit(OTC_EMIT_RESULT, "x");
  const CallOutcome outcome = End(Fail(OTC_UNAVAILABLE, "CloudAway", "m", 1500));
  EXPECT_EQ(outcome.result, "");
  EXPECT_EQ(outcome.status.reason(), "CloudAway");
  EXPECT_EQ(outcome.status.retry_after_ms(), 1500u);
  EXPECT_EQ(outcome.plugin_bug, "");
}

TEST_F(PluginCall, StreamedResultsArriveWhateverTheSlotReturns) {
  Make(Results::kStreamed);
  Emit(OTC_EMIT_RESULT, "a");
  Emit(OTC_EMIT_EVENT, "b");
  Emit(OTC_EMIT_RESULT, "c");
  call->Returned(Fail(OTC_UNAVAILABLE, "CloudAway", "m"));
  std::vector<std::pair<std::uint32_t, std::string>> seen;
  EXPECT_TRUE(call->Await(clock.Now(), [&](std::uint32_t kind, const std::string& record) {
    seen.emplace_back(kind, record);
  }));
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint32_t, std::string>>{
                      {OTC_EMIT_RESULT, "a"}, {OTC_EMIT_EVENT, "b"}, {OTC_EMIT_RESULT, "c"}}));
}

TEST_F(PluginCall, RecordsArriveWhileTheSlotStillRuns) {
  Make(Results::kStreamed);
  std::atomic<bool> seen{false};
  std::thread worker([&] {
    Emit(OTC_EMIT_RESULT, "a");
    while (!seen) std::this_thread::yield();
    call->Returned(OTC_OK);
  });
  EXPECT_TRUE(call->Await(clock.Now() + seconds(60), [&](auto, const auto&) { seen = true; }));
  worker.join();
}

TEST_F(PluginCall, UndefinedCodesAreBadCode) {
  for (const std::int32_t code : {-1, 17, 99, 101}) {
    Make();
    const CallOutcome outcome = End(code);
    EXPECT_EQ(outcome.status.code(), Code::kUnknown) << code;
    EXPECT_EQ(outcome.status.reason(), kBadCode) << code;
    EXPECT_EQ(outcome.plugin_bug, kBadCode) << code;
  }
}

TEST_F(PluginCall, FailCountsOnlyWithTheCodeThatIsReturned) {
  Make();
  Fail(OTC_NOT_FOUND, "First", "m");
  Fail(OTC_ABORTED, "Second", "m");
  EXPECT_EQ(End(OTC_ABORTED).status.reason(), "Second");
  Make();
  Fail(OTC_NOT_FOUND, "First", "m");
  const Status other = End(OTC_ABORTED).status;
  EXPECT_EQ(other.code(), Code::kAborted) << "the returned code wins";
  EXPECT_EQ(other.reason(), kUnspecified);
  Make();
  EXPECT_EQ(End(OTC_ABORTED).status.reason(), kUnspecified);
}

TEST_F(PluginCall, FailWithOkIsABug) {
  Make();
  Emit(OTC_EMIT_RESULT, "x");
  const CallOutcome outcome = End(Fail(OTC_OK, "Fine", ""));
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.plugin_bug, kBadCode);
}

TEST_F(PluginCall, ReasonsAndMessagesAreCleaned) {
  Make();
  const Status status = End(Fail(OTC_ABORTED, "not a reason", "two\nlines\xff")).status;
  EXPECT_EQ(status.reason(), kUnspecified);
  EXPECT_EQ(status.message(), "two lines\xEF\xBF\xBD");
  Make();
  EXPECT_LE(End(Fail(OTC_ABORTED, "Long", std::string(5000, 'x'))).status.message().size(), 1024u);
  Make();
  EXPECT_EQ(End(Fail(OTC_ABORTED, std::string(64, 'A').c_str(), "")).status.reason(), kUnspecified);
}

TEST_F(PluginCall, ACaughtExceptionIsABug) {
  Make();
  EXPECT_EQ(End(Fail(OTC_UNKNOWN, kPluginException, "bad_alloc")).plugin_bug, kPluginException);
}

TEST_F(PluginCall, RecordLimits) {
  Make(Results::kStreamed);
  const std::string big(kMaxRecordBytes, 'x');
  EXPECT_EQ(Emit(OTC_EMIT_RESULT, big), OTC_OK);
  EXPECT_EQ(Emit(OTC_EMIT_RESULT, big + "y"), OTC_RESOURCE_EXHAUSTED);
  EXPECT_EQ(Emit(OTC_EMIT_RESULT, "z"), OTC_RESOURCE_EXHAUSTED) << "the call has failed";
  const CallOutcome outcome = End(OTC_OK);
  EXPECT_EQ(outcome.status.reason(), kBadResult);
  EXPECT_EQ(outcome.plugin_bug, kBadResult);
  Make(Results::kStreamed);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Emit(OTC_EMIT_RESULT, big), OTC_OK);
  EXPECT_EQ(Emit(OTC_EMIT_RESULT, "z"), OTC_RESOURCE_EXHAUSTED) << "64 MiB in all";
}

TEST_F(PluginCall, UnknownKindsAreDroppedAndNullRecordsRefused) {
  Make();
  EXPECT_EQ(Emit(77, "x"), OTC_OK);
  EXPECT_EQ(Emit(0, "x"), OTC_OK);
  EXPECT_EQ(call->abi()->emit(call->abi(), OTC_EMIT_RESULT, {nullptr, 5}), OTC_INVALID_ARGUMENT);
  EXPECT_EQ(call->abi()->emit(call->abi(), OTC_EMIT_RESULT, {nullptr, 0}), OTC_OK);
  EXPECT_EQ(End(OTC_OK).result, "") << "an empty message is a message";
}

TEST_F(PluginCall, CancelledNeverGoesBackAndKeepsItsFirstAnswer) {
  const otc_call* abi = Make();
  EXPECT_EQ(abi->cancelled(abi), 0);
  clock.Advance(seconds(60));
  EXPECT_EQ(abi->cancelled(abi), OTC_DEADLINE_EXCEEDED);
  caller->Cancel("LeaseLost");
  EXPECT_EQ(abi->cancelled(abi), OTC_DEADLINE_EXCEEDED);
}

TEST_F(PluginCall, TheHostsReasonIsKeptWhenThePluginGivesNone) {
  const otc_call* abi = Make();
  caller->Cancel("LeaseLost", "another replica leads");
  EXPECT_EQ(abi->cancelled(abi), OTC_CANCELLED);
  const Status status = End(OTC_CANCELLED).status;
  EXPECT_EQ(status.reason(), "LeaseLost");
  EXPECT_EQ(status.message(), "another replica leads");
}

TEST_F(PluginCall, AwaitGivesUpAtItsLimitAndLateRecordsAreRefused) {
  Make(Results::kStreamed);
  EXPECT_FALSE(call->Await(clock.Now(), nullptr));
  EXPECT_EQ(Emit(OTC_EMIT_RESULT, "late"), OTC_CANCELLED);
  EXPECT_EQ(call->OverrunOutcome().plugin_bug, kCallOverrun);
}

TEST_F(PluginCall, GiveUpReleasesTheCaller) {
  Make();
  std::thread other([&] { call->GiveUp(); });
  EXPECT_FALSE(call->Await(clock.Now() + seconds(600), nullptr));
  other.join();
  EXPECT_TRUE(call->given_up());
}

TEST(CodeMapping, Controllers) {
  const auto verdict = [](InterfaceKind kind, Code code, std::uint64_t retry_ms = 0) {
    return ForControllers(kind, Status(code, "R", "m", retry_ms));
  };
  const auto kNode = InterfaceKind::kInstances;
  const auto kBalancer = InterfaceKind::kLoadBalancer;
  EXPECT_EQ(ForControllers(kNode, Status::Ok()).step, NextStep::kDone);
  EXPECT_EQ(verdict(kNode, Code::kPending).step, NextStep::kAgainAfter);
  EXPECT_EQ(verdict(kNode, Code::kPending).delay, seconds(5));
  EXPECT_EQ(verdict(kNode, Code::kPending, 1).delay, seconds(1));
  EXPECT_EQ(verdict(kNode, Code::kPending, 1'000'000'000).delay, std::chrono::minutes(5));
  EXPECT_EQ(verdict(kBalancer, Code::kUnimplemented).step, NextStep::kDoneElsewhere);
  EXPECT_EQ(verdict(kNode, Code::kUnimplemented).step, NextStep::kLogOnce);
  for (const Code code : {Code::kUnknown, Code::kUnavailable, Code::kAborted, Code::kInternal}) {
    EXPECT_EQ(verdict(kNode, code).step, NextStep::kBackOff);
    EXPECT_EQ(verdict(kNode, code).delay, Duration::zero());
  }
  EXPECT_EQ(verdict(kNode, Code::kUnavailable, 7'000).delay, seconds(7));
}

TEST(CodeMapping, Grpc) {
  const Status unknown(Code::kUnknown, "R", "");
  EXPECT_EQ(ForGrpc(InterfaceKind::kCsiNode, unknown).code(), Code::kUnavailable);
  EXPECT_EQ(ForGrpc(InterfaceKind::kCsiController, unknown).code(), Code::kUnavailable);
  EXPECT_EQ(ForGrpc(InterfaceKind::kGrpcService, unknown).code(), Code::kUnknown);
  EXPECT_EQ(ForGrpc(InterfaceKind::kCsiNode, unknown).message(), "R") << "never empty";
  EXPECT_EQ(ForGrpc(InterfaceKind::kCsiNode, Status(Code::kAborted, "", "")).message(), "ABORTED");
  EXPECT_EQ(ForGrpc(InterfaceKind::kCsiNode, Status(Code::kPending, "R", "m")).code(),
            Code::kPending);
  EXPECT_TRUE(ForGrpc(InterfaceKind::kCsiNode, Status::Ok()).ok());
}

}  // namespace
}  // namespace otc::host::plugin_host

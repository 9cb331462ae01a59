#include "host/kube/reflector.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <thread>
#include <vector>

#include "host/base/strings.h"
#include "host/http/url.h"
#include "host/kube/proto_codec.h"
#include "host/kube/testing/kube_fixture.h"
#include "host/kube/testing/proto_encode.h"

namespace otc::host::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using End = StreamScript::End;

const http::Header kProto{"content-type", "application/vnd.kubernetes.protobuf"};

Node MakeNode(const std::string& name, const std::string& version) {
  Node node;
  node.meta.name = name;
  node.meta.uid = "uid-" + name;
  node.meta.resource_version = version;
  return node;
}

std::string Item(const std::string& name, const std::string& version) {
  return EncodeNode(MakeNode(name, version));
}
std::string EventFrame(const std::string& type, const std::string& name,
                       const std::string& version) {
  return EncodeWatchFrame(type, "Node", Item(name, version));
}
std::string ErrorFrame(int code, const std::string& reason, const std::string& cause = "") {
  return EncodeWatchFrame("ERROR", "Status", EncodeStatus(code, reason, "scripted", cause));
}

StreamScript ListOf(const std::string& version, const std::string& token,
                    const std::vector<std::string>& items) {
  StreamScript script;
  script.headers = {kProto};
  script.pieces = {EncodeList("NodeList", version, token, items)};
  return script;
}

StreamScript Refusal(int code, const std::string& reason, const std::string& cause = "",
                     std::vector<http::Header> headers = {}) {
  StreamScript script;
  script.status = code;
  script.headers = std::move(headers);
  script.headers.push_back(kProto);
  script.pieces = {EncodeEnvelope("Status", EncodeStatus(code, reason, "scripted", cause))};
  return script;
}

StreamScript NoAnswer() {
  StreamScript script;
  script.end = End::kRefused;
  return script;
}

// Records what a reflector does, in words.
class RecordingSink final : public ObjectSink {
 public:
  void BeginReplace() override { gathered_.clear(); }
  Status Gather(Change change, Encoding encoding, std::string_view object) override {
    const Result<Node> node = Decode(encoding, object);
    if (!node.ok()) return node.status();
    if (change == Change::kDeleted) {
      gathered_.erase(node->meta.name);
    } else {
      ++gathered_[node->meta.name];
    }
    return Status::Ok();
  }
  void CommitReplace() override {
    std::string text = "replace";
    for (const auto& [name, count] : gathered_) {
      text += " " + name + (count > 1 ? "*" + std::to_string(count) : "");
    }
    log.push_back(text);
    gathered_.clear();
  }
  Status Apply(Change change, Encoding encoding, std::string_view object) override {
    const Result<Node> node = Decode(encoding, object);
    if (!node.ok()) return node.status();
    static const char* const kWords[] = {"add ", "change ", "delete "};
    log.push_back(kWords[static_cast<int>(change)] + node->meta.name);
    return Status::Ok();
  }

  std::vector<std::string> log;

 private:
  Result<Node> Decode(Encoding encoding, std::string_view object) {
    return encoding == Encoding::kProtobuf ? decoder_.Decode(object)
                                           : NodeFromJson(std::string(object));
  }
  NodeProtoDecoder decoder_;
  std::map<std::string, int> gathered_;
};

// Runs a reflector on this thread through a list of scripted streams; when they
// are used up, the run is cancelled. Waits advance the fake clock by themselves.
class ReflectorTest : public KubeTest {
 protected:
  ReflectorTest() { options_.qps = 0; }

  struct Opened {
    std::string path;
    std::map<std::string, std::string> query;
    MonoTime at;
  };

  StreamScript Watch(std::vector<std::string> frames, End end = End::kNormal,
                     Duration lives = seconds(60)) {
    StreamScript script;
    script.headers = {kProto};
    script.pieces = std::move(frames);
    script.end = end;
    script.after = [this, lives] { clock_.Advance(lives); };
    return script;
  }

  // The streaming list's watchdog counts fake time, too: only the test that wants
  // it to bark gives it a patience that the ticker waits for.
  void Run(std::deque<StreamScript> scripts, bool streaming = false, double random = 0.0,
           Duration patience = std::chrono::hours(24)) {
    script_->stream_answer = [&](const http::Request& request) {
      opened_.push_back(Parse(request.target));
      if (scripts.empty()) {
        context_.cancellation->Cancel("TestEnds");
        return NoAnswer();
      }
      StreamScript next = std::move(scripts.front());
      scripts.pop_front();
      return next;
    };
    FixedRandom fixed(random);
    ReflectorOptions options{"nodes", "/api/v1/nodes", "Node"};
    options.streaming_list = streaming;
    options.streaming_patience = patience;
    Reflector reflector(options, client(), sink_, clock_, fixed, log_, metrics_);
    std::atomic<bool> done = false;
    std::thread ticker([&] {
      // Whoever sleeps on the fake clock is due at once.
      while (!done) {
        const MonoTime due = clock_.EarliestDeadline();
        const Duration wait = due - clock_.Now();
        if (wait > Duration::zero() && wait < longest_wait_) clock_.Advance(wait);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
    reflector.Run(context_);
    done = true;
    ticker.join();
    EXPECT_TRUE(scripts.empty()) << scripts.size() << " streams were never opened";
  }

  Opened Parse(const std::string& target) {
    Opened opened;
    opened.at = clock_.Now();
    const std::size_t mark = target.find('?');
    opened.path = target.substr(0, mark);
    if (mark == std::string::npos) return opened;
    for (const std::string& pair : Split(target.substr(mark + 1), '&')) {
      const std::size_t equals = pair.find('=');
      opened.query[http::PercentDecode(pair.substr(0, equals))] =
          http::PercentDecode(pair.substr(equals + 1));
    }
    return opened;
  }

  bool IsWatch(std::size_t i) { return opened_.at(i).query.count("watch") != 0; }
  std::string Version(std::size_t i) {
    const auto& query = opened_.at(i).query;
    return query.count("resourceVersion") == 0 ? "unset" : query.at("resourceVersion");
  }
  // Milliseconds between the opening of two streams.
  std::int64_t Between(std::size_t i, std::size_t j) {
    return std::chrono::duration_cast<milliseconds>(opened_.at(j).at - opened_.at(i).at).count();
  }

  // Whoever sleeps longer than this on the fake clock is not due.
  Duration longest_wait_ = std::chrono::hours(1);
  RecordingSink sink_;
  std::vector<Opened> opened_;
};

using Log = std::vector<std::string>;

TEST_F(ReflectorTest, C01_ListsFromCacheThenWatchesFromTheListsVersion) {
  Run({ListOf("100", "", {Item("a", "1"), Item("b", "2")}),
       Watch({EventFrame("ADDED", "c", "101")})});
  EXPECT_EQ(opened_[0].path, "/k8s/x/api/v1/nodes");
  EXPECT_EQ(Version(0), "0");
  EXPECT_FALSE(IsWatch(0));
  ASSERT_TRUE(IsWatch(1));
  EXPECT_EQ(Version(1), "100");
  EXPECT_EQ(opened_[1].query["allowWatchBookmarks"], "true");
  EXPECT_EQ(opened_[1].query.count("sendInitialEvents"), 0u);
  EXPECT_EQ(opened_[1].query["timeoutSeconds"], "300");
  EXPECT_EQ(sink_.log, (Log{"replace a b", "add c"}));
}

TEST_F(ReflectorTest, C01_TheWatchTimeIsRandomUpTo600Seconds) {
  Run({ListOf("100", "", {}), Watch({})}, false, 0.9999);
  EXPECT_EQ(opened_[1].query["timeoutSeconds"], "600");
}

TEST_F(ReflectorTest, C02_AWatchThatEndsGoesOnFromTheLastVersionWithoutAList) {
  Run({ListOf("100", "", {}), Watch({EventFrame("ADDED", "a", "101")}),
       Watch({EncodeBookmark("150", false)}), Watch({})});
  EXPECT_EQ(Version(2), "101");
  EXPECT_EQ(Version(3), "150");
  for (std::size_t i = 1; i < opened_.size(); ++i) EXPECT_TRUE(IsWatch(i)) << i;
  EXPECT_EQ(Between(1, 2), 60'000) << "no wait in between";
}

TEST_F(ReflectorTest, C03_C11_ExpiredEventInA200StreamListsAgainFromTheLastVersion) {
  Run({ListOf("100", "", {Item("a", "1"), Item("b", "2")}),
       Watch({EventFrame("MODIFIED", "a", "105"), ErrorFrame(410, "Expired")}),
       ListOf("200", "", {Item("a", "150")}), Watch({})});
  EXPECT_FALSE(IsWatch(2));
  EXPECT_EQ(Version(2), "105") << "not 0: never back in time";
  EXPECT_EQ(Version(3), "200");
  EXPECT_EQ(sink_.log, (Log{"replace a b", "change a", "replace a"}));
  EXPECT_EQ(metrics_.Sum("otc_host_informer_relists_total", {{"reason", "Expired"}}), 1);
}

TEST_F(ReflectorTest, C04_Http410OnOpeningAWatchListsAgain) {
  Run({ListOf("100", "", {}), Refusal(410, "Gone"), ListOf("200", "", {}), Watch({})});
  EXPECT_FALSE(IsWatch(2));
  EXPECT_EQ(Version(2), "100");
  EXPECT_EQ(Version(3), "200");
}

TEST_F(ReflectorTest, C03_ExpiredOnTheListItselfReadsTheNewest) {
  Run({ListOf("100", "", {}), Watch({ErrorFrame(410, "Expired")}), Refusal(410, "Expired"),
       ListOf("300", "", {}), Watch({})});
  EXPECT_EQ(Version(2), "100");
  EXPECT_EQ(Version(3), "unset");
  EXPECT_EQ(opened_[3].query["limit"], "500");
  EXPECT_EQ(Version(4), "300");
}

TEST_F(ReflectorTest, C05_PagesCarryContinueButNoVersion) {
  Run({ListOf("100", "t1", {Item("a", "1")}), ListOf("101", "t2/+ %", {Item("b", "1")}),
       ListOf("102", "", {Item("c", "1")}), Watch({})});
  EXPECT_EQ(opened_[0].query["limit"], "500");
  for (std::size_t i : {1u, 2u}) {
    EXPECT_EQ(Version(i), "unset");
    EXPECT_EQ(opened_[i].query["limit"], "500");
    EXPECT_EQ(opened_[i].query.count("resourceVersionMatch"), 0u);
  }
  EXPECT_EQ(opened_[1].query["continue"], "t1");
  EXPECT_EQ(opened_[2].query["continue"], "t2/+ %");
  EXPECT_EQ(Version(3), "100") << "the list's version is that of its first page";
  EXPECT_EQ(sink_.log, (Log{"replace a b c"}));
}

TEST_F(ReflectorTest, C06_ExpiredSecondPageReadsEverythingInOnePiece) {
  Run({ListOf("100", "t1", {Item("a", "1")}), Refusal(410, "Expired"),
       ListOf("200", "", {Item("a", "1"), Item("b", "1")}), Watch({})});
  EXPECT_EQ(opened_[2].query.count("limit"), 0u);
  EXPECT_EQ(opened_[2].query.count("continue"), 0u);
  EXPECT_EQ(Version(3), "200");
  EXPECT_EQ(sink_.log, (Log{"replace a b"})) << "no duplicates, one replacement";
}

TEST_F(ReflectorTest, C07_BookmarksMoveTheVersionAndNothingElse) {
  Run({ListOf("100", "", {}), Watch({EncodeBookmark("120", false)}), Watch({})});
  EXPECT_EQ(Version(2), "120");
  EXPECT_EQ(sink_.log, (Log{"replace"}));
}

TEST_F(ReflectorTest, C08_StreamingListReplacesOnceAndTheSameStreamContinues) {
  Run({Watch({EventFrame("ADDED", "a", "5"), EventFrame("ADDED", "b", "3"),
              EncodeBookmark("100", true), EventFrame("DELETED", "a", "101")}),
       Watch({})},
      true);
  EXPECT_EQ(opened_[0].query["sendInitialEvents"], "true");
  EXPECT_EQ(opened_[0].query["resourceVersionMatch"], "NotOlderThan");
  EXPECT_EQ(Version(0), "unset");
  EXPECT_EQ(sink_.log, (Log{"replace a b", "delete a"}));
  EXPECT_EQ(Version(1), "101");
  EXPECT_EQ(opened_[1].query.count("sendInitialEvents"), 0u);
}

TEST_F(ReflectorTest, C09_RefusedStreamingListFallsBackAtOnceAndForGood) {
  for (const int code : {400, 422}) {
    opened_.clear();
    sink_.log.clear();
    context_.cancellation = Cancellation::Create();
    Run({Refusal(code, code == 400 ? "BadRequest" : "Invalid"), ListOf("100", "", {Item("a", "1")}),
         Watch({ErrorFrame(410, "Expired")}), ListOf("200", "", {}), Watch({})},
        true);
    EXPECT_FALSE(IsWatch(1));
    EXPECT_EQ(Between(0, 1), 0);
    EXPECT_FALSE(IsWatch(3)) << "asked again for a streaming list";
  }
}

TEST_F(ReflectorTest, C09_MissingEndOfTheStreamingListFallsBackWithinTheTimeLimit) {
  longest_wait_ = seconds(60);  // the watchdog's, not the stream's own end
  Run({Watch({EventFrame("ADDED", "a", "5")}, End::kSilent, seconds(0)),
       ListOf("100", "", {Item("a", "5")}), Watch({})},
      true, 0.0, ReflectorOptions{}.streaming_patience);
  EXPECT_FALSE(IsWatch(1));
  // 15 s after the last progress, which may itself come within the first 15 s.
  EXPECT_LE(Between(0, 1), 30'000);
  EXPECT_EQ(sink_.log, (Log{"replace a"}));
}

TEST_F(ReflectorTest, C09_StreamingListThatBreaksTwiceFallsBack) {
  Run({Watch({EventFrame("ADDED", "a", "5")}, End::kCut, seconds(1)),
       Watch({}, End::kCut, seconds(1)), ListOf("100", "", {Item("b", "5")}), Watch({})},
      true);
  EXPECT_TRUE(IsWatch(1));
  EXPECT_FALSE(IsWatch(2));
  EXPECT_EQ(sink_.log, (Log{"replace b"})) << "nothing of the broken list is left";
}

TEST_F(ReflectorTest, C10_TooLargeVersionReadsTheNewest) {
  Run({ListOf("100", "", {}), Watch({ErrorFrame(410, "Expired")}),
       Refusal(504, "Timeout", "ResourceVersionTooLarge"), ListOf("50", "", {Item("a", "40")}),
       Watch({})});
  EXPECT_EQ(Version(3), "unset");
  EXPECT_EQ(Version(4), "50");
}

TEST_F(ReflectorTest, C10_TooLargeVersionOnAWatchReadsTheNewest) {
  Run({ListOf("100", "", {}), Refusal(504, "Timeout", "ResourceVersionTooLarge"),
       ListOf("50", "", {}), Watch({})});
  EXPECT_FALSE(IsWatch(2));
  EXPECT_EQ(Version(2), "unset");
}

TEST_F(ReflectorTest, C12_SilentStreamIsReplacedAfterItsTimeAndGrace) {
  Run({ListOf("100", "", {}), Watch({EventFrame("ADDED", "a", "110")}, End::kSilent, seconds(0)),
       Watch({EventFrame("ADDED", "b", "115")})});
  ASSERT_TRUE(IsWatch(2));
  EXPECT_EQ(Version(2), "110");
  EXPECT_EQ(Between(1, 2), 330'000) << "timeoutSeconds 300 and 30 s of grace";
  EXPECT_EQ(sink_.log, (Log{"replace", "add a", "add b"}));
}

TEST_F(ReflectorTest, C15_CutInAnEventGoesOnFromTheLastWholeOne) {
  const std::string whole = EventFrame("ADDED", "a", "110");
  const std::string half = EventFrame("ADDED", "b", "111").substr(0, 20);
  Run({ListOf("100", "", {}), Watch({whole + half}, End::kCut), Watch({})});
  EXPECT_EQ(Version(2), "110");
  EXPECT_EQ(sink_.log, (Log{"replace", "add a"}));
}

TEST_F(ReflectorTest, C15_CutListIsThrownAwayAndReadAgain) {
  StreamScript cut = ListOf("100", "", {Item("a", "1"), Item("b", "1")});
  cut.pieces[0].resize(cut.pieces[0].size() / 2);
  cut.end = End::kCut;
  StreamScript short_list = ListOf("100", "", {Item("a", "1"), Item("b", "1")});
  short_list.pieces[0].resize(short_list.pieces[0].size() / 2);  // ends as if it were whole
  Run({cut, short_list, ListOf("101", "", {Item("c", "1")}), Watch({})});
  EXPECT_EQ(sink_.log, (Log{"replace c"}));
}

TEST_F(ReflectorTest, C16_RetryAfterOfA429IsTheShortestWait) {
  Run({Refusal(429, "TooManyRequests", "", {{"retry-after", "7"}}), ListOf("100", "", {}),
       Watch({})});
  EXPECT_GE(Between(0, 1), 7'000);
  EXPECT_LE(Between(0, 1), 8'000);
}

TEST_F(ReflectorTest, C16_429WithoutRetryAfterBacksOff) {
  Run({Refusal(429, "TooManyRequests"), ListOf("100", "", {}), Watch({})});
  EXPECT_EQ(Between(0, 1), 800);
}

TEST_F(ReflectorTest, C17_WaitsDoubleUpToTheCapAndStartAgainAfterCalm) {
  std::deque<StreamScript> scripts;
  for (int i = 0; i < 8; ++i) scripts.push_back(Refusal(503, "ServiceUnavailable"));
  scripts.push_back(ListOf("100", "", {}));
  scripts.push_back(Watch({}, End::kNormal, seconds(300)));
  scripts.push_back(Refusal(503, "ServiceUnavailable"));
  scripts.push_back(Watch({}));
  Run(std::move(scripts));
  const std::int64_t expected[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(Between(i, i + 1), expected[i]) << i;
  EXPECT_EQ(Between(10, 11), 800) << "calm for more than two minutes";
}

TEST_F(ReflectorTest, C17_JitterAddsUpToAsMuchAgain) {
  Run({Refusal(503, "ServiceUnavailable"), Refusal(503, "ServiceUnavailable"),
       ListOf("100", "", {}), Watch({})},
      false, 0.5);
  EXPECT_EQ(Between(0, 1), 1200);
  EXPECT_EQ(Between(1, 2), 2400);
}

TEST_F(ReflectorTest, C18_RefusedConnectionIsWatchedAgainWithoutAList) {
  Run({ListOf("100", "", {}), NoAnswer(), NoAnswer(), Watch({EventFrame("ADDED", "a", "101")})});
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_TRUE(IsWatch(i));
    EXPECT_EQ(Version(i), "100");
  }
  EXPECT_EQ(Between(1, 2), 800);
  EXPECT_EQ(Between(2, 3), 1600);
}

TEST_F(ReflectorTest, C19_WatchesThatEndAtOnceBackOff) {
  Run({ListOf("100", "", {}), Watch({}, End::kNormal, seconds(0)), ListOf("100", "", {}),
       Watch({}, End::kNormal, seconds(0)), ListOf("100", "", {}), Watch({})});
  EXPECT_FALSE(IsWatch(2));
  EXPECT_EQ(Between(1, 2), 800);
  EXPECT_EQ(Between(3, 4), 1600);
}

TEST_F(ReflectorTest, WatchError429KeepsTheVersion) {
  Run({ListOf("100", "", {}),
       Watch({EventFrame("ADDED", "a", "101"), ErrorFrame(429, "TooManyRequests")}), Watch({})});
  EXPECT_TRUE(IsWatch(2));
  EXPECT_EQ(Version(2), "101");
  EXPECT_EQ(Between(1, 2), 800 + 0) << "waits although the server spoke";
}

TEST_F(ReflectorTest, OtherWatchErrorsListAgain) {
  Run({ListOf("100", "", {}), Watch({ErrorFrame(500, "InternalError")}), ListOf("110", "", {}),
       Watch({})});
  EXPECT_FALSE(IsWatch(2));
  EXPECT_EQ(Version(2), "100");
}

TEST_F(ReflectorTest, C21_OtherKindsAndTypesAreSkipped) {
  Run({ListOf("100", "", {}),
       Watch({EncodeWatchFrame("ADDED", "Pod", Item("p", "101")),
              EncodeWatchFrame("RENAMED", "Node", Item("n", "102")),
              EventFrame("ADDED", "a", "103")}),
       Watch({})});
  EXPECT_EQ(sink_.log, (Log{"replace", "add a"}));
  EXPECT_EQ(Version(2), "103");
}

TEST_F(ReflectorTest, UndecodableObjectInAListNeverBecomesADelete) {
  Run({ListOf("100", "", {Item("a", "1")}), Watch({ErrorFrame(410, "Expired")}),
       ListOf("200", "", {"\xff\xff\xff"}), ListOf("201", "", {Item("a", "1")}), Watch({})});
  EXPECT_EQ(sink_.log, (Log{"replace a", "replace a"}));
}

TEST_F(ReflectorTest, C38_HtmlInsteadOfAListIsAClearErrorAndIsTriedAgain) {
  StreamScript html;
  html.headers = {{"content-type", "text/html"}};
  html.pieces = {"<html>sign in</html>"};
  Run({html, ListOf("100", "", {}), Watch({})});
  bool told = false;
  for (const std::string& line : log_.Lines()) {
    told = told || (line.find("UnexpectedMediaType") != std::string::npos &&
                    line.find("text/html") != std::string::npos);
  }
  EXPECT_TRUE(told) << Join(log_.Lines(), "\n");
}

TEST_F(ReflectorTest, C38_JsonListAndWatchAreUnderstood) {
  const http::Header json{"content-type", "application/json"};
  StreamScript list;
  list.headers = {json};
  list.pieces = {R"({"kind":"NodeList","metadata":{"resourceVersion":"7"},)",
                 R"("items":[{"metadata":{"name":"a","resourceVersion":"5"}}]})"};
  StreamScript watch =
      Watch({R"({"type":"MODIFIED","object":{"kind":"Node","metadata":{"name":"a",)",
             R"("resourceVersion":"8"}}})"});
  watch.headers = {json};
  Run({list, watch, Watch({})});
  EXPECT_EQ(sink_.log, (Log{"replace a", "change a"}));
  EXPECT_EQ(Version(2), "8");
}

TEST_F(ReflectorTest, C26_UnauthorizedWatchIsOpenedAgain) {
  Run({ListOf("100", "", {}), Refusal(401, "Unauthorized"), Watch({})});
  EXPECT_TRUE(IsWatch(2));
  EXPECT_EQ(Version(2), "100");
}

TEST_F(ReflectorTest, AListOfAnotherKindIsRefused) {
  StreamScript pods = ListOf("100", "", {});
  pods.pieces = {EncodeList("PodList", "100", "", {})};
  Run({pods, ListOf("100", "", {}), Watch({})});
  EXPECT_EQ(sink_.log.size(), 1u);
}

// Thousands of restarts: nothing grows with their number.
TEST_F(ReflectorTest, C40_FiveThousandWatchRestartsKeepNothing) {
  std::deque<StreamScript> scripts = {ListOf("100", "", {})};
  for (int i = 0; i < 5'000; ++i) {
    scripts.push_back(Watch({EventFrame("MODIFIED", "a", std::to_string(101 + i))},
                            i % 3 == 0 ? End::kCut : End::kNormal));
  }
  Run(std::move(scripts));
  EXPECT_EQ(opened_.size(), 5'002u);
  EXPECT_EQ(Version(5'001), "5100");
  EXPECT_EQ(clock_.Waiters(), 0);
  EXPECT_EQ(script_->clients, 3) << "one for each lane";
}

}  // namespace
}  // namespace otc::host::kube

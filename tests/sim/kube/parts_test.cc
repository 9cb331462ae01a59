// The small parts: times, names, targets, paths, negotiation, continue tokens, store.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/sim/kube/base64.h"
#include "tests/sim/kube/http_message.h"
#include "tests/sim/kube/list_options.h"
#include "tests/sim/kube/negotiate.h"
#include "tests/sim/kube/request_info.h"
#include "tests/sim/kube/store.h"
#include "tests/sim/kube/times.h"
#include "tests/sim/kube/validation.h"

namespace otc::kubesim {
namespace {

TEST(Times, Rfc3339) {
  EXPECT_EQ(ParseRfc3339("1970-01-01T00:00:00Z")->seconds, 0);
  EXPECT_EQ(ParseRfc3339("2026-01-01T00:00:00Z")->seconds, 1'767'225'600);
  EXPECT_EQ(ParseRfc3339("2026-01-01T01:30:00+01:30")->seconds, 1'767'225'600);
  const auto micro = ParseRfc3339("2026-01-01T00:00:00.000123Z");
  EXPECT_EQ(micro->nanos, 123'000);
  EXPECT_EQ(micro->fraction_digits, 6);
  for (const char* bad : {"", "2026-01-01", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
                          "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z",
                          "2026-01-01T00:00:00Zx", "2026-01-01T00:00:00+1:00"}) {
    EXPECT_FALSE(ParseRfc3339(bad)) << bad;
  }
}

TEST(Names, Syntax) {
  EXPECT_EQ(WhyNotSubdomain("a-1.b"), "");
  EXPECT_EQ(WhyNotSubdomain(std::string(253, 'a')), "");
  for (const char* bad : {"", "A", "a_b", "-a", "a.", "a..b"}) {
    EXPECT_NE(WhyNotSubdomain(bad), "") << bad;
  }
  EXPECT_NE(WhyNotSubdomain(std::string(254, 'a')), "");
  EXPECT_NE(WhyNotDnsLabel("a.b"), "");
  EXPECT_NE(WhyNotDnsLabel(std::string(64, 'a')), "");
  for (const char* good : {"a", "A.b_c-1", "example.com/Name"}) {
    EXPECT_EQ(WhyNotQualifiedName(good), "") << good;
  }
  for (const char* bad : {"", "a b", "/a", "a/", "A.b/c", "a/b/c", "-a"}) {
    EXPECT_NE(WhyNotQualifiedName(bad), "") << bad;
  }
  EXPECT_EQ(WhyNotLabelValue(""), "");
  EXPECT_NE(WhyNotLabelValue("-"), "");
  EXPECT_NE(WhyNotLabelValue(std::string(64, 'a')), "");
}

TEST(HttpMessage, C36_TargetsAreDecodedOnce) {
  HttpRequest request;
  request.target = "/api/v1/nodes/a%2Fb%3Ac?x=1%2B2&y=a+b&z&x=second";
  ASSERT_TRUE(SplitTarget(request));
  EXPECT_EQ(request.path, "/api/v1/nodes/a/b:c");
  EXPECT_EQ(request.Query("x"), "1+2");
  EXPECT_EQ(request.Query("y"), "a b");
  EXPECT_TRUE(request.HasQuery("z"));
  EXPECT_FALSE(request.HasQuery("w"));
  request.target = "/a%2";
  EXPECT_FALSE(SplitTarget(request));
  EXPECT_EQ(PercentDecode(PercentEncode("\x01 ü/%"), false), "\x01 ü/%");
}

TEST(Base64, BothWays) {
  for (const std::string text : {"", "a", "ab", "abc", "abcd"}) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(text)), text);
  }
  EXPECT_EQ(EncodeBase64("ab"), "YWI=");
}

RequestInfo InfoOf(const std::string& method, const std::string& target) {
  HttpRequest request;
  request.method = method;
  request.target = target;
  EXPECT_TRUE(SplitTarget(request));
  return ParseRequestInfo(request);
}

TEST(RequestInfo, VerbsAndParts) {
  const RequestInfo status = InfoOf("PATCH", "/api/v1/nodes/a/status");
  EXPECT_EQ(status.verb, "patch");
  EXPECT_EQ(status.resource->kind, "Node");
  EXPECT_EQ(status.name, "a");
  EXPECT_EQ(status.subresource, "status");
  const RequestInfo lease =
      InfoOf("PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l");
  EXPECT_EQ(lease.verb, "update");
  EXPECT_EQ(lease.namespace_name, "kube-system");
  EXPECT_EQ(lease.name, "l");
  EXPECT_EQ(InfoOf("GET", "/api/v1/nodes").verb, "list");
  EXPECT_EQ(InfoOf("GET", "/api/v1/nodes?watch=true").verb, "watch");
  EXPECT_EQ(InfoOf("GET", "/api/v1/nodes?watch=0").verb, "list");
  EXPECT_EQ(InfoOf("DELETE", "/api/v1/nodes").verb, "deletecollection");
  EXPECT_EQ(InfoOf("GET", "/api/v1/namespaces/x").resource->kind, "Namespace");
  EXPECT_EQ(InfoOf("GET", "/api/v1/namespaces/x/status").subresource, "status");
  EXPECT_EQ(InfoOf("GET", "/healthz").resource, nullptr);
  EXPECT_FALSE(InfoOf("GET", "/healthz").is_resource_path);
}

TEST(Negotiation, FirstPossibleFormWins) {
  EXPECT_EQ(NegotiateFormat("", true, true), Format::kJson);
  EXPECT_EQ(NegotiateFormat("application/vnd.kubernetes.protobuf,application/json", true, true),
            Format::kProtobuf);
  EXPECT_EQ(NegotiateFormat("application/vnd.kubernetes.protobuf,application/json", false, true),
            Format::kJson);
  EXPECT_EQ(
      NegotiateFormat("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", true, true),
      Format::kTable);
  EXPECT_EQ(
      NegotiateFormat("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", true, false),
      Format::kJson);
  EXPECT_EQ(NegotiateFormat("*/*", true, true), Format::kJson);
  EXPECT_FALSE(NegotiateFormat("text/html", true, true));
  EXPECT_FALSE(NegotiateFormat(
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", true, true));
}

TEST(ContinueToken, RoundTripAndGarbage) {
  const auto token = DecodeContinue(EncodeContinue({77, "kube-system/ü"}));
  ASSERT_TRUE(token);
  EXPECT_EQ(token->version, 77u);
  EXPECT_EQ(token->last_key, "kube-system/ü");
  for (const char* bad : {"", "x", "v1", "v1.1", "v1.zz", "vx.61", "1.61"}) {
    EXPECT_FALSE(DecodeContinue(bad)) << bad;
  }
}

class StoreTest : public ::testing::Test {
 protected:
  ObjectPtr Write(const std::string& name, const ObjectPtr& expected = nullptr) {
    return store_.Commit(nodes_, name, expected, {{"metadata", {{"name", name}}}});
  }
  const ResourceInfo& nodes_ = *FindResource("", "v1", "nodes");
  Store store_{1000};
};

TEST_F(StoreTest, CommitIsACompareAndSwap) {
  const ObjectPtr first = Write("a");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(Write("a"), nullptr);  // exists
  const ObjectPtr second = Write("a", first);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->version(), first->version() + 1);
  EXPECT_EQ(Write("a", first), nullptr);  // stale
  EXPECT_FALSE(store_.Remove(nodes_, "a", first));
  EXPECT_TRUE(store_.Remove(nodes_, "a", second));
  EXPECT_EQ(store_.version(), second->version() + 1);  // a deletion counts, too
}

TEST_F(StoreTest, OldStatesAreRebuiltFromHistory) {
  const ObjectPtr a = Write("a");
  const ObjectPtr b = Write("b");
  Write("a", a);
  store_.Remove(nodes_, "b", b);
  EXPECT_EQ(store_.List(nodes_, a->version())->objects, std::vector<ObjectPtr>{a});
  EXPECT_EQ(store_.List(nodes_, b->version())->objects, (std::vector<ObjectPtr>{a, b}));
  EXPECT_EQ(store_.List(nodes_)->objects.size(), 1u);
  store_.Compact(b->version());
  EXPECT_FALSE(store_.List(nodes_, a->version()));
  EXPECT_TRUE(store_.List(nodes_, b->version()));
}

TEST_F(StoreTest, ChangesComeInOrderAndInPieces) {
  const std::uint64_t start = store_.version();
  const ObjectPtr a = Write("a");
  Write("b");
  Write("a", a);
  const Store::Changes two = store_.ChangesSince(nodes_, start, 2);
  ASSERT_EQ(two.changes.size(), 2u);
  EXPECT_EQ(two.version, start + 2);
  const Store::Changes rest = store_.ChangesSince(nodes_, two.version, 10);
  ASSERT_EQ(rest.changes.size(), 1u);
  EXPECT_EQ(rest.changes[0].type, ChangeType::kModified);
  EXPECT_EQ(rest.changes[0].previous, a);
  store_.Compact(start + 1);
  EXPECT_TRUE(store_.ChangesSince(nodes_, start, 10).compacted);
}

TEST_F(StoreTest, HeldCacheShowsThePastAndWakesNobody) {
  const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  const auto woken = [fd] {
    pollfd waiting = {fd, POLLIN, 0};
    return poll(&waiting, 1, 0) == 1;
  };
  const ObjectPtr a = Write("a");
  store_.Subscribe(nodes_, fd);
  store_.HoldCache(nodes_);
  Write("a", a);
  EXPECT_FALSE(woken());
  EXPECT_EQ(store_.GetCached(nodes_, "a"), a);
  EXPECT_EQ(store_.CacheVersion(nodes_), a->version());
  store_.ReleaseCache(nodes_);
  EXPECT_TRUE(woken());
  EXPECT_NE(store_.GetCached(nodes_, "a"), a);
  store_.Unsubscribe(nodes_, fd);
  close(fd);
}

}  // namespace
}  // namespace otc::kubesim

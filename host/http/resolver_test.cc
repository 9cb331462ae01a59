#include "host/http/resolver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "host/base/fake_clock.h"

namespace otc::host::http {
namespace {

CallContext Context(Clock& clock, Duration timeout) {
  CallContext context;
  context.clock = &clock;
  context.deadline = clock.Now() + timeout;
  return context;
}

TEST(ResolverTest, AddressesAreNotLookedUp) {
  FakeClock clock;
  Resolver resolver(clock, [](const std::string&) -> Result<std::vector<Address>> {
    return Status(Code::kInternal, "Called", "");
  });
  const auto context = Context(clock, std::chrono::seconds(1));
  EXPECT_EQ(resolver.Resolve("192.0.2.1", 443, context)->front().ToString(), "192.0.2.1:443");
  EXPECT_EQ(resolver.Resolve("2001:db8::1", 80, context)->front().ToString(), "[2001:db8::1]:80");
  EXPECT_EQ(resolver.Resolve("2001:db8::x", 80, context).status().reason(), "Called");
}

TEST(ResolverTest, TheSystemKnowsLocalhost) {
  SystemClock clock;
  Resolver resolver(clock, &SystemLookup);
  const auto addresses =
      resolver.Resolve("localhost", 80, Context(clock, std::chrono::seconds(10)));
  ASSERT_TRUE(addresses.ok()) << addresses.status().ToString();
  for (const Address& address : *addresses) {
    EXPECT_TRUE(address.ToString() == "127.0.0.1:80" || address.ToString() == "[::1]:80");
  }
}

TEST(ResolverTest, TheQueueIsBounded) {
  struct Shared {
    std::atomic<bool> release{false};
    std::atomic<int> done{0};
  };
  const auto shared = std::make_shared<Shared>();
  FakeClock clock;
  Resolver resolver(clock, [shared](const std::string&) -> Result<std::vector<Address>> {
    while (!shared->release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++shared->done;
    return ParseIpLiteral("127.0.0.1");
  });
  // Callers whose time is up leave their look-ups behind.
  const auto late = Context(clock, Duration(0));
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    const auto result = resolver.Resolve("host-" + std::to_string(i), 80, late);
    ASSERT_FALSE(result.ok());
    if (result.status().reason() == "DnsFailed") ++refused;
  }
  const int most = Resolver::kMaxThreads + static_cast<int>(Resolver::kMaxQueued);
  EXPECT_GE(refused, 200 - most);
  EXPECT_LE(refused, 200 - static_cast<int>(Resolver::kMaxQueued));
  shared->release = true;
  // Those that waited are done by the same few threads, and names work again.
  const auto soon = Context(clock, std::chrono::hours(1));
  EXPECT_TRUE(resolver.Resolve("host-0", 80, soon).ok());
}

}  // namespace
}  // namespace otc::host::http

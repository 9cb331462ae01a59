// main() of every test binary. SIGPIPE is ignored (sockets close under tests on
// purpose), death tests re-execute the binary (threads may already run), and a
// filter that matches nothing fails instead of passing with "0 tests".
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>

#if defined(__SANITIZE_THREAD__)
// Poco counts references to sockets in its own, uninstrumented library, so TSan
// does not see that the accepting thread frees a socket only after the thread that
// served it has let go.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:Poco::Net::TCPServer::run\n";
}
#endif

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  const auto* unit = testing::UnitTest::GetInstance();
  if (unit->test_to_run_count() == 0 && !GTEST_FLAG_GET(list_tests)) {
    std::fprintf(stderr, "no test matches the filter\n");
    return 1;
  }
  return result;
}

#include "host/base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "host/base/fake_clock.h"

namespace otc::host {
namespace {

std::string Written(LogFormat format, LogLevel level,
                    const std::shared_ptr<SecretRedactor>& redactor,
                    const std::vector<LogField>& fields) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return "pipe failed";
  FakeClock clock;
  StreamLog log(fds[1], format, LogLevel::kInfo, clock, redactor);
  log.Write(level, "hello", fields);
  close(fds[1]);
  std::string text(4096, '\0');
  const ssize_t n = read(fds[0], text.data(), text.size());
  close(fds[0]);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

TEST(Log, TextQuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(Written(LogFormat::kText, LogLevel::kInfo, nullptr,
                    {{"node", "a-1"}, {"why", "two words"}, {"empty", ""}}),
            "2026-01-01T00:00:00.000000Z INFO hello node=a-1 why=\"two words\" empty=\"\"\n");
}

TEST(Log, JsonStaysOneLineWhateverTheValue) {
  EXPECT_EQ(Written(LogFormat::kJson, LogLevel::kWarn, nullptr, {{"v", "a\n\"\x01\xff"}}),
            "{\"ts\":\"2026-01-01T00:00:00.000000Z\",\"level\":\"WARN\",\"msg\":\"hello\","
            "\"v\":\"a\\n\\\"\\u0001\xEF\xBF\xBD\"}\n");
}

TEST(Log, LevelsBelowAreSilent) {
  EXPECT_EQ(Written(LogFormat::kText, LogLevel::kDebug, nullptr, {}), "");
}

TEST(Log, SEED_50_SecretsAreReplacedInEveryLine) {
  auto redactor = std::make_shared<SecretRedactor>();
  redactor->Add("TopSecretKey123");
  redactor->Add("abc");  // too short to be replaced without blackening ordinary text
  const std::string line = Written(LogFormat::kText, LogLevel::kError, redactor,
                                   {{"body", "sk=TopSecretKey123;sk=TopSecretKey123"}});
  EXPECT_EQ(line.find("TopSecretKey123"), std::string::npos);
  EXPECT_NE(line.find("[redacted];sk=[redacted]"), std::string::npos);
}

}  // namespace
}  // namespace otc::host

#include "host/cloud/http_date.h"

#include <gtest/gtest.h>

namespace otc::host::cloud {
namespace {

TEST(HttpDateTest, PreferredForm) {
  const auto date = ParseHttpDate("Mon, 30 Nov 2026 16:43:43 GMT");
  ASSERT_TRUE(date.has_value());
  EXPECT_EQ(FormatRfc3339(*date), "2026-11-30T16:43:43Z");
  EXPECT_EQ(FormatRfc3339(*ParseHttpDate("Thu, 01 Jan 1970 00:00:00 GMT")), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatRfc3339(*ParseHttpDate("Thu, 29 Feb 2024 23:59:60 GMT")), "2024-03-01T00:00:00Z");
}

TEST(HttpDateTest, EverythingElseIsNothing) {
  for (const char* text : {"", "now", "Mon, 30 Nov 2026 16:43:43", "Mon, 30 Nov 2026 16:43:43 CET",
                           "Monday, 30-Nov-26 16:43:43 GMT", "Mon Nov 30 16:43:43 2026 GMT .....",
                           "Mon, 31 Nov 2026 16:43:43 GMT", "Mon, 30 Now 2026 16:43:43 GMT",
                           "Mon, 30 Nov 2026 24:43:43 GMT", "Mon, 30 Nov 9999 16:43:43 GMT",
                           "Mon, -1 Nov 2026 16:43:43 GMT", "Mon, 30 Nov 2026 16:4x:43 GMT"}) {
    EXPECT_FALSE(ParseHttpDate(text).has_value()) << text;
  }
}

TEST(HttpDateTest, RetryAfter) {
  const WallTime now = *ParseHttpDate("Mon, 30 Nov 2026 16:00:00 GMT");
  using std::chrono::seconds;
  EXPECT_EQ(ParseRetryAfter("7", now), seconds(7));
  EXPECT_EQ(ParseRetryAfter(" 0 ", now), seconds(0));
  EXPECT_EQ(ParseRetryAfter("999999999", now), seconds(3600));
  EXPECT_EQ(ParseRetryAfter("Mon, 30 Nov 2026 16:00:30 GMT", now), seconds(30));
  EXPECT_EQ(ParseRetryAfter("Mon, 30 Nov 2026 15:00:00 GMT", now), seconds(0));
  EXPECT_FALSE(ParseRetryAfter("", now).has_value());
  EXPECT_FALSE(ParseRetryAfter("-5", now).has_value());
  EXPECT_FALSE(ParseRetryAfter("soon", now).has_value());
}

}  // namespace
}  // namespace otc::host::cloud

#include "host/base/strings.h"

#include <gtest/gtest.h>

namespace otc::host {
namespace {

TEST(Strings, DurationsAsInGo) {
  EXPECT_EQ(ParseDurationMillis("90s"), 90'000);
  EXPECT_EQ(ParseDurationMillis("1h30m"), 5'400'000);
  EXPECT_EQ(ParseDurationMillis("250ms"), 250);
  EXPECT_EQ(ParseDurationMillis("0"), 0);
  for (const char* bad : {"", "5", "s", "-1s", "1d", "1s ", "99999999999999999999s"}) {
    EXPECT_FALSE(ParseDurationMillis(bad).has_value()) << bad;
  }
}

TEST(Strings, UintRefusesSignsBlanksAndOverflow) {
  EXPECT_EQ(ParseUint("18446744073709551615"), 18446744073709551615ull);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x1", "18446744073709551616"}) {
    EXPECT_FALSE(ParseUint(bad).has_value()) << bad;
  }
}

TEST(Strings, InvalidUtf8IsFoundAndReplaced) {
  EXPECT_TRUE(IsValidUtf8("größe 日 \xF0\x9F\x98\x80"));
  for (const char* bad : {"\xff", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    EXPECT_FALSE(IsValidUtf8(bad));
    EXPECT_TRUE(IsValidUtf8(ReplaceInvalidUtf8(bad)));
  }
}

TEST(Strings, NearestNamesOnlyLikelyMistakes) {
  const std::vector<std::string> names = {"cluster-name", "subnet-id", "region"};
  EXPECT_EQ(Nearest("cluster-nmae", names), "cluster-name");
  EXPECT_EQ(Nearest("regoin", names), "region");
  EXPECT_FALSE(Nearest("bandwidth", names).has_value());
}

TEST(Strings, SplitKeepsEmptyPartsAndJoinUndoesIt) {
  EXPECT_EQ(Split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(Split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(Join({"a", "", "b"}, ", "), "a, , b");
}

TEST(Strings, UuidsHaveVersionFourAndDiffer) {
  const std::string uuid = RandomUuid();
  ASSERT_EQ(uuid.size(), 36u);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(uuid, RandomUuid());
}

}  // namespace
}  // namespace otc::host

#include "otc/cpp/json.h"

#include <gtest/gtest.h>

#include <string>

namespace otc::json {
namespace {

TEST(Json, ReadsMembersByTypeAndToleratesAbsentOnes) {
  const auto document = Parse(R"({"id": "a", "n": -5, "x": 1.5, "on": true, "nothing": null,
                                  "list": [{"k": "v"}, {"k": "w"}], "o": {"p": 7}})");
  ASSERT_TRUE(document.ok()) << document.status().ToString();
  Errors errors(*document);
  const Value root = document->root();
  EXPECT_EQ(root.String("id", &errors), "a");
  EXPECT_EQ(root.Int("n", &errors), -5);
  EXPECT_DOUBLE_EQ(root.Number("x", &errors), 1.5);
  EXPECT_TRUE(root.Bool("on", &errors));
  EXPECT_EQ(root.String("nothing", &errors, "fallback"), "fallback");
  EXPECT_EQ(root.Int("absent", &errors, 9), 9);
  EXPECT_EQ(root.Object("o", &errors).Int("p", &errors), 7);
  std::string seen;
  for (const Value item : root.Array("list", &errors)) seen += item.String("k", &errors);
  EXPECT_EQ(seen, "vw");
  EXPECT_TRUE(root.Array("absent", &errors).empty());
  EXPECT_TRUE(errors.empty());
}

TEST(Json, ReportsWrongTypesWithTheirPath) {
  const auto document =
      Parse(R"({"servers": [{"id": "a"}, {"id": 5, "addresses": "none"}], "big": 1e300})");
  ASSERT_TRUE(document.ok());
  Errors errors(*document);
  for (const Value server : document->root().Array("servers", &errors)) {
    server.String("id", &errors);
    server.Object("addresses", &errors);
  }
  document->root().Int("big", &errors);
  document->root().AsArray(&errors);
  ASSERT_EQ(errors.count(), 4u);
  EXPECT_EQ(errors.texts()[0], "servers[1].id: wanted string, found number");
  EXPECT_EQ(errors.texts()[1], "servers[1].addresses: wanted object, found string");
  EXPECT_EQ(errors.texts()[2], "big: wanted whole number of 64 bits, found number");
  EXPECT_EQ(errors.texts()[3], "(root): wanted array, found object");
  const Status status = errors.ToStatus("BadAnswer");
  EXPECT_EQ(status.reason(), "BadAnswer");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
}

TEST(Json, SpeaksOfAtMostTwentyErrors) {
  std::string text = "[";
  for (int i = 0; i < 100; ++i) text += i == 0 ? "1" : ",1";
  const auto document = Parse(text + "]");
  ASSERT_TRUE(document.ok());
  Errors errors(*document);
  for (const Value item : document->root().AsArray(&errors)) item.AsString(&errors);
  EXPECT_EQ(errors.count(), 100u);
  EXPECT_EQ(errors.texts().size(), 20u);
  EXPECT_NE(errors.ToStatus("Bad").message().find("and 80 more"), std::string::npos);
}

TEST(Json, RefusesWhatIsNotStrictJson) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "[1] x", "nul", "01",
                           "[\"\xff\"]", "\"\\ud800\"", "// c\n1", "[NaN]"}) {
    const auto document = Parse(text);
    EXPECT_FALSE(document.ok()) << text;
    EXPECT_EQ(document.status().reason(), "BadJson") << text;
  }
}

TEST(Json, LimitsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(Parse(nested(64)).ok());
  const auto deeper = Parse(nested(65));
  ASSERT_FALSE(deeper.ok());
  EXPECT_NE(deeper.status().message().find("nested deeper than 64"), std::string::npos);
  EXPECT_FALSE(Parse(nested(1'000'000)).ok());
}

TEST(Json, TheErrorNeverQuotesTheText) {
  const auto document = Parse("{\"password\": SECRET}");
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.status().message().find("SECRET"), std::string::npos);
}

TEST(Json, WritesAndReadsBack) {
  Writer writer;
  writer.Object().Key("name").String("a\"b\n").Key("n").Int(3).Key("list").Array();
  writer.Bool(true).Null().End().End();
  const auto document = Parse(writer.Text());
  ASSERT_TRUE(document.ok()) << writer.Text();
  EXPECT_EQ(document->root().String("name", nullptr), "a\"b\n");
  EXPECT_EQ(document->root()["list"].size(), 2u);
  EXPECT_EQ(document->root()["list"].ToText(), "[true,null]");
}

TEST(Json, AnAbsentValueAnswersEverything) {
  const Value absent;
  EXPECT_FALSE(absent.exists());
  EXPECT_EQ(absent["x"]["y"].At(3).String("z", nullptr, "f"), "f");
  EXPECT_EQ(absent.ToText(), "");
  absent.ForEachMember([](std::string_view, Value) { FAIL(); });
}

}  // namespace
}  // namespace otc::json

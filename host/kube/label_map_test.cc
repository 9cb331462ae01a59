#include "host/kube/label_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace otc::host::kube {
namespace {

TEST(LabelMap, BehavesLikeAMapOfStrings) {
  std::mt19937 random(7);
  std::map<std::string, std::string> model;
  LabelMap labels;
  for (int i = 0; i < 5'000; ++i) {
    const std::string key = "k" + std::to_string(random() % 40);
    const std::string value = std::to_string(random() % 10);
    switch (random() % 3) {
      case 0:
        model[key] = value;
        labels[key] = value;
        break;
      case 1:
        model[key] = value;
        labels.Set(key, value);
        break;
      default:
        EXPECT_EQ(labels.erase(key), model.erase(key));
    }
    EXPECT_EQ(labels.count(key), model.count(key));
  }
  ASSERT_EQ(labels.size(), model.size());
  auto entry = labels.begin();
  for (const auto& [key, value] : model) {
    EXPECT_EQ(entry->first, key);
    EXPECT_EQ(entry->second, value);
    ++entry;
  }
}

TEST(LabelMap, FindAtAndComparison) {
  const LabelMap labels = {{"b", "2"}, {"a", "1"}};
  EXPECT_EQ(labels.at("a"), "1");
  EXPECT_EQ(labels.find("c"), labels.end());
  EXPECT_THROW(labels.at("c"), std::out_of_range);
  EXPECT_EQ(labels, (LabelMap{{"a", "1"}, {"b", "2"}}));
  EXPECT_NE(labels, (LabelMap{{"a", "1"}, {"b", "3"}}));
}

TEST(TextPool, EqualTextsShareTheirMemory) {
  TextPool pool(10);
  const SharedText a = pool.Get("topology.kubernetes.io/zone");
  const SharedText b = pool.Get("topology.kubernetes.io/zone");
  EXPECT_EQ(&a.str(), &b.str());
}

TEST(TextPool, P_L2_NeverGrowsBeyondItsLimitAndForgetsWhatNobodyHolds) {
  TextPool pool(3);
  const SharedText kept = pool.Get("kept");
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(pool.Get("host-" + std::to_string(i)).str().size(), i < 10 ? 6u : 7u);
  EXPECT_EQ(pool.size(), 3u);
  pool.Purge();
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(&pool.Get("kept").str(), &kept.str());
}

}  // namespace
}  // namespace otc::host::kube

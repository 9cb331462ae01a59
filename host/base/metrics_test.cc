#include "host/base/metrics.h"

#include <gtest/gtest.h>

namespace otc::host {
namespace {

TEST(Metrics, RendersCountersGaugesAndHistograms) {
  Metrics metrics;
  metrics.GetCounter("requests_total", "Requests.", {{"code", "200"}}).Add(2);
  metrics.GetGauge("depth", "Depth.").Set(7);
  metrics.GetHistogram("seconds", "Time.", {0.1, 1}, {}).Observe(0.5);
  const std::string text = metrics.Render();
  EXPECT_NE(text.find("requests_total{code=\"200\"} 2"), std::string::npos) << text;
  EXPECT_NE(text.find("# TYPE depth gauge\ndepth 7"), std::string::npos) << text;
  EXPECT_NE(text.find("seconds_bucket{le=\"1\"} 1"), std::string::npos) << text;
}

TEST(Metrics, SameNameAndLabelsIsTheSameSeries) {
  Metrics metrics;
  metrics.GetCounter("a_total", "A.", {{"x", "1"}}).Add();
  metrics.GetCounter("a_total", "A.", {{"x", "1"}}).Add();
  metrics.GetCounter("a_total", "A.", {{"x", "2"}}).Add();
  EXPECT_EQ(metrics.Sum("a_total", {{"x", "1"}}), 2);
  EXPECT_EQ(metrics.Sum("a_total"), 3);
  EXPECT_EQ(metrics.Sum("absent"), 0);
}

TEST(Metrics, HelpAndLabelsCannotBreakTheFormat) {
  Metrics metrics;
  metrics.GetCounter("b_total", "two\nlines", {{"x", "bad\xff"}}).Add();
  const std::string text = metrics.Render();
  EXPECT_NE(text.find("# HELP b_total two lines\n"), std::string::npos) << text;
  EXPECT_NE(text.find("bad\xEF\xBF\xBD"), std::string::npos) << text;
}

TEST(Metrics, LabelSetsAreBounded) {
  Metrics metrics;
  for (int i = 0; i < 300; ++i) {
    metrics.GetCounter("c_total", "C.", {{"x", std::to_string(i)}}).Add();
  }
  EXPECT_EQ(metrics.Sum("c_total", {{"x", "other"}}), 300 - Metrics::kMaxLabelSets);
}

TEST(MetricsDeathTest, AnotherKindUnderTheSameNameIsABug) {
  EXPECT_DEATH(
      {
        Metrics metrics;
        metrics.GetCounter("d_total", "D.");
        metrics.GetGauge("d_total", "D.");
      },
      "another kind");
}

}  // namespace
}  // namespace otc::host

#include "client/cli/output/chart.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/terminal/text_width.h"

namespace sinkd::cli {
namespace {

using ::testing::HasSubstr;

int WidestLine(const std::string& chart) {
  int widest = 0;
  for (size_t begin = 0; begin < chart.size();) {
    const size_t end = chart.find('\n', begin);
    widest = std::max(widest, DisplayWidth(chart.substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

TEST(Bar, CountsEighthsAndShowsTheSmallest) {
  EXPECT_EQ(Bar(1, 1, 3, true), "███");
  EXPECT_EQ(Bar(0.5, 1, 3, true), "█▌");
  EXPECT_EQ(Bar(1e-9, 1, 3, true), "▏");
  EXPECT_EQ(Bar(0, 1, 3, true), "");
  EXPECT_EQ(Bar(0.5, 1, 4, false), "##");
  EXPECT_EQ(Bar(std::nan(""), 1, 4, true), "");
  EXPECT_EQ(Bar(1, 0, 4, true), "");
}

TEST(Sparkline, AveragesWhatDoesNotFit) {
  const std::vector<float> values = {0, 0, 1, 1};
  EXPECT_EQ(Sparkline(values, 1, 10, true), "  ██");
  EXPECT_EQ(Sparkline(values, 1, 2, true), " █");
  EXPECT_EQ(Sparkline({}, 1, 2, true), "");
}

TEST(HeatMap, PutsEachLevelInItsCell) {
  HeatMap map{.x_count = 4, .y_maximum = 2, .places = {{0, 1}, {3, 2}}, .weights = {1, 4}};
  map.x_title = "x";
  map.y_title = "y";
  const std::string chart = RenderHeatMap(map, 40, 10, true);
  EXPECT_THAT(chart, HasSubstr("2 │      ██\n"));
  EXPECT_THAT(chart, HasSubstr("1 │░░\n"));
}

TEST(HeatMap, FoldsADeepModelIntoTheWidth) {
  HeatMap map{.x_count = 500, .y_maximum = 300, .places = {{499, 300}, {0, 1}}, .weights = {1, 1}};
  const std::string chart = RenderHeatMap(map, 60, 12, true);
  EXPECT_LE(WidestLine(chart), 60);
  EXPECT_EQ(std::count(chart.begin(), chart.end(), '\n'), 12 + 3);
}

TEST(Scatter, DrawsPointsOverTheCurve) {
  Scatter plot;
  for (int i = 1; i < 40; ++i) plot.points.emplace_back(i, std::log(i));
  plot.curve = [](double x) { return std::log(x); };
  const std::string chart = RenderScatter(plot, 60, 10, true);
  EXPECT_THAT(chart, HasSubstr("·"));
  EXPECT_LE(WidestLine(chart), 60);
  EXPECT_EQ(RenderScatter({}, 60, 10, true), "");
}

TEST(Scatter, TakesOnePointAndWildCurves) {
  Scatter plot;
  plot.points = {{5, 7}};
  plot.curve = [](double) { return std::nan(""); };
  EXPECT_THAT(RenderScatter(plot, 40, 5, false), HasSubstr("."));
  plot.curve = [](double) { return 1e300; };
  EXPECT_THAT(RenderScatter(plot, 40, 5, true), HasSubstr("·"));
}

}  // namespace
}  // namespace sinkd::cli

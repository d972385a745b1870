// Small charts made of characters: bars, sparklines, a heat map, a scatter plot.
//
// `unicode` chooses block and Braille characters, else ASCII. Lines end in a newline; nothing is
// wider than asked for. Values that are not finite count as 0.
// Thread-safety: pure functions.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sinkd::cli {

// A horizontal bar of value / maximum of `width` columns, in eighths of a column; anything over 0
// shows. Without blanks after it.
std::string Bar(double value, double maximum, int width, bool unicode);

// One character a value, from 0 to `maximum`; at most `width` characters, neighbours averaged.
std::string Sparkline(std::span<const float> values, double maximum, int width, bool unicode);

struct HeatMap {
  int x_count = 0;    // columns of the map, x = 0 .. x_count - 1
  int y_minimum = 1;  // y = y_minimum .. y_maximum, upwards
  int y_maximum = 0;
  std::vector<std::pair<int, int>> places;  // (x, y) of each entry
  std::vector<double> weights;              // of each entry
  std::string x_title;
  std::string y_title;
};

// At most `height` rows of at most `width` columns; several x or y share a cell where there are
// more. Darker is more; a cell with any weight shows.
std::string RenderHeatMap(const HeatMap& map, int width, int height, bool unicode);

struct Scatter {
  std::vector<std::pair<double, double>> points;
  std::function<double(double)> curve;  // drawn under the points; may be empty
  std::string x_title;
  std::string y_title;
};

// Points as dots that grow with their number, the curve as a thin line, axes with their ends.
// Empty when there are no points.
std::string RenderScatter(const Scatter& plot, int width, int height, bool unicode);

}  // namespace sinkd::cli

#include "client/cli/output/chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "client/cli/output/number_format.h"
#include "client/cli/terminal/text_width.h"

namespace sinkd::cli {
namespace {

constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
constexpr std::array<const char*, 9> kHeights = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 9> kAsciiHeights = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
constexpr std::array<const char*, 5> kShades = {" ", "░", "▒", "▓", "█"};
constexpr std::array<const char*, 5> kAsciiShades = {" ", ".", "o", "O", "@"};
constexpr std::array<const char*, 4> kDots = {" ", "·", "•", "●"};
constexpr std::array<const char*, 4> kAsciiDots = {" ", ".", "o", "@"};

double Share(double value, double maximum) {
  if (!std::isfinite(value) || !(maximum > 0)) return 0;
  return std::clamp(value / maximum, 0.0, 1.0);
}

// The smallest step but 0 stands for anything over 0.
size_t Step(double share, size_t steps) {
  if (share <= 0) return 0;
  return std::clamp<size_t>(static_cast<size_t>(std::lround(share * static_cast<double>(steps))), 1,
                            steps);
}

struct Axis {
  double low = 0;
  double high = 1;

  static Axis Over(const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (*low < *high) return {*low, *high};
    const double room = std::max(std::abs(*low) * 0.1, 0.5);
    return {*low - room, *low + room};
  }

  // Which of `cells` holds `value`; -1 when none does.
  int Cell(double value, int cells) const {
    if (!std::isfinite(value) || value < low || value > high) return -1;
    return std::min(cells - 1, static_cast<int>((value - low) / (high - low) * cells));
  }
  double Value(double share) const { return low + share * (high - low); }
};

// A grid of Braille dots, two by four in a cell.
class Braille {
 public:
  Braille(int columns, int rows)
      : columns_(columns), bits_(static_cast<size_t>(columns * rows), 0) {}

  void Set(int x, int y) {
    constexpr unsigned char kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    bits_[static_cast<size_t>(y / 4 * columns_ + x / 2)] |= kBits[y % 4][x % 2];
  }
  std::string Cell(int column, int row, bool unicode) const {
    const unsigned bits = bits_[static_cast<size_t>(row * columns_ + column)];
    if (bits == 0) return " ";
    if (!unicode) return "-";
    const unsigned code = 0x2800u + bits;
    return {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
            static_cast<char>(0x80 | (code & 0x3F))};
  }

 private:
  int columns_;
  std::vector<unsigned char> bits_;
};

Braille DrawCurve(const Scatter& plot, const Axis& x, const Axis& y, int width, int height) {
  Braille canvas(width, height);
  if (!plot.curve) return canvas;
  for (int column = 0; column < width * 2; ++column) {
    const double value = plot.curve(x.Value((column + 0.5) / (width * 2)));
    const int row = y.Cell(value, height * 4);
    if (row >= 0) canvas.Set(column, height * 4 - 1 - row);
  }
  return canvas;
}

// The line under a chart: axis, its two ends and its title.
std::string BottomAxis(int margin, int width, const std::string& low, const std::string& high,
                       const std::string& title, bool unicode) {
  std::string line;
  for (int i = 0; i < width; ++i) line += unicode ? "─" : "-";
  const std::string blanks(static_cast<size_t>(margin), ' ');
  const int room = width - DisplayWidth(low) - DisplayWidth(high);
  const std::string middle = ShortenToWidth(title, std::max(0, room - 2), unicode);
  const int left = std::max(0, (room - DisplayWidth(middle)) / 2);
  const std::string labels = low + std::string(static_cast<size_t>(left), ' ') +
                             Pad(middle, std::max(0, room - left)) + high;
  return fmt::format("{} {}{}\n{}  {}\n", blanks, unicode ? "└" : "+", line, blanks, labels);
}

std::string Row(int margin, const std::string& label, const std::string& cells, bool unicode) {
  std::string line = fmt::format("{} {}{}", Pad(label, margin, true), unicode ? "│" : "|", cells);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

std::string Bar(double value, double maximum, int width, bool unicode) {
  const size_t eighths = Step(Share(value, maximum), static_cast<size_t>(width) * 8);
  std::string bar;
  if (!unicode) return std::string((eighths + 7) / 8, '#');
  for (size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kEighths[eighths % 8];
}

std::string Sparkline(std::span<const float> values, double maximum, int width, bool unicode) {
  const size_t cells = std::min(values.size(), static_cast<size_t>(std::max(0, width)));
  std::string line;
  for (size_t cell = 0; cell < cells; ++cell) {
    const size_t begin = cell * values.size() / cells;
    const size_t end = (cell + 1) * values.size() / cells;
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += Share(static_cast<double>(values[i]), maximum);
    const size_t step = Step(sum / static_cast<double>(end - begin), 8);
    line += (unicode ? kHeights : kAsciiHeights)[step];
  }
  return line;
}

std::string RenderHeatMap(const HeatMap& map, int width, int height, bool unicode) {
  const int y_count = map.y_maximum - map.y_minimum + 1;
  if (map.x_count <= 0 || y_count <= 0) return {};
  const int margin = 10;
  // Wide enough to read, and every x as wide as the others.
  const int room = std::max(10, width - margin - 2);
  const int per_cell = (map.x_count + room - 1) / room;
  const int columns = (map.x_count + per_cell - 1) / per_cell;
  const int stretch = std::clamp(room / columns, 1, 2);
  const int rows = std::min(height, y_count);
  std::vector<double> grid(static_cast<size_t>(columns * rows), 0.0);
  for (size_t i = 0; i < map.places.size(); ++i) {
    const int column = std::clamp(map.places[i].first / per_cell, 0, columns - 1);
    const int y = map.places[i].second - map.y_minimum;
    const int row = std::clamp(y * rows / y_count, 0, rows - 1);
    grid[static_cast<size_t>(row * columns + column)] += map.weights[i];
  }
  const double most = *std::max_element(grid.begin(), grid.end());
  std::string chart = "  " + map.y_title + '\n';
  for (int row = rows - 1; row >= 0; --row) {
    std::string cells;
    for (int column = 0; column < columns; ++column) {
      const size_t step = Step(Share(grid[static_cast<size_t>(row * columns + column)], most), 4);
      for (int i = 0; i < stretch; ++i) cells += (unicode ? kShades : kAsciiShades)[step];
    }
    const bool labelled = row == rows - 1 || row == 0 || row == rows / 2;
    const int y = (row * y_count + rows - 1) / rows + map.y_minimum;
    chart += Row(margin - 2, labelled ? std::to_string(y) : "", cells, unicode);
  }
  return chart + BottomAxis(margin - 2, columns * stretch, "0", std::to_string(map.x_count - 1),
                            map.x_title, unicode);
}

std::string RenderScatter(const Scatter& plot, int width, int height, bool unicode) {
  if (plot.points.empty()) return {};
  std::vector<double> xs;
  std::vector<double> ys;
  for (const auto& [x, y] : plot.points) {
    xs.push_back(x);
    ys.push_back(y);
  }
  const Axis x_axis = Axis::Over(xs);
  const Axis y_axis = Axis::Over(ys);
  const int margin = 10;
  const int columns = std::max(10, width - margin - 2);
  std::vector<int> counts(static_cast<size_t>(columns * height), 0);
  for (size_t i = 0; i < xs.size(); ++i) {
    const int column = x_axis.Cell(xs[i], columns);
    const int row = height - 1 - y_axis.Cell(ys[i], height);
    if (column >= 0 && row < height) ++counts[static_cast<size_t>(row * columns + column)];
  }
  const Braille curve = DrawCurve(plot, x_axis, y_axis, columns, height);
  std::string chart = "  " + plot.y_title + '\n';
  for (int row = 0; row < height; ++row) {
    std::string cells;
    for (int column = 0; column < columns; ++column) {
      const int count = counts[static_cast<size_t>(row * columns + column)];
      const size_t size = count == 0 ? 0 : count == 1 ? 1 : count < 5 ? 2 : 3;
      cells += count == 0 ? curve.Cell(column, row, unicode) : (unicode ? kDots : kAsciiDots)[size];
    }
    const std::string label = row == 0            ? Compact(y_axis.high)
                              : row == height - 1 ? Compact(y_axis.low)
                                                  : "";
    chart += Row(margin - 2, label, cells, unicode);
  }
  return chart + BottomAxis(margin - 2, columns, Compact(x_axis.low), Compact(x_axis.high),
                            plot.x_title, unicode);
}

}  // namespace sinkd::cli

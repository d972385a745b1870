#include "client/cli/output/table.h"

#include <algorithm>

#include "client/cli/terminal/text_width.h"

namespace sinkd::cli {
namespace {

constexpr int kGap = 2;
constexpr int kNarrowest = 8;  // what a column that wraps keeps

// Blanks go outside the colours, and a last left-aligned column needs none.
std::string RenderCell(const Cell& cell, Align align, int width, bool last, bool color) {
  const int missing = std::max(0, width - DisplayWidth(cell.text));
  const std::string blanks(static_cast<size_t>(missing), ' ');
  const std::string text = Paint(color && !cell.text.empty(), cell.style, cell.text);
  if (align == Align::kRight) return blanks + text;
  return last ? text : text + blanks;
}

}  // namespace

// Widths of the columns; `room`: what they have together, 0: no limit.
std::vector<int> Table::Widths(int room) const {
  std::vector<int> widths;
  std::vector<size_t> wrapping;
  int taken = 0;
  for (size_t c = 0; c < columns_.size(); ++c) {
    int width = DisplayWidth(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[c].text));
    widths.push_back(width);
    taken += width;
    if (columns_[c].wraps) wrapping.push_back(c);
  }
  if (room == 0 || taken <= room) return widths;
  for (const size_t c : wrapping) taken -= widths[c];
  int left = room - taken;
  // From the narrowest on, so that what one column does not need goes to the wider ones.
  std::sort(wrapping.begin(), wrapping.end(),
            [&](size_t a, size_t b) { return widths[a] < widths[b]; });
  for (size_t i = 0; i < wrapping.size(); ++i) {
    int& width = widths[wrapping[i]];
    width = std::min(width, std::max(kNarrowest, left / static_cast<int>(wrapping.size() - i)));
    left -= width;
  }
  return widths;
}

std::string Table::Render(bool color, int indent, int width) const {
  const int gaps = kGap * static_cast<int>(columns_.size() - 1);
  const std::vector<int> widths = Widths(width == 0 ? 0 : std::max(1, width - indent - gaps));
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string result;
  const auto add_line = [&](const auto& cell_at) {
    std::string line = margin;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) line.append(kGap, ' ');
      line += RenderCell(cell_at(c), columns_[c].align, widths[c], c + 1 == columns_.size(), color);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  };
  add_line([&](size_t c) { return Cell(columns_[c].title, Style::kDim); });
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string>> lines;
    size_t height = 1;
    for (size_t c = 0; c < columns_.size(); ++c) {
      lines.push_back(columns_[c].wraps ? WrapToWidth(row[c].text, widths[c])
                                        : std::vector<std::string>{row[c].text});
      height = std::max(height, lines.back().size());
    }
    for (size_t i = 0; i < height; ++i) {
      add_line([&](size_t c) {
        return Cell(i < lines[c].size() ? lines[c][i] : std::string(), row[c].style);
      });
    }
  }
  return result;
}

}  // namespace sinkd::cli

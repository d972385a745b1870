#include "client/cli/output/table.h"

#include <algorithm>
#include <numeric>

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

int Table::WidthOf(size_t column) const {
  int width = DisplayWidth(columns_[column].title);
  for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[column].text));
  return width;
}

int Table::LeastWidthOf(const Part& part) const {
  int width = kGap * (static_cast<int>(part.size()) - 1);
  for (const size_t c : part) {
    width += columns_[c].wraps ? std::min(kNarrowest, WidthOf(c)) : WidthOf(c);
  }
  return width;
}

// The columns that stand side by side where a line has `room`.
std::vector<Table::Part> Table::Parts(int room) const {
  Part all(columns_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  if (room == 0 || LeastWidthOf(all) <= room) return {all};
  std::erase_if(all, [this](size_t c) { return columns_[c].bars; });
  // What a row is about: the first column with a title, and what stands before it.
  const auto titled =
      std::find_if(all.begin(), all.end(), [this](size_t c) { return !columns_[c].title.empty(); });
  const Part key(all.begin(), titled == all.end() ? titled : titled + 1);
  std::vector<Part> parts(1);
  for (const size_t c : all) {
    Part longer = parts.back();
    longer.push_back(c);
    if (LeastWidthOf(longer) > room && parts.back().size() > key.size()) {
      longer = key;
      longer.push_back(c);
      parts.emplace_back();
    }
    parts.back() = std::move(longer);
  }
  return parts;
}

std::vector<int> Table::Widths(const Part& part, int room) const {
  std::vector<int> widths;
  std::vector<size_t> wrapping;
  int taken = kGap * (static_cast<int>(part.size()) - 1);
  for (const size_t c : part) {
    if (columns_[c].wraps) wrapping.push_back(widths.size());
    widths.push_back(WidthOf(c));
    taken += widths.back();
  }
  if (room == 0 || taken <= room) return widths;
  for (const size_t at : wrapping) taken -= widths[at];
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

std::string Table::RenderPart(const Part& part, bool color, int indent, int room) const {
  const std::vector<int> widths = Widths(part, room);
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string result;
  const auto add_line = [&](const auto& cell_at) {
    std::string line = margin;
    for (size_t i = 0; i < part.size(); ++i) {
      if (i > 0) line.append(kGap, ' ');
      line +=
          RenderCell(cell_at(i), columns_[part[i]].align, widths[i], i + 1 == part.size(), color);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  };
  add_line([&](size_t i) { return Cell(columns_[part[i]].title, Style::kDim); });
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string>> lines;
    size_t height = 1;
    for (size_t i = 0; i < part.size(); ++i) {
      const std::string& text = row[part[i]].text;
      lines.push_back(columns_[part[i]].wraps ? WrapToWidth(text, widths[i])
                                              : std::vector<std::string>{text});
      height = std::max(height, lines.back().size());
    }
    for (size_t line = 0; line < height; ++line) {
      add_line([&](size_t i) {
        return Cell(line < lines[i].size() ? lines[i][line] : std::string(), row[part[i]].style);
      });
    }
  }
  return result;
}

std::string Table::Render(bool color, int indent, int width) const {
  const int room = width == 0 ? 0 : std::max(1, width - indent);
  std::string result;
  for (const Part& part : Parts(room)) result += RenderPart(part, color, indent, room);
  return result;
}

}  // namespace sinkd::cli

#include "client/cli/table.h"

#include <algorithm>

#include "client/cli/text_width.h"

namespace sinkd::cli {
namespace {

// Blanks go outside the colours, and a last left-aligned column needs none.
std::string RenderCell(const Cell& cell, Align align, int width, bool last, bool color) {
  const int missing = std::max(0, width - DisplayWidth(cell.text));
  const std::string blanks(static_cast<size_t>(missing), ' ');
  const std::string text = Paint(color && !cell.text.empty(), cell.style, cell.text);
  if (align == Align::kRight) return blanks + text;
  return last ? text : text + blanks;
}

}  // namespace

std::string Table::Render(bool color, int indent) const {
  std::vector<int> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    int width = DisplayWidth(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[c].text));
    widths.push_back(width);
  }
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string result;
  const auto add_line = [&](const auto& cell_at) {
    std::string line = margin;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) line += "  ";
      line += RenderCell(cell_at(c), columns_[c].align, widths[c], c + 1 == columns_.size(), color);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  };
  add_line([&](size_t c) { return Cell(columns_[c].title, Style::kDim); });
  for (const auto& row : rows_) add_line([&](size_t c) { return row[c]; });
  return result;
}

}  // namespace sinkd::cli

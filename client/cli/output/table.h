// Table: aligned columns, by the width a terminal gives each character.
//
// Thread-safety: none.
#pragma once

#include <string>
#include <vector>

#include "client/cli/terminal/terminal.h"

namespace sinkd::cli {

struct Cell {
  std::string text;  // no escape sequences
  Style style = Style::kPlain;

  Cell(std::string value, Style cell_style = Style::kPlain)  // NOLINT: cells are written as strings
      : text(std::move(value)), style(cell_style) {}
  Cell(const char* value) : text(value) {}  // NOLINT
};

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kRight;
  bool wraps = false;  // its cells may take several lines
  bool bars = false;   // left out where a line has no room for them
};

// A column of bars.
inline Column Bars(const char* title = "") {
  return {title, Align::kLeft, false, true};
}

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as columns.
  void AddRow(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // Title line and rows, each ending in a newline, `indent` blanks in front, no blanks at the end.
  // Where a line has `width` columns (0: no limit), columns that wrap become narrower, then bars
  // are left out, then the rest of the columns follows below, behind the first ones again.
  std::string Render(bool color, int indent = 2, int width = 0) const;

  // The same for a terminal; elsewhere lines have no limit.
  std::string Render(const Terminal& terminal, int indent = 2) const {
    return Render(terminal.color_out, indent, terminal.out_is_terminal ? terminal.width : 0);
  }

 private:
  using Part = std::vector<size_t>;  // columns, by their index

  // Columns of the terminal that a column takes, whole or at least.
  int WidthOf(size_t column) const;
  int LeastWidthOf(const Part& part) const;
  std::vector<Part> Parts(int room) const;
  // In the order of the part.
  std::vector<int> Widths(const Part& part, int room) const;
  std::string RenderPart(const Part& part, bool color, int indent, int room) const;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace sinkd::cli

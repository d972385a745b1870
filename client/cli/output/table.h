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
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as columns.
  void AddRow(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // Title line and rows, each ending in a newline, `indent` blanks in front, no blanks at the end.
  // Columns that wrap become as narrow as a line of `width` columns asks; 0: no limit.
  std::string Render(bool color, int indent = 2, int width = 0) const;

 private:
  std::vector<int> Widths(int room) const;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace sinkd::cli

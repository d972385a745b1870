// Terminal: what standard output and standard error can show, and colours.
//
// Thread-safety: values; DetectTerminal reads the environment.
#pragma once

#include <string>
#include <string_view>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

struct Terminal {
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool progress = false;  // a bar on standard error disturbs nothing: terminal, no pipe beside it
  bool color_out = false;
  bool color_err = false;
  bool unicode = true;  // charts may use block characters
  int width = 100;      // columns
};

// Colours only on a terminal, and neither with --no-color, nor a non-empty NO_COLOR, nor TERM=dumb.
// ASCII charts with --ascii or a locale set to C.
Terminal DetectTerminal(const GlobalOptions& options);

// Columns that a line on standard output may have: those of the terminal for tables, else 0, no
// limit.
int LineWidth(const GlobalOptions& options, const Terminal& terminal);

enum class Style { kPlain, kBold, kDim, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan };

// `text` in `style` when `color` is on, else unchanged.
std::string Paint(bool color, Style style, std::string_view text);

}  // namespace sinkd::cli

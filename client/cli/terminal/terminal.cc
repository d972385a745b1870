#include "client/cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace sinkd::cli {
namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool LocaleIsC() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const std::string_view value = Environment(name); !value.empty()) {
      return value == "C" || value == "POSIX";
    }
  }
  return false;
}

int Width(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

std::string_view Code(Style style) {
  switch (style) {
    case Style::kPlain:
      return "0";
    case Style::kBold:
      return "1";
    case Style::kDim:
      return "2";
    case Style::kRed:
      return "31";
    case Style::kGreen:
      return "32";
    case Style::kYellow:
      return "33";
    case Style::kBlue:
      return "34";
    case Style::kMagenta:
      return "35";
    case Style::kCyan:
      return "36";
  }
  return "0";
}

}  // namespace

Terminal DetectTerminal(const GlobalOptions& options) {
  Terminal terminal;
  terminal.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.err_is_terminal = isatty(STDERR_FILENO) == 1;
  // What comes out of a pipe's other end may well land on the same terminal.
  struct stat out {};
  const bool piped = fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode);
  terminal.progress = terminal.err_is_terminal && !piped && !options.quiet;
  const bool color =
      !options.no_color && Environment("NO_COLOR").empty() && Environment("TERM") != "dumb";
  terminal.color_out = color && terminal.out_is_terminal;
  terminal.color_err = color && terminal.err_is_terminal;
  terminal.unicode = !options.ascii && !LocaleIsC();
  if (terminal.out_is_terminal) {
    terminal.width = Width(STDOUT_FILENO);
  } else if (terminal.err_is_terminal) {
    terminal.width = Width(STDERR_FILENO);
  }
  terminal.width = std::clamp(terminal.width, 40, 160);
  return terminal;
}

int LineWidth(const GlobalOptions& options, const Terminal& terminal) {
  return options.output == OutputFormat::kTable && terminal.out_is_terminal ? terminal.width : 0;
}

std::string Paint(bool color, Style style, std::string_view text) {
  if (!color || style == Style::kPlain) return std::string(text);
  return "\x1b[" + std::string(Code(style)) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace sinkd::cli

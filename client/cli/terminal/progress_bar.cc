#include "client/cli/terminal/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "client/cli/output/chart.h"
#include "client/cli/output/number_format.h"
#include "client/cli/terminal/text_width.h"

namespace sinkd::cli {
namespace {

using std::chrono::steady_clock;

constexpr int kBarWidth = 24;

// A terminal that takes no more is not worth an error.
void WriteToTerminal(const std::string& text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

double ProgressBar::seconds() const {
  return std::chrono::duration<double>(steady_clock::now() - start_).count();
}

std::string ProgressBar::Line(const ProgressState& state) const {
  if (!state.share) {
    const std::string line = fmt::format("{}  {}", state.text, Duration(seconds()));
    return ShortenToWidth(line, terminal_.width - 1, terminal_.unicode);
  }
  const double share = std::clamp(*state.share, 0.0, 1.0);
  const std::string bar = Pad(Bar(share, 1.0, kBarWidth, terminal_.unicode), kBarWidth);
  std::string line =
      fmt::format("{:3}%  {}", static_cast<int>(std::floor(share * 100)), state.text);
  if (share > 0 && share < 1) {
    line += "  ETA " + Duration(seconds() * (1 - share) / share);
  }
  const int room = terminal_.width - 1 - kBarWidth - 3;
  return fmt::format("{}{}{} {}", terminal_.unicode ? "▕" : "[",
                     Paint(terminal_.color_err, Style::kCyan, bar), terminal_.unicode ? "▏" : "]",
                     ShortenToWidth(line, room, terminal_.unicode));
}

void ProgressBar::Show(const ProgressState& state) {
  const steady_clock::time_point now = steady_clock::now();
  if (!enabled_ || (drawn_ && now - last_draw_ < std::chrono::milliseconds(100))) return;
  last_draw_ = now;
  drawn_ = true;
  WriteToTerminal("\r" + Line(state) + "\x1b[K");
}

void ProgressBar::Clear() {
  if (!drawn_) return;
  drawn_ = false;
  WriteToTerminal("\r\x1b[K");
}

}  // namespace sinkd::cli

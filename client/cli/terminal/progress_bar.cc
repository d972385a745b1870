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

// Of the line, with room for the numbers on narrow terminals.
int BarWidth(const Terminal& terminal) {
  return std::clamp(terminal.width / 4, 8, 24);
}

// A terminal that takes no more is not worth an error.
void WriteToTerminal(const std::string& text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ProgressBar::ProgressBar(bool enabled, const Terminal& terminal)
    : enabled_(enabled), terminal_(terminal), start_(steady_clock::now()) {
  if (enabled_) thread_ = std::thread([this] { KeepDrawing(); });
}

ProgressBar::~ProgressBar() {
  done_.Stop();
  if (thread_.joinable()) thread_.join();
  Clear();
}

double ProgressBar::seconds() const {
  return std::chrono::duration<double>(steady_clock::now() - start_).count();
}

std::string ProgressBar::Line() const {
  if (!state_->share) {
    const std::string line = fmt::format("{}  {}", state_->text, Duration(seconds()));
    return ShortenToWidth(line, terminal_.width - 1, terminal_.unicode);
  }
  const double share = std::clamp(*state_->share, 0.0, 1.0);
  const int width = BarWidth(terminal_);
  const std::string bar = Pad(Bar(share, 1.0, width, terminal_.unicode), width);
  std::string line = fmt::format("{:3}%", static_cast<int>(std::floor(share * 100)));
  // One that is overdue stays at a second.
  if (end_ > 0 && share < 1) line += "  ETA " + Duration(std::max(1.0, end_ - seconds()));
  line += "  " + state_->text;
  const int room = terminal_.width - 1 - width - 3;
  return fmt::format("{}{}{} {}", terminal_.unicode ? "▕" : "[",
                     Paint(terminal_.color_err, Style::kCyan, bar), terminal_.unicode ? "▏" : "]",
                     ShortenToWidth(line, room, terminal_.unicode));
}

void ProgressBar::Draw() {
  last_draw_ = steady_clock::now();
  WriteToTerminal("\r" + Line() + "\x1b[K");
}

void ProgressBar::KeepDrawing() {
  constexpr std::chrono::milliseconds kPeriod{250};
  while (!done_.WaitFor(kPeriod)) {
    const std::lock_guard lock(mutex_);
    if (!state_) continue;
    const double share = state_->share.value_or(0);
    if (share > settled_share_ && share > state_->skipped) {
      settled_share_ = share;
      end_ = seconds() * (1 + (1 - share) / (share - state_->skipped));
    }
    Draw();
  }
}

void ProgressBar::Show(ProgressState state) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  const bool is_new = !state_;
  state_ = std::move(state);
  if (is_new || steady_clock::now() - last_draw_ >= std::chrono::milliseconds(100)) Draw();
}

void ProgressBar::Clear() {
  const std::lock_guard lock(mutex_);
  if (state_) WriteToTerminal("\r\x1b[K");
  state_.reset();
}

}  // namespace sinkd::cli

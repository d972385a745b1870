// ProgressBar: one line at the bottom of a terminal, on standard error.
//
// Thread-safety: none; callers lock.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/cli/terminal/terminal.h"

namespace sinkd::cli {

struct ProgressState {
  std::optional<double> share;  // done, 0 to 1; absent: the total is not known
  std::string text;             // "12/40 samples  1,234 tokens/s"
};

class ProgressBar {
 public:
  // Draws nothing unless `enabled`.
  ProgressBar(bool enabled, const Terminal& terminal)
      : enabled_(enabled), terminal_(terminal), start_(std::chrono::steady_clock::now()) {}
  ~ProgressBar() { Clear(); }

  // Draws, at most ten times a second. The time left is worked out from the share.
  void Show(const ProgressState& state);

  // Takes the line away, so that other text can be written.
  void Clear();

  double seconds() const;
  bool enabled() const { return enabled_; }

 private:
  std::string Line(const ProgressState& state) const;

  bool enabled_;
  Terminal terminal_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_draw_{};
  bool drawn_ = false;
};

}  // namespace sinkd::cli

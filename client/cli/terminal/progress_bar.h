// ProgressBar: one line at the bottom of a terminal, on standard error.
//
// A thread draws it again from time to time, so that it moves while nothing comes. The time left is
// worked out when the share of what is done has settled, and counts down until the next share:
// results come in bursts, a pass at a time, and the first of a burst says little.
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "client/cli/input/byte_stream.h"
#include "client/cli/terminal/terminal.h"

namespace sinkd::cli {

struct ProgressState {
  std::optional<double> share;  // done, 0 to 1; absent: the total is not known
  double skipped = 0;           // of it, what took no work
  std::string text;             // "12/40 samples  1,234 tokens/s"
};

class ProgressBar {
 public:
  // Draws nothing unless `enabled`.
  ProgressBar(bool enabled, const Terminal& terminal);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Show(ProgressState state);

  // Takes the line away until the next Show, so that other text can be written.
  void Clear();

  double seconds() const;
  bool enabled() const { return enabled_; }

 private:
  // With mutex_ held.
  void Draw();
  std::string Line() const;

  void KeepDrawing();

  const bool enabled_;
  const Terminal terminal_;
  const std::chrono::steady_clock::time_point start_;
  StopSignal done_;

  std::mutex mutex_;
  std::optional<ProgressState> state_;  // absent: nothing is shown
  std::chrono::steady_clock::time_point last_draw_{};
  double settled_share_ = 0;
  double end_ = 0;  // when it ends, as worked out at that share; in seconds(), 0: unknown
  std::thread thread_;
};

}  // namespace sinkd::cli

// Readiness: whether the server takes work, and why not.
//
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <mutex>
#include <optional>
#include <string>

namespace sinkd {

class Readiness {
 public:
  explicit Readiness(std::string why_not) : why_not_(std::move(why_not)) {}

  void SetReady();                    // no effect once draining
  void SetDraining(std::string why);  // for good
  void SetStuck(std::string why);     // beside the rest; empty: no more
  std::optional<std::string> WhyNot() const;

 private:
  mutable std::mutex mutex_;
  std::optional<std::string> why_not_;
  std::string stuck_;
  bool draining_ = false;
};

}  // namespace sinkd

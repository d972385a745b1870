// CallerBound: how many places each caller holds, so that none takes them all. Who holds `most` or
// more gets no further ones until some are free again; below it the next ones are given however
// many they are, so that a caller who holds nothing is never turned away by it.
//
// Thread-safety: none; its owner locks.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace sinkd {

class CallerBound {
 public:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  // `what` is held, in error messages: "streams of the server".
  CallerBound(std::string what, int64_t most) : what_(std::move(what)), most_(most) {}

  // RESOURCE_EXHAUSTED with retry_after for a caller at the bound.
  absl::Status Check(std::string_view caller) const;

  void Take(std::string_view caller, int64_t places);
  void Give(std::string_view caller, int64_t places);

 private:
  const std::string what_;
  const int64_t most_;
  std::map<std::string, int64_t, std::less<>> held_;
};

// What one caller may hold of `places` when he may hold `percent` of them: at least 1, and below
// 100 not the last of several. kNone for 100.
int64_t CallersPart(int64_t places, int64_t percent);

}  // namespace sinkd

// CallerBound: limits how many slots each caller holds, so that no caller takes all of them. A
// caller that holds `most` or more gets no others until it has returned some. A caller that holds
// fewer gets as many as it asks for, so that one that holds none is never refused.
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

  // `what` names the slots in error messages: "streams of the server".
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

// How many of `places` a caller may hold if the limit is `percent` of them: at least 1, and below
// 100 percent never all of several. kNone for 100.
int64_t CallersPart(int64_t places, int64_t percent);

}  // namespace sinkd

#include "client/cli/input/seen_samples.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace sinkd::cli {

Seen SeenSamples::Note(std::string_view id, std::string_view digest) {
  uint64_t input = 0;
  std::memcpy(&input, digest.data(), std::min(digest.size(), sizeof(input)));
  const auto [place, is_new] = inputs_.try_emplace(std::hash<std::string_view>()(id), input);
  if (is_new) return Seen::kNot;
  return place->second == input ? Seen::kSame : Seen::kOther;
}

}  // namespace sinkd::cli

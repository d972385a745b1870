// Shard: the part of a corpus that one process takes of all its samples.
//
// A sample belongs to shard h mod n, where h is the first 8 bytes of the SHA-256 of its id, most
// significant first, and ContentId names a sample without id. So it does not matter where in the
// input it stands, any n gives the same union, and who tries again takes the same samples.
// Thread-safety: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "client/cli/input/sample_reader.h"

namespace sinkd::cli {

inline constexpr int64_t kMostShards = 100'000;

struct Shard {
  int64_t index = 0;  // in [0, count)
  int64_t count = 1;

  // A line that cannot be read belongs to one shard too, an input that cannot be read to all.
  bool Takes(const InputItem& item) const;
};

// Of "3/8"; nullopt for anything else.
std::optional<Shard> ParseShard(std::string_view text);

// Which of `count` shards an id belongs to.
int64_t ShardOf(std::string_view id, int64_t count);

}  // namespace sinkd::cli

// SeenSamples: which samples of an input came before, by their ids. 16 bytes each and a hash
// table's room are kept of them.
//
// Thread-safety: none; one thread at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include <absl/container/flat_hash_map.h>

namespace sinkd::cli {

enum class Seen { kNot, kSame, kOther };  // the same id with the same input, or with another

class SeenSamples {
 public:
  // `digest` is InputDigest's.
  Seen Note(std::string_view id, std::string_view digest);

 private:
  absl::flat_hash_map<uint64_t, uint64_t> inputs_;  // by id, the first bytes of digests
};

}  // namespace sinkd::cli

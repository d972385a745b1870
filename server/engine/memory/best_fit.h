// BestFit: places blocks in one stretch of addresses that grows at its end. A block takes the
// smallest hole it fits into; holes next to each other become one. Knows numbers alone, no memory.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace sinkd {

class BestFit {
 public:
  // Addresses [0, limit).
  explicit BestFit(int64_t limit) : limit_(limit) {}

  // Where `bytes` > 0 are to lie; nullopt when there is no place.
  std::optional<int64_t> Take(int64_t bytes);
  // `begin` came from Take.
  void Give(int64_t begin);

  const std::map<int64_t, int64_t>& holes() const { return holes_; }  // bytes, by where they begin
  int64_t end() const { return end_; }  // of the last block there ever was

 private:
  const int64_t limit_;
  int64_t end_ = 0;
  std::map<int64_t, int64_t> holes_;   // below end_, none next to another
  std::map<int64_t, int64_t> blocks_;  // bytes, by where they begin
};

}  // namespace sinkd

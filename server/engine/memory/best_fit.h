// BestFit: allocates blocks in one range of addresses that grows at its end. A block takes the
// smallest hole that it fits into; adjacent holes are merged. Computes addresses only.
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

  // The address for `bytes` > 0; nullopt if there is no room.
  std::optional<int64_t> Take(int64_t bytes);
  // `begin` came from Take.
  void Give(int64_t begin);

  const std::map<int64_t, int64_t>& holes() const { return holes_; }  // bytes, by where they begin
  int64_t end() const { return end_; }  // the highest end of any block so far

 private:
  const int64_t limit_;
  int64_t end_ = 0;
  std::map<int64_t, int64_t> holes_;   // below end_, never adjacent
  std::map<int64_t, int64_t> blocks_;  // bytes, by where they begin
};

}  // namespace sinkd

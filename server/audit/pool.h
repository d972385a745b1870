// Pairs, the samples that two sets share, and the pool: the samples of candidate and baseline
// together, for permutation tests.
//
// If the two sets come from the same source, it does not matter which set a sample is in, so the
// observed value must be typical of the values of other assignments. A sample in both sets is two
// units, one on each side, that swap places together; the others are redistributed between sides.
// Thread-safety: const methods may be called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "server/audit/evidence.h"
#include "server/base/seeded_draws.h"

namespace sinkd {

using UnitSpan = std::span<const AuditUnit* const>;

using UnitPair = std::pair<const AuditUnit*, const AuditUnit*>;  // candidate, baseline

// The samples in both sets, by key. Both ordered by key, as Evidence returns them.
std::vector<UnitPair> PairsOf(UnitSpan candidate, UnitSpan baseline);

enum Side : uint8_t { kCandidate = 0, kBaseline = 1 };
using Sides = std::vector<uint8_t>;  // of each unit of a pool

class Pool {
 public:
  // Both ordered by key, as Evidence returns them.
  Pool(UnitSpan candidate, UnitSpan baseline);

  UnitSpan units() const { return units_; }
  const Sides& sides() const { return sides_; }  // the actual assignment
  size_t pairs() const { return pairs_.size(); }

  // Draws an assignment, uniformly among those that keep pairs. `sides` is one of this pool.
  void Redraw(SeededDraws& draws, Sides& sides) const;

 private:
  std::vector<const AuditUnit*> units_;
  Sides sides_;
  std::vector<std::pair<size_t, size_t>> pairs_;
  std::vector<size_t> loose_;
};

}  // namespace sinkd

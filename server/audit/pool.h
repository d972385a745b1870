// Pool: the samples of candidate and baseline together, for permutation tests.
//
// If the two sets come from one source, which of them a sample is in means nothing, so that what is
// found must be ordinary among what other assignments give. A sample that both sets hold is two
// units, one on each side, that change places together; the others change sides among themselves.
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

enum Side : uint8_t { kCandidate = 0, kBaseline = 1 };
using Sides = std::vector<uint8_t>;  // of each unit of a pool

class Pool {
 public:
  // Both by key, as Evidence gives them.
  Pool(UnitSpan candidate, UnitSpan baseline);

  UnitSpan units() const { return units_; }
  const Sides& sides() const { return sides_; }  // as they are
  size_t pairs() const { return pairs_.size(); }

  // Another assignment, all that the pairs allow equally likely. `sides` is one of this pool.
  void Redraw(SeededDraws& draws, Sides& sides) const;

 private:
  std::vector<const AuditUnit*> units_;
  Sides sides_;
  std::vector<std::pair<size_t, size_t>> pairs_;
  std::vector<size_t> loose_;
};

}  // namespace sinkd

#include "server/audit/pool.h"

namespace sinkd {

std::vector<UnitPair> PairsOf(UnitSpan candidate, UnitSpan baseline) {
  std::vector<UnitPair> pairs;
  size_t b = 0;
  for (const AuditUnit* unit : candidate) {
    while (b < baseline.size() && baseline[b]->key < unit->key) ++b;
    if (b == baseline.size()) break;
    if (baseline[b]->key == unit->key) pairs.emplace_back(unit, baseline[b]);
  }
  return pairs;
}

Pool::Pool(UnitSpan candidate, UnitSpan baseline) {
  size_t b = 0;
  const auto add = [this](const AuditUnit* unit, Side side) {
    units_.push_back(unit);
    sides_.push_back(side);
    return units_.size() - 1;
  };
  for (const AuditUnit* unit : candidate) {
    while (b < baseline.size() && baseline[b]->key < unit->key) {
      loose_.push_back(add(baseline[b++], kBaseline));
    }
    const size_t mine = add(unit, kCandidate);
    if (b < baseline.size() && baseline[b]->key == unit->key) {
      pairs_.emplace_back(mine, add(baseline[b++], kBaseline));
    } else {
      loose_.push_back(mine);
    }
  }
  while (b < baseline.size()) loose_.push_back(add(baseline[b++], kBaseline));
}

void Pool::Redraw(SeededDraws& draws, Sides& sides) const {
  for (const auto& [first, second] : pairs_) {
    if (draws.Index(2) == 1) std::swap(sides[first], sides[second]);
  }
  for (size_t i = loose_.size(); i > 1; --i) {
    std::swap(sides[loose_[i - 1]], sides[loose_[draws.Index(i)]]);
  }
}

}  // namespace sinkd

// How single sinks differ between two sets that hold the same samples: which are in one set alone,
// and how level, score and norm of the others changed. Sinks match by sample and position.
#include <algorithm>
#include <vector>

#include "server/audit/measures.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using Sinks = std::vector<const SecondarySink*>;

Sinks ByPosition(const AuditUnit& unit) {
  Sinks sinks;
  for (const SecondarySink& sink : unit.sinks) sinks.push_back(&sink);
  std::stable_sort(sinks.begin(), sinks.end(), [](const SecondarySink* a, const SecondarySink* b) {
    return a->position < b->position;
  });
  return sinks;
}

// Terms of one sink that both sets have.
using SharedTerms = Terms (*)(const SecondarySink& candidate, const SecondarySink& baseline);

Terms OfShared(const AuditUnit& candidate, const AuditUnit& baseline, SharedTerms terms_of) {
  const Sinks mine = ByPosition(candidate);
  const Sinks theirs = ByPosition(baseline);
  Terms sums;
  for (size_t a = 0, b = 0; a < mine.size() && b < theirs.size();) {
    if (mine[a]->position < theirs[b]->position) {
      ++a;
    } else if (mine[a]->position > theirs[b]->position) {
      ++b;
    } else {
      const Terms terms = terms_of(*mine[a++], *theirs[b++]);
      sums.above += terms.above;
      sums.below += terms.below;
    }
  }
  return sums;
}

// The sinks of `unit` that `other` has not, of all sinks of the baseline.
Terms OnlyIn(const AuditUnit& unit, const AuditUnit& other, const AuditUnit& baseline) {
  const Terms shared = OfShared(unit, other, [](const SecondarySink&, const SecondarySink&) {
    return Terms{.above = 1, .below = 1};
  });
  return {.above = static_cast<double>(unit.sinks.size()) - shared.above,
          .below = static_cast<double>(baseline.sinks.size())};
}

struct PairRow {
  std::string_view name;
  std::string_view text;
  Basis basis;
  Terms (*terms)(const AuditUnit& candidate, const AuditUnit& baseline);
  std::string (*tell)(const Terms& sums);
};

std::string TellShare(const Terms& sums) {
  return StrCat(sums.above, " of ", sums.below);
}

std::string TellCount(const Terms& sums) {
  return StrCat("over ", sums.below, " sinks that both sets have");
}

std::string TellNothing(const Terms&) {
  return "";
}

constexpr PairRow kRows[] = {
    {"moved_primary", "share of samples whose primary sink has another position or window",
     Basis::kSamples,
     [](const AuditUnit& candidate, const AuditUnit& baseline) {
       return Terms{.above = candidate.primaries == baseline.primaries ? 0.0 : 1.0, .below = 1};
     },
     TellShare},
    {"lost_secondary", "share of the baseline's secondary sinks that the candidate lacks",
     Basis::kSinks,
     [](const AuditUnit& candidate, const AuditUnit& baseline) {
       return OnlyIn(baseline, candidate, baseline);
     },
     TellShare},
    {"gained_secondary",
     "secondary sinks that only the candidate has, divided by those of the baseline", Basis::kSinks,
     [](const AuditUnit& candidate, const AuditUnit& baseline) {
       return OnlyIn(candidate, baseline, baseline);
     },
     TellShare},
    {"moved_secondary", "share of the secondary sinks in both sets that have another level",
     Basis::kSinks,
     [](const AuditUnit& candidate, const AuditUnit& baseline) {
       return OfShared(candidate, baseline, [](const SecondarySink& c, const SecondarySink& b) {
         return Terms{.above = c.level == b.level ? 0.0 : 1.0, .below = 1};
       });
     },
     TellShare},
    {"start_shift", "layers by which secondary sinks in both sets start later, as a mean",
     Basis::kSinks,
     [](const AuditUnit& candidate, const AuditUnit& baseline) {
       return OfShared(candidate, baseline, [](const SecondarySink& c, const SecondarySink& b) {
         return Terms{.above = static_cast<double>(c.level.l_start - b.level.l_start), .below = 1};
       });
     },
     TellCount},
    {"lifetime_shift", "layers by which secondary sinks in both sets last longer, as a mean",
     Basis::kSinks,
     [](const AuditUnit& candidate, const AuditUnit& baseline) {
       return OfShared(candidate, baseline, [](const SecondarySink& c, const SecondarySink& b) {
         return Terms{.above = static_cast<double>(c.level.lifetime - b.level.lifetime),
                      .below = 1};
       });
     },
     TellCount},
    {"shared_score_ratio",
     "sum of the scores of the secondary sinks in both sets, divided by the baseline's",
     Basis::kSinks,
     [](const AuditUnit& candidate, const AuditUnit& baseline) {
       return OfShared(candidate, baseline, [](const SecondarySink& c, const SecondarySink& b) {
         if (!c.score || !b.score) return Terms();
         return Terms{.above = *c.score, .below = *b.score};
       });
     },
     TellNothing},
    {"shared_norm_ratio",
     "sum of the MLP norms of the secondary sinks in both sets, divided by the baseline's",
     Basis::kSinks,
     [](const AuditUnit& candidate, const AuditUnit& baseline) {
       return OfShared(candidate, baseline, [](const SecondarySink& c, const SecondarySink& b) {
         return Terms{.above = c.mlp_norm, .below = b.mlp_norm};
       });
     },
     TellNothing},
};

Reading Compare(const PairRow& row, UnitSpan candidate, UnitSpan baseline) {
  Terms sums;
  for (const auto& [mine, theirs] : PairsOf(candidate, baseline)) {
    const Terms terms = row.terms(*mine, *theirs);
    sums.above += terms.above;
    sums.below += terms.below;
  }
  if (sums.below == 0) return {.value = std::nullopt, .detail = "the sets share no such sinks"};
  return {.value = sums.above / sums.below, .detail = row.tell(sums)};
}

}  // namespace

void AddPairMeasures(std::vector<Measure>& measures) {
  for (const PairRow& row : kRows) {
    Measure measure;
    measure.name = row.name;
    measure.text = row.text;
    measure.basis = row.basis;
    measure.candidate_counts = row.basis == Basis::kSamples;  // it may have lost all its sinks
    measure.count = [&row](const MeasureOptions&, UnitSpan units) {
      int64_t count = 0;
      for (const AuditUnit* unit : units) {
        count += row.basis == Basis::kSamples ? 1 : static_cast<int64_t>(unit->sinks.size());
      }
      return count;
    };
    measure.compare = [&row](const MeasureOptions&, UnitSpan candidate, UnitSpan baseline) {
      return Compare(row, candidate, baseline);
    };
    measure.weighted_pairs = [&row](const MeasureOptions&, std::span<const UnitPair> pairs) {
      std::vector<Terms> terms;
      for (const auto& [mine, theirs] : pairs) terms.push_back(row.terms(*mine, *theirs));
      return WeightedRatio(std::move(terms));
    };
    measure.of_pairs = true;
    measures.push_back(std::move(measure));
  }
}

}  // namespace sinkd

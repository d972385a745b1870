#include "server/analysis/portrait.h"

#include <gmock/gmock.h>

#include "server/analysis/catalog.h"
#include "tests/analysis/spec_text.h"

namespace sinkd {
namespace {

using testing::ElementsAre;

// Norm of layer l at position t: `norm(l, t)`.
template <typename Norm>
Trace TraceOf(int64_t layers, int64_t positions, const Norm& norm) {
  Trace trace{.layers = layers, .positions = positions};
  for (int64_t l = 0; l < layers; ++l) {
    for (int64_t t = 0; t < positions; ++t) trace.state_norm.push_back(norm(l, t));
  }
  return trace;
}

TEST(Portrait, OfAShortSampleHasAColumnPerPosition) {
  const v1::Portrait portrait = DrawPortrait(
      TraceOf(2, 3, [](int64_t l, int64_t t) { return static_cast<float>(10 * l + t); }));
  EXPECT_EQ(portrait.columns(), 3);
  EXPECT_THAT(portrait.state_norms(), ElementsAre(0, 1, 2, 10, 11, 12));
}

TEST(Portrait, OfALongSampleShowsEveryPeak) {
  constexpr int64_t kPositions = 3000;
  constexpr int64_t kPeak = 1777;
  const v1::Portrait portrait = DrawPortrait(
      TraceOf(1, kPositions, [](int64_t, int64_t t) { return t == kPeak ? 9.0F : 1.0F; }));
  EXPECT_EQ(portrait.columns(), kPortraitColumns);
  ASSERT_EQ(portrait.state_norms_size(), kPortraitColumns);
  int64_t peaks = 0;
  for (int64_t c = 0; c < portrait.columns(); ++c) {
    const bool holds_it = c * kPositions / portrait.columns() <= kPeak &&
                          kPeak < (c + 1) * kPositions / portrait.columns();
    EXPECT_EQ(portrait.state_norms(static_cast<int>(c)), holds_it ? 9.0F : 1.0F) << c;
    peaks += holds_it ? 1 : 0;
  }
  EXPECT_EQ(peaks, 1);
}

TEST(Portrait, IsDrawnOfTheFirstSamplesAlone) {
  const Trace trace = TraceOf(2, 3, [](int64_t, int64_t) { return 1.0F; });
  const v1::AnalysisSpec spec = SpecFrom("portrait { samples: 2 }");
  for (const AnalysisEntry& analysis : Analyses()) {
    if (analysis.name != "portrait") continue;
    for (int64_t index = 0; index < 4; ++index) {
      v1::SampleRecord record;
      record.set_sample_index(index);
      analysis.fill(spec, trace, record);
      EXPECT_EQ(record.has_portrait(), index < 2) << index;
    }
    return;
  }
  FAIL() << "not in the catalog";
}

}  // namespace
}  // namespace sinkd

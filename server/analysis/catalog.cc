#include "server/analysis/catalog.h"

#include "server/analysis/compensation.h"
#include "server/analysis/compensation_curves.h"
#include "server/analysis/level_histogram.h"
#include "server/analysis/mlp_regression.h"
#include "server/analysis/portrait.h"
#include "server/analysis/score_statistics.h"
#include "server/analysis/sink_rate.h"
#include "server/analysis/sink_scores.h"

namespace sinkd {
namespace {

void FillSinkRate(const v1::AnalysisSpec& spec, const Trace& trace, SampleRecord& record) {
  record.sink_rate = CountSinkRate(spec, trace);
}

void FillCompensation(const v1::AnalysisSpec& spec, const Trace& trace, SampleRecord& record) {
  record.compensation = MakeCompensationCurves(spec, trace, record);
}

void FillPortrait(const v1::AnalysisSpec& spec, const Trace& trace, SampleRecord& record) {
  if (record.sample_index < spec.portrait().samples()) record.portrait = DrawPortrait(trace);
}

const AnalysisEntry kAnalyses[] = {
    {.name = "detection",
     .description = "Finds the primary sink, its window, and every later sink with its level",
     .needs = "norms and cosines of the residual stream",
     .needs_attention = false,
     .requested = [](const v1::AnalysisSpec&) { return true; },
     .fill = nullptr,
     .accumulate = nullptr},
    {.name = "scores",
     .description = "Mean attention each sink receives in the blocks that read it",
     .needs = "column sums of the attention weights",
     .needs_attention = true,
     .requested = [](const v1::AnalysisSpec& spec) { return spec.has_scores(); },
     .fill = ScoreRecord,
     .accumulate = [](const v1::AnalysisSpec&) -> std::unique_ptr<Accumulator> {
       return std::make_unique<ScoreAccumulator>();
     }},
    {.name = "sink_rate",
     .description = "Share of heads in which a position receives more attention than epsilon",
     .needs = "column sums of the attention weights, over the first tokens alone when asked for",
     .needs_attention = true,
     .requested = [](const v1::AnalysisSpec& spec) { return spec.has_sink_rate(); },
     .fill = FillSinkRate,
     .accumulate = [](const v1::AnalysisSpec&) -> std::unique_ptr<Accumulator> {
       return std::make_unique<SinkRateAccumulator>();
     }},
    {.name = "levels",
     .description = "Histogram of sink levels: first layer and lifetime, by kind",
     .needs = "norms and cosines of the residual stream",
     .needs_attention = false,
     .requested = [](const v1::AnalysisSpec& spec) { return spec.has_levels(); },
     .fill = nullptr,
     .accumulate = [](const v1::AnalysisSpec& spec) -> std::unique_ptr<Accumulator> {
       return std::make_unique<LevelAccumulator>(spec.levels());
     }},
    {.name = "regression",
     .description = "Fits of sink score and lifetime against the MLP norm where the sink starts",
     .needs = "norms of the MLP outputs, column sums of the attention weights",
     .needs_attention = true,
     .requested = [](const v1::AnalysisSpec& spec) { return spec.has_regression(); },
     .fill = ScoreRecord,
     .accumulate = [](const v1::AnalysisSpec& spec) -> std::unique_ptr<Accumulator> {
       return std::make_unique<MlpRegressionAccumulator>(spec.regression());
     }},
    {.name = "compensation",
     .description = "Attention of the primary and the secondary sinks, block by block",
     .needs = "column sums of the attention weights",
     .needs_attention = true,
     .requested = [](const v1::AnalysisSpec& spec) { return spec.has_compensation(); },
     .fill = FillCompensation,
     .accumulate = [](const v1::AnalysisSpec& spec) -> std::unique_ptr<Accumulator> {
       return std::make_unique<CompensationAccumulator>(spec.compensation());
     }},
    {.name = "portrait",
     .description = "Text and norms of the first samples, kept whole for pictures",
     .needs = "norms of the residual stream",
     .needs_attention = false,
     .requested = [](const v1::AnalysisSpec& spec) { return spec.has_portrait(); },
     .fill = FillPortrait,
     .accumulate = nullptr},
};

}  // namespace

std::span<const AnalysisEntry> Analyses() {
  return kAnalyses;
}

}  // namespace sinkd

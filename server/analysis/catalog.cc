#include "server/analysis/catalog.h"

#include <algorithm>
#include <iterator>
#include <string>

#include <google/protobuf/descriptor.h>

#include "server/analysis/compensation.h"
#include "server/analysis/compensation_curves.h"
#include "server/analysis/heads.h"
#include "server/analysis/level_histogram.h"
#include "server/analysis/mlp_regression.h"
#include "server/analysis/portrait.h"
#include "server/analysis/score_statistics.h"
#include "server/analysis/sink_rate.h"
#include "server/analysis/sink_scores.h"

namespace sinkd {
namespace {

void FillSinkRate(const v1::AnalysisSpec& spec, const Trace& trace, v1::SampleRecord& record) {
  *record.mutable_sink_rate() = CountSinkRate(spec, trace);
}

void FillCompensation(const v1::AnalysisSpec& spec, const Trace& trace, v1::SampleRecord& record) {
  *record.mutable_compensation() = MakeCompensationCurves(spec, trace, record);
}

void FillPortrait(const v1::AnalysisSpec& spec, const Trace& trace, v1::SampleRecord& record) {
  if (record.sample_index() >= spec.portrait().samples()) return;
  *record.mutable_portrait() = DrawPortrait(trace);
}

template <typename Made>
std::unique_ptr<Accumulator> Plain(const v1::AnalysisSpec& /*spec*/) {
  return std::make_unique<Made>();
}

constexpr AnalysisEntry kAnalyses[] = {
    {.name = "detection",
     .description = "Finds the primary sink, its window, and every later sink with its level",
     .needs = "norms and cosines of the residual stream"},
    {.name = "scores",
     .description = "Mean attention each sink receives in the blocks that read it",
     .needs = "column sums of the attention weights",
     .needs_attention = true,
     .fill = ScoreRecord,
     .accumulate = Plain<ScoreAccumulator>,
     .folds = "scores"},
    {.name = "sink_rate",
     .description = "Share of heads in which a position receives more attention than epsilon",
     .needs = "column sums of the attention weights, over the first tokens alone when asked for",
     .needs_attention = true,
     .fill = FillSinkRate,
     .check = CheckSinkRate,
     .accumulate = Plain<SinkRateAccumulator>,
     .folds = "sink_rate",
     .of_sinks = false,
     .of_single_sinks = false,
     .parameters_in_record = true},
    {.name = "levels",
     .description = "Histogram of sink levels: first layer and lifetime, by kind",
     .needs = "norms and cosines of the residual stream",
     .accumulate = [](const v1::AnalysisSpec& spec) -> std::unique_ptr<Accumulator> {
       return std::make_unique<LevelAccumulator>(spec.levels());
     }},
    {.name = "regression",
     .description = "Fits of sink score and lifetime against the MLP norm where the sink starts",
     .needs = "norms of the MLP outputs, column sums of the attention weights",
     .needs_attention = true,
     .fill = ScoreRecord,
     .accumulate = [](const v1::AnalysisSpec& spec) -> std::unique_ptr<Accumulator> {
       return std::make_unique<MlpRegressionAccumulator>(spec.regression());
     },
     .folds = "scores"},
    {.name = "compensation",
     .description = "Attention of the primary and the secondary sinks, block by block",
     .needs = "column sums of the attention weights",
     .needs_attention = true,
     .fill = FillCompensation,
     .check = CheckCompensationCurves,
     .accumulate = [](const v1::AnalysisSpec& spec) -> std::unique_ptr<Accumulator> {
       return std::make_unique<CompensationAccumulator>(spec.compensation());
     },
     .folds = "compensation",
     .of_single_sinks = false},
    {.name = "heads",
     .description = "What each head does: entropy, where its attention goes, what its values add",
     .needs = "sums over columns and rows of the attention weights, norms of projected values",
     .needs_attention = true,
     .fill = FillHeads,
     .check = CheckHeads,
     .accumulate = [](const v1::AnalysisSpec& spec) -> std::unique_ptr<Accumulator> {
       return std::make_unique<HeadAccumulator>(spec.heads());
     },
     .folds = "heads",
     .of_single_sinks = false},
    {.name = "portrait",
     .description = "Text and norms of the first samples, kept whole for pictures",
     .needs = "norms of the residual stream",
     .fill = FillPortrait,
     .check = CheckPortrait},
};

const google::protobuf::FieldDescriptor* FieldOf(const AnalysisEntry& analysis) {
  return v1::AnalysisSpec::descriptor()->FindFieldByName(std::string(analysis.name));
}

}  // namespace

std::span<const AnalysisEntry> Analyses() {
  return kAnalyses;
}

const AnalysisEntry& AnalysisNamed(std::string_view name) {
  return *std::find_if(std::begin(kAnalyses), std::end(kAnalyses),
                       [name](const AnalysisEntry& analysis) { return analysis.name == name; });
}

bool Requested(const AnalysisEntry& analysis, const v1::AnalysisSpec& spec) {
  return spec.GetReflection()->HasField(spec, FieldOf(analysis));
}

void Drop(const AnalysisEntry& analysis, v1::AnalysisSpec& spec) {
  spec.GetReflection()->ClearField(&spec, FieldOf(analysis));
}

const google::protobuf::Message& ParametersOf(const AnalysisEntry& analysis,
                                              const v1::AnalysisSpec& spec) {
  return spec.GetReflection()->GetMessage(spec, FieldOf(analysis));
}

}  // namespace sinkd

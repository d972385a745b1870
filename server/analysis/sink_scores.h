// Sink scores: alpha, the attention a position receives (Gu et al. 2024, arXiv 2410.10781), and its
// mean over the blocks with attention that read a sink (definitions: Attention received and sink
// scores).
//
// alpha[l,h,k] divides attention_sum by T-k. With exclude_self the position's attention to itself
// is taken off and the divisor is T-1-k; QUERY_DIVISOR_ALL divides by T, with or without
// exclude_self. With exclude_self the last position has no alpha under either divisor, for nobody
// is left to attend to it. A difference that rounding took below zero is zero.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// False for the last of `positions` under exclude_self.
bool HasAlpha(const v1::ScoreParameters& parameters, int64_t positions, int64_t k);

// alpha of position k of a sample of `positions` tokens from the sum over its queries and its
// attention to itself (read under exclude_self only). HasAlpha must hold.
double AlphaFromSum(const v1::ScoreParameters& parameters, int64_t positions, int64_t k, double sum,
                    double self);

// alpha[block, head, k]. HasAlpha must hold.
double Alpha(const v1::ScoreParameters& parameters, const Trace& trace, int64_t block, int64_t head,
             int64_t k);

// Mean over heads of alpha[block, :, k]. HasAlpha must hold.
double MeanAlpha(const v1::ScoreParameters& parameters, const Trace& trace, int64_t block,
                 int64_t k);

// Fills score, score_maximum and, when asked for, score_curve. They stay empty where undefined:
// the scores when no block with attention reads the sink, all three when its position has no alpha.
// What the sink held of them before is overwritten.
void ScoreSink(const v1::ScoreParameters& parameters, const Trace& trace, v1::Sink& sink);

// Scores the record's primary sink and its sinks.
void ScoreRecord(const v1::AnalysisSpec& spec, const Trace& trace, v1::SampleRecord& record);

}  // namespace sinkd

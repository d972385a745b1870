// SampleRecord: what is known of one sample after its pass. Records are streamed, stored, imported,
// sharded and merged; every summary is a fold over records (summary.h) and needs nothing else.
//
// Layers and positions count from 0; layer l means the output of block l. "Block" in attention
// numbers is the block that reads: block l+1 reads layer l. A is the number of blocks with softmax
// attention; what has one value for each of them, [A], is in the order of attention_blocks.
// Thread-safety: plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinkd {

enum class SinkKind { kPrimary, kSecondary, kNoise };

struct Level {
  int32_t l_start = 0;   // first layer at which the sink shows
  int32_t lifetime = 0;  // number of layers at which it shows
  auto operator<=>(const Level&) const = default;
};

struct Sink {
  int32_t position = 0;
  int32_t token_id = 0;
  std::string token_text;
  SinkKind kind = SinkKind::kNoise;
  Level level;
  std::vector<int32_t> layers;  // ascending
  bool contiguous = true;       // no gap in `layers`
  double margin = 0;            // min over the window of | |cos| - threshold |
  double mlp_norm = 0;          // ||mlp_out[l_start, position]||2
  double state_norm = 0;        // ||state[l_start, position]||2
  std::optional<double> score;  // mean alpha over reading blocks with attention and heads; empty
                                // when no such block reads it, or scores were not computed
  std::optional<double> score_maximum;  // over reading blocks of the mean over heads
  std::vector<float> score_curve;       // [A] mean over heads of alpha per block, when requested
};

// Definitions: Compensation.
struct CompensationCurves {
  std::vector<float> primary;       // [A] mean_h alpha[l,h,p0]
  std::vector<float> secondary;     // [A] sum over secondary sinks of mean_h alpha[l,h,k]
  std::vector<float> rest;          // [A] the same sum over all other positions
  std::vector<float> primary_norm;  // [L] ||state[l,p0]||2
};

// Counts for Gu et al.'s sink rate of one sample.
struct SinkRateCounts {
  bool left_out = false;      // shorter than first_tokens
  int64_t cells = 0;          // A * H: (block, head) pairs counted for each position
  std::vector<int64_t> hits;  // [min(positions, T)] pairs with alpha > epsilon
  int64_t undefined = 0;      // positions without a value (exclude_self at the last one)
};

// A token whose MLP input has an outlier in some layer (Trace::outlier_ratio).
struct OutlierToken {
  int32_t position = 0;
  int32_t token_id = 0;
  double ratio = 0;
};

struct OutlierTokens {
  int64_t count = 0;
  std::vector<OutlierToken> largest;  // ascending positions; at most kMostOutliers, by ratio
};

inline constexpr size_t kMostOutliers = 100;

// Definitions: Gates. [A, H] each.
struct GateMeans {
  std::vector<float> all;        // over all queries
  std::vector<float> primary;    // of the primary sink as a query
  std::vector<float> secondary;  // over the secondary sinks as queries; empty without any
};

// A sample's text and norms (portrait.h).
struct Portrait {
  std::vector<std::string> token_texts;  // [T]
  int64_t columns = 0;
  std::vector<float> state_norms;  // [L, columns]
};

struct SampleRecord {
  int64_t sample_index = 0;  // place in the stream, from 0
  std::string sample_id;     // the caller's name for it; may be empty
  int64_t layers = 0;        // L
  // The blocks with softmax attention, ascending. Empty: all of them, as in records of before.
  std::vector<int32_t> attention_blocks;
  int64_t positions = 0;  // T
  int64_t prompt_tokens = 0;
  int64_t response_tokens = 0;
  bool chat_rendered = false;
  bool token_spans_boundary = false;

  int32_t window_start = 0;  // [start, end) of the primary sink
  int32_t window_end = 0;
  Sink primary;             // p0; its layers are the window
  std::vector<Sink> sinks;  // positions > p0, ascending
  bool undecided = false;   // bfloat16 and some margin under 0.01
  std::string arithmetic;   // what its last digits depend on; empty where it is not known

  std::optional<CompensationCurves> compensation;
  std::optional<SinkRateCounts> sink_rate;
  // [A] mean over queries and heads of the share of the softmax that goes to learned sinks; empty
  // when the model has none, or no analysis looked at attention.
  std::vector<float> learned_sink_mass;
  std::optional<GateMeans>
      gates;  // of a model with gated attention, where any analysis looks at it
  std::optional<Portrait> portrait;
  std::optional<OutlierTokens> outliers;  // empty where they were not counted

  // A: how many values a curve over the blocks with attention has.
  int64_t AttentionBlocks() const {
    return attention_blocks.empty() ? layers : static_cast<int64_t>(attention_blocks.size());
  }
  // The block of each of them.
  int32_t AttentionBlock(int64_t i) const {
    return attention_blocks.empty() ? static_cast<int32_t>(i)
                                    : attention_blocks[static_cast<size_t>(i)];
  }
};

}  // namespace sinkd

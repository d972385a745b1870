// DecoderSpec: a decoder-only transformer as plain data. A model family is a function from
// config.json to this struct plus weight names; the forward pass (decoder.h) is written once and
// reads nothing else.
//
// Thread-safety: plain values.
// Source of the rules: transformers 4.57.1, modeling_<family>.py and modeling_rope_utils.py.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sinkd {

enum class RopeKind { kDefault, kLinear, kLlama3, kYarn };

// Rotary position embedding. Angles of pair i at position t are t * inverse_frequency[i].
struct RopeSpec {
  RopeKind kind = RopeKind::kDefault;
  double theta = 10000.0;
  double factor = 1.0;                 // linear, llama3, yarn
  double low_frequency_factor = 1.0;   // llama3
  double high_frequency_factor = 4.0;  // llama3
  double original_positions = 0.0;     // llama3, yarn
  double beta_fast = 32.0;             // yarn
  double beta_slow = 1.0;              // yarn
  bool truncate = true;                // yarn: floor/ceil of the correction range
  double attention_factor = 1.0;       // multiplies cos and sin (yarn), already resolved
};

enum class Activation { kSilu };

struct DecoderSpec {
  std::string architecture;    // model_type of config.json: "llama", "qwen2", "qwen3"
  int64_t blocks = 0;          // L
  int64_t hidden = 0;          // C
  int64_t intermediate = 0;    // width of gate and up
  int64_t heads = 0;           // H query heads
  int64_t kv_heads = 0;        // K key/value heads, divides H
  int64_t head_size = 0;       // D
  int64_t vocabulary = 0;      // rows of the embedding
  int64_t max_positions = 0;   // config's max_position_embeddings: the longest sample
  double norm_epsilon = 1e-6;  // RMS norm
  Activation activation = Activation::kSilu;
  RopeSpec rope;
  bool qkv_bias = false;
  bool output_bias = false;  // o_proj
  bool mlp_bias = false;
  bool head_norms = false;  // RMS norm over D on q and k, per head, before rotary
  bool tied_head = false;
  std::vector<int64_t> window;  // per block: attention window counting the query, 0 = full
  std::string dtype;            // as stored: "float32", "bfloat16", "float16"; empty when not said
};

// Names of the tensors of one block, without the ".weight" / ".bias" suffix.
struct BlockWeightNames {
  std::string attention_norm, q, k, v, o, q_norm, k_norm, mlp_norm, gate, up, down;
};

struct WeightNames {
  std::string embedding, final_norm, head;
  std::string block_prefix;  // "model.layers." : block l is block_prefix + l + "." + name
  BlockWeightNames block;
};

}  // namespace sinkd

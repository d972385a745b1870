// AttentionWay: by which code a block's attention is computed. It follows from the device, the
// number format, the model's shape and --attention. Internal to the engine.
//
// Thread-safety: all functions may be called from any thread, ChooseAttention (model.h) only before
// all others.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <c10/core/Device.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/forward/fused_calls.h"
#include "server/engine/placement.h"

namespace sinkd {

struct AttentionInput;

// Whether attention of a bfloat16 model may round queries and keys on such a device, which fused
// calls always do; elsewhere it stays in float32.
bool NarrowsAttention(c10::DeviceType device);

// What the choice depends on.
struct AttentionTraits {
  c10::DeviceType device = c10::kCPU;
  bool bfloat16 = false;  // whether queries and keys may be rounded to it
  int64_t channels = 0;   // of a head's keys or values, whichever are more
  double scale = 1;
  // Why only strips can compute it: "a soft cap"; empty if other ways can.
  std::string_view obstacle;
};

AttentionTraits TraitsOf(const AttentionInput& input);
AttentionTraits TraitsOf(const DecoderSpec& spec, int64_t block, c10::DeviceType device,
                         bool bfloat16);

struct AttentionWay {
  enum class Kind { kStrips, kFusedOnCpu, kTwoCalls };
  Kind kind = Kind::kStrips;
  const FusedCall* call = nullptr;  // of kTwoCalls
};
AttentionWay WayOf(const AttentionTraits& traits);

// What is wrong with `call` on `device`; empty if it agrees with strips on a small input. The first
// question about a call and a device tries it. Throws if the device is out of memory.
std::string FaultOf(const FusedCall& call, const c10::Device& device);

// Of a model: how its blocks compute attention, as in ModelInfo, and what is wrong with calls that
// it would have used.
struct AttentionSummary {
  std::string ways;
  std::string fault;  // or empty
};
AttentionSummary SummarizeAttention(const DecoderSpec& spec, std::span<const BlockSpan> spans,
                                    bool bfloat16);

}  // namespace sinkd

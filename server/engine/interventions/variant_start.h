// VariantStart: what a variant changes at the block of its first edit. Internal to the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "server/engine/edits.h"
#include "server/engine/forward/decoder_pass.h"
#include "server/engine/trace.h"
#include "server/engine/weights/weights.h"

namespace sinkd {

// The base's values at one block.
struct BaseBlock {
  int64_t block = 0;
  const BlockWeights* weights = nullptr;
  at::Tensor in;         // [T, C]
  at::Tensor attention;  // [T, C] attn_out
  at::Tensor out;        // [T, C]
};

struct VariantStart {
  bool whole_block = false;        // how the block attends is edited: it runs again as a whole
  std::vector<int64_t> positions;  // edited there, ascending
  std::vector<float> mlp_norm;     // of these
  at::Tensor out;                  // [positions, C] what the block gives there
};

// The block of the first edit that names something; empty for none.
std::optional<int64_t> FirstEditedBlock(const Variant& variant);

// `variant`'s edits at the base's block, nothing but whole_block where that is set; `pass` is of
// the same model.
VariantStart StartVariant(DecoderPass& pass, const BaseBlock& base, const Variant& variant);

// The whole output of the base's block, [T, C], as the variant has it.
at::Tensor StateAfterStart(const BaseBlock& base, const VariantStart& start);

// Fills `trace`, of a pass that went on from `block`, with what it has from the base: layers before
// `block`, and at it all but the states, or nothing where the whole block ran again. Layers from
// `end` on are left alone.
void TakeFromBase(const Trace& base, int64_t block, int64_t end, const VariantStart& start,
                  Trace& trace);

// `base` with nothing in layers from `end` on.
Trace CutTrace(const Trace& base, int64_t end);

}  // namespace sinkd

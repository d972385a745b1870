// Adapts a family's tensor names to a checkpoint. Internal to the engine.
#pragma once

#include "server/engine/checkpoint/checkpoint.h"
#include "server/engine/decoder_spec.h"

namespace sinkd {

// `names` with the prefix that `checkpoint` uses: the family's, none (base models), or a longer one
// (the text half of a multimodal model). If embedding and head are tied and only the head is
// stored, the head's name also stands for the embedding. Unchanged if no embedding is found.
WeightNames ResolveNames(const Checkpoint& checkpoint, const DecoderSpec& spec, WeightNames names);

}  // namespace sinkd

// The names of a checkpoint's tensors as this checkpoint writes them. Internal to the engine.
#pragma once

#include "server/engine/checkpoint/checkpoint.h"
#include "server/engine/decoder_spec.h"

namespace sinkd {

// `names` with the prefix that `checkpoint` uses: the family's, none (base models), or more before
// it (the text half of a multimodal model); and with the head for the embedding where the two are
// tied and only the head is stored. Unchanged when no embedding is found.
WeightNames ResolveNames(const Checkpoint& checkpoint, const DecoderSpec& spec, WeightNames names);

}  // namespace sinkd

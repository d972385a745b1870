// The torch side of a Model. Internal to the engine; tests that compare whole tensors include it.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/decoder.h"
#include "server/engine/model.h"
#include "server/engine/weights.h"

namespace sinkd {

struct Model::Internals {
  Internals(DecoderSpec decoder_spec, DecoderWeights decoder_weights)
      : spec(std::move(decoder_spec)),
        weights(std::move(decoder_weights)),
        decoder(spec, weights) {}

  DecoderSpec spec;
  DecoderWeights weights;
  Decoder decoder;
};

// Ids of a batch end to end, on `device`.
PackedBatch Pack(std::span<const TokenIds> batch, const at::Device& device);

}  // namespace sinkd

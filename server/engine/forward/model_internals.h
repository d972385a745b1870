// The torch side of a Model. Internal to the engine; tests that compare whole tensors include it.
#pragma once

#include <memory>
#include <utility>

#include <ATen/core/Tensor.h>

#include "server/engine/forward/decoder.h"
#include "server/engine/forward/head.h"
#include "server/engine/model.h"
#include "server/engine/weights/block_source.h"
#include "server/engine/weights/weights.h"

namespace sinkd {

struct Model::Internals {
  Internals(DecoderSpec decoder_spec, OuterWeights outer_weights,
            std::unique_ptr<BlockSource> block_source, HeadFile head)
      : spec(std::move(decoder_spec)),
        outer(std::move(outer_weights)),
        blocks(std::move(block_source)),
        head_file(std::move(head)),
        decoder(spec, outer, *blocks) {}

  DecoderSpec spec;
  OuterWeights outer;
  std::unique_ptr<BlockSource> blocks;
  HeadFile head_file;
  Decoder decoder;
};

// Whether a model can run `ids`, the sample `index` of its batch: INVALID_ARGUMENT as in
// Model::Run.
absl::Status CheckSample(const DecoderSpec& spec, size_t index, const TokenIds& ids);

// Ids of a batch end to end, on `device`.
PackedBatch Pack(std::span<const TokenIds> batch, const at::Device& device);

}  // namespace sinkd

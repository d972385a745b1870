// Head: the matrix that turns final states into logits, run for losses alone. Internal to the
// engine; intervention.h declares it to others.
//
// Thread-safety: const methods may be called from several threads.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"

namespace sinkd {

// Where a model's head is read from when somebody wants one.
struct HeadFile {
  std::filesystem::path folder;
  std::string name;  // of its tensors, without the ".weight" of an untied one and ".bias"
};

// What a head says of some rows.
struct RowPredictions {
  at::Tensor states;      // [rows, width] float32, what it read; undefined with a base
  at::Tensor losses;      // [rows] float64: -ln p(target)
  at::Tensor log_total;   // [rows] float64: ln of the sum of exp(logit)
  at::Tensor choices;     // [rows] int64: the most likely token, the lowest of equals
  at::Tensor divergence;  // [rows] float64: KL(base || these) in nats; undefined without a base
};

class Head {
 public:
  // `weights` [vocabulary, width] as Linear takes them; `bias` [vocabulary] or undefined.
  Head(at::Tensor weights, at::Tensor bias, const DecoderSpec& spec)
      : weights_(std::move(weights)),
        bias_(std::move(bias)),
        scale_(spec.logit_scale),
        cap_(spec.logit_cap) {}

  // -ln p(target) of each row, [rows] float64: `states` [rows, width] float32 as kFinalNorm shows
  // them, `targets` [rows] int64. Some of the vocabulary at a time, so that logits stay small.
  // Without meaning once `stop` is triggered, which is checked between them.
  at::Tensor Losses(const at::Tensor& states, const at::Tensor& targets,
                    const std::stop_token& stop) const;

  // The same and more. `base`: null, or of B rows that `states` has n times, [n B, width], in the
  // same order each time.
  RowPredictions Predict(const at::Tensor& states, const at::Tensor& targets,
                         const RowPredictions* base, const std::stop_token& stop) const;

 private:
  // Calls `add(first, logits)` for some tokens after others, until `stop` is triggered.
  template <typename Add>
  void ForEachPart(const at::Tensor& states, const std::stop_token& stop, Add add) const;

  // Float32 logits of tokens `first` to `first + count` - 1.
  at::Tensor Logits(const at::Tensor& states, int64_t first, int64_t count) const;

  at::Tensor weights_;
  at::Tensor bias_;
  double scale_;
  double cap_;
};

}  // namespace sinkd

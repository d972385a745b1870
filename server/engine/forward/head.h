// Head: the matrix that turns final states into logits, run for losses alone. Internal to the
// engine; intervention.h declares it to others.
//
// Thread-safety: const methods may be called from several threads.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include <ATen/core/Tensor.h>

namespace sinkd {

// Where a model's head is read from when somebody wants one.
struct HeadFile {
  std::filesystem::path folder;
  std::string tensor;  // of an untied head
};

class Head {
 public:
  // `weights` [vocabulary, width] as Linear takes them; `cap` as DecoderSpec::logit_cap.
  Head(at::Tensor weights, double cap) : weights_(std::move(weights)), cap_(cap) {}

  // -ln p(target) of each row, [rows] float64: `states` [rows, width] float32 as kFinalNorm shows
  // them, `targets` [rows] int64. Some of the vocabulary at a time, so that logits stay small.
  // Without meaning once `stop` is triggered, which is checked between them.
  at::Tensor Losses(const at::Tensor& states, const at::Tensor& targets,
                    const std::stop_token& stop) const;

 private:
  // Float32 logits of tokens `first` to `first + count` - 1.
  at::Tensor Logits(const at::Tensor& states, int64_t first, int64_t count) const;

  at::Tensor weights_;
  double cap_;
};

}  // namespace sinkd

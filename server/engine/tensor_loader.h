// TensorLoader: tensors of a checkpoint onto a device, each checked for shape, dtype and finite
// values and cast to the compute type. Internal to the engine.
//
// Errors: FAILED_PRECONDITION naming file and tensor; CANCELLED.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include "server/engine/checkpoint.h"
#include "server/engine/model.h"

namespace sinkd {

// An error about the tensor `tensor`, of `file` where that is known.
absl::Status BadTensor(std::string_view file, std::string_view tensor, std::string_view what,
                       std::string_view fix);

class TensorLoader {
 public:
  // All references are borrowed and must outlive the loader.
  TensorLoader(const Checkpoint& checkpoint, at::ScalarType dtype, const at::Device& device,
               const std::function<void(const LoadProgress&)>& progress,
               const std::stop_token& stop);

  void ExpectBytes(int64_t total) { loaded_.bytes_total = total; }

  // The tensor `name` of `shape`.
  absl::StatusOr<at::Tensor> Load(const std::string& name, at::IntArrayRef shape);

  // Several tensors stacked along the first axis; `parts` are (name, rows).
  absl::StatusOr<at::Tensor> LoadStacked(const std::vector<std::pair<std::string, int64_t>>& parts,
                                         at::IntArrayRef row_shape);

  // The bytes of `name`, stored as U8 of `shape`.
  absl::StatusOr<at::Tensor> LoadBytes(const std::string& name, at::IntArrayRef shape);

  bool Has(const std::string& name) const { return checkpoint_.Find(name) != nullptr; }
  at::ScalarType dtype() const { return dtype_; }

  const std::set<std::string>& used() const { return used_; }

 private:
  absl::StatusOr<const Checkpoint::Location*> Find(const std::string& name,
                                                   at::IntArrayRef shape) const;
  absl::Status LoadInto(const std::string& name, const Checkpoint::Location& location,
                        const at::Tensor& target);
  void Count(const std::string& name, int64_t bytes);

  const Checkpoint& checkpoint_;
  at::ScalarType dtype_;
  at::Device device_;
  const std::function<void(const LoadProgress&)>& progress_;
  const std::stop_token& stop_;
  LoadProgress loaded_;
  std::set<std::string> used_;
};

}  // namespace sinkd

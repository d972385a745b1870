// TensorLoader: the interface that loads the tensors a family names. Internal to the engine.
//
// Name, shape and dtype of each tensor are checked before memory is allocated, since a wrong
// config.json may ask for any size. Tensors are returned in the compute type.
// Errors: FAILED_PRECONDITION naming file and tensor; CANCELLED.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include "server/engine/checkpoint/checkpoint.h"

namespace sinkd {

// A range of a tensor's first axis.
struct RowRange {
  int64_t first = 0;
  int64_t rows = -1;  // -1: all of them
};

class TensorLoader {
 public:
  using Parts = std::vector<std::pair<std::string, int64_t>>;  // (name, rows)

  explicit TensorLoader(at::ScalarType dtype) : dtype_(dtype) {}
  virtual ~TensorLoader() = default;

  // The tensor `name` of `shape`, or some rows of it.
  virtual absl::StatusOr<at::Tensor> Load(const std::string& name, at::IntArrayRef shape,
                                          RowRange range = {}) = 0;

  // Several vectors, concatenated.
  virtual absl::StatusOr<at::Tensor> LoadBiases(const Parts& parts) = 0;

  // Several matrices [rows, in], stacked along their rows in the form that Linear needs (linear.h).
  virtual absl::StatusOr<at::Tensor> LoadWeights(const Parts& parts, int64_t in) = 0;

  // The bytes of `name`, stored as U8 of `shape`, or some rows of them.
  virtual absl::StatusOr<at::Tensor> LoadBytes(const std::string& name, at::IntArrayRef shape,
                                               RowRange range = {}) = 0;

  virtual bool Has(const std::string& name) const = 0;

  // How inputs of the projection with this weight are rounded.
  virtual ActivationScheme ActivationsOf(const std::string& /*weight*/) const { return {}; }

  // Type and device of the returned tensors.
  virtual at::TensorOptions options() const = 0;

  at::ScalarType dtype() const { return dtype_; }

 private:
  at::ScalarType dtype_;
};

// An error about the tensor `tensor`, of `file` if that is known.
absl::Status BadTensor(std::string_view file, std::string_view tensor, std::string_view what,
                       std::string_view fix);

// The location of `name`, after checking shape and dtype. `bytes`: it must be stored as U8.
absl::StatusOr<Checkpoint::Location> FindTensor(const Checkpoint& checkpoint,
                                                const std::string& name, at::IntArrayRef shape,
                                                bool bytes);

// The torch type of a safetensors dtype; empty for dtypes that cannot hold plain weights.
std::optional<at::ScalarType> ScalarTypeOf(std::string_view dtype);

// `shape` with its first axis restricted to `range`.
std::vector<int64_t> ShapeOf(at::IntArrayRef shape, RowRange range);

}  // namespace sinkd

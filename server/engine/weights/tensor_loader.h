// TensorLoader: the tensors that a family names, from wherever they are. Internal to the engine.
//
// Every tensor is checked for name, shape and dtype before memory is asked for, since a wrong
// config.json may name any size, and comes in the compute type.
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

// A part of a tensor's first axis.
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

  // Several vectors, one after the other.
  virtual absl::StatusOr<at::Tensor> LoadBiases(const Parts& parts) = 0;

  // Several matrices [rows, in], one below the other, as Linear wants them (linear.h).
  virtual absl::StatusOr<at::Tensor> LoadWeights(const Parts& parts, int64_t in) = 0;

  // The bytes of `name`, stored as U8 of `shape`, or some rows of them.
  virtual absl::StatusOr<at::Tensor> LoadBytes(const std::string& name, at::IntArrayRef shape,
                                               RowRange range = {}) = 0;

  virtual bool Has(const std::string& name) const = 0;

  // How the inputs of the projection with this weight are rounded.
  virtual ActivationScheme ActivationsOf(const std::string& /*weight*/) const { return {}; }

  // The type and the place of tensors as they come.
  virtual at::TensorOptions options() const = 0;

  at::ScalarType dtype() const { return dtype_; }

 private:
  at::ScalarType dtype_;
};

// An error about the tensor `tensor`, of `file` where that is known.
absl::Status BadTensor(std::string_view file, std::string_view tensor, std::string_view what,
                       std::string_view fix);

// Where `name` is, its shape and its dtype checked. `bytes`: it has to be stored as U8.
absl::StatusOr<Checkpoint::Location> FindTensor(const Checkpoint& checkpoint,
                                                const std::string& name, at::IntArrayRef shape,
                                                bool bytes);

// The torch type of a dtype as safetensors writes it; empty for one that holds no plain weights.
std::optional<at::ScalarType> ScalarTypeOf(std::string_view dtype);

// `shape` with `range` of its first axis.
std::vector<int64_t> ShapeOf(at::IntArrayRef shape, RowRange range);

}  // namespace sinkd

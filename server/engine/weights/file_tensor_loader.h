// FileTensorLoader: reads a checkpoint's tensors onto a device, each checked for finite values and
// cast to the compute type. Internal to the engine.
//
// Thread-safety: one thread. Errors: those of TensorLoader.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/weights/tensor_loader.h"

namespace sinkd {

class FileTensorLoader final : public TensorLoader {
 public:
  // Called with the stored bytes of each tensor, or part of one, once it is on the device.
  using OnBytes = std::function<void(int64_t bytes)>;

  // `checkpoint` is borrowed and must outlive the loader. `on_bytes` may be empty.
  FileTensorLoader(const Checkpoint& checkpoint, at::ScalarType dtype, OnBytes on_bytes,
                   std::stop_token stop);

  // Sets the device of tensors loaded from now on; initially the CPU.
  void LoadOnto(const at::Device& device) { device_ = device; }

  absl::StatusOr<at::Tensor> Load(const std::string& name, at::IntArrayRef shape,
                                  RowRange range) override;
  absl::StatusOr<at::Tensor> LoadBiases(const Parts& parts) override;
  absl::StatusOr<at::Tensor> LoadWeights(const Parts& parts, int64_t in) override;
  absl::StatusOr<at::Tensor> LoadBytes(const std::string& name, at::IntArrayRef shape,
                                       RowRange range) override;
  bool Has(const std::string& name) const override { return checkpoint_.Find(name) != nullptr; }
  ActivationScheme ActivationsOf(const std::string& weight) const override {
    return checkpoint_.ActivationsOf(weight);
  }
  at::TensorOptions options() const override {
    return at::TensorOptions().dtype(dtype()).device(device_);
  }

 private:
  // Checks all parts, each [rows] or [rows, row_shape], then allocates: `make` returns the whole
  // tensor for a number of rows.
  absl::StatusOr<at::Tensor> Stack(const Parts& parts, at::IntArrayRef row_shape,
                                   const std::function<at::Tensor(int64_t rows)>& make);
  // Rows of `target` may have any shape with the same number of values.
  absl::Status LoadInto(const std::string& name, const Checkpoint::Location& location,
                        int64_t first_row, const at::Tensor& target);

  const Checkpoint& checkpoint_;
  const OnBytes on_bytes_;
  const std::stop_token stop_;
  at::Device device_ = at::kCPU;
};

}  // namespace sinkd

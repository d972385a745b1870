// QuantizedSource: the weights of a checkpoint's quantized modules as plain float32 tensors, with
// the names and shapes of the original checkpoint, unpacked while they are read.
//
// Weights of experts that are stacked in one tensor have an additional first axis. The packed bytes
// of one matrix at a time are in memory.
// Ownership: borrows its files. Thread-safety: const methods may run on several threads; they read
// one matrix at a time.
// Errors: FAILED_PRECONDITION naming file and tensor.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/quantized/packed_matrix.h"
#include "server/engine/checkpoint/quantized/stacked_experts.h"
#include "server/engine/checkpoint/tensor_source.h"

namespace sinkd {

class QuantizedSource final : public TensorSource {
 public:
  // Describes every quantized module among `tensors`. Null if there is none.
  static absl::StatusOr<std::unique_ptr<QuantizedSource>> Open(const TensorIndex& tensors,
                                                               const QuantizationConfig& config,
                                                               std::stop_token stop);

  const std::string& name() const override { return name_; }
  const TensorMap& tensors() const override { return tensors_; }
  int64_t header_bytes() const override { return 0; }
  absl::Status Read(std::string_view tensor, int64_t offset, int64_t bytes,
                    void* out) const override;

  // The stored tensors that these weights replace, and those that describe activations.
  const std::set<std::string>& replaced() const { return replaced_; }

 private:
  // One, or one per expert, all of the same shape.
  using Matrices = std::vector<PackedMatrix>;

  struct Opened {
    const PackedMatrix* matrix = nullptr;
    RowUnpacker unpack;
  };

  absl::Status Add(const ModuleTensors& module, Matrices matrices, bool stacked,
                   const TensorIndex& tensors);
  absl::Status OpenMatrix(const PackedMatrix& matrix) const;  // with mutex_ held

  const std::string name_ = "quantized weights";
  TensorMap tensors_;
  std::map<std::string, Matrices, std::less<>> matrices_;
  std::vector<std::unique_ptr<ExpertTensors>> experts_;
  std::set<std::string> replaced_;
  mutable std::mutex mutex_;
  mutable Opened opened_;  // the matrix read last
};

}  // namespace sinkd

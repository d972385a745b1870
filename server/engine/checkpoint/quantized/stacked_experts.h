// Weights of all experts, stored in one tensor [experts, ...] per part, as one module per expert.
//
// Ownership: borrows the checkpoint's tensors. Thread-safety: const methods may run on several
// threads. Errors: FAILED_PRECONDITION naming file and tensor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/quantized/module_tensors.h"

namespace sinkd {

// The parts of one expert: tensors with an axis of experts are indexed by it, all others are
// shared.
class ExpertTensors final : public TensorSource {
 public:
  static absl::StatusOr<std::unique_ptr<ExpertTensors>> Of(const TensorIndex& tensors,
                                                           std::string_view module, int64_t experts,
                                                           int64_t expert);

  const TensorIndex& index() const { return index_; }

  const std::string& name() const override { return name_; }
  const TensorMap& tensors() const override { return tensors_; }
  int64_t header_bytes() const override { return 0; }
  absl::Status Read(std::string_view tensor, int64_t offset, int64_t bytes,
                    void* out) const override;

 private:
  struct Slice {
    TensorLocation whole;
    int64_t first_byte = 0;
  };

  std::string name_;  // of the file
  TensorMap tensors_;
  TensorIndex index_;
  std::map<std::string, Slice, std::less<>> slices_;
};

}  // namespace sinkd

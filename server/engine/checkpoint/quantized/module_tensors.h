// ModuleTensors: the stored tensors of one module by the last part of their names, such as
// "qweight" and "scales" of the module "model.layers.0.mlp.down_proj".
//
// Ownership: borrows the checkpoint's tensors. Records which parts were requested.
// Thread-safety: none while a module is described; a StoredPart may be read from any thread.
// Errors: FAILED_PRECONDITION (BAD_WEIGHTS) naming file and tensor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/tensor_source.h"

namespace sinkd {

struct TensorLocation {
  const TensorSource* file = nullptr;
  const TensorEntry* entry = nullptr;
};
using TensorIndex = std::map<std::string, TensorLocation, std::less<>>;

// A stored tensor with checked dtype and shape.
struct StoredPart {
  std::string name;
  TensorLocation location;

  const std::vector<int64_t>& shape() const { return location.entry->shape; }
  int64_t size() const;  // number of values

  absl::StatusOr<std::vector<uint8_t>> Bytes() const;
  // Reads I32 values as unsigned words.
  absl::StatusOr<std::vector<uint32_t>> Words() const;
  // Reads F32, F16, BF16, F8_E4M3 and F8_E8M0 as float32.
  absl::StatusOr<std::vector<float>> Floats() const;
  // Reads I32 and I64.
  absl::StatusOr<std::vector<int64_t>> Integers() const;

  absl::Status Error(std::string_view what) const;
};

class ModuleTensors {
 public:
  static constexpr int64_t kAny = -1;  // in a shape

  ModuleTensors(const TensorIndex& tensors, std::string module)
      : tensors_(tensors), module_(std::move(module)) {}

  const std::string& module() const { return module_; }
  bool Has(std::string_view part) const;
  std::string_view Dtype(std::string_view part) const;  // empty if there is no such part

  // The part, which must have one of the dtypes and the shape.
  absl::StatusOr<StoredPart> Part(std::string_view part,
                                  std::initializer_list<std::string_view> dtypes,
                                  const std::vector<int64_t>& shape) const;
  // The same with any shape.
  absl::StatusOr<StoredPart> Part(std::string_view part,
                                  std::initializer_list<std::string_view> dtypes) const;

  // An error about the module's weight as a whole.
  absl::Status Error(std::string_view what) const;

  // Names of the requested tensors that exist.
  const std::set<std::string>& used() const { return used_; }

 private:
  std::string NameOf(std::string_view part) const;

  const TensorIndex& tensors_;
  const std::string module_;
  mutable std::set<std::string> used_;
};

}  // namespace sinkd

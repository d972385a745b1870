// TensorGroups: tensors of a checkpoint that differ by their block or expert only, as one.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/repeated_ptr_field.h>

#include "sinks/v1/models.pb.h"

namespace sinkd::cli {

struct TensorGroup {
  std::string pattern;  // "model.layers.{block}.mlp.up_proj.weight"
  std::string shape;    // "[1536, 576]", of each
  std::string type;     // of each
  sinks::v1::TensorUse use = sinks::v1::TENSOR_USE_UNSPECIFIED;
  int64_t count = 0;
  int64_t bytes = 0;  // of all, as stored
};

// "[1536, 576]"; "[]" for a scalar.
std::string ShapeText(const sinks::v1::PlannedTensor& tensor);

// `name` with {block} for its first part that is a number, and {expert} for one behind "experts".
std::string TensorPattern(std::string_view name);

// In the order in which each group first appears.
std::vector<TensorGroup> GroupTensors(
    const google::protobuf::RepeatedPtrField<sinks::v1::PlannedTensor>& tensors);

}  // namespace sinkd::cli

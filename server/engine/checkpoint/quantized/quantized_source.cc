#include "server/engine/checkpoint/quantized/quantized_source.h"

#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using Describe = absl::StatusOr<PackedMatrix> (*)(const ModuleTensors&, const QuantizationConfig&);

bool Strip(std::string_view name, std::string_view part, std::string_view& module) {
  if (!name.ends_with(part)) return false;
  module = name.substr(0, name.size() - part.size());
  return true;
}

// What reads the weight that `name` belongs to, where the name alone or its dtype says that it is
// quantized; null for any other tensor. `module` becomes its module.
Describe FormatOf(std::string_view name, const TensorLocation& location, const TensorIndex& tensors,
                  const QuantizationConfig& config, std::string_view& module) {
  if (Strip(name, ".qweight", module)) {
    if (config.method == "gptq") return DescribeGptq;
    return config.method == "awq" ? DescribeAwq : nullptr;
  }
  const std::string& dtype = location.entry->dtype;
  if (Strip(name, ".weight_packed", module)) {
    return dtype == "I32" ? DescribePackedIntegers : DescribeFp4;
  }
  if (!Strip(name, ".weight", module)) return nullptr;
  const auto has = [&](std::string_view part) { return tensors.contains(StrCat(module, part)); };
  if (dtype == "I8") return has(".SCB") ? DescribeBitsAndBytes8 : DescribeScaledBytes;
  if (dtype == "F8_E4M3") {
    return has(".weight_scale") || has(".weight_scale_inv") ? DescribeScaledBytes : nullptr;
  }
  if (dtype != "U8") return nullptr;
  return has(".weight_scale_2") ? DescribeFp4 : DescribeBitsAndBytes4;
}

// How activations or the cache were to be rounded, which is left out, and notes of the tools.
constexpr std::string_view kUnreadParts[] = {
    ".input_scale",  ".input_zero_point", ".input_global_scale",
    ".output_scale", ".activation_scale", ".weight_format",
    ".k_scale",      ".v_scale"};

}  // namespace

absl::StatusOr<std::unique_ptr<QuantizedSource>> QuantizedSource::Open(
    const TensorIndex& tensors, const QuantizationConfig& config, std::stop_token stop) {
  auto source = std::make_unique<QuantizedSource>();
  for (const auto& [name, location] : tensors) {
    if (stop.stop_requested()) return Cancelled("opening the checkpoint was cancelled");
    std::string_view stem;
    const Describe describe = FormatOf(name, location, tensors, config, stem);
    if (describe == nullptr) continue;
    const ModuleTensors module(tensors, std::string(stem));
    SINKD_ASSIGN_OR_RETURN(PackedMatrix matrix, describe(module, config));
    SINKD_RETURN_IF_ERROR(source->Add(module, std::move(matrix), tensors));
  }
  if (source->tensors_.empty()) return nullptr;
  for (const auto& [name, location] : tensors) {
    for (const std::string_view part : kUnreadParts) {
      if (name.ends_with(part)) source->replaced_.insert(name);
    }
  }
  return source;
}

absl::Status QuantizedSource::Add(const ModuleTensors& module, PackedMatrix matrix,
                                  const TensorIndex& tensors) {
  constexpr int64_t kMostValues = int64_t{1} << 40;
  if (matrix.rows > kMostValues / matrix.columns) return module.Error("is too large");
  const std::string name = module.module() + ".weight";
  int64_t stored = 0;
  for (const std::string& part : module.used()) {
    stored += tensors.find(part)->second.entry->bytes;
    replaced_.insert(part);
  }
  if (tensors.contains(name) && !replaced_.contains(name)) {
    return module.Error("stands beside a plain weight of the same name");
  }
  tensors_.emplace(name, TensorEntry{.dtype = "F32",
                                     .shape = {matrix.rows, matrix.columns},
                                     .bytes = 4 * matrix.rows * matrix.columns,
                                     .stored_as = matrix.format,
                                     .stored_bytes = stored});
  matrices_.emplace(name, std::move(matrix));
  return absl::OkStatus();
}

absl::Status QuantizedSource::Read(std::string_view tensor, int64_t offset, int64_t bytes,
                                   void* out) const {
  const auto found = matrices_.find(tensor);
  if (found == matrices_.end()) return Internal(StrCat("no quantized weight ", tensor));
  const PackedMatrix& matrix = found->second;
  const std::lock_guard lock(mutex_);
  if (opened_.tensor != tensor) {
    opened_ = {};
    SINKD_ASSIGN_OR_RETURN(opened_.unpack, matrix.open());
    opened_.tensor = std::string(tensor);
  }
  const RowLayout layout{.rows = matrix.rows, .row_bytes = 4 * matrix.columns};
  SINKD_RETURN_IF_ERROR(
      ReadByRows(layout, offset, bytes, out, [&](int64_t first, int64_t count, void* rows) {
        opened_.unpack(first, count, static_cast<float*>(rows));
        return absl::OkStatus();
      }));
  if (offset + bytes == layout.rows * layout.row_bytes) opened_ = {};  // it is read once, mostly
  return absl::OkStatus();
}

}  // namespace sinkd

#include "server/engine/checkpoint/quantized/quantized_source.h"

#include <algorithm>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/decoder_keys.h"

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
    const int64_t experts = location.entry->shape.size() == 3 ? location.entry->shape[0] : 0;
    if (experts == 0) {
      const ModuleTensors module(tensors, std::string(stem));
      SINKD_ASSIGN_OR_RETURN(PackedMatrix matrix, describe(module, config));
      SINKD_RETURN_IF_ERROR(source->Add(module, {std::move(matrix)}, false, tensors));
      continue;
    }
    if (experts > kMaxExperts) {
      return ModuleTensors(tensors, std::string(stem)).Error(StrCat("has ", experts, " experts"));
    }
    Matrices matrices;
    for (int64_t e = 0; e < experts; ++e) {
      SINKD_ASSIGN_OR_RETURN(source->experts_.emplace_back(),
                             ExpertTensors::Of(tensors, stem, experts, e));
      const ModuleTensors module(source->experts_.back()->index(), std::string(stem));
      SINKD_ASSIGN_OR_RETURN(matrices.emplace_back(), describe(module, config));
      if (e == experts - 1) {
        SINKD_RETURN_IF_ERROR(source->Add(module, std::move(matrices), true, tensors));
      }
    }
  }
  if (source->tensors_.empty()) return nullptr;
  for (const auto& [name, location] : tensors) {
    for (const std::string_view part : kUnreadParts) {
      if (name.ends_with(part)) source->replaced_.insert(name);
    }
  }
  return source;
}

absl::Status QuantizedSource::Add(const ModuleTensors& module, Matrices matrices, bool stacked,
                                  const TensorIndex& tensors) {
  constexpr int64_t kMostValues = int64_t{1} << 40;
  const PackedMatrix& matrix = matrices.front();
  const auto count = static_cast<int64_t>(matrices.size());
  if (matrix.rows > kMostValues / matrix.columns / count) return module.Error("is too large");
  const std::string name = module.module() + ".weight";
  int64_t stored = 0;
  for (const std::string& part : module.used()) {
    stored += tensors.find(part)->second.entry->bytes;
    replaced_.insert(part);
  }
  if (tensors.contains(name) && !replaced_.contains(name)) {
    return module.Error("exists beside a plain weight of the same name");
  }
  std::vector<int64_t> shape = {matrix.rows, matrix.columns};
  if (stacked) shape.insert(shape.begin(), count);
  tensors_.emplace(name, TensorEntry{.dtype = "F32",
                                     .shape = std::move(shape),
                                     .bytes = 4 * count * matrix.rows * matrix.columns,
                                     .stored_as = matrix.format,
                                     .stored_bytes = stored});
  matrices_.emplace(name, std::move(matrices));
  return absl::OkStatus();
}

absl::Status QuantizedSource::Read(std::string_view tensor, int64_t offset, int64_t bytes,
                                   void* out) const {
  const auto found = matrices_.find(tensor);
  if (found == matrices_.end()) return Internal(StrCat("no quantized weight ", tensor));
  const Matrices& matrices = found->second;
  const int64_t rows = matrices.front().rows;
  const RowLayout layout{.rows = rows * static_cast<int64_t>(matrices.size()),
                         .row_bytes = 4 * matrices.front().columns};
  const std::lock_guard lock(mutex_);
  SINKD_RETURN_IF_ERROR(ReadByRows(
      layout, offset, bytes, out, [&](int64_t first, int64_t count, void* to) -> absl::Status {
        auto* values = static_cast<float*>(to);
        while (count > 0) {
          const PackedMatrix& matrix = matrices[static_cast<size_t>(first / rows)];
          const int64_t row = first % rows, here = std::min(count, rows - row);
          SINKD_RETURN_IF_ERROR(OpenMatrix(matrix));
          opened_.unpack(row, here, values);
          values += here * matrix.columns;
          first += here;
          count -= here;
        }
        return absl::OkStatus();
      }));
  if (offset + bytes == layout.rows * layout.row_bytes) opened_ = {};  // it is read once, mostly
  return absl::OkStatus();
}

absl::Status QuantizedSource::OpenMatrix(const PackedMatrix& matrix) const {
  if (opened_.matrix == &matrix) return absl::OkStatus();
  opened_ = {};
  SINKD_ASSIGN_OR_RETURN(opened_.unpack, matrix.open());
  opened_.matrix = &matrix;
  return absl::OkStatus();
}

}  // namespace sinkd

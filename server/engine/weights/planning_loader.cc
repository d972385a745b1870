#include "server/engine/weights/planning_loader.h"

#include <ATen/ATen.h>
#include <absl/strings/match.h>
#include <c10/util/accumulate.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/safetensors_header.h"

namespace sinkd {

PlanningLoader::PlanningLoader(const Checkpoint* checkpoint, const DecoderPlan& decoder,
                               at::ScalarType dtype)
    : TensorLoader(dtype), checkpoint_(checkpoint), decoder_(decoder) {}

absl::StatusOr<at::Tensor> PlanningLoader::Load(const std::string& name, at::IntArrayRef shape,
                                                RowRange range) {
  SINKD_RETURN_IF_ERROR(Note(name, shape, /*bytes=*/false));
  return at::empty(ShapeOf(shape, range), options());
}

absl::StatusOr<at::Tensor> PlanningLoader::LoadBiases(const Parts& parts) {
  int64_t all_rows = 0;
  for (const auto& [name, rows] : parts) {
    SINKD_RETURN_IF_ERROR(Note(name, {rows}, /*bytes=*/false));
    all_rows += rows;
  }
  return at::empty({all_rows}, options());
}

absl::StatusOr<at::Tensor> PlanningLoader::LoadWeights(const Parts& parts, int64_t in) {
  int64_t all_rows = 0;
  for (const auto& [name, rows] : parts) {
    SINKD_RETURN_IF_ERROR(Note(name, {rows, in}, /*bytes=*/false));
    all_rows += rows;
  }
  return at::empty({all_rows, in}, options());
}

absl::StatusOr<at::Tensor> PlanningLoader::LoadBytes(const std::string& name, at::IntArrayRef shape,
                                                     RowRange range) {
  SINKD_RETURN_IF_ERROR(Note(name, shape, /*bytes=*/true));
  return at::empty(ShapeOf(shape, range), at::TensorOptions().dtype(at::kByte).device(at::kMeta));
}

bool PlanningLoader::Has(const std::string& name) const {
  if (checkpoint_ != nullptr) return checkpoint_->Find(name) != nullptr;
  return decoder_.names.mxfp4_experts && absl::EndsWith(name, "_blocks");
}

at::TensorOptions PlanningLoader::options() const {
  return at::TensorOptions().dtype(dtype()).device(at::kMeta);
}

PlannedTensor PlanningLoader::Expected(const std::string& name, at::IntArrayRef shape) const {
  const std::string& dtype = decoder_.spec.dtype;
  const bool half = dtype == "bfloat16" || dtype == "float16";
  return {.name = name,
          .stored_type = dtype == "bfloat16" ? "BF16"
                         : half              ? "F16"
                                             : "F32",
          .shape = shape.vec(),
          .stored_bytes = c10::multiply_integers(shape) * (half ? 2 : 4)};
}

absl::Status PlanningLoader::Note(const std::string& name, at::IntArrayRef shape, bool bytes) {
  if (tensors_.size() >= kMaxTensors) {
    return BadTensor("", name, StrCat("is one of over ", kMaxTensors, " that config.json asks for"),
                     "restore config.json from the checkpoint's source");
  }
  if (checkpoint_ == nullptr) {
    PlannedTensor tensor = Expected(name, shape);
    if (bytes) {
      tensor.stored_type = "U8";
      tensor.stored_bytes = c10::multiply_integers(shape);
    }
    tensors_.emplace(name, std::move(tensor));
    return absl::OkStatus();
  }
  SINKD_ASSIGN_OR_RETURN(const Checkpoint::Location location,
                         FindTensor(*checkpoint_, name, shape, bytes));
  tensors_.emplace(name, PlannedTensor{.name = name,
                                       .stored_type = StoredType(*location.entry),
                                       .shape = shape.vec(),
                                       .stored_bytes = location.entry->BytesInFile()});
  return absl::OkStatus();
}

}  // namespace sinkd

#include "server/engine/checkpoint/quantized/stacked_experts.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

// compressed-tensors' [3] of the experts and the shape of each, where [2] is one weight's.
absl::StatusOr<bool> IsShapeOfAll(const StoredPart& part, int64_t experts) {
  if (!part.name.ends_with(".weight_shape") || part.shape() != std::vector<int64_t>{3}) {
    return false;
  }
  SINKD_ASSIGN_OR_RETURN(const std::vector<int64_t> extents, part.Integers());
  if (extents[0] == experts) return true;
  return part.Error(StrCat("says ", extents[0], " experts, and the weight has ", experts));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExpertTensors>> ExpertTensors::Of(const TensorIndex& tensors,
                                                                 std::string_view module,
                                                                 int64_t experts, int64_t expert) {
  auto slices = std::make_unique<ExpertTensors>();
  const std::string prefix = StrCat(module, ".");
  for (auto it = tensors.lower_bound(prefix); it != tensors.end(); ++it) {
    const auto& [name, whole] = *it;
    if (!name.starts_with(prefix)) break;
    TensorEntry entry = *whole.entry;
    int64_t first_byte = 0;
    SINKD_ASSIGN_OR_RETURN(const bool of_all, IsShapeOfAll({name, whole}, experts));
    if (of_all) {
      entry.shape = {2};
      first_byte = entry.bytes / 3;
      entry.bytes -= first_byte;
    } else if (!entry.shape.empty() && entry.shape[0] == experts) {
      entry.shape.erase(entry.shape.begin());
      entry.bytes /= experts;
      first_byte = expert * entry.bytes;
    }
    slices->name_ = whole.file->name();
    slices->slices_.emplace(name, Slice{whole, first_byte});
    slices->tensors_.emplace(name, std::move(entry));
  }
  for (const auto& [name, entry] : slices->tensors_) {
    slices->index_.emplace(name, TensorLocation{slices.get(), &entry});
  }
  return slices;
}

absl::Status ExpertTensors::Read(std::string_view tensor, int64_t offset, int64_t bytes,
                                 void* out) const {
  const auto found = slices_.find(tensor);
  if (found == slices_.end()) return Internal(StrCat("no part ", tensor, " of an expert"));
  const Slice& slice = found->second;
  return slice.whole.file->Read(tensor, slice.first_byte + offset, bytes, out);
}

}  // namespace sinkd

#include "server/engine/tensor_loader.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <absl/strings/str_join.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

// Read at once, so that loading takes little more memory than the weights do.
constexpr int64_t kReadBytes = int64_t{8} << 20;

absl::StatusOr<at::ScalarType> ToScalarType(std::string_view file, std::string_view tensor,
                                            std::string_view dtype) {
  if (dtype == "F32") return at::kFloat;
  if (dtype == "BF16") return at::kBFloat16;
  if (dtype == "F16") return at::kHalf;
  if (dtype == "F64") return at::kDouble;
  if (dtype == "F8_E4M3") return at::kFloat8_e4m3fn;
  if (dtype == "F8_E5M2") return at::kFloat8_e5m2;
  return BadTensor(file, tensor, StrCat("has dtype ", dtype, ", which holds no plain weights"),
                   "use the float32, float16 or bfloat16 checkpoint");
}

std::string ShapeText(at::IntArrayRef shape) {
  return StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace

absl::Status BadTensor(std::string_view file, std::string_view tensor, std::string_view what,
                       std::string_view fix) {
  const std::string where = file.empty() ? std::string(tensor) : StrCat(file, ":", tensor);
  return FailedPrecondition(StrCat("tensor ", where, " ", what),
                            {.reason = "BAD_WEIGHTS", .subject = where, .fix = std::string(fix)});
}

TensorLoader::TensorLoader(const Checkpoint& checkpoint, at::ScalarType dtype,
                           const at::Device& device,
                           const std::function<void(const LoadProgress&)>& progress,
                           const std::stop_token& stop)
    : checkpoint_(checkpoint), dtype_(dtype), device_(device), progress_(progress), stop_(stop) {}

absl::StatusOr<at::Tensor> TensorLoader::Load(const std::string& name, at::IntArrayRef shape) {
  SINKD_ASSIGN_OR_RETURN(const Checkpoint::Location* location, Find(name, shape));
  at::Tensor whole = at::empty(shape, at::TensorOptions().dtype(dtype_).device(device_));
  SINKD_RETURN_IF_ERROR(LoadInto(name, *location, whole));
  return whole;
}

absl::StatusOr<at::Tensor> TensorLoader::LoadStacked(
    const std::vector<std::pair<std::string, int64_t>>& parts, at::IntArrayRef row_shape) {
  std::vector<int64_t> shape = {0};
  shape.insert(shape.end(), row_shape.begin(), row_shape.end());
  std::vector<const Checkpoint::Location*> locations;
  int64_t all_rows = 0;
  for (const auto& [name, rows] : parts) {
    shape[0] = rows;
    SINKD_ASSIGN_OR_RETURN(locations.emplace_back(), Find(name, shape));
    all_rows += rows;
  }
  shape[0] = all_rows;
  at::Tensor whole = at::empty(shape, at::TensorOptions().dtype(dtype_).device(device_));
  int64_t row = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& [name, rows] = parts[i];
    SINKD_RETURN_IF_ERROR(LoadInto(name, *locations[i], whole.narrow(0, row, rows)));
    row += rows;
  }
  return whole;
}

// Checked before memory is asked for, since a wrong config may name any size.
absl::StatusOr<const Checkpoint::Location*> TensorLoader::Find(const std::string& name,
                                                               at::IntArrayRef shape) const {
  const Checkpoint::Location* location = checkpoint_.Find(name);
  if (location == nullptr) {
    return BadTensor("", name, "is missing",
                     "copy the complete checkpoint, or correct config.json");
  }
  if (shape != at::IntArrayRef(location->entry->shape)) {
    return BadTensor(location->file->name(), name,
                     StrCat("has shape ", ShapeText(location->entry->shape),
                            " where config.json wants ", ShapeText(shape)),
                     "restore config.json and weights from one source");
  }
  return location;
}

absl::Status TensorLoader::LoadInto(const std::string& name, const Checkpoint::Location& location,
                                    const at::Tensor& target) {
  const std::string& file = location.file->name();
  const TensorEntry& entry = *location.entry;
  SINKD_ASSIGN_OR_RETURN(const at::ScalarType stored, ToScalarType(file, name, entry.dtype));
  std::vector<int64_t> shape = entry.shape;
  const int64_t row_bytes = entry.bytes / std::max<int64_t>(1, shape[0]);
  const int64_t step = std::max<int64_t>(1, kReadBytes / std::max<int64_t>(1, row_bytes));
  for (int64_t first = 0; first < entry.shape[0]; first += step) {
    if (stop_.stop_requested()) return Cancelled("the load was cancelled");
    shape[0] = std::min(step, entry.shape[0] - first);
    at::Tensor read = at::empty(shape, at::TensorOptions().dtype(stored));
    SINKD_RETURN_IF_ERROR(
        location.file->Read(name, first * row_bytes, shape[0] * row_bytes, read.data_ptr()));
    if (read.element_size() == 1) read = read.to(at::kFloat);
    if (!at::isfinite(read).all().item<bool>()) {
      return BadTensor(file, name, "holds NaN or infinite values", "fetch the checkpoint again");
    }
    target.narrow(0, first, shape[0]).copy_(read);
  }
  if (stored == at::kDouble && !at::isfinite(target).all().item<bool>()) {
    return BadTensor(file, name, "holds values too large for the compute type",
                     "compute in a wider type");
  }
  Count(name, entry.bytes);
  return absl::OkStatus();
}

absl::StatusOr<at::Tensor> TensorLoader::LoadBytes(const std::string& name, at::IntArrayRef shape) {
  SINKD_ASSIGN_OR_RETURN(const Checkpoint::Location* location, Find(name, shape));
  if (location->entry->dtype != "U8") {
    return BadTensor(location->file->name(), name,
                     StrCat("has dtype ", location->entry->dtype, " where U8 is expected"),
                     "fetch the checkpoint again");
  }
  if (stop_.stop_requested()) return Cancelled("the load was cancelled");
  at::Tensor bytes = at::empty(shape, at::kByte);
  SINKD_RETURN_IF_ERROR(location->file->Read(name, 0, location->entry->bytes, bytes.data_ptr()));
  Count(name, location->entry->bytes);
  return bytes.to(device_);
}

void TensorLoader::Count(const std::string& name, int64_t bytes) {
  used_.insert(name);
  loaded_.bytes_done += bytes;
  if (progress_) progress_(loaded_);
}

}  // namespace sinkd

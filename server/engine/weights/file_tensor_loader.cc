#include "server/engine/weights/file_tensor_loader.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "server/base/status.h"
#include "server/engine/forward/finite.h"
#include "server/engine/forward/linear.h"
#include "server/engine/weights/weight_memory.h"

namespace sinkd {
namespace {

// Read at once, so that loading takes little more memory than the weights do.
constexpr int64_t kDirectBytes = int64_t{512} << 10;
constexpr int64_t kBufferBytes = int64_t{1} << 20;

int64_t RowBytes(const TensorEntry& entry) {
  return entry.shape.empty() ? entry.bytes : entry.bytes / std::max<int64_t>(1, entry.shape[0]);
}

}  // namespace

FileTensorLoader::FileTensorLoader(const Checkpoint& checkpoint, at::ScalarType dtype,
                                   OnBytes on_bytes, std::stop_token stop)
    : TensorLoader(dtype),
      checkpoint_(checkpoint),
      on_bytes_(std::move(on_bytes)),
      stop_(std::move(stop)) {}

absl::StatusOr<at::Tensor> FileTensorLoader::Load(const std::string& name, at::IntArrayRef shape,
                                                  RowRange range) {
  SINKD_ASSIGN_OR_RETURN(const Checkpoint::Location location,
                         FindTensor(checkpoint_, name, shape, /*bytes=*/false));
  at::Tensor whole = EmptyTensor(ShapeOf(shape, range), options());
  const at::Tensor rows = whole.dim() == 0 ? whole.view({1}) : whole;  // a number is one row
  SINKD_RETURN_IF_ERROR(LoadInto(name, location, range.first, rows));
  return whole;
}

absl::StatusOr<at::Tensor> FileTensorLoader::LoadBiases(const Parts& parts) {
  return Stack(parts, {}, [&](int64_t rows) { return EmptyTensor({rows}, options()); });
}

absl::StatusOr<at::Tensor> FileTensorLoader::LoadWeights(const Parts& parts, int64_t in) {
  return Stack(parts, {in}, [&](int64_t rows) { return EmptyWeights(rows, in, options()); });
}

absl::StatusOr<at::Tensor> FileTensorLoader::Stack(
    const Parts& parts, at::IntArrayRef row_shape,
    const std::function<at::Tensor(int64_t rows)>& make) {
  std::vector<int64_t> shape = {0};
  shape.insert(shape.end(), row_shape.begin(), row_shape.end());
  std::vector<Checkpoint::Location> locations;
  int64_t all_rows = 0;
  for (const auto& [name, rows] : parts) {
    shape[0] = rows;
    SINKD_ASSIGN_OR_RETURN(locations.emplace_back(),
                           FindTensor(checkpoint_, name, shape, /*bytes=*/false));
    all_rows += rows;
  }
  at::Tensor whole = make(all_rows);
  const at::Tensor by_row = RowsOf(whole);
  int64_t row = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& [name, rows] = parts[i];
    SINKD_RETURN_IF_ERROR(LoadInto(name, locations[i], 0, by_row.narrow(0, row, rows)));
    row += rows;
  }
  return whole;
}

absl::StatusOr<at::Tensor> FileTensorLoader::LoadBytes(const std::string& name,
                                                       at::IntArrayRef shape, RowRange range) {
  SINKD_ASSIGN_OR_RETURN(const Checkpoint::Location location,
                         FindTensor(checkpoint_, name, shape, /*bytes=*/true));
  if (stop_.stop_requested()) return Cancelled("the load was cancelled");
  at::Tensor bytes = at::empty(ShapeOf(shape, range), at::kByte);
  SINKD_RETURN_IF_ERROR(location.file->Read(name, range.first * RowBytes(*location.entry),
                                            bytes.numel(), bytes.data_ptr()));
  if (on_bytes_) on_bytes_(bytes.numel());
  return bytes.to(device_);
}

absl::Status FileTensorLoader::LoadInto(const std::string& name,
                                        const Checkpoint::Location& location, int64_t first_row,
                                        const at::Tensor& target) {
  const at::ScalarType stored = *ScalarTypeOf(location.entry->dtype);
  const int64_t row_bytes = RowBytes(*location.entry);
  const int64_t bytes = target.size(0) * row_bytes;
  const auto read = [&](int64_t offset, int64_t count, void* out) -> absl::Status {
    if (stop_.stop_requested()) return Cancelled("the load was cancelled");
    SINKD_RETURN_IF_ERROR(location.file->Read(name, first_row * row_bytes + offset, count, out));
    if (AllFinite(stored, out, count)) return absl::OkStatus();
    return BadTensor(location.file->name(), name, "holds NaN or infinite values",
                     "fetch the checkpoint again");
  };
  if (stored == target.scalar_type() && target.is_cpu() && target.is_contiguous()) {
    // In pieces that are still in the processor's cache when they are looked at.
    auto* out = static_cast<char*>(target.data_ptr());
    for (int64_t offset = 0; offset < bytes; offset += kDirectBytes) {
      SINKD_RETURN_IF_ERROR(read(offset, std::min(kDirectBytes, bytes - offset), out + offset));
    }
  } else {
    const int64_t step = std::max<int64_t>(1, kBufferBytes / std::max<int64_t>(1, row_bytes));
    for (int64_t first = 0; first < target.size(0); first += step) {
      const at::Tensor part = target.narrow(0, first, std::min(step, target.size(0) - first));
      const at::Tensor values = at::empty(part.sizes(), at::TensorOptions().dtype(stored));
      SINKD_RETURN_IF_ERROR(read(first * row_bytes, part.size(0) * row_bytes, values.data_ptr()));
      part.copy_(values);
    }
  }
  if (stored == at::kDouble && !at::isfinite(target).all().item<bool>()) {
    return BadTensor(location.file->name(), name, "holds values too large for the compute type",
                     "compute in a wider type");
  }
  // Of packed values, the share that these took.
  const TensorEntry& entry = *location.entry;
  if (on_bytes_)
    on_bytes_(entry.stored_as.empty() ? bytes : entry.stored_bytes * bytes / entry.bytes);
  return absl::OkStatus();
}

}  // namespace sinkd

#include "server/engine/weights/tensor_loader.h"

#include <ATen/ATen.h>
#include <absl/strings/str_join.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

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

absl::StatusOr<Checkpoint::Location> FindTensor(const Checkpoint& checkpoint,
                                                const std::string& name, at::IntArrayRef shape,
                                                bool bytes) {
  const Checkpoint::Location* location = checkpoint.Find(name);
  if (location == nullptr) {
    return BadTensor("", name, "is missing",
                     "copy the complete checkpoint, or correct config.json");
  }
  const TensorEntry& entry = *location->entry;
  const std::string& file = location->file->name();
  if (shape != at::IntArrayRef(entry.shape)) {
    return BadTensor(
        file, name,
        StrCat("has shape ", ShapeText(entry.shape), " where config.json wants ", ShapeText(shape)),
        "restore config.json and weights from one source");
  }
  if (bytes && entry.dtype != "U8") {
    return BadTensor(file, name, StrCat("has dtype ", entry.dtype, " where U8 is expected"),
                     "fetch the checkpoint again");
  }
  if (!bytes && !ScalarTypeOf(entry.dtype)) {
    return BadTensor(file, name,
                     StrCat("has dtype ", entry.dtype, ", which holds no plain weights"),
                     "use the float32, float16 or bfloat16 checkpoint");
  }
  return *location;
}

std::optional<at::ScalarType> ScalarTypeOf(std::string_view dtype) {
  if (dtype == "F32") return at::kFloat;
  if (dtype == "BF16") return at::kBFloat16;
  if (dtype == "F16") return at::kHalf;
  if (dtype == "F64") return at::kDouble;
  if (dtype == "F8_E4M3") return at::kFloat8_e4m3fn;
  if (dtype == "F8_E5M2") return at::kFloat8_e5m2;
  return std::nullopt;
}

std::vector<int64_t> ShapeOf(at::IntArrayRef shape, RowRange range) {
  std::vector<int64_t> part = shape.vec();
  if (range.rows >= 0) part[0] = range.rows;
  return part;
}

}  // namespace sinkd

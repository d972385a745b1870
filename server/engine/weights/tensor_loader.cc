#include "server/engine/weights/tensor_loader.h"

#include <algorithm>
#include <set>

#include <ATen/ATen.h>
#include <absl/strings/match.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

std::string ShapeText(at::IntArrayRef shape) {
  return StrCat("[", absl::StrJoin(shape, ", "), "]");
}

// `name` without the parts that wrappers of modules put into it.
std::string WithoutWrappers(const std::string& name) {
  static const std::set<std::string_view> kWrappers = {"_orig_mod",
                                                       "module",
                                                       "_fsdp_wrapped_module",
                                                       "_checkpoint_wrapped_module",
                                                       "_forward_module",
                                                       "base_model",
                                                       "base_layer"};
  std::vector<std::string> parts = absl::StrSplit(name, '.');
  std::erase_if(parts, [](const std::string& part) { return kWrappers.contains(part); });
  return absl::StrJoin(parts, ".");
}

// The tensor that others would call `name`: behind a prefix, within a wrapper, or behind another
// prefix than the family's; empty when there is none.
std::string OtherNameOf(const Checkpoint& checkpoint, const std::string& name) {
  const std::string behind = "." + name;
  const std::string unprefixed = name.substr(std::min(name.find('.'), name.size()));
  std::string other;
  for (const auto& [found, location] : checkpoint.tensors()) {
    if (absl::EndsWith(found, behind) || WithoutWrappers(found) == name) return found;
    if (!absl::EndsWith(found, unprefixed)) continue;
    const std::string_view prefix(found.data(), found.size() - unprefixed.size());
    if (prefix.find_first_of("0123456789") == std::string_view::npos) other = found;
  }
  return other;
}

absl::Status MissingTensor(const Checkpoint& checkpoint, const std::string& name) {
  const std::string other = OtherNameOf(checkpoint, name);
  if (other.empty()) {
    return BadTensor("", name, "is missing",
                     "copy the complete checkpoint, or correct config.json");
  }
  std::string what = StrCat("is missing; there is ", Shorten(other));
  if (absl::EndsWith(other, "." + name)) {
    what += StrCat(": its names begin with ", Shorten(other.substr(0, other.size() - name.size())));
  }
  return BadTensor("", name, what,
                   "save the model itself, not its wrapper (torch.compile, DataParallel, FSDP, "
                   "PEFT), or take the wrapper's part out of the tensors' names");
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
  if (location == nullptr) return MissingTensor(checkpoint, name);
  const TensorEntry& entry = *location->entry;
  const std::string& file = location->file->name();
  if (shape != at::IntArrayRef(entry.shape)) {
    return BadTensor(file, name,
                     StrCat("has shape ", ShapeText(entry.shape), " but config.json requires ",
                            ShapeText(shape)),
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

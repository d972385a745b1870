#include "server/engine/checkpoint/quantized/unreadable_formats.h"

#include <string>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kFix[] = "use the float32, float16 or bfloat16 checkpoint it was made from";
constexpr char kGptqFile[] = "quantize_config.json";
constexpr char kAwqFile[] = "quant_config.json";

bool Exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

absl::Status Refuse(std::string_view subject, std::string_view what, std::string_view method) {
  return FailedPrecondition(
      StrCat(what, " quantized by ", method, ", which cannot be read"),
      {.reason = "QUANTIZED_WEIGHTS", .subject = std::string(subject), .fix = kFix});
}

// What each method calls the tensors that only it has. Those of methods that are read are gone from
// a checkpoint by then, unless config.json does not name the method.
std::string_view MethodOfTensor(const std::filesystem::path& folder, std::string_view tensor) {
  struct Known {
    std::string_view suffix;
    std::string_view method;
  };
  static constexpr Known kKnown[] = {{".g_idx", "gptq"},
                                     {".weight.absmax", "bitsandbytes"},
                                     {".weight.quant_map", "bitsandbytes"},
                                     {".SCB", "bitsandbytes"},
                                     {".weight_packed", "compressed-tensors"},
                                     {".weight_scale", "compressed-tensors or fp8"},
                                     {"_scale_inv", "fp8"},
                                     {".biases", "mlx"}};
  for (const Known& known : kKnown) {
    if (tensor.ends_with(known.suffix)) return known.method;
  }
  if (tensor.ends_with(".qweight") || tensor.ends_with(".qzeros")) {
    return Exists(folder / kGptqFile) ? "gptq" : "awq or gptq";
  }
  return "";
}

}  // namespace

absl::Status Unreadable(const ConfigReader& quantization, std::string_view key,
                        std::string_view value) {
  if (value.empty()) {
    return quantization.Error(key, "is missing, so that it is not known how the weights are stored",
                              kFix);
  }
  return quantization.Error(
      key,
      StrCat("says that the weights are quantized by ", Shorten(value), ", which cannot be read"),
      StrCat(kFix,
             ", or one quantized by gptq, awq (gemm), compressed-tensors, fp8, modelopt or "
             "bitsandbytes"));
}

absl::Status RefuseQuantizedTensor(const std::filesystem::path& folder, std::string_view file,
                                   std::string_view tensor) {
  const std::string_view method = MethodOfTensor(folder, tensor);
  if (method.empty()) return absl::OkStatus();
  const std::string where = StrCat(file, ":", Shorten(tensor));
  return Refuse(where, StrCat("tensor ", where, " belongs to weights"), method);
}

absl::Status RefuseQuantizedFolder(const std::filesystem::path& folder) {
  if (Exists(folder / kGptqFile)) {
    return Refuse(kGptqFile, StrCat(kGptqFile, " exists beside weights"), "gptq");
  }
  if (Exists(folder / kAwqFile)) {
    return Refuse(kAwqFile, StrCat(kAwqFile, " exists beside weights"), "awq");
  }
  return absl::OkStatus();
}

}  // namespace sinkd

#include "server/engine/checkpoint/quantized_weights.h"

#include <string>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kFix[] = "use the float32, float16 or bfloat16 checkpoint it was made from";
constexpr char kGptqFile[] = "quantize_config.json";
constexpr char kAwqFile[] = "quant_config.json";

// Some methods can be undone where the original is out of reach.
std::string Fix(std::string_view method) {
  if (method == "bitsandbytes") {
    return StrCat(kFix, ", or load it with transformers, call dequantize() and save_pretrained()");
  }
  if (method == "compressed-tensors") {
    return StrCat(kFix,
                  ", or load it with transformers' CompressedTensorsConfig("
                  "run_compressed=False) and call save_pretrained()");
  }
  return kFix;
}

bool Exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// bitsandbytes' first configs name no method.
absl::StatusOr<std::string> Method(const ConfigReader& quantization) {
  SINKD_ASSIGN_OR_RETURN(const bool in_4bit, quantization.FlagOr("load_in_4bit", false));
  SINKD_ASSIGN_OR_RETURN(const bool in_8bit, quantization.FlagOr("load_in_8bit", false));
  return quantization.TextOr("quant_method", in_4bit || in_8bit ? "bitsandbytes" : "");
}

absl::Status RefuseUnder(const ConfigReader& config, std::string_view key,
                         std::string_view model_type) {
  if (!config.HasObject(key)) return absl::OkStatus();
  const ConfigReader quantization = config.Object(key);
  SINKD_ASSIGN_OR_RETURN(const std::string method, Method(quantization));
  if (method == "mxfp4" && model_type == "gpt_oss") return absl::OkStatus();
  if (method.empty()) {
    return config.Error(key, "describes quantized weights, which cannot be loaded", kFix);
  }
  return quantization.Error("quant_method",
                            StrCat("says that the weights are quantized by ", Shorten(method),
                                   ", which cannot be loaded"),
                            Fix(method));
}

absl::Status Refuse(std::string_view subject, std::string_view what, std::string_view method) {
  return FailedPrecondition(
      StrCat(what, " quantized by ", method, ", which cannot be loaded"),
      {.reason = "QUANTIZED_WEIGHTS", .subject = std::string(subject), .fix = Fix(method)});
}

// What each method calls the tensors that only it has.
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
                                     {".weight_scale_inv", "fp8"},
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

absl::Status RefuseQuantizedConfig(const ConfigReader& config, std::string_view model_type) {
  for (const ConfigReader& part : {config, config.Object("text_config")}) {
    // compressed-tensors wrote compression_config before it had quantization_config.
    for (const std::string_view key : {"quantization_config", "compression_config"}) {
      SINKD_RETURN_IF_ERROR(RefuseUnder(part, key, model_type));
    }
  }
  return absl::OkStatus();
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
    return Refuse(kGptqFile, StrCat(kGptqFile, " stands beside weights"), "gptq");
  }
  if (Exists(folder / kAwqFile)) {
    return Refuse(kAwqFile, StrCat(kAwqFile, " stands beside weights"), "awq");
  }
  return absl::OkStatus();
}

}  // namespace sinkd

#include "server/engine/checkpoint/quantized/quantization_config.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/quantized/unreadable_formats.h"

namespace sinkd {
namespace {

absl::StatusOr<int64_t> Integer(const ConfigReader& config, std::string_view key, double absent,
                                double least, double most) {
  SINKD_ASSIGN_OR_RETURN(const double value, config.NumberOr(key, absent));
  const auto whole = static_cast<int64_t>(value);
  if (value >= least && value <= most && static_cast<double>(whole) == value) return whole;
  return config.Error(
      key, StrCat("is ", value, "; an integer from ", least, " to ", most, " is expected"),
      "restore config.json from the checkpoint's source");
}

absl::StatusOr<int64_t> GroupSize(const ConfigReader& config, double absent) {
  SINKD_ASSIGN_OR_RETURN(const int64_t size, Integer(config, "group_size", absent, -1, 1 << 20));
  if (size == 0) {
    return config.Error("group_size", "is 0", "restore config.json from the checkpoint's source");
  }
  return size;
}

absl::Status ReadGptq(const ConfigReader& config, QuantizationConfig& out) {
  SINKD_ASSIGN_OR_RETURN(out.bits, Integer(config, "bits", 4, 2, 8));
  SINKD_ASSIGN_OR_RETURN(out.group_size, GroupSize(config, 128));
  SINKD_ASSIGN_OR_RETURN(const std::string format, config.TextOr("checkpoint_format", "gptq"));
  if (format != "gptq" && format != "gptq_v2") {
    return Unreadable(config, "checkpoint_format", format);
  }
  out.adds_one = format == "gptq";
  return absl::OkStatus();
}

absl::Status ReadAwq(const ConfigReader& config, QuantizationConfig& out) {
  SINKD_ASSIGN_OR_RETURN(out.bits, Integer(config, "bits", 4, 4, 4));
  SINKD_ASSIGN_OR_RETURN(out.group_size, GroupSize(config, 128));
  SINKD_ASSIGN_OR_RETURN(const std::string version, config.TextOr("version", "gemm"));
  if (version == "gemm" || version == "GEMM") return absl::OkStatus();
  return Unreadable(config, "version", version);
}

absl::StatusOr<WeightScheme> ReadScheme(const ConfigReader& weights) {
  WeightScheme scheme;
  SINKD_ASSIGN_OR_RETURN(scheme.bits, Integer(weights, "num_bits", 8, 1, 16));
  SINKD_ASSIGN_OR_RETURN(scheme.strategy, weights.TextOr("strategy", "tensor"));
  SINKD_ASSIGN_OR_RETURN(scheme.symmetric, weights.FlagOr("symmetric", true));
  SINKD_ASSIGN_OR_RETURN(scheme.block, weights.NumberList("block_structure"));
  return scheme;
}

absl::Status ReadCompressedTensors(const ConfigReader& config, QuantizationConfig& out) {
  const ConfigReader sparsity = config.Object("sparsity_config");
  SINKD_ASSIGN_OR_RETURN(const std::string sparse, sparsity.TextOr("format", "dense"));
  if (sparse != "dense") return Unreadable(sparsity, "format", sparse);
  SINKD_ASSIGN_OR_RETURN(const std::string format, config.TextOr("format", ""));
  for (const std::string_view known :
       {"", "dense", "pack-quantized", "int-quantized", "float-quantized", "naive-quantized",
        "nvfp4-pack-quantized", "mxfp4-pack-quantized", "mixed-precision"}) {
    if (format != known) continue;
    if (format == "dense") out.method.clear();
    const ConfigReader groups = config.Object("config_groups");
    for (const std::string& name : groups.Keys()) {
      SINKD_ASSIGN_OR_RETURN(out.schemes.emplace_back(),
                             ReadScheme(groups.Object(name).Object("weights")));
    }
    return absl::OkStatus();
  }
  return Unreadable(config, "format", format);
}

// bitsandbytes' first configs name no method.
absl::StatusOr<std::string> Method(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const bool in_4bit, config.FlagOr("load_in_4bit", false));
  SINKD_ASSIGN_OR_RETURN(const bool in_8bit, config.FlagOr("load_in_8bit", false));
  return config.TextOr("quant_method", in_4bit || in_8bit ? "bitsandbytes" : "");
}

absl::StatusOr<QuantizationConfig> Read(const ConfigReader& config, std::string_view model_type) {
  QuantizationConfig out;
  SINKD_ASSIGN_OR_RETURN(out.method, Method(config));
  if (out.method == "gptq") {
    SINKD_RETURN_IF_ERROR(ReadGptq(config, out));
  } else if (out.method == "awq") {
    SINKD_RETURN_IF_ERROR(ReadAwq(config, out));
  } else if (out.method == "compressed-tensors") {
    SINKD_RETURN_IF_ERROR(ReadCompressedTensors(config, out));
  } else if (out.method == "fp8") {
    SINKD_ASSIGN_OR_RETURN(out.block, config.NumberList("weight_block_size"));
  } else if (out.method != "bitsandbytes" && out.method != "fbgemm_fp8" &&
             out.method != "modelopt" && !(out.method == "mxfp4" && model_type == "gpt_oss")) {
    return Unreadable(config, "quant_method", out.method);
  }
  SINKD_ASSIGN_OR_RETURN(out.activations, ReadActivations(config, out.method));
  return out;
}

}  // namespace

absl::StatusOr<QuantizationConfig> ReadQuantization(const ConfigReader& config,
                                                    std::string_view model_type) {
  for (const ConfigReader& part : {config, config.Object("text_config")}) {
    // compressed-tensors wrote compression_config before it had quantization_config.
    for (const std::string_view key : {"quantization_config", "compression_config"}) {
      if (part.HasObject(key)) return Read(part.Object(key), model_type);
    }
  }
  return QuantizationConfig();
}

}  // namespace sinkd

#include "server/engine/checkpoint/quantized/activation_scheme.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr int64_t kMostInputs = int64_t{1} << 20;

// Of one of compressed-tensors' config groups.
absl::StatusOr<StoredActivations> OfGroup(const ConfigReader& group) {
  StoredActivations out;
  if (!group.HasObject("input_activations")) return out;
  const ConfigReader config = group.Object("input_activations");
  SINKD_ASSIGN_OR_RETURN(const int64_t bits, config.SizeOr("num_bits", 8, 16));
  SINKD_ASSIGN_OR_RETURN(const std::string type, config.TextOr("type", "int"));
  SINKD_ASSIGN_OR_RETURN(const std::string strategy, config.TextOr("strategy", "tensor"));
  SINKD_ASSIGN_OR_RETURN(const bool symmetric, config.FlagOr("symmetric", true));
  // "local" is a way to be dynamic, of formats with 4 bits.
  const bool dynamic = bits == 8 && config.FlagOr("dynamic", false).value_or(false);
  if (!dynamic || !symmetric || (strategy != "token" && strategy != "group")) {
    out.other = StrCat(bits, " bits of ", type, " per ", strategy,
                       dynamic ? ", dynamic" : ", not dynamic", symmetric ? "" : ", not symmetric");
    return out;
  }
  out.scheme.rounding = type == "int" ? ActivationRounding::kInt8 : ActivationRounding::kFp8;
  if (strategy == "group") {
    SINKD_ASSIGN_OR_RETURN(out.scheme.group, config.SizeOr("group_size", 128, kMostInputs));
  }
  return out;
}

// Those of all groups must agree.
absl::StatusOr<StoredActivations> OfCompressedTensors(const ConfigReader& config) {
  StoredActivations out;
  const ConfigReader groups = config.Object("config_groups");
  const std::vector<std::string> names = groups.Keys();
  for (const std::string& name : names) {
    SINKD_ASSIGN_OR_RETURN(StoredActivations one, OfGroup(groups.Object(name)));
    if (!one.other.empty()) return one;
    if (name != names.front() && one.scheme != out.scheme) {
      return StoredActivations{.scheme = {}, .other = "schemes that differ between config_groups"};
    }
    out = std::move(one);
  }
  return out;
}

// Dynamic, by the blocks of the weights.
absl::StatusOr<StoredActivations> OfFp8(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> block, config.NumberList("weight_block_size"));
  SINKD_ASSIGN_OR_RETURN(const std::string scheme, config.TextOr("activation_scheme", "dynamic"));
  const double group = block.size() == 2 ? block[1] : 0;
  if (scheme != "dynamic" || !(group >= 1 && group <= kMostInputs)) {
    return StoredActivations{
        .scheme = {}, .other = StrCat("fp8, ", scheme, group == 0 ? ", of whole tensors" : "")};
  }
  return StoredActivations{
      .scheme = {.rounding = ActivationRounding::kFp8, .group = static_cast<int64_t>(group)},
      .other = {}};
}

}  // namespace

absl::StatusOr<StoredActivations> ReadActivations(const ConfigReader& config,
                                                  std::string_view method) {
  if (method == "compressed-tensors") return OfCompressedTensors(config);
  if (method == "fp8") return OfFp8(config);
  StoredActivations out;
  if (method == "fbgemm_fp8" || method == "modelopt") out.other = method;
  if (method == "bitsandbytes") {
    SINKD_ASSIGN_OR_RETURN(const bool in_8bit, config.FlagOr("load_in_8bit", false));
    if (in_8bit) out.other = "int8 without outliers, of bitsandbytes";
  }
  return out;
}

std::string ActivationText(const ActivationScheme& scheme) {
  if (scheme.rounding == ActivationRounding::kNone) return "";
  const char* type = scheme.rounding == ActivationRounding::kInt8 ? "int8" : "fp8";
  if (scheme.group == 0) return StrCat(type, " per token");
  return StrCat(type, " per ", scheme.group, " inputs of a token");
}

}  // namespace sinkd

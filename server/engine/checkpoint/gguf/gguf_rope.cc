#include "server/engine/checkpoint/gguf/gguf_rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;

constexpr char kUseCheckpoint[] = "use the model's safetensors checkpoint";
// What every published llama3 scaling has; GGUF keeps only the factors that come of them.
constexpr double kLowFrequencyFactor = 1.0;
constexpr double kHighFrequencyFactor = 4.0;
constexpr double kOriginalPositions = 8192;

// What llama3's scaling divides the frequency of pair `i` by.
double Llama3Factor(double theta, int64_t head_size, int64_t i, double factor) {
  const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(head_size);
  const double wavelength = 2 * std::numbers::pi * std::pow(theta, exponent);
  if (wavelength < kOriginalPositions / kHighFrequencyFactor) return 1;
  if (wavelength > kOriginalPositions / kLowFrequencyFactor) return factor;
  const double smooth = (kOriginalPositions / wavelength - kLowFrequencyFactor) /
                        (kHighFrequencyFactor - kLowFrequencyFactor);
  return 1 / ((1 - smooth) / factor + smooth);
}

absl::StatusOr<std::vector<float>> ReadVector(const GgufFile& file, const char* name) {
  const auto found = file.tensors().find(name);
  if (found == file.tensors().end() || found->second.type->type != GgufType::kF32 ||
      found->second.shape.size() != 1) {
    return FailedPrecondition(StrCat(file.name(), ": tensor ", name, ": is not a vector of F32"),
                              {.reason = "BAD_GGUF", .subject = name, .fix = kUseCheckpoint});
  }
  const GgufTensor& tensor = found->second;
  std::vector<uint8_t> bytes(static_cast<size_t>(tensor.bytes));
  SINKD_RETURN_IF_ERROR(file.Read(tensor.offset, tensor.bytes, bytes.data()));
  std::vector<float> values(static_cast<size_t>(tensor.row_values()));
  Dequantize(*tensor.type, bytes.data(), tensor.row_values(), values.data());
  return values;
}

// Two lists of factors; the number of tokens from which on the second one holds is no part of it.
absl::StatusOr<Json> ReadLongrope(const GgufFile& file, const std::string& prefix) {
  Json longrope = {{"type", "longrope"}};
  SINKD_ASSIGN_OR_RETURN(longrope["short_factor"], ReadVector(file, kShortFactors));
  SINKD_ASSIGN_OR_RETURN(longrope["long_factor"], ReadVector(file, kLongFactors));
  const std::string factor = prefix + "attn_factor";
  if (file.metadata().Has(factor)) {
    SINKD_ASSIGN_OR_RETURN(longrope["attention_factor"], file.metadata().Number(factor));
  }
  return longrope;
}

// Finds the llama3 scaling whose factors the tensor holds.
absl::StatusOr<Json> ReadFactors(const GgufFile& file, const GgufTensor& tensor, double theta,
                                 int64_t head_size) {
  const auto refuse = [&file](std::string_view what) {
    return FailedPrecondition(
        StrCat(file.name(), ": tensor ", kRopeFactors, ": ", what),
        {.reason = "BAD_GGUF", .subject = kRopeFactors, .fix = kUseCheckpoint});
  };
  if (tensor.type->type != GgufType::kF32 || tensor.shape.size() != 1 ||
      tensor.row_values() != head_size / 2) {
    return refuse(StrCat("is not of ", head_size / 2, " values of F32"));
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(tensor.bytes));
  SINKD_RETURN_IF_ERROR(file.Read(tensor.offset, tensor.bytes, bytes.data()));
  std::vector<float> factors(static_cast<size_t>(head_size / 2));
  Dequantize(*tensor.type, bytes.data(), head_size / 2, factors.data());
  const double factor = *std::max_element(factors.begin(), factors.end());
  for (size_t i = 0; i < factors.size(); ++i) {
    const double expected = Llama3Factor(theta, head_size, static_cast<int64_t>(i), factor);
    // Negated, so that NaN fails.
    if (!(std::abs(factors[i] - expected) <= 1e-4 * expected)) {
      return refuse("holds factors of a rotary scaling other than llama3's");
    }
  }
  if (factor == 1) return Json();
  return Json{{"rope_type", "llama3"},
              {"factor", factor},
              {"low_freq_factor", kLowFrequencyFactor},
              {"high_freq_factor", kHighFrequencyFactor},
              {"original_max_position_embeddings", kOriginalPositions}};
}

absl::StatusOr<Json> ReadYarn(const GgufMetadata& metadata, const std::string& prefix,
                              double factor) {
  Json yarn = {{"rope_type", "yarn"}, {"factor", factor}};
  const auto refuse = [&metadata](std::string_view key) {
    return metadata.Error(key, "changes YaRN in a way that cannot be read from GGUF",
                          kUseCheckpoint);
  };
  const std::string original = prefix + "original_context_length";
  if (metadata.Has(original)) {
    SINKD_ASSIGN_OR_RETURN(yarn["original_max_position_embeddings"], metadata.Integer(original));
  }
  const std::pair<const char*, const char*> kTuning[] = {{"yarn_beta_fast", "beta_fast"},
                                                         {"yarn_beta_slow", "beta_slow"}};
  for (const auto& [key, name] : kTuning) {
    if (!metadata.Has(prefix + key)) continue;
    SINKD_ASSIGN_OR_RETURN(yarn[name], metadata.Number(prefix + key));
  }
  // DeepSeek's: a tenth of mscale_all_dim, which mscale equals in all published models.
  const std::string logarithm = prefix + "yarn_log_multiplier";
  if (metadata.Has(logarithm)) {
    SINKD_ASSIGN_OR_RETURN(const double value, metadata.Number(logarithm));
    if (value != 0 && !prefix.starts_with("deepseek2.")) return refuse(logarithm);
    if (value != 0) yarn["mscale"] = yarn["mscale_all_dim"] = 10 * value;
  }
  for (const char* key : {"attn_factor", "yarn_attn_factor", "yarn_ext_factor"}) {
    if (!metadata.Has(prefix + key)) continue;
    SINKD_ASSIGN_OR_RETURN(const double value, metadata.Number(prefix + key));
    if (value != 1) return refuse(prefix + key);
  }
  return yarn;
}

}  // namespace

absl::StatusOr<Json> GgufRopeScaling(const GgufFile& file, const std::string& architecture,
                                     double theta, int64_t head_size) {
  const GgufMetadata& metadata = file.metadata();
  const std::string prefix = architecture + ".rope.scaling.";
  SINKD_ASSIGN_OR_RETURN(std::string kind, metadata.TextOr(prefix + "type", "none"));
  if (file.tensors().count(kLongFactors) > 0) return ReadLongrope(file, prefix);
  const auto factors = file.tensors().find(kRopeFactors);
  if (kind == "none" && factors != file.tensors().end()) {
    return ReadFactors(file, factors->second, theta, head_size);
  }
  // Written before there were kinds.
  std::string factor_key = prefix + "factor";
  const std::string old_key = architecture + ".rope.scale_linear";
  if (!metadata.Has(prefix + "type") && metadata.Has(old_key)) {
    kind = "linear";
    factor_key = old_key;
  }
  if (kind == "none") return Json();
  if (factors != file.tensors().end() || (kind != "linear" && kind != "yarn")) {
    return metadata.Error(
        prefix + "type",
        StrCat(
            "is ", Shorten(kind), ", which cannot be read from GGUF",
            kind == "linear" || kind == "yarn" ? " together with a tensor rope_freqs.weight" : ""),
        kUseCheckpoint);
  }
  SINKD_ASSIGN_OR_RETURN(const double factor, metadata.Number(factor_key));
  if (kind == "linear") return Json{{"rope_type", "linear"}, {"factor", factor}};
  return ReadYarn(metadata, prefix, factor);
}

}  // namespace sinkd

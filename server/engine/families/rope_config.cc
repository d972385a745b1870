#include "server/engine/families/rope_config.h"

#include <cmath>
#include <string>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kKinds[] = "use one of default, linear, dynamic, llama3, yarn, longrope";

// `type` wins over `rope_type` where both are written, as in transformers' config classes.
absl::StatusOr<std::string> ReadKind(const ConfigReader& scaling) {
  SINKD_ASSIGN_OR_RETURN(const std::string modern, scaling.TextOr("rope_type", "default"));
  return scaling.TextOr("type", modern);
}

absl::StatusOr<double> PositiveNumber(const ConfigReader& scaling, std::string_view key) {
  SINKD_ASSIGN_OR_RETURN(const double value, scaling.Number(key));
  if (value <= 0) return scaling.Error(key, "is not positive", "set a number over 0");
  return value;
}

// The mscale of YaRN (arXiv 2309.00071, section 3.4).
double YarnMscale(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

absl::Status ReadLlama3(const ConfigReader& scaling, RopeSpec& rope) {
  SINKD_ASSIGN_OR_RETURN(rope.low_frequency_factor, PositiveNumber(scaling, "low_freq_factor"));
  SINKD_ASSIGN_OR_RETURN(rope.high_frequency_factor, PositiveNumber(scaling, "high_freq_factor"));
  SINKD_ASSIGN_OR_RETURN(rope.original_positions,
                         PositiveNumber(scaling, "original_max_position_embeddings"));
  if (rope.high_frequency_factor == rope.low_frequency_factor) {
    return scaling.Error("high_freq_factor", "equals low_freq_factor",
                         "set it over low_freq_factor");
  }
  return absl::OkStatus();
}

absl::Status ReadYarn(const ConfigReader& scaling, int64_t max_positions, RopeSpec& rope) {
  SINKD_ASSIGN_OR_RETURN(rope.original_positions,
                         scaling.NumberOr("original_max_position_embeddings", 0));
  if (rope.original_positions <= 0) rope.original_positions = static_cast<double>(max_positions);
  SINKD_ASSIGN_OR_RETURN(rope.beta_fast, scaling.NumberOr("beta_fast", 32));
  SINKD_ASSIGN_OR_RETURN(rope.beta_slow, scaling.NumberOr("beta_slow", 1));
  SINKD_ASSIGN_OR_RETURN(rope.truncate, scaling.FlagOr("truncate", true));
  if (rope.beta_fast <= 0 || rope.beta_slow <= 0) {
    return scaling.Error(rope.beta_fast <= 0 ? "beta_fast" : "beta_slow", "is not positive",
                         "set a number over 0");
  }
  SINKD_ASSIGN_OR_RETURN(const double mscale, scaling.NumberOr("mscale", 0));
  SINKD_ASSIGN_OR_RETURN(const double mscale_all, scaling.NumberOr("mscale_all_dim", 0));
  const double inferred = mscale != 0 && mscale_all != 0 ? YarnMscale(rope.factor, mscale) /
                                                               YarnMscale(rope.factor, mscale_all)
                                                         : YarnMscale(rope.factor, 1);
  SINKD_ASSIGN_OR_RETURN(rope.attention_factor, scaling.NumberOr("attention_factor", inferred));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> ReadFactors(const ConfigReader& scaling, std::string_view key,
                                                int64_t pairs) {
  SINKD_ASSIGN_OR_RETURN(std::vector<double> factors, scaling.NumberList(key));
  if (static_cast<int64_t>(factors.size()) != pairs) {
    return scaling.Error(key, StrCat("does not hold ", pairs, " numbers"),
                         "list one per rotated pair of channels");
  }
  for (const double factor : factors) {
    if (factor <= 0) return scaling.Error(key, "holds a number that is not positive", kKinds);
  }
  return factors;
}

// The ratio of the two contexts counts, where the config names both (Phi-3); else `factor`.
absl::Status ReadLongrope(const ConfigReader& config, const ConfigReader& scaling,
                          int64_t max_positions, RopeSpec& rope) {
  SINKD_ASSIGN_OR_RETURN(rope.short_factors,
                         ReadFactors(scaling, "short_factor", rope.dimensions / 2));
  SINKD_ASSIGN_OR_RETURN(rope.long_factors,
                         ReadFactors(scaling, "long_factor", rope.dimensions / 2));
  SINKD_ASSIGN_OR_RETURN(const double inner,
                         scaling.NumberOr("original_max_position_embeddings", 0));
  SINKD_ASSIGN_OR_RETURN(const double original,
                         config.NumberOr("original_max_position_embeddings", inner));
  double factor = 1;
  if (original > 0) {
    rope.original_positions = original;
    factor = static_cast<double>(max_positions) / original;
  } else {
    rope.original_positions = static_cast<double>(max_positions);
    SINKD_ASSIGN_OR_RETURN(factor, PositiveNumber(scaling, "factor"));
  }
  const double inferred =
      factor <= 1 ? 1.0 : std::sqrt(1 + std::log(factor) / std::log(rope.original_positions));
  SINKD_ASSIGN_OR_RETURN(rope.attention_factor, scaling.NumberOr("attention_factor", inferred));
  return absl::OkStatus();
}

absl::Status ReadScaling(const ConfigReader& config, const ConfigReader& scaling,
                         int64_t max_positions, RopeSpec& rope) {
  SINKD_ASSIGN_OR_RETURN(const std::string kind, ReadKind(scaling));
  if (kind == "default") return absl::OkStatus();
  // Phi-3's first checkpoints wrote "su" for what is now called longrope.
  if (kind == "longrope" || kind == "su") {
    rope.kind = RopeKind::kLongrope;
    return ReadLongrope(config, scaling, max_positions, rope);
  }
  if (kind != "linear" && kind != "dynamic" && kind != "llama3" && kind != "yarn") {
    const std::string key = scaling.Has("type") ? "type" : "rope_type";
    return scaling.Error(key, "is not a rotary scaling this server knows", kKinds);
  }
  SINKD_ASSIGN_OR_RETURN(rope.factor, PositiveNumber(scaling, "factor"));
  if (kind == "linear") {
    rope.kind = RopeKind::kLinear;
    return absl::OkStatus();
  }
  if (kind == "dynamic") {
    rope.kind = RopeKind::kDynamic;
    rope.original_positions = static_cast<double>(max_positions);
    if (rope.dimensions <= 2) {
      return scaling.Error("factor", "cannot scale heads of two channels", "use another scaling");
    }
    return absl::OkStatus();
  }
  if (kind == "llama3") {
    rope.kind = RopeKind::kLlama3;
    return ReadLlama3(scaling, rope);
  }
  rope.kind = RopeKind::kYarn;
  return ReadYarn(scaling, max_positions, rope);
}

}  // namespace

absl::StatusOr<RopeSpec> ReadRope(const ConfigReader& config, const RopeDefaults& defaults) {
  RopeSpec rope;
  SINKD_ASSIGN_OR_RETURN(rope.theta, config.NumberOr("rope_theta", defaults.theta));
  const bool modern = config.HasObject("rope_parameters");
  ConfigReader scaling = config.Object(modern ? "rope_parameters" : "rope_scaling");
  if (!defaults.layer_type.empty() && scaling.HasObject(defaults.layer_type)) {
    scaling = scaling.Object(defaults.layer_type);
  }
  SINKD_ASSIGN_OR_RETURN(double partial,
                         config.NumberOr("partial_rotary_factor", defaults.partial));
  if (modern) {
    SINKD_ASSIGN_OR_RETURN(rope.theta, scaling.NumberOr("rope_theta", rope.theta));
    SINKD_ASSIGN_OR_RETURN(partial, scaling.NumberOr("partial_rotary_factor", partial));
  }
  if (rope.theta <= 1) {
    return config.Error("rope_theta", "is not over 1", "set the value the model was trained with");
  }
  rope.dimensions = static_cast<int64_t>(static_cast<double>(defaults.head_size) * partial);
  if (partial <= 0 || partial > 1 || rope.dimensions < 2 || rope.dimensions % 2 != 0) {
    return config.Error(
        "partial_rotary_factor",
        StrCat("makes ", rope.dimensions, " of ", defaults.head_size, " channels rotate"),
        "set a share that gives an even number of them, at least two");
  }
  SINKD_RETURN_IF_ERROR(ReadScaling(config, scaling, defaults.max_positions, rope));
  return rope;
}

}  // namespace sinkd

#include "server/engine/rope_config.h"

#include <cmath>
#include <string>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kKinds[] = "use one of default, linear, llama3, yarn";

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

absl::Status ReadScaling(const ConfigReader& scaling, int64_t max_positions, RopeSpec& rope) {
  SINKD_ASSIGN_OR_RETURN(const std::string kind, ReadKind(scaling));
  if (kind == "default") return absl::OkStatus();
  if (kind != "linear" && kind != "llama3" && kind != "yarn") {
    const std::string key = scaling.Has("type") ? "type" : "rope_type";
    return scaling.Error(key, "is not a rotary scaling this server knows", kKinds);
  }
  SINKD_ASSIGN_OR_RETURN(rope.factor, PositiveNumber(scaling, "factor"));
  if (kind == "linear") {
    rope.kind = RopeKind::kLinear;
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

absl::StatusOr<RopeSpec> ReadRope(const ConfigReader& config, int64_t max_positions) {
  RopeSpec rope;
  SINKD_ASSIGN_OR_RETURN(rope.theta, config.NumberOr("rope_theta", 10000.0));
  const bool modern = config.HasObject("rope_parameters");
  const ConfigReader scaling = config.Object(modern ? "rope_parameters" : "rope_scaling");
  if (modern) {
    SINKD_ASSIGN_OR_RETURN(rope.theta, scaling.NumberOr("rope_theta", rope.theta));
  }
  if (rope.theta <= 1) {
    return config.Error("rope_theta", "is not over 1", "set the value the model was trained with");
  }
  for (const ConfigReader* reader : {&config, &scaling}) {
    SINKD_ASSIGN_OR_RETURN(const double partial, reader->NumberOr("partial_rotary_factor", 1.0));
    if (partial != 1.0) {
      return reader->Error("partial_rotary_factor", "is not 1",
                           "this architecture rotates whole heads");
    }
  }
  SINKD_RETURN_IF_ERROR(ReadScaling(scaling, max_positions, rope));
  return rope;
}

}  // namespace sinkd

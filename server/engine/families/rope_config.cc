#include "server/engine/families/rope_config.h"

#include <cmath>
#include <string>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/decoder_keys.h"

namespace sinkd {
namespace {

constexpr char kOriginal[] = "original_max_position_embeddings";
constexpr char kKinds[] =
    "use one of default, linear, dynamic, llama3, yarn, longrope, proportional";

absl::StatusOr<std::string> ReadKind(const ConfigReader& scaling, const RopeDefaults& defaults) {
  SINKD_ASSIGN_OR_RETURN(const std::string_view key, EitherKey(scaling, "rope_type", "type"));
  if (key == "type" && scaling.Has(key) && !defaults.layer_type.empty()) {
    return scaling.Error(key, "is not read by all versions of transformers for this family",
                         "call it rope_type");
  }
  return scaling.TextOr(key, "default");
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
  if (rope.high_frequency_factor == rope.low_frequency_factor) {
    return scaling.Error("high_freq_factor", "equals low_freq_factor",
                         "set it over low_freq_factor");
  }
  return absl::OkStatus();
}

// `flat` is where transformers looks for `truncate`: not in the entries of layer types.
absl::Status ReadYarn(const ConfigReader& flat, const ConfigReader& scaling, RopeSpec& rope) {
  SINKD_ASSIGN_OR_RETURN(rope.beta_fast, scaling.NumberOr("beta_fast", 32));
  SINKD_ASSIGN_OR_RETURN(rope.beta_slow, scaling.NumberOr("beta_slow", 1));
  SINKD_ASSIGN_OR_RETURN(rope.truncate, flat.FlagOr("truncate", true));
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

absl::Status ReadLongrope(const ConfigReader& scaling, int64_t max_positions, RopeSpec& rope) {
  SINKD_ASSIGN_OR_RETURN(rope.short_factors,
                         ReadFactors(scaling, "short_factor", rope.dimensions / 2));
  SINKD_ASSIGN_OR_RETURN(rope.long_factors,
                         ReadFactors(scaling, "long_factor", rope.dimensions / 2));
  SINKD_ASSIGN_OR_RETURN(
      const double factor,
      scaling.NumberOr("factor", static_cast<double>(max_positions) / rope.original_positions));
  const double inferred =
      factor <= 1 ? 1.0 : std::sqrt(1 + std::log(factor) / std::log(rope.original_positions));
  SINKD_ASSIGN_OR_RETURN(rope.attention_factor, scaling.NumberOr("attention_factor", inferred));
  return absl::OkStatus();
}

// The key at the top, which some families have, goes before that of the scaling.
absl::Status ReadOriginalPositions(const ConfigReader& config, const ConfigReader& scaling,
                                   const RopeDefaults& defaults, RopeSpec& rope) {
  double top = 0;
  if (defaults.layer_type.empty()) {
    SINKD_ASSIGN_OR_RETURN(top, config.NumberOr(kOriginal, defaults.original_absent));
  }
  SINKD_ASSIGN_OR_RETURN(const double own,
                         scaling.NumberOr(kOriginal, static_cast<double>(defaults.max_positions)));
  rope.original_positions = top > 0 ? top : own;
  if (rope.original_positions <= 1) {
    return scaling.Error(kOriginal, "is not over 1", "set the context the model was trained with");
  }
  return absl::OkStatus();
}

absl::StatusOr<RopeKind> KindOf(const ConfigReader& scaling, const RopeDefaults& defaults) {
  struct Known {
    std::string_view name;
    RopeKind kind;
  };
  static constexpr Known kKnown[] = {{"default", RopeKind::kDefault},
                                     {"linear", RopeKind::kLinear},
                                     {"dynamic", RopeKind::kDynamic},
                                     {"llama3", RopeKind::kLlama3},
                                     {"yarn", RopeKind::kYarn},
                                     {"longrope", RopeKind::kLongrope},
                                     {"proportional", RopeKind::kProportional}};
  SINKD_ASSIGN_OR_RETURN(const std::string written, ReadKind(scaling, defaults));
  std::string_view name = written;
  if (defaults.in_three_parts && name == "mrope") name = "default";
  if (defaults.only_longrope && (name == "su" || name == "yarn")) name = "longrope";
  for (const Known& known : kKnown) {
    if (known.name != name) continue;
    if (!defaults.only_longrope || name == "default" || name == "longrope") return known.kind;
    return scaling.Error("rope_type", "is not a rotary scaling of this family",
                         "use default or longrope");
  }
  return scaling.Error(scaling.Has("rope_type") ? "rope_type" : "type",
                       "is not a rotary scaling this server knows", kKinds);
}

// What the kind of the scaling needs.
absl::Status ReadScaling(const ConfigReader& config, const ConfigReader& scaling,
                         const RopeDefaults& defaults, RopeSpec& rope) {
  const auto max_positions = static_cast<double>(defaults.max_positions);
  if (rope.kind == RopeKind::kLlama3 || rope.kind == RopeKind::kYarn ||
      rope.kind == RopeKind::kLongrope) {
    SINKD_RETURN_IF_ERROR(ReadOriginalPositions(config, scaling, defaults, rope));
  }
  if (rope.kind == RopeKind::kDefault) return absl::OkStatus();
  if (rope.kind == RopeKind::kLongrope) return ReadLongrope(scaling, defaults.max_positions, rope);
  const bool ratio = rope.kind == RopeKind::kYarn && scaling.Has("factor");
  SINKD_ASSIGN_OR_RETURN(
      rope.factor,
      scaling.NumberOr("factor", ratio ? max_positions / rope.original_positions : 1.0));
  if (rope.kind != RopeKind::kProportional && !ratio) {
    SINKD_ASSIGN_OR_RETURN(rope.factor, PositiveNumber(scaling, "factor"));
  }
  if (rope.factor <= 0) return scaling.Error("factor", "is not positive", "set a number over 0");
  if (rope.kind == RopeKind::kLlama3) return ReadLlama3(scaling, rope);
  if (rope.kind == RopeKind::kYarn) {
    const bool flat = defaults.layer_type.empty();
    return ReadYarn(flat ? scaling : config.Object("rope_parameters"), scaling, rope);
  }
  if (rope.kind != RopeKind::kDynamic) return absl::OkStatus();
  rope.original_positions = max_positions;
  if (rope.dimensions > 2) return absl::OkStatus();
  return scaling.Error("factor", "cannot scale heads of two channels", "use another scaling");
}

// Scaling by a fixed alpha in place of the length of the sample.
absl::Status ReadAlpha(const ConfigReader& scaling, RopeSpec& rope) {
  SINKD_ASSIGN_OR_RETURN(const double alpha, scaling.NumberOr("alpha", 0));
  if (alpha == 0) return absl::OkStatus();
  if (alpha < 0) return scaling.Error("alpha", "is negative", "set a number over 0");
  if (rope.dimensions <= 2) {
    return scaling.Error("alpha", "cannot scale heads of two channels", "use another scaling");
  }
  const auto dimensions = static_cast<double>(rope.dimensions);
  rope.kind = RopeKind::kDefault;
  rope.theta *= std::pow(alpha, dimensions / (dimensions - 2));
  return absl::OkStatus();
}

absl::Status ReadQueryGrowth(const ConfigReader& scaling, RopeSpec& rope) {
  SINKD_ASSIGN_OR_RETURN(rope.query_growth, scaling.Number("llama_4_scaling_beta"));
  if (rope.original_positions > 0 && rope.kind != RopeKind::kDynamic) {
    rope.growth_positions = rope.original_positions;
  } else {
    SINKD_ASSIGN_OR_RETURN(rope.growth_positions, scaling.Number(kOriginal));
  }
  scaling.PassOver({"max_position_embeddings"});  // written beside it, and read by nothing
  if (rope.growth_positions > 0) return absl::OkStatus();
  return scaling.Error(kOriginal, "is not positive", "set the context the model was trained with");
}

// How many channels rotate: a share of the first ones, or with the proportional kind all of them,
// most of them by nothing.
absl::Status ReadPartial(const ConfigReader& config, const ConfigReader& scaling,
                         const RopeDefaults& defaults, RopeSpec& rope) {
  constexpr char kKey[] = "partial_rotary_factor";
  const std::string_view top = defaults.partial_key.empty() ? kKey : defaults.partial_key;
  const bool inside = scaling.Has(kKey);
  SINKD_ASSIGN_OR_RETURN(double partial, config.NumberOr(top, defaults.partial));
  SINKD_ASSIGN_OR_RETURN(partial, scaling.NumberOr(kKey, partial));
  const auto refuse = [&](std::string_view what, std::string_view fix) {
    return inside ? scaling.Error(kKey, what, fix) : config.Error(top, what, fix);
  };
  const auto channels = static_cast<double>(defaults.head_size);
  if (rope.kind == RopeKind::kProportional) {
    if (partial < 0 || partial > 1) return refuse("is not from 0 to 1", "set a share");
    rope.dimensions = defaults.head_size;
    rope.turning_pairs = static_cast<int64_t>(std::floor(partial * channels / 2));
  } else if (partial != 1 && defaults.partial_key.empty()) {
    return refuse("is not 1, and all channels of this family rotate",
                  "remove the key, or use the model_type of the family that the model is of");
  } else {
    rope.dimensions = static_cast<int64_t>(channels * partial);
  }
  if (rope.dimensions == defaults.head_size && rope.dimensions % 2 != 0) {
    return config.Error("head_dim", StrCat("is odd: ", rope.dimensions),
                        "rotary embedding needs an even head size");
  }
  if (partial <= 1 && rope.dimensions >= 2 && rope.dimensions % 2 == 0) return absl::OkStatus();
  return refuse(StrCat("makes ", rope.dimensions, " of ", defaults.head_size, " channels rotate"),
                "rotary embedding needs an even number of them, at least two");
}

// The object that holds the scaling: old configs have rope_scaling, which goes first as in
// transformers, new ones rope_parameters.
absl::StatusOr<ConfigReader> Parameters(const ConfigReader& config, const RopeDefaults& defaults) {
  const bool both = config.HasObject("rope_scaling") && config.HasObject("rope_parameters");
  if (both && !defaults.layer_type.empty()) {
    return config.Error("rope_scaling", "is written beside rope_parameters",
                        "leave the one that the model was trained with");
  }
  if (config.HasObject("rope_scaling")) return config.Object("rope_scaling");
  if (config.HasValue("rope_parameters") || defaults.scaling_absent.empty()) {
    return config.Object("rope_parameters");
  }
  return ConfigReader::FromText("config.json", defaults.scaling_absent);
}

// The entry of the layer type that is asked for, or all of it where there is one rotation.
absl::StatusOr<ConfigReader> Scaling(const ConfigReader& config, const ConfigReader& parameters,
                                     const RopeDefaults& defaults) {
  constexpr std::string_view kTypes[] = {"full_attention", "sliding_attention"};
  const bool nested = parameters.HasObject(kTypes[0]) || parameters.HasObject(kTypes[1]);
  if (defaults.layer_type.empty()) {
    if (!nested) return parameters;
    const bool old = config.HasObject("rope_scaling");
    return config.Error(old ? "rope_scaling" : "rope_parameters",
                        "has entries for layer types, and all blocks of this family rotate alike",
                        "leave one entry's keys, without its name");
  }
  if (config.HasObject("rope_scaling")) {  // of the blocks that do not slide
    return defaults.layer_type == kTypes[0] ? parameters : parameters.Object(kTypes[1]);
  }
  if (!nested && config.HasObject("rope_parameters")) {
    return config.Error("rope_parameters", "has no entries for layer types",
                        "put its keys into full_attention, and those of the blocks that slide into "
                        "sliding_attention");
  }
  return parameters.Object(defaults.layer_type);
}

}  // namespace

absl::StatusOr<RopeSpec> ReadRope(const ConfigReader& config, const RopeDefaults& defaults) {
  RopeSpec rope;
  SINKD_ASSIGN_OR_RETURN(const ConfigReader parameters, Parameters(config, defaults));
  SINKD_ASSIGN_OR_RETURN(const ConfigReader scaling, Scaling(config, parameters, defaults));
  SINKD_ASSIGN_OR_RETURN(rope.kind, KindOf(scaling, defaults));
  SINKD_ASSIGN_OR_RETURN(const double theta, config.NumberOr(defaults.theta_key, defaults.theta));
  SINKD_ASSIGN_OR_RETURN(rope.theta, scaling.NumberOr("rope_theta", theta));
  if (rope.theta <= 1) {
    return config.Error(defaults.theta_key, "is not over 1",
                        "set the value the model was trained with");
  }
  SINKD_RETURN_IF_ERROR(ReadPartial(config, scaling, defaults, rope));
  // Written by its families whether it counts or not.
  if (defaults.original_absent > 0) config.PassOver({kOriginal});
  if (defaults.in_three_parts) {
    scaling.PassOver({"mrope_section", "mrope_interleaved"});
  }
  if (defaults.fixed_alpha && rope.kind == RopeKind::kDynamic) {
    SINKD_RETURN_IF_ERROR(ReadAlpha(scaling, rope));
  }
  SINKD_RETURN_IF_ERROR(ReadScaling(config, scaling, defaults, rope));
  if (defaults.mscales && rope.kind != RopeKind::kDefault) {
    if (rope.kind != RopeKind::kLongrope) {
      return scaling.Error("rope_type", "is not a rotary scaling of this family",
                           "use default or longrope");
    }
    SINKD_ASSIGN_OR_RETURN(rope.attention_factor, PositiveNumber(scaling, "short_mscale"));
    SINKD_ASSIGN_OR_RETURN(rope.long_attention_factor, PositiveNumber(scaling, "long_mscale"));
  }
  if (defaults.query_growth) SINKD_RETURN_IF_ERROR(ReadQueryGrowth(scaling, rope));
  if (defaults.scales_scores && rope.kind != RopeKind::kDefault) {
    SINKD_ASSIGN_OR_RETURN(const double mscale, scaling.NumberOr("mscale_all_dim", 0));
    if (mscale != 0) rope.score_factor = std::pow(YarnMscale(rope.factor, mscale), 2);
  }
  rope.interleaved = defaults.interleaved;
  return rope;
}

}  // namespace sinkd

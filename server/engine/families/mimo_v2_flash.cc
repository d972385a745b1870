// mimo_v2_flash: MiMo-V2-Flash. Windows in five of six blocks, which have a learned sink for each
// head and twice as many key heads; values of fewer channels, scaled; experts chosen by sigmoids.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {
namespace {

constexpr double kRotatingShare = 0.334;

absl::Status ReadShapes(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(spec.value_size, config.SizeOr("v_head_dim", 128, kMaxWidth));
  for (const int64_t window : spec.window) {
    HeadShape shape = spec.HeadsOf(0);
    if (window > 0) shape.kv_heads *= 2;
    if (spec.heads % shape.kv_heads != 0) {
      return config.Error("num_key_value_heads",
                          StrCat("times two, in blocks with a window, does not divide ",
                                 "num_attention_heads ", spec.heads),
                          "restore config.json from the checkpoint's source");
    }
    spec.head_shapes.push_back(shape);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanMiMoV2Flash(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.heads = 64,
                                                                     .kv_heads = 4,
                                                                     .head_size = 192,
                                                                     .max_positions = 131072,
                                                                     .norm_epsilon = 1e-5,
                                                                     .rope_theta = 0}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(spec.qkv_bias, config.FlagOr("attention_bias", false));
  SINKD_ASSIGN_OR_RETURN(int64_t window, ReadWindow(config, 129));
  // Without the query itself.
  SINKD_ASSIGN_OR_RETURN(const int64_t before,
                         config.SizeOr("sliding_window_size", 0, kMaxPositions));
  if (before > 0) window = before + 1;
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window, [](int64_t block) { return block > 0 && (block + 1) % 6 != 0; }, spec));
  SINKD_RETURN_IF_ERROR(ReadShapes(config, spec));
  SINKD_ASSIGN_OR_RETURN(spec.value_scale, config.NumberOr("attention_value_scale", 0.707));
  if (config.Has("attention_value_scale") && !config.HasValue("attention_value_scale")) {
    spec.value_scale = 1;
  }
  spec.learned_sinks = spec.sinks_where_windowed = true;
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec, "n_routed_experts"));
  SINKD_RETURN_IF_ERROR(ReadSigmoidRouter(config, {}, spec));
  SINKD_RETURN_IF_ERROR(ReadMlpTypes(config, spec));
  NameExperts(plan.names.block);
  plan.names.block.sinks = "self_attn.attention_sink_bias";
  const RopeDefaults rope{.partial = kRotatingShare, .partial_key = "partial_rotary_factor"};
  RopeDefaults full = rope, sliding = rope;
  full.theta = 5e6;
  sliding.theta = 10000;
  return RotateByLayerType(config, full, sliding, std::move(plan));
}

}  // namespace sinkd

#include "server/engine/families/latent_decoder.h"

#include <cmath>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kRestore[] = "restore config.json from the checkpoint's source";

absl::Status ReadLatents(const ConfigReader& config, const LatentDefaults& defaults,
                         DecoderSpec& spec) {
  LatentSpec& latent = spec.latent;
  // null: queries come from the stream itself.
  if (config.HasValue("q_lora_rank") || !config.Has("q_lora_rank")) {
    SINKD_ASSIGN_OR_RETURN(latent.query_rank,
                           config.SizeOr("q_lora_rank", defaults.query_rank, kMaxWidth));
  }
  SINKD_ASSIGN_OR_RETURN(latent.kv_rank,
                         config.SizeOr("kv_lora_rank", defaults.kv_rank, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(latent.shared,
                         config.SizeOr("qk_rope_head_dim", defaults.shared, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(spec.value_size, config.SizeOr("v_head_dim", defaults.values, kMaxWidth));
  if (config.HasValue("head_dim") && spec.head_size != latent.shared) {
    return config.Error("head_dim", StrCat("is not qk_rope_head_dim, ", latent.shared), kRestore);
  }
  if (spec.kv_heads != spec.heads) {
    return config.Error(
        "num_key_value_heads",
        StrCat("is not num_attention_heads, ", spec.heads, ": each head has its own keys"),
        kRestore);
  }
  config.PassOver({"qk_head_dim"});  // the sum of two others
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOnly(const ConfigReader& config, std::string_view key, std::string_view value) {
  SINKD_ASSIGN_OR_RETURN(const std::string written, config.TextOr(key, value));
  if (written == value) return absl::OkStatus();
  return config.Error(key, StrCat("is not ", value, ", the only one that is computed"),
                      "use a model with it");
}

absl::StatusOr<DecoderPlan> PlanLatentDecoder(const ConfigReader& config,
                                              GatedDecoderDefaults defaults,
                                              const LatentDefaults& latents) {
  defaults.head_size = latents.shared;
  defaults.rope_theta = 0;
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, defaults));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadLatents(config, latents, spec));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  bool interleaved = true;
  if (latents.interleaved_key) {
    // null counts as false there.
    SINKD_ASSIGN_OR_RETURN(interleaved,
                           config.FlagOr("rope_interleave", !config.Has("rope_interleave")));
  }
  spec.head_size = spec.latent.shared;  // which rotate
  SINKD_RETURN_IF_ERROR(
      ReadRopeForAll(config, {.interleaved = interleaved, .scales_scores = true}, spec));
  spec.ropes[0].last = true;
  SINKD_ASSIGN_OR_RETURN(const int64_t own,
                         config.SizeOr("qk_nope_head_dim", latents.own, kMaxWidth));
  spec.head_size += own;
  const double root = std::sqrt(static_cast<double>(spec.head_size));
  spec.score_scale.assign(spec.score_scale.size(), spec.ropes[0].score_factor / root);
  BlockWeightNames& names = plan.names.block;
  if (spec.latent.query_rank > 0) names.q = "self_attn.q_a_proj";
  names.q_latent_norm = "self_attn.q_a_layernorm";
  names.q_up = "self_attn.q_b_proj";
  names.kv = "self_attn.kv_a_proj_with_mqa";
  names.kv_latent_norm = "self_attn.kv_a_layernorm";
  names.kv_up = "self_attn.kv_b_proj";
  return plan;
}

}  // namespace sinkd

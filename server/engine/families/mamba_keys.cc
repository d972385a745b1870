#include "server/engine/families/mamba_keys.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/decoder_keys.h"

namespace sinkd {
namespace {

constexpr char kRestore[] = "restore config.json from the checkpoint's source";

// [least, most], infinity being written as such or left out with null.
absl::Status ReadStepLimits(const ConfigReader& config, MambaSpec& mamba) {
  constexpr char kKey[] = "time_step_limit";
  if (!config.HasValue(kKey)) return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> limits,
                         config.NumberList(kKey, /*infinite_too=*/true));
  if (limits.size() != 2 || limits[0] < 0 || limits[1] < limits[0]) {
    return config.Error(kKey, "is not an ascending pair of numbers from 0", kRestore);
  }
  mamba.least_step = limits[0];
  mamba.most_step = limits[1];
  return absl::OkStatus();
}

// mamba_d_head is a number or "auto".
absl::Status ReadHeadSize(const ConfigReader& config, int64_t width, MambaSpec& mamba) {
  constexpr char kKey[] = "mamba_d_head";
  if (width % mamba.heads != 0) {
    return config.Error("mamba_n_heads", StrCat("does not divide the width ", width), kRestore);
  }
  mamba.head_size = width / mamba.heads;
  const absl::StatusOr<std::string> text = config.TextOr(kKey, "auto");
  if (text.ok() && *text == "auto") return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(const int64_t size, config.Size(kKey, kMaxWidth));
  if (size == mamba.head_size) return absl::OkStatus();
  return config.Error(kKey, StrCat("times mamba_n_heads is not the width ", width), kRestore);
}

}  // namespace

absl::Status ReadMamba(const ConfigReader& config, DecoderPlan& plan, const MambaWidth& defaults) {
  DecoderSpec& spec = plan.spec;
  MambaSpec& mamba = spec.mamba;
  SINKD_ASSIGN_OR_RETURN(mamba.heads, config.SizeOr("mamba_n_heads", 128, kMaxHeads));
  SINKD_ASSIGN_OR_RETURN(mamba.groups, config.SizeOr("mamba_n_groups", 1, mamba.heads));
  SINKD_ASSIGN_OR_RETURN(mamba.state_size, config.SizeOr("mamba_d_state", 256, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(const int64_t expand, config.SizeOr("mamba_expand", 2, 64));
  int64_t width = expand * spec.hidden;
  const std::string_view key = defaults.width_key;
  if (!key.empty() && (config.HasValue(key) || !config.Has(key))) {
    SINKD_ASSIGN_OR_RETURN(width, config.SizeOr(key, defaults.width, kMaxWidth));
  }
  SINKD_RETURN_IF_ERROR(ReadHeadSize(config, width, mamba));
  if (mamba.heads % mamba.groups != 0) {
    return config.Error("mamba_n_groups", StrCat("does not divide mamba_n_heads, ", mamba.heads),
                        kRestore);
  }
  SINKD_ASSIGN_OR_RETURN(spec.convolution_taps, config.SizeOr("mamba_d_conv", 4, kMaxTaps));
  SINKD_ASSIGN_OR_RETURN(spec.convolution_bias, config.FlagOr("mamba_conv_bias", true));
  SINKD_ASSIGN_OR_RETURN(mamba.input_bias, config.FlagOr("mamba_proj_bias", false));
  mamba.output_bias = mamba.input_bias;
  mamba.activation = spec.activation;
  // How a sequence is cut changes what is computed by roundings only.
  config.PassOver({"mamba_chunk_size"});
  SINKD_RETURN_IF_ERROR(ReadStepLimits(config, mamba));
  BlockWeightNames& names = plan.names.block;
  names.mixer_in = "mamba.in_proj";
  names.mixer_out = "mamba.out_proj";
  names.convolution = "mamba.conv1d";
  names.mixer_norm = "mamba.norm";
  names.mixer_decay = "mamba.A_log";
  names.mixer_step = "mamba.dt_bias";
  names.mamba_skip = "mamba.D";
  return absl::OkStatus();
}

}  // namespace sinkd

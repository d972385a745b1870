// A model family: from config.json to a DecoderSpec and weight names. Adding one takes a file in
// this folder, a line in families.cc and here, and a row in the family test.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/families/config_reader.h"

namespace sinkd {

struct DecoderPlan {
  DecoderSpec spec;
  WeightNames names;
  std::vector<std::string> warnings;  // keys of config.json that nothing reads
};

struct Family {
  std::string_view model_type;  // as config.json writes it
  absl::StatusOr<DecoderPlan> (*plan)(const ConfigReader& config);
};

std::span<const Family> Families();

absl::StatusOr<DecoderPlan> PlanApertus(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanArcee(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanBloom(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanCodeGen(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanCohere(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanCohere2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanDeepseekV2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanDeepseekV3(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanDots1(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanErnie(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanErnieMoe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanExaone4(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanFalcon(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanFalconH1(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanFlexOlmo(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGemma(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGemma2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGemma3(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGemma3Multimodal(const ConfigReader& config);  // its text half
absl::StatusOr<DecoderPlan> PlanGemma4(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGemma4Multimodal(const ConfigReader& config);  // its text half
absl::StatusOr<DecoderPlan> PlanGlm(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGlm4(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGlm4Moe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGlm4MoeLite(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGpt2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGptBigCode(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGptJ(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGptNeo(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGptNeox(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGptOss(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGranite(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGraniteMoe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGraniteMoeHybrid(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGraniteMoeShared(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGraniteMoeSwa(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGraniteSwa(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanHelium(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanHunyuan(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanHunyuanMoe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanKimiK25(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanLfm2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanLfm2Moe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanLlama(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanLlama4(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanLlama4Text(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanMiMoV2Flash(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanMiniMaxM2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanMinistral(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanMinistral3(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanMistral(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanMixtral(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanMpt(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanNemotron(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanNemotronH(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanOlmo(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanOlmo2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanOlmo3(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanOlmoe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanOpt(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanPersimmon(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanPhi(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanPhi3(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanPhiMoe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen2Moe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen2Vl(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen3(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen35(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen35Moe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen3Moe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen3Next(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen3Vl(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen3VlMoe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanSeedOss(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanSmolLm3(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanSolarOpen(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanStableLm(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanStarcoder2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanTextHalf(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanVaultGemma(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanYoutu(const ConfigReader& config);

}  // namespace sinkd

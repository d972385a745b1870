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

absl::StatusOr<DecoderPlan> PlanGemma2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGemma3(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGemma3Multimodal(const ConfigReader& config);  // its text half
absl::StatusOr<DecoderPlan> PlanGpt2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGptNeox(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanGptOss(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanLlama(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanMistral(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanMixtral(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanOlmo2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanOpt(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanPhi3(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen3(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen3Moe(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanSmolLm3(const ConfigReader& config);

}  // namespace sinkd

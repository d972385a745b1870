// A model family: from config.json to a DecoderSpec and weight names. Adding one takes a file in
// this folder, a line in families.cc, and a row in the family test.
#pragma once

#include <span>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/engine/config_reader.h"
#include "server/engine/decoder_spec.h"

namespace sinkd {

struct DecoderPlan {
  DecoderSpec spec;
  WeightNames names;
};

struct Family {
  std::string_view model_type;  // as config.json writes it
  absl::StatusOr<DecoderPlan> (*plan)(const ConfigReader& config);
};

std::span<const Family> Families();

absl::StatusOr<DecoderPlan> PlanLlama(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen2(const ConfigReader& config);
absl::StatusOr<DecoderPlan> PlanQwen3(const ConfigReader& config);

}  // namespace sinkd

#include "tests/engine/edited_samples.h"

#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

using Json = nlohmann::json;

// One word of several, as its place among them.
template <typename T>
T OneOf(const Json& word, std::initializer_list<std::pair<const char*, T>> known) {
  for (const auto& [name, value] : known) {
    if (word == name) return value;
  }
  std::abort();
}

Edit ReadEdit(const Json& json) {
  return {.block = json["block"],
          .site = OneOf<Site>(json["site"], {{"", Site::kMlpOut},
                                             {"attn_out", Site::kAttnOut},
                                             {"mlp_out", Site::kMlpOut},
                                             {"resid_post", Site::kResidPost}}),
          .positions = json["positions"],
          .action = OneOf<EditAction>(json["action"], {{"replace", EditAction::kReplace},
                                                       {"set_norm", EditAction::kSetNorm},
                                                       {"clip_norm", EditAction::kClipNorm},
                                                       {"add", EditAction::kAdd},
                                                       {"remove", EditAction::kRemove},
                                                       {"hide_keys", EditAction::kHideKeys},
                                                       {"zero_values", EditAction::kZeroValues},
                                                       {"zero_heads", EditAction::kZeroHeads},
                                                       {"one_key", EditAction::kOneKey},
                                                       {"plus_one", EditAction::kPlusOne}}),
          .vector = json["vector"],
          .amount = json["amount"],
          .heads = json.value("heads", std::vector<int64_t>())};
}

void Flatten(const Json& json, std::vector<float>& values) {
  if (json.is_number()) {
    values.push_back(json.get<float>());
    return;
  }
  for (const Json& each : json) Flatten(each, values);
}

EditedPass ReadPass(const Json& json) {
  EditedPass pass{.loss = json.value("loss", 0.0)};
  for (const Json& edit : json["edits"]) pass.edits.push_back(ReadEdit(edit));
  Flatten(json["state_norm"], pass.state_norm);
  if (json.contains("mlp_norm")) Flatten(json["mlp_norm"], pass.mlp_norm);
  if (json.contains("column_sum")) Flatten(json["column_sum"], pass.column_sum);
  if (json.contains("losses")) {
    pass.predictions = {json["losses"], json["choices"], json["divergence"]};
    pass.divergence_error = json["divergence_error"];
  }
  return pass;
}

EditedSample ReadSample(const std::string& folder, const std::string& checkpoint) {
  const std::string name = checkpoint.substr(checkpoint.find('/') + 1);
  std::ifstream file(OracleFolder() / folder / (name + ".json"));
  const Json json = Json::parse(file);
  EditedSample sample{.ids = json["ids"], .base = ReadPass(json["base"]), .variants = {}};
  for (const Json& variant : json["variants"]) sample.variants.push_back(ReadPass(variant));
  return sample;
}

}  // namespace

std::vector<Variant> EditedSample::Edits() const {
  std::vector<Variant> edits;
  for (const EditedPass& variant : variants) edits.push_back(variant.edits);
  return edits;
}

std::vector<const char*> EditedCheckpoints() {
  return {"tiny/llama_grouped",     "tiny/qwen2_plain",           "tiny/llama_tied",
          "families/gpt2_plain",    "families/gpt_neox_parallel", "families/gemma2_softcap",
          "families/opt_post_norm", "families/olmo2_plain",       "families/qwen3_moe_raw",
          "families/gpt_oss_sinks", "families/qwen2_other_head",  "decoders/cohere_plain",
          "decoders/phi_plain"};
}

EditedSample ReadEditedSample(const std::string& checkpoint) {
  return ReadSample("interventions", checkpoint);
}

std::vector<const char*> AblatedCheckpoints() {
  return {"tiny/llama_grouped",     "tiny/qwen2_window",    "families/gemma2_softcap",
          "families/gpt2_plain",    "families/olmo2_plain", "families/gpt_neox_parallel",
          "families/qwen3_moe_raw", "decoders/bloom_bias",  "families/gpt_oss_sinks"};
}

EditedSample ReadAblatedSample(const std::string& checkpoint) {
  return ReadSample("ablations", checkpoint);
}

}  // namespace sinkd::testing

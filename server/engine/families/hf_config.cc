#include "server/engine/families/hf_config.h"

#include <absl/strings/match.h>

#include "server/base/nearest_word.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/checkpoint_files.h"
#include "server/engine/checkpoint/gguf/gguf_config.h"
#include "server/engine/checkpoint/gguf/gguf_file.h"
#include "server/engine/checkpoint/gguf/gguf_folder.h"
#include "server/engine/checkpoint/quantized/quantization_config.h"
#include "server/engine/families/decoder_keys.h"
#include "server/engine/families/unread_keys.h"
#include "server/engine/model.h"

namespace sinkd {
namespace {

absl::Status RefuseClassifier(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> names, config.TextList("architectures"));
  for (const std::string& name : names) {
    for (const char* head : {"Classification", "QuestionAnswering", "MultipleChoice", "Reward"}) {
      if (!absl::StrContains(name, head)) continue;
      return config.Error("architectures", "names a classification head",
                          "use the language model it was made from");
    }
  }
  return absl::OkStatus();
}

// Why families that people ask for are not among those that load; empty for all others.
std::string_view WhyRefused(std::string_view model_type) {
  constexpr std::string_view kIndexer =
      "selects the keys of each query with an indexer, which is not computed";
  constexpr std::string_view kBothWays = "looks ahead as well as back, which is not computed";
  constexpr std::string_view kNoAttention = "has no attention, which sinks are measured in";
  struct Refused {
    std::string_view model_type;
    std::string_view reason;
  };
  static constexpr Refused kRefused[] = {
      {"bert", kBothWays},       {"deepseek_v32", kIndexer}, {"deepseek_v4", kIndexer},
      {"glm_moe_dsa", kIndexer}, {"mamba", kNoAttention},    {"mamba2", kNoAttention},
      {"modernbert", kBothWays}, {"rwkv", kNoAttention},
  };
  for (const Refused& refused : kRefused) {
    if (refused.model_type == model_type) return refused.reason;
  }
  return "";
}

absl::Status RefuseUnknown(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const std::string model_type, config.TextOr("model_type", ""));
  std::vector<std::string_view> known;
  for (const Family& family : Families()) known.push_back(family.model_type);
  const std::string fix =
      StrCat("use a checkpoint of one of the ", known.size(),
             " families that `sinkctl families` lists", DidYouMean(model_type, known));
  if (const std::string_view reason = WhyRefused(model_type); !reason.empty()) {
    return config.Error("model_type", StrCat("is a family that ", reason), fix);
  }
  if (config.HasObject("auto_map")) {
    return config.Error("model_type",
                        "needs code from the checkpoint (auto_map), which this server never runs",
                        fix);
  }
  return config.Error("model_type", "is not a model family this server knows", fix);
}

// config.json or, in a folder without one, what its GGUF file says.
absl::StatusOr<ConfigReader> OpenConfig(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / "config.json", ignored)) return ConfigReader::Open(folder);
  SINKD_ASSIGN_OR_RETURN(const std::filesystem::path path, FindGguf(folder));
  if (path.empty()) {
    SINKD_RETURN_IF_ERROR(ExplainNoConfig(folder));
    return ConfigReader::Open(folder);  // says what is missing
  }
  SINKD_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
  SINKD_ASSIGN_OR_RETURN(const std::string text, GgufConfig(file));
  return ConfigReader::FromText(file.name(), text);
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanFromConfig(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const std::string model_type, config.TextOr("model_type", ""));
  const Family* known = nullptr;
  for (const Family& family : Families()) {
    if (family.model_type == model_type) known = &family;
  }
  if (known == nullptr) return RefuseUnknown(config);
  SINKD_RETURN_IF_ERROR(ReadQuantization(config, model_type).status());
  SINKD_RETURN_IF_ERROR(RefuseClassifier(config));
  SINKD_RETURN_IF_ERROR(RefuseOtherRules(config));
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, known->plan(config));
  SINKD_RETURN_IF_ERROR(CheckLayerTypes(config, plan.spec));
  plan.spec.architecture = model_type;
  plan.warnings = WarnOfUnreadKeys(config);
  return plan;
}

absl::StatusOr<DecoderPlan> PlanFromFolder(const std::filesystem::path& folder) {
  SINKD_ASSIGN_OR_RETURN(const ConfigReader config, OpenConfig(folder));
  return PlanFromConfig(config);
}

absl::StatusOr<DecoderSpec> ReadDecoderSpec(const std::filesystem::path& folder) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanFromFolder(folder));
  return plan.spec;
}

std::filesystem::path SpecFile(const std::filesystem::path& folder) {
  const std::filesystem::path config = folder / "config.json";
  std::error_code ignored;
  if (std::filesystem::exists(config, ignored)) return config;
  const absl::StatusOr<std::filesystem::path> gguf = FindGguf(folder);
  return gguf.ok() && !gguf->empty() ? *gguf : config;
}

}  // namespace sinkd

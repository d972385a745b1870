#include "server/engine/hf_config.h"

#include <absl/strings/match.h>
#include <absl/strings/str_join.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/gguf/gguf_config.h"
#include "server/engine/gguf/gguf_file.h"
#include "server/engine/gguf/gguf_folder.h"
#include "server/engine/model.h"

namespace sinkd {
namespace {

std::string KnownFamilies() {
  return absl::StrJoin(Families(), ", ", [](std::string* out, const Family& family) {
    out->append(family.model_type);
  });
}

// gpt-oss's own MXFP4 is unpacked on load.
absl::Status RefuseQuantized(const ConfigReader& config, std::string_view model_type) {
  if (!config.HasObject("quantization_config")) return absl::OkStatus();
  const ConfigReader quantization = config.Object("quantization_config");
  SINKD_ASSIGN_OR_RETURN(const std::string method, quantization.TextOr("quant_method", ""));
  if (method == "mxfp4" && model_type == "gpt_oss") return absl::OkStatus();
  return quantization.Error("quant_method", "names a quantized checkpoint, which cannot be loaded",
                            "use the float32, float16 or bfloat16 checkpoint");
}

absl::Status RefuseClassifier(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> names, config.TextList("architectures"));
  for (const std::string& name : names) {
    if (absl::StrContains(name, "Classification") || absl::StrContains(name, "QuestionAnswering")) {
      return config.Error("architectures", "names a classification head",
                          "use the language model it was made from");
    }
  }
  return absl::OkStatus();
}

// config.json or, in a folder without one, what its GGUF file says.
absl::StatusOr<ConfigReader> OpenConfig(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / "config.json", ignored)) return ConfigReader::Open(folder);
  SINKD_ASSIGN_OR_RETURN(const std::filesystem::path path, FindGguf(folder));
  if (path.empty()) return ConfigReader::Open(folder);  // says what is missing
  SINKD_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
  SINKD_ASSIGN_OR_RETURN(const std::string text, GgufConfig(file));
  return ConfigReader::FromText(file.name(), text);
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanFromFolder(const std::filesystem::path& folder) {
  SINKD_ASSIGN_OR_RETURN(const ConfigReader config, OpenConfig(folder));
  SINKD_ASSIGN_OR_RETURN(const std::string model_type, config.TextOr("model_type", ""));
  const Family* known = nullptr;
  for (const Family& family : Families()) {
    if (family.model_type == model_type) known = &family;
  }
  if (known == nullptr) {
    return config.Error("model_type", "is not a model family this server knows",
                        StrCat("use a checkpoint of one of: ", KnownFamilies()));
  }
  SINKD_RETURN_IF_ERROR(RefuseQuantized(config, model_type));
  SINKD_RETURN_IF_ERROR(RefuseClassifier(config));
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, known->plan(config));
  plan.spec.architecture = model_type;
  return plan;
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

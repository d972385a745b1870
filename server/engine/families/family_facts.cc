#include "server/engine/family_facts.h"

#include "server/engine/families/family_differences.h"

namespace sinkd {
namespace {

constexpr std::string_view kReference = "transformers 4.57.1";

// Names, parameters, bytes in bfloat16; tested against their published config.json.
constexpr KnownModel kGemma2[] = {
    {"google/gemma-2-9b", 9'241'705'984, 18'483'411'968},
};
constexpr KnownModel kGemma3[] = {
    {"google/gemma-3-4b-it", 4'300'079'472, 7'760'526'336},
};
constexpr KnownModel kGemma3Text[] = {
    {"google/gemma-3-1b-it", 999'885'952, 1'999'771'904},
};
constexpr KnownModel kGpt2[] = {
    {"openai-community/gpt2", 124'439'808, 248'879'616},
};
constexpr KnownModel kGptNeox[] = {
    {"EleutherAI/pythia-1.4b", 1'414'647'808, 2'623'250'432},
};
constexpr KnownModel kGptOss[] = {
    {"openai/gpt-oss-20b", 20'914'757'184, 40'671'250'560},
    {"openai/gpt-oss-120b", 116'829'156'672, 232'500'051'072},
};
constexpr KnownModel kLlama[] = {
    {"meta-llama/Llama-2-7b-hf", 6'738'415'616, 13'214'687'232},
    {"codellama/CodeLlama-7b-hf", 6'738'546'688, 13'214'818'304},
    {"meta-llama/Llama-3.1-8B", 8'030'261'248, 15'009'849'344},
    {"meta-llama/Llama-3.2-1B", 1'235'814'400, 2'471'628'800},
    {"deepseek-ai/DeepSeek-R1-Distill-Llama-8B", 8'030'261'248, 15'009'849'344},
    {"HuggingFaceTB/SmolLM2-135M", 134'515'008, 269'030'016},
};
constexpr KnownModel kMistral[] = {
    {"mistralai/Mathstral-7B-v0.1", 7'248'023'552, 14'227'611'648},
};
constexpr KnownModel kMixtral[] = {
    {"mistralai/Mixtral-8x7B-v0.1", 46'702'792'704, 93'143'441'408},
};
constexpr KnownModel kOlmo2[] = {
    {"allenai/OLMo-2-1124-7B", 7'298'617'344, 13'775'151'104},
};
constexpr KnownModel kOpt[] = {
    {"facebook/opt-125m", 125'239'296, 250'478'592},
    {"facebook/opt-350m", 331'196'416, 662'392'832},
};
constexpr KnownModel kPhi3[] = {
    {"microsoft/Phi-3-mini-4k-instruct", 3'821'079'552, 7'445'157'888},
    {"microsoft/Phi-3.5-mini-instruct", 3'821'079'552, 7'445'157'888},
    {"microsoft/phi-4", 14'659'507'200, 28'291'409'920},
    {"microsoft/Phi-4-mini-instruct", 3'836'021'760, 7'672'043'520},
};
constexpr KnownModel kQwen2[] = {
    {"Qwen/Qwen2-7B", 7'615'616'512, 14'141'238'272},
    {"Qwen/Qwen2.5-7B", 7'615'616'512, 14'141'238'272},
    {"Qwen/Qwen2.5-14B", 14'770'033'664, 27'982'931'968},
    {"Qwen/Qwen2.5-32B", 32'763'876'352, 63'970'617'344},
    {"Qwen/Qwen2.5-Math-7B", 7'615'616'512, 14'141'238'272},
    {"Qwen/Qwen2.5-Coder-7B", 7'615'616'512, 14'141'238'272},
    {"Qwen/QwQ-32B", 32'763'876'352, 63'970'617'344},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", 7'615'616'512, 14'141'238'272},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", 14'770'033'664, 27'982'931'968},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", 32'763'876'352, 63'970'617'344},
};
constexpr KnownModel kQwen3[] = {
    {"Qwen/Qwen3-4B", 4'022'468'096, 8'044'936'192},
    {"Qwen/Qwen3-8B", 8'190'735'360, 15'136'811'008},
    {"Qwen/Qwen3-14B", 14'768'307'200, 27'980'789'760},
    {"Qwen/Qwen3-32B", 32'762'123'264, 63'968'421'888},
};
constexpr KnownModel kQwen3Moe[] = {
    {"Qwen/Qwen3-30B-A3B", 30'532'122'624, 60'441'915'392},
};
constexpr KnownModel kSmolLm3[] = {
    {"HuggingFaceTB/SmolLM3-3B", 3'075'098'624, 6'150'197'248},
};

FamilyFacts Facts(std::string_view model_type, std::string_view models, std::string_view particular,
                  std::string_view finding, std::span<const KnownModel> known_models) {
  return {.model_type = model_type,
          .models = models,
          .particular = particular,
          .finding = finding,
          .reference = kReference,
          .differences = DifferencesOf(model_type),
          .known_models = known_models};
}

}  // namespace

std::span<const FamilyFacts> AllFamilyFacts() {
  static const FamilyFacts facts[] = {
      Facts("gemma2", "Gemma 2", "norms before and after, soft caps, windows in every second block",
            "", kGemma2),
      Facts("gemma3", "Gemma 3 4B to 27B, their text half",
            "as gemma3_text; the vision half is left alone", "", kGemma3),
      Facts("gemma3_text", "Gemma 3 1B, text-only copies of the larger ones",
            "norms before and after, norms on q and k, two rotary bases", "", kGemma3Text),
      Facts("gpt2", "GPT-2", "learned positions, layer norms", "", kGpt2),
      Facts("gpt_neox", "Pythia, GPT-NeoX", "parallel residual, partial rotary, layer norms", "",
            kGptNeox),
      Facts("gpt_oss", "gpt-oss 20B, 120B", "experts in MXFP4, learned sinks, alternating windows",
            "gpt-oss-20b is in the model list of its code", kGptOss),
      Facts("llama", "Llama 2 to 3.2, CodeLlama, SmolLM2, R1-Distill-Llama",
            "llama3 and other rotary scalings",
            "Llama 2 to 3.1, CodeLlama and R1-Distill-Llama-8B are in the model list of its code",
            kLlama),
      Facts("mistral", "Mistral 7B, Mathstral", "a window where the configuration sets one",
            "Mathstral-7B is in the model list of its code", kMistral),
      Facts("mixtral", "Mixtral", "mixture of experts", "", kMixtral),
      Facts("olmo2", "OLMo 2", "norms after only, norms over all of q and of k", "", kOlmo2),
      Facts("opt", "OPT", "learned positions, layer norms, after the residual in 350M", "", kOpt),
      Facts("phi3", "Phi-3 to Phi-4-mini", "fused weights, partial rotary, longrope",
            "Phi-4 and Phi-4-mini are in the model list of its code", kPhi3),
      Facts("qwen2", "Qwen2, Qwen2.5, Math, Coder, QwQ, R1-Distill-Qwen",
            "biases on q, k and v, windows by flag",
            "three sink levels in QwQ-32B; its published runs of R1-Distill-Qwen-14B start at "
            "layer 22",
            kQwen2),
      Facts("qwen3", "Qwen3", "norms on q and k, windows by flag",
            "six sink levels in Qwen3-14B; its published runs of Qwen3-4B-Base start at layer 16",
            kQwen3),
      Facts("qwen3_moe", "Qwen3-30B-A3B and kin", "mixture of experts, norms on q and k", "",
            kQwen3Moe),
      Facts("smollm3", "SmolLM3", "every fourth block without rotary", "", kSmolLm3),
  };
  return facts;
}

}  // namespace sinkd

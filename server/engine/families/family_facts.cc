#include "server/engine/family_facts.h"

#include "server/engine/families/family_differences.h"

namespace sinkd {
namespace {

constexpr std::string_view kReference = "transformers 4.57.1";
constexpr std::string_view kReference5 = "transformers 5.24.0";

// Names, parameters, bytes in bfloat16; tested against their published config.json.
constexpr KnownModel kArcee[] = {
    {"arcee-ai/AFM-4.5B", 4'619'184'640, 8'582'988'800},
};
constexpr KnownModel kCohere2[] = {
    {"CohereLabs/c4ai-command-r7b-12-2024", 8'028'033'024, 16'056'066'048},
};
constexpr KnownModel kCohere[] = {
    {"CohereLabs/c4ai-command-r-v01", 34'980'831'232, 69'961'662'464},
};
constexpr KnownModel kDots1[] = {
    {"rednote-hilab/dots.llm1.inst", 142'774'381'696, 284'303'055'104},
};
constexpr KnownModel kErnie45Moe[] = {
    {"baidu/ERNIE-4.5-21B-A3B-PT", 21'825'437'888, 43'650'875'776},
};
constexpr KnownModel kErnie45[] = {
    {"baidu/ERNIE-4.5-0.3B-PT", 360'748'032, 721'496'064},
};
constexpr KnownModel kExaone4[] = {
    {"LGAI-EXAONE/EXAONE-4.0-1.2B", 1'279'391'488, 2'558'782'976},
};
constexpr KnownModel kGemma2[] = {
    {"google/gemma-2-9b", 9'241'705'984, 18'483'411'968},
};
constexpr KnownModel kGemma3Text[] = {
    {"google/gemma-3-1b-it", 999'885'952, 1'999'771'904},
};
constexpr KnownModel kGemma3[] = {
    {"google/gemma-3-4b-it", 4'300'079'472, 7'760'526'336},
};
constexpr KnownModel kGemma[] = {
    {"google/gemma-2b", 2'506'172'416, 5'012'344'832},
};
constexpr KnownModel kGlm4Moe[] = {
    {"zai-org/GLM-4.5-Air", 106'852'251'264, 212'462'988'544},
};
constexpr KnownModel kGlm4[] = {
    {"zai-org/GLM-4-9B-0414", 9'400'279'040, 17'559'044'096},
};
constexpr KnownModel kGlm[] = {
    {"zai-org/glm-4-9b-chat-hf", 9'399'951'360, 17'558'388'736},
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
constexpr KnownModel kGranite[] = {
    {"ibm-granite/granite-3.1-2b-instruct", 2'533'531'648, 5'067'063'296},
};
constexpr KnownModel kGranitemoe[] = {
    {"ibm-granite/granite-3.1-1b-a400m-instruct", 1'334'628'352, 2'669'256'704},
};
constexpr KnownModel kGranitemoehybrid[] = {
    {"ibm-granite/granite-4.0-h-tiny", 6'939'037'248, 13'878'074'496},
};
constexpr KnownModel kHelium[] = {
    {"kyutai/helium-1-preview-2b", 2'172'643'840, 4'099'527'680},
};
constexpr KnownModel kHunyuanV1Dense[] = {
    {"tencent/Hunyuan-1.8B-Instruct", 1'791'080'448, 3'582'160'896},
};
constexpr KnownModel kLfm2[] = {
    {"LiquidAI/LFM2-1.2B", 1'170'340'608, 2'340'681'216},
};
constexpr KnownModel kLfm2Moe[] = {
    {"LiquidAI/LFM2-8B-A1B", 8'339'930'560, 16'679'861'120},
};
constexpr KnownModel kLlama[] = {
    {"meta-llama/Llama-2-7b-hf", 6'738'415'616, 13'214'687'232},
    {"codellama/CodeLlama-7b-hf", 6'738'546'688, 13'214'818'304},
    {"meta-llama/Llama-3.1-8B", 8'030'261'248, 15'009'849'344},
    {"meta-llama/Llama-3.2-1B", 1'235'814'400, 2'471'628'800},
    {"deepseek-ai/DeepSeek-R1-Distill-Llama-8B", 8'030'261'248, 15'009'849'344},
    {"HuggingFaceTB/SmolLM2-135M", 134'515'008, 269'030'016},
};
constexpr KnownModel kLlava[] = {
    {"llava-hf/llava-1.5-7b-hf", 7'063'427'072, 13'215'211'520},
};
constexpr KnownModel kMinimaxM2[] = {
    {"MiniMaxAI/MiniMax-M2", 228'689'764'864, 456'150'336'512},
};
constexpr KnownModel kMinistral[] = {
    {"mistralai/Ministral-8B-Instruct-2410", 8'019'808'256, 14'965'874'688},
};
constexpr KnownModel kMistral3[] = {
    {"mistralai/Ministral-3-3B-Base-2512", 3'849'090'048, 6'858'012'672},
    {"mistralai/Mistral-Small-3.1-24B-Instruct-2503", 24'011'361'280, 45'802'629'120},
};
constexpr KnownModel kMistral[] = {
    {"mistralai/Mathstral-7B-v0.1", 7'248'023'552, 14'227'611'648},
};
constexpr KnownModel kMixtral[] = {
    {"mistralai/Mixtral-8x7B-v0.1", 46'702'792'704, 93'143'441'408},
};
constexpr KnownModel kNemotron[] = {
    {"nvidia/Minitron-4B-Base", 4'190'509'056, 6'808'154'112},
};
constexpr KnownModel kOlmo2[] = {
    {"allenai/OLMo-2-1124-7B", 7'298'617'344, 13'775'151'104},
};
constexpr KnownModel kOlmo3[] = {
    {"allenai/Olmo-3-1025-7B", 7'298'011'136, 13'774'544'896},
};
constexpr KnownModel kOlmo[] = {
    {"allenai/OLMo-1B-hf", 1'176'764'416, 2'353'528'832},
};
constexpr KnownModel kOlmoe[] = {
    {"allenai/OLMoE-1B-7B-0924", 6'919'161'856, 13'632'278'528},
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
constexpr KnownModel kPhi[] = {
    {"microsoft/phi-2", 2'779'683'840, 5'297'121'280},
};
constexpr KnownModel kQwen25Vl[] = {
    {"Qwen/Qwen2.5-VL-7B-Instruct", 8'292'166'656, 14'141'238'272},
};
constexpr KnownModel kQwen2Moe[] = {
    {"Qwen/Qwen1.5-MoE-A2.7B", 14'315'784'192, 28'009'238'528},
};
constexpr KnownModel kQwen2Vl[] = {
    {"Qwen/Qwen2-VL-2B-Instruct", 2'208'985'600, 3'087'428'608},
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
constexpr KnownModel kQwen3Moe[] = {
    {"Qwen/Qwen3-30B-A3B", 30'532'122'624, 60'441'915'392},
};
constexpr KnownModel kQwen3Next[] = {
    {"Qwen/Qwen3-Next-80B-A3B-Instruct", 79'674'391'296, 158'726'452'736},
};
constexpr KnownModel kQwen35[] = {
    {"Qwen/Qwen3.5-9B", 9'409'813'744, 15'873'369'088},
};
constexpr KnownModel kQwen35Moe[] = {
    {"Qwen/Qwen3.5-35B-A3B", 35'107'181'936, 68'304'102'656},
};
constexpr KnownModel kQwen3Vl[] = {
    {"Qwen/Qwen3-VL-4B-Instruct", 4'437'815'808, 8'044'936'192},
};
constexpr KnownModel kQwen3[] = {
    {"Qwen/Qwen3-4B", 4'022'468'096, 8'044'936'192},
    {"Qwen/Qwen3-8B", 8'190'735'360, 15'136'811'008},
    {"Qwen/Qwen3-14B", 14'768'307'200, 27'980'789'760},
    {"Qwen/Qwen3-32B", 32'762'123'264, 63'968'421'888},
};
constexpr KnownModel kSeedOss[] = {
    {"ByteDance-Seed/Seed-OSS-36B-Instruct", 36'151'104'512, 70'713'616'384},
};
constexpr KnownModel kSmolLm3[] = {
    {"HuggingFaceTB/SmolLM3-3B", 3'075'098'624, 6'150'197'248},
};
constexpr KnownModel kSolarOpen[] = {
    {"upstage/Solar-Open-100B", 102'651'799'552, 203'692'986'368},
};
constexpr KnownModel kStablelm[] = {
    {"stabilityai/stablelm-2-zephyr-1_6b", 1'644'515'328, 2'877'988'864},
    {"stabilityai/stablelm-2-12b", 12'143'185'920, 23'258'767'360},
};
constexpr KnownModel kStarcoder2[] = {
    {"bigcode/starcoder2-7b", 7'173'923'840, 14'347'847'680},
};
constexpr KnownModel kVaultgemma[] = {
    {"google/vaultgemma-1b", 1'038'741'120, 2'077'482'240},
};
constexpr KnownModel kApertus[] = {
    {"swiss-ai/Apertus-8B-2509", 8'053'338'240, 15'032'934'656},
};
constexpr KnownModel kBloom[] = {
    {"bigscience/bloom-560m", 559'214'592, 1'118'429'184},
};
constexpr KnownModel kCodegen[] = {
    {"Salesforce/codegen-350M-mono", 356'712'448, 608'464'896},
};
constexpr KnownModel kDeepseekV2[] = {
    {"deepseek-ai/DeepSeek-V2-Lite", 15'706'484'224, 30'993'538'048},
};
constexpr KnownModel kDeepseekV3[] = {
    {"deepseek-ai/DeepSeek-V3", 671'026'419'200, 1'340'199'480'320},
};
constexpr KnownModel kFalcon[] = {
    {"tiiuae/falcon-7b", 6'921'720'704, 13'843'441'408},
    {"tiiuae/falcon-rw-1b", 1'311'625'216, 2'623'250'432},
};
constexpr KnownModel kFalconH1[] = {
    {"tiiuae/Falcon-H1-0.5B-Base", 521'411'104, 975'680'576},
};
constexpr KnownModel kNemotronH[] = {
    {"nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 31'577'940'288, 62'451'237'504},
};
constexpr KnownModel kFlexOlmo[] = {
    {"allenai/FlexOlmo-7x7B-1T", 33'270'665'216, 65'719'246'848},
};
constexpr KnownModel kGlm4MoeLite[] = {
    {"zai-org/GLM-4.7-Flash", 29'943'393'920, 59'252'399'360},
};
constexpr KnownModel kGptBigcode[] = {
    {"bigcode/starcoderbase-1b", 1'137'207'296, 2'274'414'592},
};
constexpr KnownModel kGptNeo[] = {
    {"EleutherAI/gpt-neo-125m", 125'198'592, 250'397'184},
};
constexpr KnownModel kGptj[] = {
    {"EleutherAI/gpt-j-6b", 6'050'882'784, 11'688'787'968},
};
constexpr KnownModel kMimoV2Flash[] = {
    {"XiaomiMiMo/MiMo-V2-Flash", 308'778'780'864, 616'307'664'128},
};
constexpr KnownModel kMpt[] = {
    {"mosaicml/mpt-7b", 6'649'286'656, 13'298'573'312},
};
constexpr KnownModel kPersimmon[] = {
    {"adept/persimmon-8b-base", 9'397'175'296, 16'646'866'944},
};
constexpr KnownModel kPhimoe[] = {
    {"microsoft/Phi-3.5-MoE-instruct", 41'873'153'344, 83'483'574'272},
};
constexpr KnownModel kYoutu[] = {
    {"tencent/Youtu-LLM-2B", 1'961'560'064, 3'923'120'128},
};

FamilyFacts Facts(std::string_view model_type, std::string_view models, std::string_view particular,
                  std::string_view finding, std::span<const KnownModel> known_models,
                  std::string_view reference = kReference) {
  return {.model_type = model_type,
          .models = models,
          .particular = particular,
          .finding = finding,
          .reference = reference,
          .differences = DifferencesOf(model_type),
          .known_models = known_models};
}

}  // namespace

std::span<const FamilyFacts> AllFamilyFacts() {
  static const FamilyFacts facts[] = {
      Facts("apertus", "Apertus 8B, 70B",
            "xIELU, an activation with learned parameters; an MLP without gate; norms on q and k",
            "", kApertus, kReference5),
      Facts("arcee", "AFM 4.5B", "an MLP without gate, with squared ReLU", "", kArcee, kReference5),
      Facts("bloom", "BLOOM, BLOOMZ",
            "ALiBi instead of position embeddings, a norm after the embedding", "", kBloom,
            kReference5),
      Facts("codegen", "CodeGen", "as gptj; q, k and v in one matrix of four parts", "", kCodegen,
            kReference5),
      Facts("cohere", "Command R of 2024, Aya 23",
            "attention and MLP in parallel after one norm, interleaved rotary", "", kCohere,
            kReference5),
      Facts("cohere2", "Command R7B, Command A, Aya Expanse's successors",
            "as cohere; windows in three of four blocks; only these use rotary", "", kCohere2,
            kReference5),
      Facts("deepseek_v2", "DeepSeek-V2, V2-Lite, Coder-V2",
            "latent attention, grouped experts and shared experts", "", kDeepseekV2, kReference5),
      Facts("deepseek_v3", "DeepSeek-V3, V3.1, R1",
            "latent attention, a sigmoid router over grouped experts, a shared expert", "",
            kDeepseekV3, kReference5),
      Facts("dots1", "dots.llm1", "a sigmoid router, shared experts, norms on q and k", "", kDots1,
            kReference5),
      Facts("ernie4_5", "ERNIE 4.5 0.3B", "interleaved rotary", "", kErnie45, kReference5),
      Facts("ernie4_5_moe", "ERNIE 4.5 21B and 300B",
            "a router with correction biases, shared experts, interleaved rotary", "", kErnie45Moe,
            kReference5),
      Facts("exaone4", "EXAONE 4.0",
            "norms only after attention and MLP, norms on q and k; with windows, the other blocks "
            "have no rotary",
            "", kExaone4, kReference5),
      Facts("falcon", "Falcon 7B to 180B, RW, Falcon 2",
            "attention and MLP in parallel, few key-value heads; RW models sequential, with ALiBi",
            "", kFalcon, kReference5),
      Facts("falcon_h1", "Falcon-H1 0.5B to 34B",
            "Mamba2 beside softmax attention in every block, a multiplier on each part", "",
            kFalconH1, kReference5),
      Facts("flex_olmo", "FlexOlmo", "as olmoe, with norms only after attention and MLP", "",
            kFlexOlmo, kReference5),
      Facts("gemma", "Gemma 1, CodeGemma", "norms that scale by 1 + weight, a scaled embedding", "",
            kGemma, kReference5),
      Facts("gemma2", "Gemma 2",
            "norms before and after attention and MLP, soft caps, windows in every second block",
            "", kGemma2),
      Facts("gemma3", "Gemma 3 4B to 27B, their text half",
            "as gemma3_text; the vision part is not loaded", "", kGemma3),
      Facts("gemma3_text", "Gemma 3 1B, text-only copies of the larger ones",
            "norms before and after attention and MLP, norms on q and k, two rotary bases", "",
            kGemma3Text),
      Facts("gemma4", "Gemma 4 E2B to 31B, their text half",
            "as gemma4_text; the vision and audio parts are not loaded", "", {}, kReference5),
      Facts("gemma4_text", "Gemma 4, its text half alone",
            "keys and values shared with later blocks, per-layer token embeddings, norms on "
            "values, experts beside the MLP",
            "", {}, kReference5),
      Facts("glm", "GLM-4-9B, GLM-Edge",
            "interleaved rotary on half of each head, gate and up in one matrix", "", kGlm,
            kReference5),
      Facts("glm4", "GLM-4-0414, GLM-Z1", "as glm; norms before and after attention and MLP", "",
            kGlm4, kReference5),
      Facts("glm4_moe", "GLM-4.5, GLM-4.6",
            "a sigmoid router, a shared expert, rotary on half of each head", "", kGlm4Moe,
            kReference5),
      Facts("glm4_moe_lite", "GLM-4.7-Flash", "latent attention, a sigmoid router, a shared expert",
            "", kGlm4MoeLite, kReference5),
      Facts("gpt2", "GPT-2", "learned positions, layer norms", "", kGpt2),
      Facts("gpt_bigcode", "StarCoder, SantaCoder", "as gpt2, with one key-value head", "",
            kGptBigcode, kReference5),
      Facts("gpt_neo", "GPT-Neo",
            "learned positions, windows in every second block, attention scores are not scaled", "",
            kGptNeo, kReference5),
      Facts("gpt_neox", "Pythia, GPT-NeoX", "parallel residual, partial rotary, layer norms", "",
            kGptNeox),
      Facts("gpt_oss", "gpt-oss 20B, 120B", "experts in MXFP4, learned sinks, alternating windows",
            "gpt-oss-20b is in the model list of its code", kGptOss),
      Facts(
          "gptj", "GPT-J",
          "attention and MLP in parallel after one norm, interleaved rotary on a part of each head",
          "", kGptj, kReference5),
      Facts("granite", "Granite 3", "multipliers of embedding, residual, attention and logits", "",
            kGranite, kReference5),
      Facts("granite_swa", "Granite with windows",
            "as granite; windows in three of four blocks, a learned sink for each head, a rotary "
            "base for each block",
            "", {}, kReference5),
      Facts("granitemoe", "Granite 3 1B-A400M and 3B-A800M",
            "mixture of experts, multipliers as in granite", "", kGranitemoe, kReference5),
      Facts("granitemoe_swa", "Granite mixtures with windows",
            "as granite_swa and granitemoeshared", "", {}, kReference5),
      Facts(
          "granitemoehybrid", "Granite 4.0 350M to H-Small",
          "Mamba2 in most blocks, softmax attention in the others; multipliers, some with experts",
          "", kGranitemoehybrid, kReference5),
      Facts("granitemoeshared", "Granite mixtures with a shared expert",
            "as granitemoe, with a shared expert", "", {}, kReference5),
      Facts("helium", "Helium 1", "interleaved rotary", "", kHelium, kReference5),
      Facts("hunyuan_v1_dense", "Hunyuan 0.5B to 7B",
            "norms on q and k after rotary, NTK scaling with a fixed alpha", "", kHunyuanV1Dense,
            kReference5),
      Facts("hunyuan_v1_moe", "Hunyuan A13B",
            "mixture of experts with a shared expert, norms on q and k after rotary", "", {},
            kReference5),
      Facts("kimi_k25", "Kimi K2.5, its text half", "as deepseek_v3", "", {}, kReference5),
      Facts("lfm2", "LFM2 350M to 2.6B, LFM2.5",
            "short convolutions in most blocks, softmax attention in the others", "", kLfm2,
            kReference5),
      Facts("lfm2_moe", "LFM2 8B-A1B", "as lfm2; a sigmoid router", "", kLfm2Moe, kReference5),
      Facts("llama", "Llama 2 to 3.2, CodeLlama, SmolLM2, R1-Distill-Llama",
            "llama3 and other rotary scalings",
            "Llama 2 to 3.1, CodeLlama and R1-Distill-Llama-8B are in the model list of its code",
            kLlama),
      Facts("llama4", "Llama 4 Scout and Maverick, their text half",
            "as llama4_text; the vision part is not loaded", "", {}, kReference5),
      Facts("llama4_text", "Llama 4, its text half alone",
            "chunked attention; full attention without rotary in every fourth block; one routed "
            "and one shared expert per token",
            "", {}, kReference5),
      Facts("llava", "LLaVA 1.5 and 1.6 over known text models, their text half",
            "as the text half's family; the vision part is not loaded", "", kLlava, kReference5),
      Facts("mimo_v2_flash", "MiMo-V2-Flash",
            "windows in five of six blocks, with learned sinks and twice the key-value heads; "
            "value heads narrower than key heads",
            "", kMimoV2Flash, kReference5),
      Facts("minimax_m2", "MiniMax-M2",
            "a sigmoid router with correction biases, norms over all of q and of k, partial rotary",
            "", kMinimaxM2, kReference5),
      Facts("ministral", "Ministral 8B", "windows by block", "", kMinistral, kReference5),
      Facts("ministral3", "Ministral 3, its text half alone", "queries scaled by position", "", {},
            kReference5),
      Facts("mistral", "Mistral 7B, Mathstral", "a window where the configuration sets one",
            "Mathstral-7B is in the model list of its code", kMistral),
      Facts("mistral3", "Mistral Small 3.1 and 3.2, Ministral 3, their text half",
            "as mistral or ministral3", "", kMistral3, kReference5),
      Facts("mixtral", "Mixtral", "mixture of experts", "", kMixtral),
      Facts("mpt", "MPT 7B, 30B", "ALiBi, layer norms without bias", "", kMpt, kReference5),
      Facts("nemotron", "Minitron, Nemotron 4",
            "layer norms that scale by 1 + weight, an MLP without gate, with squared ReLU, partial "
            "rotary",
            "", kNemotron, kReference5),
      Facts("nemotron_h", "Nemotron-H, Nemotron Nano 2, Nemotron 3",
            "each block is one of Mamba2, softmax attention without rotary, an MLP, or experts", "",
            kNemotronH, kReference5),
      Facts("olmo", "OLMo 1", "layer norms without weights; q, k and v may be clamped", "", kOlmo,
            kReference5),
      Facts("olmo2", "OLMo 2", "norms only after attention and MLP, norms over all of q and of k",
            "", kOlmo2),
      Facts("olmo3", "OLMo 3", "as olmo2; windows in three of four blocks, without rotary scaling",
            "", kOlmo3, kReference5),
      Facts("olmoe", "OLMoE", "mixture of experts, norms over all of q and of k", "", kOlmoe,
            kReference5),
      Facts("opt", "OPT", "learned positions, layer norms; in 350M after the residual", "", kOpt),
      Facts("persimmon", "Persimmon 8B",
            "layer norms, also on each head of q and k, an MLP without gate, with squared ReLU", "",
            kPersimmon, kReference5),
      Facts("phi", "Phi-1, Phi-1.5, Phi-2",
            "attention and MLP in parallel after one norm, partial rotary, an MLP without gate", "",
            kPhi, kReference5),
      Facts("phi3", "Phi-3 to Phi-4-mini",
            "q, k, v and gate, up in one matrix each, partial rotary, longrope",
            "Phi-4 and Phi-4-mini are in the model list of its code", kPhi3),
      Facts("phimoe", "Phi-3.5-MoE",
            "SparseMixer routing, layer norms, rotary factors for short and long samples", "",
            kPhimoe, kReference5),
      Facts("qwen2", "Qwen2, Qwen2.5, Math, Coder, QwQ, R1-Distill-Qwen",
            "biases on q, k and v, windows by flag",
            "three sink levels in QwQ-32B; its published runs of R1-Distill-Qwen-14B start at "
            "layer 22",
            kQwen2),
      Facts("qwen2_5_vl", "Qwen2.5-VL, its text half", "as qwen2", "", kQwen25Vl, kReference5),
      Facts("qwen2_moe", "Qwen1.5-MoE, Qwen2-57B-A14B",
            "mixture of experts with a gated shared expert", "", kQwen2Moe, kReference5),
      Facts("qwen2_vl", "Qwen2-VL, its text half", "as qwen2", "", kQwen2Vl, kReference5),
      Facts("qwen3", "Qwen3", "norms on q and k, windows by flag",
            "six sink levels in Qwen3-14B; its published runs of Qwen3-4B-Base start at layer 16",
            kQwen3),
      Facts("qwen3_5", "Qwen3.5 0.8B to 27B, their text half",
            "as qwen3_5_text; the vision part is not loaded", "", kQwen35, kReference5),
      Facts("qwen3_5_moe", "Qwen3.5 35B-A3B to 397B-A17B, their text half",
            "as qwen3_5_moe_text; the vision part is not loaded", "", kQwen35Moe, kReference5),
      Facts("qwen3_5_moe_text", "text models made from qwen3_5_moe",
            "as qwen3_5_text; mixture of experts with a gated shared expert", "", {}, kReference5),
      Facts("qwen3_5_text", "text models made from qwen3_5",
            "gated delta rules in three of four blocks, gated softmax attention in the fourth", "",
            {}, kReference5),
      Facts("qwen3_moe", "Qwen3-30B-A3B and kin", "mixture of experts, norms on q and k", "",
            kQwen3Moe),
      Facts("qwen3_next", "Qwen3-Next 80B-A3B, Qwen3-Coder-Next",
            "gated delta rules in three of four blocks, gated softmax attention in the fourth, "
            "experts with a gated shared expert",
            "", kQwen3Next, kReference5),
      Facts("qwen3_vl", "Qwen3-VL, its text half", "as qwen3", "", kQwen3Vl, kReference5),
      Facts("qwen3_vl_moe", "Qwen3-VL mixtures, their text half", "as qwen3_moe", "", {},
            kReference5),
      Facts("seed_oss", "Seed-OSS 36B", "biases on q, k and v", "", kSeedOss, kReference5),
      Facts("smollm3", "SmolLM3", "no rotary in every fourth block", "", kSmolLm3),
      Facts("solar_open", "Solar Open 100B", "a sigmoid router, a shared expert", "", kSolarOpen,
            kReference5),
      Facts("stablelm", "StableLM 2, StableLM 3B",
            "layer norms, partial rotary; the 12B with attention and MLP in parallel and norms on "
            "each head",
            "", kStablelm, kReference5),
      Facts("starcoder2", "StarCoder2",
            "layer norms, biases, an MLP without gate, a window where the configuration sets one",
            "", kStarcoder2, kReference5),
      Facts("vaultgemma", "VaultGemma", "as gemma2, without norms after attention and MLP", "",
            kVaultgemma, kReference5),
      Facts("youtu", "Youtu-LLM 2B", "latent attention, a dense MLP", "", kYoutu, kReference5),
  };
  return facts;
}

}  // namespace sinkd

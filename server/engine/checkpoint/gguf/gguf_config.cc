#include "server/engine/checkpoint/gguf/gguf_config.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/gguf/gguf_folder.h"
#include "server/engine/checkpoint/gguf/gguf_keys.h"
#include "server/engine/checkpoint/gguf/gguf_rope.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;

constexpr char kUseCheckpoint[] = "use the model's safetensors checkpoint";
constexpr int64_t kMaxHeadSize = int64_t{1} << 20;  // memory is asked for by it
constexpr char kEmbedding[] = "token_embd.weight";

// The rows of the embedding, which may be more than the tokens.
absl::StatusOr<int64_t> VocabularySize(const GgufFile& file, const std::string& prefix) {
  const auto embedding = file.tensors().find(kEmbedding);
  if (embedding != file.tensors().end() && embedding->second.shape.size() == 2) {
    return embedding->second.shape[0];
  }
  return file.metadata().Integer(prefix + "vocab_size");
}

// Keys and values have it alike. Where a part of each head's channels may rotate, adds how many do.
absl::StatusOr<int64_t> HeadSize(const GgufMetadata& metadata, const std::string& prefix,
                                 const GgufTypeKeys& own, Json& config) {
  const std::string key = prefix + "attention.key_length";
  const std::string rotary = prefix + "rope.dimension_count";
  SINKD_ASSIGN_OR_RETURN(const int64_t hidden, metadata.Integer(prefix + "embedding_length"));
  SINKD_ASSIGN_OR_RETURN(const int64_t heads, metadata.Integer(prefix + "attention.head_count"));
  if (heads < 1)
    return metadata.Error(prefix + "attention.head_count", "is not positive", kUseCheckpoint);
  SINKD_ASSIGN_OR_RETURN(const int64_t head_size, metadata.IntegerOr(key, hidden / heads));
  if (head_size < 1 || head_size > kMaxHeadSize) {
    return metadata.Error(key, StrCat("makes heads of ", head_size, " channels"), kUseCheckpoint);
  }
  SINKD_ASSIGN_OR_RETURN(const int64_t values,
                         metadata.IntegerOr(prefix + "attention.value_length", head_size));
  if (values != head_size) {
    return metadata.Error(prefix + "attention.value_length",
                          StrCat("is ", values, ", where keys have ", head_size), kUseCheckpoint);
  }
  SINKD_ASSIGN_OR_RETURN(const int64_t turned, metadata.IntegerOr(rotary, head_size));
  if (!own.rotary_channels.empty()) config[own.rotary_channels] = turned;
  if (!own.partial_rotary.empty()) {
    config[own.partial_rotary] = static_cast<double>(turned) / static_cast<double>(head_size);
  } else if (own.rotary_channels.empty() && turned != head_size) {
    return metadata.Error(rotary, StrCat("is ", turned, ", not the head size ", head_size),
                          kUseCheckpoint);
  }
  return head_size;
}

// One number of key heads for each block of lfm2, 0 where a block does not attend.
absl::Status AddKeyHeadsOfBlocks(const GgufMetadata& metadata, const std::string& key,
                                 Json& config) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<int64_t> of_blocks, metadata.Integers(key));
  int64_t heads = 0;
  Json types = Json::array();
  for (const int64_t count : of_blocks) {
    types.push_back(count == 0 ? "conv" : "full_attention");
    if (count == 0 || count == heads) continue;
    if (heads != 0) return metadata.Error(key, "differs between blocks", kUseCheckpoint);
    heads = count;
  }
  config["num_key_value_heads"] = heads;
  config["layer_types"] = std::move(types);
  return absl::OkStatus();
}

// The sizes of latent attention. Newer files describe it as their program computes it, with one key
// head as wide as the latent, and give the heads' own sizes beside that.
absl::Status AddLatents(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  const std::string attention = prefix + "attention.";
  if (metadata.Has(attention + "q_lora_rank")) {
    SINKD_ASSIGN_OR_RETURN(config["q_lora_rank"], metadata.Integer(attention + "q_lora_rank"));
  } else {
    config["q_lora_rank"] = nullptr;
  }
  SINKD_ASSIGN_OR_RETURN(config["kv_lora_rank"], metadata.Integer(attention + "kv_lora_rank"));
  const char* const of_heads = metadata.Has(attention + "key_length_mla") ? "_mla" : "";
  SINKD_ASSIGN_OR_RETURN(const int64_t keys,
                         metadata.Integer(StrCat(attention, "key_length", of_heads)));
  SINKD_ASSIGN_OR_RETURN(config["v_head_dim"],
                         metadata.Integer(StrCat(attention, "value_length", of_heads)));
  SINKD_ASSIGN_OR_RETURN(const int64_t turned, metadata.Integer(prefix + "rope.dimension_count"));
  if (keys <= turned || keys > kMaxHeadSize) {
    return metadata.Error(StrCat(attention, "key_length", of_heads),
                          StrCat("is ", keys, ", of which ", turned, " channels rotate"),
                          kUseCheckpoint);
  }
  config["qk_rope_head_dim"] = config["head_dim"] = turned;
  config["qk_nope_head_dim"] = keys - turned;
  config["num_key_value_heads"] = config["num_attention_heads"];
  return absl::OkStatus();
}

absl::Status AddSizes(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  const std::pair<const char*, const char*> kSizes[] = {
      {"block_count", "num_hidden_layers"},
      {"context_length", "max_position_embeddings"},
      {"embedding_length", "hidden_size"},
      {"feed_forward_length", "intermediate_size"},
      {"attention.head_count", "num_attention_heads"}};
  for (const auto& [key, name] : kSizes) {
    SINKD_ASSIGN_OR_RETURN(config[name], metadata.Integer(prefix + key));
  }
  const std::string model_type = config["model_type"];
  if (model_type.starts_with("deepseek")) return AddLatents(metadata, prefix, config);
  const std::string key_heads = prefix + "attention.head_count_kv";
  if (model_type.starts_with("lfm2")) {
    SINKD_RETURN_IF_ERROR(AddKeyHeadsOfBlocks(metadata, key_heads, config));
  } else {
    SINKD_ASSIGN_OR_RETURN(config["num_key_value_heads"],
                           metadata.IntegerOr(key_heads, config["num_attention_heads"]));
  }
  SINKD_ASSIGN_OR_RETURN(config["head_dim"],
                         HeadSize(metadata, prefix, GgufKeysOf(model_type), config));
  return absl::OkStatus();
}

// By whose values other architectures of llama.cpp compute; 0 switches each off.
absl::Status RefuseOtherRules(const GgufMetadata& metadata, const std::string& prefix,
                              std::string_view model_type, int64_t context) {
  for (const char* key :
       {"attention.clamp_kqv", "attention.max_alibi_bias", "attention.scale",
        "attention.sliding_window", "attn_logit_softcapping", "embedding_scale",
        "final_logit_softcapping", "logit_scale", "residual_scale", "rescale_every_n_layers"}) {
    const std::string_view name(key);
    if (!metadata.Has(prefix + key) || FindGgufKey(model_type, name) != nullptr) continue;
    SINKD_ASSIGN_OR_RETURN(const double value, metadata.Number(prefix + key));
    const bool neutral = value == 0 || (name.ends_with("_scale") && value == 1) ||
                         (name.ends_with("window") && value >= static_cast<double>(context));
    if (neutral) continue;
    return metadata.Error(prefix + key,
                          StrCat("is ", value, ", and models of this architecture have none"),
                          kUseCheckpoint);
  }
  return absl::OkStatus();
}

// Whether a function below reads the key for this model type.
bool IsReadOf(std::string_view model_type, std::string_view key) {
  if (key == "attention.sliding_window_pattern") {
    return model_type == "olmo3" || model_type == "exaone4";
  }
  const bool latent = key == "attention.q_lora_rank" || key == "attention.kv_lora_rank" ||
                      key == "attention.key_length_mla" || key == "attention.value_length_mla";
  return latent && model_type.starts_with("deepseek");
}

// Keys that nothing here reads become keys of the config that no family reads, so that they are
// told like those of a config.json.
absl::Status AddOtherKeys(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  const std::string model_type = config["model_type"];
  static const std::set<std::string_view> kRead = {
      "attention.causal", "attention.clamp_kqv", "attention.head_count", "attention.head_count_kv",
      "attention.key_length", "attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon",
      "attention.max_alibi_bias", "expert_feed_forward_length", "expert_shared_feed_forward_length",
      "attention.scale", "attention.sliding_window", "attention.value_length",
      "attn_logit_softcapping", "block_count", "context_length", "embedding_length",
      "embedding_scale", "expert_count", "feed_forward_length", "final_logit_softcapping",
      "logit_scale", "rescale_every_n_layers", "residual_scale", "rope.dimension_count",
      "rope.freq_base", "rope.scale_linear", "vocab_size", "expert_gating_func",
      "nextn_predict_layers",
      // Of how the model was trained and stored, and how its states are used.
      "decoder_start_token_id", "expert_used_count", "pooling_type", "tensor_data_layout"};
  SINKD_RETURN_IF_ERROR(RefuseOtherRules(metadata, prefix, model_type,
                                         config["max_position_embeddings"].get<int64_t>()));
  for (const std::string& key : metadata.KeysOf(prefix)) {
    const std::string_view name = std::string_view(key).substr(prefix.size());
    const bool read = kRead.contains(name) || IsReadOf(model_type, name) ||
                      FindGgufKey(model_type, name) != nullptr;
    if (!read && !name.starts_with("rope.scaling.")) config[key] = true;
  }
  return absl::OkStatus();
}

// One of the model type's rows.
absl::Status AddKey(const GgufMetadata& metadata, const std::string& prefix, const GgufKey& own,
                    Json& config) {
  const std::string key = StrCat(prefix, own.key);
  if (!own.required && !metadata.Has(key)) return absl::OkStatus();
  Json& value = config[own.name];
  switch (own.as) {
    case GgufKey::As::kInteger: {
      SINKD_ASSIGN_OR_RETURN(value, metadata.Integer(key));
      return absl::OkStatus();
    }
    case GgufKey::As::kNumber: {
      SINKD_ASSIGN_OR_RETURN(value, metadata.Number(key));
      return absl::OkStatus();
    }
    case GgufKey::As::kFlag: {
      SINKD_ASSIGN_OR_RETURN(value, metadata.FlagOr(key, false));
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

absl::Status CheckGating(const GgufMetadata& metadata, const std::string& prefix, int64_t gating) {
  const std::string key = prefix + "expert_gating_func";
  SINKD_ASSIGN_OR_RETURN(const int64_t written, metadata.IntegerOr(key, gating));
  if (gating == 0 || written == gating) return absl::OkStatus();
  return metadata.Error(
      key, StrCat("is ", written, ", where routers of this architecture have ", gating),
      kUseCheckpoint);
}

// What the file does not say of gemma's scores is known of its largest models: they are divided by
// the root of the stream's share of a head, those of the others by that of the head size.
void AddGemma(Json& config) {
  constexpr int64_t kBlocksOf27B[] = {46, 62};  // of gemma2 and gemma3
  const bool third = config["model_type"] == "gemma3_text";
  const int64_t share =
      config["hidden_size"].get<int64_t>() / config["num_attention_heads"].get<int64_t>();
  const bool largest = config["num_hidden_layers"].get<int64_t>() == kBlocksOf27B[third ? 1 : 0];
  config["query_pre_attn_scalar"] = largest ? share : config["head_dim"].get<int64_t>();
  config["hidden_activation"] = "gelu_pytorch_tanh";
}

absl::Status AddPhi3(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  if (config.value("sliding_window", 1) == 0) config.erase("sliding_window");
  SINKD_ASSIGN_OR_RETURN(config["original_max_position_embeddings"],
                         metadata.IntegerOr(prefix + "rope.scaling.original_context_length",
                                            config["max_position_embeddings"].get<int64_t>()));
  return absl::OkStatus();
}

// Which blocks have a window, where the file says it.
absl::Status AddLayerTypes(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  const std::string key = prefix + "attention.sliding_window_pattern";
  if (!metadata.Has(key)) return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(const std::vector<int64_t> pattern, metadata.Integers(key));
  Json types = Json::array();
  for (const int64_t slides : pattern) {
    types.push_back(slides != 0 ? "sliding_attention" : "full_attention");
  }
  config["layer_types"] = std::move(types);
  return absl::OkStatus();
}

// Files from before expert_group_count do not say how the largest models group their experts.
absl::Status AddDeepseek(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  constexpr int64_t kGroups = 8, kExpertsOfV2 = 160, kExpertsOfV3 = 256;
  const bool second = config["model_type"] == "deepseek_v2";
  const auto experts = config["n_routed_experts"].get<int64_t>();
  if (!config.contains("n_group")) {
    const bool grouped = experts == (second ? kExpertsOfV2 : kExpertsOfV3);
    config["n_group"] = grouped ? kGroups : 1;
    config["topk_group"] = !grouped ? 1 : second ? 3 : 4;
  }
  if (!config.contains("norm_topk_prob")) config["norm_topk_prob"] = false;
  if (second) {
    const bool grouped = config["n_group"] != 1;
    config["topk_method"] = grouped ? "group_limited_greedy" : "greedy";
    return absl::OkStatus();
  }
  const std::string further = prefix + "nextn_predict_layers";
  SINKD_ASSIGN_OR_RETURN(config["num_nextn_predict_layers"], metadata.IntegerOr(further, 0));
  return absl::OkStatus();
}

// block_count holds the blocks that predict further tokens as well.
absl::Status AddGlm4Moe(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  const std::string key = prefix + "nextn_predict_layers";
  SINKD_ASSIGN_OR_RETURN(const int64_t further, metadata.IntegerOr(key, 0));
  const int64_t blocks = config["num_hidden_layers"].get<int64_t>() - further;
  if (further < 0 || blocks < 1) {
    return metadata.Error(key, StrCat("is ", further, ", which leaves ", blocks, " blocks"),
                          kUseCheckpoint);
  }
  config["num_hidden_layers"] = blocks;
  config["num_nextn_predict_layers"] = further;
  return absl::OkStatus();
}

// What no table says.
absl::Status AddOwnRules(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  const std::string type = config["model_type"];
  if (type == "gemma2" || type == "gemma3_text") AddGemma(config);
  if (type == "qwen2_moe" || type == "qwen3_moe") config["norm_topk_prob"] = type == "qwen3_moe";
  // Families that have a window where config.json does not say null.
  const bool windowed = type == "exaone4" || type == "dots1";
  if (windowed && !config.contains("sliding_window")) config["sliding_window"] = nullptr;
  if (type == "lfm2") config["block_auto_adjust_ff_dim"] = false;  // the width is the final one
  if (type == "hunyuan_v1_moe" || type == "minimax_m2") {
    SINKD_ASSIGN_OR_RETURN(config["intermediate_size"],
                           metadata.IntegerOr(prefix + "expert_feed_forward_length",
                                              config["intermediate_size"].get<int64_t>()));
  }
  if (type == "mpt") {
    for (const char* key : {"alibi_bias_max", "clip_qkv"}) {
      if (config.contains(key)) config["attn_config"][key] = config[key];
      config.erase(key);
    }
  }
  if (type == "phi3") return AddPhi3(metadata, prefix, config);
  if (type.starts_with("deepseek")) return AddDeepseek(metadata, prefix, config);
  if (type == "glm4_moe") return AddGlm4Moe(metadata, prefix, config);
  return AddLayerTypes(metadata, prefix, config);
}

// What a model type has beside sizes and rotation.
absl::Status AddOwnKeys(const GgufFile& file, const std::string& prefix, const GgufTypeKeys& own,
                        Json& config) {
  for (const GgufFlag& flag : own.flags) {
    const auto ends = [&flag](const auto& item) { return item.first.ends_with(flag.tensor); };
    config[flag.name] = std::any_of(file.tensors().begin(), file.tensors().end(), ends);
  }
  for (const GgufKey& key : own.keys) {
    SINKD_RETURN_IF_ERROR(AddKey(file.metadata(), prefix, key, config));
  }
  SINKD_RETURN_IF_ERROR(CheckGating(file.metadata(), prefix, own.gating));
  if (!own.activation.empty()) config["hidden_act"] = own.activation;
  if (!own.norm_epsilon.empty()) {
    const char* const key =
        own.layer_norm ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon";
    SINKD_ASSIGN_OR_RETURN(config[own.norm_epsilon], file.metadata().Number(prefix + key));
  }
  return AddOwnRules(file.metadata(), prefix, config);
}

absl::Status AddRope(const GgufFile& file, const std::string& architecture, Json& config) {
  const std::string key = architecture + ".rope.freq_base";
  double theta = 10000;
  if (file.metadata().Has(key)) {
    SINKD_ASSIGN_OR_RETURN(theta, file.metadata().Number(key));
  }
  config["rope_theta"] = theta;
  SINKD_ASSIGN_OR_RETURN(config["rope_scaling"],
                         GgufRopeScaling(file, architecture, theta, config["head_dim"]));
  // No file says it, and its program rounds the bounds of YaRN in any case.
  if (config["model_type"] == "gpt_oss" && config["rope_scaling"].is_object()) {
    config["rope_scaling"]["truncate"] = false;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> GgufConfig(const GgufFile& file) {
  SINKD_ASSIGN_OR_RETURN(const GgufArchitecture known, ArchitectureOf(file));
  const std::string architecture(known.name);
  const std::string prefix = architecture + ".";
  const GgufMetadata& metadata = file.metadata();
  Json config = {{"model_type", known.model_type},
                 {"tie_word_embeddings", file.tensors().count("output.weight") == 0}};
  SINKD_RETURN_IF_ERROR(AddSizes(metadata, prefix, config));
  SINKD_RETURN_IF_ERROR(AddOwnKeys(file, prefix, GgufKeysOf(known.model_type), config));
  SINKD_RETURN_IF_ERROR(AddOtherKeys(metadata, prefix, config));
  SINKD_ASSIGN_OR_RETURN(config["vocab_size"], VocabularySize(file, prefix));
  SINKD_RETURN_IF_ERROR(AddRope(file, architecture, config));
  for (const auto& [key, name] : GgufKeysOf(known.model_type).renames) {
    if (!name.empty()) config[name] = config[key];
    config.erase(std::string(key));
  }
  return config.dump();
}

}  // namespace sinkd

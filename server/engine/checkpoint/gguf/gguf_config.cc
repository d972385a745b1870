#include "server/engine/checkpoint/gguf/gguf_config.h"

#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/gguf/gguf_folder.h"
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

// `partial`: a part of each head's channels may rotate.
absl::StatusOr<int64_t> HeadSize(const GgufMetadata& metadata, const std::string& prefix,
                                 bool partial) {
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
  if (turned != head_size && !partial) {
    return metadata.Error(rotary, StrCat("is ", turned, ", not the head size ", head_size),
                          kUseCheckpoint);
  }
  return head_size;
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
  SINKD_ASSIGN_OR_RETURN(
      config["num_key_value_heads"],
      metadata.IntegerOr(prefix + "attention.head_count_kv", config["num_attention_heads"]));
  SINKD_ASSIGN_OR_RETURN(config["head_dim"],
                         HeadSize(metadata, prefix, config["model_type"] == "phi3"));
  return absl::OkStatus();
}

// Whether AddOwnKeys makes a key of the config of this one, by which others compute otherwise.
bool IsRead(std::string_view model_type, std::string_view key) {
  const bool windows = model_type == "gemma2" || model_type == "gemma3_text";
  if (key == "attention.sliding_window") return windows || model_type == "phi3";
  if (key.ends_with("scale")) return model_type == "granite";
  return model_type == "gemma2" && key.ends_with("_softcapping");
}

// By whose values other architectures of llama.cpp compute; 0 switches each off.
absl::Status RefuseOtherRules(const GgufMetadata& metadata, const std::string& prefix,
                              std::string_view model_type, int64_t context) {
  for (const char* key :
       {"attention.clamp_kqv", "attention.max_alibi_bias", "attention.scale",
        "attention.sliding_window", "attn_logit_softcapping", "embedding_scale",
        "final_logit_softcapping", "logit_scale", "residual_scale", "rescale_every_n_layers"}) {
    const std::string_view name(key);
    if (!metadata.Has(prefix + key) || IsRead(model_type, name)) continue;
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
      "rope.freq_base", "rope.scale_linear", "vocab_size",
      // Of how the model was trained and stored, and how its states are used.
      "decoder_start_token_id", "expert_used_count", "pooling_type", "tensor_data_layout"};
  SINKD_RETURN_IF_ERROR(RefuseOtherRules(metadata, prefix, model_type,
                                         config["max_position_embeddings"].get<int64_t>()));
  for (const std::string& key : metadata.KeysOf(prefix)) {
    const std::string_view name = std::string_view(key).substr(prefix.size());
    if (!kRead.contains(name) && !name.starts_with("rope.scaling.")) config[key] = true;
  }
  return absl::OkStatus();
}

absl::Status AddExperts(const GgufMetadata& metadata, const std::string& prefix,
                        std::string_view model_type, Json& config) {
  SINKD_ASSIGN_OR_RETURN(config[model_type == "mixtral" ? "num_local_experts" : "num_experts"],
                         metadata.Integer(prefix + "expert_count"));
  SINKD_ASSIGN_OR_RETURN(config["num_experts_per_tok"],
                         metadata.Integer(prefix + "expert_used_count"));
  if (model_type == "mixtral") return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(config["moe_intermediate_size"],
                         metadata.Integer(prefix + "expert_feed_forward_length"));
  config["norm_topk_prob"] = model_type == "qwen3_moe";
  if (model_type == "qwen3_moe") return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(config["shared_expert_intermediate_size"],
                         metadata.Integer(prefix + "expert_shared_feed_forward_length"));
  return absl::OkStatus();
}

// What the file does not say of gemma's scores is known of its largest models: they are divided by
// the root of the stream's share of a head, those of the others by that of the head size.
absl::Status AddGemma(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  constexpr int64_t kBlocksOf27B[] = {46, 62};  // of gemma2 and gemma3
  const bool third = config["model_type"] == "gemma3_text";
  const int64_t share =
      config["hidden_size"].get<int64_t>() / config["num_attention_heads"].get<int64_t>();
  const bool largest = config["num_hidden_layers"].get<int64_t>() == kBlocksOf27B[third ? 1 : 0];
  config["query_pre_attn_scalar"] = largest ? share : config["head_dim"].get<int64_t>();
  config["hidden_activation"] = "gelu_pytorch_tanh";
  SINKD_ASSIGN_OR_RETURN(config["sliding_window"],
                         metadata.Integer(prefix + "attention.sliding_window"));
  if (third) return absl::OkStatus();
  for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    SINKD_ASSIGN_OR_RETURN(config[key], metadata.Number(prefix + key));
  }
  return absl::OkStatus();
}

absl::Status AddGranite(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  const std::pair<const char*, const char*> kScales[] = {
      {"attention.scale", "attention_multiplier"},
      {"embedding_scale", "embedding_multiplier"},
      {"residual_scale", "residual_multiplier"},
      {"logit_scale", "logits_scaling"}};
  for (const auto& [key, name] : kScales) {
    SINKD_ASSIGN_OR_RETURN(config[name], metadata.Number(prefix + key));
  }
  return absl::OkStatus();
}

absl::Status AddPhi3(const GgufMetadata& metadata, const std::string& prefix, Json& config) {
  SINKD_ASSIGN_OR_RETURN(const int64_t window,
                         metadata.IntegerOr(prefix + "attention.sliding_window", 0));
  if (window > 0) config["sliding_window"] = window;
  const auto head_size = config["head_dim"].get<int64_t>();
  SINKD_ASSIGN_OR_RETURN(const int64_t turned,
                         metadata.IntegerOr(prefix + "rope.dimension_count", head_size));
  config["partial_rotary_factor"] = static_cast<double>(turned) / static_cast<double>(head_size);
  SINKD_ASSIGN_OR_RETURN(config["original_max_position_embeddings"],
                         metadata.IntegerOr(prefix + "rope.scaling.original_context_length",
                                            config["max_position_embeddings"].get<int64_t>()));
  return absl::OkStatus();
}

// What a model type has beside sizes and rotation.
absl::Status AddOwnKeys(const GgufFile& file, const GgufArchitecture& known, Json& config) {
  const std::string prefix = StrCat(known.name, ".");
  const std::string_view type = known.model_type;
  const auto has = [&file](const char* tensor) { return file.tensors().count(tensor) > 0; };
  if (type == "llama" || type == "qwen3") config["attention_bias"] = has("blk.0.attn_q.bias");
  if (type == "llama") config["mlp_bias"] = has("blk.0.ffn_gate.bias");
  if (known.mixture) {
    SINKD_RETURN_IF_ERROR(AddExperts(file.metadata(), prefix, type, config));
  }
  if (type.starts_with("gemma")) return AddGemma(file.metadata(), prefix, config);
  config["hidden_act"] = type == "starcoder2" ? "gelu_pytorch_tanh" : "silu";
  if (type == "granite") return AddGranite(file.metadata(), prefix, config);
  if (type == "phi3") return AddPhi3(file.metadata(), prefix, config);
  return absl::OkStatus();
}

absl::Status AddNormEpsilon(const GgufMetadata& metadata, const std::string& prefix,
                            std::string_view model_type, Json& config) {
  const bool layer = model_type == "starcoder2";
  SINKD_ASSIGN_OR_RETURN(config[layer ? "norm_epsilon" : "rms_norm_eps"],
                         metadata.Number(prefix + (layer ? "attention.layer_norm_epsilon"
                                                         : "attention.layer_norm_rms_epsilon")));
  return absl::OkStatus();
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
  SINKD_RETURN_IF_ERROR(AddOwnKeys(file, known, config));
  SINKD_RETURN_IF_ERROR(AddOtherKeys(metadata, prefix, config));
  SINKD_ASSIGN_OR_RETURN(config["vocab_size"], VocabularySize(file, prefix));
  SINKD_RETURN_IF_ERROR(AddNormEpsilon(metadata, prefix, known.model_type, config));
  SINKD_RETURN_IF_ERROR(AddRope(file, architecture, config));
  return config.dump();
}

}  // namespace sinkd

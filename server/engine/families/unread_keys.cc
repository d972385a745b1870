#include "server/engine/families/unread_keys.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <absl/strings/str_join.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr std::ptrdiff_t kShown = 5;

// Keys that say how a model was made, trained, stored, sampled from or run, or that belong to heads
// and other halves. What ends like one of kNeutralEnds is such a key too.
const std::set<std::string_view>& NeutralKeys() {
  static const std::set<std::string_view> kKeys = {
      // Of every config.json.
      "_attn_implementation",
      "_attn_implementation_autoset",
      "_commit_hash",
      "_name_or_path",
      "architectures",
      "attn_implementation",
      "auto_map",
      "chunk_size_feed_forward",
      "experts_implementation",
      "gradient_checkpointing",
      "is_decoder",
      "is_encoder_decoder",
      "model_type",
      "name_or_path",
      "output_attentions",
      "output_hidden_states",
      "return_dict",
      "tie_encoder_decoder",
      "tie_last_hidden_states",
      "ep_size",
      "tokenizer_class",
      "torchscript",
      "transformers_version",
      "use_bfloat16",
      "use_cache",
      "use_return_dict",
      // Heads for other tasks.
      "classifier_activation",
      "finetuning_task",
      "id2label",
      "label2id",
      "num_labels",
      "prefix",
      "problem_type",
      "task_specific_params",
      "tf_legacy_loss",
      // Training.
      "aux_loss_alpha",
      "dropout",
      "init_std",
      "embedding_initializer_range",
      "initializer_range",
      "layerdrop",
      "output_router_logits",
      "pretraining_tp",
      "router_aux_loss_coef",
      "router_jitter_noise",
      "seq_aux",
      "unsloth_fixed",
      "unsloth_version",
      // Generation.
      "bad_words_ids",
      "diversity_penalty",
      "do_sample",
      "early_stopping",
      "encoder_no_repeat_ngram_size",
      "exponential_decay_length_penalty",
      "length_penalty",
      "max_length",
      "min_length",
      "no_repeat_ngram_size",
      "num_beam_groups",
      "num_beams",
      "num_return_sequences",
      "output_scores",
      "remove_invalid_values",
      "repetition_penalty",
      "return_dict_in_generate",
      "suppress_tokens",
      "begin_suppress_tokens",
      "temperature",
      "top_k",
      "top_p",
      "typical_p",
      // gpt2: its memory of keys in another order of operations, and its context's old name.
      "add_cross_attention",
      "n_ctx",
      "reorder_and_upcast_attn",
      // gpt_bigcode and bloom: in which type, and in how many parts, the same is computed.
      "attention_softmax_in_fp32",
      "scale_attention_softmax_in_fp32",
      "slow_but_exact",
      // Of the half that sees pictures.
      "image_seq_length",
      "image_token_index",
      "multimodal_projector_bias",
      "projector_hidden_act",
      "spatial_merge_size",
      "vision_feature_layer",
      "vision_feature_select_strategy",
      // gemma3: written beside layer_types, and of the half that sees pictures.
      "_sliding_window_pattern",
      "mm_tokens_per_image",
      "vision_config",
      // gemma4: the half that hears.
      "audio_config",
  };
  return kKeys;
}

constexpr std::string_view kNeutralEnds[] = {"_dropout", "_pdrop", "_token_id", "_token_index"};
// What quantized weights need is read by checkpoint/quantized; the rest says how they were made.
constexpr std::string_view kNeutralBegins[] = {"summary_", "quantization_config.",
                                               "compression_config."};

bool IsNeutral(std::string_view path) {
  for (const std::string_view part : {"text_config.", "attn_config."}) {
    if (path.starts_with(part)) path.remove_prefix(part.size());
  }
  return NeutralKeys().contains(path) ||
         std::any_of(std::begin(kNeutralEnds), std::end(kNeutralEnds),
                     [path](std::string_view end) { return path.ends_with(end); }) ||
         std::any_of(std::begin(kNeutralBegins), std::end(kNeutralBegins),
                     [path](std::string_view begin) { return path.starts_with(begin); });
}

absl::Status RefuseIn(const ConfigReader& config) {
  constexpr char kCausal[] = "use a model whose attention looks back only";
  // null counts as false there.
  SINKD_ASSIGN_OR_RETURN(const bool causal, config.FlagOr("is_causal", !config.Has("is_causal")));
  if (!causal) {
    return config.Error("is_causal", "is not true: attention looks ahead, which is not computed",
                        kCausal);
  }
  // Of a text alone there is nothing to see.
  constexpr char kAhead[] = "use_bidirectional_attention";
  const absl::StatusOr<std::string> what = config.TextOr(kAhead, "");
  if (what.ok() && *what == "all") {
    return config.Error(kAhead, "is all: attention looks ahead, which is not computed", kCausal);
  }
  if (!what.ok() || (!what->empty() && *what != "vision")) {
    SINKD_ASSIGN_OR_RETURN(const bool ahead, config.FlagOr(kAhead, false));
    if (ahead) {
      return config.Error(kAhead, "is true: attention looks ahead, which is not computed", kCausal);
    }
  }
  SINKD_ASSIGN_OR_RETURN(const std::string type, config.TextOr("model_type", ""));
  for (const char* key : {"per_layer_config", "pruned_heads"}) {
    if (!config.HasObject(key) || type == "gemma4_text") continue;  // which reads the first one
    return config.Error(key, "gives blocks settings of their own, which are not computed",
                        "use a model whose blocks are alike");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RefuseOtherRules(const ConfigReader& config) {
  SINKD_RETURN_IF_ERROR(RefuseIn(config));
  return config.HasObject("text_config") ? RefuseIn(config.Object("text_config"))
                                         : absl::OkStatus();
}

std::vector<std::string> WarnOfUnreadKeys(const ConfigReader& config) {
  std::vector<std::string> keys = config.Unread();
  std::erase_if(keys, IsNeutral);
  if (keys.empty()) return {};
  const auto count = static_cast<std::ptrdiff_t>(keys.size());
  const std::string list =
      absl::StrJoin(keys.begin(), keys.begin() + std::min(count, kShown), ", ");
  return {StrCat(count, count == 1 ? " key" : " keys", " of ", config.file(),
                 count == 1 ? " is" : " are", " not used: ", Shorten(list, 200),
                 count > kShown ? ", ..." : "")};
}

}  // namespace sinkd

// CodecModel: models and their names, between proto and struct.
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT naming the field, its value and the fix.
#pragma once

#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/models/registry.h"
#include "sinks/v1/models.pb.h"

namespace sinkd {

// The id in the resource name `models/{id}`; `field` is the name's path in the request.
absl::StatusOr<std::string> DecodeModelName(const std::string& name, const std::string& field);

// The load options of the request; `defaults` apply to absent fields.
absl::StatusOr<LoadOptions> DecodeLoadOptions(const sinks::v1::LoadModelRequest& request,
                                              const LoadOptions& defaults);
absl::StatusOr<LoadOptions> DecodeLoadOptions(const sinks::v1::PlanModelRequest& request,
                                              const LoadOptions& defaults);

// `compute_type` as ModelInfo writes it.
sinks::v1::ComputeType EncodeComputeType(std::string_view compute_type);
sinks::v1::Residency EncodeResidency(Residency residency);

sinks::v1::Model EncodeModel(const ModelEntry& entry);

// Fills in the fields about the decoder, which Model and ModelPlan have in common.
template <typename Message>
void EncodeDecoder(const DecoderSpec& spec, Message* out) {
  out->set_architecture(spec.architecture);
  out->set_blocks(static_cast<int32_t>(spec.blocks));
  out->set_hidden_size(static_cast<int32_t>(spec.hidden));
  out->set_heads(static_cast<int32_t>(spec.heads));
  out->set_kv_heads(static_cast<int32_t>(spec.kv_heads));
  for (int64_t l = 0; l < spec.blocks && !spec.mixer.empty(); ++l) {
    if (spec.Attends(l)) out->add_attention_blocks(static_cast<int32_t>(l));
  }
  if (out->attention_blocks_size() == spec.blocks) out->clear_attention_blocks();
  out->set_vocabulary_size(static_cast<int32_t>(spec.vocabulary));
  out->set_max_positions(static_cast<int32_t>(spec.max_positions));
}

// INVALID_ARGUMENT unless `field` is 1 to `largest`; `unsaid` describes an absent field.
absl::Status CheckRange(int32_t value, int32_t largest, const std::string& reason,
                        const std::string& field, int32_t unsaid);

}  // namespace sinkd

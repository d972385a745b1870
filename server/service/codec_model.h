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

// The id in the resource name `models/{id}`; `field` is where the name stood.
absl::StatusOr<std::string> DecodeModelName(const std::string& name, const std::string& field);

// How to load, `defaults` where the request is silent.
absl::StatusOr<LoadOptions> DecodeLoadOptions(const sinks::v1::LoadModelRequest& request,
                                              const LoadOptions& defaults);
absl::StatusOr<LoadOptions> DecodeLoadOptions(const sinks::v1::PlanModelRequest& request,
                                              const LoadOptions& defaults);

// `compute_type` as ModelInfo writes it.
sinks::v1::ComputeType EncodeComputeType(std::string_view compute_type);
sinks::v1::Residency EncodeResidency(Residency residency);

sinks::v1::Model EncodeModel(const ModelEntry& entry);

}  // namespace sinkd

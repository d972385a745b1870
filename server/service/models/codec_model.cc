#include "server/service/models/codec_model.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/util/time_util.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr std::string_view kCollection = "models/";

sinks::v1::ModelState EncodeState(ModelState state) {
  switch (state) {
    case ModelState::kAvailable:
      return sinks::v1::MODEL_STATE_AVAILABLE;
    case ModelState::kLoading:
      return sinks::v1::MODEL_STATE_LOADING;
    case ModelState::kReady:
      return sinks::v1::MODEL_STATE_READY;
    case ModelState::kUnloading:
      return sinks::v1::MODEL_STATE_UNLOADING;
    case ModelState::kFailed:
      return sinks::v1::MODEL_STATE_FAILED;
  }
  return sinks::v1::MODEL_STATE_UNSPECIFIED;
}

absl::Status UnknownValue(const std::string& field, int value, int largest) {
  return InvalidArgument(absl::StrCat(field, " is not a value this server knows"),
                         {.reason = "UNKNOWN_ENUM_VALUE",
                          .subject = field,
                          .value = absl::StrCat(value),
                          .fix = absl::StrCat("use a value from 0 to ", largest)});
}

absl::StatusOr<ComputeType> DecodeComputeType(sinks::v1::ComputeType value, ComputeType unsaid) {
  switch (static_cast<int>(value)) {
    case sinks::v1::COMPUTE_TYPE_UNSPECIFIED:
      return unsaid;
    case sinks::v1::COMPUTE_TYPE_FLOAT32:
      return ComputeType::kFloat32;
    case sinks::v1::COMPUTE_TYPE_BFLOAT16:
      return ComputeType::kBfloat16;
    default:
      return UnknownValue("compute_type", value, sinks::v1::ComputeType_MAX);
  }
}

absl::StatusOr<Residency> DecodeResidency(sinks::v1::Residency value, Residency unsaid) {
  switch (static_cast<int>(value)) {
    case sinks::v1::RESIDENCY_UNSPECIFIED:
      return unsaid;
    case sinks::v1::RESIDENCY_RESIDENT:
      return Residency::kResident;
    case sinks::v1::RESIDENCY_STREAMED:
      return Residency::kStreamed;
    default:
      return UnknownValue("residency", value, sinks::v1::Residency_MAX);
  }
}

absl::StatusOr<ActivationQuantization> DecodeActivations(sinks::v1::ActivationQuantization value,
                                                         ActivationQuantization unsaid) {
  switch (static_cast<int>(value)) {
    case sinks::v1::ACTIVATION_QUANTIZATION_UNSPECIFIED:
      return unsaid;
    case sinks::v1::ACTIVATION_QUANTIZATION_NONE:
      return ActivationQuantization::kNone;
    case sinks::v1::ACTIVATION_QUANTIZATION_AS_STORED:
      return ActivationQuantization::kAsStored;
    default:
      return UnknownValue("activation_quantization", value, sinks::v1::ActivationQuantization_MAX);
  }
}

// LoadModel and PlanModel have the same fields.
template <typename Request>
absl::StatusOr<LoadOptions> DecodeOptionsOf(const Request& request, const LoadOptions& defaults) {
  LoadOptions out = defaults;
  if (request.has_device()) out.device = request.device();
  SINKD_ASSIGN_OR_RETURN(out.compute_type,
                         DecodeComputeType(request.compute_type(), defaults.compute_type));
  SINKD_ASSIGN_OR_RETURN(out.residency, DecodeResidency(request.residency(), defaults.residency));
  return out;
}

}  // namespace

absl::StatusOr<std::string> DecodeModelName(const std::string& name, const std::string& field) {
  const bool in_collection = name.compare(0, kCollection.size(), kCollection) == 0;
  if (in_collection && IsModelId(std::string_view(name).substr(kCollection.size()))) {
    return name.substr(kCollection.size());
  }
  std::string fix = absl::StrCat("write models/{id}, the id matching ", kModelIdPattern,
                                 "; ListModels names the models there are");
  const std::string id = in_collection ? ModelIdFor(name.substr(kCollection.size())) : "";
  if (!id.empty()) {
    absl::StrAppend(&fix,
                    "; a folder of that name in the model root needs another, or a link to it "
                    "that is called ",
                    id);
  }
  return InvalidArgument(name.empty() ? absl::StrCat(field, " is missing")
                                      : absl::StrCat(field, " is not a model name"),
                         {.reason = "INVALID_MODEL_NAME",
                          .subject = field,
                          .value = Shorten(name),
                          .fix = std::move(fix)});
}

absl::StatusOr<LoadOptions> DecodeLoadOptions(const sinks::v1::LoadModelRequest& request,
                                              const LoadOptions& defaults) {
  SINKD_ASSIGN_OR_RETURN(LoadOptions out, DecodeOptionsOf(request, defaults));
  SINKD_ASSIGN_OR_RETURN(
      out.activation_quantization,
      DecodeActivations(request.activation_quantization(), defaults.activation_quantization));
  return out;
}

absl::StatusOr<LoadOptions> DecodeLoadOptions(const sinks::v1::PlanModelRequest& request,
                                              const LoadOptions& defaults) {
  return DecodeOptionsOf(request, defaults);
}

sinks::v1::ComputeType EncodeComputeType(std::string_view compute_type) {
  return compute_type == "bfloat16" ? sinks::v1::COMPUTE_TYPE_BFLOAT16
                                    : sinks::v1::COMPUTE_TYPE_FLOAT32;
}

sinks::v1::Residency EncodeResidency(Residency residency) {
  return residency == Residency::kStreamed ? sinks::v1::RESIDENCY_STREAMED
                                           : sinks::v1::RESIDENCY_RESIDENT;
}

sinks::v1::Model EncodeModel(const ModelEntry& entry) {
  sinks::v1::Model out;
  out.set_name(absl::StrCat("models/", entry.id));
  out.set_state(EncodeState(entry.state));
  if (entry.spec) EncodeDecoder(*entry.spec, &out);
  if (entry.info) {
    EncodeDecoder(entry.info->spec, &out);
    out.set_device(entry.info->device);
    out.set_compute_type(EncodeComputeType(entry.info->compute_type));
    out.set_residency(EncodeResidency(entry.info->residency));
    out.set_weight_bytes(entry.info->weight_bytes);
    if (!entry.info->quantization.empty()) out.set_quantization(entry.info->quantization);
    if (!entry.info->activation_quantization.empty()) {
      out.set_activation_quantization(entry.info->activation_quantization);
    }
    if (!entry.info->attention.empty()) out.set_attention(entry.info->attention);
    out.set_has_chat_template(entry.has_chat_template);
    out.set_pinned(entry.pinned);
    out.set_users(static_cast<int32_t>(entry.users));
    *out.mutable_last_used_time() = google::protobuf::util::TimeUtil::NanosecondsToTimestamp(
        std::chrono::duration_cast<std::chrono::nanoseconds>(entry.last_used.time_since_epoch())
            .count());
    for (const std::string& warning : entry.info->warnings) out.add_warnings(warning);
  }
  if (!entry.failure.empty()) out.set_failure(entry.failure);
  return out;
}

absl::Status CheckRange(int32_t value, int32_t largest, const std::string& reason,
                        const std::string& field, int32_t unsaid) {
  if (value >= 1 && value <= largest) return absl::OkStatus();
  return InvalidArgument(absl::StrCat(field, " must be 1 to ", largest),
                         {.reason = reason,
                          .subject = field,
                          .value = absl::StrCat(value),
                          .fix = absl::StrCat("leave it out for ", unsaid)});
}

}  // namespace sinkd

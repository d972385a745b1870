#include "client/cli/output/names.h"

#include "client/cli/flags/options.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr Choice kPresets[] = {{"published-code", v1::DETECTION_PRESET_PUBLISHED_CODE},
                               {"paper-text", v1::DETECTION_PRESET_PAPER_TEXT}};
constexpr Choice kKindRules[] = {{"window", v1::KIND_RULE_WINDOW},
                                 {"published", v1::KIND_RULE_PUBLISHED}};
constexpr Choice kLastStates[] = {{"normed", v1::LAST_STATE_NORMED}, {"raw", v1::LAST_STATE_RAW}};
constexpr Choice kDivisors[] = {{"from-position", v1::QUERY_DIVISOR_FROM_POSITION},
                                {"all", v1::QUERY_DIVISOR_ALL}};
constexpr Choice kComputeTypes[] = {{"float32", v1::COMPUTE_TYPE_FLOAT32},
                                    {"bfloat16", v1::COMPUTE_TYPE_BFLOAT16}};
constexpr Choice kResidencies[] = {{"resident", v1::RESIDENCY_RESIDENT},
                                   {"streamed", v1::RESIDENCY_STREAMED}};
constexpr Choice kActivationQuantizations[] = {
    {"none", v1::ACTIVATION_QUANTIZATION_NONE},
    {"as-stored", v1::ACTIVATION_QUANTIZATION_AS_STORED}};
constexpr Choice kLanes[] = {{"interactive", v1::LANE_INTERACTIVE}, {"batch", v1::LANE_BATCH}};
constexpr Choice kOutputs[] = {{"table", static_cast<int>(OutputFormat::kTable)},
                               {"json", static_cast<int>(OutputFormat::kJson)},
                               {"jsonl", static_cast<int>(OutputFormat::kJsonl)},
                               {"csv", static_cast<int>(OutputFormat::kCsv)}};
constexpr Choice kInputs[] = {{"auto", static_cast<int>(InputFormat::kAuto)},
                              {"jsonl", static_cast<int>(InputFormat::kJsonl)},
                              {"text", static_cast<int>(InputFormat::kText)}};

constexpr Choice kSites[] = {{"resid_pre", v1::SITE_RESID_PRE},
                             {"attn_out", v1::SITE_ATTN_OUT},
                             {"mlp_in", v1::SITE_MLP_IN},
                             {"gate", v1::SITE_GATE},
                             {"up", v1::SITE_UP},
                             {"act", v1::SITE_ACT},
                             {"product", v1::SITE_PRODUCT},
                             {"mlp_out", v1::SITE_MLP_OUT},
                             {"resid_post", v1::SITE_RESID_POST}};

}  // namespace

const std::span<const Choice> kPresetChoices(kPresets);
const std::span<const Choice> kKindRuleChoices(kKindRules);
const std::span<const Choice> kLastStateChoices(kLastStates);
const std::span<const Choice> kDivisorChoices(kDivisors);
const std::span<const Choice> kComputeTypeChoices(kComputeTypes);
const std::span<const Choice> kResidencyChoices(kResidencies);
const std::span<const Choice> kActivationQuantizationChoices(kActivationQuantizations);
const std::span<const Choice> kLaneChoices(kLanes);
const std::span<const Choice> kOutputChoices(kOutputs);
const std::span<const Choice> kInputChoices(kInputs);

const char* KindName(v1::SinkKind kind) {
  switch (kind) {
    case v1::SINK_KIND_PRIMARY:
      return "primary";
    case v1::SINK_KIND_SECONDARY:
      return "secondary";
    case v1::SINK_KIND_NOISE:
      return "noise";
    default:
      return "unknown";
  }
}

const char* SiteName(v1::Site site) {
  for (const Choice& choice : kSites) {
    if (choice.value == site) return choice.word;
  }
  return "unknown";
}

const char* GroupName(v1::PositionGroup group) {
  switch (group) {
    case v1::POSITION_GROUP_TARGET:
      return "target";
    case v1::POSITION_GROUP_CONTROL:
      return "control";
    default:
      return "unknown";
  }
}

const char* FormName(v1::RegressionForm form) {
  switch (form) {
    case v1::REGRESSION_FORM_LINEAR_LOG:
      return "linear-log";
    case v1::REGRESSION_FORM_LOG_LINEAR:
      return "log-linear";
    case v1::REGRESSION_FORM_LOG_LOG:
      return "log-log";
    case v1::REGRESSION_FORM_LINEAR:
      return "linear";
    default:
      return "unknown";
  }
}

const char* FormFormula(v1::RegressionForm form) {
  switch (form) {
    case v1::REGRESSION_FORM_LINEAR_LOG:
      return "y = a + b ln x";
    case v1::REGRESSION_FORM_LOG_LINEAR:
      return "ln y = a + b x";
    case v1::REGRESSION_FORM_LOG_LOG:
      return "ln y = a + b ln x";
    case v1::REGRESSION_FORM_LINEAR:
      return "y = a + b x";
    default:
      return "unknown";
  }
}

const char* RunStateName(v1::RunState state) {
  switch (state) {
    case v1::RUN_STATE_OPEN:
      return "open";
    case v1::RUN_STATE_COMPLETE:
      return "complete";
    default:
      return "unknown";
  }
}

const char* StateName(v1::ModelState state) {
  switch (state) {
    case v1::MODEL_STATE_AVAILABLE:
      return "available";
    case v1::MODEL_STATE_LOADING:
      return "loading";
    case v1::MODEL_STATE_READY:
      return "ready";
    case v1::MODEL_STATE_UNLOADING:
      return "unloading";
    case v1::MODEL_STATE_FAILED:
      return "failed";
    default:
      return "unknown";
  }
}

const char* ComputeTypeName(v1::ComputeType type) {
  switch (type) {
    case v1::COMPUTE_TYPE_FLOAT32:
      return "float32";
    case v1::COMPUTE_TYPE_BFLOAT16:
      return "bfloat16";
    default:
      return "";
  }
}

const char* LaneText(v1::Lane lane) {
  switch (lane) {
    case v1::LANE_INTERACTIVE:
      return "interactive";
    case v1::LANE_BATCH:
      return "batch";
    default:
      return "unknown";
  }
}

const char* ResidencyName(v1::Residency residency) {
  switch (residency) {
    case v1::RESIDENCY_RESIDENT:
      return "resident";
    case v1::RESIDENCY_STREAMED:
      return "streamed";
    default:
      return "";
  }
}

const char* TensorUseName(v1::TensorUse use) {
  switch (use) {
    case v1::TENSOR_USE_LOADED:
      return "loaded";
    case v1::TENSOR_USE_HEAD:
      return "head";
    case v1::TENSOR_USE_UNUSED:
      return "unused";
    default:
      return "unknown";
  }
}

}  // namespace sinkd::cli

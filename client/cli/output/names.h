// Names of proto enum values on the command line and in results.
//
// Thread-safety: pure functions over constant tables.
#pragma once

#include <span>
#include <string>

#include "sinks/v1/analysis.pb.h"
#include "sinks/v1/mechanism.pb.h"
#include "sinks/v1/models.pb.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd::cli {

// A word of the command line and the enum value it stands for.
struct Choice {
  const char* word;
  int value;
};

extern const std::span<const Choice> kPresetChoices;                  // DetectionPreset
extern const std::span<const Choice> kKindRuleChoices;                // KindRule
extern const std::span<const Choice> kLastStateChoices;               // LastState
extern const std::span<const Choice> kDivisorChoices;                 // QueryDivisor
extern const std::span<const Choice> kComputeTypeChoices;             // ComputeType
extern const std::span<const Choice> kResidencyChoices;               // Residency
extern const std::span<const Choice> kActivationQuantizationChoices;  // ActivationQuantization
extern const std::span<const Choice> kLaneChoices;                    // Lane
extern const std::span<const Choice> kOutputChoices;                  // OutputFormat
extern const std::span<const Choice> kInputChoices;                   // InputFormat

// "secondary", "linear-log", "ready", "float32"; "unknown" for values of a newer server.
const char* KindName(sinks::v1::SinkKind kind);
const char* SiteName(sinks::v1::Site site);             // "mlp_out"
const char* GroupName(sinks::v1::PositionGroup group);  // "target"
const char* FormName(sinks::v1::RegressionForm form);
const char* StateName(sinks::v1::ModelState state);
const char* RunStateName(sinks::v1::RunState state);
const char* ComputeTypeName(sinks::v1::ComputeType type);
const char* ResidencyName(sinks::v1::Residency residency);
const char* LaneText(sinks::v1::Lane lane);  // "interactive"
const char* TensorUseName(sinks::v1::TensorUse use);

// The formula of a form, "y = a + b ln x".
const char* FormFormula(sinks::v1::RegressionForm form);

}  // namespace sinkd::cli

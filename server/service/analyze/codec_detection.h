// CodecDetection: what every request about sinks carries beside its own parameters.
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT naming the field, its value and its limit; `prefix` is what stands
// before the field's own name ("spec." of an Analyze stream).
#pragma once

#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/analysis/parameters.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd {

// Presets resolved, defaults filled in; thresholds are not checked.
absl::StatusOr<DetectionParameters> DecodeDetection(const sinks::v1::DetectionParameters& proto,
                                                    const std::string& prefix);

// Every field set but the preset, which is told as the values it stands for.
sinks::v1::DetectionParameters EncodeDetection(const DetectionParameters& in);

// `given`, or `otherwise` where it is null; INVALID_ARGUMENT unless that is a day as YYYY-MM-DD.
absl::StatusOr<std::string> DecodeTemplateDate(const std::string* given,
                                               const std::string& otherwise,
                                               const std::string& prefix);

// The error of an enum value that this server does not know; `largest` is the last it does.
absl::Status UnknownEnum(const std::string& field, int value, int largest);

}  // namespace sinkd

// TemplateDate: the date that the chat templates of a request see.
//
// Thread-safety: a pure function.
#pragma once

#include <string>

#include <absl/status/statusor.h>

namespace sinkd {

// `given`, or `otherwise` where it is null. INVALID_ARGUMENT unless that is a day as YYYY-MM-DD;
// `prefix` is what stands before the field's own name ("spec." of an Analyze stream).
absl::StatusOr<std::string> DecodeTemplateDate(const std::string* given,
                                               const std::string& otherwise,
                                               const std::string& prefix);

}  // namespace sinkd

// ReadYamlDocument: the one document of a YAML text.
//
// Thread-safety: pure. Errors: INVALID_ARGUMENT, reason BAD_POLICY; throws YAML::Exception for text
// that is not YAML.
#pragma once

#include <string>

#include <absl/status/statusor.h>
#include <yaml-cpp/yaml.h>

namespace sinkd {

absl::StatusOr<YAML::Node> ReadYamlDocument(const std::string& text);

}  // namespace sinkd

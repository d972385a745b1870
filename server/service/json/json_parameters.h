// JsonParameters: the query parameters of a request to the JSON API. All are checked before any is
// used: unknown names, values of the wrong type and repeated names are errors that name the
// parameter.
//
// Thread-safety: values.
// Errors: INVALID_ARGUMENT UNKNOWN_PARAMETER, REPEATED_PARAMETER, INVALID_PARAMETER.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>
#include <google/protobuf/timestamp.pb.h>

#include "server/http/http_api.h"

namespace sinkd {

enum class ParameterType {
  kText,
  kNumber,  // a whole number within the rule's bounds
  kTime,    // RFC 3339
  kModel,   // models/{id}
  kRun,     // the id of a run; may be repeated
  kLabels,  // every parameter "label.KEY"; the rule's name is "label."
};

struct ParameterRule {
  std::string_view name;
  ParameterType type = ParameterType::kText;
  int64_t least = 0, most = 0;                 // of kNumber
  std::vector<std::string_view> choices = {};  // of kText; empty: any text
};

class JsonParameters {
 public:
  static absl::StatusOr<JsonParameters> Read(const HttpQuery& query,
                                             std::span<const ParameterRule> rules);

  // nullopt if absent. Types are those of the rules.
  std::optional<std::string> Text(std::string_view name) const;
  std::optional<int64_t> Number(std::string_view name) const;
  std::optional<google::protobuf::Timestamp> Time(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;
  std::map<std::string, std::string> Labels() const;  // by key

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
};

}  // namespace sinkd

// JsonEndpoints: the paths of the JSON API, with their parameters and handlers.
//
// Thread-safety: the table is constant; its functions may be called from any thread.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/service/json/json_parameters.h"
#include "server/service/models/model_catalog.h"
#include "server/store/run_store.h"

namespace sinkd {

struct JsonCall {
  ModelCatalog& catalog;
  RunStore* store;        // null: the server stores no runs
  const std::string& id;  // the value of {id} in the path
  const JsonParameters& parameters;
  const std::stop_token& stop;
};

// How expensive a response is.
enum class Weight { kLight, kFold };

struct JsonEndpoint {
  std::string path;  // after /api/v1/, e.g. "runs/{id}"
  std::vector<ParameterRule> parameters;
  Weight weight = Weight::kLight;
  // Returns the body. Errors: those of the corresponding gRPC method.
  absl::StatusOr<std::string> (*body)(const JsonCall& call);
};

std::span<const JsonEndpoint> JsonEndpoints();

}  // namespace sinkd

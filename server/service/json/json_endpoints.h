// JsonEndpoints: the paths of the JSON API, each with its parameters and what answers it.
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
  RunStore* store;        // null: the server keeps no runs
  const std::string& id;  // what stands for {id} in the path
  const JsonParameters& parameters;
  const std::stop_token& stop;
};

// How much of the server an answer takes.
enum class Weight { kLight, kFold };

struct JsonEndpoint {
  std::string path;  // past /api/v1/, "runs/{id}"
  std::vector<ParameterRule> parameters;
  Weight weight = Weight::kLight;
  // The body. Errors: those of the gRPC method that answers the same.
  absl::StatusOr<std::string> (*body)(const JsonCall& call);
};

std::span<const JsonEndpoint> JsonEndpoints();

}  // namespace sinkd

// JsonApi: models and runs as JSON over HTTP, read-only. docs/openapi.yaml describes it.
//
// Bodies are the JSON form of the gRPC methods' response messages, errors that of
// google.rpc.Status. Summaries read whole runs, so they run on three separate threads, may take a
// minute, and are shared fairly between callers.
//
// Ownership: borrows its arguments; owns its threads. Must outlive its callers.
// Thread-safety: all methods may be called from any thread, several at once.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include <absl/status/statusor.h>

#include "server/http/http_api.h"
#include "server/scheduler/executor.h"
#include "server/service/json/json_endpoints.h"
#include "server/service/models/model_catalog.h"
#include "server/store/run_store.h"

namespace sinkd {

class JsonApi {
 public:
  // `store` null: the server stores no runs.
  JsonApi(ModelCatalog& catalog, RunStore* store, int64_t max_caller_percent = 100);

  HttpAnswer Answer(const HttpQuery& query, const std::stop_token& stop);

  // The functions of the read-only API, bound to this object.
  HttpApi Bind();

 private:
  absl::StatusOr<HttpAnswer> Make(const HttpQuery& query, const std::stop_token& stop);
  absl::StatusOr<std::string> Fold(const JsonEndpoint& endpoint, const std::string& id,
                                   const std::string& caller, const JsonParameters& parameters,
                                   const std::stop_token& stop);

  ModelCatalog& catalog_;
  RunStore* const store_;
  Executor folds_;
};

}  // namespace sinkd

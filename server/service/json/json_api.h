// JsonApi: models and runs as JSON over HTTP, read only - what docs/openapi.yaml describes.
//
// Bodies are the JSON mapping of the messages that the gRPC methods answer with, errors that of
// google.rpc.Status. Summaries, which read whole runs, are made three at a time on threads of their
// own, and take a minute at most; one caller has his share of them.
//
// Ownership: borrows what it is given; owns its threads. To outlive whoever calls it.
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
  // `store` null: the server keeps no runs.
  JsonApi(ModelCatalog& catalog, RunStore* store, int64_t max_caller_percent = 100);

  HttpAnswer Answer(const HttpQuery& query, const std::stop_token& stop);

  // Its functions that read, bound to this.
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

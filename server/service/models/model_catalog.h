// ModelCatalog: the interface through which services use models, so that they can be tested without
// an engine. registry_catalog.h implements it.
//
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/model.h"
#include "server/engine/trace.h"
#include "server/mechanism/study.h"
#include "server/models/memory_budget.h"
#include "server/models/registry.h"
#include "server/tokenizer/sample_encoder.h"

namespace sinkd {

// A model in memory. Holding the pointer keeps it loaded.
class SampleRunner {
 public:
  virtual ~SampleRunner() = default;
  virtual const ModelInfo& info() const = 0;

  // See EncodeSample. FAILED_PRECONDITION if the checkpoint lacks the tokenizer or template.
  virtual absl::StatusOr<EncodedSample> Encode(const SampleInput& input, std::string_view date,
                                               const EncodeLimit& limit) const = 0;
  virtual std::string TokenText(int32_t id) const = 0;

  // See Model::Run. RESOURCE_EXHAUSTED if the device's memory budget has no room for the pass, with
  // the memory needed, the memory available and fixes.
  virtual absl::StatusOr<std::vector<Trace>> Run(std::span<const TokenIds> batch,
                                                 const TraceRequest& request,
                                                 std::stop_token stop) const = 0;

  // See NewStudy. The study borrows this model.
  virtual std::unique_ptr<Study> StartStudy(v1::RunStudyRequest request,
                                            std::vector<StudySample> samples) const = 0;
};

// The methods are those of Registry.
class ModelCatalog {
 public:
  virtual ~ModelCatalog() = default;
  virtual std::vector<ModelEntry> List() const = 0;
  virtual absl::StatusOr<ModelEntry> Get(std::string_view id) const = 0;
  virtual absl::StatusOr<ModelEntry> Load(std::string_view id, const LoadOptions& options,
                                          const std::function<void(const LoadProgress&)>& progress,
                                          std::stop_token stop, std::optional<bool> pinned,
                                          std::string_view caller) = 0;
  virtual absl::StatusOr<PlannedLoad> Plan(std::string_view id, const LoadOptions& options,
                                           int64_t positions, std::stop_token stop) const = 0;
  virtual absl::StatusOr<ModelEntry> Unload(std::string_view id) = 0;
  virtual absl::StatusOr<std::shared_ptr<const SampleRunner>> Acquire(
      std::string_view id) const = 0;
  virtual const LoadOptions& defaults() const = 0;
  virtual std::vector<MemorySnapshot> Memory() const = 0;  // see MemoryBudget::Snapshot
};

}  // namespace sinkd

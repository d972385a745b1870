// StudyModel: what studies need of a model, and no more: the engine's functions behind an
// interface, so that studies can be tested without an engine. loaded_study_model.h is the real one.
//
// Thread-safety: as the functions of the engine that each stands for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/capture.h"
#include "server/engine/decomposition.h"
#include "server/engine/intervention.h"
#include "server/engine/model.h"
#include "server/engine/state_statistics.h"

namespace sinkd {

class StudyModel {
 public:
  virtual ~StudyModel() = default;
  virtual const ModelInfo& info() const = 0;
  virtual std::string TokenText(int32_t id) const = 0;
  virtual absl::StatusOr<std::vector<Trace>> Run(std::span<const TokenIds> batch,
                                                 const TraceRequest& request,
                                                 std::stop_token stop) const = 0;
  virtual absl::StatusOr<std::shared_ptr<const Head>> LoadHead(std::stop_token stop) const = 0;
  virtual absl::StatusOr<InterventionOutcome> Intervene(const TokenIds& ids,
                                                        std::span<const Variant> variants,
                                                        const InterventionRequest& request,
                                                        std::stop_token stop) const = 0;
  virtual absl::StatusOr<std::vector<Matrix>> Capture(const TokenIds& ids,
                                                      std::span<const CaptureRequest> requests,
                                                      std::stop_token stop) const = 0;
  virtual absl::StatusOr<Matrix> RunMlpAlone(int64_t block, const Matrix& rows,
                                             std::stop_token stop) const = 0;
  virtual absl::StatusOr<RowNorms> MeasureNorms(const TokenIds& ids,
                                                std::stop_token stop) const = 0;
  virtual absl::StatusOr<std::vector<BlockEntries>> FindLargeEntries(
      const TokenIds& ids, int64_t top, std::span<const int64_t> rest,
      std::stop_token stop) const = 0;
  virtual absl::StatusOr<std::vector<std::vector<BlockEntropy>>> MeasureEntropy(
      const TokenIds& ids, std::span<const std::vector<int64_t>> windows, double alpha,
      std::stop_token stop) const = 0;
};

}  // namespace sinkd

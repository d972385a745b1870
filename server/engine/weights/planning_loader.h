// PlanningLoader: a TensorLoader that reads nothing. It records the requested tensors and returns
// them on torch's meta device, which has shapes but no data. Internal to the engine.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/families/family.h"
#include "server/engine/model_plan.h"
#include "server/engine/weights/tensor_loader.h"

namespace sinkd {

class PlanningLoader final : public TensorLoader {
 public:
  // `checkpoint` and `decoder` are borrowed. Without a checkpoint, every tensor exists, in the type
  // that config.json gives.
  PlanningLoader(const Checkpoint* checkpoint, const DecoderPlan& decoder, at::ScalarType dtype);

  absl::StatusOr<at::Tensor> Load(const std::string& name, at::IntArrayRef shape,
                                  RowRange range) override;
  absl::StatusOr<at::Tensor> LoadBiases(const Parts& parts) override;
  absl::StatusOr<at::Tensor> LoadWeights(const Parts& parts, int64_t in) override;
  absl::StatusOr<at::Tensor> LoadBytes(const std::string& name, at::IntArrayRef shape,
                                       RowRange range) override;
  bool Has(const std::string& name) const override;
  at::TensorOptions options() const override;

  // All requested tensors, by name.
  const std::map<std::string, PlannedTensor>& tensors() const { return tensors_; }

  // How a tensor that no file holds would be stored, according to config.json.
  PlannedTensor Expected(const std::string& name, at::IntArrayRef shape) const;

 private:
  absl::Status Note(const std::string& name, at::IntArrayRef shape, bool bytes);

  const Checkpoint* checkpoint_;
  const DecoderPlan& decoder_;
  std::map<std::string, PlannedTensor> tensors_;
};

}  // namespace sinkd

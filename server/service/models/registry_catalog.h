// RegistryCatalog: the ModelCatalog of a Registry.
//
// Ownership: borrows the registry; runners keep their model alive.
// Thread-safety: all methods may be called from any thread.
#pragma once

#include "server/models/registry.h"
#include "server/service/models/model_catalog.h"

namespace sinkd {

class RegistryCatalog final : public ModelCatalog {
 public:
  explicit RegistryCatalog(Registry& registry) : registry_(registry) {}

  std::vector<ModelEntry> List() const override { return registry_.List(); }
  absl::StatusOr<ModelEntry> Get(std::string_view id) const override { return registry_.Get(id); }
  absl::StatusOr<ModelEntry> Load(std::string_view id, const LoadOptions& options,
                                  const std::function<void(const LoadProgress&)>& progress,
                                  std::stop_token stop, std::optional<bool> pinned,
                                  std::string_view caller) override {
    return registry_.Load(id, options, progress, std::move(stop), pinned, caller);
  }
  absl::StatusOr<PlannedLoad> Plan(std::string_view id, const LoadOptions& options,
                                   int64_t positions, std::stop_token stop) const override {
    return registry_.Plan(id, options, positions, std::move(stop));
  }
  absl::StatusOr<ModelEntry> Unload(std::string_view id) override { return registry_.Unload(id); }
  absl::StatusOr<std::shared_ptr<const SampleRunner>> Acquire(std::string_view id) const override;
  const LoadOptions& defaults() const override { return registry_.defaults(); }
  std::vector<MemorySnapshot> Memory() const override { return registry_.budget()->Snapshot(); }

 private:
  Registry& registry_;
};

}  // namespace sinkd

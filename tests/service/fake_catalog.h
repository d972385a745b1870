// A catalog without an engine: models that answer with a trace whose sinks are known by design.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "fake_study.h"
#include "server/service/models/model_catalog.h"

namespace sinkd::testing {

// Tokens of the fake model are the bytes of the text. Its primary sink is position 0 with window
// [1, 5) of 6 layers; every later kSinkToken is a secondary sink at layers 2 and 3; attention is
// even: A[l,h,i,k] = 1 / (i + 1).
inline constexpr int32_t kSinkToken = '!';
inline constexpr int64_t kLayers = 6;
inline constexpr int64_t kHeads = 2;
inline constexpr int64_t kVocabulary = 128;
inline constexpr int64_t kMaxPositions = 5000;
inline constexpr int kPlannedTensors = 7;

Trace MakeTrace(const TokenIds& ids, const TraceRequest& request);

// Blocks whoever passes until opened or stopped, and counts them.
class Gate {
 public:
  // True when opened, false when `stop` came first.
  bool Pass(std::stop_token stop);
  void Open();
  void WaitForArrivals(int count);
  int arrivals() const;
  void WaitForStopped(int count);  // that left because of their stop token

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ = false;
  int arrivals_ = 0;
  int stopped_ = 0;
};

class FakeRunner final : public SampleRunner {
 public:
  FakeRunner();
  const ModelInfo& info() const override { return info_; }
  absl::StatusOr<EncodedSample> Encode(const SampleInput& input, std::string_view date,
                                       const EncodeLimit& limit) const override;
  std::string TokenText(int32_t id) const override { return std::string(1, static_cast<char>(id)); }
  absl::StatusOr<std::vector<Trace>> Run(std::span<const TokenIds> batch,
                                         const TraceRequest& request,
                                         std::stop_token stop) const override;
  std::unique_ptr<Study> StartStudy(v1::RunStudyRequest request,
                                    std::vector<StudySample> samples) const override;

  // To be set before the server runs samples.
  StudyScript study;
  ModelInfo info_;
  std::function<absl::Status(const TokenIds& ids, std::stop_token stop)> before_run;
  std::function<void(const std::vector<size_t>& lengths)> on_batch;

  int runs() const;            // samples run
  int largest_batch() const;   // samples run together
  int most_under_way() const;  // largest number of samples encoded and not yet run

 private:
  mutable std::mutex mutex_;
  mutable int under_way_ = 0;
  mutable int most_under_way_ = 0;
  mutable int runs_ = 0;
  mutable int largest_batch_ = 0;
};

// Holds "fake" (READY), "disk" (AVAILABLE, can be loaded) and "broken" (cannot).
class FakeCatalog final : public ModelCatalog {
 public:
  FakeCatalog();
  std::vector<ModelEntry> List() const override;
  absl::StatusOr<ModelEntry> Get(std::string_view id) const override;
  absl::StatusOr<ModelEntry> Load(std::string_view id, const LoadOptions& options,
                                  const std::function<void(const LoadProgress&)>& progress,
                                  std::stop_token stop, std::optional<bool> pinned,
                                  std::string_view caller) override;
  // A plan with kPlannedTensors tensors; BAD_DEVICE for any device but "cpu" and "auto".
  absl::StatusOr<PlannedLoad> Plan(std::string_view id, const LoadOptions& options,
                                   int64_t positions, std::stop_token stop) const override;
  absl::StatusOr<ModelEntry> Unload(std::string_view id) override;
  absl::StatusOr<std::shared_ptr<const SampleRunner>> Acquire(std::string_view id) const override;
  const LoadOptions& defaults() const override { return defaults_; }
  std::vector<MemorySnapshot> Memory() const override { return memory; }

  const std::shared_ptr<FakeRunner> runner = std::make_shared<FakeRunner>();
  Gate load_gate;          // passed in the middle of a load
  mutable Gate plan_gate;  // passed by plans of "disk"
  std::map<std::string, ModelEntry, std::less<>> entries;
  std::vector<MemorySnapshot> memory;  // to be set before the server starts

 private:
  LoadOptions defaults_;
};

}  // namespace sinkd::testing

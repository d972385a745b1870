// VariantSweep: variants of one sample after another, a few at once, so that their traces never
// fill the memory; what each gives is handed on and forgotten.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>

#include <absl/status/status.h>

#include "server/mechanism/study_model.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

class VariantSweep {
 public:
  // Traces held at once, about.
  static constexpr int64_t kTraceBytes = int64_t{1} << 30;

  // `variant` is an index into the variants given. Both live for the call.
  using OnOutcome =
      std::function<void(int64_t variant, const PassOutcome& base, const PassOutcome& outcome)>;

  explicit VariantSweep(const StudyModel& model) : model_(model) {}

  // For requests that measure losses; until then head() is null. Errors as StudyModel::LoadHead.
  absl::Status LoadHead(std::stop_token stop);
  const std::shared_ptr<const Head>& head() const { return head_; }

  // Every variant once, in order. Their cost is added to cost() when all are done.
  absl::Status Run(const TokenIds& ids, std::span<const Variant> variants,
                   const InterventionRequest& request, std::stop_token stop,
                   const OnOutcome& on_outcome);

  // Counts what was computed beside them.
  void AddRows(int64_t block_rows) { block_rows_ += block_rows; }
  sinks::v1::StudyCost cost() const;

 private:
  const StudyModel& model_;
  std::shared_ptr<const Head> head_;
  int64_t block_rows_ = 0;
  int64_t naive_block_rows_ = 0;
};

}  // namespace sinkd

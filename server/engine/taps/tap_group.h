// TapGroup: several observers of one pass. Internal to the engine.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "server/engine/taps/taps.h"

namespace sinkd {

class TapGroup final : public TapObserver {
 public:
  // Borrowed; none is null.
  explicit TapGroup(std::vector<TapObserver*> observers) : observers_(std::move(observers)) {}

  bool Wants(Site site, int64_t block) const override {
    return std::any_of(observers_.begin(), observers_.end(),
                       [&](const TapObserver* each) { return each->Wants(site, block); });
  }
  void OnRows(Site site, int64_t block, int64_t first_row, const at::Tensor& rows) override {
    for (TapObserver* each : observers_) {
      if (each->Wants(site, block)) each->OnRows(site, block, first_row, rows);
    }
  }
  bool WantsAttention(int64_t block) const override {
    return std::any_of(observers_.begin(), observers_.end(),
                       [&](const TapObserver* each) { return each->WantsAttention(block); });
  }
  at::Tensor Tokens() const override {
    for (const TapObserver* each : observers_) {
      if (at::Tensor tokens = each->Tokens(); tokens.defined()) return tokens;
    }
    return {};
  }
  int64_t AttentionPrefix() const override {
    int64_t most = 0;
    for (const TapObserver* each : observers_) most = std::max(most, each->AttentionPrefix());
    return most;
  }
  void OnAttention(int64_t block, int64_t first_sample, const AttentionSums& sums) override {
    for (TapObserver* each : observers_) {
      if (each->WantsAttention(block)) each->OnAttention(block, first_sample, sums);
    }
  }
  void OnValueNorms(int64_t block, int64_t first_row, const at::Tensor& norms) override {
    for (TapObserver* each : observers_) {
      if (each->Tokens().defined()) each->OnValueNorms(block, first_row, norms);
    }
  }
  void OnGates(int64_t block, int64_t first_row, const at::Tensor& gates) override {
    for (TapObserver* each : observers_) {
      if (each->WantsAttention(block)) each->OnGates(block, first_row, gates);
    }
  }

 private:
  std::vector<TapObserver*> observers_;
};

}  // namespace sinkd

// Level histogram: how many sinks of which level and kind, with the tokens and places of the
// secondary ones (definitions: Level histogram). Everything is a count, so it merges exactly.
//
// The entropy runs over every level that holds a secondary sink, and is normalized by the logarithm
// of their number; min_share decides distinct_levels alone. A token id that records give different
// texts (or none) is shown with the first of its texts in byte order that is not empty.
// Thread-safety: none.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>

#include "server/analysis/accumulator.h"
#include "server/analysis/parameters.h"
#include "server/analysis/records.h"

namespace sinkd {

class LevelAccumulator : public AccumulatorOf<LevelAccumulator> {
 public:
  explicit LevelAccumulator(const v1::LevelParameters& parameters) : parameters_(parameters) {}

  void Add(const v1::SampleRecord& record) override;
  void MergeSame(const LevelAccumulator& other);
  void Report(v1::Summary& report) const override;

 private:
  struct Token {
    std::string text;
    int64_t count = 0;
    void Merge(const Token& other);
  };

  void AddSecondary(const v1::Sink& sink, int64_t positions);
  void FillTokens(v1::LevelReport& report) const;

  v1::LevelParameters parameters_;
  std::map<std::pair<Level, v1::SinkKind>, int64_t> counts_;
  std::map<int32_t, Token> tokens_;
  std::array<int64_t, 10> position_bins_{};
  int64_t samples_ = 0;
  int64_t positions_ = 0;
  int64_t samples_with_secondary_ = 0;
};

}  // namespace sinkd

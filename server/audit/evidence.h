// Evidence: what an audit keeps of a set of samples while it reads their records.
//
// The unit is the sample: the sinks of one sample depend on each other, samples do not. Records of
// the same key (the same sample analysed in several runs) are one unit. Memory is bounded: above
// `most_units` units or `most_sinks` sinks, the units with the largest seeded hashes are dropped.
// This is a random draw that does not depend on their content, and it is the same for every
// Evidence with the same seed, so samples that two sets share stay shared. The order of adding
// changes sums only by rounding. Thread-safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "server/analysis/records.h"
#include "server/audit/sample_facts.h"

namespace sinkd {

struct SecondarySink {
  int32_t position = 0;
  Level level;
  double mlp_norm = 0;
  std::optional<double> score;
};

// Where the primary sink is, and its window.
struct PrimarySink {
  int32_t position = 0;
  int32_t window_start = 0;
  int32_t window_end = 0;
  bool operator==(const PrimarySink&) const = default;
};

// The evidence of one sample.
struct AuditUnit {
  struct Sum {
    int64_t n = 0;
    double sum = 0;
  };

  uint64_t key = 0;     // seeded hash
  int64_t samples = 0;  // records that did not fail
  int64_t tokens = 0;
  std::vector<Sum> numbers;                  // one per row of SampleNumbers
  std::vector<std::vector<int32_t>> layers;  // one list per row of SampleLayers
  std::vector<PrimarySink> primaries;        // one per record
  int64_t outliers = 0;                      // outlier tokens
  int64_t outlier_tokens = 0;                // tokens of the records that count outliers
  std::vector<int32_t> outlier_ids;          // of the outliers that records list
  std::vector<SecondarySink> sinks;
};

class Evidence {
 public:
  struct Limits {
    size_t most_units = 20'000;
    size_t most_sinks = 400'000;
  };

  explicit Evidence(uint64_t seed) : Evidence(seed, Limits()) {}
  Evidence(uint64_t seed, Limits limits) : seed_(seed), limits_(limits) {}

  // `record` must have passed CheckRecord.
  void Add(std::string_view key, const v1::SampleRecord& record);
  void AddFailure(std::string_view key, bool non_finite);

  int64_t seen() const { return seen_; }             // samples added, including failed ones
  bool drawn() const { return bound_ != kNoBound; }  // some were dropped
  // By key.
  std::vector<const AuditUnit*> units() const;

 private:
  static constexpr uint64_t kNoBound = UINT64_MAX;

  AuditUnit* Find(std::string_view key);
  void AddNumbers(const AuditedSample& sample, AuditUnit& unit) const;
  void KeepWithinLimits();

  const uint64_t seed_;
  const Limits limits_;
  int64_t seen_ = 0;
  size_t sinks_ = 0;
  uint64_t bound_ = kNoBound;  // only keys below it are kept
  std::map<uint64_t, AuditUnit> units_;
};

}  // namespace sinkd

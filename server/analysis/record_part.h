// RecordPart: a part of a record while it is checked, as the errors name it.
//
// Every check gives INVALID_ARGUMENT (reason INCONSISTENT_RECORD) naming the record, the field, its
// value and what it may be. Names are made only for an error.
// Ownership: borrows record and name. Thread-safety: read only.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "server/analysis/records.h"

namespace sinkd {

class RecordPart {
 public:
  using Floats = google::protobuf::RepeatedField<float>;

  // So that sums over any number of records that fit a disk stay within 64 bits.
  static constexpr int64_t kMostCount = std::numeric_limits<int32_t>::max();
  // Shares of attention are sums of rounded weights.
  static constexpr double kLeastShare = -0.01;
  static constexpr double kMostShare = 1.01;
  static constexpr double kAny = std::numeric_limits<double>::max();

  // `name` is the field of the part in the record, empty for the record itself; `index` its place
  // where there are several.
  explicit RecordPart(const v1::SampleRecord& record, std::string_view name = {},
                      int64_t index = -1)
      : record_(record), name_(name), index_(index) {}

  absl::Status Bad(std::string_view field, const std::string& value,
                   const std::string& limit) const;
  absl::Status Integer(std::string_view field, int64_t value, int64_t least, int64_t most) const;
  absl::Status Size(std::string_view field, int64_t value, int64_t least, int64_t most) const;
  absl::Status Number(std::string_view field, double value, double least, double most) const;
  // Each finite and within its limits.
  absl::Status Numbers(std::string_view field, const Floats& values, double least,
                       double most) const;
  // The same, one value for each block with attention.
  absl::Status Curve(std::string_view field, const Floats& values, double least, double most) const;
  // Layers of the model, ascending; `what` they are.
  absl::Status Blocks(std::string_view field, std::string_view what,
                      const google::protobuf::RepeatedField<int32_t>& values) const;

 private:
  const v1::SampleRecord& record_;
  std::string_view name_;
  int64_t index_;
};

}  // namespace sinkd

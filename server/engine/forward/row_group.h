// RowGroup: whole samples of a packed batch that run through a block together. Internal to the
// engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinkd {

struct RowGroup {
  int64_t first_sample = 0;      // in the batch
  int64_t first_row = 0;         // in the batch
  std::vector<int64_t> offsets;  // of its samples, from 0, then the number of its rows

  int64_t rows() const { return offsets.back(); }
  int64_t samples() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t begin(int64_t sample) const { return offsets[static_cast<size_t>(sample)]; }
  int64_t length(int64_t sample) const { return begin(sample + 1) - begin(sample); }
};

// Samples of one length that follow each other.
struct EqualSamples {
  int64_t first = 0;  // sample
  int64_t samples = 0;
  int64_t first_row = 0;
  int64_t length = 0;

  int64_t end_row() const { return first_row + samples * length; }
};

// All samples, `offsets` as in PackedBatch, in order.
std::vector<EqualSamples> GroupByLength(const std::vector<int64_t>& offsets);

// Cuts a batch, `offsets` as in PackedBatch, into groups of at most `rows` rows; a longer sample is
// a group of its own.
std::vector<RowGroup> GroupRows(const std::vector<int64_t>& offsets, int64_t rows);

}  // namespace sinkd

#include <algorithm>
#include <cmath>
#include <tuple>

#include <ATen/ATen.h>

#include "server/base/parameter_check.h"
#include "server/base/status.h"
#include "server/engine/families/range_checks.h"
#include "server/engine/state_statistics.h"
#include "server/engine/taps/sample_observer.h"

namespace sinkd {
namespace {

// Indices of the `top` largest of `sizes` [n], of equal ones those that come first; in ascending
// order of index, and larger ones before those that equal the smallest.
at::Tensor LargestIndices(const at::Tensor& sizes, int64_t top) {
  const at::Tensor smallest = std::get<0>(sizes.topk(top)).min();
  const at::Tensor larger = at::nonzero(sizes > smallest).flatten();
  const at::Tensor equal = at::nonzero(sizes == smallest).flatten();
  return at::cat({larger, equal.narrow(0, 0, top - larger.size(0))});
}

std::vector<LargeEntry> LargestEntries(const at::Tensor& states, const at::Tensor& sizes,
                                       int64_t top) {
  const at::Tensor flat = sizes.flatten();
  const at::Tensor indices = LargestIndices(flat, std::min(top, flat.size(0)));
  const at::Tensor values = states.flatten().index_select(0, indices).to(at::kCPU);
  const at::Tensor places = indices.to(at::kCPU);
  std::vector<LargeEntry> entries;
  for (int64_t i = 0; i < places.size(0); ++i) {
    const int64_t place = places.const_data_ptr<int64_t>()[i];
    entries.push_back({.position = place / states.size(1),
                       .channel = place % states.size(1),
                       .value = values.const_data_ptr<float>()[i]});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const LargeEntry& a, const LargeEntry& b) {
    return std::fabs(a.value) > std::fabs(b.value);
  });
  return entries;
}

// As numpy: the mean of the two in the middle of an even number.
float Median(const at::Tensor& values) {
  const auto in_order = [&](int64_t k) { return std::get<0>(values.kthvalue(k)).item<float>(); };
  const int64_t n = values.size(0);
  return n % 2 == 1 ? in_order(n / 2 + 1) : (in_order(n / 2) + in_order(n / 2 + 1)) / 2;
}

class EntryObserver final : public SampleObserver {
 public:
  EntryObserver(int64_t top, std::span<const int64_t> rest) : top_(top), rest_(rest) {}

  void OnRows(Site /*site*/, int64_t /*block*/, int64_t /*first_row*/,
              const at::Tensor& rows) override {
    const at::Tensor states = rows.to(at::kFloat).contiguous();
    const at::Tensor sizes = states.abs();
    BlockEntries& block = blocks_.emplace_back();
    block.largest = LargestEntries(states, sizes, top_);
    block.median = Median(sizes.flatten());
    if (rest_.empty()) return;
    const at::Tensor rest =
        at::tensor(at::ArrayRef<int64_t>(rest_.data(), rest_.size()), at::kLong);
    block.largest_of_rest = sizes.index_select(0, rest.to(sizes.device())).max().item<float>();
  }

  std::vector<BlockEntries>& blocks() { return blocks_; }

 private:
  const int64_t top_;
  const std::span<const int64_t> rest_;
  std::vector<BlockEntries> blocks_;
};

}  // namespace

absl::StatusOr<std::vector<BlockEntries>> FindLargeEntries(const Model& model, const TokenIds& ids,
                                                           int64_t top,
                                                           std::span<const int64_t> rest,
                                                           std::stop_token stop) {
  SINKD_RETURN_IF_ERROR(CheckParameter(top >= 1, "top", top, "at least 1"));
  SINKD_RETURN_IF_ERROR(CheckPositions(rest, static_cast<int64_t>(ids.size())));
  EntryObserver observer(top, rest);
  SINKD_RETURN_IF_ERROR(ShowSample(model, ids, observer, stop));
  return std::move(observer.blocks());
}

}  // namespace sinkd

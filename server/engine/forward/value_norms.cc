#include "server/engine/forward/value_norms.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "server/engine/forward/linear.h"

namespace sinkd {
namespace {

constexpr int64_t kRows = 512;  // at once, so that what is made of them stays in the cache

// W^T W of query heads `first` and so on, [some E, E], one below the other.
at::Tensor Squares(const at::Tensor& output, int64_t first, int64_t some, int64_t size) {
  std::vector<at::Tensor> squares;
  for (int64_t h = first; h < first + some; ++h) {
    const at::Tensor columns = output.narrow(1, h * size, size).t().to(at::kFloat).contiguous();
    squares.push_back(Linear(columns, columns));
  }
  return at::cat(squares);
}

}  // namespace

at::Tensor ValueNorms(const at::Tensor& v, const at::Tensor& output, int64_t heads) {
  const int64_t rows = v.size(0), kv_heads = v.size(1), size = v.size(2);
  const int64_t group = heads / kv_heads;
  const at::Tensor columns = RowsOf(output).flatten(1);
  at::Tensor norms = at::empty({rows, heads}, v.options());
  for (int64_t k = 0; k < kv_heads; ++k) {
    const at::Tensor squares = Squares(columns, k * group, group, size);
    for (int64_t first = 0; first < rows; first += kRows) {
      const int64_t some = std::min(kRows, rows - first);
      const at::Tensor values = v.narrow(0, first, some).select(1, k).contiguous();
      const at::Tensor products = Linear(values, squares).unflatten(1, {group, size});
      norms.narrow(0, first, some)
          .narrow(1, k * group, group)
          .copy_(products.mul(values.unsqueeze(1)).sum(2).clamp_min_(0).sqrt_());
    }
  }
  return norms;
}

}  // namespace sinkd

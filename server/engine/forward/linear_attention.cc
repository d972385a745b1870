#include "server/engine/forward/linear_attention.h"

#include <algorithm>
#include <limits>

#include <ATen/ATen.h>

namespace sinkd {
namespace {

// What the positions of samples are cut into: N chunks of c positions, zeros after the last.
class Chunks {
 public:
  explicit Chunks(const at::Tensor& v)
      : samples_(v.size(0)),
        positions_(v.size(1)),
        size_(std::min(kLinearChunk, positions_)),
        count_((positions_ + size_ - 1) / size_) {}

  int64_t size() const { return size_; }
  int64_t count() const { return count_; }

  // [S, T, heads, width] -> [N, S, key heads, heads per key head, c, width]
  at::Tensor Cut(const at::Tensor& x, int64_t key_heads) const {
    const at::Tensor whole = at::constant_pad_nd(x, {0, 0, 0, 0, 0, count_ * size_ - positions_});
    return whole.view({samples_, count_, size_, key_heads, -1, x.size(3)})
        .permute({1, 0, 3, 4, 2, 5})
        .contiguous();
  }

  // [N, S * heads, c, width] -> [S, T, heads, width]
  at::Tensor Joined(const at::Tensor& x) const {
    return x.view({count_, samples_, -1, size_, x.size(3)})
        .permute({1, 0, 3, 2, 4})
        .reshape({samples_, count_ * size_, -1, x.size(3)})
        .narrow(1, 0, positions_);
  }

 private:
  const int64_t samples_;
  const int64_t positions_;
  const int64_t size_;
  const int64_t count_;
};

// What is written to the state, if the state before the chunk is empty, and what that state takes
// from it, for a unit of it: [..., c, value size] and [..., c, key size]. One triangular system,
// for each position replaces a part of what those before it wrote.
struct Writes {
  at::Tensor values, held;
};

Writes Replace(const at::Tensor& k, const at::Tensor& v, const at::Tensor& beta,
               const at::Tensor& between, const at::Tensor& left) {
  const at::Tensor system = at::matmul(k, k.transpose(4, 5)) * between * beta;
  const at::Tensor solved =
      at::linalg_solve_triangular(system, at::cat({v * beta, k * (beta * left)}, 5),
                                  /*upper=*/false, /*left=*/true, /*unitriangular=*/true);
  return {.values = solved.narrow(5, 0, v.size(5)), .held = solved.narrow(5, v.size(5), k.size(5))};
}

}  // namespace

at::Tensor LinearAttention(const LinearInput& input) {
  const Chunks chunks(input.v);
  const int64_t key_heads = input.k.size(2);
  const at::Tensor q = chunks.Cut(input.q, key_heads);
  const at::Tensor k = chunks.Cut(input.k, key_heads);
  const at::Tensor v = chunks.Cut(input.v, key_heads);
  // Since the beginning of the chunk.
  const at::Tensor since = chunks.Cut(input.decay.unsqueeze(3), key_heads).cumsum(4);
  const at::Tensor left = since.exp();
  // Between two positions of a chunk; nothing goes back.
  const at::Tensor later =
      at::ones({chunks.size(), chunks.size()}, q.options().dtype(at::kBool)).triu_(1);
  const at::Tensor between = (since - since.transpose(4, 5))
                                 .masked_fill_(later, -std::numeric_limits<float>::infinity())
                                 .exp_();
  const bool replaces = input.beta.defined();
  Writes writes{.values = v, .held = {}};
  if (replaces) {
    writes = Replace(k, v, chunks.Cut(input.beta.unsqueeze(3), key_heads), between, left);
  }

  const auto by_head = [](const at::Tensor& all) { return all.flatten(1, 3); };
  const at::Tensor within = by_head(at::matmul(q, k.transpose(4, 5)) * between);
  const at::Tensor values = by_head(writes.values);
  const at::Tensor held = replaces ? by_head(writes.held) : at::Tensor();
  const at::Tensor reads = by_head(q * left);
  const at::Tensor last = since.narrow(4, chunks.size() - 1, 1);
  const at::Tensor keys = by_head(k * (last - since).exp_());
  const at::Tensor kept = by_head(last.exp());  // [N, heads, 1, 1]

  at::Tensor state = at::zeros({values.size(1), k.size(5), v.size(5)}, q.options());
  at::Tensor out = at::empty(values.sizes(), q.options());
  for (int64_t n = 0; n < chunks.count(); ++n) {
    const at::Tensor written = replaces ? values[n] - at::bmm(held[n], state) : values[n];
    out[n].copy_(at::bmm(reads[n], state).add_(at::bmm(within[n], written)));
    state = (state * kept[n]).add_(at::bmm(keys[n].transpose(1, 2), written));
  }
  return chunks.Joined(out);
}

}  // namespace sinkd

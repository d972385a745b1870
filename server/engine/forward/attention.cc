#include "server/engine/forward/attention.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <ATen/ATen.h>

#include "server/engine/forward/attention_by_calls.h"
#include "server/engine/forward/attention_sums.h"
#include "server/engine/forward/attention_way.h"
#include "server/engine/forward/fused_attention.h"
#include "server/engine/forward/linear.h"
#include "server/engine/forward/piece_sizes.h"

namespace sinkd {
namespace {

// Strips of a sample come in about so many widths: the libraries make and keep a kernel for each.
constexpr int64_t kWidths = 32;

// Keys of a strip are rounded up to a multiple of it; a power of two.
int64_t KeyStep(int64_t queries, int64_t positions) {
  int64_t keys = queries;
  while (keys * kWidths < positions) keys *= 2;
  return keys;
}

// The heads of one pass over the strips. Query heads of one group share a key head, so a group is
// one matrix product.
struct Heads {
  at::Tensor q;      // [S, n, G, T, D]
  at::Tensor k;      // [S n, T, D]
  at::Tensor v;      // [S n, T, E]
  at::Tensor sinks;  // [n G], or undefined
  at::Tensor bias;   // [n G, T], or undefined
  int64_t first_query_head = 0;
};

class Strips {
 public:
  Strips(const AttentionInput& input, AttentionSums* sums)
      : input_(input),
        sums_(sums),
        samples_(input.samples),
        positions_(input.positions()),
        size_(input.q.size(2)) {}

  // Writes `out` [S, T, n G, E].
  void Run(const Heads& heads, at::Tensor out) const {
    const int64_t kv_heads = samples_ * heads.q.size(1);  // of all samples
    const int64_t group = heads.q.size(2);
    const int64_t step = StripQueries(heads.q.size(1) * group, positions_);
    const int64_t key_step = KeyStep(step, positions_);
    const int64_t longest = std::min(step, positions_);
    const at::Tensor causal =
        at::full({longest, longest}, -std::numeric_limits<float>::infinity(), input_.q.options())
            .triu_(1);  // of any strip's last keys
    for (int64_t first = 0; first < positions_; first += step) {
      const int64_t queries = std::min(step, positions_ - first);
      const int64_t first_key = input_.FirstKey(first);
      const int64_t visible = first + queries - first_key;
      const int64_t keys =
          std::min((visible + key_step - 1) / key_step * key_step, positions_ - first_key);
      const at::Tensor strip = (heads.q.narrow(3, first, queries) * input_.scale)
                                   .reshape({kv_heads, group * queries, size_});
      at::Tensor scores = Product(strip, heads.k.narrow(1, first_key, keys).transpose(1, 2))
                              .view({kv_heads * group, queries, keys});
      if (input_.cap > 0) scores.div_(input_.cap).tanh_().mul_(input_.cap);
      if (heads.bias.defined()) {
        // Relative to the last query: the same for the softmax, and small where scores count.
        const at::Tensor of_last = heads.bias.narrow(1, first + queries - 1, 1);
        scores.view({samples_, -1, queries, keys})
            .add_((heads.bias.narrow(1, first_key, keys) - of_last).unsqueeze(1));
      }
      if (input_.window > 0 || input_.chunk > 0) {
        scores.add_(StripMask(first, queries, first_key, keys, input_.window, input_.chunk,
                              input_.q.options()));
      } else {
        // Only the last keys can lie ahead of a query.
        scores.narrow(2, visible - queries, queries)
            .add_(causal.narrow(0, 0, queries).narrow(1, 0, queries));
        if (keys > visible) {
          scores.narrow(2, visible, keys - visible).fill_(-std::numeric_limits<float>::infinity());
        }
      }
      if (input_.hidden.defined()) {
        at::Tensor mask = input_.hidden.narrow(0, first_key, keys).repeat({queries, 1});
        mask.diagonal(first - first_key).zero_();
        scores.add_(mask);
      }
      const at::Tensor weights = Share(scores, heads, first, first_key);
      if (sums_ != nullptr && sums_->rows.defined()) {
        AddRows(weights.unflatten(0, {samples_, -1}), heads.first_query_head, first, first_key);
      }
      const at::Tensor mixed = Product(weights.view({kv_heads, group * queries, keys}),
                                       heads.v.narrow(1, first_key, keys));
      out.narrow(1, first, queries)
          .copy_(mixed.view({samples_, -1, queries, input_.v.size(2)}).transpose(1, 2));
    }
  }

 private:
  // `weights` [S, heads, queries, keys], to the sums of rows.
  void AddRows(const at::Tensor& weights, int64_t first_head, int64_t first_query,
               int64_t first_key) const {
    const int64_t queries = weights.size(2);
    const int64_t keys = weights.size(3);
    const at::Tensor tokens = input_.tokens.view({samples_, positions_});
    const at::Tensor same = tokens.narrow(1, first_query, queries)
                                .unsqueeze(2)
                                .eq(tokens.narrow(1, first_key, keys).unsqueeze(1))
                                .to(at::kFloat)
                                .tril_(first_query - first_key - 1);
    const at::Tensor query = at::arange(first_query, first_query + queries, weights.options());
    at::Tensor visible = query + 1;
    if (input_.window > 0) visible = visible.clamp_max(static_cast<double>(input_.window));
    if (input_.chunk > 0) {
      visible = at::minimum(visible, query.remainder(static_cast<double>(input_.chunk)) + 1);
    }
    sums_->AddRows(weights, same, visible, first_head, first_query, first_key);
  }

  // a b, [n, rows, columns]. By the sample's length alone, so that it gets the same with and
  // without batch mates.
  at::Tensor Product(const at::Tensor& a, const at::Tensor& b) const {
    if (!KeyHeadsOneByOne(positions_, a.is_cpu())) return at::bmm(a, b);
    return Linear(a[0], b[0].t()).unsqueeze(0);
  }

  // Softmax over the keys, added to the sums; a learned sink takes a share that goes to no key.
  at::Tensor Share(at::Tensor& scores, const Heads& heads, int64_t first_query,
                   int64_t first_key) const {
    at::Tensor weights;
    at::Tensor sink_mass;
    if (heads.sinks.defined()) {
      const int64_t keys = scores.size(2);
      const int64_t queries = scores.size(1);
      at::Tensor column = heads.sinks.repeat({samples_}).view({-1, 1, 1}).expand({-1, queries, 1});
      if (heads.bias.defined()) {
        // What was taken from the scores: their distances are from the strip's last query.
        const at::Tensor of_queries = heads.bias.narrow(1, first_query, queries);
        column =
            column +
            (of_queries - of_queries.narrow(1, queries - 1, 1)).repeat({samples_, 1}).unsqueeze(2);
      }
      const at::Tensor shares = at::softmax(at::cat({scores, column}, -1), -1);
      weights = shares.narrow(2, 0, keys).contiguous();
      sink_mass = shares.select(2, keys);
    } else {
      weights = at::_softmax_out(scores, scores, -1, /*half_to_float=*/false);
    }
    if (sums_ != nullptr) {
      const auto by_sample = [this](const at::Tensor& all) {
        return all.defined() ? all.unflatten(0, {samples_, -1}) : all;
      };
      sums_->Add(by_sample(weights), by_sample(sink_mass), heads.first_query_head, first_query,
                 first_key);
    }
    return weights;
  }

  const AttentionInput& input_;
  AttentionSums* const sums_;
  const int64_t samples_;
  const int64_t positions_;
  const int64_t size_;
};

}  // namespace

at::Tensor StripMask(int64_t first_query, int64_t queries, int64_t first_key, int64_t keys,
                     int64_t window, int64_t chunk, const at::TensorOptions& options) {
  const at::TensorOptions index = options.dtype(at::kLong);
  const at::Tensor query = at::arange(first_query, first_query + queries, index).unsqueeze(1);
  const at::Tensor key = at::arange(first_key, first_key + keys, index).unsqueeze(0);
  at::Tensor hidden = key > query;
  if (window > 0) hidden = hidden.logical_or(key <= query - window);
  if (chunk > 0) hidden = hidden.logical_or(key < query - query % chunk);
  return at::zeros({queries, keys}, options)
      .masked_fill_(hidden, -std::numeric_limits<float>::infinity());
}

bool KeyHeadsOneByOne(int64_t positions, bool on_cpu) {
  return on_cpu && positions >= kLongSample && UsesOneDnn();
}

int64_t StripQueries(int64_t heads, int64_t positions) {
  const int64_t most = positions < kLongSample ? kShortStripElements : kStripElements;
  int64_t queries = kMaxQueries;
  while (queries > kMinQueries && queries * heads * positions > most) queries /= 2;
  return queries;
}

int64_t SamplesTogether(int64_t heads, int64_t positions) {
  if (positions >= kLongSample) return 1;
  const int64_t scores = heads * std::min(StripQueries(heads, positions), positions) * positions;
  return std::max<int64_t>(1, kShortStripElements / scores);
}

at::Tensor KeyBias(const DistanceBias& bias, double scale, int64_t positions,
                   const at::TensorOptions& options) {
  if (bias.slopes.empty()) return {};
  const at::Tensor slopes = at::tensor(bias.slopes, at::kFloat).unsqueeze(1);
  const at::Tensor keys = at::arange(positions, at::kFloat).unsqueeze(0);
  at::Tensor all =
      bias.in_bfloat16 ? slopes.to(at::kBFloat16).mul(keys.to(at::kBFloat16)) : slopes * keys;
  all = all.to(options.dtype(at::kFloat));
  return bias.scaled ? all * scale : all;
}

at::Tensor AttendInStrips(const AttentionInput& input, AttentionSums* sums) {
  const int64_t samples = input.samples;
  const int64_t positions = input.positions();
  const int64_t heads = input.q.size(1);
  const int64_t kv_heads = input.k.size(1);
  const int64_t group = heads / kv_heads;
  // [S, H, T, D]
  const auto by_head = [&](const at::Tensor& rows) {
    return rows.unflatten(0, {samples, positions}).transpose(1, 2);
  };
  const at::Tensor q = by_head(input.q).unflatten(1, {kv_heads, group});
  const at::Tensor k = by_head(input.k);
  const at::Tensor v = by_head(input.v);
  const int64_t value_size = input.v.size(2);
  at::Tensor out = at::empty({samples, positions, heads, value_size}, input.q.options());
  const bool one_by_one = KeyHeadsOneByOne(positions, q.is_cpu());
  const int64_t step = one_by_one ? 1 : kv_heads;
  const Strips strips(input, sums);
  for (int64_t h = 0; h < kv_heads; h += step) {
    const auto some = [&](const at::Tensor& all) {
      const at::Tensor part = all.narrow(1, h, step).reshape({-1, positions, all.size(3)});
      // Already contiguous where a head's rows lie together.
      return one_by_one ? part.contiguous() : part;
    };
    const auto of_heads = [&](const at::Tensor& all) {
      return all.defined() ? all.narrow(0, h * group, step * group) : all;
    };
    const Heads these{.q = q.narrow(1, h, step),
                      .k = some(k),
                      .v = some(v),
                      .sinks = of_heads(input.sinks),
                      .bias = of_heads(input.key_bias),
                      .first_query_head = h * group};
    strips.Run(these, out.narrow(2, h * group, step * group));
  }
  return out.view({samples * positions, heads * value_size});
}

namespace {

// A key that few queries see has few rounding errors of two calls to average.
constexpr int64_t kFewestForCalls = 16;

at::Tensor AttendBy(const AttentionWay& way, const AttentionInput& input, AttentionSums* sums) {
  switch (way.kind) {
    case AttentionWay::Kind::kFusedOnCpu:
      return FuseAttention(input, sums);
    case AttentionWay::Kind::kTwoCalls:
      if (sums != nullptr && sums->rows.defined()) break;  // those are of whole weights
      if (input.positions() < kFewestForCalls) break;
      if (!FaultOf(*way.call, input.q.device()).empty()) break;
      return AttendByCalls(*way.call, input, sums);
    case AttentionWay::Kind::kStrips:
      break;
  }
  return AttendInStrips(input, sums);
}

}  // namespace

at::Tensor Attend(const AttentionInput& input, TapObserver* observer, int64_t block,
                  int64_t first_sample) {
  std::optional<AttentionSums> sums;
  if (observer != nullptr && observer->WantsAttention(block)) {
    sums.emplace(input.samples, input.q.size(1), input.positions(), observer->AttentionPrefix(),
                 input.sinks.defined(), input.q.device(), input.tokens.defined());
  }
  if (sums && input.window != 1) {
    const int64_t positions = input.positions();
    const int64_t chunk = input.chunk > 0 ? input.chunk : positions;
    sums->choosing = positions - (positions + chunk - 1) / chunk;
  }
  AttentionSums* const wanted = sums ? &*sums : nullptr;
  at::Tensor out = AttendBy(WayOf(TraitsOf(input)), input, wanted);
  if (sums) observer->OnAttention(block, first_sample, *sums);
  return out;
}

}  // namespace sinkd

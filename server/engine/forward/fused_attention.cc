#include "server/engine/forward/fused_attention.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/Version.h>
#include <ATen/native/CPUBlas.h>

#include "server/engine/forward/linear.h"
#include "server/engine/memory/host_memory.h"

// Not for a whole file: what its headers define inline would need these instructions everywhere.
#define SINKD_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

namespace sinkd {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLog2E = 1.44269504F;
constexpr int64_t kLanes = 16;  // floats of a register
constexpr __mmask16 kAll = 0xFFFF;
constexpr int64_t kQueries = 64;  // of a strip
constexpr int64_t kKeys = 64;     // of a block of keys
// Queries of long samples: a strip's scores stay within a core's cache.
constexpr int64_t kFewQueries = 32;
constexpr int64_t kLongStrip = 8192;
// The strips of a head are divided among several tasks, each with separate column sums, so that the
// heads of one key head keep as many threads busy.
constexpr int64_t kTasks = 32;
constexpr int64_t kStripsOfPart = 4;
// Keys that are packed at once: key heads of long samples are taken one by one.
constexpr int64_t kPackedRows = 4096;

int64_t Blocks(int64_t positions) {
  return (positions + kKeys - 1) / kKeys;
}

int64_t QueriesOf(int64_t positions) {
  return positions > kLongStrip ? kFewQueries : kQueries;
}

int64_t PartsOf(int64_t positions, int64_t group) {
  const int64_t strips = (positions + kQueries - 1) / kQueries;
  return std::clamp<int64_t>(strips / kStripsOfPart, 1, std::max<int64_t>(4, kTasks / group));
}

int64_t KeyHeadsAtOnce(int64_t positions) {
  return std::max<int64_t>(1, kPackedRows / positions);
}

// Floats that a thread needs, a multiple of a cache line's.
int64_t FloatsOfThread(int64_t positions, int64_t head_size, int64_t value_size) {
  const int64_t of_query = Blocks(positions) * kKeys + head_size + 1 + value_size + 1;
  const int64_t floats = QueriesOf(positions) * of_query;
  return (floats + kLanes - 1) / kLanes * kLanes;
}

// Calls work(thread) on threads of libtorch's; its parallel_for needs OpenMP's pragmas here.
template <typename Work>
void OnThreads(const Work& work) {
  at::Tensor each = at::empty({at::get_num_threads()}, at::kByte);
  at::TensorIterator::borrowing_nullary_op(each).for_each(
      [&](char**, const int64_t*, int64_t) { work(at::get_thread_num()); }, /*grain_size=*/1);
}

// Calls work(task, thread) for tasks 0, 1, ..., n - 1, each by the next free thread.
template <typename Work>
void ForEach(int64_t n, const Work& work) {
  std::atomic<int64_t> next = 0;
  OnThreads([&](int thread) {
    for (int64_t task = next++; task < n; task = next++) work(task, thread);
    at::native::cpublas::brgemm_release();
  });
}

// 2^x for x below 128, to a unit in the last place or two: 2^n 2^r with r within a half, by a
// polynomial fitted to 2^r there (least relative error, 9e-8).
SINKD_AVX512 inline __m512 Exp2(__m512 x) {
  const __m512 n = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 r = _mm512_sub_ps(x, n);
  __m512 sum = _mm512_set1_ps(1.32647273e-3F);
  sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(9.67151299e-3F));
  sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(5.55073358e-2F));
  sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(0.240222424F));
  sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(0.693147004F));
  sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(1));
  return _mm512_scalef_ps(sum, n);
}

SINKD_AVX512 inline __m512 Tanh(__m512 x) {
  const __m512 small = Exp2(_mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(-2 * kLog2E)));
  const __m512 one = _mm512_set1_ps(1);
  const __m512 size = _mm512_div_ps(_mm512_sub_ps(one, small), _mm512_add_ps(one, small));
  return _mm512_mask_sub_ps(size, _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ),
                            _mm512_setzero_ps(), size);
}

SINKD_AVX512 inline __m512i Lanes() {
  return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

// The keys from first to last that a query sees.
struct Visible {
  int64_t first, last;
};

// Of the lanes from key `key` on, those that are seen.
SINKD_AVX512 inline __mmask16 Seen(const Visible& keys, int64_t key) {
  const __m512i lane = Lanes();
  const auto bound = [](int64_t at) {
    return static_cast<int>(std::clamp<int64_t>(at, -1, kLanes));
  };
  return _mm512_cmpge_epi32_mask(lane, _mm512_set1_epi32(bound(keys.first - key))) &
         _mm512_cmple_epi32_mask(lane, _mm512_set1_epi32(bound(keys.last - key)));
}

// Scores of a strip, [blocks, kKeys queries' rows...]: block b of row i at
// scores + (b * queries + i) * kKeys.
struct Strip {
  float* scores;
  int64_t queries;      // rows with room
  int64_t first_query;  // of the sample
  int64_t rows;         // queries
  int64_t first_block;
  int64_t blocks;

  float* Row(int64_t block, int64_t row) const { return scores + (block * queries + row) * kKeys; }
  int64_t Key(int64_t block) const { return (first_block + block) * kKeys; }
};

struct Scoring {
  float scale;
  float cap;
  const float* bias;    // of keys, or null
  const float* hidden;  // -inf for keys that only their own query sees, or null
};

// Makes whole scores of products.
SINKD_AVX512 void Adjust(const Strip& strip, const Scoring& scoring) {
  for (int64_t i = 0; i < strip.rows; ++i) {
    // Relative to the query's own: a distance, small where scores count.
    const float own = scoring.bias == nullptr ? 0 : scoring.bias[strip.first_query + i];
    for (int64_t b = 0; b < strip.blocks; ++b) {
      float* const row = strip.Row(b, i);
      for (int64_t v = 0; v < kKeys; v += kLanes) {
        __m512 x = _mm512_mul_ps(_mm512_loadu_ps(row + v), _mm512_set1_ps(scoring.scale));
        if (scoring.cap > 0) {
          x = _mm512_mul_ps(Tanh(_mm512_mul_ps(x, _mm512_set1_ps(1 / scoring.cap))),
                            _mm512_set1_ps(scoring.cap));
        }
        if (scoring.bias != nullptr) {
          const __m512 bias = _mm512_loadu_ps(scoring.bias + strip.Key(b) + v);
          x = _mm512_add_ps(x, _mm512_sub_ps(bias, _mm512_set1_ps(own)));
        }
        if (scoring.hidden != nullptr) {
          const __m512i key = _mm512_set1_epi32(static_cast<int>(strip.first_query + i));
          const __m512i keys =
              _mm512_add_epi32(Lanes(), _mm512_set1_epi32(static_cast<int>(strip.Key(b) + v)));
          x = _mm512_mask_add_ps(x, _mm512_cmpneq_epi32_mask(keys, key), x,
                                 _mm512_loadu_ps(scoring.hidden + strip.Key(b) + v));
        }
        _mm512_storeu_ps(row + v, x);
      }
    }
  }
}

// The largest score of a row, of those that are seen.
SINKD_AVX512 float Largest(const Strip& strip, int64_t row, const Visible& keys) {
  __m512 largest = _mm512_set1_ps(-kInfinity);
  for (int64_t b = 0; b < strip.blocks; ++b) {
    const float* const scores = strip.Row(b, row);
    const int64_t key = strip.Key(b);
    const bool whole = keys.first <= key && keys.last >= key + kKeys - 1;
#pragma GCC unroll 4
    for (int64_t v = 0; v < kKeys; v += kLanes) {
      const __m512 x = _mm512_loadu_ps(scores + v);
      const __mmask16 seen = whole ? kAll : Seen(keys, key + v);
      largest = _mm512_mask_max_ps(largest, seen, largest, x);
    }
  }
  return _mm512_reduce_max_ps(largest);
}

// Of a row, the sum of 2^x and that of x 2^x, of which the entropy is made; by lane.
struct Sums {
  __m512 powers, products;
};

// Replaces scores of a block's row by 2^(factor score - shift), and adds to their sums.
template <bool kProducts>
SINKD_AVX512 inline void PowersOfBlock(float* scores, __m512 factor, __m512 shift, Sums& sums) {
  constexpr float kNone = -200;  // 2^kNone is 0
  __m512 sum = _mm512_setzero_ps();
#pragma GCC unroll 4
  for (int64_t v = 0; v < kKeys; v += kLanes) {
    const __m512 x = _mm512_fmsub_ps(_mm512_loadu_ps(scores + v), factor, shift);
    const __m512 power = Exp2(x);
    _mm512_storeu_ps(scores + v, power);
    sum = _mm512_add_ps(sum, power);
    if (kProducts) {
      const __m512 finite = _mm512_max_ps(x, _mm512_set1_ps(kNone));
      sums.products = _mm512_fmadd_ps(power, finite, sums.products);
    }
  }
  sums.powers = _mm512_add_ps(sums.powers, sum);
}

// The same, with 0 where a key is not seen.
template <bool kProducts>
SINKD_AVX512 void PowersOfEdge(float* scores, __m512 factor, __m512 shift, const Visible& keys,
                               int64_t key, Sums& sums) {
  for (int64_t v = 0; v < kKeys; v += kLanes) {
    const __m512 x = _mm512_loadu_ps(scores + v);
    _mm512_storeu_ps(scores + v,
                     _mm512_mask_mov_ps(_mm512_set1_ps(-kInfinity), Seen(keys, key + v), x));
  }
  PowersOfBlock<kProducts>(scores, factor, shift, sums);
}

struct RowPowers {
  float sum;
  float products;  // sum of x 2^x, where asked for
};

// Of a whole row, with the sums of all.
template <bool kProducts>
SINKD_AVX512 RowPowers Powers(const Strip& strip, int64_t row, const Visible& keys, float factor,
                              float shift) {
  const __m512 factors = _mm512_set1_ps(factor);
  const __m512 shifts = _mm512_set1_ps(shift);
  Sums sums = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (int64_t b = 0; b < strip.blocks; ++b) {
    float* const scores = strip.Row(b, row);
    const int64_t key = strip.Key(b);
    if (keys.first <= key && keys.last >= key + kKeys - 1) {
      PowersOfBlock<kProducts>(scores, factors, shifts, sums);
    } else {
      PowersOfEdge<kProducts>(scores, factors, shifts, keys, key, sums);
    }
  }
  return {_mm512_reduce_add_ps(sums.powers), _mm512_reduce_add_ps(sums.products)};
}

// The sum of a row's powers at keys of one token; `tokens` of all keys.
SINKD_AVX512 float PowersOfToken(const Strip& strip, int64_t row, const int32_t* tokens,
                                 int32_t token) {
  const __m512i wanted = _mm512_set1_epi32(token);
  __m512 sum = _mm512_setzero_ps();
  for (int64_t b = 0; b < strip.blocks; ++b) {
    const float* const powers = strip.Row(b, row);
    const int32_t* const keys = tokens + strip.Key(b);
#pragma GCC unroll 4
    for (int64_t v = 0; v < kKeys; v += kLanes) {
      const __mmask16 same = _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(keys + v), wanted);
      sum = _mm512_mask_add_ps(sum, same, sum, _mm512_loadu_ps(powers + v));
    }
  }
  return _mm512_reduce_add_ps(sum);
}

// Rounded to bfloat16, in the lower halves of the lanes.
SINKD_AVX512 inline __m512i Rounded(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF));
  return _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
}

SINKD_AVX512 inline __mmask16 First(int64_t lanes) {
  return static_cast<__mmask16>((1U << std::clamp<int64_t>(lanes, 0, kLanes)) - 1);
}

SINKD_AVX512 inline void Store(float* to, __mmask16 lanes, __m512 x) {
  _mm512_mask_storeu_ps(to, lanes, x);
}

SINKD_AVX512 inline void Store(at::BFloat16* to, __mmask16 lanes, __m512 x) {
  _mm256_mask_storeu_epi16(to, lanes, _mm512_cvtepi32_epi16(Rounded(x)));
}

template <typename T>
SINKD_AVX512 void CopyRow(const float* from, int64_t size, T* to) {
  for (int64_t i = 0; i < size; i += kLanes) {
    Store(to + i, First(size - i), _mm512_maskz_loadu_ps(First(size - i), from + i));
  }
}

// Writes `key` [size] to a column of 4-byte places in a block of keys.
SINKD_AVX512 void CopyToColumn(const void* key, int64_t places, void* column) {
  const __m512i stride = _mm512_slli_epi32(Lanes(), 6);
  static_assert(kKeys == 1 << 6);
  for (int64_t i = 0; i < places; i += kLanes) {
    const __mmask16 lanes = First(places - i);
    const __m512i values = _mm512_maskz_loadu_epi32(lanes, static_cast<const int32_t*>(key) + i);
    _mm512_mask_i32scatter_epi32(static_cast<int32_t*>(column) + i * kKeys, lanes, stride, values,
                                 4);
  }
}

// One row of values, or two side by side; the second may be missing.
SINKD_AVX512 void CopyValues(const float* row, const float*, int64_t size, float* to) {
  CopyRow(row, size, to);
}

SINKD_AVX512 void CopyValues(const float* row, const float* next, int64_t size, at::BFloat16* to) {
  for (int64_t i = 0; i < size; i += kLanes) {
    const __mmask16 lanes = First(size - i);
    const __m512i low = Rounded(_mm512_maskz_loadu_ps(lanes, row + i));
    const __m512i high =
        next == nullptr ? _mm512_setzero_si512() : Rounded(_mm512_maskz_loadu_ps(lanes, next + i));
    _mm512_mask_storeu_epi32(to + 2 * i, lanes, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
}

// Turns powers into weights, by the factor of each row, and adds their column sums. They stay
// where they were; those in bfloat16 take the first half of a block's row.
template <typename T>
SINKD_AVX512 void Weigh(const Strip& strip, const float* factors, double* column_sums) {
  for (int64_t b = 0; b < strip.blocks; ++b) {
    __m512 sums[kKeys / kLanes] = {};
    for (int64_t i = 0; i < strip.queries; ++i) {
      float* const row = strip.Row(b, i);
      const __m512 factor = _mm512_set1_ps(factors[i]);
#pragma GCC unroll 4
      for (int64_t v = 0; v < kKeys / kLanes; ++v) {
        const __m512 weights = _mm512_mul_ps(_mm512_loadu_ps(row + v * kLanes), factor);
        sums[v] = _mm512_add_ps(sums[v], weights);
        Store(reinterpret_cast<T*>(row) + v * kLanes, kAll, weights);
      }
    }
    double* const to = column_sums + strip.Key(b);
    for (int64_t v = 0; v < kKeys; v += kLanes / 2) {
      const __m256 half = v % kLanes == 0 ? _mm512_castps512_ps256(sums[v / kLanes])
                                          : _mm512_extractf32x8_ps(sums[v / kLanes], 1);
      _mm512_storeu_pd(to + v, _mm512_add_pd(_mm512_loadu_pd(to + v), _mm512_cvtps_pd(half)));
    }
  }
}

template <typename T>
constexpr int64_t kPair = sizeof(float) / sizeof(T);  // rows that lie side by side in a product

template <typename T>
class Fused {
 public:
  Fused(const AttentionInput& input, AttentionSums* sums)
      : input_(input),
        sums_(sums),
        samples_(input.samples),
        positions_(input.positions()),
        heads_(input.q.size(1)),
        kv_heads_(input.k.size(1)),
        size_(input.q.size(2)),
        padded_((size_ + kPair<T> - 1) / kPair<T> * kPair<T>),
        values_(input.v.size(2)),
        blocks_(Blocks(positions_)),
        queries_(QueriesOf(positions_)),
        group_(heads_ / kv_heads_),
        parts_(PartsOf(positions_, group_)) {}

  at::Tensor Run() {
    const int64_t pairs = samples_ * kv_heads_;
    const int64_t most = std::min(pairs, KeyHeadsAtOnce(positions_));
    Allocate(most);
    for (first_pair_ = 0; first_pair_ < pairs; first_pair_ += most) {
      const int64_t some = std::min(most, pairs - first_pair_);
      for (const at::Tensor& each : {columns_, prefixes_, masses_, rows_}) each.zero_();
      ForEach(some * blocks_, [this](int64_t task, int) { Pack(task); });
      ForEach(some * group_ * parts_,
              [this](int64_t task, int thread) { Attend(task, Scratch(thread)); });
      if (sums_ != nullptr) AddSums(some);
    }
    return out_;
  }

 private:
  struct Room {
    float* scores;   // of a strip
    T* q;            // [queries, padded]
    float* out;      // [queries, E]
    float* factors;  // [queries]
  };

  void Allocate(int64_t pairs) {
    const at::TensorOptions options = input_.q.options();
    const at::TensorOptions narrow = options.dtype(c10::CppTypeToScalarType<T>::value);
    out_ = at::empty({samples_ * positions_, heads_ * values_}, options);
    k_ = at::empty({pairs, blocks_, padded_ * kKeys}, narrow);
    v_ = at::empty({pairs, blocks_, values_ * kKeys}, narrow);
    scores_ =
        at::empty({at::get_num_threads(), FloatsOfThread(positions_, size_, values_)}, options);
    const auto parts = [&](int64_t columns) {
      return at::empty({pairs, group_, parts_, columns}, options.dtype(at::kDouble));
    };
    columns_ = parts(blocks_ * kKeys);
    prefix_ = sums_ == nullptr ? 0 : sums_->prefix.size(2);
    prefixes_ = parts(prefix_);
    masses_ = parts(1);
    const bool wanted = sums_ != nullptr && sums_->rows.defined();
    rows_ = parts(wanted ? int64_t{kRowSums} : 0);
    const int64_t beyond = blocks_ * kKeys - positions_;
    if (input_.key_bias.defined()) bias_ = at::constant_pad_nd(input_.key_bias, {0, beyond});
    if (input_.hidden.defined()) hidden_ = at::constant_pad_nd(input_.hidden, {0, beyond});
    if (wanted) {
      tokens_ = at::constant_pad_nd(input_.tokens.view({samples_, positions_}), {0, beyond}, -1);
    }
  }

  void AddSums(int64_t pairs) const {
    const auto add = [&](const at::Tensor& parts, const at::Tensor& all, int64_t columns) {
      all.view({samples_ * kv_heads_, group_, columns})
          .narrow(0, first_pair_, pairs)
          .add_(parts.narrow(0, 0, pairs).narrow(3, 0, columns).sum(2));
    };
    add(columns_, sums_->column, positions_);
    add(prefixes_, sums_->prefix, prefix_);
    if (sums_->sink_mass.defined()) add(masses_, sums_->sink_mass, 1);
    if (tokens_.defined()) add(rows_, sums_->rows, kRowSums);
  }

  Room Scratch(int thread) const {
    float* const scores = scores_.data_ptr<float>() + thread * scores_.size(1);
    float* const out = scores + queries_ * blocks_ * kKeys;
    float* const factors = out + queries_ * values_;
    return {scores, reinterpret_cast<T*>(factors + queries_), out, factors};
  }

  static const float* RowOf(const at::Tensor& all, int64_t row, int64_t head) {
    return all.const_data_ptr<float>() + row * all.stride(0) + head * all.stride(1);
  }

  // Keys and values of one block of one head, as the products want them: keys by column, and of
  // bfloat16 two rows' entries side by side.
  void Pack(int64_t task) {
    const int64_t block = task % blocks_;
    const int64_t pair = first_pair_ + task / blocks_;
    const int64_t first = block * kKeys;
    const int64_t rows = std::min(kKeys, positions_ - first);
    const int64_t first_row = pair / kv_heads_ * positions_ + first;
    T* const k = k_.data_ptr<T>() + task * padded_ * kKeys;
    T* const v = v_.data_ptr<T>() + task * values_ * kKeys;
    if (rows < kKeys) {
      std::fill_n(k, padded_ * kKeys, T(0));
      std::fill_n(v, values_ * kKeys, T(0));
    }
    const auto row = [&](const at::Tensor& all, int64_t j) {
      return j < rows ? RowOf(all, first_row + j, pair % kv_heads_) : nullptr;
    };
    std::vector<T> key(static_cast<size_t>(padded_));
    for (int64_t j = 0; j < rows; ++j) {
      CopyRow(row(input_.k, j), size_, key.data());
      CopyToColumn(key.data(), padded_ / kPair<T>, k + j * kPair<T>);
    }
    for (int64_t j = 0; j < rows; j += kPair<T>) {
      CopyValues(row(input_.v, j), row(input_.v, j + 1), values_, v + j * values_);
    }
  }

  Visible KeysOf(int64_t query) const { return {input_.FirstKey(query), query}; }

  // What a task is about.
  struct Place {
    int64_t task;
    int64_t pair;    // of sample and key head, of those at once
    int64_t sample;  // of all
    int64_t head;    // of queries, of its sample
  };

  Place PlaceOf(int64_t task) const {
    const int64_t pair = task / parts_ / group_;
    const int64_t sample = (first_pair_ + pair) / kv_heads_;
    const int64_t kv_head = (first_pair_ + pair) % kv_heads_;
    return {task, pair, sample, kv_head * group_ + task / parts_ % group_};
  }

  // Every parts_-th strip of one head of one sample: all parts have as much to do.
  void Attend(int64_t task, const Room& room) {
    const Place place = PlaceOf(task);
    for (int64_t first = task % parts_ * queries_; first < positions_; first += parts_ * queries_) {
      const int64_t rows = std::min(queries_, positions_ - first);
      const int64_t first_block = KeysOf(first).first / kKeys;
      const Strip strip{.scores = room.scores,
                        .queries = queries_,
                        .first_query = first,
                        .rows = rows,
                        .first_block = first_block,
                        .blocks = Blocks(first + rows) - first_block};
      Score(place, strip, room);
      Soften(place, strip, room);
      Weigh<T>(strip, room.factors, columns_.data_ptr<double>() + task * blocks_ * kKeys);
      Mix(place, strip, room);
    }
  }

  // Products of queries and keys.
  void Score(const Place& place, const Strip& strip, const Room& room) const {
    const int64_t first_row = place.sample * positions_ + strip.first_query;
    std::fill_n(room.q, queries_ * padded_, T(0));
    for (int64_t i = 0; i < strip.rows; ++i) {
      const float* const query = RowOf(input_.q, first_row + i, place.head);
      CopyRow(query, size_, room.q + i * padded_);
    }
    const T* const keys =
        k_.const_data_ptr<T>() + (place.pair * blocks_ + strip.first_block) * padded_ * kKeys;
    for (int64_t b = 0; b < strip.blocks; ++b) {
      at::native::cpublas::brgemm(queries_, kKeys, padded_, padded_, kKeys, kKeys, false, room.q,
                                  keys + b * padded_ * kKeys, strip.Row(b, 0), kPair<T> > 1);
    }
  }

  // e to the power of the scores, by a factor for each row that makes weights of it.
  void Soften(const Place& place, const Strip& strip, const Room& room) const {
    float scale = static_cast<float>(input_.scale);
    const float* const bias =
        bias_.defined() ? bias_.const_data_ptr<float>() + place.head * bias_.stride(0) : nullptr;
    const float* const hidden = hidden_.defined() ? hidden_.const_data_ptr<float>() : nullptr;
    if (input_.cap > 0 || bias != nullptr) {
      Adjust(strip, {scale, static_cast<float>(input_.cap), bias, hidden});
      scale = 1;
    } else if (hidden != nullptr) {
      Adjust(strip, {1, 0, nullptr, hidden});  // others stay what they are without hidden keys
    }
    const bool learned = input_.sinks.defined();
    const float sink =
        learned ? input_.sinks.const_data_ptr<float>()[place.head] * kLog2E : -kInfinity;
    std::fill_n(room.factors, queries_, 0.0F);
    double mass = 0;
    for (int64_t i = 0; i < strip.rows; ++i) {
      const Visible keys = KeysOf(strip.first_query + i);
      const float of_keys = Largest(strip, i, keys) * scale * kLog2E;
      const float largest = std::max(of_keys, sink);
      const float of_sink = std::exp2(sink - largest);
      const RowPowers powers = tokens_.defined()
                                   ? Powers<true>(strip, i, keys, scale * kLog2E, largest)
                                   : Powers<false>(strip, i, keys, scale * kLog2E, largest);
      room.factors[i] = 1 / (powers.sum + of_sink);
      mass += static_cast<double>(of_sink * room.factors[i]);
      if (!tokens_.defined()) continue;
      AddRow(place, strip, i, keys, powers, std::exp2(of_keys - largest), room.factors[i]);
    }
    for (int64_t b = 0; b < strip.blocks; ++b) {
      std::fill(strip.Row(b, strip.rows), strip.Row(b, queries_), 0.0F);
    }
    masses_.data_ptr<double>()[place.task] += mass;
    if (sums_ != nullptr) Show(place, strip, room);
  }

  // The sums of one query, of its powers and the factor that makes weights of them.
  void AddRow(const Place& place, const Strip& strip, int64_t i, const Visible& keys,
              const RowPowers& powers, float largest, float factor) const {
    double* const sums = rows_.data_ptr<double>() + place.task * kRowSums;
    const int64_t query = strip.first_query + i;
    const auto power = [&](int64_t key) {
      const int64_t at = key - strip.first_block * kKeys;
      return strip.Row(at / kKeys, i)[at % kKeys];
    };
    const int64_t visible = keys.last - keys.first + 1;
    if (visible > 1 && powers.sum > 0) {
      const float entropy = std::log(powers.sum) - powers.products / (powers.sum * kLog2E);
      sums[kRowEntropy] += static_cast<double>(entropy / std::log(static_cast<float>(visible)));
      sums[kRowMaximum] += static_cast<double>(largest * factor);
    }
    if (visible > 1) sums[kRowPrevious] += static_cast<double>(power(query - 1) * factor);
    const int32_t* const tokens =
        tokens_.const_data_ptr<int32_t>() + place.sample * tokens_.size(1);
    const float same = PowersOfToken(strip, i, tokens, tokens[query]) - power(query);
    sums[kRowDuplicate] += static_cast<double>(same * factor);
  }

  // Weights of queries for themselves, and sums over the first ones.
  void Show(const Place& place, const Strip& strip, const Room& room) const {
    const auto weight = [&](int64_t i, int64_t key) {
      const int64_t at = key - strip.first_block * kKeys;
      return strip.Row(at / kKeys, i)[at % kKeys] * room.factors[i];
    };
    float* const self =
        sums_->self.data_ptr<float>() + (place.sample * heads_ + place.head) * positions_;
    double* const prefix = prefixes_.data_ptr<double>() + place.task * prefix_;
    for (int64_t i = 0; i < strip.rows; ++i) {
      const int64_t query = strip.first_query + i;
      self[query] = weight(i, query);
      if (query >= prefix_) continue;
      for (int64_t key = strip.first_block * kKeys; key <= query; ++key) {
        prefix[key] += static_cast<double>(weight(i, key));
      }
    }
  }

  // Products of weights and values.
  void Mix(const Place& place, const Strip& strip, const Room& room) const {
    const T* const values =
        v_.const_data_ptr<T>() + (place.pair * blocks_ + strip.first_block) * values_ * kKeys;
    for (int64_t b = 0; b < strip.blocks; ++b) {
      at::native::cpublas::brgemm(queries_, values_, kKeys, kKeys * kPair<T>, values_, values_,
                                  b > 0, reinterpret_cast<const T*>(strip.Row(b, 0)),
                                  values + b * values_ * kKeys, room.out, kPair<T> > 1);
    }
    const int64_t first_row = place.sample * positions_ + strip.first_query;
    for (int64_t i = 0; i < strip.rows; ++i) {
      std::copy_n(room.out + i * values_, values_,
                  out_.data_ptr<float>() + (first_row + i) * out_.stride(0) + place.head * values_);
    }
  }

  const AttentionInput& input_;
  AttentionSums* const sums_;
  const int64_t samples_, positions_, heads_, kv_heads_;
  const int64_t size_, padded_, values_;
  const int64_t blocks_, queries_, group_, parts_;
  int64_t prefix_ = 0;
  int64_t first_pair_ = 0;                         // of sample and key head, of those at once
  at::Tensor out_;                                 // [S T, H E]
  at::Tensor k_, v_;                               // [pairs, blocks, kKeys keys]
  at::Tensor scores_;                              // of each thread, its Room
  at::Tensor columns_, prefixes_, masses_, rows_;  // [pairs, group, parts, keys | P | 1 | RowSum]
  at::Tensor bias_, hidden_;  // [H, blocks kKeys], [blocks kKeys]; or undefined
  at::Tensor tokens_;         // [S, blocks kKeys] where row sums are wanted
};

// Whether oneDNN has a small product of bfloat16 for what ONEDNN_MAX_CPU_ISA allows; asking it to
// make one is the only way to know.
bool HasNarrowProducts() {
  static const bool has = [] {
    constexpr int64_t n = kLanes;
    const std::vector<at::BFloat16> factor(n * n);
    std::vector<float> product(n * n);
    try {
      at::native::cpublas::brgemm(n, n, n, n, n, n, false, factor.data(), factor.data(),
                                  product.data(), true);
      at::native::cpublas::brgemm_release();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }();
  return has;
}

}  // namespace

bool FusesAttentionOnCpu() {
  static const bool can = at::get_cpu_capability() == "AVX512" && at::hasMKLDNN();
  return can;
}

bool NarrowsAttentionOnCpu() {
  return FusesAttentionOnCpu() && UsesBfloat16() && HasNarrowProducts();
}

at::Tensor FuseAttention(const AttentionInput& input, AttentionSums* sums) {
  if (!HostReserveIsFree()) throw std::bad_alloc();  // rather than see oneDNN go without
  if (input.narrow) return Fused<at::BFloat16>(input, sums).Run();
  return Fused<float>(input, sums).Run();
}

int64_t FusedAttentionBytes(int64_t samples, int64_t positions, int64_t heads,
                            const HeadShape& shape, bool narrow) {
  const int64_t pairs = std::min(samples * shape.kv_heads, KeyHeadsAtOnce(positions));
  const int64_t group = heads / shape.kv_heads;
  const int64_t keys = Blocks(positions) * kKeys;
  const int64_t packed = pairs * keys * (shape.head_size + shape.value_size) * (narrow ? 2 : 4);
  const int64_t sums = pairs * group * (PartsOf(positions, group) + 1) * keys * 8;
  const int64_t threads =
      at::get_num_threads() * FloatsOfThread(positions, shape.head_size, shape.value_size) * 4;
  return packed + sums + threads + samples * heads * positions * (8 + 4);
}

}  // namespace sinkd

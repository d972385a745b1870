#include "server/engine/memory_estimate.h"

#include <algorithm>
#include <vector>

#include "server/engine/forward/attention.h"
#include "server/engine/forward/attention_by_calls.h"
#include "server/engine/forward/attention_way.h"
#include "server/engine/forward/fused_attention.h"
#include "server/engine/forward/linear.h"
#include "server/engine/forward/linear_attention.h"
#include "server/engine/forward/mlp.h"
#include "server/engine/forward/piece_sizes.h"
#include "server/engine/forward/row_group.h"

namespace sinkd {
namespace {

constexpr int64_t kWide = 4;  // bytes of a float32

// How products are made, as linear.h chooses.
struct Products {
  bool on_cpu;
  bool narrow;     // weights are bfloat16
  bool in_parts;   // a product is a sum of parts, one of which lies beside it
  bool made_wide;  // of bfloat16 weights, which are widened for it
  int64_t bytes() const { return narrow ? 2 : kWide; }  // of a weight, and of what meets it
};

Products ProductsOf(std::string_view compute_type, std::string_view device) {
  const bool on_cpu = device.starts_with("cpu");
  const bool narrow = compute_type == "bfloat16";
  return {.on_cpu = on_cpu,
          .narrow = narrow,
          .in_parts = on_cpu && !narrow && UsesOneDnn(),
          .made_wide = on_cpu && narrow && !UsesBfloat16()};
}

// The largest of each number over all blocks.
HeadShape WidestHeads(const DecoderSpec& spec) {
  HeadShape widest = spec.HeadsOf(0);
  for (const HeadShape& heads : spec.head_shapes) {
    widest.kv_heads = std::max(widest.kv_heads, heads.kv_heads);
    widest.head_size = std::max(widest.head_size, heads.head_size);
    widest.value_size = std::max(widest.value_size, heads.value_size);
  }
  return widest;
}

// One group of rows in one block: the steps of BlockPass, beside the states of all groups.
class GroupBytes {
 public:
  GroupBytes(const DecoderSpec& spec, const Products& products, const RowGroup& group)
      : spec_(spec),
        widest_(WidestHeads(spec)),
        products_(products),
        rows_(group.rows()),
        samples_(group.samples()),
        equals_(GroupByLength(group.offsets)) {}

  int64_t Most() const {
    // What both mixers read, and what the first one gives, while the second one runs.
    const int64_t beside = Has(Mixer::kAttentionAndMamba2) ? 2 * State() : 0;
    return RopeTables() + beside + std::max({Project(), Attend(), Output(), Mlp(), Mixers()});
  }

 private:
  int64_t State() const { return kWide * rows_ * spec_.hidden; }
  int64_t QueryWidth() const { return spec_.heads * widest_.head_size; }
  // Of query heads that share a key head.
  int64_t LargestGroup() const {
    int64_t fewest = spec_.HeadsOf(0).kv_heads;
    for (const HeadShape& heads : spec_.head_shapes) fewest = std::min(fewest, heads.kv_heads);
    return spec_.heads / fewest;
  }
  int64_t MixedWidth() const { return spec_.heads * widest_.value_size; }
  int64_t QkvWidth() const {
    return (spec_.attention_gate ? 2 : 1) * QueryWidth() +
           widest_.kv_heads * (widest_.head_size + widest_.value_size);
  }

  // y = x w^T for `rows` rows: x, y as the product leaves it, y in float32, and what lies beside.
  int64_t Product(int64_t rows, int64_t in, int64_t out) const {
    const int64_t made = rows * (in + out) * products_.bytes();
    if (products_.in_parts) return made + kWide * rows * out;
    if (products_.made_wide) return made + kWide * (rows * (in + out) + in * out);
    return products_.narrow ? made + kWide * rows * out : made;
  }

  // What is read of the stream, q, what k and v are made of, and k, all with what is made of them.
  int64_t ProjectLatents() const {
    const LatentSpec& latent = spec_.latent;
    const int64_t from_stream = latent.query_rank > 0 ? latent.query_rank : QueryWidth();
    const int64_t read = from_stream + latent.kv_rank + latent.shared;
    const int64_t made = QkvWidth() - spec_.heads * latent.shared;
    return std::max(Product(rows_, spec_.hidden, read),
                    kWide * rows_ * (read + made + 2 * QkvWidth()));
  }

  bool Has(Mixer mixer) const {
    return std::find(spec_.mixer.begin(), spec_.mixer.end(), mixer) != spec_.mixer.end();
  }

  // What the mixers other than attention hold at once.
  int64_t Mixers() const {
    int64_t most = 0;
    if (Has(Mixer::kShortConvolution)) {
      const int64_t width = spec_.hidden;
      // As projected; b * x, convolved, a term of the sum.
      most = std::max(Product(rows_, width, 3 * width), kWide * rows_ * 6 * width);
    }
    if (Has(Mixer::kGatedDelta)) {
      const DeltaSpec& delta = spec_.delta;
      const int64_t keys = delta.key_heads * delta.key_size;
      const int64_t values = delta.value_heads * delta.value_size;
      most = std::max(most, Linear(2 * (keys + values + delta.value_heads), 2 * keys + values, keys,
                                   delta.value_heads, delta.key_size, delta.value_size));
    }
    if (Has(Mixer::kMamba2) || Has(Mixer::kAttentionAndMamba2)) {
      const MambaSpec& mamba = spec_.mamba;
      const int64_t width = mamba.heads * mamba.head_size;
      const int64_t states = mamba.groups * mamba.state_size;
      most = std::max(most, Linear(2 * width + 2 * states + mamba.heads, width + 2 * states, states,
                                   mamba.heads, mamba.state_size, mamba.head_size));
    }
    return most;
  }

  // Linear attention: as projected; convolved, a term of the sum, activated; cut into chunks.
  int64_t Linear(int64_t projected, int64_t convolved, int64_t keys, int64_t heads,
                 int64_t key_size, int64_t value_size) const {
    const int64_t rows = rows_ + (samples_ == 1 ? kLinearChunk : 0);
    const int64_t of_head = 5 * key_size + 4 * value_size + 4 * kLinearChunk;
    return Product(rows_, spec_.hidden, projected) +
           kWide * (rows_ * 3 * convolved + rows * (3 * keys + heads * of_head));
  }

  int64_t Project() const {
    if (spec_.latent.kv_rank > 0) return ProjectLatents();
    const int64_t read = products_.narrow ? State() + State() / 2 : State();
    // As projected; clamped; rotated, head by head.
    int64_t copies = (spec_.qkv_clip > 0 ? 3 : 2) * rows_ * QkvWidth();
    if (spec_.head_norms != HeadNorms::kNone) {
      copies = std::max(copies, rows_ * (QkvWidth() + 2 * QueryWidth()));
    }
    return std::max({read, Product(rows_, spec_.hidden, QkvWidth()), kWide * copies});
  }

  // The output of those that are taken together, and a strip of their scores with what is made of
  // it.
  int64_t AttendSome(const EqualSamples& equals) const {
    const int64_t length = equals.length;
    const int64_t samples = std::min(equals.samples, SamplesTogether(spec_.heads, length));
    int64_t most = 0;
    for (int64_t l = 0; l < spec_.blocks; ++l) {
      if (!spec_.Attends(l)) continue;
      const auto device = products_.on_cpu ? c10::kCPU : c10::kCUDA;
      const AttentionTraits traits = TraitsOf(spec_, l, device, products_.narrow);
      most = std::max(most, AttendBy(WayOf(traits), traits.bfloat16, samples, length));
    }
    return most;
  }

  int64_t AttendBy(const AttentionWay& way, bool narrow, int64_t samples, int64_t length) const {
    const int64_t out = kWide * samples * length * MixedWidth();
    switch (way.kind) {
      case AttentionWay::Kind::kFusedOnCpu:
        return out + FusedAttentionBytes(samples, length, spec_.heads, widest_, narrow);
      case AttentionWay::Kind::kTwoCalls:  // or in strips, if the calls are at fault
        return std::max(
            out + AttentionByCallsBytes(*way.call, samples, length, spec_.heads, widest_),
            AttendInStrips(samples, length));
      case AttentionWay::Kind::kStrips:
        break;
    }
    return AttendInStrips(samples, length);
  }

  int64_t AttendInStrips(int64_t samples, int64_t length) const {
    const int64_t out = length * MixedWidth();
    const bool one_by_one = KeyHeadsOneByOne(length, products_.on_cpu);
    const int64_t heads = one_by_one ? LargestGroup() : spec_.heads;
    const int64_t queries = std::min(StripQueries(heads, length), length);
    const int64_t scores = heads * queries * length * (spec_.learned_sinks ? 4 : 1);
    const int64_t strip = scores + heads * (2 * queries * widest_.head_size + 3 * length);
    const int64_t beside = samples_ == 1 && products_.narrow ? out / 2 : strip;
    return kWide * samples * (out + std::max(strip, beside));
  }

  int64_t Attend() const {
    int64_t most = 0;
    for (const EqualSamples& equals : equals_) most = std::max(most, AttendSome(equals));
    const int64_t joined = samples_ == 1 ? 0 : rows_ * MixedWidth() * products_.bytes();
    return kWide * rows_ * QkvWidth() + joined + most;
  }

  // The output projection; then what it adds and the stream it is added to.
  int64_t Output() const {
    return std::max(Product(rows_, MixedWidth(), spec_.hidden), 2 * State());
  }

  // What all pieces add, and one piece.
  int64_t Mlp() const {
    const int64_t rows = std::min(rows_, MlpRows(spec_, products_.on_cpu, products_.narrow));
    if (FusesUnits(spec_, products_.on_cpu, products_.narrow)) {
      return State() + FusedPiece(rows, spec_.intermediate);
    }
    int64_t piece = 0;
    if (spec_.experts.count > 0) {
      piece = Piece(rows, std::max(spec_.experts.intermediate, spec_.experts.shared_intermediate));
    }
    const bool all_sparse = std::all_of(spec_.experts.in_block.begin(),
                                        spec_.experts.in_block.end(), [](bool in) { return in; });
    if (spec_.experts.count == 0 || !all_sparse) {
      piece = std::max(piece, Piece(rows, spec_.intermediate));
    }
    return State() + piece;
  }

  // What the MLP reads, in float32 and bfloat16; activation and product with up; what it adds.
  int64_t FusedPiece(int64_t rows, int64_t units) const {
    const int64_t read = (kWide + products_.bytes()) * rows * spec_.hidden;
    const int64_t held = (spec_.gating == Gating::kNone ? 1 : 2) * products_.bytes() * rows * units;
    const int64_t down = Product(rows, units, spec_.hidden);
    return read + std::max({held, down, kWide * rows * spec_.hidden + Again(units)});
  }

  int64_t Piece(int64_t rows, int64_t units) const {
    const bool gated = spec_.gating != Gating::kNone;
    const int64_t projected = (gated ? 2 : 1) * units;
    const int64_t acts = (gated ? 2 : 1) * units;  // activation, and product with up
    const int64_t read = kWide * rows * spec_.hidden;
    const int64_t held = rows * projected * products_.bytes() + kWide * rows * acts;
    const int64_t narrowed = products_.narrow ? rows * units * products_.bytes() : 0;
    return read + std::max({Product(rows, spec_.hidden, projected), held + narrowed,
                            Product(rows, units, spec_.hidden),
                            kWide * rows * spec_.hidden + Again(units)});
  }

  // Rows with a massive activation, few, once more in float32.
  int64_t Again(int64_t units) const {
    if (!products_.narrow) return 0;
    return kWide * 2 * std::min(units, kWideUnits) * spec_.hidden;
  }

  int64_t RopeTables() const { return samples_ == 1 ? 0 : kWide * rows_ * widest_.head_size; }

  const DecoderSpec& spec_;
  const HeadShape widest_;
  const Products& products_;
  const int64_t rows_;
  const int64_t samples_;
  const std::vector<EqualSamples> equals_;
};

}  // namespace

int64_t ForwardBytes(const DecoderSpec& spec, std::string_view compute_type,
                     std::string_view device, std::span<const int64_t> lengths) {
  if (lengths.empty()) return 0;
  const Products products = ProductsOf(compute_type, device);
  std::vector<int64_t> offsets = {0};
  for (const int64_t length : lengths) offsets.push_back(offsets.back() + length);
  const int64_t rows = offsets.back();
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const int64_t gates = spec.attention_gate ? spec.heads : 0;
  const int64_t trace = kWide * spec.blocks * rows * (5 + 2 * spec.heads + gates);
  const HeadShape widest = WidestHeads(spec);
  // Keys and values that later blocks read, of at most as many blocks as there are types of them.
  const int64_t shared =
      spec.keys_of.empty() ? 0 : 2 * widest.kv_heads * (widest.head_size + widest.value_size);
  const int64_t inputs = spec.blocks * spec.token_inputs.width;
  const int64_t states =
      kWide * (rows * (spec.hidden + shared + inputs) + longest * widest.head_size);
  int64_t most = 0;
  for (const RowGroup& group : GroupRows(offsets, kGroupRows)) {
    most = std::max(most, GroupBytes(spec, products, group).Most());
  }
  // A twelfth more: holes that later blocks do not fill (activation_memory.h).
  const int64_t alive = trace + std::max(states + most, trace);
  return alive + alive / 12;
}

}  // namespace sinkd

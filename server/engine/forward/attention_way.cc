#include "server/engine/forward/attention_way.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "server/engine/forward/attention.h"
#include "server/engine/forward/attention_by_calls.h"
#include "server/engine/forward/attention_sums.h"
#include "server/engine/forward/fused_attention.h"
#include "server/engine/model.h"

namespace sinkd {
namespace {

std::atomic<AttentionChoice> the_choice = AttentionChoice::kAuto;

// The largest difference from strips of a weight or output, all of them below 1, that rounding
// explains: of the last weights to bfloat16 in the worst case.
constexpr double kMostOfFloat32 = 1e-4;
constexpr double kMostOfBfloat16 = 2e-2;

// Numbers from -1 to 1 without a pattern that attention would notice; the same at every start.
at::Tensor Numbers(at::IntArrayRef sizes, double seed, const at::Device& device) {
  const at::Tensor all = at::arange(c10::multiply_integers(sizes), at::kFloat);
  return at::sin((all + seed).square() * 0.37).view(sizes).to(device);
}

AttentionInput SmallInput(int64_t window, const at::Device& device) {
  constexpr int64_t kSamples = 2, kPositions = 75, kHeads = 4, kKeyHeads = 2, kChannels = 24;
  const auto rows = [&](int64_t heads, double seed) {
    return Numbers({kSamples * kPositions, heads, kChannels}, seed, device);
  };
  AttentionInput input;
  input.q = rows(kHeads, 1) * 3;
  input.k = rows(kKeyHeads, 2);
  input.v = rows(kKeyHeads, 3);
  input.sinks = Numbers({kHeads}, 4, device);
  input.samples = kSamples;
  input.scale = 0.5;
  input.window = window;
  return input;
}

double Difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

double DifferenceFromStrips(const FusedCall& call, AttentionInput input) {
  for (at::Tensor* each : {&input.q, &input.k, &input.v}) {
    *each = each->to(call.type).to(at::kFloat);
  }
  const int64_t positions = input.positions();
  const auto queries_of_all = static_cast<double>(positions);
  const auto sums = [&] {
    return AttentionSums(input.samples, input.q.size(1), positions, positions / 2,
                         /*learned_sinks=*/true, input.q.device());
  };
  AttentionSums by_calls = sums(), in_strips = sums();
  double most =
      Difference(AttendByCalls(call, input, &by_calls), AttendInStrips(input, &in_strips));
  const at::Tensor queries = at::arange(positions, 0, -1, in_strips.column.options());
  most = std::max(most, Difference(by_calls.column / queries, in_strips.column / queries));
  most = std::max(most, Difference(by_calls.self, in_strips.self));
  most = std::max(most, Difference(by_calls.prefix, in_strips.prefix) / queries_of_all);
  return std::max(most, Difference(by_calls.sink_mass, in_strips.sink_mass) / queries_of_all);
}

std::string Try(const FusedCall& call, const at::Device& device) {
  if (!HasKnownSchema(call)) return absl::StrCat("this libtorch has another ", call.op);
  const double limit = call.type == at::kBFloat16 ? kMostOfBfloat16 : kMostOfFloat32;
  try {
    for (const int64_t window : {0, 20}) {
      const double difference = DifferenceFromStrips(call, SmallInput(window, device));
      if (difference <= limit) continue;  // false of NaN
      return absl::StrCat("differs from strips by ", difference, " on a small input");
    }
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

std::string NameOf(const AttentionTraits& traits, const AttentionWay& way) {
  switch (way.kind) {
    case AttentionWay::Kind::kFusedOnCpu:
      return traits.bfloat16 ? "fused in bfloat16" : "fused in float32";
    case AttentionWay::Kind::kTwoCalls:
      return absl::StrCat("by two fused calls (", way.call->name, ")");
    case AttentionWay::Kind::kStrips:
      break;
  }
  const bool might = traits.device != c10::kCPU && the_choice != AttentionChoice::kStrips;
  if (!might || traits.obstacle.empty()) return "in strips";
  return absl::StrCat("in strips (", std::string(traits.obstacle), ")");
}

}  // namespace

void ChooseAttention(AttentionChoice choice) {
  the_choice = choice;
}

bool NarrowsAttention(c10::DeviceType device) {
  return device != c10::kCPU || the_choice == AttentionChoice::kFusedCalls ||
         NarrowsAttentionOnCpu();
}

AttentionTraits TraitsOf(const AttentionInput& input) {
  AttentionTraits traits{.device = input.q.device().type(),
                         .bfloat16 = input.narrow,
                         .channels = std::max(input.q.size(2), input.v.size(2)),
                         .scale = input.scale,
                         .obstacle = ""};
  if (input.cap > 0) traits.obstacle = "a soft cap";
  if (input.chunk > 0) traits.obstacle = "chunks";
  if (input.key_bias.defined()) traits.obstacle = "a distance bias";
  if (input.hidden.defined()) traits.obstacle = "hidden keys";
  return traits;
}

AttentionTraits TraitsOf(const DecoderSpec& spec, int64_t block, c10::DeviceType device,
                         bool bfloat16) {
  const auto at_block = static_cast<size_t>(block);
  const HeadShape heads = spec.HeadsOf(block);
  AttentionTraits traits{.device = device,
                         .bfloat16 = bfloat16 && NarrowsAttention(device),
                         .channels = std::max(heads.head_size, heads.value_size),
                         .scale = spec.score_scale[at_block],
                         .obstacle = ""};
  if (spec.score_cap > 0) traits.obstacle = "a soft cap";
  if (!spec.chunk.empty() && spec.chunk[at_block] > 0) traits.obstacle = "chunks";
  if (!spec.distance_bias.slopes.empty()) traits.obstacle = "a distance bias";
  return traits;
}

AttentionWay WayOf(const AttentionTraits& traits) {
  const AttentionChoice choice = the_choice;
  const bool on_cpu = traits.device == c10::kCPU;
  if (choice == AttentionChoice::kStrips || traits.scale <= 0) return {};
  if (on_cpu && choice == AttentionChoice::kAuto) {
    if (!FusesAttentionOnCpu()) return {};
    return {.kind = AttentionWay::Kind::kFusedOnCpu};
  }
  const FusedCall* const call = FindFusedCall(traits.device, traits.bfloat16, traits.channels);
  if (call == nullptr || !traits.obstacle.empty()) return {};
  return {.kind = AttentionWay::Kind::kTwoCalls, .call = call};
}

std::string FaultOf(const FusedCall& call, const c10::Device& device) {
  static std::mutex mutex;
  static std::map<std::pair<const FusedCall*, std::string>, std::string> known;
  const std::scoped_lock lock(mutex);
  const std::pair<const FusedCall*, std::string> key = {&call, device.str()};
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known[key] = Try(call, device);
}

AttentionSummary SummarizeAttention(const DecoderSpec& spec, std::span<const BlockSpan> spans,
                                    bool bfloat16) {
  AttentionSummary summary;
  std::vector<std::pair<std::string, int64_t>> ways;  // with their number of blocks
  int64_t blocks = 0;
  for (const BlockSpan& span : spans) {
    const c10::Device device(span.device);
    for (int64_t l = span.first; l < span.first + span.blocks; ++l) {
      if (!spec.Attends(l)) continue;
      const AttentionTraits traits = TraitsOf(spec, l, device.type(), bfloat16);
      AttentionWay way = WayOf(traits);
      const std::string fault = way.call == nullptr ? "" : FaultOf(*way.call, device);
      if (!fault.empty()) {
        summary.fault = absl::StrCat(NameOf(traits, way), " on ", span.device, ": ", fault);
        way = {};
      }
      const std::string name = NameOf(traits, way);
      ++blocks;
      auto same = std::find_if(ways.begin(), ways.end(),
                               [&](const auto& each) { return each.first == name; });
      if (same == ways.end()) same = ways.emplace(ways.end(), name, 0);
      ++same->second;
    }
  }
  summary.ways = absl::StrJoin(ways, ", ", [&](std::string* out, const auto& each) {
    absl::StrAppend(out, each.first);
    if (each.second < blocks) absl::StrAppend(out, " in ", each.second, " of ", blocks, " blocks");
  });
  return summary;
}

}  // namespace sinkd

#include "server/analysis/sink_detection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sinkd {
namespace {

// As numpy: the mean of the two middle values when their number is even.
double Median(std::vector<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (static_cast<double>(*middle) + *std::max_element(values.begin(), middle)) / 2;
}

// [window] the norm a sink needs at each layer of the window.
std::vector<double> LeastNorms(const v1::DetectionParameters& parameters, const Trace& trace,
                               Window window) {
  std::vector<double> least(Trace::At(window.end - window.start), 0.0);
  if (parameters.min_norm_ratio() <= 0) return least;
  for (int32_t l = window.start; l < window.end; ++l) {
    const float* row = trace.state_norm.data() + l * trace.positions;
    least[Trace::At(l - window.start)] =
        parameters.min_norm_ratio() * Median(std::vector<float>(row, row + trace.positions));
  }
  return least;
}

void FillLevel(const Trace& trace, Sink& sink) {
  sink.level = {sink.layers.front(), static_cast<int32_t>(sink.layers.size())};
  sink.contiguous = sink.layers.back() - sink.layers.front() + 1 == sink.level.lifetime;
  sink.mlp_norm = trace.MlpNorm(sink.level.l_start, sink.position);
  sink.state_norm = trace.StateNorm(sink.level.l_start, sink.position);
}

}  // namespace

int64_t FindPrimary(const Trace& trace, bool chat_rendered) {
  const int64_t candidates = std::min<int64_t>(chat_rendered ? 3 : 2, trace.positions);
  int64_t best = 0;
  double best_sum = -1;
  for (int64_t p = 0; p < candidates; ++p) {
    double sum = 0;
    for (int64_t l = 0; l < trace.layers; ++l) sum += trace.StateNorm(l, p);
    if (sum > best_sum) {
      best = p;
      best_sum = sum;
    }
  }
  return best;
}

Window FindWindow(const Trace& trace, int64_t primary) {
  std::vector<double> steps;
  for (int64_t l = 0; l + 1 < trace.layers; ++l) {
    steps.push_back(static_cast<double>(trace.StateNorm(l + 1, primary)) -
                    trace.StateNorm(l, primary));
  }
  const auto rise = std::max_element(steps.begin(), steps.end());
  const auto start = static_cast<int32_t>(rise - steps.begin()) + 1;
  if (start == trace.layers - 1) return {start, static_cast<int32_t>(trace.layers)};
  const auto fall = std::min_element(steps.begin() + start, steps.end());
  return {start, static_cast<int32_t>(fall - steps.begin()) + 1};
}

SinkKind KindOf(v1::KindRule rule, Level level, Window window, int64_t layers) {
  if (rule == v1::KIND_RULE_PUBLISHED) {
    if (level.lifetime >= layers - 15) return SinkKind::kPrimary;
    return level.lifetime > 4 ? SinkKind::kSecondary : SinkKind::kNoise;
  }
  const int32_t length = window.end - window.start;
  if (level.l_start <= window.start + 1 && 3 * level.lifetime >= 2 * length) {
    return SinkKind::kPrimary;
  }
  const bool noise = level.lifetime <= 4 && 6 * level.lifetime <= length;
  return noise ? SinkKind::kNoise : SinkKind::kSecondary;
}

Sink MakePrimary(const v1::DetectionParameters& parameters, const Trace& trace, int64_t primary,
                 Window window) {
  Sink sink;
  sink.position = static_cast<int32_t>(primary);
  sink.kind = SinkKind::kPrimary;
  sink.layers.resize(Trace::At(window.end - window.start));
  std::iota(sink.layers.begin(), sink.layers.end(), window.start);
  sink.margin = std::fabs(1 - parameters.cosine_threshold());
  FillLevel(trace, sink);
  return sink;
}

std::vector<Sink> FindSinks(const v1::DetectionParameters& parameters, const Trace& trace,
                            int64_t primary, Window window) {
  const std::vector<double> least = LeastNorms(parameters, trace, window);
  std::vector<Sink> sinks;
  for (int64_t t = primary + 1; t < trace.positions; ++t) {
    Sink sink;
    sink.position = static_cast<int32_t>(t);
    sink.margin = std::numeric_limits<double>::infinity();
    for (int32_t l = window.start; l < window.end; ++l) {
      const double distance = std::fabs(static_cast<double>(trace.Cosine(l, primary, t))) -
                              parameters.cosine_threshold();
      sink.margin = std::min(sink.margin, std::fabs(distance));
      if (distance > 0 && trace.StateNorm(l, t) >= least[Trace::At(l - window.start)]) {
        sink.layers.push_back(l);
      }
    }
    if (sink.layers.empty()) continue;
    FillLevel(trace, sink);
    sink.kind = KindOf(parameters.kind_rule(), sink.level, window, trace.layers);
    sinks.push_back(std::move(sink));
  }
  return sinks;
}

}  // namespace sinkd

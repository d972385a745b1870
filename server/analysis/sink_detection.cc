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

v1::Sink MakeSink(const Trace& trace, int64_t position, const std::vector<int32_t>& layers,
                  double margin) {
  v1::Sink sink;
  const int32_t l_start = layers.front();
  const auto lifetime = static_cast<int32_t>(layers.size());
  sink.set_position(static_cast<int32_t>(position));
  sink.set_l_start(l_start);
  sink.set_lifetime(lifetime);
  sink.mutable_layers()->Assign(layers.begin(), layers.end());
  sink.set_contiguous(layers.back() - l_start + 1 == lifetime);
  sink.set_margin(margin);
  sink.set_mlp_norm(trace.MlpNorm(l_start, position));
  sink.set_state_norm(trace.StateNorm(l_start, position));
  return sink;
}

}  // namespace

Primary FindPrimary(const Trace& trace, bool chat_rendered) {
  std::vector<double> sums(Trace::At(std::min<int64_t>(chat_rendered ? 3 : 2, trace.positions)));
  for (size_t p = 0; p < sums.size(); ++p) {
    for (int64_t l = 0; l < trace.layers; ++l) {
      sums[p] += trace.StateNorm(l, static_cast<int64_t>(p));
    }
  }
  const double least = *std::max_element(sums.begin(), sums.end()) * (1 - kEqualMeans);
  const auto highest = [least](double sum) { return sum >= least; };
  const auto first = std::find_if(sums.begin(), sums.end(), highest);
  return {.position = first - sums.begin(),
          .tied = std::count_if(sums.begin(), sums.end(), highest) > 1};
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

v1::SinkKind KindOf(v1::KindRule rule, Level level, Window window, int64_t layers) {
  if (rule == v1::KIND_RULE_PUBLISHED) {
    if (level.lifetime >= layers - 15) return v1::SINK_KIND_PRIMARY;
    return level.lifetime > 4 ? v1::SINK_KIND_SECONDARY : v1::SINK_KIND_NOISE;
  }
  const int32_t length = window.end - window.start;
  if (level.l_start <= window.start + 1 && 3 * level.lifetime >= 2 * length) {
    return v1::SINK_KIND_PRIMARY;
  }
  const bool noise = level.lifetime <= 4 && 6 * level.lifetime <= length;
  return noise ? v1::SINK_KIND_NOISE : v1::SINK_KIND_SECONDARY;
}

v1::Sink MakePrimary(const v1::DetectionParameters& parameters, const Trace& trace, int64_t primary,
                     Window window) {
  std::vector<int32_t> layers(Trace::At(window.end - window.start));
  std::iota(layers.begin(), layers.end(), window.start);
  v1::Sink sink = MakeSink(trace, primary, layers, std::fabs(1 - parameters.cosine_threshold()));
  sink.set_kind(v1::SINK_KIND_PRIMARY);
  return sink;
}

std::vector<v1::Sink> FindSinks(const v1::DetectionParameters& parameters, const Trace& trace,
                                int64_t primary, Window window) {
  const std::vector<double> least = LeastNorms(parameters, trace, window);
  const double threshold = parameters.cosine_threshold();
  std::vector<v1::Sink> sinks;
  std::vector<int32_t> layers;
  for (int64_t t = primary + 1; t < trace.positions; ++t) {
    layers.clear();
    double margin = std::numeric_limits<double>::infinity();
    for (int32_t l = window.start; l < window.end; ++l) {
      const double distance =
          std::fabs(static_cast<double>(trace.Cosine(l, primary, t))) - threshold;
      margin = std::min(margin, std::fabs(distance));
      if (distance > 0 && trace.StateNorm(l, t) >= least[Trace::At(l - window.start)]) {
        layers.push_back(l);
      }
    }
    if (layers.empty()) continue;
    v1::Sink& sink = sinks.emplace_back(MakeSink(trace, t, layers, margin));
    sink.set_kind(KindOf(parameters.kind_rule(), LevelOf(sink), window, trace.layers));
  }
  return sinks;
}

}  // namespace sinkd

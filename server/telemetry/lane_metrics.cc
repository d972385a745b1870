#include "server/telemetry/lane_metrics.h"

namespace sinkd {

LaneMetrics::LaneMetrics(prometheus::Registry& registry) {
  auto& depth = prometheus::BuildGauge()
                    .Name("sinkd_lane_queue_depth")
                    .Help("Waiting samples, by lane.")
                    .Register(registry);
  auto& wait = prometheus::BuildHistogram()
                   .Name("sinkd_lane_wait_seconds")
                   .Help("Time that samples wait for their device, by lane.")
                   .Register(registry);
  for (const char* name : {"interactive", "batch"}) {
    lanes_[name] = {&depth.Add({{"lane", name}}),
                    &wait.Add({{"lane", name}}, prometheus::Histogram::BucketBoundaries{
                                                    0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
                                                    10, 30, 60, 300, 1800})};
  }
}

void LaneMetrics::DepthChanged(std::string_view lane, int64_t samples) {
  lanes_.find(lane)->second.depth->Increment(static_cast<double>(samples));
}

void LaneMetrics::Waited(std::string_view lane, std::chrono::duration<double> time) {
  lanes_.find(lane)->second.wait->Observe(time.count());
}

}  // namespace sinkd

#include "server/telemetry/phase_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sinkd {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(PhaseTimes, AddUpWhatACallTookAndCountItForAllCalls) {
  Metrics metrics("1", {});
  PhaseTimes call(metrics);
  PhaseTimes other(metrics);
  call.Add(SamplePhase::kForward, milliseconds(250));
  call.Add(SamplePhase::kForward, milliseconds(500));
  other.Add(SamplePhase::kForward, milliseconds(250));
  call.Add(SamplePhase::kWrite, milliseconds(125));
  const std::vector<LogField> fields = call.Fields();
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[0].key, "forward_seconds");
  EXPECT_EQ(std::get<double>(fields[0].value), 0.75);
  EXPECT_EQ(fields[1].key, "write_seconds");
  EXPECT_EQ(std::get<double>(fields[1].value), 0.125);
  const std::string page = metrics.Render();
  EXPECT_THAT(page, HasSubstr("sinkd_sample_phase_duration_seconds_sum{phase=\"forward\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("sinkd_sample_phase_duration_seconds_count{phase=\"forward\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("sinkd_sample_phase_duration_seconds_count{phase=\"keep\"} 0\n"));
}

TEST(PhaseTimes, APhaseThatTookNoTimeIsNoField) {
  Metrics metrics("1", {});
  EXPECT_TRUE(PhaseTimes(metrics).Fields().empty());
}

}  // namespace
}  // namespace sinkd

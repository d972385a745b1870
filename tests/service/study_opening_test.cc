#include "server/service/studies/study_opening.h"

#include <variant>

#include <gtest/gtest.h>

#include "fake_catalog.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

using Clock = Executor::Clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Clock::time_point kNow = Clock::time_point(seconds(1000000));

TEST(StudyOpening, AStudyEndsAMomentBeforeItsDeadline) {
  const auto moment = [](Clock::duration room) {
    return kNow + room - EndOfStudy(kNow, kNow + room, std::nullopt);
  };
  EXPECT_EQ(moment(seconds(10)), milliseconds(500)) << "5% of the time";
  EXPECT_EQ(moment(seconds(1)), milliseconds(200)) << "at least so much";
  EXPECT_EQ(moment(seconds(1000)), seconds(2)) << "at most so much";
  EXPECT_EQ(moment(milliseconds(100)), milliseconds(50)) << "but half of a short call";
}

TEST(StudyOpening, ABudgetEndsAStudyBeforeALaterDeadline) {
  const std::chrono::duration<double> budget(3);
  EXPECT_EQ(EndOfStudy(kNow, Clock::time_point::max(), budget), kNow + seconds(3));
  EXPECT_EQ(EndOfStudy(kNow, kNow + seconds(100), budget), kNow + seconds(3));
  EXPECT_LT(EndOfStudy(kNow, kNow + seconds(2), budget), kNow + seconds(2));
}

TEST(StudyOpening, WithoutDeadlineAndBudgetAStudyNeverEndsEarly) {
  EXPECT_EQ(EndOfStudy(kNow, Clock::time_point::max(), std::nullopt), Clock::time_point::max());
}

TEST(StudyOpening, AnEmptyReportIsOfTheStudyThatWasAskedFor) {
  StudyParameters parameters;
  parameters.study = SwapParameters();
  const StudyReport report = EmptyReport(parameters, "time is up");
  EXPECT_TRUE(report.partial);
  EXPECT_EQ(report.partial_reason, "time is up");
  ASSERT_TRUE(std::holds_alternative<SwapReport>(report.findings));
  EXPECT_EQ(std::get<SwapReport>(report.findings).undefined, "time is up");
  parameters.study = MassiveParameters();
  EXPECT_TRUE(
      std::holds_alternative<MassiveReport>(EmptyReport(parameters, "time is up").findings));
}

class StudyOpeningSize : public ::testing::Test {
 protected:
  absl::Status Open(const sinks::v1::RunStudyRequest& request) {
    return OpenStudy(request, {catalog_, devices_, groups_, cpu_, metrics_}, {}, {}).status();
  }
  sinks::v1::RunStudyRequest Request(int samples) const {
    sinks::v1::RunStudyRequest request;
    request.set_model("models/fake");
    for (int i = 0; i < samples; ++i) request.add_samples();
    return request;
  }

  testing::FakeCatalog catalog_;
  ForwardGroups groups_;
  DevicePool devices_{{}};
  Executor cpu_{{}};
  Metrics metrics_{"test", {}};
};

TEST_F(StudyOpeningSize, RefusesWhatWouldAnswerMoreThanAMessageHolds) {
  sinks::v1::RunStudyRequest request = Request(10000);
  request.mutable_massive()->set_top(100);
  EXPECT_TRUE(Open(request).ok());
  request.mutable_massive()->set_per_sample(true);
  const absl::Status status = Open(request);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(GetErrorDetail(status));
  EXPECT_EQ(GetErrorDetail(status)->reason, "REPORT_TOO_LARGE");
  EXPECT_EQ(GetErrorDetail(status)->subject, "massive.top");
  request.mutable_massive()->set_top(3);
  EXPECT_TRUE(Open(request).ok());
}

TEST_F(StudyOpeningSize, ChecksParametersAgainstTheModel) {
  sinks::v1::RunStudyRequest request = Request(1);
  request.mutable_pca()->set_block(testing::kLayers);
  const absl::Status status = Open(request);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(GetErrorDetail(status));
  EXPECT_EQ(GetErrorDetail(status)->subject, "pca.block");
  request.mutable_pca()->set_block(testing::kLayers - 1);
  EXPECT_TRUE(Open(request).ok());
}

}  // namespace
}  // namespace sinkd

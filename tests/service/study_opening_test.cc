#include "server/service/studies/study_opening.h"

#include <functional>

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

class StudyRequestOpening : public ::testing::Test {
 protected:
  absl::Status Open(const v1::RunStudyRequest& request, int64_t samples = 1) {
    const StreamResources resources{catalog_, devices_, groups_, cpu_, metrics_};
    return OpenStudy(request, samples, resources, {}, {}).status();
  }
  static v1::RunStudyRequest Request() {
    v1::RunStudyRequest request;
    request.set_model("models/fake");
    return request;
  }

  testing::FakeCatalog catalog_;
  ForwardGroups groups_;
  DevicePool devices_{{}};
  Executor cpu_{{}};
  Metrics metrics_{"test", {}};
};

TEST_F(StudyRequestOpening, RefusesWhatWouldAnswerMoreThanAMessageHolds) {
  v1::RunStudyRequest request = Request();
  request.mutable_massive()->set_top(100);
  EXPECT_TRUE(Open(request, kMaxStudySamples).ok());
  request.mutable_massive()->set_per_sample(true);
  const absl::Status status = Open(request, kMaxStudySamples);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(GetErrorDetail(status));
  EXPECT_EQ(GetErrorDetail(status)->reason, "REPORT_TOO_LARGE");
  EXPECT_EQ(GetErrorDetail(status)->subject, "massive.top");
  request.mutable_massive()->set_top(3);
  EXPECT_TRUE(Open(request, kMaxStudySamples).ok());
}

TEST_F(StudyRequestOpening, ChecksParametersAgainstTheModel) {
  v1::RunStudyRequest request = Request();
  request.mutable_pca()->set_block(testing::kLayers);
  const absl::Status status = Open(request);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(GetErrorDetail(status));
  EXPECT_EQ(GetErrorDetail(status)->subject, "pca.block");
  request.mutable_pca()->set_block(testing::kLayers - 1);
  EXPECT_TRUE(Open(request).ok());
}

TEST_F(StudyRequestOpening, NamesTheFieldThatCannotBe) {
  const auto field = [this](const std::function<void(v1::RunStudyRequest&)>& spoil,
                            int64_t samples = 1) {
    v1::RunStudyRequest request = Request();
    request.mutable_cluster();
    spoil(request);
    const absl::Status status = Open(request, samples);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    const std::optional<ErrorDetail> detail = GetErrorDetail(status);
    EXPECT_TRUE(detail && !detail->fix.empty());
    return detail ? detail->subject : "";
  };
  EXPECT_EQ(field([](auto& request) { request.set_model("a"); }), "model");
  EXPECT_EQ(field([](auto&) {}, 0), "samples");
  EXPECT_EQ(field([](auto&) {}, kMaxStudySamples + 1), "samples");
  EXPECT_EQ(field([](auto& request) { request.clear_study(); }), "study");
  EXPECT_EQ(field([](auto& request) { request.set_template_date("today"); }), "template_date");
  EXPECT_EQ(field([](auto& request) { request.set_run("run"); }), "run");
  EXPECT_EQ(field([](auto& request) { request.set_lane(static_cast<v1::Lane>(9)); }), "lane");
  EXPECT_EQ(field([](auto& request) {
              request.mutable_detection()->set_kind_rule(static_cast<v1::KindRule>(9));
            }),
            "detection.kind_rule");
}

}  // namespace
}  // namespace sinkd

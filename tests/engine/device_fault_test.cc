#include "server/engine/device_fault.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/base/status.h"
#include "server/engine/forward/torch_boundary.h"

namespace sinkd {
namespace {

class DeviceFaultTest : public testing::Test {
 protected:
  DeviceFaultTest() {
    OnDeviceFault([this](const std::string& what) { told_.push_back(what); });
  }
  ~DeviceFaultTest() override {
    OnDeviceFault({});
    SetDeviceProbe({});
  }

  static absl::Status MeetAFault() {
    return AtTorchBoundary([]() -> absl::Status {
      throw c10::AcceleratorError({}, 700, "an illegal memory access was encountered");
    });
  }

  std::vector<std::string> told_;
};

TEST_F(DeviceFaultTest, IsToldWhereTheDeviceAnswersNoMore) {
  SetDeviceProbe([] { return false; });
  const absl::Status error = MeetAFault();
  EXPECT_TRUE(absl::IsInternal(error)) << error;
  EXPECT_EQ(GetErrorDetail(error)->reason, "DEVICE_FAULT");
  EXPECT_THAT(told_, testing::ElementsAre(testing::HasSubstr("illegal memory access")));
}

TEST_F(DeviceFaultTest, IsAnErrorOfItsCallAloneWhereTheDeviceAnswers) {
  SetDeviceProbe([] { return true; });
  EXPECT_TRUE(absl::IsInternal(MeetAFault()));
  EXPECT_TRUE(told_.empty());
}

TEST_F(DeviceFaultTest, WithoutAcceleratorThereIsNoneThatFailed) {
  const absl::Status error = MeetAFault();
  EXPECT_TRUE(absl::IsInternal(error)) << error;
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace sinkd

// Loads that fail: none leaves memory or half a model behind, and the folder loads once it is
// mended.
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/failed_load.h"

namespace sinkd::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST_F(FailedLoad, AtAnyTensorLeavesNothing) {
  const std::vector<StoredTensor>& tensors = checkpoint_.tensors();
  ExpectNothingLeft(ModelState::kFailed, [&](int i) {
    const auto count = static_cast<int>(tensors.size());
    const StoredTensor& tensor = tensors[static_cast<size_t>((count - 1) * (i + 1) / kLoads)];
    checkpoint_.Poke(tensor, std::numeric_limits<float>::quiet_NaN());
    EXPECT_THAT(std::string(Load().message()), HasSubstr(tensor.name + " holds NaN"));
    checkpoint_.Poke(tensor, 0.01f);
  });
  ExpectLoads();
}

TEST_F(FailedLoad, CancelledAtAnyPointLeavesNothing) {
  ExpectNothingLeft(ModelState::kAvailable, [&](int i) {
    std::stop_source stop;
    const int64_t end = checkpoint_.weight_bytes() * (i + 1) / (kLoads + 1);
    const absl::Status status = Load(
        [&](const LoadProgress& now) {
          if (now.bytes_done >= end) stop.request_stop();
        },
        stop.get_token());
    EXPECT_TRUE(absl::IsCancelled(status)) << status;
  });
  ExpectLoads();
}

TEST_F(FailedLoad, AtAFileThatGetsShorterLeavesNothing) {
  // Cut once its header was read and half of it loaded.
  const fs::path whole = root_ / "whole";
  fs::copy_file(checkpoint_.file(), whole);
  const auto size = static_cast<int64_t>(fs::file_size(whole));
  ExpectNothingLeft(ModelState::kFailed, [&](int) {
    const absl::Status status = Load([&](const LoadProgress& now) {
      if (now.bytes_done >= size / 2)
        fs::resize_file(checkpoint_.file(), static_cast<uintmax_t>(size) / 2);
    });
    EXPECT_THAT(std::string(status.message()), HasSubstr("it is truncated"));
    fs::copy_file(whole, checkpoint_.file(), fs::copy_options::overwrite_existing);
  });
  ExpectLoads();
}

}  // namespace
}  // namespace sinkd::testing

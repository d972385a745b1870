#include "tests/models/failed_load.h"

#include <fmt/format.h>

#include "tests/testing/process_memory.h"

namespace sinkd::testing {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSlackBytes = 8 * kMebibyte;

// Memory that the process holds now, without the code it has touched.
int64_t ResidentBytes() {
  return static_cast<int64_t>(StatusBytes("RssAnon"));
}

}  // namespace

FailedLoad::FailedLoad()
    : root_(fs::path(::testing::TempDir()) / fmt::format("failed_load_{}", getpid())),
      checkpoint_(root_ / "large"),
      registry_(root_, {}, {},
                [this](std::string_view, ModelState state, int64_t bytes) {
                  if (state == ModelState::kReady) held_bytes_ = bytes;
                  if (state == ModelState::kAvailable || state == ModelState::kFailed)
                    held_bytes_ = 0;
                }),
      bare_(ResidentBytes()) {}

FailedLoad::~FailedLoad() {
  fs::remove_all(root_);
}

absl::Status FailedLoad::Load(const Registry::Progress& progress, std::stop_token stop) {
  return registry_.Load("large", {}, progress, std::move(stop)).status();
}

void FailedLoad::ExpectNothingLeft(ModelState state, const std::function<void(int)>& fail) {
  for (int i = 0; i < 2; ++i) fail(i);  // what torch and the allocator keep for good
  const int64_t before = ResidentBytes();
  for (int i = 0; i < kLoads; ++i) {
    fail(i);
    EXPECT_EQ(registry_.Get("large")->state, state);
    EXPECT_FALSE(registry_.Get("large")->info.has_value());
    EXPECT_TRUE(absl::IsFailedPrecondition(registry_.Acquire("large").status()));
    EXPECT_EQ(held_bytes_, 0);
  }
  EXPECT_LT(ResidentBytes(), before + kSlackBytes);
  EXPECT_LT(ResidentBytes(), bare_ + kSlackBytes) << "more than before the first load";
  printf("resident: %.1f MiB before any load, %.1f after two, %.1f at the end\n",
         static_cast<double>(bare_) / kMebibyte, static_cast<double>(before) / kMebibyte,
         static_cast<double>(ResidentBytes()) / kMebibyte);
}

void FailedLoad::ExpectLoads() {
  const auto entry = registry_.Load("large", {}, {}, {});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->info->weight_bytes, checkpoint_.weight_bytes());
  EXPECT_EQ(held_bytes_, checkpoint_.weight_bytes());
  EXPECT_GT(ResidentBytes(), bare_ + checkpoint_.weight_bytes() / 2);
  ASSERT_TRUE(registry_.Unload("large").ok());
  EXPECT_EQ(held_bytes_, 0);
  EXPECT_LT(ResidentBytes(), bare_ + kSlackBytes) << "after unloading";
}

}  // namespace sinkd::testing

// Captured values against what transformers shows at the same sites.
#include <cmath>

#include <gtest/gtest.h>

#include "server/base/str_cat.h"
#include "server/engine/capture.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

constexpr int64_t kLength = 64;
constexpr double kTolerance = 2e-5;  // of a row, relative to its norm
constexpr Site kSites[] = {Site::kResidPre, Site::kKey,     Site::kValue,  Site::kAttnOut,
                           Site::kResidMid, Site::kMlpIn,   Site::kGate,   Site::kUp,
                           Site::kAct,      Site::kProduct, Site::kMlpOut, Site::kResidPost,
                           Site::kFinalNorm};
constexpr const char* kCheckpoints[] = {
    "tiny/llama_grouped",       "families/gpt2_plain",    "families/gpt_neox_parallel",
    "families/gemma2_softcap",  "families/olmo2_plain",   "families/opt_post_norm",
    "families/qwen3_moe_mixed", "families/gpt_oss_sinks", "families/phi3_plain"};

std::unique_ptr<Model> LoadOrDie(const std::string& checkpoint,
                                 Residency residency = Residency::kResident) {
  auto model = Model::Load(OracleFolder() / checkpoint,
                           {.compute_type = ComputeType::kFloat32, .residency = residency});
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

std::span<const float> Row(const std::vector<float>& values, int64_t row, int64_t width) {
  return std::span(values).subspan(static_cast<size_t>(row * width), static_cast<size_t>(width));
}

// |got - want| / |want|.
double Distance(std::span<const float> got, std::span<const float> want) {
  double away = 0, size = 0;
  for (size_t c = 0; c < want.size(); ++c) {
    away += std::pow(double{got[c]} - want[c], 2);
    size += std::pow(double{want[c]}, 2);
  }
  return std::sqrt(away / size);
}

class Captured : public ::testing::TestWithParam<const char*> {};

TEST_P(Captured, RowsEqualTransformersAtEverySiteThatIsThere) {
  const auto model = LoadOrDie(GetParam());
  ASSERT_TRUE(model);
  const DecoderSpec& spec = model->info().spec;
  const SiteValues want = ReadSites(GetParam(), kLength);
  std::vector<CaptureRequest> requests;
  for (const Site site : kSites) {
    for (int64_t block = 0; block < spec.blocks; ++block) {
      const bool there = HasSite(spec, site, block);
      EXPECT_EQ(there, want.contains(StrCat(SiteName(site), ".", block)))
          << SiteName(site) << " of block " << block;
      if (there) requests.push_back({.site = site, .block = block, .positions = {63, 0, 17, 0}});
    }
  }
  const auto got =
      Capture(*model, ReadExpected(GetParam(), "f32", kLength).ids, requests, std::stop_token());
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), requests.size());
  for (size_t r = 0; r < requests.size(); ++r) {
    SCOPED_TRACE(StrCat(SiteName(requests[r].site), ".", requests[r].block));
    const Matrix& matrix = (*got)[r];
    const auto& values = want.at(StrCat(SiteName(requests[r].site), ".", requests[r].block));
    ASSERT_EQ(matrix.rows, 4);
    ASSERT_EQ(matrix.columns * kLength, static_cast<int64_t>(values.size()));
    for (int64_t row = 0; row < matrix.rows; ++row) {
      const int64_t position = requests[r].positions[static_cast<size_t>(row)];
      EXPECT_LE(Distance(matrix.Row(row), Row(values, position, matrix.columns)), kTolerance);
    }
  }
}

TEST_P(Captured, MlpInputsRunThroughTheMlpAloneGiveItsOutputs) {
  for (const Residency residency : {Residency::kResident, Residency::kStreamed}) {
    const auto model = LoadOrDie(GetParam(), residency);
    ASSERT_TRUE(model);
    const SiteValues values = ReadSites(GetParam(), kLength);
    const int64_t width = model->info().spec.hidden;
    for (int64_t block = 0; block < model->info().spec.blocks; ++block) {
      const std::vector<float>& want = values.at(StrCat("mlp_out.", block));
      const auto got = RunMlpAlone(
          *model, block,
          {.rows = kLength, .columns = width, .values = values.at(StrCat("mlp_in.", block))}, {});
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_EQ(got->values.size(), want.size());
      for (int64_t row = 0; row < kLength; ++row) {
        EXPECT_LE(Distance(got->Row(row), Row(want, row, width)), kTolerance);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SomeOfEveryWiring, Captured, ::testing::ValuesIn(kCheckpoints),
                         CheckpointName);

TEST(Capture, OfStreamedWeightsReadsNoBlockPastTheLastOneAskedFor) {
  const auto resident = LoadOrDie("tiny/llama_grouped");
  const auto streamed = LoadOrDie("tiny/llama_grouped", Residency::kStreamed);
  ASSERT_TRUE(resident && streamed);
  const TokenIds ids = {1, 5, 7, 9};
  const CaptureRequest requests[] = {{.site = Site::kMlpOut, .block = 1, .positions = {2}}};
  const auto want = Capture(*resident, ids, requests, {});
  const auto got = Capture(*streamed, ids, requests, {});
  ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
  EXPECT_EQ(got->front().values, want->front().values);
}

TEST(Capture, OfNoPositionsIsAMatrixWithoutRows) {
  const auto model = LoadOrDie("tiny/llama_grouped");
  ASSERT_TRUE(model);
  const TokenIds ids = {1, 5};
  const CaptureRequest requests[] = {{.site = Site::kUp, .block = 0, .positions = {}}};
  const auto got = Capture(*model, ids, requests, {});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->front().rows, 0);
  EXPECT_EQ(got->front().columns, model->info().spec.intermediate);
}

TEST(Capture, RefusesWhatIsNotThere) {
  const auto model = LoadOrDie("families/gpt_neox_parallel");
  ASSERT_TRUE(model);
  const TokenIds ids = {1, 5, 7};
  const int64_t last = model->info().spec.blocks - 1;
  for (const CaptureRequest& request :
       {CaptureRequest{.site = Site::kResidMid, .block = 0, .positions = {0}},
        CaptureRequest{.site = Site::kGate, .block = 0, .positions = {0}},
        CaptureRequest{.site = Site::kFinalNorm, .block = last - 1, .positions = {0}},
        CaptureRequest{.site = Site::kMlpOut, .block = last + 1, .positions = {0}},
        CaptureRequest{.site = Site::kMlpOut, .block = -1, .positions = {0}},
        CaptureRequest{.site = Site::kMlpOut, .block = 0, .positions = {3}},
        CaptureRequest{.site = Site::kMlpOut, .block = 0, .positions = {-1}}}) {
    const auto got = Capture(*model, ids, {&request, 1}, {});
    EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument) << got.status();
  }
  EXPECT_EQ(RunMlpAlone(*model, last + 1, {}, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RunMlpAlone(*model, 0, {.rows = 1, .columns = 1, .values = {1}}, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Capture, StopsBeforeABlock) {
  const auto model = LoadOrDie("tiny/llama_grouped");
  ASSERT_TRUE(model);
  std::stop_source stop;
  stop.request_stop();
  const TokenIds ids = {1, 5, 7};
  const CaptureRequest requests[] = {{.site = Site::kMlpOut, .block = 1, .positions = {2}}};
  EXPECT_EQ(Capture(*model, ids, requests, stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace sinkd::testing

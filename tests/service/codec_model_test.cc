#include "server/service/models/codec_model.h"

#include <gtest/gtest.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

TEST(CodecModel, TakesTheIdOutOfAResourceName) {
  EXPECT_EQ(*DecodeModelName("models/a-b.c_1", "name"), "a-b.c_1");
}

TEST(CodecModel, RefusesWhatIsNoResourceName) {
  for (const char* name : {"", "a", "models/", "models/../x", "models/A", "model/a", "models/a/b",
                           "models/-a", "/models/a", "models/a\n"}) {
    const absl::StatusOr<std::string> id = DecodeModelName(name, "spec.model");
    EXPECT_EQ(id.status().code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(GetErrorDetail(id.status())->subject, "spec.model");
  }
}

TEST(CodecModel, TellsHowAFolderOfAnotherNameBecomesAModel) {
  const std::string fix =
      GetErrorDetail(DecodeModelName("models/Qwen2.5-7B", "name").status())->fix;
  EXPECT_NE(fix.find("a link to it that is called qwen2.5-7b"), std::string::npos) << fix;
}

TEST(CodecModel, LoadOptionsDefaultToTheServers) {
  const LoadOptions defaults{.device = "cuda:1",
                             .compute_type = ComputeType::kBfloat16,
                             .residency = Residency::kStreamed};
  sinks::v1::LoadModelRequest request;
  EXPECT_EQ(DecodeLoadOptions(request, defaults)->device, "cuda:1");
  EXPECT_EQ(DecodeLoadOptions(request, defaults)->compute_type, ComputeType::kBfloat16);
  EXPECT_EQ(DecodeLoadOptions(request, defaults)->residency, Residency::kStreamed);
  request.set_residency(sinks::v1::RESIDENCY_UNSPECIFIED);
  EXPECT_EQ(DecodeLoadOptions(request, defaults)->residency, Residency::kStreamed);
  request.set_device("cpu");
  request.set_compute_type(sinks::v1::COMPUTE_TYPE_FLOAT32);
  request.set_residency(sinks::v1::RESIDENCY_RESIDENT);
  EXPECT_EQ(DecodeLoadOptions(request, defaults)->device, "cpu");
  EXPECT_EQ(DecodeLoadOptions(request, defaults)->compute_type, ComputeType::kFloat32);
  EXPECT_EQ(DecodeLoadOptions(request, defaults)->residency, Residency::kResident);
}

TEST(CodecModel, RefusesAComputeTypeItDoesNotKnow) {
  sinks::v1::LoadModelRequest request;
  request.set_compute_type(static_cast<sinks::v1::ComputeType>(77));
  const absl::StatusOr<LoadOptions> options = DecodeLoadOptions(request, {});
  EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetErrorDetail(options.status())->subject, "compute_type");
}

TEST(CodecModel, RoundsActivationsOnlyWhereAskedTo) {
  sinks::v1::LoadModelRequest request;
  const LoadOptions stored = {.activation_quantization = ActivationQuantization::kAsStored};
  EXPECT_EQ(DecodeLoadOptions(request, {})->activation_quantization, ActivationQuantization::kNone);
  EXPECT_EQ(DecodeLoadOptions(request, stored)->activation_quantization,
            ActivationQuantization::kAsStored);
  request.set_activation_quantization(sinks::v1::ACTIVATION_QUANTIZATION_NONE);
  EXPECT_EQ(DecodeLoadOptions(request, stored)->activation_quantization,
            ActivationQuantization::kNone);
  request.set_activation_quantization(sinks::v1::ACTIVATION_QUANTIZATION_AS_STORED);
  EXPECT_EQ(DecodeLoadOptions(request, {})->activation_quantization,
            ActivationQuantization::kAsStored);
  request.set_activation_quantization(static_cast<sinks::v1::ActivationQuantization>(3));
  EXPECT_EQ(GetErrorDetail(DecodeLoadOptions(request, {}).status())->subject,
            "activation_quantization");
}

TEST(CodecModel, RefusesAResidencyItDoesNotKnow) {
  sinks::v1::LoadModelRequest request;
  request.set_residency(static_cast<sinks::v1::Residency>(3));
  const absl::StatusOr<LoadOptions> options = DecodeLoadOptions(request, {});
  EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetErrorDetail(options.status())->subject, "residency");
}

TEST(CodecModel, AModelOnDiskHasNoFieldsOfALoadedOne) {
  ModelEntry entry{.id = "a", .state = ModelState::kFailed, .failure = "truncated"};
  entry.spec.emplace().blocks = 30;
  const sinks::v1::Model model = EncodeModel(entry);
  EXPECT_EQ(model.name(), "models/a");
  EXPECT_EQ(model.state(), sinks::v1::MODEL_STATE_FAILED);
  EXPECT_EQ(model.blocks(), 30);
  EXPECT_EQ(model.failure(), "truncated");
  EXPECT_FALSE(model.has_device());
  EXPECT_FALSE(model.has_weight_bytes());
  EXPECT_FALSE(model.has_compute_type());
  EXPECT_FALSE(model.has_residency());
}

TEST(CodecModel, ALoadedModelSaysWhereAndHow) {
  ModelEntry entry{.id = "a", .state = ModelState::kReady};
  entry.info.emplace();
  entry.info->device = "cuda:0";
  entry.info->compute_type = "bfloat16";
  entry.info->residency = Residency::kStreamed;
  entry.info->weight_bytes = 270;
  entry.info->warnings = {"extra tensor"};
  entry.pinned = true;
  entry.users = 3;
  entry.last_used = std::chrono::system_clock::time_point(std::chrono::seconds(1700000000));
  const sinks::v1::Model model = EncodeModel(entry);
  EXPECT_EQ(model.device(), "cuda:0");
  EXPECT_EQ(model.compute_type(), sinks::v1::COMPUTE_TYPE_BFLOAT16);
  EXPECT_EQ(model.residency(), sinks::v1::RESIDENCY_STREAMED);
  EXPECT_EQ(model.weight_bytes(), 270);
  EXPECT_EQ(model.warnings(0), "extra tensor");
  EXPECT_TRUE(model.pinned());
  EXPECT_EQ(model.users(), 3);
  EXPECT_EQ(model.last_used_time().seconds(), 1700000000);
}

}  // namespace
}  // namespace sinkd

#include "server/service/models/codec_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

using ::testing::ElementsAre;

sinks::v1::PlanModelRequest Request() {
  sinks::v1::PlanModelRequest request;
  request.set_name("models/a");
  return request;
}

PlannedLoad TwoDevices() {
  PlannedLoad planned;
  ModelPlan& plan = planned.plan;
  plan.spec.architecture = "llama";
  plan.spec.blocks = 3;
  plan.spec.hidden = 64;
  plan.spec.heads = 8;
  plan.spec.kv_heads = 2;
  plan.spec.vocabulary = 100;
  plan.spec.max_positions = 512;
  plan.compute_type = "bfloat16";
  plan.residency = Residency::kStreamed;
  plan.has_weights = true;
  plan.tensors = {{.name = "a", .stored_type = "BF16", .shape = {2, 3}, .stored_bytes = 12},
                  {.name = "b", .stored_type = "F32", .stored_bytes = 4, .use = TensorUse::kHead},
                  {.name = "c", .stored_type = "U8", .shape = {0}, .use = TensorUse::kUnused}};
  plan.parameters = 11;
  plan.stored_bytes = 12;
  plan.weight_bytes = 13;
  plan.largest_block_bytes = 14;
  plan.positions = 128;
  plan.devices = {{.device = "cuda:0",
                   .first_block = 0,
                   .blocks = 2,
                   .weight_bytes = 21,
                   .activation_bytes = 22},
                  {.device = "cpu", .first_block = 2, .blocks = 1}};
  plan.warnings = {"one tensor too many"};
  planned.room.devices = {{"cpu", {.now = {.device = "cpu"}}},
                          {"cuda:0",
                           {.now = {.device = "cuda:0",
                                    .budget_bytes = 100,
                                    .weight_bytes = 60,
                                    .loading_bytes = 5,
                                    .free_bytes = 23},
                            .wanted_bytes = 21,
                            .pinned_bytes = 7,
                            .evicted_bytes = 8}}};
  planned.room.victims = {"b", "c"};
  return planned;
}

std::vector<std::string> Names(const sinks::v1::PlanModelResponse& page) {
  std::vector<std::string> names;
  for (const sinks::v1::PlannedTensor& tensor : page.tensors()) names.push_back(tensor.name());
  return names;
}

TEST(CodecPlan, ASilentRequestIsTheServersDefaultsFor2048Positions) {
  const LoadOptions defaults{
      .device = "auto", .compute_type = ComputeType::kBfloat16, .residency = Residency::kStreamed};
  const absl::StatusOr<PlanRequest> request = DecodePlanRequest(Request(), defaults);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->id, "a");
  EXPECT_EQ(request->options.device, "auto");
  EXPECT_EQ(request->options.compute_type, ComputeType::kBfloat16);
  EXPECT_EQ(request->options.residency, Residency::kStreamed);
  EXPECT_EQ(request->positions, 2048);
  EXPECT_EQ(request->page_size, 1000u);
}

TEST(CodecPlan, ARequestOverridesEveryDefault) {
  sinks::v1::PlanModelRequest proto = Request();
  proto.set_device("cuda:0=0-1,cpu=2-2");
  proto.set_compute_type(sinks::v1::COMPUTE_TYPE_FLOAT32);
  proto.set_residency(sinks::v1::RESIDENCY_STREAMED);
  proto.set_positions(16777216);
  proto.set_page_size(5000);
  const absl::StatusOr<PlanRequest> request = DecodePlanRequest(proto, {});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->options.device, "cuda:0=0-1,cpu=2-2");
  EXPECT_EQ(request->options.compute_type, ComputeType::kFloat32);
  EXPECT_EQ(request->options.residency, Residency::kStreamed);
  EXPECT_EQ(request->positions, 16777216);
  EXPECT_EQ(request->page_size, 5000u);
}

TEST(CodecPlan, RefusesLengthsAndPageSizesOutOfRange) {
  for (const int positions : {0, -1, 16777217}) {
    sinks::v1::PlanModelRequest request = Request();
    request.set_positions(positions);
    const absl::Status status = DecodePlanRequest(request, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << positions;
    EXPECT_EQ(GetErrorDetail(status)->subject, "positions");
    EXPECT_EQ(GetErrorDetail(status)->value, std::to_string(positions));
  }
  for (const int size : {0, -1, 5001}) {
    sinks::v1::PlanModelRequest request = Request();
    request.set_page_size(size);
    const absl::Status status = DecodePlanRequest(request, {}).status();
    EXPECT_EQ(GetErrorDetail(status)->reason, "INVALID_PAGE_SIZE") << size;
  }
}

TEST(CodecPlan, SaysAllThatAPlanHolds) {
  const absl::StatusOr<sinks::v1::PlanModelResponse> page =
      EncodePlan({.id = "a", .page_size = 2}, TwoDevices());
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->plan().ShortDebugString(),
            "name: \"models/a\" architecture: \"llama\" blocks: 3 hidden_size: 64 heads: 8 "
            "kv_heads: 2 vocabulary_size: 100 max_positions: 512 "
            "compute_type: COMPUTE_TYPE_BFLOAT16 residency: RESIDENCY_STREAMED has_weights: true "
            "parameters: 11 tensor_count: 3 stored_bytes: 12 weight_bytes: 13 "
            "largest_block_bytes: 14 positions: 128 "
            "devices { device: \"cuda:0\" first_block: 0 blocks: 2 weight_bytes: 21 "
            "activation_bytes: 22 free_bytes: 23 fits: true budget_bytes: 100 held_bytes: 65 "
            "pinned_bytes: 7 evicted_bytes: 8 sample_fits: false } "
            "devices { device: \"cpu\" first_block: 2 blocks: 1 weight_bytes: 0 "
            "activation_bytes: 0 fits: true held_bytes: 0 pinned_bytes: 0 evicted_bytes: 0 "
            "sample_fits: true } "
            "fits: true warnings: \"one tensor too many\" evicted: \"models/b\" "
            "evicted: \"models/c\"");
  EXPECT_EQ(page->tensors(0).ShortDebugString(),
            "name: \"a\" stored_type: \"BF16\" shape: 2 shape: 3 stored_bytes: 12 "
            "use: TENSOR_USE_LOADED");
  EXPECT_EQ(page->tensors(1).use(), sinks::v1::TENSOR_USE_HEAD);
  EXPECT_EQ(page->tensors(1).shape_size(), 0);
}

TEST(CodecPlan, SaysWhyAPlanDoesNotFit) {
  PlannedLoad planned = TwoDevices();
  planned.room.devices["cuda:0"].fits = false;
  planned.room.victims.clear();
  planned.room.refusal = ResourceExhausted("too large", {.reason = "MEMORY_BUDGET", .fix = "wait"});
  const auto page = EncodePlan({.id = "a", .page_size = 2}, planned);
  EXPECT_FALSE(page->plan().fits());
  EXPECT_FALSE(page->plan().devices(0).fits());
  EXPECT_TRUE(page->plan().devices(1).fits());
  EXPECT_EQ(page->plan().refusal(), "too large; wait");
}

TEST(CodecPlan, CutsTensorsIntoPagesThatJoin) {
  const PlannedLoad plan = TwoDevices();
  PlanRequest request{.id = "a", .page_size = 2};
  const auto first = EncodePlan(request, plan);
  EXPECT_THAT(Names(*first), ElementsAre("a", "b"));
  request.after = first->next_page_token();
  const auto second = EncodePlan(request, plan);
  EXPECT_THAT(Names(*second), ElementsAre("c"));
  EXPECT_EQ(second->tensors(0).use(), sinks::v1::TENSOR_USE_UNUSED);
  EXPECT_FALSE(second->has_next_page_token());
  EXPECT_EQ(second->plan().tensor_count(), 3) << "the plan is whole on every page";
  request = {.id = "a", .page_size = 3};
  EXPECT_FALSE(EncodePlan(request, plan)->has_next_page_token());
}

TEST(CodecPlan, RefusesAPageAfterATensorThatIsNotThere) {
  const absl::Status status =
      EncodePlan({.id = "a", .page_size = 2, .after = "nothing"}, TwoDevices()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetErrorDetail(status)->reason, "INVALID_PAGE_TOKEN");
  EXPECT_EQ(GetErrorDetail(status)->value, "nothing");
}

}  // namespace
}  // namespace sinkd

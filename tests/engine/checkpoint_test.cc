// Checkpoint folders as people have them: which files are read, and what is refused by name.
#include "server/engine/checkpoint/checkpoint.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/engine/families/hf_config.h"
#include "tests/engine/checkpoint_folder.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::OneTensor;

class CheckpointFolderTest : public ::testing::Test {
 protected:
  const fs::path& path() const { return folder_.path(); }
  void Write(const std::string& name, const std::string& bytes) { folder_.Write(name, bytes); }

  static std::string Refusal(const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    const auto detail = GetErrorDetail(status);
    EXPECT_TRUE(detail && !detail->fix.empty() && !detail->subject.empty()) << status;
    return std::string(status.message());
  }
  std::string Refusal() const { return Refusal(Checkpoint::Open(path()).status()); }

  // The names of the tensors that are found.
  std::vector<std::string> Tensors() const {
    const auto checkpoint = Checkpoint::Open(path());
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
    std::vector<std::string> names;
    if (!checkpoint.ok()) return names;
    for (const auto& [name, location] : checkpoint->tensors()) names.push_back(name);
    return names;
  }

 private:
  testing::CheckpointFolder folder_;
};

TEST_F(CheckpointFolderTest, WithoutWeightsSaysWhatToCopy) {
  EXPECT_THAT(Refusal(), HasSubstr("copy the checkpoint's safetensors files"));
}

TEST_F(CheckpointFolderTest, WithPickledWeightsAloneNamesTheCure) {
  Write("pytorch_model.bin", "x");
  EXPECT_THAT(Refusal(), HasSubstr("save_pretrained"));
}

TEST_F(CheckpointFolderTest, WithPickleBesideSafetensorsLoadsTheSafetensors) {
  Write("pytorch_model.bin", "x");
  Write("model.safetensors", OneTensor("w"));
  EXPECT_TRUE(Checkpoint::Open(path()).ok());
}

TEST_F(CheckpointFolderTest, WithAnAdapterAloneNamesTheCure) {
  Write("adapter_config.json", "{}");
  Write("adapter_model.safetensors", "x");
  EXPECT_THAT(Refusal(), HasSubstr("merge_and_unload"));
}

TEST_F(CheckpointFolderTest, MissingShardIsNamed) {
  Write("model.safetensors.index.json", R"({"weight_map":{"w":"part-2.safetensors"}})");
  EXPECT_THAT(Refusal(), HasSubstr("part-2.safetensors"));
}

TEST_F(CheckpointFolderTest, IndexThatLeavesTheFolderIsRefused) {
  for (const std::string shard : {"../x.safetensors", "/etc/passwd", "..", "a/b.safetensors", ""}) {
    Write("model.safetensors.index.json", R"({"weight_map":{"w":")" + shard + R"("}})");
    EXPECT_THAT(Refusal(), HasSubstr("outside the folder")) << shard;
  }
}

TEST_F(CheckpointFolderTest, BrokenIndexIsRefused) {
  for (const std::string text :
       {"", "[]", "{}", R"({"weight_map":{}})", R"({"weight_map":{"w":3}})"}) {
    Write("model.safetensors.index.json", text);
    EXPECT_THAT(Refusal(), HasSubstr("model.safetensors.index.json")) << text;
  }
}

TEST_F(CheckpointFolderTest, IndexOfMoreFilesThanModelsHaveIsRefused) {
  std::string map;
  for (int i = 0; i <= 4096; ++i) {
    map += (i > 0 ? "," : "") + ("\"w" + std::to_string(i)) + "\":\"f" + std::to_string(i) + "\"";
  }
  Write("model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
  EXPECT_THAT(Refusal(), HasSubstr("names over 4096 files"));
}

TEST_F(CheckpointFolderTest, FaultOfAnIndexIsToldByItsPlace) {
  Write("model.safetensors.index.json", "{\"weight_map\":\n{\"w\":NaN}}");
  EXPECT_THAT(Refusal(), HasSubstr("line 2, column 6: JSON has no NaN"));
}

TEST_F(CheckpointFolderTest, TensorInTwoShardsIsRefused) {
  Write("a", OneTensor("w"));
  Write("b", OneTensor("w"));
  Write("model.safetensors.index.json", R"({"weight_map":{"w":"a","v":"b"}})");
  EXPECT_THAT(Refusal(), HasSubstr("is in both a and b"));
}

TEST_F(CheckpointFolderTest, WithAnAdapterAndNoConfigNamesTheCure) {
  Write("adapter_config.json", "{}");
  Write("adapter_model.safetensors", "x");
  EXPECT_THAT(Refusal(PlanFromFolder(path()).status()), HasSubstr("merge_and_unload"));
}

TEST_F(CheckpointFolderTest, ShardsAreTakenFromTheIndexWhateverTheyAreCalled) {
  Write("weights of part one", OneTensor("a"));
  Write("2.bin", OneTensor("b"));
  Write("model-00001-of-00001.safetensors", OneTensor("c"));
  Write("model.safetensors.index.json",
        R"({"weight_map":{"a":"weights of part one","b":"2.bin"}})");
  EXPECT_THAT(Tensors(), ::testing::ElementsAre("a", "b"));
}

TEST_F(CheckpointFolderTest, SubFoldersThatHoldTheModelAgainAreLeftAlone) {
  Write("model.safetensors", OneTensor("w"));
  Write("original/consolidated.safetensors", OneTensor("w"));
  Write("metal/model.bin", "x");
  EXPECT_THAT(Tensors(), ::testing::ElementsAre("w"));
}

TEST_F(CheckpointFolderTest, AWholeFileGoesBeforeAnIndexLeftFromEarlierShards) {
  Write("model.safetensors", OneTensor("w"));
  Write("model.safetensors.index.json", R"({"weight_map":{"v":"gone.safetensors"}})");
  EXPECT_THAT(Tensors(), ::testing::ElementsAre("w"));
}

TEST_F(CheckpointFolderTest, SafetensorsThatNothingNamesAreRefusedByName) {
  Write("consolidated.safetensors", OneTensor("w"));
  EXPECT_THAT(Refusal(),
              AllOf(HasSubstr("consolidated.safetensors"), HasSubstr("call it model.safetensors")));
}

TEST_F(CheckpointFolderTest, ALinkToWhatIsMissingIsNamedWithItsTarget) {
  fs::create_symlink("../../blobs/c0ffee", path() / "model.safetensors");
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("model.safetensors is a link to ../../blobs/c0ffee"),
                               HasSubstr("fetch the file again")));
  fs::remove(path() / "model.safetensors");
  Write("model.safetensors.index.json", R"({"weight_map":{"a":"one","b":"two"}})");
  Write("one", OneTensor("a"));
  fs::create_symlink("../../blobs/beef", path() / "two");
  EXPECT_THAT(Refusal(), HasSubstr("two is a link to ../../blobs/beef"));
  fs::create_symlink("../../blobs/cafe", path() / "config.json");
  EXPECT_THAT(Refusal(PlanFromFolder(path()).status()),
              HasSubstr("config.json is a link to ../../blobs/cafe"));
}

TEST_F(CheckpointFolderTest, AGitLfsPointerIsNamedAsSuch) {
  Write("model.safetensors",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 538090408\n");
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("model.safetensors is a Git LFS pointer"),
                               HasSubstr("git lfs pull")));
}

TEST_F(CheckpointFolderTest, AHuggingFaceCacheWithoutItsSnapshotSaysSo) {
  Write("refs/main", "c0ffee");
  fs::create_directories(path() / "snapshots");
  EXPECT_THAT(Refusal(PlanFromFolder(path()).status()), HasSubstr("refs/main names no snapshot"));
}

struct QuantizedTensor {
  std::string name;
  std::string tensor;
  std::string method;
  std::string file;  // that stands beside
};

class QuantizedTensors : public CheckpointFolderTest,
                         public ::testing::WithParamInterface<QuantizedTensor> {};

TEST_P(QuantizedTensors, AreRefusedByMethodWhereTheConfigIsSilent) {
  Write("model.safetensors", OneTensor(GetParam().tensor));
  if (!GetParam().file.empty()) Write(GetParam().file, "{}");
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("model.safetensors:" + GetParam().tensor),
                               HasSubstr("quantized by " + GetParam().method + ","),
                               HasSubstr("bfloat16 checkpoint it was made from")));
}

constexpr char kProjection[] = "model.layers.0.self_attn.q_proj";

INSTANTIATE_TEST_SUITE_P(
    Table, QuantizedTensors,
    ::testing::Values(
        QuantizedTensor{"GptqByOrder", kProjection + std::string(".g_idx"), "gptq", ""},
        QuantizedTensor{"GptqByFile", kProjection + std::string(".qweight"), "gptq",
                        "quantize_config.json"},
        QuantizedTensor{"Awq", kProjection + std::string(".qzeros"), "awq or gptq", ""},
        QuantizedTensor{"BitsAndBytes4", kProjection + std::string(".weight.absmax"),
                        "bitsandbytes", ""},
        QuantizedTensor{"BitsAndBytes8", kProjection + std::string(".SCB"), "bitsandbytes", ""},
        QuantizedTensor{"CompressedTensors", kProjection + std::string(".weight_packed"),
                        "compressed-tensors", ""},
        QuantizedTensor{"Float8WithScales", kProjection + std::string(".weight_scale_inv"), "fp8",
                        ""},
        QuantizedTensor{"Mlx", kProjection + std::string(".biases"), "mlx", ""}),
    [](const auto& test) { return test.param.name; });

TEST_F(CheckpointFolderTest, QuantizedWeightsOfAnOldNameAreRefusedByMethod) {
  Write("gptq_model-4bit-128g.safetensors", "x");
  Write("quantize_config.json", "{}");
  EXPECT_THAT(Refusal(), HasSubstr("quantized by gptq"));
  fs::remove(path() / "quantize_config.json");
  Write("quant_config.json", "{}");
  EXPECT_THAT(Refusal(), HasSubstr("quantized by awq"));
}

TEST_F(CheckpointFolderTest, AQuantizersSettingsBesidePlainWeightsAreIgnored) {
  Write("model.safetensors", OneTensor(kProjection + std::string(".weight")));
  Write("quantize_config.json", "{}");
  EXPECT_EQ(Tensors().size(), 1u);
}

}  // namespace
}  // namespace sinkd

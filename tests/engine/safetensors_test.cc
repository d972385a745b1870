// Broken safetensors files and folders: each is refused with a message that names what is wrong.
#include "server/engine/safetensors.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/engine/checkpoint.h"

namespace sinkd {
namespace {

using ::testing::HasSubstr;

class Folder : public ::testing::Test {
 protected:
  Folder() {
    std::string pattern = ::testing::TempDir() + "safetensorsXXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() override { std::filesystem::remove_all(path_); }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  static std::string File(const std::string& header, size_t data_bytes) {
    std::string length(8, '\0');
    const uint64_t size = header.size();
    std::memcpy(length.data(), &size, 8);
    return length + header + std::string(data_bytes, '\x01');
  }

  std::filesystem::path path_;
};

struct BadHeader {
  std::string name;
  std::string header;
  size_t data_bytes;
  std::string message;
};

class BadHeaders : public Folder, public ::testing::WithParamInterface<BadHeader> {};

TEST_P(BadHeaders, AreRefusedByName) {
  Write("model.safetensors", File(GetParam().header, GetParam().data_bytes));
  const auto file = SafetensorsFile::Open(path_ / "model.safetensors");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(file.status().message());
  EXPECT_THAT(message, HasSubstr("model.safetensors"));
  EXPECT_THAT(message, HasSubstr(GetParam().message));
}

constexpr char kF32[] = R"("dtype":"F32")";

std::string Entry(const std::string& name, const std::string& shape, const std::string& offsets,
                  const std::string& dtype = kF32) {
  return "\"" + name + "\":{" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}";
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadHeaders,
    ::testing::Values(
        BadHeader{"NotJson", "{\"a\":", 0, "not a JSON object"},
        BadHeader{"NotAnObject", "[1,2]", 0, "not a JSON object"},
        BadHeader{"DuplicateKey",
                  "{" + Entry("w", "[1]", "[0,4]") + "," + Entry("w", "[1]", "[4,8]") + "}", 8,
                  "tensor w: is named twice"},
        BadHeader{"TooDeep", std::string(10000, '['), 0, "nested too deeply"},
        BadHeader{"UnknownDtype", "{" + Entry("w", "[1]", "[0,4]", R"("dtype":"F31")") + "}", 4,
                  "tensor w: has no known dtype"},
        BadHeader{"NoDtype", R"({"w":{"shape":[1],"data_offsets":[0,4]}})", 4, "no known dtype"},
        BadHeader{"NoShape", R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", 4,
                  "tensor w: has no shape"},
        BadHeader{"NegativeShape", "{" + Entry("w", "[-1]", "[0,4]") + "}", 4, "whole numbers"},
        BadHeader{"FractionalShape", "{" + Entry("w", "[1.5]", "[0,4]") + "}", 4, "whole numbers"},
        BadHeader{"ShapeOverflows",
                  "{" + Entry("w", "[4611686018427387904,4611686018427387904]", "[0,4]") + "}", 4,
                  "overflows"},
        BadHeader{"SizeUnlikeShape", "{" + Entry("w", "[2]", "[0,4]") + "}", 4,
                  "takes 8 bytes by its shape and dtype, and 4"},
        BadHeader{"OffsetsReversed", "{" + Entry("w", "[1]", "[4,0]") + "}", 4, "no range"},
        BadHeader{"OffsetsNotAPair", "{" + Entry("w", "[1]", "[0]") + "}", 4, "no pair"},
        BadHeader{"OffsetsPastInt64", "{" + Entry("w", "[1]", "[0,18446744073709551615]") + "}", 4,
                  "no range"},
        BadHeader{"Truncated", "{" + Entry("w", "[4]", "[0,16]") + "}", 8, "it is truncated"},
        BadHeader{"Overlap",
                  "{" + Entry("a", "[2]", "[0,8]") + "," + Entry("b", "[2]", "[4,12]") + "}", 12,
                  "tensor b: overlaps"},
        BadHeader{"Hole",
                  "{" + Entry("a", "[1]", "[0,4]") + "," + Entry("b", "[1]", "[8,12]") + "}", 12,
                  "tensor b: leaves a hole"},
        BadHeader{"TrailingBytes", "{" + Entry("a", "[1]", "[0,4]") + "}", 9,
                  "5 bytes after the last tensor"},
        BadHeader{"TensorIsNoObject", R"({"w":3})", 0, "not described by an object"}),
    [](const auto& test) { return test.param.name; });

TEST_F(Folder, HeaderLongerThanTheFileIsTruncated) {
  std::string bytes = File("{}", 0);
  bytes[1] = 1;
  Write("m.safetensors", bytes);
  const auto file = SafetensorsFile::Open(path_ / "m.safetensors");
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("it is truncated"));
}

TEST_F(Folder, HeaderOverTheLimitIsNotRead) {
  std::string bytes = File("{}", 0);
  bytes[7] = 1;
  Write("m.safetensors", bytes);
  const auto file = SafetensorsFile::Open(path_ / "m.safetensors");
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("over the limit of 100 MiB"));
}

TEST_F(Folder, FileOfAFewBytesIsRefused) {
  Write("m.safetensors", "abc");
  const auto file = SafetensorsFile::Open(path_ / "m.safetensors");
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("only 3 bytes"));
}

TEST_F(Folder, DirectoryInPlaceOfAFileIsRefused) {
  std::filesystem::create_directory(path_ / "m.safetensors");
  const auto file = SafetensorsFile::Open(path_ / "m.safetensors");
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("not a regular file"));
}

TEST_F(Folder, EmptyTensorsAndMetadataAreFine) {
  Write("m.safetensors",
        File(R"({"__metadata__":{"format":"pt"},)" + Entry("empty", "[0,3]", "[0,0]") + "," +
                 Entry("w", "[2]", "[0,8]") + "}",
             8));
  const auto file = SafetensorsFile::Open(path_ / "m.safetensors");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(file->tensors().at("w").bytes, 8);
}

std::string CheckpointError(const std::filesystem::path& folder) {
  const auto checkpoint = Checkpoint::Open(folder);
  EXPECT_FALSE(checkpoint.ok());
  EXPECT_EQ(checkpoint.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(checkpoint.status().message());
}

TEST_F(Folder, WithoutWeightsSaysWhatToCopy) {
  EXPECT_THAT(CheckpointError(path_), HasSubstr("copy the checkpoint's safetensors files"));
}

TEST_F(Folder, WithPickledWeightsAloneNamesTheCure) {
  Write("pytorch_model.bin", "x");
  EXPECT_THAT(CheckpointError(path_), HasSubstr("save_pretrained"));
}

TEST_F(Folder, WithPickleBesideSafetensorsLoadsTheSafetensors) {
  Write("pytorch_model.bin", "x");
  Write("model.safetensors", File("{" + Entry("w", "[1]", "[0,4]") + "}", 4));
  EXPECT_TRUE(Checkpoint::Open(path_).ok());
}

TEST_F(Folder, WithAnAdapterAloneNamesTheCure) {
  Write("adapter_config.json", "{}");
  Write("adapter_model.safetensors", "x");
  EXPECT_THAT(CheckpointError(path_), HasSubstr("merge_and_unload"));
}

TEST_F(Folder, MissingShardIsNamed) {
  Write("model.safetensors.index.json", R"({"weight_map":{"w":"part-2.safetensors"}})");
  EXPECT_THAT(CheckpointError(path_), HasSubstr("part-2.safetensors"));
}

TEST_F(Folder, IndexThatLeavesTheFolderIsRefused) {
  for (const std::string shard : {"../x.safetensors", "/etc/passwd", "..", "a/b.safetensors", ""}) {
    Write("model.safetensors.index.json", R"({"weight_map":{"w":")" + shard + R"("}})");
    EXPECT_THAT(CheckpointError(path_), HasSubstr("outside the folder")) << shard;
  }
}

TEST_F(Folder, BrokenIndexIsRefused) {
  for (const std::string text :
       {"", "[]", "{}", R"({"weight_map":{}})", R"({"weight_map":{"w":3}})"}) {
    Write("model.safetensors.index.json", text);
    EXPECT_THAT(CheckpointError(path_), HasSubstr("model.safetensors.index.json")) << text;
  }
}

TEST_F(Folder, TensorInTwoShardsIsRefused) {
  Write("a", File("{" + Entry("w", "[1]", "[0,4]") + "}", 4));
  Write("b", File("{" + Entry("w", "[1]", "[0,4]") + "}", 4));
  Write("model.safetensors.index.json", R"({"weight_map":{"w":"a","v":"b"}})");
  EXPECT_THAT(CheckpointError(path_), HasSubstr("is in both a and b"));
}

}  // namespace
}  // namespace sinkd

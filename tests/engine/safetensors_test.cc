// Broken safetensors files: each is refused with a message that names what is wrong.
#include "server/engine/checkpoint/safetensors.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "tests/engine/checkpoint_folder.h"

namespace sinkd {
namespace {

using ::testing::HasSubstr;
using testing::HeaderEntry;
using testing::SafetensorsBytes;

class Folder : public ::testing::Test {
 protected:
  testing::CheckpointFolder folder_;
};

struct BadHeader {
  std::string name;
  std::string header;
  size_t data_bytes;
  std::string message;
};

class BadHeaders : public Folder, public ::testing::WithParamInterface<BadHeader> {};

TEST_P(BadHeaders, AreRefusedByName) {
  folder_.Write("model.safetensors", SafetensorsBytes(GetParam().header, GetParam().data_bytes));
  const auto file = SafetensorsFile::Open(folder_.path() / "model.safetensors");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(file.status().message());
  EXPECT_THAT(message, HasSubstr("model.safetensors"));
  EXPECT_THAT(message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadHeaders,
    ::testing::Values(
        BadHeader{"NotJson", "{\"a\":", 0, "the header is not valid JSON at line 1, column 6"},
        BadHeader{"GoesOnAfterAZeroByte", std::string("{}\0{}", 5), 0, "a zero byte"},
        BadHeader{"ByteOrderMark", "\xEF\xBB\xBF{}", 0, "not a JSON object"},
        BadHeader{"MetadataOfNumbers", R"({"__metadata__":{"a":1}})", 0, "__metadata__"},
        BadHeader{"MetadataOfNoNames", R"({"__metadata__":["a"]})", 0, "__metadata__"},
        BadHeader{"NotAnObject", "[1,2]", 0, "not a JSON object"},
        BadHeader{
            "DuplicateKey",
            "{" + HeaderEntry("w", "[1]", "[0,4]") + "," + HeaderEntry("w", "[1]", "[4,8]") + "}",
            8, "tensor w: is named twice"},
        BadHeader{"TooDeep", "{\"a\":" + std::string(10000, '['), 0, "nested deeper than 3 levels"},
        BadHeader{"NotANumber", R"({"w":{"dtype":"F32","shape":[NaN]}})", 0, "JSON has no NaN"},
        BadHeader{"DuplicateKeyOfATensor",
                  R"({"w":{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}})", 4,
                  "names dtype twice"},
        BadHeader{"DuplicateMetadata", R"({"__metadata__":{},"__metadata__":{}})", 0,
                  "__metadata__: is named twice"},
        BadHeader{"UnknownDtype", "{" + HeaderEntry("w", "[1]", "[0,4]", R"("dtype":"F31")") + "}",
                  4, "tensor w: has no known dtype"},
        BadHeader{"NoDtype", R"({"w":{"shape":[1],"data_offsets":[0,4]}})", 4, "no known dtype"},
        BadHeader{"NoShape", R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", 4,
                  "tensor w: has no shape"},
        BadHeader{"NegativeShape", "{" + HeaderEntry("w", "[-1]", "[0,4]") + "}", 4,
                  "whole numbers"},
        BadHeader{"FractionalShape", "{" + HeaderEntry("w", "[1.5]", "[0,4]") + "}", 4,
                  "whole numbers"},
        BadHeader{
            "ShapeOverflows",
            "{" + HeaderEntry("w", "[4611686018427387904,4611686018427387904]", "[0,4]") + "}", 4,
            "overflows"},
        BadHeader{"SizeUnlikeShape", "{" + HeaderEntry("w", "[2]", "[0,4]") + "}", 4,
                  "takes 8 bytes by its shape and dtype, and 4"},
        BadHeader{"OffsetsReversed", "{" + HeaderEntry("w", "[1]", "[4,0]") + "}", 4,
                  "invalid data_offsets"},
        BadHeader{"OffsetsNotAPair", "{" + HeaderEntry("w", "[1]", "[0]") + "}", 4, "no pair"},
        BadHeader{"OffsetsPastInt64",
                  "{" + HeaderEntry("w", "[1]", "[0,18446744073709551615]") + "}", 4,
                  "invalid data_offsets"},
        BadHeader{"Truncated", "{" + HeaderEntry("w", "[4]", "[0,16]") + "}", 8, "it is truncated"},
        BadHeader{
            "Overlap",
            "{" + HeaderEntry("a", "[2]", "[0,8]") + "," + HeaderEntry("b", "[2]", "[4,12]") + "}",
            12, "tensor b: overlaps"},
        BadHeader{
            "Hole",
            "{" + HeaderEntry("a", "[1]", "[0,4]") + "," + HeaderEntry("b", "[1]", "[8,12]") + "}",
            12, "tensor b: leaves a hole"},
        BadHeader{"TrailingBytes", "{" + HeaderEntry("a", "[1]", "[0,4]") + "}", 9,
                  "5 bytes after the last tensor"},
        BadHeader{"TensorIsNoObject", R"({"w":3})", 0, "not described by an object"}),
    [](const auto& test) { return test.param.name; });

TEST_F(Folder, HeaderLongerThanTheFileIsTruncated) {
  std::string bytes = SafetensorsBytes("{}", 0);
  bytes[1] = 1;
  folder_.Write("m.safetensors", bytes);
  const auto file = SafetensorsFile::Open(folder_.path() / "m.safetensors");
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("it is truncated"));
}

TEST_F(Folder, HeaderOverTheLimitIsNotRead) {
  std::string bytes = SafetensorsBytes("{}", 0);
  bytes[7] = 1;
  folder_.Write("m.safetensors", bytes);
  const auto file = SafetensorsFile::Open(folder_.path() / "m.safetensors");
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("over the limit of 100 MiB"));
}

// One empty tensor after another, as many as `count`.
std::string EmptyTensors(size_t count) {
  std::string header = "{";
  for (size_t i = 0; i < count; ++i) {
    header += (i > 0 ? "," : "") + HeaderEntry("t" + std::to_string(i), "[0]", "[0,0]");
  }
  return header + "}";
}

// Of twice as many tensors as any published file has; a reader that looks through those before
// each would not come to an end.
TEST_F(Folder, ManyTensorsTakeNoMoreThanTheirNumber) {
  folder_.Write("m.safetensors", SafetensorsBytes(EmptyTensors(250'000), 0));
  const auto file = SafetensorsFile::Open(folder_.path() / "m.safetensors");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->tensors().size(), 250'000u);
}

TEST_F(Folder, MoreTensorsThanModelsHaveAreRefused) {
  folder_.Write("m.safetensors", SafetensorsBytes(EmptyTensors(300'001), 0));
  const auto file = SafetensorsFile::Open(folder_.path() / "m.safetensors");
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("over 300000 tensors"));
}

TEST_F(Folder, ReadingAHeaderCanBeCancelled) {
  folder_.Write("m.safetensors", SafetensorsBytes(EmptyTensors(10'000), 0));
  std::stop_source stop;
  stop.request_stop();
  const auto file = SafetensorsFile::Open(folder_.path() / "m.safetensors", stop.get_token());
  EXPECT_TRUE(absl::IsCancelled(file.status())) << file.status();
}

TEST_F(Folder, FileOfAFewBytesIsRefused) {
  folder_.Write("m.safetensors", "abc");
  const auto file = SafetensorsFile::Open(folder_.path() / "m.safetensors");
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("only 3 bytes"));
}

TEST_F(Folder, DirectoryInPlaceOfAFileIsRefused) {
  std::filesystem::create_directory(folder_.path() / "m.safetensors");
  const auto file = SafetensorsFile::Open(folder_.path() / "m.safetensors");
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("not a regular file"));
}

TEST_F(Folder, EmptyTensorsAndMetadataAreFine) {
  folder_.Write("m.safetensors", SafetensorsBytes(R"({"__metadata__":{"format":"pt"},)" +
                                                      HeaderEntry("empty", "[0,3]", "[0,0]") + "," +
                                                      HeaderEntry("w", "[2]", "[0,8]") + "}",
                                                  8));
  const auto file = SafetensorsFile::Open(folder_.path() / "m.safetensors");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(file->tensors().at("w").bytes, 8);
}

}  // namespace
}  // namespace sinkd

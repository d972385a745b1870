// Broken GGUF files and folders: each is refused with a message that names what is wrong.
#include "server/engine/checkpoint/gguf/gguf_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/engine/checkpoint/checkpoint.h"
#include "server/engine/checkpoint/gguf/gguf_quantization.h"
#include "server/engine/checkpoint/gguf/gguf_source.h"
#include "server/engine/families/hf_config.h"
#include "server/engine/tokenizer_files.h"
#include "tests/engine/gguf_bytes.h"

namespace sinkd {
namespace {

using ::testing::ElementsAre;
using testing::GgufBytes;
using testing::GgufField;
using ::testing::HasSubstr;

constexpr uint32_t kF32 = 0;
constexpr uint32_t kQ4_0 = 2;

class Folder : public ::testing::Test {
 protected:
  Folder() {
    std::string pattern = ::testing::TempDir() + "ggufXXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() override { std::filesystem::remove_all(path_); }

  std::filesystem::path Write(const std::string& name, const std::string& bytes) {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

  std::filesystem::path path_;
};

// The messages all name the file; `parts` are what else they have to name.
void ExpectRefusal(const absl::Status& status, const std::vector<std::string>& parts) {
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  const auto detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_FALSE(detail->fix.empty());
  for (const std::string& part : parts) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }
}

// A small llama's metadata.
GgufBytes Llama() {
  GgufBytes bytes;
  bytes.String("general.architecture", "llama")
      .Number("llama.block_count", 1)
      .Number("llama.context_length", 64)
      .Number("llama.embedding_length", 8)
      .Number("llama.feed_forward_length", 16)
      .Number("llama.attention.head_count", 2)
      .Float("llama.attention.layer_norm_rms_epsilon", 1e-5F)
      .Number("llama.vocab_size", 4);
  return bytes;
}

struct BadFile {
  std::string name;
  std::string bytes;
  std::vector<std::string> parts;
};

class BadFiles : public Folder, public ::testing::WithParamInterface<BadFile> {};

TEST_P(BadFiles, AreRefusedByName) {
  const auto file = GgufFile::Open(Write("model.gguf", GetParam().bytes));
  ASSERT_FALSE(file.ok());
  ExpectRefusal(file.status(), {"model.gguf"});
  ExpectRefusal(file.status(), GetParam().parts);
}

GgufBytes OneTensor(const std::vector<uint64_t>& axes, uint32_t type, uint64_t offset,
                    size_t data_bytes) {
  GgufBytes bytes;
  bytes.Tensor("w", axes, type, offset).Data(data_bytes);
  return bytes;
}

std::string Value(const std::string& type_and_value) {
  return GgufBytes().Pair("k", type_and_value).File();
}

std::string ArrayOf(GgufField type, uint64_t count, const std::string& items) {
  return GgufBytes::Type(GgufField::kArray) + GgufBytes::Type(type) + GgufBytes::Raw(count) + items;
}

INSTANTIATE_TEST_SUITE_P(
    Headers, BadFiles,
    ::testing::Values(
        BadFile{"Empty", "", {"truncated"}}, BadFile{"MagicAlone", "GGUF", {"truncated"}},
        BadFile{"OtherMagic", "GGML" + std::string(60, '\0'), {"does not begin with GGUF"}},
        BadFile{"Version1", GgufBytes().File(1), {"has version 1, not 2 or 3"}},
        BadFile{"Version4", GgufBytes().File(4), {"has version 4"}},
        BadFile{"BigEndian", GgufBytes().File(0x03000000), {"big-endian"}},
        BadFile{"NoCounts", GgufBytes().File().substr(0, 12), {"truncated"}},
        BadFile{"TensorCountPastFile",
                GgufBytes().File(3, 1u << 30, 0),
                {"announces 1073741824 tensors"}},
        BadFile{"TensorCountPastInt64",
                GgufBytes().File(3, UINT64_MAX, 0),
                {"announces 18446744073709551615 tensors"}},
        BadFile{"KeyCountPastFile", GgufBytes().File(3, 0, uint64_t{1} << 60), {"keys"}},
        BadFile{"FewerKeysThanSaid",
                GgufBytes().String("a", std::string(40, 'x')).File(3, 0, 2),
                {"key 1 of 2", "truncated"}},
        BadFile{"EmptyKey", GgufBytes().Number("", 1).File(), {"key 0 of 1: is empty"}},
        BadFile{"LongKey",
                GgufBytes().Number(std::string(2000, 'k'), 1).File(),
                {"over the limit of 1024"}},
        BadFile{"KeyNotUtf8", GgufBytes().Number("k\xff", 1).File(), {"not UTF-8"}},
        BadFile{"KeyTwice",
                GgufBytes().Number("k", 1).Number("k", 1).File(),
                {"key k: is written twice"}},
        BadFile{"UnknownValueType",
                Value(GgufBytes::Raw<uint32_t>(13) + "xxxx"),
                {"key k", "value type 13"}},
        BadFile{"TextPastFile",
                Value(GgufBytes::Type(GgufField::kText) + GgufBytes::Raw<uint64_t>(UINT64_MAX)),
                {"key k", "bytes of text"}},
        BadFile{"TextNotUtf8", GgufBytes().String("k", "\xc0\x80").File(), {"key k", "not UTF-8"}},
        BadFile{"NumberPastInt64",
                Value(GgufBytes::Type(GgufField::kU64) + GgufBytes::Raw<uint64_t>(UINT64_MAX)),
                {"key k", "2^63 - 1"}},
        BadFile{"BoolOfTwo",
                Value(GgufBytes::Type(GgufField::kBool) + "\x02"),
                {"key k", "neither 0 nor 1"}},
        BadFile{"ArrayOfArrays",
                Value(ArrayOf(GgufField::kArray, 1, std::string(12, '\0'))),
                {"key k", "array of arrays"}},
        BadFile{"ArrayPastFile",
                Value(ArrayOf(GgufField::kU8, uint64_t{1} << 62, "x")),
                {"key k", "items"}},
        BadFile{"ArrayOfStringsPastFile",
                Value(ArrayOf(GgufField::kText, 3, GgufBytes::Text("a"))),
                {"key k", "announces 3 items"}},
        BadFile{"TruncatedValue",
                Value(GgufBytes::Type(GgufField::kU64) + "1234"),
                {"key k", "truncated"}}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Tensors, BadFiles,
    ::testing::Values(
        BadFile{"NoName", GgufBytes().Tensor("", {8}, kF32, 0).Data(32).File(), {"has no name"}},
        BadFile{"NoAxes", OneTensor({}, kF32, 0, 32).File(), {"tensor w: has 0 axes"}},
        BadFile{"FiveAxes", OneTensor({1, 1, 1, 1, 1}, kF32, 0, 32).File(), {"has 5 axes"}},
        BadFile{"EmptyAxis", OneTensor({0}, kF32, 0, 32).File(), {"tensor w: has an empty axis"}},
        BadFile{"AxisPastInt64", OneTensor({UINT64_MAX}, kF32, 0, 32).File(), {"tensor w", "2^63"}},
        BadFile{"ShapeOverflows",
                OneTensor({1u << 31, 1u << 31, 4}, kF32, 0, 32).File(),
                {"tensor w", "overflows"}},
        BadFile{"QuantizedShapeOverflows",
                OneTensor({uint64_t{1} << 31, uint64_t{1} << 31}, kQ4_0, 0, 32).File(),
                {"tensor w", "overflows"}},
        BadFile{
            "PartOfABlock", OneTensor({33}, kQ4_0, 0, 64).File(), {"rows of 33 values", "Q4_0"}},
        BadFile{"UnreadableType",
                OneTensor({256}, 16, 0, 66).File(),
                {"tensor w: is stored as IQ2_XXS", "Q4_0, Q4_1"}},
        BadFile{
            "UnknownType", OneTensor({256}, 99, 0, 84).File(), {"tensor w: is stored as type 99"}},
        BadFile{"OffsetNotAligned", OneTensor({8}, kF32, 16, 64).File(), {"alignment 32"}},
        BadFile{"OffsetPastInt64", OneTensor({8}, kF32, UINT64_MAX, 64).File(), {"tensor w"}},
        BadFile{
            "OffsetPastFile", OneTensor({8}, kF32, uint64_t{1} << 62, 64).File(), {"truncated"}},
        BadFile{"DataTruncated", OneTensor({8}, kF32, 0, 31).File(), {"tensor w", "truncated"}},
        BadFile{"NoData", OneTensor({8}, kF32, 0, 0).File(), {"tensor w", "truncated"}},
        BadFile{"DescribedTwice",
                GgufBytes().Tensor("w", {8}, kF32, 0).Tensor("w", {8}, kF32, 32).Data(64).File(),
                {"tensor w: is described twice"}},
        BadFile{"Overlap",
                GgufBytes().Tensor("v", {16}, kF32, 0).Tensor("w", {8}, kF32, 32).Data(64).File(),
                {"tensor w: overlaps"}},
        BadFile{"AlignmentOfThree",
                GgufBytes().Number("general.alignment", 3).File(),
                {"general.alignment", "power of two"}},
        BadFile{"AlignmentOfZero",
                GgufBytes().Number("general.alignment", 0).File(),
                {"general.alignment"}},
        BadFile{"AlignmentNotANumber",
                GgufBytes().String("general.alignment", "32").File(),
                {"general.alignment is not an integer"}}),
    [](const auto& test) { return test.param.name; });

TEST_F(Folder, EveryTruncationOfAGoodFileIsRefused) {
  const std::string whole = Llama()
                                .Strings("tokenizer.ggml.tokens", {"a", "b"})
                                .Tensor("token_embd.weight", {8, 4}, kF32, 0)
                                .Data(128)
                                .File();
  const std::filesystem::path path = Write("model.gguf", whole);
  ASSERT_TRUE(GgufFile::Open(path).ok());
  for (size_t bytes = whole.size(); bytes-- > 0;) {
    std::filesystem::resize_file(path, bytes);
    const auto file = GgufFile::Open(path);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kFailedPrecondition) << bytes;
  }
}

// Nothing to compare with: the file is read or refused, and a sanitizer sees nothing.
// By OCP Microscaling Formats 1.0: E2M1 values times 2^(e - 127). The gguf package does not unpack
// this type.
TEST(GgufTypes, Mxfp4IsThatOfItsSpecification) {
  constexpr float kE2M1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const GgufTypeInfo* type = FindGgufType(39);
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->name, "MXFP4");
  for (int e = 0; e < 253; ++e) {  // from there on 6 is past float32
    std::vector<uint8_t> block = {static_cast<uint8_t>(e)};
    for (int j = 0; j < 16; ++j) block.push_back(static_cast<uint8_t>(j | (15 - j) << 4));
    ASSERT_EQ(type->block_bytes, static_cast<int64_t>(block.size()));
    std::vector<float> values(32);
    Dequantize(*type, block.data(), 32, values.data());
    for (int j = 0; j < 32; ++j) {
      const int nibble = j < 16 ? j : 31 - j;
      const float expected = std::ldexp(kE2M1[nibble & 7], e - 127) * (nibble < 8 ? 1.0F : -1.0F);
      EXPECT_EQ(values[static_cast<size_t>(j)], expected) << "e " << e << ", value " << j;
    }
  }
}

TEST_F(Folder, AnyByteOfAFileMayBeWrong) {
  const std::string whole = Llama()
                                .String("tokenizer.ggml.model", "llama")
                                .Strings("tokenizer.ggml.tokens", {"a", "b", "ab"})
                                .Array<float>("tokenizer.ggml.scores", GgufField::kF32, {0, 1, 2})
                                .Tensor("token_embd.weight", {8, 4}, kF32, 0)
                                .Tensor("blk.0.attn_q.weight", {32, 8}, kQ4_0, 128)
                                .Data(272)
                                .File();
  const std::string name = "model.layers.0.self_attn.q_proj.weight";
  const std::filesystem::path path = Write("model.gguf", whole);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&file](size_t at, char value) {
    file.seekp(static_cast<std::streamoff>(at)).put(value).flush();
  };
  size_t read = 0;
  for (size_t at = 0; at < whole.size() - 272; ++at) {
    for (const char value : {'\x00', '\x01', '\x7f', '\x80', '\xff'}) {
      put(at, value);
      (void)PlanFromFolder(path_);
      (void)ReadTokenizerFiles(path_);
      const auto source = GgufSource::Open(path);
      if (!source.ok() || source->tensors().count(name) == 0) continue;
      std::string values(static_cast<size_t>(source->tensors().find(name)->second.bytes), '\0');
      if (source->Read(name, 0, static_cast<int64_t>(values.size()), values.data()).ok()) ++read;
    }
    put(at, whole[at]);
  }
  EXPECT_GT(read, 0u);
}

TEST_F(Folder, AVersion2FileAndATensorlessOneAreRead) {
  EXPECT_TRUE(GgufFile::Open(Write("a.gguf", Llama().File(2))).ok());
  EXPECT_TRUE(GgufFile::Open(Write("b.gguf", GgufBytes().File())).ok());
}

TEST_F(Folder, APipeIsNoFile) {
  ASSERT_EQ(mkfifo((path_ / "model.gguf").c_str(), 0600), 0);
  ExpectRefusal(GgufFile::Open(path_ / "model.gguf").status(), {"model.gguf", "regular file"});
}

struct BadModel {
  std::string name;
  GgufBytes bytes;
  std::vector<std::string> parts;
};

class BadModels : public Folder, public ::testing::WithParamInterface<BadModel> {};

TEST_P(BadModels, AreRefusedByName) {
  Write("model.gguf", GetParam().bytes.File());
  const auto plan = PlanFromFolder(path_);
  ASSERT_FALSE(plan.ok());
  ExpectRefusal(plan.status(), {"model.gguf"});
  ExpectRefusal(plan.status(), GetParam().parts);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadModels,
    ::testing::Values(
        BadModel{"NoArchitecture",
                 GgufBytes().Number("llama.block_count", 1),
                 {"general.architecture is missing"}},
        BadModel{"OtherArchitecture",
                 GgufBytes().String("general.architecture", "mamba"),
                 {"general.architecture is mamba", "olmo2, olmoe, phi2, phi3"}},
        BadModel{"ArchitectureNotText",
                 GgufBytes().Number("general.architecture", 1),
                 {"general.architecture is not a string"}},
        BadModel{"NoBlockCount",
                 GgufBytes()
                     .String("general.architecture", "llama")
                     .Number("llama.attention.head_count", 2),
                 {"llama.block_count is missing"}},
        BadModel{"HeadsPerLayer",
                 GgufBytes(Llama()).Array<uint32_t>("llama.attention.head_count_kv",
                                                    GgufField::kU32, {1, 2}),
                 {"llama.attention.head_count_kv is not an integer"}},
        BadModel{"NotCausal",
                 GgufBytes(Llama()).Flag("llama.attention.causal", false),
                 {"llama.attention.causal is false", "looks ahead"}},
        BadModel{"SlidingWindow",
                 GgufBytes(Llama()).Number("llama.attention.sliding_window", 4),
                 {"llama.attention.sliding_window is 4"}},
        BadModel{"ScaleOfItsOwn",
                 GgufBytes(Llama()).Float("llama.attention.scale", 0.5F),
                 {"llama.attention.scale is 0.5"}},
        BadModel{"ScaledResidual",
                 GgufBytes(Llama()).Float("llama.residual_scale", 0.25F),
                 {"llama.residual_scale is 0.25"}},
        BadModel{"MixtureOfExpertsWithoutItsKeys",
                 GgufBytes(Llama()).Number("llama.expert_count", 8),
                 {"llama.expert_used_count"}},
        BadModel{"PartialRotary",
                 GgufBytes(Llama()).Number("llama.rope.dimension_count", 2),
                 {"llama.rope.dimension_count is 2, not the head size 4"}},
        BadModel{"OtherValueSize",
                 GgufBytes(Llama()).Number("llama.attention.value_length", 2),
                 {"llama.attention.value_length"}},
        BadModel{"UnknownRopeScaling",
                 GgufBytes(Llama()).String("llama.rope.scaling.type", "longrope"),
                 {"llama.rope.scaling.type is longrope"}},
        BadModel{"RopeScalingWithoutFactor",
                 GgufBytes(Llama()).String("llama.rope.scaling.type", "linear"),
                 {"llama.rope.scaling.factor is missing"}},
        BadModel{"RopeFactorsOfAnotherKind",
                 GgufBytes(Llama()).Tensor("rope_freqs.weight", {2}, kF32, 0).Data(8, '\x41'),
                 {"rope_freqs.weight", "other than llama3"}},
        BadModel{"RopeFactorsOfAnotherSize",
                 GgufBytes(Llama()).Tensor("rope_freqs.weight", {3}, kF32, 0).Data(12),
                 {"rope_freqs.weight", "2 values"}},
        BadModel{"Split", GgufBytes(Llama()).Number("split.count", 3), {"split.count", "--merge"}},
        BadModel{"HeadsDoNotDivide",
                 GgufBytes(Llama()).Number("llama.attention.head_count_kv", 3),
                 {"num_key_value_heads"}}),
    [](const auto& test) { return test.param.name; });

TEST_F(Folder, AFolderWithAGgufFileNeedsNoConfig) {
  Write("model.gguf", Llama().File());
  const auto plan = PlanFromFolder(path_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->spec.architecture, "llama");
  EXPECT_EQ(plan->spec.kv_heads, 2);
  EXPECT_EQ(plan->spec.vocabulary, 4);
  EXPECT_TRUE(plan->spec.tied_head);
}

TEST_F(Folder, NeutralKeysAreFineAndThoseThatNothingReadsAreNamed) {
  Write("model.gguf", Llama()
                          .Flag("llama.attention.causal", true)
                          .Number("llama.attention.sliding_window", 1u << 30)
                          .Float("llama.residual_scale", 1)
                          .Float("llama.attention.temperature_scale", 0.1F)
                          .File());
  const auto plan = PlanFromFolder(path_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->warnings,
              ElementsAre("1 key of model.gguf is not used: llama.attention.temperature_scale"));
}

// A config.json beside the weights does not hide what they say.
TEST_F(Folder, WeightsThatLookAheadAreRefusedBesideAConfig) {
  Write("model.gguf", Llama().Flag("llama.attention.causal", false).File());
  Write("config.json", "{}");
  ExpectRefusal(Checkpoint::Open(path_).status(), {"llama.attention.causal"});
}

TEST_F(Folder, HeadersThatTakeTenfoldTheirSizeInMemoryAreRefused) {
  const std::vector<uint8_t> flags(1u << 22);
  Write("model.gguf", Llama()
                          .Array<uint8_t>("a", GgufField::kU8, flags)
                          .Array<uint8_t>("b", GgufField::kU8, flags)
                          .File());
  ExpectRefusal(GgufFile::Open(path_ / "model.gguf").status(), {"key b", "over 4194304 items"});
}

TEST_F(Folder, SafetensorsBesideAGgufFileAreWhatIsLoaded) {
  Write("model.gguf", "not read");
  Write("model.safetensors", GgufBytes::Text("{}"));
  EXPECT_TRUE(Checkpoint::Open(path_).ok());
}

TEST_F(Folder, SeveralGgufFilesAreRefusedByName) {
  Write("b.gguf", Llama().File());
  Write("a.gguf", Llama().File());
  for (const absl::Status& status :
       {Checkpoint::Open(path_).status(), PlanFromFolder(path_).status(),
        ReadTokenizerFiles(path_).status()}) {
    ExpectRefusal(status, {"a.gguf, b.gguf", "leave one"});
  }
}

TEST_F(Folder, ASplitGgufModelIsRefusedWithTheCure) {
  Write("m-00001-of-00002.gguf", Llama().File());
  ExpectRefusal(Checkpoint::Open(path_).status(), {"m-00001-of-00002.gguf", "llama-gguf-split"});
}

TEST_F(Folder, RowsThatMakeNoEvenHeadsAreRefused) {
  Write("model.gguf", Llama().Tensor("blk.0.attn_q.weight", {8, 6}, kF32, 0).Data(192).File());
  ExpectRefusal(Checkpoint::Open(path_).status(), {"blk.0.attn_q.weight", "6 rows", "2 heads"});
}

TEST_F(Folder, TwoNamesOfOneTensorAreRefused) {
  Write("model.gguf", Llama()
                          .Tensor("output_norm.weight", {8}, kF32, 0)
                          .Tensor("model.norm.weight", {8}, kF32, 32)
                          .Data(64)
                          .File());
  ExpectRefusal(Checkpoint::Open(path_).status(), {"output_norm.weight", "model.norm.weight"});
}

// Of a mixture whose experts' gates and up projections make one tensor of the checkpoint.
GgufBytes GraniteMoe() {
  GgufBytes bytes;
  bytes.String("general.architecture", "granitemoe")
      .Number("granitemoe.attention.head_count", 2)
      .Number("granitemoe.expert_count", 2);
  return bytes;
}

TEST_F(Folder, TensorsThatDoNotMakeOneTogetherAreRefused) {
  const std::string gate = "blk.0.ffn_gate_exps.weight", up = "blk.0.ffn_up_exps.weight";
  const auto open = [this](const GgufBytes& bytes) {
    return GgufSource::Open(Write("model.gguf", bytes.File())).status();
  };
  ExpectRefusal(open(GraniteMoe().Tensor(gate, {4, 2, 2}, kF32, 0).Data(64)),
                {gate, "is there without the one that belongs to it"});
  ExpectRefusal(
      open(GraniteMoe().Tensor(gate, {4, 2, 2}, kF32, 0).Tensor(up, {4, 2, 1}, kF32, 64).Data(96)),
      {"differs in shape from the one that belongs to it"});
  ExpectRefusal(open(GraniteMoe().Tensor(gate, {8}, kF32, 0).Tensor(up, {8}, kF32, 32).Data(64)),
                {"has 1 axes, not 2 or 3"});
}

TEST_F(Folder, KeysAndValuesThatDifferInRankAreRefused) {
  GgufBytes bytes;
  bytes.String("general.architecture", "deepseek2")
      .Number("deepseek2.expert_count", 2)
      .Tensor("blk.0.attn_k_b.weight", {2, 4, 2}, kF32, 0)
      .Tensor("blk.0.attn_v_b.weight", {8, 1, 2}, kF32, 64)
      .Data(128);
  ExpectRefusal(GgufSource::Open(Write("model.gguf", bytes.File())).status(),
                {"does not fit the one that belongs to it, by heads and rank"});
}

TEST_F(Folder, ReadingAnyRangeGivesThatPartOfTheWhole) {
  std::string data;
  for (int i = 0; i < 8 * 8; ++i) data += GgufBytes::Raw(static_cast<float>(i));
  const auto source = GgufSource::Open(Write(
      "model.gguf", Llama().Tensor("blk.0.attn_q.weight", {8, 8}, kF32, 0).Data(data).File()));
  ASSERT_TRUE(source.ok()) << source.status();
  const std::string name = "model.layers.0.self_attn.q_proj.weight";
  std::string whole(256, '\0');
  ASSERT_TRUE(source->Read(name, 0, 256, whole.data()).ok());
  for (int64_t begin = 0; begin < 256; begin += 5) {
    for (int64_t bytes = 0; begin + bytes <= 256; bytes += 7) {
      std::string part(static_cast<size_t>(bytes), '\0');
      ASSERT_TRUE(source->Read(name, begin, bytes, part.data()).ok());
      ASSERT_EQ(part, whole.substr(static_cast<size_t>(begin), static_cast<size_t>(bytes)));
    }
  }
  EXPECT_FALSE(source->Read(name, 1, 256, whole.data()).ok());
  EXPECT_FALSE(source->Read(name, -1, 1, whole.data()).ok());
}

GgufBytes WithTokens(const std::string& model, const std::string& pre = "gpt-2") {
  GgufBytes bytes = Llama();
  bytes.String("tokenizer.ggml.model", model).Strings("tokenizer.ggml.tokens", {"a", "b", "ab"});
  if (!pre.empty()) bytes.String("tokenizer.ggml.pre", pre);
  return bytes;
}

class BadTokenizers : public Folder, public ::testing::WithParamInterface<BadModel> {};

TEST_P(BadTokenizers, AreRefusedByName) {
  Write("model.gguf", GetParam().bytes.File());
  ExpectRefusal(ReadTokenizerFiles(path_).status(), GetParam().parts);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadTokenizers,
    ::testing::Values(
        BadModel{"NoModel", Llama(), {"tokenizer.ggml.model is missing"}},
        BadModel{"UnknownModel", WithTokens("rwkv"), {"is rwkv", "gpt2, llama"}},
        BadModel{"UnknownPreTokenizer",
                 WithTokens("gpt2", "kimi-k2"),
                 {"is kimi-k2", "smollm", "qwen2", "tekken", "tokenizer.json"}},
        BadModel{"NoPreTokenizer",
                 WithTokens("gpt2", ""),
                 {"tokenizer.ggml.pre is missing", "tokenizer.json"}},
        BadModel{"BosWithoutAnId",
                 WithTokens("gpt2")
                     .Strings("tokenizer.ggml.merges", {"a b"})
                     .Flag("tokenizer.ggml.add_bos_token", true),
                 {"add_bos_token is true", "no tokenizer.ggml.bos_token_id"}},
        BadModel{"NoMerges", WithTokens("gpt2"), {"tokenizer.ggml.merges is missing"}},
        BadModel{"MergeOfOne",
                 WithTokens("gpt2").Strings("tokenizer.ggml.merges", {"ab"}),
                 {"tokenizer.ggml.merges item 0 is not a pair"}},
        BadModel{"MergeOfThree",
                 WithTokens("gpt2").Strings("tokenizer.ggml.merges", {"a b a"}),
                 {"item 0 is not a pair"}},
        BadModel{"MergeOfNoTokens",
                 WithTokens("gpt2").Strings("tokenizer.ggml.merges", {"b a"}),
                 {"item 0 names ba"}},
        BadModel{"IdPastTokens",
                 WithTokens("gpt2")
                     .Strings("tokenizer.ggml.merges", {})
                     .Number("tokenizer.ggml.bos_token_id", 3),
                 {"bos_token_id is 3", "3 tokens"}},
        BadModel{
            "FewerTypes",
            WithTokens("gpt2").Array<int32_t>("tokenizer.ggml.token_type", GgufField::kI32, {1}),
            {"tokenizer.ggml.token_type holds 1 types of 3 tokens"}},
        BadModel{"TokenTwice",
                 Llama()
                     .String("tokenizer.ggml.model", "gpt2")
                     .String("tokenizer.ggml.pre", "gpt-2")
                     .Strings("tokenizer.ggml.tokens", {"a", "a"}),
                 {"one token twice, as 0 and 1"}},
        BadModel{"NoTokens",
                 Llama()
                     .String("tokenizer.ggml.model", "gpt2")
                     .String("tokenizer.ggml.pre", "gpt-2")
                     .Strings("tokenizer.ggml.tokens", {}),
                 {"tokenizer.ggml.tokens is empty"}},
        BadModel{"NoScores", WithTokens("llama"), {"tokenizer.ggml.scores is missing"}},
        BadModel{
            "ScoreNotANumber",
            WithTokens("llama").Array<float>("tokenizer.ggml.scores", GgufField::kF32, {0, NAN, 0}),
            {"tokenizer.ggml.scores holds NaN"}},
        BadModel{"TokensTooLong",
                 Llama()
                     .String("tokenizer.ggml.model", "llama")
                     .Strings("tokenizer.ggml.tokens", {std::string(50000, 'a')})
                     .Array<float>("tokenizer.ggml.scores", GgufField::kF32, {0}),
                 {"tokenizer.ggml.tokens holds tokens too long"}},
        BadModel{"FewerScores",
                 WithTokens("llama").Array<float>("tokenizer.ggml.scores", GgufField::kF32, {0}),
                 {"holds 1 scores of 3 tokens"}},
        BadModel{"TemplateNotText",
                 WithTokens("gpt2")
                     .Strings("tokenizer.ggml.merges", {"a b"})
                     .Number("tokenizer.chat_template", 1),
                 {"tokenizer.chat_template is not a string"}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sinkd

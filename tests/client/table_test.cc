// Tables, the width of text, and tensors as groups.
#include "client/cli/output/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/output/tensor_groups.h"
#include "client/cli/terminal/text_width.h"

namespace sinkd::cli {
namespace {

using ::testing::ElementsAre;

TEST(TextWidth, FoldsLinesAtBlanks) {
  EXPECT_EQ(FoldLines("one two three\n  four five six\nseven", 11),
            "one two\n  three\n  four five\n    six\nseven");
  EXPECT_EQ(FoldLines("short\n\n", 5), "short\n\n");
  EXPECT_EQ(FoldLines("\x1b[1mone two\x1b[0m", 7), "\x1b[1mone two\x1b[0m");
  EXPECT_EQ(FoldLines("\x1b[1mone two\x1b[0m x", 8), "\x1b[1mone two\x1b[0m\n  x");
  EXPECT_EQ(FoldLines("unbreakable", 4), "unbreakable");
}

TEST(TextWidth, CountsColumnsAsATerminalDoes) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("漢字"), 4);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);
  EXPECT_EQ(DisplayWidth("é"), 1);
  EXPECT_EQ(ShortenToWidth("漢字漢字", 5), "漢字…");
  EXPECT_EQ(QuoteToken(" a\n\"\\\x1b\u200b"), "\" a\\n\\\"\\\\\\x1b\\u{200b}\"");
  EXPECT_LE(DisplayWidth(QuoteToken(std::string(100'000, 'x'))), 24);
}

TEST(Table, AlignsWideText) {
  Table table({{"token", Align::kLeft}, {"n"}});
  table.AddRow({"漢字", "1"});
  table.AddRow({"abcdef", "20"});
  EXPECT_EQ(table.Render(false, 0),
            "token    n\n"
            "漢字     1\n"
            "abcdef  20\n");
}

TEST(TextWidth, WrapsAtBlanksThenAtJointsThenAnywhere) {
  EXPECT_THAT(WrapToWidth("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapToWidth("one two", 80), ElementsAre("one two"));
  EXPECT_THAT(WrapToWidth("", 5), ElementsAre(""));
  EXPECT_THAT(WrapToWidth("model.layers.norm", 13), ElementsAre("model.layers", ".norm"));
  EXPECT_THAT(WrapToWidth("R1-Distill-Qwen-7B", 12), ElementsAre("R1-Distill-", "Qwen-7B"));
  EXPECT_THAT(WrapToWidth("a abcdefgh", 4), ElementsAre("a", "abcd", "efgh"));
  EXPECT_THAT(WrapToWidth("漢字漢", 4), ElementsAre("漢字", "漢"));
  EXPECT_THAT(WrapToWidth("漢", 1), ElementsAre("漢")) << "a character that cannot fit still shows";
}

TEST(Table, WrapsOnlyWhenItMustAndOnlyWhereItMay) {
  Table table({{"name", Align::kLeft},
               {"wide", Align::kLeft, /*wraps=*/true},
               {"short", Align::kLeft, /*wraps=*/true},
               {"n"}});
  table.AddRow({"first-name", "one two three four five six", "a b c", "12"});
  EXPECT_EQ(table.Render(false, 0, 80), table.Render(false, 0));
  EXPECT_EQ(table.Render(false, 0, 40),
            "name        wide               short   n\n"
            "first-name  one two three      a b c  12\n"
            "            four five six\n");
}

TEST(Table, LeavesOutBarsWhereThereIsNoRoomForThem) {
  Table table({{"n"}, Bars(), {"m"}});
  table.AddRow({"1", "########", "2"});
  EXPECT_EQ(table.Render(false, 0, 13), "n  m\n1  2\n");
  EXPECT_THAT(table.Render(false, 0, 14), ::testing::HasSubstr("########"));
}

TEST(Table, ContinuesBelowWhereARowIsTooLong) {
  Table table({{""}, {"key", Align::kLeft}, {"first"}, {"second"}, {"third"}});
  table.AddRow({"*", "a", "1", "2", "3"});
  table.AddRow({"", "b", "4", "5", "6"});
  EXPECT_EQ(table.Render(false, 1, 22),
            "    key  first  second\n"
            " *  a        1       2\n"
            "    b        4       5\n"
            "    key  third\n"
            " *  a        3\n"
            "    b        6\n");
}

TEST(TensorGroups, NamesBlocksAndExperts) {
  EXPECT_EQ(TensorPattern("model.layers.12.mlp.experts.7.w1.weight"),
            "model.layers.{block}.mlp.experts.{expert}.w1.weight");
  EXPECT_EQ(TensorPattern("h.0.attn.c_attn.bias"), "h.{block}.attn.c_attn.bias");
  EXPECT_EQ(TensorPattern("model.embed_tokens.weight"), "model.embed_tokens.weight");
  EXPECT_EQ(TensorPattern("a.1.b.2"), "a.{block}.b.2");
  EXPECT_EQ(TensorPattern(""), "");
}

TEST(TensorGroups, KeepTensorsApartThatDifferInMoreThanTheirBlock) {
  google::protobuf::RepeatedPtrField<sinks::v1::PlannedTensor> tensors;
  const auto add = [&](const char* name, int64_t rows, const char* type) {
    sinks::v1::PlannedTensor& tensor = *tensors.Add();
    tensor.set_name(name);
    tensor.add_shape(rows);
    tensor.set_stored_type(type);
    tensor.set_stored_bytes(10);
  };
  add("l.0.w", 2, "F32");
  add("l.1.w", 2, "F32");
  add("l.2.w", 3, "F32");
  add("l.3.w", 2, "F16");
  const std::vector<TensorGroup> groups = GroupTensors(tensors);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].count, 2);
  EXPECT_EQ(groups[0].bytes, 20);
  EXPECT_EQ(groups[1].shape, "[3]");
  EXPECT_EQ(groups[2].type, "F16");
}

}  // namespace
}  // namespace sinkd::cli

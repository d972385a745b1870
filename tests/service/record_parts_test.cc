#include "server/service/analyze/record_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_catalog.h"

namespace sinkd {
namespace {

v1::SampleRecord RecordWithSinks(int count) {
  v1::SampleRecord record;
  record.set_sample_index(7);
  record.set_sample_id("seven");
  record.set_layers(6);
  record.set_positions(1000);
  record.mutable_primary()->add_layers(1);
  for (int i = 0; i < count; ++i) {
    v1::Sink& sink = *record.add_sinks();
    sink.set_position(i + 1);
    sink.set_token_text(" the");
    for (int j = 0; j < 50; ++j) sink.add_score_curve(0.5F);
  }
  return record;
}

TEST(RecordParts, ASmallRecordIsOneMessage) {
  const v1::SampleRecord record = RecordWithSinks(2);
  const std::vector<v1::SampleRecord> parts = SplitRecord(record);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].SerializeAsString(), record.SerializeAsString());
}

TEST(RecordParts, WhatIsNotASinkComesOnceWithTheFirstPart) {
  v1::SampleRecord record = RecordWithSinks(100);
  record.add_learned_sink_mass(0.125F);
  record.mutable_portrait()->add_token_texts("a");
  const std::vector<v1::SampleRecord> parts = SplitRecord(record, 4096);
  ASSERT_GT(parts.size(), 1u);
  EXPECT_THAT(parts[0].learned_sink_mass(), ::testing::ElementsAre(0.125F));
  EXPECT_THAT(parts[0].portrait().token_texts(), ::testing::ElementsAre("a"));
  for (size_t i = 1; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].learned_sink_mass_size(), 0);
    EXPECT_FALSE(parts[i].has_portrait() || parts[i].has_primary());
  }
}

TEST(RecordParts, ALargeRecordComesInPartsThatJoinToTheWhole) {
  constexpr size_t kLimit = 4096;
  const v1::SampleRecord record = RecordWithSinks(100);
  const std::vector<v1::SampleRecord> parts = SplitRecord(record, kLimit);
  ASSERT_GT(parts.size(), 3u);
  v1::SampleRecord joined = parts[0];
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_LE(parts[i].ByteSizeLong(), kLimit);
    EXPECT_EQ(parts[i].continued(), i + 1 < parts.size());
    EXPECT_EQ(parts[i].sample_index(), 7);
    EXPECT_GT(parts[i].sinks_size(), 0);
    if (i > 0) joined.mutable_sinks()->MergeFrom(parts[i].sinks());
  }
  joined.clear_continued();
  EXPECT_EQ(joined.SerializeAsString(), record.SerializeAsString());
}

TEST(RecordParts, APartHoldsAtLeastOneSink) {
  EXPECT_EQ(SplitRecord(RecordWithSinks(3), 1).size(), 3u);
}

TEST(RecordParts, ChunksOfAlphaStayUnderTheLimit) {
  EXPECT_EQ(HeadsPerChunk(1000, 64 + 8000), 2);
  EXPECT_EQ(HeadsPerChunk(10000000, 1 << 20), 1);
  const Trace trace = testing::MakeTrace(TokenIds(100, 1), {});
  const v1::AlphaChunk chunk = EncodeAlpha({}, trace, 3, 5, 1, 1);
  EXPECT_EQ(chunk.sample_index(), 3);
  EXPECT_EQ(chunk.block(), 5);
  EXPECT_EQ(chunk.first_head(), 1);
  EXPECT_EQ(chunk.heads(), 1);
  EXPECT_EQ(chunk.positions(), 100);
  ASSERT_EQ(chunk.values_size(), 100);
  // Even attention: alpha[T-1] = A[T-1, T-1] = 1 / T.
  EXPECT_FLOAT_EQ(chunk.values(99), 0.01F);
}

}  // namespace
}  // namespace sinkd

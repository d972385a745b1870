#include "server/service/runs/decode_record.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "error_details.h"
#include "server/base/status.h"
#include "server/service/analyze/codec_record.h"

namespace sinkd {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Sets every field of a message, those of messages in it too, each to another value; `left_out` are
// names of fields that stay absent.
class Filler {
 public:
  void Fill(Message& message, const std::vector<std::string>& left_out) {
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor& field = *message.GetDescriptor()->field(i);
      if (std::find(left_out.begin(), left_out.end(), field.name()) != left_out.end()) continue;
      const int count = field.is_repeated() ? kRepeats : 1;
      for (int j = 0; j < count; ++j) Set(message, field, left_out);
    }
  }

  static constexpr int kRepeats = 2;

 private:
  void Set(Message& message, const FieldDescriptor& field,
           const std::vector<std::string>& left_out) {
    const google::protobuf::Reflection& access = *message.GetReflection();
    const bool repeated = field.is_repeated();
    ++next_;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return repeated ? access.AddInt32(&message, &field, next_)
                        : access.SetInt32(&message, &field, next_);
      case FieldDescriptor::CPPTYPE_INT64:
        return repeated ? access.AddInt64(&message, &field, next_)
                        : access.SetInt64(&message, &field, next_);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return access.SetDouble(&message, &field, next_ + 0.1);
      case FieldDescriptor::CPPTYPE_FLOAT:
        return access.AddFloat(&message, &field, static_cast<float>(next_) + 0.1F);
      case FieldDescriptor::CPPTYPE_BOOL:
        return access.SetBool(&message, &field, true);
      case FieldDescriptor::CPPTYPE_STRING:
        return repeated ? access.AddString(&message, &field, "text " + std::to_string(next_))
                        : access.SetString(&message, &field, "text " + std::to_string(next_));
      case FieldDescriptor::CPPTYPE_ENUM:
        return access.SetEnumValue(&message, &field, 2);
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Fill(repeated ? *access.AddMessage(&message, &field)
                             : *access.MutableMessage(&message, &field),
                    left_out);
      default:
        FAIL() << "the test fills no field like " << field.full_name();
    }
  }

  int32_t next_ = 0;
};

// Every field there is set, but for `continued`, which a whole record never has; then what must fit
// together is made to.
sinks::v1::SampleRecord FullRecord() {
  sinks::v1::SampleRecord record;
  Filler().Fill(record, {"continued"});
  record.set_layers(Filler::kRepeats);
  record.set_positions(1000);
  record.set_window_start(0);
  record.set_window_end(2);
  for (sinks::v1::Sink* sink :
       {record.mutable_primary(), record.mutable_sinks(0), record.mutable_sinks(1)}) {
    sink->set_l_start(1);
    sink->set_lifetime(1);
    for (int i = 0; i < sink->layers_size(); ++i) sink->set_layers(i, i);
  }
  record.mutable_sink_rate()->set_cells(4096);
  record.mutable_sink_rate()->set_undefined(1);
  record.mutable_portrait()->set_columns(1);
  record.mutable_portrait()->clear_token_texts();
  for (int i = 0; i < 1000; ++i) record.mutable_portrait()->add_token_texts("t");
  return record;
}

TEST(DecodeRecord, NoFieldOfARecordIsLost) {
  const sinks::v1::SampleRecord record = FullRecord();
  const absl::StatusOr<SampleRecord> decoded = DecodeRecord(record);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  const sinks::v1::SampleRecord encoded = EncodeRecord(*decoded, SIZE_MAX).front();
  google::protobuf::util::MessageDifferencer differ;
  std::string difference;
  differ.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differ.Compare(record, encoded)) << difference;
}

// What is wrong with a record, and what its error names.
struct BadRecord {
  const char* name;
  void (*spoil)(sinks::v1::SampleRecord& record);
  const char* told;
};

class BadRecordTest : public ::testing::TestWithParam<BadRecord> {};

TEST_P(BadRecordTest, IsRefused) {
  sinks::v1::SampleRecord record = FullRecord();
  GetParam().spoil(record);
  const absl::Status status = DecodeRecord(record).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(GetErrorDetail(status)->reason, "INCONSISTENT_RECORD");
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    Records, BadRecordTest,
    ::testing::Values(
        BadRecord{"PartOfOne", [](auto& record) { record.set_continued(true); }, "continued"},
        BadRecord{"Empty", [](auto& record) { record.Clear(); }, "sink.kind"},
        BadRecord{"UnknownKind", [](auto& record) { record.mutable_sinks(1)->clear_kind(); },
                  "sink.kind"},
        BadRecord{"WindowPastTheLayers", [](auto& record) { record.set_window_end(3); }, "window"},
        BadRecord{"SinkOutsideTheSample",
                  [](auto& record) { record.mutable_sinks(0)->set_position(1000); },
                  "outside the sample"},
        BadRecord{"LevelOutsideTheLayers",
                  [](auto& record) { record.mutable_sinks(0)->set_lifetime(2); }, "level"},
        BadRecord{"NotFinite",
                  [](auto& record) { record.mutable_primary()->set_mlp_norm(INFINITY); },
                  "not finite"},
        BadRecord{"MarginNotFinite", [](auto& record) { record.mutable_sinks(0)->set_margin(NAN); },
                  "not finite"},
        BadRecord{"ScoreCurveNotFinite",
                  [](auto& record) { record.mutable_sinks(0)->set_score_curve(1, NAN); },
                  "not finite"},
        BadRecord{"ScoreCurveTooLong",
                  [](auto& record) { record.mutable_primary()->add_score_curve(0.5F); },
                  "score curve"},
        BadRecord{"LayerOutsideTheLayers",
                  [](auto& record) { record.mutable_sinks(0)->set_layers(0, 7); }, "layer outside"},
        BadRecord{"CurveTooShort",
                  [](auto& record) { record.mutable_compensation()->mutable_rest()->RemoveLast(); },
                  "compensation curve"},
        BadRecord{"MoreHitsThanCells",
                  [](auto& record) { record.mutable_sink_rate()->set_hits(0, 4097); }, "hits"},
        BadRecord{"MoreUndefinedThanPositions",
                  [](auto& record) { record.mutable_sink_rate()->set_undefined(3); }, "undefined"},
        BadRecord{"TooManyPositions", [](auto& record) { record.set_positions(int64_t{1} << 40); },
                  "positions"}),
    [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace sinkd

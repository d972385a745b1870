#include "server/analysis/record_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"

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

void MakeSinkFit(v1::Sink& sink) {
  sink.set_l_start(0);
  sink.set_lifetime(Filler::kRepeats);
  for (int i = 0; i < Filler::kRepeats; ++i) {
    sink.set_layers(i, i);
    sink.set_score_curve(i, 0.25F + 0.125F * static_cast<float>(i));
  }
  sink.set_score(0.5 / sink.position());
  sink.set_score_maximum(0.75 / sink.position());
}

// Every field there is set, but for `continued`, which a whole record never has; then what must fit
// together is made to.
v1::SampleRecord FullRecord() {
  v1::SampleRecord record;
  Filler().Fill(record, {"continued"});
  record.set_layers(Filler::kRepeats);
  record.set_positions(1000);
  record.set_window_start(0);
  record.set_window_end(2);
  record.mutable_primary()->set_position(2);
  record.mutable_primary()->set_kind(v1::SINK_KIND_PRIMARY);
  record.mutable_sinks(0)->set_position(20);
  record.mutable_sinks(1)->set_position(36);
  MakeSinkFit(*record.mutable_primary());
  for (v1::Sink& sink : *record.mutable_sinks()) MakeSinkFit(sink);
  for (int i = 0; i < Filler::kRepeats; ++i) {
    record.mutable_compensation()->set_primary(i, 0.5F + 0.25F * static_cast<float>(i));
    record.set_learned_sink_mass(i, 0.125F + 0.25F * static_cast<float>(i));
    record.set_attention_blocks(i, i);
    record.mutable_gates()->set_all(i, 0.5F);
    record.mutable_gates()->set_primary(i, 0.25F);
    record.mutable_gates()->set_secondary(i, 0.75F + 0.125F * static_cast<float>(i));
  }
  v1::HeadMeans& heads = *record.mutable_heads();
  for (auto* values :
       {heads.mutable_entropy(), heads.mutable_max_weight(), heads.mutable_primary(),
        heads.mutable_rest(), heads.mutable_learned_sink(), heads.mutable_previous_token(),
        heads.mutable_duplicate_token(), heads.mutable_first_token()}) {
    for (float& value : *values) value = 0.5F;
  }
  record.mutable_outliers()->set_count(Filler::kRepeats);
  for (v1::OutlierToken& token : *record.mutable_outliers()->mutable_largest()) {
    token.set_ratio(64 + token.ratio());
  }
  record.mutable_sink_rate()->set_cells(4096);
  record.mutable_sink_rate()->set_undefined(1);
  record.mutable_portrait()->set_columns(1);
  record.mutable_portrait()->clear_token_texts();
  for (int i = 0; i < 1000; ++i) record.mutable_portrait()->add_token_texts("t");
  return record;
}

TEST(RecordCheck, TakesARecordWithEveryField) {
  const absl::Status status = CheckRecord(FullRecord());
  EXPECT_TRUE(status.ok()) << status;
}

// What is wrong with a record, and the field, value and limit that its error names.
struct BadRecord {
  const char* name;
  void (*spoil)(v1::SampleRecord& record);
  const char* field;
  const char* value;
  const char* limit;
};

class BadRecordTest : public ::testing::TestWithParam<BadRecord> {};

TEST_P(BadRecordTest, IsRefused) {
  v1::SampleRecord record = FullRecord();
  GetParam().spoil(record);
  const absl::Status status = CheckRecord(record);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  const ErrorDetail detail = GetErrorDetail(status).value_or(ErrorDetail());
  EXPECT_EQ(detail.reason, "INCONSISTENT_RECORD");
  EXPECT_EQ(detail.subject, GetParam().field);
  EXPECT_EQ(detail.value, GetParam().value);
  EXPECT_EQ(detail.fix, GetParam().limit);
  EXPECT_THAT(std::string(status.message()),
              ::testing::AllOf(::testing::HasSubstr(GetParam().field),
                               ::testing::HasSubstr(GetParam().value),
                               ::testing::HasSubstr(GetParam().limit)));
}

constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
constexpr char kAscend[] = "layers ascend, from 0 to 1";
constexpr char kShare[] = "it is from 0 to 1";
constexpr char kFinite[] = "it is finite, from 0 on";

INSTANTIATE_TEST_SUITE_P(
    Counts, BadRecordTest,
    ::testing::Values(
        BadRecord{"PartOfOne", [](auto& record) { record.set_continued(true); }, "continued",
                  "true", "join the parts of a record"},
        BadRecord{"NegativeIndex", [](auto& record) { record.set_sample_index(-1); },
                  "sample_index", "-1", "it is from 0 to 9223372036854775807"},
        BadRecord{"LongId", [](auto& record) { record.set_sample_id(std::string(257, 'i')); },
                  "sample_id", "257 values", "it has from 0 to 256"},
        BadRecord{"OneLayer", [](auto& record) { record.set_layers(1); }, "layers", "1",
                  "it is from 2 to 65536"},
        BadRecord{"NegativeLayers", [](auto& record) { record.set_layers(kLeast); }, "layers",
                  "-2147483648", "it is from 2 to 65536"},
        BadRecord{"TooManyLayers", [](auto& record) { record.set_layers(kMost); }, "layers",
                  "2147483647", "it is from 2 to 65536"},
        BadRecord{"NoPositions", [](auto& record) { record.set_positions(0); }, "positions", "0",
                  "it is from 1 to 2147483647"},
        BadRecord{"TooManyPositions", [](auto& record) { record.set_positions(int64_t{1} << 40); },
                  "positions", "1099511627776", "it is from 1 to 2147483647"},
        BadRecord{"NegativePrompt", [](auto& record) { record.set_prompt_tokens(-5); },
                  "prompt_tokens", "-5", "it is from 0 to 1000"},
        BadRecord{"LongPrompt", [](auto& record) { record.set_prompt_tokens(1001); },
                  "prompt_tokens", "1001", "it is from 0 to 1000"},
        BadRecord{"NegativeResponse", [](auto& record) { record.set_response_tokens(-1); },
                  "response_tokens", "-1", "it is from 0 to 1000"},
        BadRecord{"LongResponse",
                  [](auto& record) { record.set_response_tokens(int64_t{1} << 40); },
                  "response_tokens", "1099511627776", "it is from 0 to 1000"},
        BadRecord{"WindowPastTheLayers", [](auto& record) { record.set_window_end(3); },
                  "window_end", "3", "it is from 2 to 2"},
        BadRecord{"WindowBeforeItsSink", [](auto& record) { record.set_window_start(-1); },
                  "window_start", "-1", "it is from 0 to 0"}),
    [](const auto& which) { return std::string(which.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Sinks, BadRecordTest,
    ::testing::Values(
        BadRecord{"Empty", [](auto& record) { record.Clear(); }, "layers", "0",
                  "it is from 2 to 65536"},
        BadRecord{
            "UnknownKind",
            [](auto& record) { record.mutable_primary()->set_kind(static_cast<v1::SinkKind>(4)); },
            "primary.kind", "4", "it is SINK_KIND_PRIMARY, SINK_KIND_SECONDARY or SINK_KIND_NOISE"},
        BadRecord{"NoKind", [](auto& record) { record.mutable_sinks(1)->clear_kind(); },
                  "sinks[1].kind", "0",
                  "it is SINK_KIND_PRIMARY, SINK_KIND_SECONDARY or SINK_KIND_NOISE"},
        BadRecord{"PrimaryOfAnotherKind",
                  [](auto& record) { record.mutable_primary()->set_kind(v1::SINK_KIND_NOISE); },
                  "primary.kind", "another kind", "it is SINK_KIND_PRIMARY"},
        BadRecord{"PrimaryThatIsNoCandidate", [](auto& record) { record.set_chat_rendered(false); },
                  "primary.position", "2", "it is from 0 to 1"},
        BadRecord{"SinkOutsideTheSample",
                  [](auto& record) { record.mutable_sinks(1)->set_position(1000); },
                  "sinks[1].position", "1000", "it is from 21 to 999"},
        BadRecord{"SinkBeforeThePrimary",
                  [](auto& record) { record.mutable_sinks(0)->set_position(2); },
                  "sinks[0].position", "2", "it is from 3 to 999"},
        BadRecord{"SinksOutOfOrder",
                  [](auto& record) { record.mutable_sinks()->SwapElements(0, 1); },
                  "sinks[1].position", "20", "it is from 37 to 999"},
        BadRecord{"NegativeToken", [](auto& record) { record.mutable_sinks(0)->set_token_id(-1); },
                  "sinks[0].token_id", "-1", "it is from 0 to 2147483647"},
        BadRecord{"StartThatOverflows",
                  [](auto& record) {
                    record.mutable_sinks(0)->set_l_start(kMost);
                    record.mutable_sinks(0)->set_lifetime(3);
                  },
                  "sinks[0].l_start", "2147483647", "it is from 0 to 0"},
        BadRecord{"NegativeStart", [](auto& record) { record.mutable_primary()->set_l_start(-1); },
                  "primary.l_start", "-1", "it is from 0 to 0"},
        BadRecord{"LifetimeThatOverflows",
                  [](auto& record) { record.mutable_sinks(1)->set_lifetime(kMost); },
                  "sinks[1].lifetime", "2147483647", "it is from 2 to 2"},
        BadRecord{"NoLifetime", [](auto& record) { record.mutable_sinks(1)->set_lifetime(0); },
                  "sinks[1].lifetime", "0", "it is from 2 to 2"},
        BadRecord{"NoLayers", [](auto& record) { record.mutable_sinks(0)->clear_layers(); },
                  "sinks[0].layers", "0 values", "it has from 1 to 2"},
        BadRecord{"LayerOutsideTheLayers",
                  [](auto& record) { record.mutable_sinks(0)->set_layers(1, 7); },
                  "sinks[0].layers[1]", "7", kAscend},
        BadRecord{"NegativeLayer",
                  [](auto& record) { record.mutable_primary()->set_layers(0, kLeast); },
                  "primary.layers[0]", "-2147483648", kAscend},
        BadRecord{"LayersOutOfOrder",
                  [](auto& record) {
                    record.mutable_sinks(0)->set_layers(0, 1);
                    record.mutable_sinks(0)->set_layers(1, 0);
                  },
                  "sinks[0].layers[1]", "0", kAscend},
        BadRecord{"ALayerTwice", [](auto& record) { record.mutable_sinks(0)->set_layers(1, 0); },
                  "sinks[0].layers[1]", "0", kAscend},
        BadRecord{"GapThatIsNone",
                  [](auto& record) { record.mutable_sinks(0)->set_contiguous(false); },
                  "sinks[0].contiguous", "false", "its layers have no gap"}),
    [](const auto& which) { return std::string(which.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadRecordTest,
    ::testing::Values(
        BadRecord{"InfiniteNorm",
                  [](auto& record) { record.mutable_primary()->set_mlp_norm(INFINITY); },
                  "primary.mlp_norm", "inf", kFinite},
        BadRecord{"NegativeNorm", [](auto& record) { record.mutable_sinks(0)->set_state_norm(-2); },
                  "sinks[0].state_norm", "-2", kFinite},
        BadRecord{"MarginThatIsNoNumber",
                  [](auto& record) { record.mutable_sinks(0)->set_margin(NAN); }, "sinks[0].margin",
                  "nan", kFinite},
        BadRecord{"ScoreOverOne", [](auto& record) { record.mutable_sinks(0)->set_score(1.5); },
                  "sinks[0].score", "1.5", kShare},
        BadRecord{"NegativeScore",
                  [](auto& record) { record.mutable_primary()->set_score_maximum(-0.5); },
                  "primary.score_maximum", "-0.5", kShare},
        BadRecord{"CurveThatIsNoNumber",
                  [](auto& record) { record.mutable_sinks(0)->set_score_curve(1, NAN); },
                  "sinks[0].score_curve[1]", "nan", kShare},
        BadRecord{"ScoreCurveTooLong",
                  [](auto& record) { record.mutable_primary()->add_score_curve(0.5F); },
                  "primary.score_curve", "3 values", "it has 2"},
        BadRecord{"CurveTooShort",
                  [](auto& record) { record.mutable_compensation()->mutable_rest()->RemoveLast(); },
                  "compensation.rest", "1 values", "it has 2"},
        BadRecord{"NegativeCompensation",
                  [](auto& record) { record.mutable_compensation()->set_secondary(0, -1); },
                  "compensation.secondary[0]", "-1", kFinite},
        BadRecord{"PrimaryOverOne",
                  [](auto& record) { record.mutable_compensation()->set_primary(1, 2); },
                  "compensation.primary[1]", "2", kShare},
        BadRecord{"LearnedSinksTooShort",
                  [](auto& record) { record.mutable_learned_sink_mass()->RemoveLast(); },
                  "learned_sink_mass", "1 values", "it has 2"},
        BadRecord{"AttentionBlocksNotAscending",
                  [](auto& record) { record.set_attention_blocks(1, 0); }, "attention_blocks[1]",
                  "0", "blocks ascend, from 0 to 1"},
        BadRecord{"CurveOfOtherBlocksThanHaveAttention",
                  [](auto& record) { record.mutable_attention_blocks()->RemoveLast(); },
                  "primary.score_curve", "2 values", "it has 1"},
        BadRecord{"GateOverOne", [](auto& record) { record.mutable_gates()->set_primary(1, 2); },
                  "gates.primary[1]", "2", kShare},
        BadRecord{"GatesTooShort",
                  [](auto& record) { record.mutable_gates()->mutable_all()->RemoveLast(); },
                  "gates.all", "1 values", "it has 2"},
        BadRecord{"HeadOverOne", [](auto& record) { record.mutable_heads()->set_primary(1, 2); },
                  "heads.primary[1]", "2", kShare},
        BadRecord{"HeadsTooShort",
                  [](auto& record) { record.mutable_heads()->mutable_rest()->RemoveLast(); },
                  "heads.rest", "1 values", "it has 2"},
        BadRecord{"HeadsWithoutEntropy",
                  [](auto& record) { record.mutable_heads()->clear_entropy(); }, "heads.max_weight",
                  "2 values", "it has 0"},
        BadRecord{"HeadsOfHalfASecondary",
                  [](auto& record) { record.mutable_heads()->clear_secondary(); },
                  "heads.secondary_value", "2 values", "it has 0"},
        BadRecord{"NegativeCells", [](auto& record) { record.mutable_sink_rate()->set_cells(-1); },
                  "sink_rate.cells", "-1", "it is from 0 to 2147483647"},
        BadRecord{"MoreHitsThanCells",
                  [](auto& record) { record.mutable_sink_rate()->set_hits(0, 4097); },
                  "sink_rate.hits[0]", "4097", "it is from 0 to 4096"},
        BadRecord{"MoreHitsThanPositions",
                  [](auto& record) {
                    for (int i = 0; i < 1000; ++i) record.mutable_sink_rate()->add_hits(0);
                  },
                  "sink_rate.hits", "1002 values", "it has from 0 to 1000"},
        BadRecord{"MoreUndefinedThanPositions",
                  [](auto& record) { record.mutable_sink_rate()->set_undefined(3); },
                  "sink_rate.undefined", "3", "it is from 0 to 2"},
        BadRecord{"MoreOutliersThanPositions",
                  [](auto& record) { record.mutable_outliers()->set_count(1001); },
                  "outliers.count", "1001", "it is from 0 to 1000"},
        BadRecord{"OutliersThatAreNotListed",
                  [](auto& record) { record.mutable_outliers()->set_count(500); },
                  "outliers.largest", "2 values", "it has 100"},
        BadRecord{
            "OutlierThatIsNone",
            [](auto& record) { record.mutable_outliers()->mutable_largest(1)->set_ratio(63.5); },
            "outliers.largest[1].ratio", "63.5", "it is finite, from 64 on"},
        BadRecord{"TooManyColumns",
                  [](auto& record) { record.mutable_portrait()->set_columns(1001); },
                  "portrait.columns", "1001", "it is from 1 to 1000"},
        BadRecord{"TextsOfAnotherSample",
                  [](auto& record) { record.mutable_portrait()->add_token_texts("t"); },
                  "portrait.token_texts", "1001 values", "it has 1000"}),
    [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace sinkd

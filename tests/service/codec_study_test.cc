// Codecs of studies: that no field of the protocol is forgotten, by reflection.
#include <functional>
#include <map>
#include <set>

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/service/studies/codec_site.h"
#include "server/service/studies/codec_study_report.h"
#include "server/service/studies/codec_study_request.h"

namespace sinkd {
namespace {

namespace v1 = sinks::v1;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::util::MessageDifferencer;

// Gives every field outside a oneof a value of its own, two to a repeated one.
class Filler {
 public:
  void Fill(Message& message) {
    const auto* type = message.GetDescriptor();
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor* field = type->field(i);
      if (field->real_containing_oneof() == nullptr) FillField(message, field);
    }
  }

  void FillField(Message& message, const FieldDescriptor* field) {
    const auto* access = message.GetReflection();
    for (int n = 0; n < (field->is_repeated() ? 2 : 1); ++n) {
      const bool many = field->is_repeated();
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_INT32:
          many ? access->AddInt32(&message, field, ++next_)
               : access->SetInt32(&message, field, ++next_);
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          many ? access->AddInt64(&message, field, ++next_)
               : access->SetInt64(&message, field, ++next_);
          break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          many ? access->AddDouble(&message, field, ++next_)
               : access->SetDouble(&message, field, ++next_);
          break;
        case FieldDescriptor::CPPTYPE_BOOL:
          access->SetBool(&message, field, true);
          break;
        case FieldDescriptor::CPPTYPE_STRING:
          access->SetString(&message, field, std::to_string(++next_));
          break;
        case FieldDescriptor::CPPTYPE_ENUM:
          // The last values, and different ones.
          many ? access->AddEnumValue(&message, field, field->enum_type()->value_count() - 1 - n)
               : access->SetEnumValue(&message, field, field->enum_type()->value_count() - 1);
          break;
        case FieldDescriptor::CPPTYPE_MESSAGE:
          Fill(many ? *access->AddMessage(&message, field)
                    : *access->MutableMessage(&message, field));
          break;
        default:
          FAIL() << field->full_name() << " is of a type that the test does not know";
      }
    }
  }

 private:
  int next_ = 0;
};

const FieldDescriptor* StudyField(int index) {
  return v1::RunStudyRequest::descriptor()->FindOneofByName("study")->field(index);
}

int StudyCount() {
  return v1::RunStudyRequest::descriptor()->FindOneofByName("study")->field_count();
}

TEST(CodecStudyRequest, EveryParameterOfEveryStudyComesBack) {
  for (int study = 0; study < StudyCount(); ++study) {
    v1::RunStudyRequest request;
    Filler filler;
    filler.Fill(request);
    filler.FillField(request, StudyField(study));
    request.set_model("models/a");
    request.set_template_date("2024-02-29");
    request.set_run("runs/a");
    // A preset comes back as the values it stands for.
    request.mutable_detection()->clear_preset();
    const absl::StatusOr<StudyRequest> decoded = DecodeStudyRequest(request, "2025-01-01");
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    request.clear_samples();
    std::string difference;
    MessageDifferencer differencer;
    differencer.ReportDifferencesToString(&difference);
    EXPECT_TRUE(differencer.Compare(request, EncodeStudyRequest(*decoded))) << difference;
  }
}

TEST(CodecStudyRequest, FillsInTheDefaultsThatTheProtoPromises) {
  v1::RunStudyRequest request;
  request.set_model("models/a");
  request.add_samples();
  const auto echo = [&] { return EncodeStudyRequest(*DecodeStudyRequest(request, "2025-01-01")); };
  request.mutable_pca();
  EXPECT_EQ(echo().seed(), 0);
  EXPECT_TRUE(echo().has_seed());
  EXPECT_EQ(echo().template_date(), "2025-01-01");
  EXPECT_EQ(echo().targets().ShortDebugString(), "kinds: SINK_KIND_SECONDARY limit: 2000");
  EXPECT_EQ(echo().pca().ShortDebugString(),
            "components: 10 scales: 0.5 scales: 1 scales: 2 effective_cosine: 0.98");
  request.mutable_cluster();
  EXPECT_EQ(echo().cluster().ShortDebugString(),
            "blocks_before: 5 sites: SITE_RESID_PRE sites: SITE_ATTN_OUT sites: SITE_MLP_IN "
            "sites: SITE_MLP_OUT separating_auc: 0.95");
  request.mutable_swap();
  EXPECT_EQ(echo().swap().ShortDebugString(),
            "sites: SITE_RESID_POST sites: SITE_ATTN_OUT sites: SITE_MLP_OUT "
            "controls_per_sample: 64 loss: false");
  request.mutable_steer();
  EXPECT_EQ(echo().steer().ShortDebugString(),
            "mode: STEER_MODE_SET cosine_threshold: 0.98 loss: true");
  request.mutable_entropy();
  EXPECT_EQ(echo().entropy().ShortDebugString(), "alpha: 1 first: 0");
  request.mutable_massive();
  EXPECT_EQ(echo().massive().ShortDebugString(), "top: 3 per_sample: false");
  request.mutable_align();
  EXPECT_EQ(echo().align().ShortDebugString(), "points: false");
  request.mutable_norms();
  EXPECT_TRUE(echo().has_norms());
}

TEST(CodecStudyRequest, RefusesAndNamesTheField) {
  const auto field = [](const std::function<void(v1::RunStudyRequest&)>& spoil) {
    v1::RunStudyRequest request;
    request.set_model("models/a");
    request.add_samples();
    request.mutable_cluster();
    spoil(request);
    const absl::Status status = DecodeStudyRequest(request, "2025-01-01").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    const std::optional<ErrorDetail> detail = GetErrorDetail(status);
    EXPECT_TRUE(detail && !detail->fix.empty());
    return detail ? detail->subject : "";
  };
  EXPECT_EQ(field([](auto& request) { request.set_model("a"); }), "model");
  EXPECT_EQ(field([](auto& request) { request.clear_samples(); }), "samples");
  EXPECT_EQ(field([](auto& request) {
              for (int i = 0; i < kMaxStudySamples; ++i) request.add_samples();
            }),
            "samples");
  EXPECT_EQ(field([](auto& request) { request.clear_study(); }), "study");
  EXPECT_EQ(field([](auto& request) { request.set_template_date("today"); }), "template_date");
  EXPECT_EQ(field([](auto& request) { request.set_time_budget_seconds(0); }),
            "time_budget_seconds");
  EXPECT_EQ(field([](auto& request) { request.set_time_budget_seconds(1e300); }),
            "time_budget_seconds");
  EXPECT_EQ(field([](auto& request) {
              request.mutable_detection()->set_kind_rule(static_cast<v1::KindRule>(9));
            }),
            "detection.kind_rule");
  EXPECT_EQ(
      field([](auto& request) { request.mutable_targets()->add_kinds(v1::SINK_KIND_UNSPECIFIED); }),
      "targets.kinds");
  EXPECT_EQ(field([](auto& request) {
              request.mutable_cluster()->add_sites(v1::SITE_GATE);
              request.mutable_cluster()->add_sites(v1::SITE_UNSPECIFIED);
            }),
            "cluster.sites[1]");
  EXPECT_EQ(field([](auto& request) {
              request.mutable_cluster()->add_tsne_sites(static_cast<v1::Site>(10));
            }),
            "cluster.tsne_sites[0]");
  EXPECT_EQ(
      field([](auto& request) { request.mutable_swap()->add_sites(static_cast<v1::Site>(-1)); }),
      "swap.sites[0]");
  EXPECT_EQ(field([](auto& request) {
              request.mutable_steer()->set_mode(static_cast<v1::SteerMode>(3));
            }),
            "steer.mode");
}

TEST(CodecSite, EverySiteOfTheProtocolComesBack) {
  google::protobuf::RepeatedField<int> sites;
  for (int value = 1; value <= v1::Site_MAX; ++value) sites.Add(value);
  const absl::StatusOr<std::vector<Site>> decoded = DecodeSites(sites, "sites");
  ASSERT_TRUE(decoded.ok());
  for (size_t i = 0; i < decoded->size(); ++i) {
    EXPECT_EQ(EncodeSite((*decoded)[i]), static_cast<int>(i) + 1);
  }
}

// Numbers of a report, each a different one.
class Numbers {
 public:
  template <typename Number = int32_t>
  Number Next() {
    return static_cast<Number>(++last_);
  }
  Estimate NextEstimate() {
    Estimate out;
    out.value = Next<double>();
    out.lower = Next<double>();
    out.upper = Next<double>();
    out.n = Next<int64_t>();
    out.undefined = std::to_string(Next());
    return out;
  }

 private:
  int last_ = 0;
};

// Checks that every field of `message` has a value, and gathers its numbers. Of a repeated message
// it is enough that each field has a value in one of them.
void ExpectAllSet(const Message& message, const std::string& path, std::multiset<double>& numbers) {
  const auto* type = message.GetDescriptor();
  const auto* access = message.GetReflection();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    const std::string name = path + "." + field->name();
    if (field->real_containing_oneof() != nullptr && !access->HasField(message, field)) continue;
    if (field->is_repeated()) {
      ASSERT_GT(access->FieldSize(message, field), 0) << name;
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      const std::unique_ptr<Message> merged(access->GetRepeatedMessage(message, field, 0).New());
      for (int n = 0; n < access->FieldSize(message, field); ++n) {
        merged->MergeFrom(access->GetRepeatedMessage(message, field, n));
      }
      ExpectAllSet(*merged, name, numbers);
      continue;
    }
    EXPECT_TRUE(access->HasField(message, field)) << name;
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        ExpectAllSet(access->GetMessage(message, field), name, numbers);
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        numbers.insert(access->GetInt32(message, field));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        numbers.insert(static_cast<double>(access->GetInt64(message, field)));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        numbers.insert(access->GetDouble(message, field));
        break;
      default:
        break;
    }
  }
}

StudyReport FullReport(Numbers& numbers) {
  StudyReport report;
  report.partial = true;
  report.partial_reason = "time";
  report.samples = numbers.Next();
  report.tokens = numbers.Next();
  report.sinks = numbers.Next();
  report.targets = numbers.Next();
  report.controls = numbers.Next();
  report.target_l_start = numbers.Next();
  report.positions.push_back({.sample_index = numbers.Next(),
                              .position = numbers.Next(),
                              .token_id = numbers.Next(),
                              .group = PositionGroup::kControl,
                              .l_start = numbers.Next(),
                              .same_token = true});
  report.seconds = numbers.Next<double>();
  return report;
}

SinkOutcome NextOutcome(Numbers& numbers) {
  return {numbers.NextEstimate(), numbers.NextEstimate(), numbers.NextEstimate(),
          numbers.NextEstimate()};
}

GroupNorms NextNorms(Numbers& n) {
  return {n.NextEstimate(), n.NextEstimate(), n.NextEstimate(),
          n.Next<double>(), n.Next<double>(), n.Next<double>()};
}

// Findings with every field set, by study.
std::vector<StudyFindings> FullFindings(Numbers& n) {
  const auto next = [&n] { return n.Next<double>(); };
  const auto direction = [&] {
    return PcaDirection{
        next(), next(), true, {{.scale = next(), .output_norm = next(), .cosine = next()}}};
  };
  const auto rows = [&n] { return StudyCost{n.Next(), n.Next()}; };
  std::vector<StudyFindings> all;
  all.emplace_back(AlignReport{.sites = {Site::kMlpIn},
                               .rows = {{Site::kMlpIn, PositionGroup::kControl, n.Next(),
                                         n.NextEstimate(), next(), next(), next()}},
                               .points = {{.index = n.Next(), .cosines = {next()}}}});
  PcaReport pca{.block = n.Next(), .rows = n.Next(), .mean_norm = next(), .undefined = "few"};
  pca.components.push_back(direction());
  pca.random.push_back(direction());
  all.emplace_back(std::move(pca));
  all.emplace_back(ClusterReport{
      .rows = {{.block = n.Next(), .adjusted_rand = next(), .silhouette = next(), .auc = next()},
               {.block = n.Next(), .undefined = "few"}},
      .decision_layers = {{Site::kMlpIn, n.Next()}},
      .decision_layer = n.Next(),
      .decision_site = Site::kMlpIn,
      .maps = {{n.Next(), Site::kMlpIn, next(), next(), {1.5F}}},
      .undefined = "few"});
  all.emplace_back(SwapReport{.rows = {{n.Next(), Site::kMlpIn, NextOutcome(n), NextOutcome(n),
                                        NextOutcome(n), n.NextEstimate(), n.NextEstimate()}},
                              .cost = rows(),
                              .samples_left_out = n.Next(),
                              .undefined = "few"});
  all.emplace_back(SteerReport{
      .block = n.Next(),
      .steered = n.Next(),
      .rows = {{next(), n.NextEstimate(), n.NextEstimate(), n.NextEstimate(), n.NextEstimate(),
                n.NextEstimate(), n.NextEstimate(), n.NextEstimate()}},
      .cost = rows(),
      .undefined = "few"});
  all.emplace_back(
      EntropyReport{.rows = {{n.Next(), n.NextEstimate(), n.NextEstimate(), n.NextEstimate()}}});
  all.emplace_back(NormsReport{.rows = {{n.Next(), NextNorms(n), NextNorms(n), NextNorms(n)}}});
  all.emplace_back(
      MassiveReport{.rows = {{n.Next(),
                              n.Next(),
                              {{n.Next(), n.Next(), n.Next(), "token", n.Next(), next()}},
                              next(),
                              next()}}});
  return all;
}

TEST(CodecStudyReport, NoFieldOfAnyStudyIsForgottenOrFilledTwice) {
  Numbers numbers;
  const std::vector<StudyFindings> findings = FullFindings(numbers);
  ASSERT_EQ(static_cast<int>(findings.size()), StudyCount());
  for (size_t study = 0; study < findings.size(); ++study) {
    StudyReport report = FullReport(numbers);
    report.findings = findings[study];
    const v1::StudyReport encoded = EncodeStudyReport(report);
    const auto* type = encoded.GetDescriptor()->FindOneofByName("report");
    ASSERT_TRUE(encoded.GetReflection()->HasField(encoded, type->field(static_cast<int>(study))));
    std::multiset<double> values;
    ExpectAllSet(encoded, type->field(static_cast<int>(study))->name(), values);
    const std::set<double> different(values.begin(), values.end());
    EXPECT_EQ(different.size(), values.size()) << encoded.ShortDebugString();
  }
}

TEST(CodecStudyReport, PutsNumbersWhereTheirNamesSay) {
  StudyReport report;
  SwapRow row{.block = 3, .site = Site::kAttnOut};
  row.targets.suppressed = {.value = 0.75, .lower = 0.5, .upper = 0.9, .n = 4};
  row.untouched.norm_change = {.value = -2, .n = 1};
  row.control_swap.lifetime_change = {.n = 0, .undefined = "no targets"};
  row.loss_change = {.value = 0.25, .n = 2};
  report.findings = SwapReport{.rows = {row}, .cost = {10, 40}, .samples_left_out = 1};
  const v1::SwapReport swap = EncodeStudyReport(report).swap();
  const v1::SwapRow& encoded = swap.rows(0);
  EXPECT_EQ(encoded.site(), v1::SITE_ATTN_OUT);
  EXPECT_EQ(encoded.targets().suppressed().value(), 0.75);
  EXPECT_EQ(encoded.targets().suppressed().lower(), 0.5);
  EXPECT_EQ(encoded.targets().suppressed().upper(), 0.9);
  EXPECT_EQ(encoded.untouched().norm_change().value(), -2);
  EXPECT_FALSE(encoded.untouched().norm_change().has_lower());
  EXPECT_FALSE(encoded.control_swap().lifetime_change().has_value());
  EXPECT_EQ(encoded.control_swap().lifetime_change().undefined(), "no targets");
  EXPECT_EQ(encoded.loss_change().value(), 0.25);
  EXPECT_FALSE(encoded.has_control_loss_change());
  EXPECT_EQ(swap.cost().naive_block_rows(), 40);
}

TEST(CodecStudyReport, LeavesOutWhatIsUndefined) {
  StudyReport report;
  report.findings =
      AlignReport{.rows = {{.site = Site::kMlpIn, .cosine = {.n = 0, .undefined = "no targets"}}}};
  const v1::AlignRow row = EncodeStudyReport(report).align().rows(0);
  EXPECT_FALSE(row.has_minimum() || row.has_median() || row.has_maximum() || row.has_l_start());
  EXPECT_EQ(row.cosine().undefined(), "no targets");
  report.findings = ClusterReport{.rows = {{.block = 2, .undefined = "one group only"}}};
  EXPECT_FALSE(EncodeStudyReport(report).cluster().rows(0).has_auc());
  EXPECT_FALSE(EncodeStudyReport(report).has_partial_reason());
}

}  // namespace
}  // namespace sinkd

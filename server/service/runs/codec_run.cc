#include "server/service/runs/codec_run.h"

#include <algorithm>
#include <utility>

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <google/protobuf/util/time_util.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/service/analyze/stream_spec.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/models/codec_model.h"
#include "server/store/run_rules.h"

namespace sinkd {
namespace {

using google::protobuf::util::TimeUtil;

constexpr std::string_view kPrefix = "runs/";
constexpr int64_t kMicroseconds = 1'000'000;
constexpr int64_t kNanosecondsEach = 1000;

std::string SpecBytes(v1::AnalysisSpec spec) {
  spec.clear_run_id();
  spec.clear_run_labels();
  spec.clear_keep_run_open();
  spec.clear_no_summary();
  spec.clear_replace();
  spec.clear_fail_fast();
  spec.clear_lane();
  spec.clear_summary_only();
  if (spec.has_scores()) spec.mutable_scores()->set_all_positions(false);
  if (spec.has_regression()) spec.mutable_regression()->set_points(false);
  return CanonicalBytes(spec);
}

absl::StatusOr<StoreTime> DecodeTime(const google::protobuf::Timestamp& time,
                                     const std::string& field) {
  const bool valid = time.seconds() >= TimeUtil::kTimestampMinSeconds &&
                     time.seconds() <= TimeUtil::kTimestampMaxSeconds && time.nanos() >= 0 &&
                     time.nanos() < kMicroseconds * kNanosecondsEach;
  if (!valid) {
    return InvalidArgument(absl::StrCat(field, " is not a time"),
                           {.reason = "INVALID_TIME",
                            .subject = field,
                            .value = absl::StrCat(time.seconds(), "s ", time.nanos(), "ns"),
                            .fix = "use a google.protobuf.Timestamp from year 1 to 9999"});
  }
  // Rounded up: a run of this very microsecond is not before the time.
  const int64_t part = (time.nanos() + kNanosecondsEach - 1) / kNanosecondsEach;
  return StoreTime(std::chrono::microseconds(time.seconds() * kMicroseconds + part));
}

}  // namespace

std::string RunName(std::string_view id) {
  return StrCat(kPrefix, id);
}

absl::StatusOr<std::string> DecodeRunName(const std::string& name, const std::string& field) {
  if (name.starts_with(kPrefix) && IsRunId(std::string_view(name).substr(kPrefix.size()))) {
    return name.substr(kPrefix.size());
  }
  return InvalidArgument(absl::StrCat(field, " names no run"),
                         {.reason = "INVALID_RUN_NAME",
                          .subject = field,
                          .value = Shorten(name),
                          .fix = "write runs/{id}, as ListRuns does"});
}

NewRun MakeNewRun(const v1::AnalysisSpec& spec) {
  return {.id = spec.run_id(),
          .model_id = std::string(ModelIdOf(spec)),
          .labels = {spec.run_labels().begin(), spec.run_labels().end()},
          .spec = SpecBytes(spec)};
}

absl::StatusOr<v1::AnalysisSpec> ReadRunSpec(const Run& run) {
  v1::AnalysisSpec spec;
  if (!spec.ParseFromString(run.spec)) {
    return Internal(absl::StrCat("the spec of runs/", run.id, " in the store cannot be read"));
  }
  const std::string date = spec.template_date();
  return CompleteSpec(std::move(spec), date);
}

void EncodeTime(StoreTime time, google::protobuf::Timestamp* out) {
  const int64_t all = time.time_since_epoch().count();
  int64_t part = all % kMicroseconds;
  if (part < 0) part += kMicroseconds;
  out->set_seconds((all - part) / kMicroseconds);
  out->set_nanos(static_cast<int32_t>(part * kNanosecondsEach));
}

absl::StatusOr<sinks::v1::Run> EncodeRun(const Run& run) {
  sinks::v1::Run out;
  SINKD_ASSIGN_OR_RETURN(*out.mutable_spec(), ReadRunSpec(run));
  out.set_name(RunName(run.id));
  out.set_model(absl::StrCat("models/", run.model_id));
  out.mutable_labels()->insert(run.labels.begin(), run.labels.end());
  out.set_state(run.state == RunState::kOpen ? sinks::v1::RUN_STATE_OPEN
                                             : sinks::v1::RUN_STATE_COMPLETE);
  EncodeTime(run.created, out.mutable_create_time());
  EncodeTime(run.updated, out.mutable_update_time());
  out.set_samples(run.counts.samples);
  out.set_failed_samples(run.counts.failed_samples);
  out.set_tokens(run.counts.tokens);
  out.set_primary_sinks(run.counts.sinks.primary);
  out.set_secondary_sinks(run.counts.sinks.secondary);
  out.set_noise_sinks(run.counts.sinks.noise);
  out.set_size_bytes(run.counts.bytes);
  out.set_samples_without_digest(run.counts.samples_without_digest);
  out.mutable_arithmetics()->Assign(run.counts.arithmetics.begin(), run.counts.arithmetics.end());
  return out;
}

absl::StatusOr<ListOptions> DecodeFilter(const sinks::v1::RunFilter& filter) {
  ListOptions out;
  if (filter.has_model()) {
    SINKD_ASSIGN_OR_RETURN(out.model_id, DecodeModelName(filter.model(), "filter.model"));
  }
  out.labels = {filter.labels().begin(), filter.labels().end()};
  SINKD_RETURN_IF_ERROR(CheckLabels(out.labels));
  if (filter.has_created_from()) {
    SINKD_ASSIGN_OR_RETURN(out.created_from,
                           DecodeTime(filter.created_from(), "filter.created_from"));
  }
  if (filter.has_created_before()) {
    SINKD_ASSIGN_OR_RETURN(out.created_before,
                           DecodeTime(filter.created_before(), "filter.created_before"));
  }
  return out;
}

absl::StatusOr<ListOptions> DecodeList(const sinks::v1::ListRunsRequest& request) {
  SINKD_ASSIGN_OR_RETURN(ListOptions out, DecodeFilter(request.filter()));
  if (request.has_page_size()) out.page_size = request.page_size();
  out.page_token = request.page_token();
  return out;
}

bool Meets(const Run& run, const ListOptions& filter) {
  if (filter.model_id && run.model_id != *filter.model_id) return false;
  if (filter.created_from && run.created < *filter.created_from) return false;
  if (filter.created_before && run.created >= *filter.created_before) return false;
  return std::all_of(filter.labels.begin(), filter.labels.end(), [&run](const auto& label) {
    const auto found = run.labels.find(label.first);
    return found != run.labels.end() && found->second == label.second;
  });
}

std::string WriteSequenceToken(int64_t after) {
  return absl::StrCat(after);
}

absl::StatusOr<int64_t> ReadSequenceToken(const std::string& token) {
  if (token.empty()) return 0;
  int64_t after = 0;
  if (absl::SimpleAtoi(token, &after) && after >= 0) return after;
  return InvalidArgument("page_token is invalid",
                         {.reason = "PAGE_TOKEN_INVALID",
                          .subject = "page_token",
                          .value = Shorten(token),
                          .fix = "use next_page_token of the previous page"});
}

}  // namespace sinkd

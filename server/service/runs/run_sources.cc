#include "server/service/runs/run_sources.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/status.h"
#include "server/service/analyze/record_parts.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/run_fold.h"
#include "server/service/runs/run_groups.h"
#include "server/service/runs/run_series.h"
#include "server/service/runs/stored_record.h"
#include "server/store/run_rules.h"

namespace sinkd {
namespace {

using Message = std::optional<grpc::ByteBuffer>;

constexpr int kMaxListedRuns = 1000;
constexpr int kMaxRecordsPerPage = 1000;
constexpr size_t kFramingBytes = 16;  // of a record in its message

class RecordSource final : public ReplySource {
 public:
  RecordSource(RunStore& store, std::string run_id, const sinks::v1::StreamRecordsRequest& request)
      : store_(store), run_id_(std::move(run_id)), left_(std::numeric_limits<int64_t>::max()) {
    if (request.has_limit()) left_ = request.limit();
    page_.after = request.after_sequence();
    page_.max_bytes = kMaxChunkBytes;
    page_.with_input = request.include_token_ids();
  }

  absl::StatusOr<Message> Next(const std::stop_token& stop) override {
    if (stop.stop_requested()) return Cancelled("the records are not wanted any more");
    if (read_.empty()) SINKD_RETURN_IF_ERROR(ReadPage());
    if (read_.empty()) return std::nullopt;
    sinks::v1::StreamRecordsResponse response;
    size_t bytes = 0;
    while (!read_.empty()) {
      SINKD_ASSIGN_OR_RETURN(sinks::v1::StoredRecord record, EncodeStored(read_.front()));
      const size_t more = record.ByteSizeLong() + kFramingBytes;
      if (bytes > 0 && bytes + more > kMaxChunkBytes) break;
      bytes += more;
      *response.add_records() = std::move(record);
      read_.pop_front();
    }
    return SerializeMessage(response);
  }

 private:
  absl::Status ReadPage() {
    if (left_ == 0) return absl::OkStatus();
    page_.limit = static_cast<int>(std::min<int64_t>(left_, kMaxRecordsPerPage));
    SINKD_ASSIGN_OR_RETURN(std::vector<Record> records, store_.ReadRecords(run_id_, page_));
    if (records.empty()) return absl::OkStatus();
    page_.after = records.back().sequence;
    left_ -= static_cast<int64_t>(records.size());
    read_.assign(std::make_move_iterator(records.begin()), std::make_move_iterator(records.end()));
    return absl::OkStatus();
  }

  RunStore& store_;
  const std::string run_id_;
  ReadOptions page_;
  int64_t left_;
  std::deque<Record> read_;
};

class SummarySource final : public ReplySource {
 public:
  SummarySource(RunStore& store, const LevelFilter& level, std::vector<RunGroup> groups,
                bool with_series)
      : store_(store), level_(level), groups_(std::move(groups)), with_series_(with_series) {}

  absl::StatusOr<Message> Next(const std::stop_token& stop) override {
    if (next_ == groups_.size()) return std::nullopt;
    const RunGroup& group = groups_[next_++];
    sinks::v1::SummarizeRunsResponse response;
    SINKD_RETURN_IF_ERROR(Fold(group, stop, response));
    response.set_group(group.name);
    const size_t listed = std::min<size_t>(group.runs.size(), kMaxListedRuns);
    for (size_t i = 0; i < listed; ++i) response.add_runs(RunName(group.runs[i]));
    response.set_run_count(static_cast<int64_t>(group.runs.size()));
    for (const auto& difference : group.differences) *response.add_differences() = difference;
    if (with_series_) AddToSeries(group, response);
    return SerializeMessage(response);
  }

 private:
  absl::Status Fold(const RunGroup& group, const std::stop_token& stop,
                    sinks::v1::SummarizeRunsResponse& response) {
    RunFold fold(group.spec, level_);
    for (const std::string& run : group.runs) {
      const absl::Status added = fold.Add(store_, run, stop);
      const std::optional<ErrorDetail> why = GetErrorDetail(added);
      if (group.common && why && why->reason == "LAYERS_DIFFER") {
        response.mutable_summary()->set_samples(group.samples);
        response.mutable_summary()->set_positions(group.tokens);
        response.mutable_summary()->add_notes(
            "the models' numbers of layers differ, so that only samples and tokens are summed up");
        return absl::OkStatus();
      }
      SINKD_RETURN_IF_ERROR(added);
    }
    *response.mutable_summary() = fold.Report();
    *response.mutable_spec() = fold.spec();
    const bool other_sinks = std::any_of(
        group.differences.begin(), group.differences.end(),
        [](const auto& difference) { return difference.field().starts_with("detection."); });
    if (other_sinks) response.mutable_spec()->clear_detection();
    return absl::OkStatus();
  }

  void AddToSeries(const RunGroup& group, sinks::v1::SummarizeRunsResponse& response) {
    response.set_label_value(group.number);
    series_.Add(group.number, response.summary());
    if (next_ == groups_.size()) series_.Report(response);
  }

  RunStore& store_;
  const LevelFilter level_;
  const std::vector<RunGroup> groups_;
  const bool with_series_;
  size_t next_ = 0;
  RunSeries series_;
};

class StudySource final : public ReplySource {
 public:
  StudySource(RunStore& store, std::string run_id) : store_(store), run_id_(std::move(run_id)) {}

  absl::StatusOr<Message> Next(const std::stop_token& stop) override {
    if (stop.stop_requested()) return Cancelled("the studies are not wanted any more");
    SINKD_ASSIGN_OR_RETURN(const std::optional<StoredStudy> study,
                           store_.NextStudy(run_id_, after_));
    if (!study) return std::nullopt;
    after_ = study->number;
    sinks::v1::ListStudiesResponse response;
    EncodeTime(study->created, response.mutable_create_time());
    if (!response.mutable_request()->ParseFromString(study->request) ||
        !response.mutable_report()->ParseFromString(study->report)) {
      return Internal("a study in the store cannot be read");
    }
    return SerializeMessage(response);
  }

 private:
  RunStore& store_;
  const std::string run_id_;
  int64_t after_ = 0;
};

class BackupSource final : public ReplySource {
 public:
  explicit BackupSource(RunStore& store) : store_(store) {}

  absl::StatusOr<Message> Next(const std::stop_token& stop) override {
    sinks::v1::BackUpStoreResponse response;
    if (!copy_) {
      SINKD_ASSIGN_OR_RETURN(copy_, store_.Copy(stop));
      response.set_total_bytes(copy_->bytes());
    }
    if (stop.stop_requested()) return Cancelled("the backup is not wanted any more");
    SINKD_ASSIGN_OR_RETURN(*response.mutable_data(), copy_->Next(kMaxChunkBytes));
    if (response.data().empty()) return std::nullopt;
    return SerializeMessage(response);
  }

 private:
  RunStore& store_;
  std::unique_ptr<StoreCopy> copy_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ReplySource>> SendBackup(
    RunStore& store, const sinks::v1::BackUpStoreRequest& /*request*/) {
  return std::make_unique<BackupSource>(store);
}

absl::StatusOr<std::unique_ptr<ReplySource>> SendRecords(
    RunStore& store, const sinks::v1::StreamRecordsRequest& request) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  SINKD_ASSIGN_OR_RETURN(std::string id, DecodeRunName(request.name(), "name"));
  SINKD_RETURN_IF_ERROR(CheckRange("after_sequence", request.after_sequence(), 0, kAny));
  if (request.has_limit()) SINKD_RETURN_IF_ERROR(CheckRange("limit", request.limit(), 0, kAny));
  SINKD_RETURN_IF_ERROR(store.Get(id).status());
  return std::make_unique<RecordSource>(store, std::move(id), request);
}

absl::StatusOr<std::unique_ptr<ReplySource>> SendSummaries(
    RunStore& store, const sinks::v1::SummarizeRunsRequest& request) {
  LevelFilter level;
  if (request.has_l_start()) level.l_start = request.l_start();
  if (request.has_lifetime()) level.lifetime = request.lifetime();
  SINKD_ASSIGN_OR_RETURN(std::vector<RunGroup> groups, FindRunGroups(store, request));
  return std::make_unique<SummarySource>(store, level, std::move(groups),
                                         request.order() == sinks::v1::SUMMARY_ORDER_NUMERIC);
}

absl::StatusOr<std::unique_ptr<ReplySource>> SendStudies(
    RunStore& store, const sinks::v1::ListStudiesRequest& request) {
  SINKD_ASSIGN_OR_RETURN(std::string id, DecodeRunName(request.name(), "name"));
  SINKD_RETURN_IF_ERROR(store.Get(id).status());
  return std::make_unique<StudySource>(store, std::move(id));
}

}  // namespace sinkd

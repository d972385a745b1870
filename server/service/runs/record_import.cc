#include "server/service/runs/record_import.h"

#include <utility>

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "server/analysis/catalog.h"
#include "server/analysis/record_check.h"
#include "server/base/status.h"
#include "server/service/analyze/stream_spec.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/stored_record.h"

namespace sinkd {
namespace {

absl::Status OutOfPlace(const std::string& what, const std::string& fix) {
  return InvalidArgument(
      what, {.reason = "IMPORT_MESSAGE_OUT_OF_PLACE", .subject = "message", .fix = fix});
}

absl::Status BadHeader(const std::string& field, const std::string& what, const std::string& value,
                       const std::string& fix) {
  return InvalidArgument(
      absl::StrCat("header.", field, what),
      {.reason = "BAD_IMPORT_HEADER", .subject = "header." + field, .value = value, .fix = fix});
}

// Published rows contain only sinks, so no analysis may need another part of records.
absl::Status CheckTold(const v1::AnalysisSpec& spec) {
  std::vector<std::string> more;
  for (const AnalysisEntry& analysis : Analyses()) {
    if (analysis.fill && Requested(analysis, spec)) more.emplace_back(analysis.name);
  }
  if (more.empty()) return absl::OkStatus();
  const std::string names = absl::StrJoin(more, ", ");
  return BadHeader("spec", " asks for analyses that published rows have no data for", names,
                   absl::StrCat("leave out ", names));
}

absl::Status RecordDiffers(const std::string& key) {
  return MakeError(absl::StatusCode::kAlreadyExists, "the run holds another record under this key",
                   {.reason = "SAMPLE_DIFFERS",
                    .subject = "records.sample_key",
                    .value = Shorten(key),
                    .fix = "import it into another run, or let it take the other's place (replace; "
                           "--replace)"});
}

}  // namespace

RecordImport::RecordImport(RunStore& store, std::string template_date)
    : store_(store), template_date_(std::move(template_date)) {}

absl::Status RecordImport::Take(sinks::v1::ImportRecordsRequest&& request) {
  if (request.has_header()) {
    if (!run_id_.empty()) return OutOfPlace("a second header came", "send one header, first");
    SINKD_RETURN_IF_ERROR(TakeHeader(request.header()));
  }
  if (run_id_.empty()) {
    return OutOfPlace("records came before the header", "send a message with header first");
  }
  if (published_ ? request.records_size() > 0 : request.lines_size() > 0) {
    return OutOfPlace("a message holds what header.format does not announce",
                      "send lines of published rows, or records of records");
  }
  absl::StatusOr<std::vector<Record>> records =
      published_ ? DecodeLines(request) : DecodeRecords(request);
  if (!records.ok()) return records.status();
  return Append(*records);
}

absl::Status RecordImport::TakeHeader(const sinks::v1::ImportHeader& header) {
  SINKD_ASSIGN_OR_RETURN(v1::AnalysisSpec spec, CompleteSpec(header.spec(), template_date_));
  if (header.run_id().empty()) {
    return BadHeader("run_id", " is missing", "", "name the run that the records go to");
  }
  spec.set_run_id(header.run_id());
  *spec.mutable_run_labels() = header.labels();
  options_.replace = header.replace();
  row_format_.kind_rule = spec.detection().kind_rule();
  SINKD_RETURN_IF_ERROR(TakeFormat(header));
  if (published_) SINKD_RETURN_IF_ERROR(CheckTold(spec));
  return OpenRun(MakeNewRun(spec));
}

absl::Status RecordImport::TakeFormat(const sinks::v1::ImportHeader& header) {
  switch (static_cast<int>(header.format())) {
    case sinks::v1::IMPORT_FORMAT_UNSPECIFIED:
    case sinks::v1::IMPORT_FORMAT_RECORDS:
      return absl::OkStatus();
    case sinks::v1::IMPORT_FORMAT_PUBLISHED_ROWS:
      published_ = true;
      row_format_.layers = layers_ = header.layers();
      if (header.layers() >= 2 && header.layers() <= kMostLayers) return absl::OkStatus();
      return BadHeader(
          "layers", absl::StrCat(" is the number of the model's blocks, from 2 to ", kMostLayers),
          absl::StrCat(header.layers()),
          "say how many blocks the model has, since published rows do not");
    default:
      return BadHeader("format", " is not a value this server knows",
                       absl::StrCat(static_cast<int>(header.format())),
                       "use records or published rows");
  }
}

absl::Status RecordImport::OpenRun(const NewRun& run) {
  SINKD_ASSIGN_OR_RETURN(const Run opened, store_.Create(run, IfExists::kContinue));
  if (opened.state != RunState::kOpen) {
    SINKD_RETURN_IF_ERROR(store_.SetState(opened.id, RunState::kOpen));
  }
  run_id_ = opened.id;
  SINKD_ASSIGN_OR_RETURN(const std::vector<Record> held, store_.ReadRecords(run_id_, {}));
  for (const Record& record : held) {
    if (record.failed) continue;
    v1::SampleRecord first;
    SINKD_RETURN_IF_ERROR(ReadPayload(record, first));
    return CheckLayers(first.layers());
  }
  return absl::OkStatus();
}

absl::Status RecordImport::CheckLayers(int64_t layers) {
  if (layers_ == 0) layers_ = layers;
  if (layers_ == layers) return absl::OkStatus();
  return InvalidArgument(
      absl::StrCat("the records of a run are of one model, and this one has ", layers_, " blocks"),
      {.reason = "LAYERS_DIFFER",
       .subject = "record.layers",
       .value = absl::StrCat(layers),
       .fix = "import the records of another model into another run"});
}

absl::StatusOr<std::vector<Record>> RecordImport::DecodeRecords(
    sinks::v1::ImportRecordsRequest& request) {
  std::vector<Record> records;
  for (sinks::v1::StoredRecord& proto : *request.mutable_records()) {
    if (proto.has_record()) SINKD_RETURN_IF_ERROR(CheckLayers(proto.record().layers()));
    SINKD_ASSIGN_OR_RETURN(records.emplace_back(), DecodeStored(std::move(proto)));
  }
  return records;
}

absl::StatusOr<std::vector<Record>> RecordImport::DecodeLines(
    const sinks::v1::ImportRecordsRequest& request) {
  std::vector<Record> records;
  for (const std::string& line : request.lines()) {
    ++lines_;
    if (line.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    SINKD_ASSIGN_OR_RETURN(records.emplace_back(), DecodeLine(line));
  }
  return records;
}

absl::StatusOr<Record> RecordImport::DecodeLine(const std::string& line) {
  SINKD_ASSIGN_OR_RETURN(const PublishedRow row, ParsePublishedRow(line, lines_, row_format_));
  const int64_t index = row.record.sample_index();
  // The same file gives the same keys, so that importing it again adds nothing.
  const int64_t times = ++rows_[index];
  std::string key = absl::StrCat("row-", index);
  if (times > 1) absl::StrAppend(&key, "-", times);
  return KeepRecord(std::move(key), /*input_digest=*/"", row.record);
}

absl::Status RecordImport::Append(const std::vector<Record>& records) {
  if (records.empty()) return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(const std::vector<Kept> kept, store_.Append(run_id_, records, options_));
  absl::Status differs;
  for (size_t i = 0; i < kept.size(); ++i) {
    switch (kept[i]) {
      case Kept::kAdded:
        ++imported_;
        break;
      case Kept::kReplaced:
        ++replaced_;
        break;
      case Kept::kHeld:
        ++already_there_;
        break;
      case Kept::kDiffers:
        if (differs.ok()) differs = RecordDiffers(records[i].sample_key);
        break;
    }
  }
  return differs;
}

absl::StatusOr<sinks::v1::ImportRecordsResponse> RecordImport::Finish() {
  if (run_id_.empty()) {
    return OutOfPlace("the call was closed before its header", "send a message with header first");
  }
  SINKD_RETURN_IF_ERROR(store_.SetState(run_id_, RunState::kComplete));
  SINKD_ASSIGN_OR_RETURN(const Run run, store_.Get(run_id_));
  sinks::v1::ImportRecordsResponse response;
  SINKD_ASSIGN_OR_RETURN(*response.mutable_run(), EncodeRun(run));
  response.set_imported(imported_);
  response.set_already_there(already_there_);
  response.set_replaced(replaced_);
  return response;
}

}  // namespace sinkd

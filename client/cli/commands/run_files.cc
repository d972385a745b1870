#include "client/cli/commands/run_files.h"

#include <google/protobuf/util/json_util.h>

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/input/json_cursor.h"
#include "client/cli/output/json_parts.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;
using Json = nlohmann::json;

// A message is sent when it holds this much; a larger record goes alone.
constexpr size_t kMessageBytes = size_t{1} << 20;

// The member `type` of the object that a line is, as text.
absl::StatusOr<std::string> MemberOf(std::string_view line, const char* type) {
  constexpr int kMaxDepth = 64;  // over that of any message
  // nlohmann::json takes a zero byte for the end of the text.
  const bool whole = line.find('\0') == std::string_view::npos;
  try {
    bool shallow = true;
    const Json object =
        Json::parse(line.begin(), line.end(), [&shallow](int depth, Json::parse_event_t, Json&) {
          shallow = shallow && depth <= kMaxDepth;
          return depth <= kMaxDepth;
        });
    if (whole && shallow && object.is_object() && object.contains(type)) {
      return object[type].dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  } catch (const Json::parse_error& error) {
    const size_t offset = error.byte > 0 ? error.byte - 1 : 0;
    return absl::InvalidArgumentError(fmt::format("column {}: {}", ColumnAt(line, offset),
                                                  JsonFault(line, offset, error.what())));
  }
  return absl::InvalidArgumentError(
      fmt::format("not an object with \"{}\", as `sinkctl runs export` writes it", type));
}

// The message in member `type` of a line {"type": TYPE, TYPE: ...}; what is wrong, or OK.
template <typename Message>
absl::Status ReadTyped(std::string_view line, const char* type, Message& message) {
  const absl::StatusOr<std::string> member = MemberOf(line, type);
  if (!member.ok()) return member.status();
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto read = google::protobuf::util::JsonStringToMessage(*member, &message, options);
  return read.ok() ? absl::OkStatus()
                   : absl::InvalidArgumentError(client::MakePrintable(std::string(read.message())));
}

bool IsPublished(std::string_view line) {
  return line.find("\"candidate_sinks\"") != std::string_view::npos;
}

}  // namespace

RunFileWriter::RunFileWriter(const GlobalOptions& global, Output& output)
    : format_(global.output),
      output_(output),
      csv_(fmt::format("{},model=,run=", kSinkColumns), global.csv_raw) {}

void RunFileWriter::Begin(const v1::Run& run) {
  switch (format_) {
    case OutputFormat::kJson:
      output_.Write("{\"run\":" + ToJson(run) + ",\n\"records\":[");
      break;
    case OutputFormat::kCsv:
      csv_.EndWith({run.model(), run.name()});
      output_.Write(csv_.Header());
      break;
    case OutputFormat::kTable:
    case OutputFormat::kJsonl:
      output_.Write(TypedJson("run", ToJson(run)) + '\n');
      break;
  }
}

absl::Status RunFileWriter::Add(const v1::StoredRecord& record) {
  switch (format_) {
    case OutputFormat::kJson:
      output_.Write((any_ ? ",\n  " : "\n  ") + ToJson(record));
      break;
    case OutputFormat::kCsv:
      if (record.has_record()) output_.Write(SinkRows(record.record(), csv_));
      break;
    case OutputFormat::kTable:
    case OutputFormat::kJsonl:
      output_.Write(TypedJson("storedRecord", ToJson(record)) + '\n');
      break;
  }
  any_ = true;
  return output_.reader_gone() ? absl::AbortedError("the reader is gone") : absl::OkStatus();
}

void RunFileWriter::End() {
  if (format_ == OutputFormat::kJson) output_.Write(any_ ? "\n]}\n" : "]}\n");
}

absl::StatusOr<std::unique_ptr<RunFileReader>> RunFileReader::Open(const std::string& path,
                                                                   v1::ImportHeader header,
                                                                   const StopSignal* stop) {
  absl::StatusOr<ByteStream> stream = ByteStream::Open(path, stop);
  if (!stream.ok()) return stream.status();
  return std::unique_ptr<RunFileReader>(
      new RunFileReader(InputName(path), LineReader(*std::move(stream)), std::move(header), stop));
}

RunFileReader::RunFileReader(std::string name, LineReader lines, v1::ImportHeader header,
                             const StopSignal* stop)
    : name_(std::move(name)), lines_(std::move(lines)), header_(std::move(header)), stop_(stop) {}

absl::Status RunFileReader::Bad(const Line& line, const std::string& what) const {
  return absl::InvalidArgumentError(fmt::format("{}:{}: {}", name_, line.number, what));
}

absl::StatusOr<std::optional<Line>> RunFileReader::NextLine() {
  while (true) {
    absl::StatusOr<std::optional<Line>> line = lines_.Next();
    if (stop_->stopped()) return absl::CancelledError("interrupted");
    if (!line.ok() || !line->has_value()) return line;
    if ((*line)->too_long) {
      return Bad(**line, fmt::format("the line is longer than {} bytes", kMaxLineBytes));
    }
    if ((*line)->text.find_first_not_of(" \t\r") != std::string_view::npos) return line;
  }
}

absl::StatusOr<std::optional<v1::ImportRecordsRequest>> RunFileReader::Next() {
  if (!std::exchange(begun_, true)) return MakeHeader();
  if (at_end_) return std::nullopt;
  v1::ImportRecordsRequest message;
  size_t bytes = 0;
  if (first_) {
    const Line line{.text = *first_, .number = first_number_};
    if (absl::Status status = TakeLine(line, message); !status.ok()) return status;
    first_.reset();
  }
  while (bytes < kMessageBytes) {
    const absl::StatusOr<std::optional<Line>> line = NextLine();
    if (!line.ok()) return line.status();
    at_end_ = !line->has_value();
    if (at_end_) break;
    bytes += (*line)->text.size();
    if (absl::Status status = TakeLine(**line, message); !status.ok()) return status;
  }
  return message;
}

absl::StatusOr<v1::ImportRecordsRequest> RunFileReader::MakeHeader() {
  const absl::StatusOr<std::optional<Line>> line = NextLine();
  if (!line.ok()) return line.status();
  if (!line->has_value()) {
    return absl::InvalidArgumentError(name_ + " is empty: there is nothing to import");
  }
  if (header_.format() == v1::IMPORT_FORMAT_UNSPECIFIED) {
    header_.set_format(IsPublished((*line)->text) ? v1::IMPORT_FORMAT_PUBLISHED_ROWS
                                                  : v1::IMPORT_FORMAT_RECORDS);
  }
  if (header_.format() == v1::IMPORT_FORMAT_PUBLISHED_ROWS) {
    if (!header_.spec().has_model() || !header_.has_layers()) {
      return absl::InvalidArgumentError(
          "published rows name neither their model nor its depth: give --model and --layers");
    }
    header_.mutable_spec()->mutable_levels();
    first_ = std::string((*line)->text);
    first_number_ = (*line)->number;
  } else if (absl::Status status = TakeRun(**line); !status.ok()) {
    return status;
  }
  v1::ImportRecordsRequest message;
  *message.mutable_header() = header_;
  return message;
}

// What the command line says comes before what the file says.
absl::Status RunFileReader::TakeRun(const Line& line) {
  v1::Run run;
  if (absl::Status status = ReadTyped(line.text, "run", run); !status.ok()) {
    return Bad(line, std::string(status.message()));
  }
  v1::AnalysisSpec spec = run.spec();
  spec.MergeFrom(header_.spec());
  *header_.mutable_spec() = std::move(spec);
  if (header_.labels().empty()) *header_.mutable_labels() = run.labels();
  return absl::OkStatus();
}

absl::Status RunFileReader::TakeLine(const Line& line, v1::ImportRecordsRequest& message) {
  if (header_.format() == v1::IMPORT_FORMAT_PUBLISHED_ROWS) {
    message.add_lines(std::string(line.text));
    return absl::OkStatus();
  }
  const absl::Status status = ReadTyped(line.text, "storedRecord", *message.add_records());
  return status.ok() ? status : Bad(line, std::string(status.message()));
}

}  // namespace sinkd::cli

#include "server/analysis/published_rows.h"

#include <limits>
#include <utility>

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include "server/analysis/record_check.h"
#include "server/analysis/sink_detection.h"
#include "server/base/json.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;

// Reads one row; every error names its line and field.
class RowReader {
 public:
  RowReader(int64_t line_number, const PublishedRowFormat& format)
      : line_number_(line_number), format_(format) {}

  absl::StatusOr<PublishedRow> Read(const Json& row) {
    PublishedRow result;
    SampleRecord& record = result.record;
    record.layers = format_.layers;
    SINKD_ASSIGN_OR_RETURN(record.sample_index, Integer(row, "sample_index"));
    SINKD_ASSIGN_OR_RETURN(record.prompt_tokens, Integer(row, "prompt_len"));
    SINKD_ASSIGN_OR_RETURN(record.response_tokens, Integer(row, "response_len"));
    SINKD_ASSIGN_OR_RETURN(record.positions, Integer(row, "full_text_len"));
    const auto candidates = row.find("candidate_sinks");
    if (candidates == row.end() || !candidates->is_object()) {
      return Bad("candidate_sinks", "must be an object of positions");
    }
    std::map<int32_t, Sink> sinks;  // JSON orders its keys as text
    for (const auto& [key, value] : candidates->items()) {
      SINKD_ASSIGN_OR_RETURN(Sink sink, ReadSink(key, value, record.positions, result.labels));
      if (!sinks.emplace(sink.position, std::move(sink)).second) {
        return Bad(absl::StrCat("candidate_sinks.", key), "names a position twice");
      }
    }
    SINKD_RETURN_IF_ERROR(Arrange(std::move(sinks), record));
    const absl::Status checked = CheckRecord(record);
    if (!checked.ok())
      return Bad("the row", absl::StrCat("contradicts itself: ", checked.message()));
    return result;
  }

  absl::Status Bad(const std::string& field, const std::string& what) const {
    return InvalidArgument(absl::StrCat("line ", line_number_, ": ", field, " ", what),
                           {.reason = "BAD_PUBLISHED_ROW",
                            .subject = absl::StrCat("line ", line_number_, ": ", field),
                            .fix = "give rows as the published detection files have them"});
  }

 private:
  absl::StatusOr<int64_t> Integer(const Json& object, const char* field) const {
    const auto found = object.find(field);
    if (found == object.end() || !found->is_number_integer() || *found < 0 ||
        *found > std::numeric_limits<int32_t>::max()) {
      return Bad(field, "must be an integer from 0 to 2147483647");
    }
    return found->get<int64_t>();
  }

  absl::StatusOr<Sink> ReadSink(const std::string& key, const Json& value, int64_t positions,
                                std::map<int32_t, std::string>& labels) const {
    const std::string field = absl::StrCat("candidate_sinks.", key);
    Sink sink;
    if (!absl::SimpleAtoi(key, &sink.position) || sink.position < 0 || sink.position >= positions) {
      return Bad(field, "is no position of the sample");
    }
    if (!value.is_object()) return Bad(field, "must be an object");
    SINKD_ASSIGN_OR_RETURN(const int64_t token_id, Integer(value, "token_id"));
    sink.token_id = static_cast<int32_t>(token_id);
    const auto label = value.find("sink_type");
    if (label == value.end() || !label->is_string()) {
      return Bad(absl::StrCat(field, ".sink_type"), "must be a string");
    }
    labels[sink.position] = label->get<std::string>();
    SINKD_RETURN_IF_ERROR(ReadLayers(field, value, sink));
    return sink;
  }

  absl::Status ReadLayers(const std::string& field, const Json& value, Sink& sink) const {
    const auto layers = value.find("layer");
    const std::string what =
        absl::StrCat("must be layers from 0 to ", format_.layers - 1, ", ascending");
    if (layers == value.end() || !layers->is_array() || layers->empty()) {
      return Bad(field + ".layer", what);
    }
    int64_t last = -1;
    for (const Json& layer : *layers) {
      if (!layer.is_number_integer() || layer <= last || layer >= format_.layers) {
        return Bad(field + ".layer", what);
      }
      last = layer.get<int64_t>();
      sink.layers.push_back(static_cast<int32_t>(last));
    }
    sink.level = {sink.layers.front(), static_cast<int32_t>(sink.layers.size())};
    sink.contiguous = last - sink.layers.front() + 1 == sink.level.lifetime;
    return absl::OkStatus();
  }

  // Takes position 0 out as the primary sink; the window it gives decides the kinds of the others.
  absl::Status Arrange(std::map<int32_t, Sink> sinks, SampleRecord& record) const {
    const auto primary = sinks.find(0);
    if (primary == sinks.end()) return Bad("candidate_sinks", "has no position 0");
    record.primary = std::move(primary->second);
    record.primary.kind = SinkKind::kPrimary;
    record.window_start = record.primary.layers.front();
    record.window_end = record.primary.layers.back() + 1;
    sinks.erase(primary);
    for (auto& [position, sink] : sinks) {
      sink.kind = KindOf(format_.kind_rule, sink.level, {record.window_start, record.window_end},
                         record.layers);
      record.sinks.push_back(std::move(sink));
    }
    return absl::OkStatus();
  }

  int64_t line_number_;
  PublishedRowFormat format_;
};

}  // namespace

absl::StatusOr<PublishedRow> ParsePublishedRow(std::string_view line, int64_t line_number,
                                               const PublishedRowFormat& format) {
  RowReader reader(line_number, format);
  if (format.layers < 2 || format.layers > kMostLayers) {
    return reader.Bad("the number of layers given",
                      absl::StrCat("must be from 2 to ", kMostLayers));
  }
  const absl::StatusOr<Json> row = ParseJson(line);
  if (!row.ok()) return reader.Bad("the line", std::string(row.status().message()));
  if (!row->is_object()) return reader.Bad("the line", "must be a JSON object");
  return reader.Read(*row);
}

absl::StatusOr<SinkKind> KindOfPublishedLabel(std::string_view label) {
  if (label == "bos_sink") return SinkKind::kPrimary;
  if (label == "cliff" || label == "secondary") return SinkKind::kSecondary;
  if (label == "noise") return SinkKind::kNoise;
  return InvalidArgument("unknown published sink type",
                         {.reason = "BAD_PUBLISHED_ROW",
                          .subject = "sink_type",
                          .value = std::string(label),
                          .fix = "use bos_sink, cliff, secondary or noise"});
}

}  // namespace sinkd

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
    v1::SampleRecord& record = result.record;
    SINKD_ASSIGN_OR_RETURN(const int64_t sample_index, Integer(row, "sample_index"));
    SINKD_ASSIGN_OR_RETURN(const int64_t prompt_tokens, Integer(row, "prompt_len"));
    SINKD_ASSIGN_OR_RETURN(const int64_t response_tokens, Integer(row, "response_len"));
    SINKD_ASSIGN_OR_RETURN(const int64_t positions, Integer(row, "full_text_len"));
    record.set_sample_index(sample_index);
    record.set_sample_id("");
    record.set_layers(static_cast<int32_t>(format_.layers));
    record.set_positions(positions);
    record.set_prompt_tokens(prompt_tokens);
    record.set_response_tokens(response_tokens);
    record.set_chat_rendered(false);
    record.set_token_spans_boundary(false);
    record.set_undecided(false);
    const auto candidates = row.find("candidate_sinks");
    if (candidates == row.end() || !candidates->is_object()) {
      return Bad("candidate_sinks", "must be an object of positions");
    }
    std::map<int32_t, v1::Sink> sinks;  // JSON orders its keys as text
    for (const auto& [key, value] : candidates->items()) {
      SINKD_ASSIGN_OR_RETURN(v1::Sink sink, ReadSink(key, value, positions, result.labels));
      const int32_t position = sink.position();
      if (!sinks.emplace(position, std::move(sink)).second) {
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

  absl::StatusOr<v1::Sink> ReadSink(const std::string& key, const Json& value, int64_t positions,
                                    std::map<int32_t, std::string>& labels) const {
    const std::string field = absl::StrCat("candidate_sinks.", key);
    int32_t position = 0;
    if (!absl::SimpleAtoi(key, &position) || position < 0 || position >= positions) {
      return Bad(field, "is no position of the sample");
    }
    if (!value.is_object()) return Bad(field, "must be an object");
    SINKD_ASSIGN_OR_RETURN(const int64_t token_id, Integer(value, "token_id"));
    v1::Sink sink;
    sink.set_position(position);
    sink.set_token_id(static_cast<int32_t>(token_id));
    sink.set_token_text("");
    sink.set_margin(0);
    sink.set_mlp_norm(0);
    sink.set_state_norm(0);
    const auto label = value.find("sink_type");
    if (label == value.end() || !label->is_string()) {
      return Bad(absl::StrCat(field, ".sink_type"), "must be a string");
    }
    labels[position] = label->get<std::string>();
    SINKD_RETURN_IF_ERROR(ReadLayers(field, value, sink));
    return sink;
  }

  absl::Status ReadLayers(const std::string& field, const Json& value, v1::Sink& sink) const {
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
      sink.add_layers(static_cast<int32_t>(last));
    }
    sink.set_l_start(sink.layers(0));
    sink.set_lifetime(sink.layers_size());
    sink.set_contiguous(last - sink.l_start() + 1 == sink.lifetime());
    return absl::OkStatus();
  }

  // Takes position 0 out as the primary sink; the window it gives decides the kinds of the others.
  absl::Status Arrange(std::map<int32_t, v1::Sink> sinks, v1::SampleRecord& record) const {
    const auto primary = sinks.find(0);
    if (primary == sinks.end()) return Bad("candidate_sinks", "has no position 0");
    const v1::Sink& p0 = *record.mutable_primary() = std::move(primary->second);
    record.mutable_primary()->set_kind(v1::SINK_KIND_PRIMARY);
    const Window window{p0.layers(0), p0.layers(p0.layers_size() - 1) + 1};
    record.set_window_start(window.start);
    record.set_window_end(window.end);
    sinks.erase(primary);
    for (auto& [position, sink] : sinks) {
      sink.set_kind(KindOf(format_.kind_rule, LevelOf(sink), window, record.layers()));
      *record.add_sinks() = std::move(sink);
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

absl::StatusOr<v1::SinkKind> KindOfPublishedLabel(std::string_view label) {
  if (label == "bos_sink") return v1::SINK_KIND_PRIMARY;
  if (label == "cliff" || label == "secondary") return v1::SINK_KIND_SECONDARY;
  if (label == "noise") return v1::SINK_KIND_NOISE;
  return InvalidArgument("unknown published sink type",
                         {.reason = "BAD_PUBLISHED_ROW",
                          .subject = "sink_type",
                          .value = std::string(label),
                          .fix = "use bos_sink, cliff, secondary or noise"});
}

}  // namespace sinkd

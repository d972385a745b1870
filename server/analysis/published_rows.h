// Published rows: reads the detection files of arXiv 2512.22213, one JSON object a line:
//
//   {"candidate_sinks": {"589": {"layer": [16, 17], "token_id": 220, "sink_type": "secondary"}},
//    "sample_index": 0, "prompt_len": 185, "response_len": 1205, "full_text_len": 1390}
//
// Position 0 becomes the primary sink and its layers the window, from the first to the last of
// them; all others become sinks, their kind by the rule asked for, not by their label. What a row
// does not tell stays at its default: norms and margins 0, no scores, no token text, no curves. So
// its records serve detection and levels; the regression must not be fitted to them.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/analysis/parameters.h"
#include "server/analysis/records.h"

namespace sinkd {

struct PublishedRow {
  v1::SampleRecord record;
  std::map<int32_t, std::string> labels;  // by position: "bos_sink", "cliff", "secondary", "noise"
};

struct PublishedRowFormat {
  int64_t layers = 0;  // L of the model the file was made with, which rows do not name; >= 2
  v1::KindRule kind_rule = v1::KIND_RULE_WINDOW;
};

// `line_number` (from 1) is named in errors. INVALID_ARGUMENT (reason BAD_PUBLISHED_ROW): not such
// an object, a missing or ill-typed field, layers that do not ascend within [0, L), a position
// outside the sample, no position 0.
absl::StatusOr<PublishedRow> ParsePublishedRow(std::string_view line, int64_t line_number,
                                               const PublishedRowFormat& format);

// The kind a published label stands for: bos_sink is primary, cliff (its older name) and secondary
// are secondary, noise is noise. INVALID_ARGUMENT for any other.
absl::StatusOr<v1::SinkKind> KindOfPublishedLabel(std::string_view label);

}  // namespace sinkd

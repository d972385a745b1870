#include "server/analysis/record_check.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include <absl/strings/str_cat.h>

#include "server/analysis/outlier_tokens.h"
#include "server/analysis/portrait.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

// So that sums over any number of records that fit a disk stay within 64 bits.
constexpr int64_t kMostCount = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostIndex = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostIdBytes = 256;
constexpr int64_t kMostRatePositions = 4096;
// Shares of attention are sums of rounded weights.
constexpr double kRounding = 0.01;
constexpr double kAny = std::numeric_limits<double>::max();

// Part of a record: its name before a field's, made only for an error.
struct Part {
  std::string_view name;
  int64_t index = -1;

  std::string Of(std::string_view field) const {
    if (name.empty()) return std::string(field);
    const std::string place = index < 0 ? "" : StrCat("[", index, "]");
    return StrCat(name, place, field.empty() ? "" : ".", field);
  }
};

using Floats = google::protobuf::RepeatedField<float>;
using Indices = google::protobuf::RepeatedField<int32_t>;

class RecordChecker {
 public:
  explicit RecordChecker(const v1::SampleRecord& record) : record_(record) {}

  absl::Status Check() const {
    const Part whole{};
    if (record_.continued()) return Bad(whole, "continued", "true", "join the parts of a record");
    SINKD_RETURN_IF_ERROR(Integer(whole, "sample_index", record_.sample_index(), 0, kMostIndex));
    SINKD_RETURN_IF_ERROR(
        Size(whole, "sample_id", std::ssize(record_.sample_id()), 0, kMostIdBytes));
    SINKD_RETURN_IF_ERROR(
        Size(whole, "arithmetic", std::ssize(record_.arithmetic()), 0, kMostIdBytes));
    if (record_.arithmetic().find('\n') != std::string::npos) {
      return Bad(whole, "arithmetic", "several lines", "it is one line");
    }
    SINKD_RETURN_IF_ERROR(Integer(whole, "layers", record_.layers(), 2, kMostLayers));
    SINKD_RETURN_IF_ERROR(Integer(whole, "positions", record_.positions(), 1, kMostCount));
    SINKD_RETURN_IF_ERROR(CheckAttentionBlocks());
    SINKD_RETURN_IF_ERROR(
        Integer(whole, "prompt_tokens", record_.prompt_tokens(), 0, record_.positions()));
    SINKD_RETURN_IF_ERROR(
        Integer(whole, "response_tokens", record_.response_tokens(), 0, record_.positions()));
    SINKD_RETURN_IF_ERROR(CheckPrimary());
    SINKD_RETURN_IF_ERROR(CheckSinks());
    if (record_.has_compensation())
      SINKD_RETURN_IF_ERROR(CheckCompensation(record_.compensation()));
    if (record_.has_sink_rate()) SINKD_RETURN_IF_ERROR(CheckSinkRate(record_.sink_rate()));
    if (record_.has_portrait()) SINKD_RETURN_IF_ERROR(CheckPortrait(record_.portrait()));
    if (record_.has_outliers()) SINKD_RETURN_IF_ERROR(CheckOutliers(record_.outliers()));
    if (record_.has_gates()) SINKD_RETURN_IF_ERROR(CheckGates(record_.gates()));
    if (record_.learned_sink_mass().empty()) return absl::OkStatus();
    return Curve(whole, "learned_sink_mass", record_.learned_sink_mass(), -kRounding,
                 1 + kRounding);
  }

 private:
  absl::Status Bad(const Part& part, std::string_view field, const std::string& value,
                   const std::string& limit) const {
    const std::string name = part.Of(field);
    return InvalidArgument(
        StrCat("record of sample ", record_.sample_index(), ": ", name, " cannot be"),
        {.reason = "INCONSISTENT_RECORD", .subject = name, .value = value, .fix = limit});
  }

  absl::Status Integer(const Part& part, std::string_view field, int64_t value, int64_t least,
                       int64_t most) const {
    if (value >= least && value <= most) return absl::OkStatus();
    return Bad(part, field, absl::StrCat(value), absl::StrCat("it is from ", least, " to ", most));
  }

  absl::Status Size(const Part& part, std::string_view field, int64_t value, int64_t least,
                    int64_t most) const {
    if (value >= least && value <= most) return absl::OkStatus();
    const std::string limit = least == most ? absl::StrCat("it has ", most)
                                            : absl::StrCat("it has from ", least, " to ", most);
    return Bad(part, field, absl::StrCat(value, " values"), limit);
  }

  absl::Status Number(const Part& part, std::string_view field, double value, double least,
                      double most) const {
    if (std::isfinite(value) && value >= least && value <= most) return absl::OkStatus();
    return Bad(part, field, absl::StrCat(value), Limit(least, most));
  }

  static std::string Limit(double least, double most) {
    if (most >= kAny) return absl::StrCat("it is finite, from ", std::max(least, 0.0), " on");
    return "it is from 0 to 1";
  }

  // One finite value a block with attention.
  absl::Status Curve(const Part& part, std::string_view field, const Floats& values, double least,
                     double most) const {
    const int64_t blocks = AttentionBlockCount(record_);
    SINKD_RETURN_IF_ERROR(Size(part, field, values.size(), blocks, blocks));
    return Numbers(part, field, values, least, most);
  }

  // Ascending.
  absl::Status Blocks(const Part& part, std::string_view field, std::string_view what,
                      const Indices& values) const {
    int64_t least = 0;
    for (int i = 0; i < values.size(); ++i) {
      if (values[i] < least || values[i] >= record_.layers()) {
        return Bad(part, StrCat(field, "[", i, "]"), absl::StrCat(values[i]),
                   StrCat(what, " ascend, from 0 to ", record_.layers() - 1));
      }
      least = int64_t{values[i]} + 1;
    }
    return absl::OkStatus();
  }

  absl::Status CheckAttentionBlocks() const {
    SINKD_RETURN_IF_ERROR(
        Size({}, "attention_blocks", record_.attention_blocks().size(), 0, record_.layers()));
    return Blocks({}, "attention_blocks", "blocks", record_.attention_blocks());
  }

  absl::Status CheckGates(const v1::GateMeans& gates) const {
    const Part part{"gates"};
    const int64_t blocks = AttentionBlockCount(record_);
    const auto heads = int64_t{gates.all_size()} / blocks;
    const int64_t values = std::max<int64_t>(heads, 1) * blocks;
    SINKD_RETURN_IF_ERROR(Size(part, "all", gates.all().size(), values, values));
    SINKD_RETURN_IF_ERROR(Size(part, "primary", gates.primary().size(), values, values));
    if (!gates.secondary().empty()) {
      SINKD_RETURN_IF_ERROR(Size(part, "secondary", gates.secondary().size(), values, values));
    }
    constexpr double kLeast = -kRounding, kMost = 1 + kRounding;
    SINKD_RETURN_IF_ERROR(Numbers(part, "all", gates.all(), kLeast, kMost));
    SINKD_RETURN_IF_ERROR(Numbers(part, "primary", gates.primary(), kLeast, kMost));
    return Numbers(part, "secondary", gates.secondary(), kLeast, kMost);
  }

  absl::Status Numbers(const Part& part, std::string_view field, const Floats& values, double least,
                       double most) const {
    for (int i = 0; i < values.size(); ++i) {
      const double value = values[i];
      if (std::isfinite(value) && value >= least && value <= most) continue;
      return Bad(part, StrCat(field, "[", i, "]"), absl::StrCat(value), Limit(least, most));
    }
    return absl::OkStatus();
  }

  absl::Status CheckPrimary() const {
    const Part part{"primary"};
    const v1::Sink& primary = record_.primary();
    SINKD_RETURN_IF_ERROR(CheckSink(part, primary, 0));
    const int64_t candidates = record_.chat_rendered() ? 3 : 2;
    SINKD_RETURN_IF_ERROR(Integer(part, "position", primary.position(), 0, candidates - 1));
    if (primary.kind() != v1::SINK_KIND_PRIMARY) {
      return Bad(part, "kind", "another kind", "it is SINK_KIND_PRIMARY");
    }
    // Its layers are the window.
    const int64_t start = primary.layers(0),
                  end = int64_t{primary.layers(primary.layers_size() - 1)} + 1;
    SINKD_RETURN_IF_ERROR(Integer({}, "window_start", record_.window_start(), start, start));
    return Integer({}, "window_end", record_.window_end(), end, end);
  }

  absl::Status CheckSinks() const {
    int64_t before = record_.primary().position();
    for (int i = 0; i < record_.sinks_size(); ++i) {
      const Part part{"sinks", i};
      SINKD_RETURN_IF_ERROR(CheckSink(part, record_.sinks(i), before + 1));
      before = record_.sinks(i).position();
    }
    return absl::OkStatus();
  }

  absl::Status CheckSink(const Part& part, const v1::Sink& sink, int64_t first_position) const {
    SINKD_RETURN_IF_ERROR(
        Integer(part, "position", sink.position(), first_position, record_.positions() - 1));
    SINKD_RETURN_IF_ERROR(Integer(part, "token_id", sink.token_id(), 0, kMostCount));
    SINKD_RETURN_IF_ERROR(CheckKind(part, sink));
    SINKD_RETURN_IF_ERROR(CheckLevel(part, sink));
    SINKD_RETURN_IF_ERROR(Number(part, "margin", sink.margin(), 0, kAny));
    SINKD_RETURN_IF_ERROR(Number(part, "mlp_norm", sink.mlp_norm(), 0, kAny));
    SINKD_RETURN_IF_ERROR(Number(part, "state_norm", sink.state_norm(), 0, kAny));
    constexpr double kLeast = -kRounding, kMost = 1 + kRounding;
    SINKD_RETURN_IF_ERROR(Number(part, "score", sink.score(), kLeast, kMost));
    SINKD_RETURN_IF_ERROR(Number(part, "score_maximum", sink.score_maximum(), kLeast, kMost));
    if (sink.score_curve().empty()) return absl::OkStatus();
    return Curve(part, "score_curve", sink.score_curve(), kLeast, kMost);
  }

  absl::Status CheckKind(const Part& part, const v1::Sink& sink) const {
    const int kind = sink.kind();
    if (kind >= v1::SINK_KIND_PRIMARY && kind <= v1::SINK_KIND_NOISE) return absl::OkStatus();
    return Bad(part, "kind", absl::StrCat(kind),
               "it is SINK_KIND_PRIMARY, SINK_KIND_SECONDARY or SINK_KIND_NOISE");
  }

  absl::Status CheckLevel(const Part& part, const v1::Sink& sink) const {
    const Indices& layers = sink.layers();
    SINKD_RETURN_IF_ERROR(Size(part, "layers", layers.size(), 1, record_.layers()));
    SINKD_RETURN_IF_ERROR(Blocks(part, "layers", "layers", layers));
    const int64_t lifetime = layers.size();
    SINKD_RETURN_IF_ERROR(Integer(part, "l_start", sink.l_start(), layers[0], layers[0]));
    SINKD_RETURN_IF_ERROR(Integer(part, "lifetime", sink.lifetime(), lifetime, lifetime));
    const bool contiguous = layers[layers.size() - 1] - layers[0] + 1 == lifetime;
    if (sink.contiguous() == contiguous) return absl::OkStatus();
    return Bad(part, "contiguous", sink.contiguous() ? "true" : "false",
               contiguous ? "its layers have no gap" : "its layers have a gap");
  }

  absl::Status CheckCompensation(const v1::CompensationCurves& curves) const {
    const Part part{"compensation"};
    SINKD_RETURN_IF_ERROR(Curve(part, "primary", curves.primary(), -kRounding, 1 + kRounding));
    SINKD_RETURN_IF_ERROR(Curve(part, "secondary", curves.secondary(), -kRounding, kAny));
    SINKD_RETURN_IF_ERROR(Curve(part, "rest", curves.rest(), -kRounding, kAny));
    SINKD_RETURN_IF_ERROR(Size(part, "primary_norm", curves.primary_norm().size(), record_.layers(),
                               record_.layers()));
    return Numbers(part, "primary_norm", curves.primary_norm(), 0, kAny);
  }

  absl::Status CheckSinkRate(const v1::SinkRateCounts& counts) const {
    const Part part{"sink_rate"};
    SINKD_RETURN_IF_ERROR(Integer(part, "cells", counts.cells(), 0, kMostCount));
    SINKD_RETURN_IF_ERROR(Size(part, "hits", counts.hits().size(), 0,
                               std::min<int64_t>(kMostRatePositions, record_.positions())));
    for (int i = 0; i < counts.hits_size(); ++i) {
      if (counts.hits(i) >= 0 && counts.hits(i) <= counts.cells()) continue;
      return Bad(part, absl::StrCat("hits[", i, "]"), absl::StrCat(counts.hits(i)),
                 absl::StrCat("it is from 0 to ", counts.cells()));
    }
    return Integer(part, "undefined", counts.undefined(), 0, counts.hits_size());
  }

  absl::Status CheckPortrait(const v1::Portrait& portrait) const {
    const Part part{"portrait"};
    SINKD_RETURN_IF_ERROR(Integer(part, "columns", portrait.columns(), 1,
                                  std::min<int64_t>(kPortraitColumns, record_.positions())));
    if (!portrait.token_texts().empty()) {
      SINKD_RETURN_IF_ERROR(Size(part, "token_texts", portrait.token_texts().size(),
                                 record_.positions(), record_.positions()));
    }
    const int64_t norms = record_.layers() * portrait.columns();
    SINKD_RETURN_IF_ERROR(Size(part, "state_norms", portrait.state_norms().size(), norms, norms));
    return Numbers(part, "state_norms", portrait.state_norms(), 0, kAny);
  }

  absl::Status CheckOutliers(const v1::OutlierTokens& outliers) const {
    const Part whole{"outliers"};
    SINKD_RETURN_IF_ERROR(Integer(whole, "count", outliers.count(), 0, record_.positions()));
    const int64_t listed = std::min<int64_t>(outliers.count(), kMostOutliers);
    SINKD_RETURN_IF_ERROR(Size(whole, "largest", outliers.largest().size(), listed, listed));
    int64_t least = 0;
    for (int i = 0; i < outliers.largest_size(); ++i) {
      const Part part{"outliers.largest", i};
      const v1::OutlierToken& token = outliers.largest(i);
      SINKD_RETURN_IF_ERROR(
          Integer(part, "position", token.position(), least, record_.positions() - 1));
      SINKD_RETURN_IF_ERROR(Integer(part, "token_id", token.token_id(), 0, kMostCount));
      SINKD_RETURN_IF_ERROR(Number(part, "ratio", token.ratio(), kOutlierRatio, kAny));
      least = int64_t{token.position()} + 1;
    }
    return absl::OkStatus();
  }

  const v1::SampleRecord& record_;
};

}  // namespace

absl::Status CheckRecord(const v1::SampleRecord& record) {
  return RecordChecker(record).Check();
}

}  // namespace sinkd

#include "client/cli/output/series_view.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

std::string Words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return client::MakePrintable(name);
}

// The series' value at a value of the label.
std::string ValueAt(const v1::SummarySeries& series, double label_value) {
  const auto& at = series.label_values();
  const auto found = std::lower_bound(at.begin(), at.end(), label_value);
  if (found == at.end() || *found != label_value) return kAbsent;
  const auto index = static_cast<int>(found - at.begin());
  return index < series.values_size() ? Compact(series.values(index)) : kAbsent;
}

std::string Values(const std::string& label, std::span<const v1::SummarizeRunsResponse> summaries,
                   const Terminal& terminal) {
  std::vector<Column> columns = {{client::MakePrintable(label)}, {"runs"}, {"samples"}};
  for (const v1::SummarySeries& series : summaries.back().series()) {
    columns.push_back({Words(series.name())});
  }
  Table table(columns);
  for (const v1::SummarizeRunsResponse& each : summaries) {
    std::vector<Cell> row = {client::MakePrintable(each.group()), Grouped(each.run_count()),
                             Grouped(each.summary().samples())};
    for (const v1::SummarySeries& series : summaries.back().series()) {
      row.push_back(ValueAt(series, each.label_value()));
    }
    table.AddRow(std::move(row));
  }
  return table.Render(terminal);
}

std::vector<Cell> ChangeRow(const v1::SummarySeries& series) {
  const v1::ChangePoint& change = series.change_point();
  if (change.has_undefined()) {
    return {Words(series.name()),
            "undefined: " + client::MakePrintable(change.undefined()),
            "",
            "",
            "",
            ""};
  }
  return {Words(series.name()),
          fmt::format("{} and {}", change.last_before(), change.first_after()),
          fmt::format("[{}, {}]", change.interval().lower(), change.interval().upper()),
          Compact(change.mean_before()),
          Compact(change.mean_after()),
          PValue(change.p())};
}

}  // namespace

std::string RenderSeries(const std::string& label,
                         std::span<const v1::SummarizeRunsResponse> summaries,
                         const Terminal& terminal) {
  Table changes({{"series", Align::kLeft},
                 {"between", Align::kLeft},
                 {"95% interval", Align::kLeft},
                 {"mean before"},
                 {"mean after"},
                 {"p"}});
  for (const v1::SummarySeries& series : summaries.back().series()) {
    changes.AddRow(ChangeRow(series));
  }
  std::string text = Values(label, summaries, terminal);
  if (changes.empty()) return text;
  return text + Heading("change points", terminal) + changes.Render(terminal);
}

}  // namespace sinkd::cli

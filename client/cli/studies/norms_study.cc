#include <utility>

#include <fmt/format.h>

#include "client/cli/output/chart.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_parts.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

// One of key, value, state; its name is that of its field, and of NAME_median.
struct Measure {
  const char* name;
  const char* title;
  const v1::Estimate& (v1::GroupNorms::*mean)() const;
};

constexpr Measure kMeasures[] = {{"key", "||key||, before rotary", &v1::GroupNorms::key},
                                 {"value", "||value||", &v1::GroupNorms::value},
                                 {"state", "||state|| after the block", &v1::GroupNorms::state}};

std::string RenderMeasure(const Measure& measure, const v1::NormsReport& report,
                          const StudyView& view, Remarks& remarks) {
  Table table(
      {{"block"}, {"primary", Align::kLeft}, {"secondary", Align::kLeft}, {"rest", Align::kLeft}});
  for (const v1::NormsRow& row : report.rows()) {
    const auto mean = [&](const char* group, const v1::GroupNorms& norms) {
      return remarks.Show(group, (norms.*measure.mean)());
    };
    table.AddRow({std::to_string(row.block()), Cell(mean("primary", row.primary()), Style::kCyan),
                  Cell(mean("secondary", row.secondary()), Style::kGreen),
                  mean("rest", row.rest())});
  }
  return Heading(measure.title, view.terminal) + table.Render(view.terminal);
}

std::string Render(const v1::StudyReport& report, const StudyView& view) {
  Remarks remarks;
  std::string text;
  for (const Measure& measure : kMeasures) {
    text += RenderMeasure(measure, report.norms(), view, remarks);
  }
  return text + remarks.Render() +
         "  means with their 95% intervals; rest: positions that never are a sink\n";
}

std::string Csv(const v1::StudyReport& report, const CsvTable& csv) {
  std::string rows;
  for (const v1::NormsRow& row : report.norms().rows()) {
    const std::pair<const char*, const v1::GroupNorms&> groups[] = {
        {"primary", row.primary()}, {"secondary", row.secondary()}, {"rest", row.rest()}};
    for (const auto& [group, norms] : groups) {
      for (const Measure& measure : kMeasures) {
        const std::string median = FieldText({&norms}, fmt::format("{}_median", measure.name));
        rows += csv.Row({&(norms.*measure.mean)(), &row}, {group, measure.name, median});
      }
    }
  }
  return rows;
}

}  // namespace

extern const StudyCommand kNormsStudy = {
    .name = "norms",
    .description = "Norms of keys, values and states: primary sinks, secondary sinks, the rest",
    .example = "sinkctl norms smollm2-135m --input prompts.jsonl",
    .targets = false,
    .render = Render,
    .csv_columns = "block,group=,measure=,value,lower,upper,n,undefined,median=",
    .csv = Csv};

}  // namespace sinkd::cli

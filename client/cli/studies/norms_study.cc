#include <utility>

#include "client/cli/output/chart.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_parts.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

// One of key, value, state, with what it is called.
struct Measure {
  const char* name;
  const char* title;
  const v1::Estimate& (v1::GroupNorms::*mean)() const;
  bool (v1::GroupNorms::*has_median)() const;
  double (v1::GroupNorms::*median)() const;
};

constexpr Measure kMeasures[] = {
    {"key", "||key||, before rotary", &v1::GroupNorms::key, &v1::GroupNorms::has_key_median,
     &v1::GroupNorms::key_median},
    {"value", "||value||", &v1::GroupNorms::value, &v1::GroupNorms::has_value_median,
     &v1::GroupNorms::value_median},
    {"state", "||state|| after the block", &v1::GroupNorms::state,
     &v1::GroupNorms::has_state_median, &v1::GroupNorms::state_median}};

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

std::string Csv(const v1::StudyReport& report) {
  std::string text;
  for (const v1::NormsRow& line : report.norms().rows()) {
    const std::pair<const char*, const v1::GroupNorms&> groups[] = {
        {"primary", line.primary()}, {"secondary", line.secondary()}, {"rest", line.rest()}};
    for (const auto& [group, norms] : groups) {
      for (const Measure& measure : kMeasures) {
        CsvRow row;
        row.Add(line.block()).Add(group).Add(measure.name);
        AddEstimate((norms.*measure.mean)(), row);
        row.AddIf((norms.*measure.has_median)(), (norms.*measure.median)());
        text += row.Take();
      }
    }
  }
  return text;
}

}  // namespace

extern const StudyCommand kNormsStudy = {
    .name = "norms",
    .description = "Norms of keys, values and states: primary sinks, secondary sinks, the rest",
    .example = "sinkctl norms smollm2-135m --input prompts.jsonl",
    .targets = false,
    .render = Render,
    .csv_header = "block,group,measure,value,lower,upper,n,undefined,median",
    .csv = Csv};

}  // namespace sinkd::cli

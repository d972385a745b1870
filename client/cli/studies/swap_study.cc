#include <fmt/format.h>

#include "client/cli/output/chart.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_parts.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kBarWidth = 10;

bool HasLoss(const v1::SwapReport& report) {
  for (const v1::SwapRow& row : report.rows()) {
    if (row.has_loss_change()) return true;
  }
  return false;
}

std::string Render(const v1::StudyReport& report, const StudyView& view) {
  const v1::SwapReport& swap = report.swap();
  std::string text = Heading("targets get the mean of the controls: share that is no sink any more",
                             view.terminal);
  if (!swap.undefined().empty()) return text + UndefinedStudy(swap.undefined(), view.terminal);
  const bool loss = HasLoss(swap);
  std::vector<Column> columns = {
      {"block"},   {"site", Align::kLeft}, {"suppressed", Align::kLeft}, {"control"}, {"others"},
      {"lifetime"}};
  // A line has room for the losses or for the rest.
  const std::vector<Column> more =
      loss ? std::vector<Column>{{"loss"}, {"control's"}} : std::vector<Column>{{"norm"}, Bars()};
  columns.insert(columns.end(), more.begin(), more.end());
  Table table(std::move(columns));
  Remarks remarks;
  for (const v1::SwapRow& row : swap.rows()) {
    const v1::Estimate& suppressed = row.targets().suppressed();
    std::vector<Cell> cells = {std::to_string(row.block()),
                               WordOf(row.site()),
                               Cell(remarks.Show("suppressed", suppressed), Style::kGreen),
                               remarks.Show("control", row.control_swap().suppressed(), false),
                               remarks.Show("others", row.untouched().suppressed(), false),
                               remarks.Show("lifetime", row.targets().lifetime_change(), false)};
    if (loss) {
      cells.emplace_back(remarks.Show("loss", row.loss_change(), false));
      cells.emplace_back(remarks.Show("control's loss", row.control_loss_change(), false));
    } else {
      cells.emplace_back(remarks.Show("norm", row.targets().norm_change(), false));
      cells.emplace_back(view.charts && suppressed.has_value()
                             ? Bar(suppressed.value(), 1.0, kBarWidth, view.terminal.unicode)
                             : "",
                         Style::kGreen);
    }
    table.AddRow(std::move(cells));
  }
  text += table.Render(view.terminal) + remarks.Render();
  text +=
      "  control: targets when as many control positions are swapped; others: all other sinks;\n"
      "  lifetime: mean change in layers; ";
  text += loss ? "loss: change in nats, and under the control swap\n"
               : "norm: mean change of the state's, at l_start\n";
  if (swap.samples_left_out() > 0) {
    text += fmt::format("  {} samples left out: no targets or no controls\n",
                        Grouped(swap.samples_left_out()));
  }
  return text + CostLine(swap.cost());
}

std::string Csv(const v1::StudyReport& report, const CsvTable& csv) {
  constexpr std::string_view kMeasures = "suppressed,cosine_change,norm_change,lifetime_change";
  std::string rows;
  for (const v1::SwapRow& row : report.swap().rows()) {
    rows += EstimateRows(row, row.targets(), kMeasures, csv, {"targets"});
    rows += EstimateRows(row, row.untouched(), kMeasures, csv, {"untouched"});
    rows += EstimateRows(row, row.control_swap(), kMeasures, csv, {"control_swap"});
    rows += EstimateRows(row, row, "loss_change", csv, {"targets"});
    if (row.has_control_loss_change()) {
      rows += csv.Row({&row.control_loss_change(), &row}, {"control_swap", "loss_change"});
    }
  }
  return rows;
}

}  // namespace

extern const StudyCommand kSwapStudy = {
    .name = "swap",
    .description = "Give targets the controls' values, block by block: do they still become sinks?",
    .example = "sinkctl swap smollm2-135m --input prompts.jsonl --sites resid_post --loss",
    .targets = true,
    .render = Render,
    .csv_columns = "block,site,group=,measure=,value,lower,upper,n,undefined",
    .csv = Csv};

}  // namespace sinkd::cli

#include "client/cli/studies/study_parts.h"

#include <algorithm>
#include <cmath>

#include <absl/strings/str_split.h>
#include <fmt/format.h>

#include "client/cli/output/number_format.h"
#include "client/error_report.h"

namespace sinkd::cli {

namespace v1 = ::sinks::v1;

namespace {

// Nothing of what studies tell is read to more than four decimals, and columns stay narrow.
std::string Number(double value) {
  if (std::abs(value) < 5e-5) return "0.0000";
  return std::abs(value) < 1e-3 ? Fixed(value, 4) : Compact(value);
}

}  // namespace

std::string Remarks::Show(const char* what, const v1::Estimate& estimate, bool interval) {
  if (!estimate.has_value()) {
    const std::string why = estimate.undefined().empty() ? "no values" : estimate.undefined();
    std::string line = fmt::format("  {}: undefined, {}\n", what, client::MakePrintable(why));
    if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) {
      lines_.push_back(std::move(line));
    }
    return kAbsent;
  }
  const std::string value = Number(estimate.value());
  if (!interval || !estimate.has_lower()) return value;
  return fmt::format("{} [{}, {}]", value, Number(estimate.lower()), Number(estimate.upper()));
}

std::string Remarks::Render() const {
  std::string text;
  for (const std::string& line : lines_) text += line;
  return text;
}

std::string UndefinedStudy(const std::string& why, const Terminal& terminal) {
  return "  " +
         Paint(terminal.color_out, Style::kYellow, "undefined: " + client::MakePrintable(why)) +
         '\n';
}

std::string CostLine(const v1::StudyCost& cost) {
  if (cost.naive_block_rows() <= 0) return {};
  const double share =
      static_cast<double>(cost.block_rows()) / static_cast<double>(cost.naive_block_rows());
  return fmt::format("  computed {} block-rows, {} of the {} of whole passes\n",
                     Grouped(cost.block_rows()), Fixed(share, 3), Grouped(cost.naive_block_rows()));
}

std::string EstimateRows(const google::protobuf::Message& line,
                         const google::protobuf::Message& owner, std::string_view fields,
                         const CsvTable& csv, CsvTable::Words words) {
  std::string rows;
  const google::protobuf::Reflection& values = *owner.GetReflection();
  const std::vector<std::string> names = absl::StrSplit(std::string(fields), ',');
  words.emplace_back();
  for (const std::string& name : names) {
    words.back() = name;
    const auto* estimate = owner.GetDescriptor()->FindFieldByName(name);
    if (!values.HasField(owner, estimate)) continue;
    rows += csv.Row({&values.GetMessage(owner, estimate), &line}, words);
  }
  return rows;
}

std::string RenderReportHead(const char* name, bool targets, const v1::StudyReport& report,
                             const v1::RunStudyRequest& request, const Terminal& terminal) {
  std::string text = Paint(terminal.color_out, Style::kBold, name);
  text +=
      fmt::format("  {} sample{}, {} tokens, {} sink{} past the primary", Grouped(report.samples()),
                  report.samples() == 1 ? "" : "s", Grouped(report.tokens()),
                  Grouped(report.sinks()), report.sinks() == 1 ? "" : "s");
  if (targets) {
    text += fmt::format("; {} targets", Grouped(report.targets()));
    if (report.has_target_l_start()) text += fmt::format(" at l_start {}", report.target_l_start());
    text += fmt::format(", {} controls", Grouped(report.controls()));
  }
  text += fmt::format("\n  seed {}, {} s\n", request.seed(), Fixed(report.seconds(), 1));
  if (!report.partial()) return text;
  return text +
         Paint(terminal.color_out, Style::kYellow,
               "  partial: " + client::MakePrintable(report.partial_reason())) +
         '\n';
}

}  // namespace sinkd::cli

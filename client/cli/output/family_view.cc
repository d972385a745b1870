#include "client/cli/output/family_view.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "client/cli/output/json_parts.h"
#include "client/cli/output/list_view.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/table.h"
#include "client/cli/terminal/text_width.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr std::string_view kColumns =
    "model_type,models,particular,finding,reference,largest_difference=,site=";

// The site with the largest float32 difference; null when none was measured.
const v1::SiteDifference* Largest(const v1::Family& family) {
  const auto& sites = family.differences();
  const auto largest = std::max_element(
      sites.begin(), sites.end(),
      [](const auto& a, const auto& b) { return a.float32_difference() < b.float32_difference(); });
  return largest == sites.end() ? nullptr : &*largest;
}

std::string Difference(double value) {
  return value == 0 ? "0" : fmt::format("{:.1e}", value);
}

CsvTable::Words CsvWords(const v1::Family& family) {
  const v1::SiteDifference* largest = Largest(family);
  if (largest == nullptr) return {"", ""};
  return {fmt::to_string(largest->float32_difference()), largest->site()};
}

std::string OrAbsent(const std::string& text) {
  return text.empty() ? kAbsent : client::MakePrintable(text);
}

// `text` in lines as wide as the terminal, `indent` blanks in front.
std::string Wrapped(std::string_view text, int indent, const Terminal& terminal) {
  std::string lines;
  for (const std::string& line : WrapToWidth(text, terminal.width - indent)) {
    lines += fmt::format("{:{}}{}\n", "", indent, line);
  }
  return lines;
}

// What all families were compared with; empty when not all with the same.
std::string CommonReference(const v1::ListFamiliesResponse& families) {
  if (families.families().empty()) return "";
  const std::string& first = families.families(0).reference();
  const bool common =
      std::all_of(families.families().begin(), families.families().end(),
                  [&](const v1::Family& family) { return family.reference() == first; });
  return common ? client::MakePrintable(first) : std::string();
}

std::string ListTable(const v1::ListFamiliesResponse& families, const Terminal& terminal) {
  const std::string reference = CommonReference(families);
  std::vector<Column> columns = {{"family", Align::kLeft},
                                 {"models", Align::kLeft, /*wraps=*/true},
                                 {"particular", Align::kLeft, /*wraps=*/true},
                                 {"finding", Align::kLeft, /*wraps=*/true}};
  if (reference.empty()) columns.push_back({"compared with", Align::kLeft, /*wraps=*/true});
  columns.push_back({"largest"});
  Table table(columns);
  for (const v1::Family& family : families.families()) {
    const v1::SiteDifference* largest = Largest(family);
    std::vector<Cell> cells = {Cell(client::MakePrintable(family.model_type()), Style::kBold),
                               OrAbsent(family.models()), OrAbsent(family.particular()),
                               OrAbsent(family.finding())};
    if (reference.empty()) cells.push_back(OrAbsent(family.reference()));
    cells.push_back(largest != nullptr ? Difference(largest->float32_difference()) : kAbsent);
    table.AddRow(std::move(cells));
  }
  const std::string legend = fmt::format(
      "largest: the largest difference to {} over all sites, in float32; `sinkctl families FAMILY` "
      "lists them",
      reference.empty() ? "what it was compared with" : reference);
  return table.Render(terminal.color_out, 0, terminal.width) + '\n' + Wrapped(legend, 0, terminal);
}

std::string SiteTable(const v1::Family& family, const Terminal& terminal) {
  if (family.differences().empty()) return "";
  Table table({{"site", Align::kLeft}, {"float32"}, {"bfloat16 ratio"}});
  for (const v1::SiteDifference& site : family.differences()) {
    table.AddRow({client::MakePrintable(site.site()), Difference(site.float32_difference()),
                  site.has_bfloat16_ratio() ? Fixed(site.bfloat16_ratio(), 2) : kAbsent});
  }
  return "\n" + table.Render(terminal) +
         Wrapped(
             "float32: largest distance of a row over its norm (alpha: absolute); bfloat16 ratio: "
             "distance to float32 over the reference's own",
             2, terminal);
}

std::string KnownTable(const v1::Family& family, const Terminal& terminal) {
  if (family.known_models().empty()) return "";
  Table table({{"checkpoint", Align::kLeft}, {"parameters"}, {"memory in bfloat16"}});
  for (const v1::KnownModel& model : family.known_models()) {
    table.AddRow({client::MakePrintable(model.name()), Grouped(model.parameters()),
                  Bytes(model.weight_bytes())});
  }
  return "\n" + table.Render(terminal);
}

std::string Card(const v1::Family& family, const Terminal& terminal) {
  constexpr int kLabel = 15;
  std::string text =
      Paint(terminal.color_out, Style::kBold, client::MakePrintable(family.model_type())) + '\n';
  const auto line = [&](std::string label, const std::string& value) {
    for (const std::string& part : WrapToWidth(value, terminal.width - 2 - kLabel)) {
      text += fmt::format("  {:<{}}{}\n", label, kLabel, part);
      label.clear();
    }
  };
  line("models", OrAbsent(family.models()));
  line("particular", OrAbsent(family.particular()));
  line("finding", OrAbsent(family.finding()));
  line("compared with", OrAbsent(family.reference()));
  return text + SiteTable(family, terminal) + KnownTable(family, terminal);
}

}  // namespace

std::string RenderFamilies(const v1::ListFamiliesResponse& families, const GlobalOptions& global,
                           const Terminal& terminal) {
  if (global.output == OutputFormat::kTable) return ListTable(families, terminal);
  if (global.output == OutputFormat::kJson) return ToJson(families) + '\n';
  const CsvTable csv(kColumns, global.csv_raw);
  const bool jsonl = global.output == OutputFormat::kJsonl;
  std::string text = jsonl ? "" : csv.Header();
  for (const v1::Family& family : families.families()) {
    text +=
        jsonl ? TypedJson("family", ToJson(family)) + '\n' : csv.Row({&family}, CsvWords(family));
  }
  return text;
}

std::string RenderFamily(const v1::Family& family, const GlobalOptions& global,
                         const Terminal& terminal) {
  const ListView<v1::Family> view = {
      .type = "family", .csv_columns = kColumns, .csv_words = CsvWords, .card = Card};
  return RenderOne(view, family, global, terminal);
}

}  // namespace sinkd::cli

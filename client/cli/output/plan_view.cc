#include "client/cli/output/plan_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/cli/output/csv_table.h"
#include "client/cli/output/json_parts.h"
#include "client/cli/output/model_view.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/table.h"
#include "client/cli/output/tensor_groups.h"
#include "client/cli/terminal/text_width.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr std::string_view kDeviceColumns =
    "name,architecture,compute_type,residency,parameters,stored_bytes,positions,device,first_block,"
    "blocks,weight_bytes,activation_bytes,free_bytes,fits,budget_bytes,held_bytes,pinned_bytes,"
    "evicted_bytes,sample_fits";
constexpr std::string_view kTensorColumns = "name,stored_type,shape,stored_bytes,use";

std::string Csv(const v1::PlanModelResponse& plan, bool raw) {
  const bool tensors = plan.tensors_size() > 0;
  const CsvTable csv(tensors ? kTensorColumns : kDeviceColumns, raw);
  std::string text = csv.Header();
  for (const v1::PlannedTensor& tensor : plan.tensors()) text += csv.Row({&tensor});
  if (tensors) return text;
  for (const v1::DeviceShare& share : plan.plan().devices()) {
    text += csv.Row({&share, &plan.plan()});
  }
  return text;
}

std::string Jsonl(const v1::PlanModelResponse& plan) {
  std::string text = TypedJson("plan", ToJson(plan.plan())) + '\n';
  for (const v1::PlannedTensor& tensor : plan.tensors()) {
    text += TypedJson("tensor", ToJson(tensor)) + '\n';
  }
  return text;
}

// What the model is and how it would be held.
std::string Head(const v1::ModelPlan& plan, const Terminal& terminal) {
  std::string text = Paint(terminal.color_out, Style::kBold, ModelId(plan.name())) + '\n';
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("  {:<15}{}\n", label, value);
  };
  line("architecture",
       fmt::format("{}, {} blocks, {} parameters", client::MakePrintable(plan.architecture()),
                   plan.blocks(), Grouped(plan.parameters())));
  line("stored", plan.has_weights()
                     ? fmt::format("{} to load, {} tensors in all", Bytes(plan.stored_bytes()),
                                   Grouped(plan.tensor_count()))
                     : std::string("no weights, only a config.json that says what they must be"));
  if (plan.has_quantization()) {
    line("quantized", client::MakePrintable(plan.quantization()) + ", unpacked on load");
  }
  line("computes in",
       fmt::format("{}, {} of weights, the largest block {}", WordOf(plan.compute_type(), ""),
                   Bytes(plan.weight_bytes()), Bytes(plan.largest_block_bytes())));
  line("weights", plan.residency() == v1::RESIDENCY_STREAMED
                      ? "streamed: two blocks in memory at a time, read from disk"
                      : "resident: all in memory");
  line("sample", fmt::format("{} tokens", Grouped(plan.positions())));
  return text;
}

std::string DeviceTable(const v1::ModelPlan& plan, const Terminal& terminal) {
  Table table({{"device", Align::kLeft},
               {"blocks"},
               {"weights"},
               {"activations"},
               {"free"},
               {"budget"},
               {"held"},
               {"pinned"},
               {"fits", Align::kLeft}});
  for (const v1::DeviceShare& share : plan.devices()) {
    const int last = share.first_block() + share.blocks() - 1;
    table.AddRow({client::MakePrintable(share.device()),
                  share.blocks() == 0 ? kAbsent : fmt::format("{}-{}", share.first_block(), last),
                  Bytes(share.weight_bytes()), Bytes(share.activation_bytes()),
                  share.has_free_bytes() ? Bytes(share.free_bytes()) : kAbsent,
                  share.has_budget_bytes() ? Bytes(share.budget_bytes()) : kAbsent,
                  Bytes(share.held_bytes()), Bytes(share.pinned_bytes()),
                  share.fits() ? Cell("yes", Style::kGreen) : Cell("NO", Style::kRed)});
  }
  return table.Render(terminal);
}

// Another residency for a plan that does not fit; empty: there is no other.
std::string OtherResidency(const v1::ModelPlan* streamed) {
  if (streamed == nullptr) return "";
  int64_t need = 0;
  for (const v1::DeviceShare& share : streamed->devices()) {
    need = std::max(need, share.weight_bytes());
  }
  return fmt::format(
      "{} (2 blocks at a time: {})",
      streamed->fits() ? "try --residency streamed" : "--residency streamed does not fit either",
      Bytes(need));
}

// What would be unloaded for a plan that fits, and whether a sample has room beside it.
std::vector<std::string> Conditions(const v1::ModelPlan& plan) {
  std::vector<std::string> clauses;
  if (plan.evicted_size() > 0) {
    int64_t bytes = 0;
    for (const v1::DeviceShare& share : plan.devices()) bytes += share.evicted_bytes();
    clauses.push_back(fmt::format(
        "unloads {} ({})",
        client::MakePrintable(fmt::format("{}", fmt::join(plan.evicted(), ", "))), Bytes(bytes)));
  }
  for (const v1::DeviceShare& share : plan.devices()) {
    if (share.sample_fits()) continue;
    clauses.push_back(fmt::format("no room for the {} of activations on {}: try a shorter --length",
                                  Bytes(share.activation_bytes()),
                                  client::MakePrintable(share.device())));
  }
  return clauses;
}

// In one line, or a clause a line where a terminal is too narrow for that.
std::string Verdict(const v1::ModelPlan& plan, const v1::ModelPlan* streamed,
                    const Terminal& terminal) {
  std::vector<std::string> clauses;
  if (plan.fits()) {
    clauses = Conditions(plan);
    clauses.insert(clauses.begin(), "fits");
  } else {
    clauses.push_back("does not fit: " + client::MakePrintable(plan.refusal()));
    std::string other = OtherResidency(streamed);
    if (!other.empty()) clauses.push_back(std::move(other));
  }
  const Style style = !plan.fits()         ? Style::kRed
                      : clauses.size() > 1 ? Style::kYellow
                                           : Style::kGreen;
  const std::string line = fmt::format("{}", fmt::join(clauses, "; "));
  const bool whole = !terminal.out_is_terminal || DisplayWidth(line) + 2 <= terminal.width;
  std::string text;
  for (const std::string& part : whole ? std::vector{line} : clauses) {
    text += "  " + Paint(terminal.color_out, style, part) + '\n';
  }
  return text;
}

std::string TensorTable(const v1::PlanModelResponse& plan, bool each, const Terminal& terminal) {
  std::vector<Column> columns = {{each ? "tensor" : "tensors", Align::kLeft, /*wraps=*/true},
                                 {"shape"},
                                 {"type", Align::kLeft},
                                 {"size"},
                                 {"use", Align::kLeft}};
  if (!each) columns.insert(columns.begin() + 1, {"count"});
  Table table(columns);
  const auto use_cell = [](v1::TensorUse use) {
    return Cell(WordOf(use), use == v1::TENSOR_USE_LOADED ? Style::kPlain : Style::kYellow);
  };
  if (each) {
    for (const v1::PlannedTensor& tensor : plan.tensors()) {
      table.AddRow({client::MakePrintable(tensor.name()), ShapeText(tensor),
                    client::MakePrintable(tensor.stored_type()), Bytes(tensor.stored_bytes()),
                    use_cell(tensor.use())});
    }
  } else {
    for (const TensorGroup& group : GroupTensors(plan.tensors())) {
      table.AddRow({client::MakePrintable(group.pattern), Grouped(group.count), group.shape,
                    client::MakePrintable(group.type), Bytes(group.bytes), use_cell(group.use)});
    }
  }
  if (table.empty()) return "";
  // A name that goes into a pipe stays in one piece.
  return '\n' + table.Render(terminal);
}

}  // namespace

std::string WritePlan(const v1::PlanModelResponse& plan, const GlobalOptions& global) {
  if (global.output == OutputFormat::kCsv) return Csv(plan, global.csv_raw);
  return global.output == OutputFormat::kJsonl ? Jsonl(plan) : ToJson(plan) + '\n';
}

std::string RenderPlan(const v1::PlanModelResponse& plan, const v1::ModelPlan* streamed, bool each,
                       const Terminal& terminal) {
  std::string text = Head(plan.plan(), terminal) + '\n' + DeviceTable(plan.plan(), terminal) +
                     '\n' + Verdict(plan.plan(), streamed, terminal);
  for (const std::string& warning : plan.plan().warnings()) {
    text += "  warning: " + client::MakePrintable(warning) + '\n';
  }
  return text + TensorTable(plan, each, terminal);
}

}  // namespace sinkd::cli

#include "client/cli/output/audit_view.h"

#include <algorithm>
#include <string_view>

#include <absl/strings/str_replace.h>
#include <fmt/format.h>

#include "client/cli/output/json_parts.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/table.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;
using client::MakePrintable;

constexpr int kRunsTold = 3;

const char* VerdictName(v1::Verdict verdict) {
  switch (verdict) {
    case v1::VERDICT_PASS:
      return "pass";
    case v1::VERDICT_FAIL:
      return "FAIL";
    case v1::VERDICT_NOT_ENOUGH_DATA:
      return "not enough data";
    default:
      return "unknown";
  }
}

Style VerdictStyle(v1::Verdict verdict) {
  if (verdict == v1::VERDICT_PASS) return Style::kGreen;
  return verdict == v1::VERDICT_FAIL ? Style::kRed : Style::kYellow;
}

std::string RunsText(const google::protobuf::RepeatedPtrField<std::string>& runs, int64_t samples) {
  std::string text;
  for (int i = 0; i < std::min<int>(runs.size(), kRunsTold); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", MakePrintable(runs[i]));
  }
  if (runs.size() > kRunsTold) text += fmt::format(" and {} more", runs.size() - kRunsTold);
  return fmt::format("{} ({} samples)", text, Grouped(samples));
}

// "runs/a (600 samples) against runs/b (600 samples), seed 0".
std::string What(const v1::AuditRunsResponse& audit) {
  std::string text = RunsText(audit.candidate_runs(), audit.candidate_samples());
  if (audit.baseline_runs_size() > 0) {
    text += " against " + RunsText(audit.baseline_runs(), audit.baseline_samples());
  }
  return fmt::format("{}, seed {}", text, audit.seed());
}

std::string Number(bool present, double value) {
  return present ? Compact(value) : kAbsent;
}

// "0.9012 to 1.043".
std::string IntervalText(const v1::RuleResult& rule) {
  if (!rule.has_interval()) return kAbsent;
  return fmt::format("{} to {}", Compact(rule.interval().lower()),
                     Compact(rule.interval().upper()));
}

std::string AuditTable(const v1::AuditRunsResponse& audit, const Terminal& terminal) {
  std::string text =
      Paint(terminal.color_out, Style::kBold, MakePrintable(audit.policy_name())) + "  " +
      Paint(terminal.color_out, VerdictStyle(audit.verdict()), VerdictName(audit.verdict())) +
      "\n  " + What(audit) + "\n\n";
  Table table({{"rule", Align::kLeft, true},
               {"verdict", Align::kLeft, true},
               {"value"},
               {"baseline"},
               {"95% interval"},
               {"p corrected"},
               {"why", Align::kLeft, true}});
  for (const v1::RuleResult& rule : audit.rules()) {
    table.AddRow({MakePrintable(rule.name()),
                  Cell(VerdictName(rule.verdict()), VerdictStyle(rule.verdict())),
                  Number(rule.has_value(), rule.value()),
                  Number(rule.has_baseline_value(), rule.baseline_value()), IntervalText(rule),
                  rule.has_adjusted_p() ? PValue(rule.adjusted_p()) : kAbsent,
                  MakePrintable(rule.reason())});
  }
  return text + table.Render(terminal.color_out, 2, terminal.width);
}

std::string AuditText(const v1::AuditRunsResponse& audit) {
  std::string text = fmt::format("{}: {}\n{}\n", MakePrintable(audit.policy_name()),
                                 VerdictName(audit.verdict()), What(audit));
  for (const v1::RuleResult& rule : audit.rules()) {
    const std::string interval =
        rule.has_interval() ? fmt::format("; 95% interval {}", IntervalText(rule)) : "";
    text += fmt::format("{}: {} [{}; {}{}] {}\n", VerdictName(rule.verdict()),
                        MakePrintable(rule.name()), rule.measure(), rule.limit(), interval,
                        MakePrintable(rule.reason()));
  }
  return text;
}

// Text inside a cell of a Markdown table.
std::string MarkdownCell(const std::string& text) {
  std::string out;
  for (const char c : MakePrintable(text)) {
    if (std::string_view("\\|`*_<>[]").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string AuditMarkdown(const v1::AuditRunsResponse& audit) {
  std::string text = fmt::format(
      "### {}: {}\n\n{}\n\n| rule | verdict | value | baseline | 95% interval | p corrected | "
      "limit | "
      "why |\n|---|---|--:|--:|--:|--:|---|---|\n",
      MarkdownCell(audit.policy_name()), VerdictName(audit.verdict()), MarkdownCell(What(audit)));
  for (const v1::RuleResult& rule : audit.rules()) {
    const bool passed = rule.verdict() == v1::VERDICT_PASS;
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", MarkdownCell(rule.name()),
                    passed ? "pass" : fmt::format("**{}**", VerdictName(rule.verdict())),
                    Number(rule.has_value(), rule.value()),
                    Number(rule.has_baseline_value(), rule.baseline_value()), IntervalText(rule),
                    MarkdownCell(rule.has_adjusted_p() ? PValue(rule.adjusted_p()) : kAbsent),
                    MarkdownCell(rule.limit()), MarkdownCell(rule.reason()));
  }
  return text;
}

// Text inside an XML attribute.
std::string XmlText(const std::string& text) {
  return absl::StrReplaceAll(MakePrintable(text),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string JunitCase(const v1::RuleResult& rule, const std::string& policy) {
  const std::string head =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", policy, XmlText(rule.name()));
  if (rule.verdict() == v1::VERDICT_PASS) return head + "/>\n";
  const char* outcome = rule.verdict() == v1::VERDICT_FAIL ? "failure" : "error";
  return fmt::format(
      "{}>\n      <{} type=\"{}\" message=\"{}\"/>\n    </testcase>\n", head, outcome,
      VerdictName(rule.verdict()),
      XmlText(fmt::format("{}; limit: {}; {}", rule.measure(), rule.limit(), rule.reason())));
}

std::string AuditJunit(const v1::AuditRunsResponse& audit) {
  const auto& rules = audit.rules();
  const auto failures = std::count_if(rules.begin(), rules.end(), [](const v1::RuleResult& rule) {
    return rule.verdict() == v1::VERDICT_FAIL;
  });
  const auto passes = std::count_if(rules.begin(), rules.end(), [](const v1::RuleResult& rule) {
    return rule.verdict() == v1::VERDICT_PASS;
  });
  const std::string policy = XmlText(audit.policy_name());
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\">\n"
      "    <properties>\n      <property name=\"runs\" value=\"{}\"/>\n    </properties>\n",
      policy, rules.size(), failures, rules.size() - failures - passes, XmlText(What(audit)));
  for (const v1::RuleResult& rule : rules) text += JunitCase(rule, policy);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace

std::string RenderAudit(const v1::AuditRunsResponse& audit, AuditFormat format,
                        const Terminal& terminal) {
  switch (format) {
    case AuditFormat::kTable:
      return AuditTable(audit, terminal);
    case AuditFormat::kJson:
      return ToJson(audit) + '\n';
    case AuditFormat::kJunit:
      return AuditJunit(audit);
    case AuditFormat::kMarkdown:
      return AuditMarkdown(audit);
    case AuditFormat::kText:
      return AuditText(audit);
  }
  return {};
}

}  // namespace sinkd::cli

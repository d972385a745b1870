#include <cmath>

#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/chart.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/output/table.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;
using Points = google::protobuf::RepeatedPtrField<v1::RegressionPoint>;

constexpr int kPlotHeight = 12;
constexpr int kPlotWidth = 76;

std::string ErrorText(const v1::Coefficient& coefficient) {
  return coefficient.has_standard_error() ? Compact(coefficient.standard_error()) : kAbsent;
}

void AddFit(const v1::Fit& fit, Table& table) {
  if (!fit.has_slope()) {
    table.AddRow({FormFormula(fit.form()), Grouped(fit.n()), kAbsent, kAbsent, kAbsent, kAbsent,
                  kAbsent, kAbsent, kAbsent, kAbsent, kAbsent});
    return;
  }
  const v1::Coefficient& a = fit.intercept();
  const v1::Coefficient& b = fit.slope();
  const bool headline = fit.form() == v1::REGRESSION_FORM_LINEAR_LOG;
  table.AddRow({Cell(FormFormula(fit.form()), headline ? Style::kBold : Style::kPlain),
                Grouped(fit.n()), Compact(a.value()), ErrorText(a), Compact(b.value()),
                ErrorText(b), b.has_lower() ? Range(b.lower(), b.upper()) : kAbsent,
                b.has_p() ? PValue(b.p()) : kAbsent, Fixed(fit.r_squared(), 4),
                Compact(fit.residual_deviation()), Fixed(fit.aic(), 2)});
}

std::string Remarks(const v1::RegressionResult& result) {
  std::string text;
  for (const v1::Fit& fit : result.fits()) {
    if (!fit.undefined().empty()) {
      text += fmt::format("  {}: undefined, {}\n", FormFormula(fit.form()),
                          client::MakePrintable(fit.undefined()));
    }
    if (fit.left_out() > 0) {
      text += fmt::format("  {}: {} points left out, not positive under a logarithm\n",
                          FormFormula(fit.form()), Grouped(fit.left_out()));
    }
  }
  return text;
}

std::string Plot(const v1::RegressionResult& result, const Points& points, const std::string& y,
                 const Terminal& terminal) {
  Scatter plot;
  plot.x_title = "MLP norm at the first layer";
  plot.y_title = y;
  for (const v1::RegressionPoint& point : points) {
    if (std::isfinite(point.x()) && std::isfinite(point.y())) {
      plot.points.emplace_back(point.x(), point.y());
    }
  }
  for (const v1::Fit& fit : result.fits()) {
    if (fit.form() != v1::REGRESSION_FORM_LINEAR_LOG || !fit.has_slope()) continue;
    const double a = fit.intercept().value();
    const double b = fit.slope().value();
    plot.curve = [a, b](double x) { return x > 0 ? a + b * std::log(x) : std::nan(""); };
    plot.y_title +=
        fmt::format(", with {} {} {} ln x", Compact(a), b < 0 ? "-" : "+", Compact(std::abs(b)));
  }
  const std::string chart =
      RenderScatter(plot, std::min(terminal.width, kPlotWidth), kPlotHeight, terminal.unicode);
  return chart.empty() ? chart : '\n' + chart;
}

std::string RenderResult(const v1::RegressionResult& result, const Points& points,
                         const std::string& y, const SummaryView& view, const Terminal& terminal) {
  Table table({{"form", Align::kLeft},
               {"n"},
               {"a"},
               {"se(a)"},
               {"b"},
               {"se(b)"},
               {"95% of b"},
               {"p(b)"},
               {"R2"},
               {"resid sd"},
               {"AIC"}});
  for (const v1::Fit& fit : result.fits()) AddFit(fit, table);
  std::string text = Heading(fmt::format("{} (y) against MLP norm (x)", y), terminal) +
                     table.Render(terminal) + Remarks(result);
  text += fmt::format("  Pearson {};  Spearman {}\n", CorrelationText(result.pearson()),
                      CorrelationText(result.spearman()));
  return view.charts ? text + Plot(result, points, y, terminal) : text;
}

std::string Render(const v1::Summary& summary, const SummaryView& view, const Terminal& terminal) {
  if (!summary.has_regression()) return "";
  const v1::RegressionReport& report = summary.regression();
  std::string text = RenderResult(report.score(), report.score_points(), "score", view, terminal);
  if (report.without_score() > 0) {
    text +=
        fmt::format("  left out, as no block reads them: {}\n", Grouped(report.without_score()));
  }
  return text +
         RenderResult(report.lifetime(), report.lifetime_points(), "lifetime", view, terminal);
}

std::string FitRows(const char* y, const v1::RegressionResult& result, const CsvTable& csv) {
  std::string rows;
  for (const v1::Fit& fit : result.fits()) rows += csv.Row({&fit, &result}, {y});
  return rows;
}

std::string Csv(const v1::Summary& summary, const CsvTable& csv) {
  const v1::RegressionReport& report = summary.regression();
  return FitRows("score", report.score(), csv) + FitRows("lifetime", report.lifetime(), csv);
}

}  // namespace

extern const AnalysisCommand kRegressionAnalysis = {
    .name = "regress",
    .field = "regression",
    .group = "Regression",
    .description = "MLP norm against score and lifetime",
    .shows = "MLP norm against score and lifetime",
    .example = "sinkctl regress smollm2-135m --input prompts.jsonl --include-primary",
    .takes_scores = true,
    .needs_scores = true,
    .ask_for_charts = [](v1::AnalysisSpec& spec) { spec.mutable_regression()->set_points(true); },
    .render = Render,
    .csv_columns =
        "y=,form,n,left_out,undefined,"
        "a=intercept.value,a_standard_error=intercept.standard_error,a_t=intercept.t,a_p=intercept."
        "p,a_lower=intercept.lower,a_upper=intercept.upper,"
        "b=slope.value,b_standard_error=slope.standard_error,b_t=slope.t,b_p=slope.p,b_lower=slope."
        "lower,b_upper=slope.upper,"
        "r_squared,residual_deviation,aic,"
        "pearson=pearson.value,pearson_p=pearson.p,spearman=spearman.value,spearman_p=spearman.p",
    .csv = Csv,
};

}  // namespace sinkd::cli

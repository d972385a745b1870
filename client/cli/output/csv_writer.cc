#include "client/cli/output/csv_writer.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "client/cli/output/csv_row.h"
#include "client/cli/output/names.h"
#include "client/cli/output/row_mean.h"
#include "client/run_client.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr std::string_view kSinkHeader =
    "sample_index,sample_id,tokens,prompt_tokens,window_start,window_end,undecided,role,position,"
    "token_id,token_text,kind,l_start,lifetime,layers,contiguous,margin,mlp_norm,state_norm,score,"
    "score_maximum,score_curve,attention_blocks,learned_sink_mass,model,run\r\n";
constexpr std::string_view kAlphaHeader = "sample_index,block,head,position,alpha,model,run\r\n";
constexpr std::string_view kLevelHeader = "l_start,lifetime,kind,count,model,run\r\n";
constexpr std::string_view kFitHeader =
    "y,form,n,left_out,undefined,a,a_standard_error,a_t,a_p,a_lower,a_upper,b,b_standard_error,"
    "b_t,b_p,b_lower,b_upper,r_squared,residual_deviation,aic,pearson,pearson_p,spearman,"
    "spearman_p,model,run\r\n";
constexpr std::string_view kBlockHeader =
    "block,primary,primary_lower,primary_upper,secondary,secondary_lower,secondary_upper,rest,"
    "primary_norm,samples_weakest_here,gate,gate_primary,gate_secondary,learned_sink_mass,model,"
    "run\r\n";
constexpr std::string_view kRateHeader = "position,rate,hits,cells,model,run\r\n";

std::string_view Header(const Sections& sections, bool alpha_rows) {
  if (alpha_rows) return kAlphaHeader;
  if (sections.levels) return kLevelHeader;
  if (sections.regress) return kFitHeader;
  if (sections.compensation) return kBlockHeader;
  if (sections.rate) return kRateHeader;
  return kSinkHeader;
}

std::string SinkRow(const v1::SampleRecord& record, const v1::Sink& sink, const char* role) {
  CsvRow row;
  row.Add(record.sample_index()).Add(record.sample_id()).Add(record.positions());
  row.AddIf(record.has_prompt_tokens(), record.prompt_tokens());
  row.Add(record.window_start()).Add(record.window_end()).Add(record.undecided()).Add(role);
  row.Add(sink.position()).Add(sink.token_id()).Add(sink.token_text()).Add(KindName(sink.kind()));
  row.Add(sink.l_start()).Add(sink.lifetime());
  row.Add(fmt::format("{}", fmt::join(sink.layers(), " "))).Add(sink.contiguous());
  row.AddIf(sink.has_margin(), sink.margin()).AddIf(sink.has_mlp_norm(), sink.mlp_norm());
  row.AddIf(sink.has_state_norm(), sink.state_norm()).AddIf(sink.has_score(), sink.score());
  row.AddIf(sink.has_score_maximum(), sink.score_maximum());
  row.Add(fmt::format("{}", fmt::join(sink.score_curve(), " ")));
  row.Add(fmt::format("{}", fmt::join(record.attention_blocks(), " ")));
  row.Add(fmt::format("{}", fmt::join(record.learned_sink_mass(), " ")));
  return row.Take();
}

void AddCoefficient(bool present, const v1::Coefficient& coefficient, CsvRow& row) {
  row.AddIf(present, coefficient.value()).AddIf(present, coefficient.standard_error());
  row.AddIf(present, coefficient.t()).AddIf(present, coefficient.p());
  row.AddIf(present, coefficient.lower()).AddIf(present, coefficient.upper());
}

void AddCorrelation(const v1::Correlation& correlation, CsvRow& row) {
  row.AddIf(correlation.has_value(), correlation.value());
  row.AddIf(correlation.has_p(), correlation.p());
}

void WriteFits(const char* y, const v1::RegressionResult& result, Output& output) {
  for (const v1::Fit& fit : result.fits()) {
    CsvRow row;
    row.Add(y).Add(FormName(fit.form())).Add(fit.n()).Add(fit.left_out()).Add(fit.undefined());
    AddCoefficient(fit.has_intercept(), fit.intercept(), row);
    AddCoefficient(fit.has_slope(), fit.slope(), row);
    row.AddIf(fit.has_r_squared(), fit.r_squared());
    row.AddIf(fit.has_residual_deviation(), fit.residual_deviation());
    row.AddIf(fit.has_aic(), fit.aic());
    AddCorrelation(result.pearson(), row);
    AddCorrelation(result.spearman(), row);
    output.Write(row.Take());
  }
}

void WriteLevels(const v1::LevelReport& report, Output& output) {
  for (const v1::LevelCount& level : report.counts()) {
    CsvRow row;
    row.Add(level.l_start()).Add(level.lifetime()).Add(KindName(level.kind())).Add(level.count());
    output.Write(row.Take());
  }
}

// Where `block` stands among the blocks with attention; -1 where it has none.
int PlaceOf(const v1::Summary& summary, int block) {
  if (summary.attention_blocks_size() == 0) return block;
  const auto& blocks = summary.attention_blocks();
  const auto found = std::find(blocks.begin(), blocks.end(), block);
  return found == blocks.end() ? -1 : static_cast<int>(found - blocks.begin());
}

void WriteBlocks(const v1::Summary& summary, Output& output) {
  const v1::CompensationReport& report = summary.compensation();
  const v1::LearnedSinkReport& learned = summary.learned_sinks();
  const v1::GateReport& gates = summary.gates();
  for (int block = 0; block < report.blocks_size(); ++block) {
    const v1::BlockCompensation& values = report.blocks(block);
    const auto weakest = report.weakest_block().find(block);
    CsvRow row;
    row.Add(block).AddIf(values.has_primary(), values.primary());
    row.AddIf(values.has_primary_interval(), values.primary_interval().lower());
    row.AddIf(values.has_primary_interval(), values.primary_interval().upper());
    row.AddIf(values.has_secondary(), values.secondary());
    row.AddIf(values.has_secondary_interval(), values.secondary_interval().lower());
    row.AddIf(values.has_secondary_interval(), values.secondary_interval().upper());
    row.AddIf(values.has_rest(), values.rest()).Add(values.primary_norm());
    row.Add(weakest == report.weakest_block().end() ? int64_t{0} : weakest->second);
    const int place = PlaceOf(summary, block);
    for (const auto* values_of : {&gates.all(), &gates.primary(), &gates.secondary()}) {
      const bool has_gate =
          place >= 0 && (place + 1) * gates.heads() <= values_of->size() && gates.heads() > 0;
      row.AddIf(has_gate, has_gate ? MeanOfRow(*values_of, place, gates.heads()) : 0.0);
    }
    const bool has_mass = place >= 0 && place < learned.mass_size();
    row.AddIf(has_mass, has_mass ? learned.mass(place) : 0.0);
    output.Write(row.Take());
  }
}

void WriteRates(const v1::SinkRateReport& report, Output& output) {
  for (int position = 0; position < report.cells_size(); ++position) {
    const bool defined = position < report.rates_size() && report.cells(position) > 0;
    CsvRow row;
    row.Add(position).AddIf(defined, defined ? report.rates(position) : 0.0);
    row.AddIf(position < report.hits_size(),
              position < report.hits_size() ? report.hits(position) : int64_t{0});
    row.Add(report.cells(position));
    output.Write(row.Take());
  }
}

}  // namespace

CsvWriter::CsvWriter(const AnalyzeOptions& options, Output& output)
    : options_(options), alpha_rows_(options.spec.scores().all_positions()), output_(output) {
  output_.Write(Header(options.sections, alpha_rows_));
}

void CsvWriter::Started(const v1::AnalyzeStarted& started) {
  const std::string& run = started.spec().run_id();
  CsvRow::EndWith(started.spec().model(), run.empty() ? "" : client::RunName(run));
}

void CsvWriter::Record(const v1::SampleRecord& record) {
  if (!options_.sections.per_sample() || alpha_rows_) return;
  output_.Write(SinkRow(record, record.primary(), "primary"));
  for (const v1::Sink& sink : record.sinks()) output_.Write(SinkRow(record, sink, "sink"));
}

void CsvWriter::Alpha(const v1::AlphaChunk& alpha) {
  if (!alpha_rows_ || alpha.positions() <= 0) return;
  for (int i = 0; i < alpha.values_size(); ++i) {
    const int64_t head = alpha.first_head() + i / alpha.positions();
    CsvRow row;
    row.Add(alpha.sample_index()).Add(alpha.block()).Add(head).Add(i % alpha.positions());
    row.AddIf(alpha.values(i) == alpha.values(i), alpha.values(i));
    output_.Write(row.Take());
  }
}

void CsvWriter::Summary(const v1::Summary& summary) {
  const Sections& sections = options_.sections;
  if (alpha_rows_) return;
  if (sections.levels) WriteLevels(summary.levels(), output_);
  if (sections.regress) {
    WriteFits("score", summary.regression().score(), output_);
    WriteFits("lifetime", summary.regression().lifetime(), output_);
  }
  if (sections.compensation) WriteBlocks(summary, output_);
  if (sections.rate) WriteRates(summary.sink_rate(), output_);
}

}  // namespace sinkd::cli

#include "client/cli/output/csv_writer.h"

#include <fmt/ranges.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/csv_row.h"
#include "client/cli/output/names.h"
#include "client/run_client.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr std::string_view kSinkHeader =
    "sample_index,sample_id,tokens,prompt_tokens,window_start,window_end,undecided,role,position,"
    "token_id,token_text,kind,l_start,lifetime,layers,contiguous,margin,mlp_norm,state_norm,score,"
    "score_maximum,score_curve,attention_blocks,learned_sink_mass";
constexpr std::string_view kAlphaHeader = "sample_index,block,head,position,alpha";

std::string SinkRow(const v1::SampleRecord& record, const v1::Sink& sink, const char* role) {
  CsvRow row;
  row.Add(record.sample_index()).Add(record.sample_id()).Add(record.positions());
  row.AddIf(record.has_prompt_tokens(), record.prompt_tokens());
  row.Add(record.window_start()).Add(record.window_end()).Add(record.undecided()).Add(role);
  row.Add(sink.position()).Add(sink.token_id()).Add(sink.token_text()).Add(WordOf(sink.kind()));
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

}  // namespace

CsvWriter::CsvWriter(const AnalyzeOptions& options, Output& output)
    : analysis_(**options.sections.begin()),
      alpha_rows_(options.spec.scores().all_positions()),
      output_(output) {
  const std::string_view header = alpha_rows_                ? kAlphaHeader
                                  : analysis_.csv != nullptr ? analysis_.csv_header
                                                             : kSinkHeader;
  output_.Write(fmt::format("{},model,run\r\n", header));
}

void CsvWriter::Started(const v1::AnalyzeStarted& started) {
  const std::string& run = started.spec().run_id();
  CsvRow::EndWith(started.spec().model(), run.empty() ? "" : client::RunName(run));
}

void CsvWriter::Record(const v1::SampleRecord& record) {
  if (analysis_.csv != nullptr || alpha_rows_) return;
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
  if (analysis_.csv != nullptr && !alpha_rows_) output_.Write(analysis_.csv(summary));
}

}  // namespace sinkd::cli

#include "client/cli/output/table_writer.h"

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/record_view.h"
#include "client/cli/output/summary_view.h"

namespace sinkd::cli {

void TableWriter::Started(const sinks::v1::AnalyzeStarted& started) {
  blocks_ = started.blocks();
  output_.Write(RenderStarted(started, terminal_));
}

void TableWriter::Record(const sinks::v1::SampleRecord& record) {
  const Sections& sections = options_.sections;
  if (!ShowsRecords(sections)) return;
  output_.Write(RenderRecord(record,
                             {sections.contains(&kDetectAnalysis),
                              sections.contains(&kScoresAnalysis), !options_.no_chart},
                             terminal_));
}

void TableWriter::Summary(const sinks::v1::Summary& summary) {
  output_.Write(
      RenderSummary(summary, {options_.sections, blocks_, !options_.no_chart}, terminal_));
}

}  // namespace sinkd::cli

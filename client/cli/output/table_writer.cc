#include "client/cli/output/table_writer.h"

#include "client/cli/output/record_view.h"
#include "client/cli/output/summary_view.h"

namespace sinkd::cli {

void TableWriter::Started(const sinks::v1::AnalyzeStarted& started) {
  blocks_ = started.blocks();
  output_.Write(RenderStarted(started, terminal_));
}

void TableWriter::Record(const sinks::v1::SampleRecord& record) {
  if (!options_.sections.per_sample()) return;
  const Sections& sections = options_.sections;
  output_.Write(
      RenderRecord(record, {sections.detect, sections.scores, !options_.no_chart}, terminal_));
}

void TableWriter::Summary(const sinks::v1::Summary& summary) {
  output_.Write(
      RenderSummary(summary, {options_.sections, blocks_, !options_.no_chart}, terminal_));
}

}  // namespace sinkd::cli

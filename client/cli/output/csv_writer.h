// CSV output of one analysis: a header that depends on the command only, then rows.
//
//   detect, scores        a row a sink, the primary sink first (role: primary, sink)
//   ... --all-positions   a row a (sample, block, head, position) instead
//   levels                a row a (level, kind)
//   regress               a row a fit: y, form, coefficients
//   compensation          a row a block
//   rate                  a row a position
// The last columns are the model and the run, if there is one. Errors go to standard error only.
#pragma once

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/result_writer.h"

namespace sinkd::cli {

class CsvWriter : public ResultWriter {
 public:
  // Exactly one section of `options` is set.
  CsvWriter(const AnalyzeOptions& options, Output& output);
  void Started(const sinks::v1::AnalyzeStarted& started) override;
  void Record(const sinks::v1::SampleRecord& record) override;
  void Alpha(const sinks::v1::AlphaChunk& alpha) override;
  void Summary(const sinks::v1::Summary& summary) override;

 private:
  const AnalysisCommand& analysis_;
  bool alpha_rows_;
  Output& output_;
};

}  // namespace sinkd::cli

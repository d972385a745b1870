// Table output of an analysis: a table a sample as it comes, then the summaries with their charts.
#pragma once

#include "client/cli/output/result_writer.h"

namespace sinkd::cli {

class TableWriter : public ResultWriter {
 public:
  TableWriter(const AnalyzeOptions& options, const Terminal& terminal, Output& output)
      : options_(options), terminal_(terminal), output_(output) {}
  void Started(const sinks::v1::AnalyzeStarted& started) override;
  void Record(const sinks::v1::SampleRecord& record) override;
  void Summary(const sinks::v1::Summary& summary) override;

 private:
  const AnalyzeOptions& options_;
  Terminal terminal_;
  Output& output_;
  int blocks_ = 0;  // of the model
};

}  // namespace sinkd::cli

// What the tables and rows of several studies are made of.
//
// Thread-safety: pure functions; Remarks belongs to one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/output/csv_table.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd::cli {

// Why numbers of a table are undefined, each reason once, as lines under it.
class Remarks {
 public:
  // "0.9812 [0.9790, 0.9834]", or "-", which leaves a remark on `what`. With `interval` false, the
  // value alone.
  std::string Show(const char* what, const sinks::v1::Estimate& estimate, bool interval = true);

  // "  suppressed: undefined, fewer than 2 sinks" and so on; empty when there are none.
  std::string Render() const;

 private:
  std::vector<std::string> lines_;
};

// "undefined: no targets", for a study that has no numbers at all.
std::string UndefinedStudy(const std::string& why, const Terminal& terminal);

// "computed 1,234 block-rows, 0.41 of the 3,000 of whole passes".
std::string CostLine(const sinks::v1::StudyCost& cost);

// CSV: a row for each estimate of `owner` that `fields` names ("lifetime,sinks"), with `words` and
// the field's name as words. Other columns are those of the estimate and of `line`; estimates that
// are absent are left out.
std::string EstimateRows(const google::protobuf::Message& line,
                         const google::protobuf::Message& owner, std::string_view fields,
                         const CsvTable& csv, CsvTable::Words words = {});

// The line of counts over every report: samples, tokens, sinks, targets, controls, seed, time; and
// that it is partial, where it is.
std::string RenderReportHead(const char* name, bool targets, const sinks::v1::StudyReport& report,
                             const sinks::v1::RunStudyRequest& request, const Terminal& terminal);

}  // namespace sinkd::cli

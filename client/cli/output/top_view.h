// What `top` shows: a server's devices, callers, models and rates.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "client/cli/output/csv_table.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/server.pb.h"

namespace sinkd::cli {

// `before` is an earlier status, which rates are told from; null or of another start of the server:
// they are over its whole life.
std::string RenderTop(const sinks::v1::ServerStatus& status, const sinks::v1::ServerStatus* before,
                      const Terminal& terminal);

// What a server did between two statuses, in a sentence.
std::string DescribeTop(const sinks::v1::ServerStatus& first, const sinks::v1::ServerStatus& last);

// From one moment to a later one.
double Seconds(const google::protobuf::Timestamp& from, const google::protobuf::Timestamp& to);

// As CSV: a row a device.
CsvTable TopCsv(bool raw);
std::string TopRows(const sinks::v1::ServerStatus& status, const CsvTable& csv);

}  // namespace sinkd::cli

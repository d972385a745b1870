// CodecStudyReport: what a study found, struct to proto.
//
// Thread-safety: pure functions.
#pragma once

#include "server/mechanism/study_report.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

sinks::v1::StudyReport EncodeStudyReport(const StudyReport& report);

// The parts of it. Estimates without a value have only their n and the reason.
sinks::v1::Estimate EncodeEstimate(const Estimate& in);
void EncodeFindings(const AlignReport& in, sinks::v1::StudyReport* out);
void EncodeFindings(const PcaReport& in, sinks::v1::StudyReport* out);
void EncodeFindings(const ClusterReport& in, sinks::v1::StudyReport* out);
void EncodeFindings(const SwapReport& in, sinks::v1::StudyReport* out);
void EncodeFindings(const SteerReport& in, sinks::v1::StudyReport* out);
void EncodeFindings(const EntropyReport& in, sinks::v1::StudyReport* out);
void EncodeFindings(const NormsReport& in, sinks::v1::StudyReport* out);
void EncodeFindings(const MassiveReport& in, sinks::v1::StudyReport* out);

}  // namespace sinkd

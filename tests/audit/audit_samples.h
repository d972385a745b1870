// What tests of audits share: the samples that tests/testing/audit_samples.py wrote, as records,
// and policies.
#pragma once

#include <string>
#include <vector>

#include "server/analysis/records.h"
#include "server/audit/audit.h"

namespace sinkd::testing {

std::string ReadText(const std::string& path);
std::string PolicyText(const std::string& name);  // of deploy/policies
Policy ReadPolicyOrDie(const std::string& yaml);

// A sample whose sinks have the levels given, by position from 1.
v1::SampleRecord MakeSample(const std::vector<Level>& levels, int64_t positions = 100);

std::vector<v1::SampleRecord> PlantedSet(const std::string& name);

Evidence Gather(const std::vector<v1::SampleRecord>& records, uint64_t seed = 0);

// Fails the test when the audit has an error.
AuditReport AuditOrDie(const Policy& policy, const Evidence& candidate, const Evidence* baseline,
                       uint64_t seed = 0);

std::vector<std::string> NamesWith(const AuditReport& report, Verdict verdict);

}  // namespace sinkd::testing

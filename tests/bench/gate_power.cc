// How often a policy fails, by number of prompts, over random draws of prompts.
//
//   gate_power POLICY SIZES DRAWS BASELINE CANDIDATE...
//
// BASELINE and CANDIDATE are runs of the same prompts as `sinkctl runs export` writes them; SIZES
// is "20,40". Each draw takes so many prompts of the baseline's, and from the candidate's the same
// ones
// ("same"), or as many others where there are enough ("other"). Writes JSON: {candidate: {size:
// {"same":
// {"draws", "not_enough_data", "fail", "rules": {name: draws in which it fails}}, "other": ..}}}.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include <google/protobuf/util/json_util.h>
#include <nlohmann/json.hpp>

#include "server/audit/audit.h"

namespace sinkd {
namespace {

using nlohmann::json;

struct Stored {
  std::string key;
  v1::SampleRecord record;
};

[[noreturn]] void Die(const std::string& why) {
  std::cerr << "gate_power: " << why << "\n";
  std::exit(1);
}

// By key, so that runs of the same prompts are in the same order.
std::vector<Stored> ReadRun(const std::string& path) {
  std::ifstream file(path);
  if (!file) Die("cannot read " + path);
  std::vector<Stored> run;
  for (std::string line; std::getline(file, line);) {
    const json parsed = json::parse(line);
    if (parsed.at("type") != "storedRecord") continue;
    const json& stored = parsed.at("storedRecord");
    Stored& read = run.emplace_back(Stored{.key = stored.at("sampleKey"), .record = {}});
    const auto status =
        google::protobuf::util::JsonStringToMessage(stored.at("record").dump(), &read.record);
    if (!status.ok()) Die(path + ": " + std::string(status.message()));
  }
  std::sort(run.begin(), run.end(), [](const Stored& a, const Stored& b) { return a.key < b.key; });
  return run;
}

Policy ReadPolicy(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  absl::StatusOr<Policy> policy = ParsePolicy(text.str());
  if (!policy.ok()) Die(std::string(policy.status().message()));
  return *std::move(policy);
}

Evidence Take(const std::vector<Stored>& run, const std::vector<size_t>& order, size_t from,
              size_t count) {
  Evidence evidence(0);
  for (size_t i = from; i < from + count; ++i) {
    evidence.Add(run[order[i]].key, run[order[i]].record);
  }
  return evidence;
}

void Count(const Policy& policy, const Evidence& candidate, const Evidence& baseline, uint64_t seed,
           json& counts) {
  const auto report = Audit(policy, candidate, &baseline, seed, [] { return false; });
  if (!report.ok()) Die(std::string(report.status().message()));
  const auto add = [](json& count, int more) {
    count = count.is_null() ? more : count.get<int>() + more;
  };
  add(counts["draws"], 1);
  add(counts["fail"], report->verdict == Verdict::kFail ? 1 : 0);
  add(counts["not_enough_data"], report->verdict == Verdict::kNotEnoughData ? 1 : 0);
  for (const RuleResult& rule : report->rules) {
    add(counts["rules"][rule.name], rule.verdict == Verdict::kFail ? 1 : 0);
  }
}

json Simulate(const Policy& policy, const std::vector<Stored>& baseline,
              const std::vector<Stored>& candidate, size_t size, int draws) {
  json counts;
  std::mt19937_64 generator(size);
  std::vector<size_t> order(baseline.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int draw = 0; draw < draws; ++draw) {
    std::shuffle(order.begin(), order.end(), generator);
    const Evidence known = Take(baseline, order, 0, size);
    const auto seed = static_cast<uint64_t>(draw);
    Count(policy, Take(candidate, order, 0, size), known, seed, counts["same"]);
    if (order.size() < 2 * size) continue;
    Count(policy, Take(candidate, order, size, size), known, seed, counts["other"]);
  }
  return counts;
}

int Main(int argc, char** argv) {
  if (argc < 6) Die("usage: gate_power POLICY SIZES DRAWS BASELINE CANDIDATE...");
  const Policy policy = ReadPolicy(argv[1]);
  const std::vector<Stored> baseline = ReadRun(argv[4]);
  json result;
  for (int i = 5; i < argc; ++i) {
    const std::vector<Stored> candidate = ReadRun(argv[i]);
    if (candidate.size() != baseline.size()) Die("runs of other prompts");
    std::istringstream sizes(argv[2]);
    for (std::string size; std::getline(sizes, size, ',');) {
      result[argv[i]][size] =
          Simulate(policy, baseline, candidate, std::stoul(size), std::stoi(argv[3]));
    }
  }
  std::cout << result.dump(1) << "\n";
  return 0;
}

}  // namespace
}  // namespace sinkd

int main(int argc, char** argv) {
  return sinkd::Main(argc, argv);
}

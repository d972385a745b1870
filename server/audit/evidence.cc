#include "server/audit/evidence.h"

namespace sinkd {
namespace {

// FNV-1a, then the finalizer of splitmix64: the same on every platform.
uint64_t SeededHash(std::string_view text, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash += seed * 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

}  // namespace

AuditUnit* Evidence::Find(std::string_view key) {
  ++seen_;
  const uint64_t hash = SeededHash(key, seed_);
  if (hash >= bound_) return nullptr;
  AuditUnit& unit = units_[hash];
  if (unit.numbers.empty()) {
    unit.key = hash;
    unit.numbers.resize(SampleNumbers().size());
    unit.layers.resize(SampleLayers().size());
  }
  return &unit;
}

void Evidence::Add(std::string_view key, const v1::SampleRecord& record) {
  AuditUnit* unit = Find(key);
  if (unit == nullptr) return;
  ++unit->samples;
  unit->tokens += record.positions();
  AddNumbers({.record = &record}, *unit);
  for (size_t i = 0; i < unit->layers.size(); ++i) {
    const std::optional<int32_t> layer = SampleLayers()[i].read(record);
    if (layer) unit->layers[i].push_back(*layer);
  }
  unit->primaries.push_back({.position = record.primary().position(),
                             .window_start = record.window_start(),
                             .window_end = record.window_end()});
  if (record.has_outliers()) {
    unit->outliers += record.outliers().count();
    unit->outlier_tokens += record.positions();
    for (const v1::OutlierToken& token : record.outliers().largest()) {
      unit->outlier_ids.push_back(token.token_id());
    }
  }
  for (const v1::Sink& sink : record.sinks()) {
    if (!IsSecondary(sink)) continue;
    unit->sinks.push_back({.position = sink.position(),
                           .level = LevelOf(sink),
                           .mlp_norm = sink.mlp_norm(),
                           .score = ScoreOf(sink)});
    ++sinks_;
  }
  KeepWithinLimits();
}

void Evidence::AddFailure(std::string_view key, bool non_finite) {
  AuditUnit* unit = Find(key);
  if (unit == nullptr) return;
  AddNumbers({.non_finite = non_finite}, *unit);
  KeepWithinLimits();
}

void Evidence::AddNumbers(const AuditedSample& sample, AuditUnit& unit) const {
  for (size_t i = 0; i < unit.numbers.size(); ++i) {
    const std::optional<double> number = SampleNumbers()[i].read(sample);
    if (!number) continue;
    ++unit.numbers[i].n;
    unit.numbers[i].sum += *number;
  }
}

void Evidence::KeepWithinLimits() {
  while (units_.size() > limits_.most_units || (sinks_ > limits_.most_sinks && units_.size() > 1)) {
    const auto last = std::prev(units_.end());
    bound_ = last->first;
    sinks_ -= last->second.sinks.size();
    units_.erase(last);
  }
}

std::vector<const AuditUnit*> Evidence::units() const {
  std::vector<const AuditUnit*> units;
  units.reserve(units_.size());
  for (const auto& [key, unit] : units_) units.push_back(&unit);
  return units;
}

}  // namespace sinkd

#include "server/mechanism/ablate_study.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr v1::AblationRole kRoles[] = {v1::ABLATION_ROLE_SELF, v1::ABLATION_ROLE_DRAWN_CONTROL,
                                       v1::ABLATION_ROLE_ATTENDED_CONTROL};

bool IsOfHeads(v1::Ablation ablation) {
  return ablation == v1::ABLATION_ZERO_HEAD || ablation == v1::ABLATION_HEAD_TO_PRIMARY;
}

}  // namespace

std::vector<StudyBase::Phase> AblateStudy::Plan() {
  ChooseTargetsOf(/*any_start=*/true);
  const DecoderSpec& spec = model().info().spec;
  primary_alpha_.resize(Trace::At(spec.blocks * spec.heads));
  const auto load_head = [this](int64_t, std::stop_token stop) { return sweep_.LoadHead(stop); };
  return {ForEachSample("prepare", [this](int64_t sample,
                                          std::stop_token stop) { return Prepare(sample, stop); }),
          {"choose", 1, [this](int64_t, std::stop_token) { return ChooseRows(); }},
          {"load head", 1, load_head},
          MeasureEachSample("ablate", [this](int64_t sample, std::stop_token stop) {
            return Measure(sample, stop);
          })};
}

absl::Status AblateStudy::Prepare(int64_t sample, std::stop_token stop) {
  const DetectedSample& found = detected(sample);
  const TokenIds& ids = found.sample.ids;
  const int64_t start = found.record.window_start();
  const CaptureRequest request{
      .site = Site::kMlpOut, .block = start, .positions = {found.record.primary().position()}};
  SINKD_ASSIGN_OR_RETURN(const std::vector<Matrix> captured,
                         model().Capture(ids, {&request, 1}, stop));
  const TraceRequest trace{.last_state = LastStateOf(detection()), .attention = true};
  SINKD_ASSIGN_OR_RETURN(const std::vector<Trace> traces, model().Run({&ids, 1}, trace, stop));
  sweep_.AddRows((start + 1 + found.record.layers()) * std::ssize(ids));
  Ablated& ablated = samples_.emplace_back();
  ablated.direction = captured[0].values;
  for (const ChosenPosition& target : TargetsOf(sample)) {
    const auto& sinks = found.record.sinks();
    ablated.targets.push_back(&*std::find_if(sinks.begin(), sinks.end(), [&](const v1::Sink& sink) {
      return sink.position() == target.position;
    }));
  }
  RankPositions(sample, traces.front());
  return absl::OkStatus();
}

void AblateStudy::RankPositions(int64_t sample, const Trace& trace) {
  const v1::SampleRecord& record = detected(sample).record;
  Ablated& ablated = samples_.back();
  const std::vector<int64_t> others = NeverSinksPastPrimary(record);
  std::map<int64_t, double> attention;
  const int64_t primary = record.primary().position();
  for (const int32_t block : trace.AttentionBlocks()) {
    for (int64_t h = 0; h < trace.heads; ++h) {
      primary_alpha_[Trace::At(block * trace.heads + h)] +=
          trace.AttentionSum(block, h, primary) / static_cast<double>(trace.positions - primary);
      if (block <= record.window_start()) continue;
      for (const int64_t k : others) {
        attention[k] += trace.AttentionSum(block, h, k) - trace.AttentionSelf(block, h, k);
      }
    }
  }
  ablated.drawn_for_primary = draws().ChooseFrom(others, 1);
  ablated.drawn = draws().ChooseFrom(others, std::ssize(ablated.targets));
  ablated.attended = others;
  std::stable_sort(ablated.attended.begin(), ablated.attended.end(),
                   [&](int64_t a, int64_t b) { return attention[a] > attention[b]; });
  ablated.attended.resize(std::min(others.size(), std::max<size_t>(1, ablated.targets.size())));
}

std::vector<Level> AblateStudy::FrequentLevels() const {
  std::map<Level, int64_t> counts;
  for (const Ablated& sample : samples_) {
    for (const v1::Sink* target : sample.targets) ++counts[LevelOf(*target)];
  }
  std::vector<Level> levels;
  for (const auto& [level, count] : counts) levels.push_back(level);
  std::stable_sort(levels.begin(), levels.end(),
                   [&](const Level& a, const Level& b) { return counts.at(a) > counts.at(b); });
  levels.resize(std::min(levels.size(), static_cast<size_t>(ablate().levels())));
  return levels;
}

std::pair<std::vector<AblateStudy::HeadPlace>, std::vector<AblateStudy::HeadPlace>>
AblateStudy::ChooseHeads() {
  const DecoderSpec& spec = model().info().spec;
  std::vector<HeadPlace> all;
  for (int32_t block = 0; block < spec.blocks; ++block) {
    if (!spec.Attends(block)) continue;
    for (int32_t head = 0; head < spec.heads; ++head) all.push_back({block, head});
  }
  const auto alpha = [&](const HeadPlace& place) {
    return primary_alpha_[Trace::At(place.block * spec.heads + place.head)];
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const HeadPlace& a, const HeadPlace& b) { return alpha(a) > alpha(b); });
  const int64_t most = std::min<int64_t>(ablate().heads(), std::ssize(all));
  std::vector<HeadPlace> others;
  for (const int64_t i : draws().Choose(std::ssize(all) - most, most)) {
    others.push_back(all[Trace::At(most + i)]);
  }
  all.resize(Trace::At(most));
  return {all, others};
}

void AblateStudy::AddPositionRows(v1::Ablation ablation, const std::vector<Level>& levels) {
  const auto add = [&](v1::AblatedGroup group, std::optional<Level> level) {
    for (const v1::AblationRole role : kRoles) {
      rows_.emplace_back(
          AblationPlace{.ablation = ablation, .group = group, .role = role, .level = level});
    }
  };
  add(v1::ABLATED_GROUP_PRIMARY, {});
  if (!targets_.empty()) add(v1::ABLATED_GROUP_TARGETS, {});
  for (const Level& level : levels) add(v1::ABLATED_GROUP_LEVEL, level);
}

absl::Status AblateStudy::ChooseRows() {
  const std::vector<Level> levels = FrequentLevels();
  const auto [heads, other_heads] = ChooseHeads();
  for (const int value : ablate().ablations()) {
    const auto ablation = static_cast<v1::Ablation>(value);
    if (ablation == v1::ABLATION_SOFTMAX_PLUS_ONE) {
      rows_.emplace_back(
          AblationPlace{.ablation = ablation, .group = v1::ABLATED_GROUP_ALL_HEADS, .level = {}});
      continue;
    }
    if (!IsOfHeads(ablation)) {
      AddPositionRows(ablation, levels);
      continue;
    }
    for (const auto& [role, places] : {std::pair{v1::ABLATION_ROLE_SELF, &heads},
                                       std::pair{v1::ABLATION_ROLE_DRAWN_CONTROL, &other_heads}}) {
      for (const HeadPlace& each : *places) {
        rows_.emplace_back(AblationPlace{.ablation = ablation,
                                         .group = v1::ABLATED_GROUP_HEAD,
                                         .role = role,
                                         .level = {},
                                         .block = each.block,
                                         .head = each.head});
      }
    }
  }
  return absl::OkStatus();
}

std::vector<AblatedPosition> AblateStudy::PositionsOf(int64_t sample,
                                                      const AblationPlace& place) const {
  const Ablated& ablated = samples_[Trace::At(sample)];
  const v1::SampleRecord& record = detected(sample).record;
  const bool of_primary = place.group == v1::ABLATED_GROUP_PRIMARY;
  const std::vector<int64_t>& controls = place.role == v1::ABLATION_ROLE_ATTENDED_CONTROL
                                             ? ablated.attended
                                         : of_primary ? ablated.drawn_for_primary
                                                      : ablated.drawn;
  std::vector<const v1::Sink*> sinks = ablated.targets;
  if (of_primary) sinks = {&record.primary()};
  std::vector<AblatedPosition> positions;
  for (size_t i = 0; i < sinks.size(); ++i) {
    const v1::Sink& sink = *sinks[i];
    if (place.level && LevelOf(sink) != *place.level) continue;
    const int32_t first = of_primary ? record.window_start() : sink.l_start();
    if (place.role == v1::ABLATION_ROLE_SELF) {
      positions.push_back({sink.position(), first});
    } else if (i < controls.size()) {
      positions.push_back({controls[i], first});
    }
  }
  std::sort(
      positions.begin(), positions.end(),
      [](const AblatedPosition& a, const AblatedPosition& b) { return a.position < b.position; });
  return positions;
}

SampleAblation AblateStudy::MakeAblation(int64_t sample, const AblationPlace& place) const {
  const DecoderSpec& spec = model().info().spec;
  const int64_t primary = detected(sample).record.primary().position();
  SampleAblation ablation{.origin = primary, .variant = {}};
  if (place.group == v1::ABLATED_GROUP_ALL_HEADS) {
    for (int64_t block = 0; block < spec.blocks; ++block) {
      if (!spec.Attends(block)) continue;
      ablation.variant.push_back(
          {.block = block, .positions = {}, .action = EditAction::kPlusOne, .vector = {}});
    }
  } else if (place.group == v1::ABLATED_GROUP_HEAD) {
    const bool zero = place.ablation == v1::ABLATION_ZERO_HEAD;
    Edit edit{.block = place.block,
              .positions = {},
              .action = zero ? EditAction::kZeroHeads : EditAction::kOneKey,
              .vector = {},
              .heads = {place.head}};
    if (!zero) edit.positions = {primary};
    ablation.variant.push_back(std::move(edit));
  } else {
    ablation.positions = PositionsOf(sample, place);
    ablation.own_sinks = place.role == v1::ABLATION_ROLE_SELF;
    if (ablation.positions.empty()) return ablation;
    ablation.origin = ablation.positions.front().position;
    ablation.variant = AblatePositions(place.ablation, ablation.positions,
                                       samples_[Trace::At(sample)].direction, spec);
  }
  return ablation;
}

absl::Status AblateStudy::Measure(int64_t sample, std::stop_token stop) {
  const DetectedSample& found = detected(sample);
  std::vector<size_t> rows;  // that the sample has something of
  std::vector<SampleAblation> ablations;
  std::vector<Variant> variants;
  for (size_t r = 0; r < rows_.size(); ++r) {
    SampleAblation ablation = MakeAblation(sample, rows_[r].place());
    if (ablation.variant.empty()) continue;
    rows.push_back(r);
    variants.push_back(std::move(ablation.variant));
    ablations.push_back(std::move(ablation));
  }
  const InterventionRequest request{
      .trace = {.last_state = LastStateOf(detection()), .attention = false},
      .head = sweep_.head(),
      .predictions = true};
  // A sample counts only when all its variants ran: its rows are added at the end.
  std::vector<AblationRow> of_sample;
  std::optional<SinkMap> before;
  std::optional<double> loss;
  SINKD_RETURN_IF_ERROR(sweep_.Run(
      found.sample.ids, variants, request, stop,
      [&](int64_t variant, const PassOutcome& base, const PassOutcome& outcome) {
        if (!before) before.emplace(detection(), found.record, base.trace);
        const SinkMap after(detection(), found.record, outcome.trace);
        const AblatedSample unmodified{.index = found.sample.index,
                                       .ids = found.sample.ids,
                                       .record = found.record,
                                       .base = base,
                                       .sinks = *before};
        AblationRow& row = of_sample.emplace_back(rows_[rows[Trace::At(variant)]].place());
        row.Add(unmodified, ablations[Trace::At(variant)], outcome, after);
        loss = base.loss;
      }));
  for (size_t i = 0; i < rows.size(); ++i) rows_[rows[i]].Merge(of_sample[i]);
  if (loss) loss_.Add(*loss, 1);
  return absl::OkStatus();
}

int64_t AblateStudy::ControlCount() const {
  int64_t count = 0;
  for (int64_t s = 0; s < std::min<int64_t>(covered(), std::ssize(samples_)); ++s) {
    const Ablated& sample = samples_[Trace::At(s)];
    count += std::ssize(sample.drawn_for_primary) + std::ssize(sample.drawn) +
             std::ssize(sample.attended);
  }
  return count;
}

void AblateStudy::AddFindings(const std::string& missing, v1::StudyReport& report) {
  v1::AblateReport& found = *report.mutable_ablate();
  *found.mutable_cost() = sweep_.cost();
  *found.mutable_loss() = loss_.Result(missing.empty() ? "no sample of two tokens" : missing);
  if (rows_.empty()) return found.set_undefined(missing.empty() ? "nothing to ablate" : missing);
  for (const AblationRow& row : rows_) *found.add_rows() = row.Result(missing);
}

}  // namespace sinkd

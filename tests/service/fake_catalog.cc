#include "fake_catalog.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "server/base/status.h"

namespace sinkd::testing {
namespace {

constexpr float kPrimaryNorm[kLayers] = {1, 100, 100, 100, 100, 1};

bool ShowsAt(int64_t layer, int32_t token) {
  return token == kSinkToken && (layer == 2 || layer == 3);
}

// Sum of 1 / (i + 1) over i in [k, end).
float EvenAttention(int64_t k, int64_t end) {
  double sum = 0;
  for (int64_t i = k; i < end; ++i) sum += 1.0 / static_cast<double>(i + 1);
  return static_cast<float>(sum);
}

TokenIds Bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

absl::Status NoSuchModel(std::string_view id) {
  const std::string name = "models/" + std::string(id);
  return NotFound("there is no such model", {.reason = "MODEL_NOT_FOUND",
                                             .subject = name,
                                             .value = name,
                                             .fix = "use a model that ListModels names"});
}

}  // namespace

Trace MakeTrace(const TokenIds& ids, const TraceRequest& request) {
  Trace trace;
  trace.layers = kLayers;
  trace.heads = kHeads;
  trace.positions = static_cast<int64_t>(ids.size());
  trace.candidates = std::min(kPrimaryCandidates, trace.positions);
  trace.prefix = std::min(request.prefix, trace.positions);
  const int64_t length = trace.positions;
  std::vector<float> sums, heads_of_prefix;
  for (int64_t k = 0; k < length; ++k) sums.push_back(EvenAttention(k, length));
  for (int64_t l = 0; l < kLayers; ++l) {
    for (int64_t t = 0; t < length; ++t) {
      trace.state_norm.push_back(t == 0 ? kPrimaryNorm[l] : 1);
      trace.mlp_norm.push_back(static_cast<float>(l + t + 1));
    }
    for (int64_t c = 0; c < trace.candidates; ++c) {
      for (int64_t t = 0; t < length; ++t) {
        const bool sink = c == 0 && ShowsAt(l, ids[static_cast<size_t>(t)]);
        trace.candidate_cosine.push_back(t == c ? 1.0F : sink ? 0.99F : 0.1F);
      }
    }
    for (int64_t h = 0; h < kHeads && request.attention; ++h) {
      trace.attention_sum.insert(trace.attention_sum.end(), sums.begin(), sums.end());
      for (int64_t k = 0; k < length; ++k) {
        trace.attention_self.push_back(1.0F / static_cast<float>(k + 1));
      }
    }
    for (int64_t h = 0; h < kHeads && request.heads; ++h) {
      trace.row_entropy.push_back(1);
      trace.row_maximum.push_back(0.5);
      trace.previous_attention.push_back(0);
      trace.duplicate_attention.push_back(0);
      trace.value_norm.insert(trace.value_norm.end(), ids.size(), 2);
    }
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t k = 0; k < trace.prefix; ++k) {
        trace.prefix_attention_sum.push_back(EvenAttention(k, trace.prefix));
      }
    }
  }
  return trace;
}

bool Gate::Pass(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  ++arrivals_;
  changed_.notify_all();
  const bool open = changed_.wait(lock, stop, [this] { return open_; });
  if (!open) ++stopped_;
  changed_.notify_all();
  return open;
}

void Gate::Open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

void Gate::WaitForArrivals(int count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return arrivals_ >= count; });
}

int Gate::arrivals() const {
  const std::lock_guard lock(mutex_);
  return arrivals_;
}

void Gate::WaitForStopped(int count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ >= count; });
}

FakeRunner::FakeRunner() {
  info_.spec.architecture = "llama";
  info_.spec.blocks = kLayers;
  info_.spec.heads = kHeads;
  info_.spec.vocabulary = kVocabulary;
  info_.spec.max_positions = kMaxPositions;
  info_.device = "cpu";
  info_.compute_type = "float32";
}

absl::StatusOr<EncodedSample> FakeRunner::Encode(const SampleInput& input, std::string_view,
                                                 const EncodeLimit&) const {
  EncodedSample out;
  if (const auto* text = std::get_if<TextInput>(&input)) {
    out.ids = Bytes(text->text);
  } else if (const auto* ids = std::get_if<TokenIdsInput>(&input)) {
    out.ids = ids->ids;
    out.chat_rendered = ids->chat_rendered;
  } else if (const auto* pair = std::get_if<PromptResponseInput>(&input); pair && pair->raw) {
    out.ids = Bytes(pair->prompt + pair->response);
    out.response_tokens = static_cast<int64_t>(pair->response.size());
  } else {
    return FailedPrecondition("the checkpoint has no chat template",
                              {.reason = "CHAT_TEMPLATE_MISSING",
                               .subject = "models/fake",
                               .fix = "send plain text or token ids"});
  }
  out.prompt_tokens = static_cast<int64_t>(out.ids.size()) - out.response_tokens;
  const std::lock_guard lock(mutex_);
  most_under_way_ = std::max(most_under_way_, ++under_way_);
  return out;
}

absl::StatusOr<std::vector<Trace>> FakeRunner::Run(std::span<const TokenIds> batch,
                                                   const TraceRequest& request,
                                                   std::stop_token stop) const {
  {
    const std::lock_guard lock(mutex_);
    largest_batch_ = std::max(largest_batch_, static_cast<int>(batch.size()));
  }
  if (on_batch) {
    std::vector<size_t> lengths;
    for (const TokenIds& ids : batch) lengths.push_back(ids.size());
    on_batch(lengths);
  }
  std::vector<Trace> traces;
  for (const TokenIds& ids : batch) {
    {
      const std::lock_guard lock(mutex_);
      ++runs_;
    }
    if (before_run) SINKD_RETURN_IF_ERROR(before_run(ids, stop));
    traces.push_back(MakeTrace(ids, request));
  }
  const std::lock_guard lock(mutex_);
  under_way_ -= static_cast<int>(batch.size());
  return traces;
}

std::unique_ptr<Study> FakeRunner::StartStudy(v1::RunStudyRequest,
                                              std::vector<StudySample> samples) const {
  return std::make_unique<FakeStudy>(study, std::move(samples));
}

int FakeRunner::largest_batch() const {
  const std::lock_guard lock(mutex_);
  return largest_batch_;
}

int FakeRunner::runs() const {
  const std::lock_guard lock(mutex_);
  return runs_;
}

int FakeRunner::most_under_way() const {
  const std::lock_guard lock(mutex_);
  return most_under_way_;
}

FakeCatalog::FakeCatalog() {
  entries["broken"] = {.id = "broken", .state = ModelState::kAvailable, .failure = "no config"};
  entries["disk"] = {.id = "disk", .state = ModelState::kAvailable, .spec = runner->info_.spec};
  entries["fake"] = {.id = "fake", .state = ModelState::kReady, .info = runner->info_};
}

std::vector<ModelEntry> FakeCatalog::List() const {
  std::vector<ModelEntry> all;
  for (const auto& [id, entry] : entries) all.push_back(entry);
  return all;
}

absl::StatusOr<ModelEntry> FakeCatalog::Get(std::string_view id) const {
  const auto found = entries.find(id);
  if (found == entries.end()) return NoSuchModel(id);
  return found->second;
}

absl::StatusOr<ModelEntry> FakeCatalog::Load(
    std::string_view id, const LoadOptions& options,
    const std::function<void(const LoadProgress&)>& progress, std::stop_token stop,
    std::optional<bool> pinned, std::string_view /*caller*/) {
  SINKD_ASSIGN_OR_RETURN(ModelEntry entry, Get(id));
  if (id == "broken") {
    return FailedPrecondition("config.json is missing", {.reason = "CHECKPOINT_INVALID",
                                                         .subject = "models/broken",
                                                         .fix = "copy the whole checkpoint"});
  }
  progress({.bytes_done = 50, .bytes_total = 100});
  if (!load_gate.Pass(std::move(stop))) return Cancelled("the load was abandoned");
  progress({.bytes_done = 100, .bytes_total = 100});
  entry.state = ModelState::kReady;
  entry.info = runner->info();
  entry.info->device = options.device;
  entry.info->residency = options.residency;
  entry.pinned = pinned.value_or(false);
  return entry;
}

absl::StatusOr<PlannedLoad> FakeCatalog::Plan(std::string_view id, const LoadOptions& options,
                                              int64_t positions, std::stop_token stop) const {
  SINKD_RETURN_IF_ERROR(Get(id).status());
  if (id == "disk") plan_gate.Pass(stop);
  if (options.device != "cpu" && options.device != "auto") {
    return InvalidArgument(
        "there is no such device",
        {.reason = "BAD_DEVICE", .subject = "device", .value = options.device, .fix = "use cpu"});
  }
  PlannedLoad planned;
  ModelPlan& plan = planned.plan;
  plan.spec = runner->info_.spec;
  plan.compute_type = "float32";
  plan.residency = options.residency;
  plan.positions = std::min(positions, kMaxPositions);
  for (int i = 0; i < kPlannedTensors; ++i) {
    plan.tensors.push_back(
        {.name = "t" + std::to_string(i), .stored_type = "F32", .shape = {3, 5}});
  }
  plan.devices.push_back({.device = "cpu", .blocks = kLayers});
  planned.room.devices["cpu"] = {};
  return planned;
}

absl::StatusOr<ModelEntry> FakeCatalog::Unload(std::string_view id) {
  SINKD_ASSIGN_OR_RETURN(ModelEntry entry, Get(id));
  if (entry.state != ModelState::kReady) {
    return FailedPrecondition(
        "the model is not loaded",
        {.reason = "MODEL_NOT_LOADED", .subject = "models/" + entry.id, .fix = "load it first"});
  }
  entry.state = ModelState::kUnloading;
  return entry;
}

absl::StatusOr<std::shared_ptr<const SampleRunner>> FakeCatalog::Acquire(
    std::string_view id) const {
  SINKD_ASSIGN_OR_RETURN(const ModelEntry entry, Get(id));
  if (entry.state == ModelState::kReady) return runner;
  return FailedPrecondition(
      "the model is not loaded",
      {.reason = "MODEL_NOT_LOADED", .subject = "models/" + entry.id, .fix = "load it first"});
}

}  // namespace sinkd::testing

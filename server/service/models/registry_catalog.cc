#include "server/service/models/registry_catalog.h"

#include <numeric>
#include <span>
#include <utility>
#include <variant>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/mechanism/loaded_study_model.h"
#include "server/models/pass_memory.h"

namespace sinkd {
namespace {

// The norms of values that a trace of heads holds, on the device and beside it.
int64_t HeadBytes(const DecoderSpec& spec, const TraceRequest& request,
                  std::span<const int64_t> lengths) {
  if (!request.heads) return 0;
  constexpr int64_t kCopies = 2;
  constexpr int64_t kFloat = 4;
  const int64_t rows = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  return kCopies * kFloat * spec.blocks * spec.heads * rows;
}

class LoadedModelRunner final : public SampleRunner {
 public:
  LoadedModelRunner(ModelHandle model, std::shared_ptr<MemoryBudget> budget)
      : model_(std::move(model)),
        study_model_(model_, budget),
        memory_(info(), std::move(budget)) {}

  const ModelInfo& info() const override { return model_->model->info(); }

  absl::StatusOr<EncodedSample> Encode(const SampleInput& input, std::string_view date,
                                       const EncodeLimit& limit) const override {
    if (model_->tokenizer) return EncodeSample(*model_->tokenizer, input, date, limit);
    if (const auto* ids = std::get_if<TokenIdsInput>(&input)) {
      return EncodedSample{.ids = ids->ids,
                           .chat_rendered = ids->chat_rendered,
                           .prompt_tokens = static_cast<int64_t>(ids->ids.size())};
    }
    return FailedPrecondition(
        absl::StrCat("models/", model_->id,
                     " has no usable tokenizer: ", model_->tokenizer_problem),
        {.reason = "TOKENIZER_MISSING",
         .subject = absl::StrCat("models/", model_->id),
         .fix = "send token ids, or put the checkpoint's tokenizer.json beside its weights"});
  }

  std::string TokenText(int32_t id) const override {
    return model_->tokenizer ? model_->tokenizer->TokenText(id) : std::string();
  }

  absl::StatusOr<std::vector<Trace>> Run(std::span<const TokenIds> batch,
                                         const TraceRequest& request,
                                         std::stop_token stop) const override {
    std::vector<int64_t> lengths;
    for (const TokenIds& ids : batch) lengths.push_back(static_cast<int64_t>(ids.size()));
    SINKD_ASSIGN_OR_RETURN(const MemoryBudget::Hold hold,
                           memory_.Hold(lengths, HeadBytes(info().spec, request, lengths)));
    return model_->model->Run(batch, request, std::move(stop));
  }

  std::unique_ptr<Study> StartStudy(v1::RunStudyRequest request,
                                    std::vector<StudySample> samples) const override {
    return NewStudy(std::move(request), study_model_, std::move(samples));
  }

 private:
  const ModelHandle model_;
  const LoadedStudyModel study_model_;
  const PassMemory memory_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const SampleRunner>> RegistryCatalog::Acquire(
    std::string_view id) const {
  SINKD_ASSIGN_OR_RETURN(ModelHandle model, registry_.Acquire(id));
  return std::make_shared<LoadedModelRunner>(std::move(model), registry_.budget());
}

}  // namespace sinkd

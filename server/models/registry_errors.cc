#include "server/models/registry_errors.h"

#include <chrono>

#include <fmt/format.h>

#include "server/base/nearest_word.h"
#include "server/base/status.h"
#include "server/models/model_id.h"

namespace sinkd {
namespace {

constexpr std::chrono::milliseconds kRetryAfter{1000};

}  // namespace

std::string ModelSubject(std::string_view id) {
  return fmt::format("models/{}", id);
}

absl::Status CheckId(std::string_view id) {
  if (IsModelId(id)) return absl::OkStatus();
  return InvalidArgument(
      "a model id is 1 to 64 lower-case letters, digits, '.', '_' or '-', the first one a letter "
      "or digit, and @REVISION, spelled alike but for capitals, or nothing",
      {.reason = "MODEL_ID_INVALID",
       .subject = "name",
       .value = id.empty() ? "an empty id" : std::string(id),
       .fix = "use an id that ListModels returns"});
}

absl::Status NoSuchModel(std::string_view id, const std::vector<std::string>& known) {
  const std::string_view nearest = NearestWord(id, known);
  return NotFound(
      "the model root has no such model",
      {.reason = "MODEL_NOT_FOUND",
       .subject = ModelSubject(id),
       .value = std::string(id),
       .fix = nearest.empty()
                  ? "use an id that ListModels returns"
                  : fmt::format("did you mean {}? ListModels returns all ids", nearest)});
}

absl::Status Busy(std::string_view id, std::string_view doing) {
  return Unavailable(fmt::format("the model is being {}", doing), {.reason = "MODEL_BUSY",
                                                                   .subject = ModelSubject(id),
                                                                   .value = std::string(id),
                                                                   .fix = "try again in a moment",
                                                                   .retry_after = kRetryAfter});
}

absl::Status NotLoaded(std::string_view id, std::string_view failure) {
  return FailedPrecondition(
      failure.empty() ? std::string("the model is not loaded")
                      : fmt::format("the model is not loaded, its last load failed: {}", failure),
      {.reason = "MODEL_NOT_LOADED",
       .subject = ModelSubject(id),
       .value = std::string(id),
       .fix = "load it with LoadModel first"});
}

}  // namespace sinkd

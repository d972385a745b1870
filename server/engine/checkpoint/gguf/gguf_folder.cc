#include "server/engine/checkpoint/gguf/gguf_folder.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kJoin[] = "join the parts with llama.cpp's `llama-gguf-split --merge`";

absl::Status BadFiles(std::string_view subject, std::string_view what, std::string_view fix) {
  return FailedPrecondition(
      what, {.reason = "GGUF_FILES", .subject = std::string(subject), .fix = std::string(fix)});
}

bool HasSafetensors(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "model.safetensors", ignored) ||
         std::filesystem::exists(folder / "model.safetensors.index.json", ignored);
}

// "...-00001-of-00003.gguf"
bool IsPart(std::string_view name) {
  constexpr std::string_view kPattern = "-#####-of-#####.gguf";
  if (name.size() < kPattern.size()) return false;
  const std::string_view end = name.substr(name.size() - kPattern.size());
  return std::equal(end.begin(), end.end(), kPattern.begin(), [](char found, char wanted) {
    return wanted == '#' ? absl::ascii_isdigit(static_cast<unsigned char>(found)) : found == wanted;
  });
}

std::string KnownArchitectures() {
  std::vector<std::string> names;
  for (const GgufArchitecture& architecture : GgufArchitectures()) {
    if (names.empty() || names.back() != architecture.name) names.emplace_back(architecture.name);
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<std::filesystem::path> FindGguf(const std::filesystem::path& folder) {
  if (HasSafetensors(folder)) return std::filesystem::path();
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& item : std::filesystem::directory_iterator(folder, ignored)) {
    if (item.path().extension() == ".gguf") names.push_back(item.path().filename().string());
  }
  if (names.empty()) return std::filesystem::path();
  std::sort(names.begin(), names.end());
  const std::string shown = Shorten(absl::StrJoin(names, ", "), 200);
  if (IsPart(names.front())) {
    return BadFiles(names.front(), StrCat("the model is split into several GGUF files: ", shown),
                    kJoin);
  }
  if (names.size() > 1) {
    return BadFiles(names.front(), StrCat("the folder holds several GGUF files: ", shown),
                    "leave one of them in the folder, and put others into folders of their own");
  }
  return folder / names.front();
}

absl::StatusOr<GgufArchitecture> ArchitectureOf(const GgufFile& file) {
  const GgufMetadata& metadata = file.metadata();
  SINKD_ASSIGN_OR_RETURN(const int64_t parts, metadata.IntegerOr("split.count", 1));
  if (parts > 1) {
    return metadata.Error("split.count", StrCat("says that this is one of ", parts, " files"),
                          kJoin);
  }
  SINKD_ASSIGN_OR_RETURN(const std::string name, metadata.Text("general.architecture"));
  const std::string experts = StrCat(name, ".expert_count");
  SINKD_ASSIGN_OR_RETURN(const int64_t count, metadata.IntegerOr(experts, 0));
  bool named = false;
  for (const GgufArchitecture& known : GgufArchitectures()) {
    named = named || known.name == name;
    if (known.name != name || known.mixture != (count > 0)) continue;
    if (!known.marker.empty()) {
      SINKD_ASSIGN_OR_RETURN(const int64_t value,
                             metadata.IntegerOr(StrCat(name, ".", known.marker), 0));
      if (known.marked == 0 ? value == 0 : value != known.marked) continue;
    }
    const std::string causal = StrCat(name, ".attention.causal");
    SINKD_ASSIGN_OR_RETURN(const bool looks_back, metadata.FlagOr(causal, true));
    if (!looks_back) {
      return metadata.Error(causal, "is false: attention looks ahead, which is not computed",
                            "use a model whose attention looks back only");
    }
    return known;
  }
  if (named) {
    return metadata.Error(experts,
                          count > 0 ? "names a mixture of experts, which models of this "
                                      "architecture are not"
                                    : "is missing",
                          "use the model's safetensors checkpoint");
  }
  return metadata.Error("general.architecture",
                        StrCat("is ", Shorten(name), ", which cannot be read from GGUF"),
                        StrCat("use a GGUF file of one of: ", KnownArchitectures(),
                               "; or the model's safetensors checkpoint"));
}

}  // namespace sinkd

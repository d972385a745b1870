#include "server/engine/checkpoint/checkpoint_files.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <absl/strings/match.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/quantized/unreadable_formats.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;

constexpr char kAdapter[] = "adapter_config.json";
constexpr char kPointer[] = "version https://git-lfs.github.com/spec/";
constexpr uintmax_t kMaxPointerBytes = 1024;

absl::Status Refuse(std::string_view reason, std::string_view subject, std::string_view what,
                    std::string_view fix) {
  return FailedPrecondition(
      what,
      {.reason = std::string(reason), .subject = std::string(subject), .fix = std::string(fix)});
}

bool IsPointer(const fs::path& path) {
  std::error_code error;
  // Asked first, since opening a pipe would wait.
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kMaxPointerBytes) {
    return false;
  }
  std::string begin(sizeof kPointer - 1, '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), sizeof kPointer - 1);
  return begin == kPointer;
}

std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(folder, ignored)) {
    names.push_back(item.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsPickle(const std::string& name) {
  return absl::StartsWith(name, "pytorch_model") || absl::EndsWith(name, ".pt") ||
         absl::EndsWith(name, ".pth") || absl::EndsWith(name, ".ckpt");
}

absl::Status AdapterAlone() {
  return Refuse("ADAPTER_ONLY", kAdapter, "the folder holds an adapter alone",
                "merge it into its base model (peft: merge_and_unload) and save that");
}

}  // namespace

absl::Status CheckFile(const fs::path& path) {
  const std::string name = path.filename().string();
  std::error_code error;
  const fs::file_status entry = fs::symlink_status(path, error);
  if (fs::is_symlink(entry) && !fs::exists(path, error)) {
    const fs::path target = fs::read_symlink(path, error);
    return Refuse("MISSING_FILE", name,
                  StrCat(name, " is a link to ", Shorten(target.string()), ", which is missing"),
                  "fetch the file again");
  }
  if (IsPointer(path)) {
    return Refuse("MISSING_FILE", name, StrCat(name, " is a Git LFS pointer, not the file itself"),
                  "run `git lfs pull` in the folder");
  }
  return absl::OkStatus();
}

absl::Status ExplainNoWeights(const fs::path& folder) {
  const std::vector<std::string> names = NamesIn(folder);
  if (std::count(names.begin(), names.end(), kAdapter) > 0) return AdapterAlone();
  SINKD_RETURN_IF_ERROR(RefuseQuantizedFolder(folder));
  for (const std::string& name : names) {
    if (absl::EndsWith(name, ".safetensors")) {
      return Refuse("UNNAMED_WEIGHTS", name,
                    StrCat(Shorten(name),
                           " is neither called model.safetensors nor named by "
                           "model.safetensors.index.json, which is not there"),
                    "call it model.safetensors if it is the whole model, or copy the index");
    }
  }
  for (const std::string& name : names) {
    if (!IsPickle(name)) continue;
    return Refuse("PICKLED_WEIGHTS", name,
                  StrCat(Shorten(name), " is pickled, and loading it would run code from it"),
                  "convert it to safetensors with transformers' save_pretrained");
  }
  return Refuse("NO_WEIGHTS", "model.safetensors",
                "the folder holds neither model.safetensors nor model.safetensors.index.json nor a "
                "GGUF file",
                "copy the checkpoint's safetensors files into it");
}

absl::Status ExplainNoConfig(const fs::path& folder) {
  std::error_code ignored;
  SINKD_RETURN_IF_ERROR(CheckFile(folder / "config.json"));
  if (fs::exists(folder / kAdapter, ignored)) return AdapterAlone();
  if (fs::exists(folder / "snapshots", ignored)) {
    return Refuse("NO_SNAPSHOT", "snapshots",
                  "the folder is a model of a Hugging Face cache, but refs/main names no snapshot "
                  "that is there",
                  "fetch the model again, or link one of the folders in snapshots");
  }
  return absl::OkStatus();
}

}  // namespace sinkd

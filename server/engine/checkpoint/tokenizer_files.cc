#include "server/engine/tokenizer_files.h"

#include "server/base/status.h"
#include "server/engine/checkpoint/gguf/gguf_file.h"
#include "server/engine/checkpoint/gguf/gguf_folder.h"
#include "server/engine/checkpoint/gguf/gguf_tokenizer.h"

namespace sinkd {

absl::StatusOr<std::optional<TokenizerFiles>> ReadTokenizerFiles(
    const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / "tokenizer.json", ignored)) return std::nullopt;
  SINKD_ASSIGN_OR_RETURN(const std::filesystem::path path, FindGguf(folder));
  if (path.empty()) return std::nullopt;
  SINKD_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
  SINKD_ASSIGN_OR_RETURN(TokenizerFiles files, GgufTokenizer(file));
  return std::optional<TokenizerFiles>(std::move(files));
}

}  // namespace sinkd

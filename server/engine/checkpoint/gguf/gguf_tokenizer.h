// The tokenizer in a GGUF file's metadata, as the tokenizer.json and tokenizer_config.json that
// transformers would save for it.
//
// Thread-safety: pure. Errors: FAILED_PRECONDITION naming file and key: a tokenizer or a
// pre-tokenizer that is not known (the message lists those that are), or one that is broken.
#pragma once

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/gguf/gguf_file.h"
#include "server/engine/tokenizer_files.h"

namespace sinkd {

absl::StatusOr<TokenizerFiles> GgufTokenizer(const GgufFile& file);

}  // namespace sinkd

#include "client/cli/input/content_id.h"

#include <string_view>

#include <absl/strings/escaping.h>
#include <openssl/sha.h>

namespace sinkd::cli {

std::string Sha256(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

std::string ContentId(const sinks::v1::Sample& sample) {
  constexpr size_t kBytes = 16;
  sinks::v1::Sample nameless = sample;
  nameless.clear_sample_id();
  // No maps: the same for the same sample.
  const std::string digest = Sha256(nameless.SerializeAsString());
  return "content-" + absl::BytesToHexString(digest.substr(0, kBytes));
}

std::string InputDigest(const sinks::v1::Sample& sample) {
  std::string bytes(1, static_cast<char>(sample.input_case()));
  switch (sample.input_case()) {
    case sinks::v1::Sample::kText:
      sample.text().AppendToString(&bytes);
      break;
    case sinks::v1::Sample::kPromptResponse:
      sample.prompt_response().AppendToString(&bytes);
      break;
    case sinks::v1::Sample::kChat:
      sample.chat().AppendToString(&bytes);
      break;
    case sinks::v1::Sample::kTokenIds:
      sample.token_ids().AppendToString(&bytes);
      break;
    case sinks::v1::Sample::INPUT_NOT_SET:
      return {};
  }
  return Sha256(bytes);
}

}  // namespace sinkd::cli

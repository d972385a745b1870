#include "client/cli/input/content_id.h"

#include <array>

#include <fmt/format.h>
#include <openssl/sha.h>

namespace sinkd::cli {

std::string ContentId(const sinks::v1::Sample& sample) {
  constexpr size_t kBytes = 16;
  sinks::v1::Sample nameless = sample;
  nameless.clear_sample_id();
  const std::string bytes = nameless.SerializeAsString();  // no maps: the same for the same sample
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string id = "content-";
  for (size_t i = 0; i < kBytes; ++i) id += fmt::format("{:02x}", digest[i]);
  return id;
}

}  // namespace sinkd::cli

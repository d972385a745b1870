// PortFile: the addresses a server is bound to, for whoever started it with port 0:
//
//   {"grpc": "127.0.0.1:50051", "http": "127.0.0.1:9464"}     ("http" only when it is on)
//
// The file appears whole, by a rename.
// Thread-safety: none. Errors: UNAVAILABLE naming the file.
#pragma once

#include <filesystem>
#include <string>

#include <absl/status/status.h>

namespace sinkd {

absl::Status WritePortFile(const std::filesystem::path& path, const std::string& grpc,
                           const std::string& http);

}  // namespace sinkd

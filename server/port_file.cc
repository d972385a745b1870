#include "server/port_file.h"

#include <fstream>
#include <system_error>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"

namespace sinkd {

absl::Status WritePortFile(const std::filesystem::path& path, const std::string& grpc,
                           const std::string& http) {
  // Addresses hold nothing that JSON would escape: they were parsed as host:port.
  std::string text = absl::StrCat("{\"grpc\": \"", grpc, "\"");
  if (!http.empty()) absl::StrAppend(&text, ", \"http\": \"", http, "\"");
  text += "}\n";
  std::filesystem::path written = path;
  written += ".part";
  std::ofstream file(written, std::ios::trunc);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(written, path, error);
  if (file && !error) return absl::OkStatus();
  return Unavailable(absl::StrCat("cannot write the port file ", path.string()),
                     {.reason = "CANNOT_WRITE_PORT_FILE",
                      .subject = path.string(),
                      .value = error ? error.message() : std::string(),
                      .fix = "name a file in a folder that exists and can be written to"});
}

}  // namespace sinkd

// Readers of single configuration values.
//
// Thread-safety: pure.
// Errors: INVALID_ARGUMENT naming the value's origin, the value, the limit and the fix.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

namespace sinkd {

// A value as it was given.
struct Given {
  std::string origin;  // "--threads", "SINKD_THREADS", "threads in sinkd.toml"
  std::string value;
};

// The error for a value that is not `rule`, such as "a whole number from 0 to 1024".
absl::Status BadValue(const Given& given, std::string_view rule, std::string_view fix);

absl::StatusOr<int64_t> ReadInteger(const Given& given, int64_t minimum, int64_t maximum);

// A whole number of bytes, or of KiB, MiB, GiB: "8388608", "8MiB".
absl::StatusOr<int64_t> ReadBytes(const Given& given, int64_t minimum, int64_t maximum);

// "500ms", "5s", "2m", "12h", "90d"; a bare number is in seconds.
absl::StatusOr<std::chrono::milliseconds> ReadDuration(const Given& given,
                                                       std::chrono::milliseconds maximum);
std::string DurationText(std::chrono::milliseconds duration);

absl::StatusOr<bool> ReadBool(const Given& given);

// The index of the value in `names`.
absl::StatusOr<size_t> ReadChoice(const Given& given, std::span<const std::string_view> names);

// host:port with a port from 0 to 65535; IPv6 hosts in brackets, as in "[::1]:50051".
absl::StatusOr<std::string> ReadAddress(const Given& given);

// The same, or unix:/a/path, a socket in the file system.
absl::StatusOr<std::string> ReadSocketAddress(const Given& given);

// A host without port: a name, an IPv4 address, or an IPv6 address in brackets.
absl::StatusOr<std::string> ReadHost(const Given& given);

// What browsers send as Origin, "https://dashboards.example.org", or "*".
absl::StatusOr<std::string> ReadOrigin(const Given& given);

// Whether an address accepted by ReadSocketAddress can be reached from this machine only:
// localhost, 127.x.x.x, [::1] or unix:/a/path.
bool IsLoopback(std::string_view address);

// A day of the calendar, YYYY-MM-DD.
absl::StatusOr<std::string> ReadDate(const Given& given);

// A device string of torch's form, "cpu", "cuda:0"; "auto"; or a map from devices to their first
// and last blocks, "cuda:0=0-15,cuda:1=16-31".
absl::StatusOr<std::string> ReadDevice(const Given& given);

}  // namespace sinkd

// AccessMetrics: refused calls, and the state of the files that control access.
//
// Labels are ports, codes and kinds of files, never names or addresses.
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include <absl/status/status.h>

namespace prometheus {
class Counter;
class Gauge;
class Registry;
}  // namespace prometheus

namespace sinkd {

enum class AccessPort { kGrpc, kHttp };
enum class AccessFile { kTokens, kCertificate };

class AccessMetrics {
 public:
  explicit AccessMetrics(prometheus::Registry& registry);

  // For UNAUTHENTICATED, PERMISSION_DENIED and RESOURCE_EXHAUSTED; others count as the second.
  void Refused(AccessPort port, absl::StatusCode code);

  void Reloaded(AccessFile file, bool ok);
  void SetTokens(int64_t tokens);
  void SetCertificateEnd(std::chrono::system_clock::time_point not_after);

 private:
  static constexpr size_t kPorts = 2, kReasons = 3, kFiles = 2;

  std::array<std::array<prometheus::Counter*, kReasons>, kPorts> refused_{};
  std::array<std::array<prometheus::Counter*, 2>, kFiles> reloaded_{};  // ok, failed
  prometheus::Gauge& tokens_;
  prometheus::Gauge& certificate_end_;
};

}  // namespace sinkd

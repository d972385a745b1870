#include <fmt/format.h>

#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/input/byte_stream.h"
#include "client/cli/output/audit_view.h"
#include "client/error_report.h"
#include "client/service_client.h"
#include "server/base/utf8.h"
#include "sinks/v1/audit.grpc.pb.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

absl::StatusOr<std::string> ReadPolicy(const std::string& file, const StopSignal& stop) {
  absl::StatusOr<ByteStream> stream = ByteStream::Open(file, &stop);
  if (!stream.ok()) return stream.status();
  std::string text;
  char piece[1 << 16];
  while (true) {
    const absl::StatusOr<size_t> size = stream->Read(piece, sizeof(piece));
    if (!size.ok()) return size.status();
    if (*size == 0) break;
    text.append(piece, *size);
  }
  if (stop.stopped()) return absl::CancelledError("interrupted");
  if (FirstInvalidUtf8(text)) {
    return absl::InvalidArgumentError(
        fmt::format("the policy {} is not UTF-8", client::MakePrintable(InputName(file))));
  }
  return text;
}

// What the server says of the policy is an error of the input.
absl::Status OfInput(const absl::Status& status, const std::string& file) {
  const client::ErrorReport report = client::ReadErrorReport(status);
  if (report.reason != "BAD_POLICY" && report.reason != "BASELINE_NEEDED") return status;
  return absl::InvalidArgumentError(
      fmt::format("{}: {}", client::MakePrintable(file), client::MakePrintable(report.message)));
}

AuditFormat FormatOf(const GlobalOptions& global, const AuditOptions& options) {
  if (options.format) return *options.format;
  return global.output == OutputFormat::kJson ? AuditFormat::kJson : AuditFormat::kTable;
}

}  // namespace

ExitCode RunAudit(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const AuditOptions& options = invocation.audit;
  v1::Verdict verdict = v1::VERDICT_UNSPECIFIED;
  StopSignal stop;
  const ExitCode code = RunCalls(
      global,
      [&](const std::shared_ptr<grpc::Channel>& channel, const client::CallOptions& call,
          Output& output) -> absl::Status {
        absl::StatusOr<std::string> policy = ReadPolicy(options.policy_file, stop);
        if (!policy.ok()) return policy.status();
        v1::AuditRunsRequest request = options.request;
        request.set_policy(*std::move(policy));
        const absl::StatusOr<v1::AuditRunsResponse> audit =
            client::ServiceClient<v1::AuditService>(channel).Call(
                &v1::AuditService::StubInterface::AuditRuns, request, call);
        if (!audit.ok()) return OfInput(audit.status(), options.policy_file);
        verdict = audit->verdict();
        const AuditFormat format = FormatOf(global, options);
        if (format != AuditFormat::kTable) output.KeepLines();
        output.Write(RenderAudit(*audit, format, DetectTerminal(global)));
        return absl::OkStatus();
      },
      [&stop] { stop.Stop(); });
  if (code != kExitOk || verdict == v1::VERDICT_PASS) return code;
  // A verdict of a newer server is no pass.
  return verdict == v1::VERDICT_FAIL ? kExitVerdict : kExitNotEnoughData;
}

}  // namespace sinkd::cli

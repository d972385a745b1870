#include "client/cli/exit_code.h"

#include <fmt/format.h>

#include "client/cli/flags/options.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

// What TLS has to do with a connection that failed, told by gRPC's and OpenSSL's words for it;
// empty when nothing.
std::string TlsProblem(std::string_view message, const CredentialOptions& credentials) {
  const auto says = [message](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  if (says("certificate verify failed") || says("CERTIFICATE_VERIFY_FAILED")) {
    return fmt::format("no certificate of --tls-ca {} signed the server's, or it has expired",
                       credentials.tls_ca);
  }
  if (says("not in peer certificate") || says("Hostname Verification Check failed")) {
    return "the server's certificate is for another name; --tls-server-name gives that";
  }
  if (says("wrong version number") || says("WRONG_VERSION_NUMBER")) {
    return "the server does not speak TLS there; leave out --tls-ca";
  }
  const bool closed_at_once =  // and not under way, when a server ends
      says("last error: ") &&
      (says("Socket closed") || says("Connection reset") || says("Endpoint read failed"));
  if (!closed_at_once) return "";
  if (credentials.tls_ca.empty()) {
    return "the connection was closed; if the server speaks TLS, give --tls-ca";
  }
  return credentials.tls_cert.empty()
             ? "the connection was closed; if the server asks for certificates, give --tls-cert"
             : "the connection was closed; the server may not take the --tls-cert";
}

}  // namespace

ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kDeadlineExceeded:
      return kExitDeadline;
    case absl::StatusCode::kUnavailable:
      // A server that is draining or loading says so in details; a dead connection has none.
      return client::ReadErrorReport(status).has_details() ? kExitRpcError : kExitUnreachable;
    default:
      return kExitRpcError;
  }
}

std::string DescribeFailure(const absl::Status& status, const GlobalOptions& global) {
  const std::string text = client::Describe(status);
  const std::string message(status.message());
  switch (ExitCodeFor(status)) {
    case kExitUnreachable: {
      const std::string cannot = "cannot reach " + global.server + ": ";
      const std::string tls = TlsProblem(message, global.credentials);
      if (!tls.empty()) return cannot + client::MakePrintable(tls);
      return cannot + client::MakePrintable(message) +
             "\n  is sinkd running there? --server or SINKCTL_SERVER names another address";
    }
    case kExitDeadline:
      return text + "\n  a longer --timeout allows more time";
    default:
      return text;
  }
}

}  // namespace sinkd::cli

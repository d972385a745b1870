#include "client/cli/flags/credential_flags.h"

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "client/cli/commands/command_line.h"

namespace sinkd::cli {
namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr size_t kMaxTokenBytes = 512;

void AddFile(CLI::App& app, const char* flag, const char* variable, const char* help,
             std::string& file) {
  app.add_option(flag, file, help)->envname(variable)->type_name("FILE")->group(kGlobalGroup);
}

absl::StatusOr<std::string> ReadFile(const char* flag, const std::string& file) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream || text.empty() || text.size() > kMaxFileBytes) {
    const std::string why = errno != 0     ? std::strerror(errno)
                            : text.empty() ? "it is empty"
                                           : "it is longer than 1 MiB";
    return absl::InvalidArgumentError(fmt::format("{} {} cannot be used: {}", flag, file, why));
  }
  return text;
}

absl::StatusOr<std::string> ReadToken(const std::string& file) {
  absl::StatusOr<std::string> token = ReadFile("--token-file", file);
  if (!token.ok()) return token;
  while (!token->empty() && std::strchr(" \t\r\n", token->back()) != nullptr) token->pop_back();
  const bool good =
      !token->empty() && token->size() <= kMaxTokenBytes &&
      std::all_of(token->begin(), token->end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (good) return token;
  return absl::InvalidArgumentError(
      fmt::format("--token-file {} must hold one token and nothing else; `sinkctl token new` makes "
                  "one",
                  file));
}

absl::Status Read(const char* flag, const std::string& file, std::string& text) {
  if (file.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> read = ReadFile(flag, file);
  if (!read.ok()) return read.status();
  text = *std::move(read);
  return absl::OkStatus();
}

int NoPassphrase(char*, int, int, void*) {
  return 0;  // else OpenSSL would ask on the terminal
}

// The first of `pem`, a certificate or a key; null when there is none.
template <auto Read, auto Free>
auto FirstOf(const std::string& pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> reader(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  auto* const first = Read(reader.get(), nullptr, NoPassphrase, nullptr);
  return std::unique_ptr<std::remove_pointer_t<decltype(first)>, decltype(Free)>(first, Free);
}

// gRPC says of such files that there are no addresses.
absl::Status CheckTls(const CredentialOptions& options, const client::TlsOptions& tls) {
  const auto bad = [](const char* flag, const std::string& file, const char* what) {
    return absl::InvalidArgumentError(fmt::format("{} {} {}", flag, file, what));
  };
  if (!FirstOf<PEM_read_bio_X509, X509_free>(tls.ca)) {
    return bad("--tls-ca", options.tls_ca, "holds no certificate in PEM");
  }
  if (tls.certificate.empty()) return absl::OkStatus();
  const auto certificate = FirstOf<PEM_read_bio_X509, X509_free>(tls.certificate);
  if (!certificate) return bad("--tls-cert", options.tls_cert, "holds no certificate in PEM");
  const auto key = FirstOf<PEM_read_bio_PrivateKey, EVP_PKEY_free>(tls.key);
  if (!key) return bad("--tls-key", options.tls_key, "holds no private key in PEM");
  if (X509_check_private_key(certificate.get(), key.get()) == 1) return absl::OkStatus();
  return bad("--tls-key", options.tls_key, "is not the key of --tls-cert");
}

absl::Status ReadTls(const CredentialOptions& options, client::ChannelOptions& channel) {
  const bool pair = !options.tls_cert.empty();
  if (pair != !options.tls_key.empty()) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key go together");
  }
  if (options.tls_ca.empty()) {
    if (!pair && options.tls_server_name.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--tls-ca is missing: the certificates that the server's is checked with");
  }
  channel.tls.emplace();
  channel.tls->server_name = options.tls_server_name;
  for (const absl::Status& status : {Read("--tls-ca", options.tls_ca, channel.tls->ca),
                                     Read("--tls-cert", options.tls_cert, channel.tls->certificate),
                                     Read("--tls-key", options.tls_key, channel.tls->key)}) {
    if (!status.ok()) return status;
  }
  return CheckTls(options, *channel.tls);
}

}  // namespace

void AddCredentialFlags(CLI::App& app, CredentialOptions& options) {
  AddFile(app, "--token-file", "SINKCTL_TOKEN_FILE", "File with the token to call with",
          options.token_file);
  AddFile(app, "--tls-ca", "SINKCTL_TLS_CA",
          "Speak TLS, with a server whose certificate one of these signed, PEM", options.tls_ca);
  AddFile(app, "--tls-cert", "SINKCTL_TLS_CERT", "Certificate to call with (mutual TLS), PEM",
          options.tls_cert);
  AddFile(app, "--tls-key", "SINKCTL_TLS_KEY", "Its private key, PEM", options.tls_key);
  app.add_option("--tls-server-name", options.tls_server_name,
                 "Name the server's certificate must hold; default: that of --server")
      ->envname("SINKCTL_TLS_SERVER_NAME")
      ->type_name("NAME")
      ->group(kGlobalGroup);
  app.add_flag("--insecure-token", options.insecure_token,
               "Send the token to another machine without TLS. RISK: who is on the way reads it")
      ->group(kGlobalGroup);
}

absl::Status ReadCredentials(const GlobalOptions& options, client::ChannelOptions& channel) {
  const CredentialOptions& credentials = options.credentials;
  if (absl::Status status = ReadTls(credentials, channel); !status.ok()) return status;
  if (credentials.token_file.empty()) return absl::OkStatus();
  if (!channel.tls && !client::IsLoopback(options.server) && !credentials.insecure_token) {
    return absl::InvalidArgumentError(fmt::format(
        "the token would go to {} where everyone on the way can read it; give --tls-ca, or "
        "--insecure-token where something else protects the network",
        options.server));
  }
  absl::StatusOr<std::string> token = ReadToken(credentials.token_file);
  if (!token.ok()) return token.status();
  channel.token = *std::move(token);
  return absl::OkStatus();
}

}  // namespace sinkd::cli

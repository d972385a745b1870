#include "server/access/tls_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "server/access/openssl_handles.h"
#include "server/access/sha256.h"
#include "server/access/text_file.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr char kReason[] = "TLS_FILES_UNUSABLE";

absl::Status Unusable(std::string_view what, const std::filesystem::path& file,
                      std::string_view fix) {
  ERR_clear_error();  // of OpenSSL, which keeps a queue by thread
  return FailedPrecondition(what, {.reason = kReason,
                                   .subject = file.string(),
                                   .value = file.string(),
                                   .fix = std::string(fix)});
}

Bio Reader(const std::string& pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// The first certificate in `pem`; null if any of them is unreadable, or if there is none.
Certificate FirstOfChain(const std::string& pem) {
  const Bio reader = Reader(pem);
  Certificate first(PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
  if (!first) return nullptr;
  while (Certificate next{PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)}) {
  }
  // OpenSSL reports the end of the file as "no start line".
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return at_end ? std::move(first) : nullptr;
}

int NoPassphrase(char*, int, int, void*) {
  return 0;  // else OpenSSL would ask on the terminal
}

std::chrono::system_clock::time_point NotAfter(const X509& certificate) {
  std::tm time{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &time) != 1) return {};
  return std::chrono::system_clock::from_time_t(timegm(&time));
}

std::string Fingerprint(X509* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate, &der);
  if (size < 0) return {};
  std::string digest = Sha256({reinterpret_cast<const char*>(der), static_cast<size_t>(size)});
  OPENSSL_free(der);
  return digest;
}

}  // namespace

absl::StatusOr<TlsFiles> ReadTlsFiles(const TlsPaths& paths) {
  TlsFiles files;
  SINKD_ASSIGN_OR_RETURN(files.certificate, ReadTextFile(paths.certificate, kMaxBytes));
  SINKD_ASSIGN_OR_RETURN(files.key, ReadTextFile(paths.key, kMaxBytes));
  const Certificate certificate = FirstOfChain(files.certificate);
  if (!certificate) {
    return Unusable("the certificate file holds no certificate chain in PEM", paths.certificate,
                    "name a file of -----BEGIN CERTIFICATE----- blocks, the server's own first");
  }
  const Bio reader = Reader(files.key);
  const Key key(PEM_read_bio_PrivateKey(reader.get(), nullptr, NoPassphrase, nullptr));
  if (!key) {
    return Unusable("the key file holds no private key in PEM without a passphrase", paths.key,
                    "name a file of one -----BEGIN PRIVATE KEY----- block");
  }
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Unusable("the key is not that of the certificate", paths.key,
                    "put certificate and key of one pair in place, both before the next reload");
  }
  if (!paths.client_ca.empty()) {
    SINKD_ASSIGN_OR_RETURN(files.client_ca, ReadTextFile(paths.client_ca, kMaxBytes));
    if (!FirstOfChain(files.client_ca)) {
      return Unusable("the client CA file holds no certificates in PEM", paths.client_ca,
                      "name a file of -----BEGIN CERTIFICATE----- blocks");
    }
  }
  files.not_after = NotAfter(*certificate);
  files.fingerprint = Fingerprint(certificate.get());
  return files;
}

}  // namespace sinkd

#include "server/http/tls_stream.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <utility>

#include "server/access/openssl_handles.h"

namespace sinkd {
namespace {

constexpr size_t kRecordBytes = size_t{16} << 10;  // of TLS
constexpr size_t kMostNameBytes = 256;

using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;

// Calls `take` with every certificate of `pem`.
template <typename Take>
bool EachCertificate(const std::string& pem, const Take& take) {
  const Bio reader(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  bool good = true;
  while (good) {
    const Certificate each(PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
    if (!each) break;
    good = take(each.get());
  }
  ERR_clear_error();
  return good;
}

bool UsePair(SSL_CTX* context, const TlsFiles& files) {
  bool first = true;
  const bool chained = EachCertificate(files.certificate, [&](X509* each) {
    if (std::exchange(first, false)) return SSL_CTX_use_certificate(context, each) == 1;
    return SSL_CTX_add1_chain_cert(context, each) == 1;
  });
  const Bio reader(BIO_new_mem_buf(files.key.data(), static_cast<int>(files.key.size())));
  const Key key(PEM_read_bio_PrivateKey(reader.get(), nullptr, nullptr, nullptr));
  return chained && key && SSL_CTX_use_PrivateKey(context, key.get()) == 1;
}

bool AskClients(SSL_CTX* context, const TlsFiles& files) {
  if (files.client_ca.empty()) return true;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  return EachCertificate(files.client_ca, [&](X509* each) {
    return X509_STORE_add_cert(store, each) == 1 && SSL_CTX_add_client_CA(context, each) == 1;
  });
}

std::shared_ptr<SSL_CTX> MakeContext(const TlsFiles& files) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return nullptr;
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // A connection is one request, and a resumed session would outlive the certificate.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context.get(), 0);
  return UsePair(context.get(), files) && AskClients(context.get(), files) ? context : nullptr;
}

std::string CommonName(const X509* certificate) {
  std::array<char, kMostNameBytes> text{};
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                             text.data(), static_cast<int>(text.size()));
  return size > 0 ? std::string(text.data(), static_cast<size_t>(size)) : std::string();
}

std::string DnsName(const X509* certificate) {
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const ASN1_STRING* const text = name->d.dNSName;
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
            static_cast<size_t>(ASN1_STRING_length(text))};
  }
  return {};
}

}  // namespace

std::shared_ptr<SSL_CTX> TlsAcceptor::context() {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const TlsFiles> files = identity_.current();
  if (files != files_) {
    context_ = MakeContext(*files);
    files_ = std::move(files);
  }
  return context_;
}

TlsStream::TlsStream(SocketStream& socket, std::shared_ptr<SSL_CTX> context)
    : socket_(socket), context_(std::move(context)), ssl_(SSL_new(context_.get()), SSL_free) {
  if (!ssl_) return;
  in_ = BIO_new(BIO_s_mem());
  out_ = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl_.get(), in_, out_);
  SSL_set_accept_state(ssl_.get());
}

TlsStream::~TlsStream() {
  if (!ssl_ || SSL_is_init_finished(ssl_.get()) != 1) return;
  SSL_shutdown(ssl_.get());
  Flush();
}

bool TlsStream::Handshake() {
  if (!ssl_) return false;
  while (true) {
    const int result = SSL_do_handshake(ssl_.get());
    if (result == 1) return Flush();
    if (!Exchange(result)) return false;
  }
}

std::string TlsStream::ClientName() const {
  const Certificate shown(SSL_get1_peer_certificate(ssl_.get()));
  if (!shown || SSL_get_verify_result(ssl_.get()) != X509_V_OK) return {};
  std::string name = CommonName(shown.get());
  return name.empty() ? DnsName(shown.get()) : name;
}

bool TlsStream::is_readable() const {
  return SSL_pending(ssl_.get()) > 0 || BIO_pending(in_) > 0 || socket_.is_readable();
}

ssize_t TlsStream::read(char* ptr, size_t size) {
  while (true) {
    const int got = SSL_read(ssl_.get(), ptr, static_cast<int>(std::min(size, kRecordBytes)));
    if (got > 0) return got;
    if (SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN) return 0;
    if (!Exchange(got)) return -1;
  }
}

ssize_t TlsStream::write(const char* ptr, size_t size) {
  if (size == 0) return 0;
  while (true) {
    const int taken = SSL_write(ssl_.get(), ptr, static_cast<int>(std::min(size, kRecordBytes)));
    if (taken > 0) return Flush() ? taken : -1;
    if (!Exchange(taken)) return -1;
  }
}

bool TlsStream::Exchange(int result) {
  const bool waits = SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ;
  ERR_clear_error();
  return Flush() && waits && Fill();
}

bool TlsStream::Flush() {
  std::array<char, kRecordBytes> buffer;
  for (int size = 0; (size = BIO_read(out_, buffer.data(), static_cast<int>(buffer.size()))) > 0;) {
    for (ssize_t sent = 0; sent < size;) {
      const ssize_t now = socket_.write(buffer.data() + sent, static_cast<size_t>(size - sent));
      if (now <= 0) return false;
      sent += now;
    }
  }
  return true;
}

bool TlsStream::Fill() {
  std::array<char, 4096> buffer;
  const ssize_t got = socket_.read(buffer.data(), buffer.size());
  return got > 0 && BIO_write(in_, buffer.data(), static_cast<int>(got)) == got;
}

}  // namespace sinkd

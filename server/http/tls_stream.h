// TlsStream: a client's connection over TLS as httplib reads and writes it; TlsAcceptor: what makes
// its connections speak TLS with the certificate that is in force.
//
// A client may show a certificate; one that the client CA did not sign ends the handshake.
//
// Ownership: the socket and the identity are borrowed. Thread-safety: TlsAcceptor's method may be
// called from any thread; a stream belongs to one.
#pragma once

#include <httplib.h>

#include <memory>
#include <mutex>
#include <string>

#include "server/access/tls_identity.h"
#include "server/http/socket_stream.h"

namespace sinkd {

class TlsAcceptor {
 public:
  explicit TlsAcceptor(const TlsIdentity& identity) : identity_(identity) {}

  // Of the certificate in force; null where OpenSSL will not have it.
  std::shared_ptr<SSL_CTX> context();

 private:
  const TlsIdentity& identity_;
  std::mutex mutex_;
  std::shared_ptr<const TlsFiles> files_;  // that context_ is made of
  std::shared_ptr<SSL_CTX> context_;
};

class TlsStream final : public httplib::Stream {
 public:
  TlsStream(SocketStream& socket, std::shared_ptr<SSL_CTX> context);
  ~TlsStream() override;  // says goodbye
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // To come before all else; false when there is nothing to read or write.
  bool Handshake();
  // The common name, else the first DNS name, of the client's certificate; empty when it showed
  // none.
  std::string ClientName() const;

  bool is_readable() const override;
  bool is_writable() const override { return socket_.is_writable(); }
  ssize_t read(char* ptr, size_t size) override;
  ssize_t write(const char* ptr, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    socket_.get_remote_ip_and_port(ip, port);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    socket_.get_local_ip_and_port(ip, port);
  }
  socket_t socket() const override { return socket_.socket(); }

 private:
  // After a step of OpenSSL that said `result`: writes what it has to say and reads what it waits
  // for. false when the step cannot be tried again.
  bool Exchange(int result);
  bool Flush();
  bool Fill();

  SocketStream& socket_;
  const std::shared_ptr<SSL_CTX> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  BIO* in_ = nullptr;   // what came from the socket; ssl_'s
  BIO* out_ = nullptr;  // what is to go to it; ssl_'s
};

}  // namespace sinkd

#include "server/access/certificate_name.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

#include <array>

#include "server/access/openssl_handles.h"

namespace sinkd {
namespace {

using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string CommonName(const X509& certificate) {
  const X509_NAME* const subject = X509_get_subject_name(&certificate);
  const int place = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (place < 0) return {};
  unsigned char* utf8 = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place)));
  if (size < 0) return {};
  std::string name(reinterpret_cast<const char*>(utf8), static_cast<size_t>(size));
  OPENSSL_free(utf8);
  return name;
}

std::string AddressText(const std::string& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  return inet_ntop(family, bytes.data(), text.data(), text.size());
}

std::string NameOf(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_DNS:
    case GEN_EMAIL:
    case GEN_URI:  // all three are IA5 strings
      return TextOf(name.d.ia5);
    case GEN_IPADD:
      return AddressText(TextOf(name.d.iPAddress));
    default:
      return {};
  }
}

}  // namespace

std::string CertificateName(const X509& certificate) {
  std::string name = CommonName(certificate);
  if (!name.empty()) return name;
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; name.empty() && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    name = NameOf(*sk_GENERAL_NAME_value(names.get(), i));
  }
  return name;
}

}  // namespace sinkd

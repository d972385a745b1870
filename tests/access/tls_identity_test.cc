#include "server/access/tls_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr long kDay = 24L * 3600;

std::string Drain(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

struct Pair {
  std::string certificate;
  std::string key;
};

// A new key with a certificate that it signed itself.
Pair MakePair(const char* name, long seconds_left = kDay) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -2 * kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), seconds_left);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  BIO* const certificate_text = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(certificate_text, certificate.get());
  BIO* const key_text = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_text, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {Drain(certificate_text), Drain(key_text)};
}

class TlsIdentityTest : public ::testing::Test {
 protected:
  TlsIdentityTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                StrCat("tls-", getpid(), "-",
                       ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~TlsIdentityTest() override { std::filesystem::remove_all(folder_); }

  TlsPaths paths() const { return {folder_ / "crt", folder_ / "key", {}}; }

  void Write(const Pair& pair) const {
    std::ofstream(folder_ / "crt") << pair.certificate;
    std::ofstream(folder_ / "key") << pair.key;
  }

  const std::filesystem::path folder_;
};

TEST_F(TlsIdentityTest, ServesThePairOfItsFiles) {
  const Pair pair = MakePair("a");
  Write(pair);
  const auto identity = TlsIdentity::Load(paths());
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ((*identity)->current()->certificate, pair.certificate);
  EXPECT_EQ((*identity)->current()->key, pair.key);
  EXPECT_EQ((*identity)->current()->client_ca, "");
  const auto left = (*identity)->current()->not_after - std::chrono::system_clock::now();
  EXPECT_GT(left, std::chrono::hours(23));
  EXPECT_LT(left, std::chrono::hours(25));
}

TEST_F(TlsIdentityTest, TakesANewPair) {
  Write(MakePair("a"));
  const auto identity = TlsIdentity::Load(paths());
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(*(*identity)->Reload(), false);
  const Pair next = MakePair("b");
  Write(next);
  EXPECT_EQ(*(*identity)->Reload(), true);
  EXPECT_EQ((*identity)->current()->certificate, next.certificate);
}

TEST_F(TlsIdentityTest, KeepsThePairWhenTheNewOneDoesNotFitTogetherOrIsBroken) {
  const Pair good = MakePair("a");
  Write(good);
  const auto identity = TlsIdentity::Load(paths());
  ASSERT_TRUE(identity.ok()) << identity.status();
  const Pair other = MakePair("b");
  const Pair broken[] = {{other.certificate, good.key},
                         {good.certificate, other.key},
                         {other.certificate.substr(0, 200), other.key},
                         {StrCat(other.certificate, other.certificate.substr(0, 200)), other.key},
                         {other.certificate, other.key.substr(0, 100)},
                         {"", other.key},
                         {other.certificate, ""},
                         {other.key, other.certificate}};
  for (const Pair& pair : broken) {
    Write(pair);
    const absl::Status status = (*identity)->Reload().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(status.ToString(), HasSubstr(folder_.string()));
    EXPECT_THAT(status.ToString(), Not(HasSubstr("BEGIN PRIVATE KEY-----\nM")));
    EXPECT_EQ((*identity)->current()->certificate, good.certificate);
    EXPECT_EQ((*identity)->current()->key, good.key);
  }
  std::filesystem::remove(folder_ / "key");
  EXPECT_FALSE((*identity)->Reload().ok());
  EXPECT_EQ((*identity)->current()->key, good.key);
}

TEST_F(TlsIdentityTest, ServesACertificateThatHasExpiredAndTellsWhen) {
  Write(MakePair("late", -kDay));
  const auto files = ReadTlsFiles(paths());
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_LT(files->not_after, std::chrono::system_clock::now() - std::chrono::hours(23));
}

TEST_F(TlsIdentityTest, RefusesAKeyWithAPassphrase) {
  const Pair pair = MakePair("a");
  BIO* const reader = BIO_new_mem_buf(pair.key.data(), static_cast<int>(pair.key.size()));
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(reader, nullptr, nullptr, nullptr);
  BIO* const writer = BIO_new(BIO_s_mem());
  unsigned char phrase[] = "phrase";
  PEM_write_bio_PrivateKey(writer, key, EVP_aes_128_cbc(), phrase, 6, nullptr, nullptr);
  EVP_PKEY_free(key);
  BIO_free(reader);
  Write({pair.certificate, Drain(writer)});
  EXPECT_THAT(std::string(ReadTlsFiles(paths()).status().message()), HasSubstr("passphrase"));
}

TEST_F(TlsIdentityTest, RefusesAClientCaWithoutCertificates) {
  Write(MakePair("a"));
  std::ofstream(folder_ / "ca") << "nothing\n";
  TlsPaths with_ca = paths();
  with_ca.client_ca = folder_ / "ca";
  EXPECT_THAT(std::string(ReadTlsFiles(with_ca).status().message()), HasSubstr("client CA"));
  std::ofstream(folder_ / "ca") << MakePair("ca").certificate;
  const auto identity = TlsIdentity::Load(with_ca);
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_THAT((*identity)->current()->client_ca, HasSubstr("BEGIN CERTIFICATE"));
}

}  // namespace
}  // namespace sinkd

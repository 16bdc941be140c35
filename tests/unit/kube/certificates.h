// SPDX-License-Identifier: Apache-2.0
//
// Certificates for tests, made by OpenSSL on the spot.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace railhead::test {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using X509Ptr = std::unique_ptr<X509, decltype(&X509_free)>;

inline std::string text_of(BIO* bio) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

/// A certificate with its key, both in PEM too.
class Certificate {
 public:
  /// `names` as OpenSSL writes subjectAltName: "DNS:localhost,IP:127.0.0.1". With `issuer` null it
  /// signs itself, and is an authority.
  explicit Certificate(const std::string& names, const Certificate* issuer = nullptr)
      : key_(EVP_EC_gen("P-256"), &EVP_PKEY_free),
        x509_(X509_new(), &X509_free) {
    X509_set_version(x509_.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509_.get()), issuer == nullptr ? 1 : 2);
    X509_gmtime_adj(X509_getm_notBefore(x509_.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(x509_.get()), 3600);
    X509_set_pubkey(x509_.get(), key_.get());
    const auto* common = reinterpret_cast<const unsigned char*>(issuer ? "server" : "authority");
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x509_.get()), "CN", MBSTRING_ASC, common, -1,
                               -1, 0);
    auto* signer = issuer ? issuer->x509_.get() : x509_.get();
    X509_set_issuer_name(x509_.get(), X509_get_subject_name(signer));
    // As Go writes them: two authorities of one name differ by their key.
    extend(NID_subject_key_identifier, "hash", signer);
    if (issuer) extend(NID_authority_key_identifier, "keyid:always", signer);
    if (!issuer) extend(NID_basic_constraints, "critical,CA:TRUE", signer);
    if (!names.empty()) extend(NID_subject_alt_name, names, signer);
    X509_sign(x509_.get(), issuer ? issuer->key_.get() : key_.get(), EVP_sha256());
  }

  [[nodiscard]] EVP_PKEY* key() const { return key_.get(); }

  [[nodiscard]] X509* x509() const { return x509_.get(); }

  [[nodiscard]] std::string pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, x509_.get());
    return text_of(bio);
  }

  [[nodiscard]] std::string key_pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return text_of(bio);
  }

 private:
  void extend(int what, const std::string& value, X509* signer) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, signer, x509_.get(), nullptr, nullptr, 0);
    auto* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
    X509_add_ext(x509_.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  Key key_;
  X509Ptr x509_;
};

}  // namespace railhead::test

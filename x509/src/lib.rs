//! Post-quantum X.509: ML-DSA, SLH-DSA and ML-KEM keys, certificates, requests, revocation lists,
//! issuance and validation.
//!
//! * **Keys** are those of the crate [`pq_keys`].
//!   [`SigningKey`](keys::SigningKey) (ML-DSA, SLH-DSA) and [`DecapsulationKey`](keys::DecapsulationKey) (ML-KEM) can be generated,
//!   read from and written to PKCS#8, as DER or PEM, in every form of RFC 9881 and RFC 9935 (seed,
//!   expanded or both) and in the one form of RFC 9909. By default, ML-DSA and ML-KEM keys are
//!   written as the seed alone, because all implementations read it. [`VerifyingKey`](keys::VerifyingKey)
//!   and [`EncapsulationKey`](keys::EncapsulationKey) are their public halves, read and written as
//!   SubjectPublicKeyInfo. With the feature `rayon`, SLH-DSA makes keys and signs on all cores.
//!   [`SignatureOptions`](keys::signing::SignatureOptions) are for signatures with a context or of a hash, and [`MessageHasher`](keys::signing::MessageHasher) for
//!   messages that do not fit in memory, or are hashed far from the key.
//! * **Protected keys.** With the feature `encryption`, private keys are read and written under a
//!   passphrase: `keys::protection::EncryptedPrivateKey`, and methods of the keys such as
//!   `SigningKey::to_encrypted_pkcs8_pem`. With the feature `pkcs12`, `Pkcs12` reads and writes files
//!   of keys with their certificates.
//! * **Issuing.** An [`Issuer`](issuing::Issuer) makes certificates (roots, intermediates and leaves) from a
//!   [`CertificateBuilder`](issuing::CertificateBuilder) or a [`CertificateRequest`](request::CertificateRequest). Keys of other algorithms
//!   take part through the traits [`Signer`](keys::Signer) and [`SubjectKey`](keys::SubjectKey).
//! * **Validation.** A [`ChainValidator`](validation::ChainValidator) checks a chain for a name, a purpose and a time
//!   through webpki, with the algorithms of [`verification`], which serve any user of
//!   `rustls-pki-types`. With the features `classical` and `composite`, that module has those of other
//!   keys, for [`ChainValidator::with_algorithms`](validation::ChainValidator::with_algorithms).
//! * **Names.** Certificates are for DNS names, IP addresses, e-mail addresses and URIs, such as a
//!   [`SpiffeId`](certificate::SpiffeId), and CAs can be constrained to names of each kind. webpki on its own, and so rustls's
//!   verifiers, know only the first two kinds: see [`CertificateBuilder::permit_email`](issuing::CertificateBuilder::permit_email).
//! * **Revocation.** An [`Issuer`](issuing::Issuer) makes a [`CertificateRevocationList`](revocation::CertificateRevocationList) from a
//!   [`CertificateRevocationListBuilder`](revocation::CertificateRevocationListBuilder), and a [`RevocationPolicy`](revocation::RevocationPolicy) makes a
//!   [`ChainValidator`](validation::ChainValidator) check chains against lists.
//! * **OCSP.** An [`OcspRequest`](ocsp::OcspRequest) asks whether certificates are revoked, an [`OcspResponder`](ocsp::OcspResponder) answers
//!   with an [`OcspResponse`](ocsp::OcspResponse), for a CA or as its delegate, and a [`ChainValidator`](validation::ChainValidator) accepts responses
//!   beside lists, or instead of them.
//! * **Linting.** [`linting::lint`] reports where a certificate, a revocation list or a request departs
//!   from the standards.
//!
#![cfg_attr(feature = "slh-dsa", doc = "```")]
#![cfg_attr(not(feature = "slh-dsa"), doc = "```ignore")]
//! use pq_x509::pki_types::{ServerName, UnixTime};
//! use pq_x509::issuing::{CertificateBuilder, Issuer};
//! use pq_x509::keys::{SignatureAlgorithm, SigningKey};
//! use pq_x509::validation::ChainValidator;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Roots live for decades and sign little, which is what SLH-DSA is for.
//! let root_key = SigningKey::generate(SignatureAlgorithm::SlhDsaSha2_128f)?;
//! let root = Issuer::self_signed(CertificateBuilder::ca("Example Root"), root_key)?;
//! let ca_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! let ca = root.issue_ca(CertificateBuilder::ca("Example CA").path_len(0), ca_key)?;
//! let leaf_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! let leaf = ca.issue(CertificateBuilder::server().dns_name("example.org"), &leaf_key)?;
//!
//! // What a server needs on disk; its clients need `root.certificate()`.
//! let key_pem = leaf_key.to_pkcs8_pem()?;
//! let chain_pem = leaf.to_pem() + &ca.certificate().to_pem();
//! # let read = SigningKey::from_pkcs8_pem(&key_pem)?;
//! # assert_eq!(read.verifying_key(), leaf_key.verifying_key());
//! # assert_eq!(pq_x509::certificate::Certificate::chain_from_pem(&chain_pem)?.len(), 2);
//!
//! let validator = ChainValidator::new([root.certificate().clone()])?;
//! let name = ServerName::try_from("example.org")?;
//! let chain = [&leaf, ca.certificate()];
//! let validated = validator.validate_server(&chain, &name, UnixTime::now())?;
//! assert_eq!(validated.certificates().len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! A client of a CA sends a request instead of its key:
//!
//! ```
//! # use pq_x509::issuing::{CertificateBuilder, Issuer};
//! # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
//! use pq_x509::request::CertificateRequest;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let ca_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! # let ca = Issuer::self_signed(CertificateBuilder::ca("Example CA"), ca_key)?;
//! let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! let pem = CertificateRequest::builder().dns_name("example.org").sign(&key)?.to_pem();
//!
//! // At the CA, which must find out by itself whose name this is:
//! let request = CertificateRequest::from_pem(&pem)?.verify()?;
//! let leaf = ca.issue(request.certificate().server_auth(), &request)?;
//! # assert_eq!(leaf.dns_names(), ["example.org"]);
//! # Ok(())
//! # }
//! ```
//!
//! A CA revokes a certificate, and publishes a new list every few days:
//!
//! ```
//! # use pq_x509::issuing::{CertificateBuilder, Issuer};
//! # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
//! # use pq_x509::validation::ChainValidator;
//! use pq_x509::pki_types::UnixTime;
//! use pq_x509::revocation::{CertificateRevocationList, CertificateRevocationListBuilder, CrlReason};
//! use pq_x509::revocation::RevocationPolicy;
//! use pq_x509::validation::ValidationError;
//! # use std::time::SystemTime;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let ca_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! # let ca = Issuer::self_signed(CertificateBuilder::ca("Example CA"), ca_key)?;
//! # let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! # let leaf = ca.issue(CertificateBuilder::client().common_name("someone"), &key)?;
//! let list = CertificateRevocationListBuilder::new(&7_u64.to_be_bytes()).revoke(
//!     leaf.serial_number(),
//!     SystemTime::now(),
//!     CrlReason::KeyCompromise,
//! );
//! let pem = ca.issue_revocation_list(list)?.to_pem();
//!
//! let lists = CertificateRevocationList::all_from_pem(&pem)?;
//! let validator = ChainValidator::new([ca.certificate().clone()])?
//!     .with_revocation(RevocationPolicy::new(lists)?);
//! let refused = validator.validate_client(&[leaf], UnixTime::now()).unwrap_err();
//! assert!(matches!(refused, ValidationError::Revoked { .. }));
//! # Ok(())
//! # }
//! ```
//!
//! # Secrets
//!
//! Private keys are wiped when dropped, and so is every buffer that this crate allocates
//! for them. Callers must wipe what they pass in or take out. Values that the compiler puts on the
//! stack can stay there until they are overwritten, and the crates of PBKDF2 and scrypt (feature
//! `encryption`) do not wipe their working memory.
//!
//! All randomness comes from the operating system, except what the caller gives to
//! [`SigningKey::sign_with_randomness`](keys::SigningKey::sign_with_randomness) or [`EncapsulationKey::encapsulate_with_randomness`](keys::EncapsulationKey::encapsulate_with_randomness).
//! [`SigningVariant::Deterministic`](keys::signing::SigningVariant::Deterministic) uses none.
//!
//! # Errors
//!
//! The text of an error includes the text of its cause. So [`source`](core::error::Error::source) is
//! `None`: a program that prints causes one after another prints nothing twice.
//!
//! # Limits
//!
//! A [`ChainValidator`](validation::ChainValidator) checks revocation only with the lists and OCSP responses that it is given. It
//! fetches none, even if the certificate has a URL.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod certificate;
pub mod issuing;
#[cfg(feature = "linting")]
pub mod linting;
// Issuing uses the rules in any case, but not all that the public module offers.
#[cfg(not(feature = "linting"))]
#[allow(dead_code, unreachable_pub, unused_imports)]
mod linting;
pub mod ocsp;
#[cfg(feature = "pkcs12")]
pub mod pkcs12;
pub mod request;
pub mod revocation;
pub mod validation;
pub mod verification;

pub use pki_types;
pub use pq_keys as keys;
pub use x509_cert;

/// The README's programs, which are compiled as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// This room uses `algorithms` and `classical`.

//! Composite ML-DSA: keys and signatures that combine ML-DSA with a classical algorithm, for
//! those who may not rely on either alone
//! ([draft-ietf-lamps-pq-composite-sigs-19](https://datatracker.ietf.org/doc/draft-ietf-lamps-pq-composite-sigs/19/)).
//!
//! It needs the feature `composite`. The standard is a draft: until it is an RFC it may change, and so
//! may this module.
//!
//! A [`CompositeKey`] signs certificates, requests and revocation lists wherever pq-x509 takes a
//! [`Signer`](pq_x509::Signer). To verify them, give [`verification_algorithms`] to a
//! [`ChainValidator`](pq_x509::ChainValidator), a request or webpki.
//!
//! ```
//! use pq_x509::pki_types::{ServerName, UnixTime};
//! use pq_x509::{CertificateBuilder, ChainValidator, Issuer};
//! use rustls_pq::composite::{CompositeAlgorithm, CompositeKey, verification_algorithms};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let algorithm = CompositeAlgorithm::MlDsa65EcdsaP256Sha512;
//! let root = CompositeKey::generate(algorithm)?;
//! let root = Issuer::self_signed(CertificateBuilder::ca("Example Root"), root)?;
//! let key = CompositeKey::generate(algorithm)?;
//! let leaf = root.issue(CertificateBuilder::server().dns_name("example.org"), &key)?;
//!
//! let validator = ChainValidator::new([root.certificate().clone()])?
//!     .with_algorithms(verification_algorithms()?);
//! let name = ServerName::try_from("example.org")?;
//! validator.validate_server(&[leaf], &name, UnixTime::now())?;
//! # Ok(())
//! # }
//! ```
//!
//! # Which combinations
//!
//! All whose classical half this crate supports: [`CompositeAlgorithm::ALL`]. The draft's others, on
//! brainpool curves, on P-521 and with Ed448, are refused with an error that names them.
//!
//! The halves of a composite key must not have certificates of their own, and keys with such
//! certificates must not become halves (section 9.3). So this crate doesn't make a composite key from
//! two other keys. The key usages of composite keys are those of ML-DSA: signatures, and nothing else
//! (section 5.2).
//!
//! # Not in TLS
//!
//! TLS has no code point for composites. No provider of this crate offers composites, accepts them in
//! chains, or loads a composite key, with any [`Profile`](crate::Profile):
//! [`Profile::Cnsa2`](crate::Profile::Cnsa2) has ML-DSA-87 alone.
//!
//! # What a refusal tells
//!
//! Verification always computes both halves, combines their results without a branch on either, and has
//! one error for both. Its time shows only public facts: the length of a signature, and whether the
//! encoding of a half is malformed, because this half then ends sooner.
//!
//! Signing is constant time as far as its halves are: pq-core for ML-DSA, graviola for the classical
//! half. Apart from them, secrets are only copied, and the copies are wiped. Whether a private key has
//! the draft's one encoding is compared in constant time.

mod algorithm;
mod encoding;
mod error;
mod key;
mod message;
mod public_key;
mod verification;

pub use algorithm::{CompositeAlgorithm, UnknownComposite};
pub use error::CompositeKeyError;
pub use key::CompositeKey;
pub use message::{HashedMessage, MessageHasher};
pub use public_key::CompositePublicKey;
pub use verification::verification_algorithms;

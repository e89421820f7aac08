//! Composite ML-DSA: keys and signatures that combine ML-DSA with a classical algorithm, for
//! those who may not rely on either alone
//! ([draft-ietf-lamps-pq-composite-sigs-19](https://datatracker.ietf.org/doc/draft-ietf-lamps-pq-composite-sigs/19/)).
//!
//! They are those of [`pq_keys::composite`]. It needs the feature `composite`. The standard is a draft: until it
//! is an RFC it may change, and so may this module.
//!
//! A [`CompositeKey`] signs certificates, requests and revocation lists wherever pq-x509 takes a
//! [`Signer`](pq_x509::keys::Signer). To verify them, give [`verification_algorithms`] to a
//! [`ChainValidator`](pq_x509::validation::ChainValidator), a request or webpki.
//!
//! ```
//! use pq_x509::pki_types::{ServerName, UnixTime};
//! use pq_x509::issuing::{CertificateBuilder, Issuer};
//! use pq_x509::validation::ChainValidator;
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
//! # Not in TLS
//!
//! TLS has no code point for composites. No provider of this crate offers composites, accepts them in
//! chains, or loads a composite key, with any [`Profile`](crate::Profile):
//! [`Profile::Cnsa2`](crate::Profile::Cnsa2) has ML-DSA-87 alone.

pub use pq_keys::composite::{
    CompositeAlgorithm, CompositeKey, CompositeKeyError, CompositePublicKey, HashedMessage,
    MessageHasher, UnknownComposite,
};
pub use pq_x509::verification::composite_algorithms as verification_algorithms;

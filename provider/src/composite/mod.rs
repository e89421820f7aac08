// This room uses `algorithms` and `classical`.

//! Composite ML-DSA: keys and signatures that are of ML-DSA and of a classical algorithm at once, for
//! those who may not rely on either alone
//! ([draft-ietf-lamps-pq-composite-sigs-19](https://datatracker.ietf.org/doc/draft-ietf-lamps-pq-composite-sigs/19/)).
//!
//! It needs the feature `composite`. The standard is a draft: what it says may change until it is an
//! RFC, and so may all that is here.
//!
//! A [`CompositeKey`] signs certificates, requests and revocation lists wherever pq-x509 takes a
//! [`Signer`](pq_x509::Signer), and [`verification_algorithms`] is what a
//! [`ChainValidator`](pq_x509::ChainValidator), a request and webpki need for them.
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
//! Those whose classical half this crate has: [`CompositeAlgorithm::ALL`]. The draft's others, on
//! brainpool's curves, on P-521 and with Ed448, are refused by an error that names them.
//!
//! A classical key that has a certificate of its own must not be a half of a composite one, nor the
//! reverse (section 9.3): so there is no way to make a composite key of two others. Its key usages are
//! those of ML-DSA: signatures, and nothing else (section 5.2).
//!
//! # Not in TLS
//!
//! There is no code point. No provider of this crate offers composites, takes them in chains, or loads a
//! composite key, whatever the [`Profile`](crate::Profile): [`Profile::Cnsa2`](crate::Profile::Cnsa2)
//! has ML-DSA-87 alone.
//!
//! # What a refusal tells
//!
//! Verification computes both halves, whatever the first one says, and combines what they say without a
//! branch on either; the error is one. What is visible is public anyway: the length of a signature, and
//! that the encoding of a half is malformed within itself, where that half ends sooner.
//!
//! Signing has the constant time of its halves: that of pq-core for ML-DSA, and graviola's for the other.
//! Between them nothing depends on a secret but copies of keys, which are wiped. That a private key has the
//! draft's one encoding is compared in constant time.

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

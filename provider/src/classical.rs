//! Classical keys: ECDSA on P-256 and P-384, Ed25519 and RSA for certificates, ECDH and X25519 for
//! encrypted documents. They are those of [`pq_keys::classical`], which makes, reads, writes and uses them.
//!
//! They serve peers that don't accept post-quantum certificates yet: from a server with a
//! [twin](crate::identity) certificate of each kind, or under a widely trusted CA. Handshakes don't
//! need this module: they can use the keys of any base. All of it uses graviola, and needs the feature
//! of that name.
//!
//! pq-x509's [`Issuer`](pq_x509::issuing::Issuer) and requests take a [`ClassicalKey`] like a post-quantum key:
//!
//! ```
//! use pq_x509::issuing::{CertificateBuilder, Issuer};
//! use pq_x509::request::CertificateRequest;
//! use rustls_pq::classical::{ClassicalAlgorithm, ClassicalKey};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256)?;
//! let root = Issuer::self_signed(CertificateBuilder::ca("Example Root"), key)?;
//!
//! let key = ClassicalKey::generate(ClassicalAlgorithm::Ed25519)?;
//! let request = CertificateRequest::builder().dns_name("example.org").sign(&key)?;
//! let pem = key.to_pkcs8_pem();
//!
//! let verification = rustls_pq::classical::verification_algorithms()?;
//! let request = request.verify_with(verification)?;
//! let leaf = root.issue(request.certificate().server_auth(), &request)?;
//! # use pq_x509::keys::SubjectKey;
//! # assert_eq!(ClassicalKey::from_pem(&pem)?.spki(), leaf.spki());
//! # Ok(())
//! # }
//! ```

// This room uses `algorithms`.

pub use pq_keys::classical::{
    AgreementAlgorithm, ClassicalAgreementKey, ClassicalAgreementPublicKey, ClassicalAlgorithm,
    ClassicalKey, ClassicalKeyError, ClassicalPublicKey, RsaScheme, UnknownClassicalAlgorithm,
};
pub use pq_x509::verification::classical_algorithms as verification_algorithms;

use crate::algorithms::KeyAlgorithm;

impl From<ClassicalAlgorithm> for KeyAlgorithm {
    fn from(algorithm: ClassicalAlgorithm) -> Self {
        pq_keys::KeyAlgorithm::from(algorithm).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both crates know them.
    #[test]
    fn signatures_are_as_long_here_as_there() {
        for algorithm in ClassicalAlgorithm::ALL {
            let here = KeyAlgorithm::from(*algorithm);
            assert_eq!(here.max_signature_len(), algorithm.max_signature_len());
            let letters = |name: &str| name.replace([' ', '-'], "");
            assert_eq!(letters(&here.to_string()), letters(algorithm.name()));
        }
    }
}

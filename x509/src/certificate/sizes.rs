//! How many bytes of a chain are keys, signatures and the rest, and how many a Certificate message of TLS 1.3 takes.

use core::fmt;
use core::iter::Sum;
use core::ops::Add;

use super::certificate::Certificate;

/// The sizes of a chain of certificates, in bytes: to plan a PKI, to see where a
/// handshake's bytes come from, and to stay within the limits of peers.
///
#[cfg_attr(feature = "slh-dsa", doc = "```")]
#[cfg_attr(not(feature = "slh-dsa"), doc = "```ignore")]
/// use pq_x509::{certificate::Sizes, issuing::{CertificateBuilder, Issuer}, keys::{SignatureAlgorithm, SigningKey}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let root_key = SigningKey::generate(SignatureAlgorithm::SlhDsaShake128f)?;
/// let root = Issuer::self_signed(CertificateBuilder::ca("Example Root"), root_key)?;
/// let leaf_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let leaf = root.issue(CertificateBuilder::server().dns_name("example.org"), &leaf_key)?;
///
/// let sizes = Sizes::of(&[leaf]);
/// assert_eq!(sizes.total().signature, 17_088);
/// assert_eq!(sizes.total().public_key, 1_952);
/// assert!(sizes.tls13_certificate_message() < 65_536);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sizes {
    certificates: Vec<CertificateSizes>,
}

impl Sizes {
    /// Measures these certificates. Pass those that are sent, so not the root.
    pub fn of<'a>(chain: impl IntoIterator<Item = &'a Certificate>) -> Self {
        Self {
            certificates: chain.into_iter().map(CertificateSizes::of).collect(),
        }
    }

    /// The certificates one by one, in the order given.
    pub fn certificates(&self) -> &[CertificateSizes] {
        &self.certificates
    }

    /// All certificates together.
    pub fn total(&self) -> CertificateSizes {
        self.certificates.iter().copied().sum()
    }

    /// Length of the body of a TLS 1.3 Certificate message with this chain, without
    /// extensions and with an empty context, as servers send it (RFC 8446, section 4.4.2).
    pub fn tls13_certificate_message(&self) -> usize {
        // certificate_request_context<0..2^8-1>, certificate_list<0..2^24-1>; an entry is
        // cert_data<1..2^24-1>, extensions<0..2^16-1>.
        let entries = self.certificates.iter().map(|sizes| 3 + sizes.der + 2);
        1 + 3 + entries.sum::<usize>()
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.certificates.len();
        let noun = if count == 1 {
            "certificate"
        } else {
            "certificates"
        };
        write!(f, "{count} {noun}, {}", self.total())
    }
}

/// The sizes of one certificate, in bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct CertificateSizes {
    /// The whole certificate in DER.
    pub der: usize,
    /// The public key, without its SubjectPublicKeyInfo.
    pub public_key: usize,
    /// The issuer's signature.
    pub signature: usize,
}

impl CertificateSizes {
    fn of(certificate: &Certificate) -> Self {
        let parsed = certificate.parsed();
        let key = parsed.tbs_certificate().subject_public_key_info();
        Self {
            der: certificate.der().len(),
            public_key: key.subject_public_key.raw_bytes().len(),
            signature: parsed.signature().raw_bytes().len(),
        }
    }

    /// Names, extensions, dates and identifiers: all except key and signature.
    pub fn rest(self) -> usize {
        self.der - self.public_key - self.signature
    }
}

impl Add for CertificateSizes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            der: self.der + other.der,
            public_key: self.public_key + other.public_key,
            signature: self.signature + other.signature,
        }
    }
}

impl Sum for CertificateSizes {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), Self::add)
    }
}

impl fmt::Display for CertificateSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            der,
            public_key,
            signature,
        } = self;
        write!(
            f,
            "{der} bytes: {public_key} of keys, {signature} of signatures, {} of the rest",
            self.rest()
        )
    }
}

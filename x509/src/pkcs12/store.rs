//! `Pkcs12`, the contents of a file: keys with their names, certificates, and which certificate belongs to which key.

use alloc::borrow::ToOwned;
use core::fmt;

use pq_keys::identifiers::check_pkcs8;
use pq_keys::{KeyAlgorithm, KeyError, PrivateKey};
use sha2::{Digest, Sha256};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use super::error::Pkcs12Error;
use crate::certificate::Certificate;

/// Private keys and certificates in one file under one passphrase (RFC 7292).
///
/// Keys are PKCS#8 of any algorithm. A key and its certificate have the same identifier in the file.
///
/// ```
/// # use pq_x509::issuing::{CertificateBuilder, Issuer};
/// # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// use pq_x509::keys::protection::Protection;
/// use pq_x509::pkcs12::{Pkcs12, Pkcs12Mac};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use pq_x509::keys::protection::{KeyDerivation, Prf};
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// # let root = Issuer::self_signed(CertificateBuilder::ca("Example"), key.clone())?;
/// # let certificate = root.certificate();
/// # let cheap = KeyDerivation::Pbkdf2 { prf: Prf::HmacSha256, iterations: 1 };
/// let chain = [certificate.clone()];
/// let store = Pkcs12::new().with_key(&key.to_pkcs8_der()?, Some("web"), &chain)?;
/// let (protection, mac) = (Protection::default(), Pkcs12Mac::default());
/// # let protection = protection.with_key_derivation(cheap);
/// # let mac = Pkcs12Mac::Pbmac1 { prf: Prf::HmacSha256, iterations: 1 };
/// let der = store.to_der("correct horse", &protection, mac)?;
///
/// let read = Pkcs12::from_der(&der, "correct horse")?;
/// let entry = &read.keys()[0];
/// assert_eq!(entry.name(), Some("web"));
/// assert_eq!(read.certificate_of(entry), Some(certificate));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pkcs12 {
    pub(super) keys: Vec<Pkcs12Key>,
    pub(super) certificates: Vec<Pkcs12Certificate>,
    pub(super) has_mac_by_sha1: bool,
}

impl Pkcs12 {
    /// A file without keys and certificates.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a private key, as the DER of its PKCS#8, with a name for people and its chain.
    ///
    /// The first certificate of the chain is the key's. A file with several keys has each CA once.
    ///
    /// # Errors
    ///
    /// [`Pkcs12Error::Key`] if `pkcs8` is no PKCS#8.
    pub fn with_key(
        mut self,
        pkcs8: &[u8],
        name: Option<&str>,
        chain: &[Certificate],
    ) -> Result<Self, Pkcs12Error> {
        check_pkcs8(pkcs8)?;
        // A hash of public data, because the identifier of a key is not encrypted.
        let id = chain
            .first()
            .map(|leaf| Sha256::digest(leaf.der()).to_vec());
        self.keys.push(Pkcs12Key {
            pkcs8: Zeroizing::new(pkcs8.to_vec()),
            name: name.map(ToOwned::to_owned),
            id: id.clone(),
        });
        if let Some((leaf, cas)) = chain.split_first() {
            self.certificates.push(Pkcs12Certificate {
                certificate: leaf.clone(),
                name: name.map(ToOwned::to_owned),
                id,
            });
            self = self.with_certificates(cas);
        }
        Ok(self)
    }

    /// Adds certificates that no key belongs to, each once.
    pub fn with_certificates(mut self, certificates: &[Certificate]) -> Self {
        for certificate in certificates {
            let is_here = |there: &Pkcs12Certificate| there.certificate == *certificate;
            if !self.certificates.iter().any(is_here) {
                self.certificates.push(Pkcs12Certificate {
                    certificate: certificate.clone(),
                    name: None,
                    id: None,
                });
            }
        }
        self
    }

    /// The private keys, in the order of the file.
    pub fn keys(&self) -> &[Pkcs12Key] {
        &self.keys
    }

    /// All certificates, in the order of the file.
    pub fn certificates(&self) -> &[Pkcs12Certificate] {
        &self.certificates
    }

    /// Whether the MAC of the file that this was read from is by SHA-1, or its key is. Such a MAC still shows that the
    /// file is unchanged, but whoever made it should make it by SHA-256.
    pub fn has_mac_by_sha1(&self) -> bool {
        self.has_mac_by_sha1
    }

    /// The certificate that has the key's identifier.
    pub fn certificate_of(&self, key: &Pkcs12Key) -> Option<&Certificate> {
        let id = key.id.as_ref()?;
        let mut certificates = self.certificates.iter();
        let found = certificates.find(|certificate| certificate.id.as_ref() == Some(id));
        Some(&found?.certificate)
    }
}

/// A private key in a PKCS#12 file. It is wiped when dropped.
#[derive(Clone, Eq, PartialEq)]
pub struct Pkcs12Key {
    pub(super) pkcs8: Zeroizing<Vec<u8>>,
    pub(super) name: Option<String>,
    pub(super) id: Option<Vec<u8>>,
}

impl Pkcs12Key {
    /// The DER of its PKCS#8, of any algorithm.
    pub fn pkcs8_der(&self) -> &[u8] {
        &self.pkcs8
    }

    /// The key, if it is of ML-DSA, SLH-DSA or ML-KEM.
    ///
    /// For keys of other algorithms, give [`pkcs8_der`](Self::pkcs8_der) to their own type, such as `CompositeKey`,
    /// `ClassicalKey` or, whatever the algorithm is, `AnyPrivateKey` of pq-keys (feature `any`).
    ///
    /// # Errors
    ///
    /// [`Pkcs12Error::OtherAlgorithm`] for such a key, and [`Pkcs12Error::Key`] with the errors of
    /// [`PrivateKey::from_pkcs8_der`].
    pub fn private_key(&self) -> Result<PrivateKey, Pkcs12Error> {
        PrivateKey::from_pkcs8_der(&self.pkcs8).map_err(|error| match error {
            KeyError::UnsupportedAlgorithm(oid) => {
                let identifier = AlgorithmIdentifierRef {
                    oid,
                    parameters: None,
                };
                Pkcs12Error::OtherAlgorithm(KeyAlgorithm::of_identifier(&identifier))
            }
            error => Pkcs12Error::Key(error),
        })
    }

    /// What people call it: its friendlyName.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its localKeyId, which its certificate has as well.
    pub fn local_key_id(&self) -> Option<&[u8]> {
        self.id.as_deref()
    }
}

impl fmt::Debug for Pkcs12Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pkcs12Key")
            .field("name", &self.name)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// A certificate in a PKCS#12 file.
#[derive(Clone, Debug)]
pub struct Pkcs12Certificate {
    pub(super) certificate: Certificate,
    pub(super) name: Option<String>,
    pub(super) id: Option<Vec<u8>>,
}

impl Pkcs12Certificate {
    /// The certificate itself.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// What people call it: its friendlyName.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its localKeyId, which its key has as well.
    pub fn local_key_id(&self) -> Option<&[u8]> {
        self.id.as_deref()
    }
}

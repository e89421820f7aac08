//! Certificate chains and their keys: several of them on one port, and replaced while
//! the program runs.
//!
//! An [`Identity`] is a chain with the key of its leaf, checked when it is made. An
//! [`IdentitySet`] holds those of a server, for any number of names; [`Identities`] gives
//! rustls the one that suits each peer best, and takes a new set at any time.
//! [`IdentityFiles`] reads them from PEM files and watches these for changes.
//!
//! ```
//! # use std::sync::Arc;
//! # use pq_x509::{CertificateBuilder, Issuer, SignatureAlgorithm, SigningKey};
//! # use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
//! use rustls::ServerConfig;
//! use rustls_pq::identity::{Identities, Identity, IdentitySet};
//!
//! type Pair = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);
//!
//! fn server(ml_dsa: Pair, ecdsa: Pair) -> Result<ServerConfig, Box<dyn std::error::Error>> {
//!     let provider = Arc::new(rustls_pq::provider()?);
//!     let identities = Arc::new(Identities::new(
//!         IdentitySet::new()
//!             .with_default(Identity::new(ml_dsa.0, ml_dsa.1, &provider)?)
//!             .with_default(Identity::new(ecdsa.0, ecdsa.1, &provider)?),
//!     ));
//!     // Keep a clone of `identities` to `replace` the set later.
//!     Ok(ServerConfig::builder_with_provider(provider)
//!         .with_safe_default_protocol_versions()?
//!         .with_no_client_auth()
//!         .with_cert_resolver(identities))
//! }
//! # fn pair() -> Result<Pair, Box<dyn std::error::Error>> {
//! #     let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
//! #     let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key)?;
//! #     let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
//! #     let leaf = root.issue(CertificateBuilder::server().dns_name("localhost"), &key)?;
//! #     let key = PrivatePkcs8KeyDer::from(key.to_pkcs8_der()?.to_vec());
//! #     Ok((vec![leaf.into_der()], key.into()))
//! # }
//! # server(pair()?, pair()?)?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which one a client gets
//!
//! 1. Those for the server name that the client asks for: first those that name it,
//!    then those with a wildcard for it (`*.example.org`, for one label). Where there are
//!    neither, or the client asks for none, the default ones. Names are those in the leaf's
//!    subjectAltName.
//! 2. Among these, the ones that the client can verify: its `signature_algorithms` cover
//!    a scheme of the key and the signature of every certificate in the chain, except of
//!    self-signed CAs. SLH-DSA in a chain counts only where the client lists a scheme for it,
//!    though many a client without one verifies it, this crate's and OpenSSL's among them:
//!    next to a classical chain, they get that. For HashSLH-DSA there is no scheme to list.
//! 3. Among these, the strongest, counted by the weakest link of the chain: post-quantum
//!    before classical, and the higher security category first.
//! 4. Among equals, the smaller: certificates and the signature of the handshake together.
//!
//! Names go before strength, and being verifiable goes before names: a client that can
//! verify none of the chains that name the server, but one with a wildcard for it, gets the
//! latter. Where the client can verify none of those that are for its name, it gets one
//! that the handshake can at least be signed with (RFC 9846, section 4.4.2.2), and where
//! there is none of these either, the handshake ends with the alert `handshake_failure`.
//!
//! In TLS 1.2, where ML-DSA has no place, cipher suites are for one kind of key: the client has
//! to offer one for the leaf's kind that the [`Identity`]'s provider has. A client that does, and
//! offers no post-quantum group, gets a classical chain if it can verify one, because its
//! handshake may turn out to be one of TLS 1.2: rustls doesn't tell before the choice is made.
//!
//! # `signature_algorithms_cert`
//!
//! rustls 0.23 drops this extension, with which a client can accept more signatures in
//! certificates than in the handshake, or fewer. `signature_algorithms` stand for both
//! then, as they do where it is not sent, which is most of the time.
//! [`OfferReader`](crate::OfferReader) gets it out of the bytes that the client sends, and the
//! versions with it; a [`ServerHandshake`](crate::ServerHandshake) goes by both.

mod files;
mod set;

pub use files::{IdentityFiles, WatchError, Watcher};
pub use set::{Choice, Identities, IdentitySet};

use alloc::sync::Arc;
use core::fmt;
use std::io;
use std::path::PathBuf;

use pq_x509::x509_cert::der::Encode;
use pq_x509::{Certificate, CertificateError, KeyError, SignatureAlgorithm, SigningKey};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{
    CipherSuite, InconsistentKeys, OtherError, ProtocolVersion, SignatureScheme,
    SupportedCipherSuite,
};
use zeroize::Zeroizing;

use crate::KeyAlgorithm;
use crate::certificate::{Algorithms, Signature, Strength};

/// A certificate chain with the private key of its leaf.
///
/// One that exists is a pair, its certificates can be read, and the handshake messages with
/// it fit what peers accept.
pub struct Identity {
    certified: Arc<CertifiedKey>,
    key_algorithm: KeyAlgorithm,
    /// The provider's cipher suites of TLS 1.2 that the key can sign a handshake with.
    tls12_suites: Vec<CipherSuite>,
    /// Of each certificate.
    algorithms: Vec<Algorithms>,
    names: Vec<String>,
    /// The issuer of each certificate, a Name in DER.
    issuers: Vec<Vec<u8>>,
    not_after: UnixTime,
    size: usize,
}

impl Identity {
    /// Checks a chain, leaf first, and the key of the leaf. The root needs not be sent.
    /// `provider` is that of the configuration that it is for.
    ///
    /// # Errors
    ///
    /// [`IdentityError`] says what is wrong and what to do.
    pub fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        provider: &CryptoProvider,
    ) -> Result<Self, IdentityError> {
        // Wiped whatever comes; who loads the key has a copy to take care of.
        let key = Zeroizing::new(key);
        let certificates = chain
            .iter()
            .enumerate()
            .map(|(index, certificate)| {
                Certificate::from_der(certificate)
                    .map_err(|source| IdentityError::Certificate { index, source })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let leaf = certificates.first().ok_or(IdentityError::NoCertificate)?;
        let key_algorithm = Algorithms::in_certificate(leaf.parsed()).key;
        let not_after =
            (certificates.iter().map(Certificate::not_after)).fold(leaf.not_after(), UnixTime::min);
        let size = chain.iter().map(|certificate| certificate.len()).sum();
        check_flight(&chain, key_algorithm.max_signature_len())?;

        let key = provider
            .key_provider
            .load_private_key(key.clone_key())
            .map_err(|error| match post_quantum(&key) {
                // Ours says why it refuses a key that it can read.
                Some(algorithm) if !matches!(error, rustls::Error::Other(_)) => {
                    IdentityError::ClassicalProvider { algorithm }
                }
                _ => IdentityError::Key(error),
            })?;
        let certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            // A key that can't say what its public half is has to be taken at its word,
            // as rustls does.
            Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
            Err(rustls::Error::InconsistentKeys(_)) => {
                return Err(IdentityError::Mismatch {
                    certificate: leaf.describe_subject(),
                    algorithm: key_algorithm,
                });
            }
            Err(error) => return Err(IdentityError::Key(error)),
        }

        let tls12_suites = (provider.cipher_suites.iter())
            .filter(|suite| suite.version().version == ProtocolVersion::TLSv1_2)
            .filter(|suite| suite.usable_for_signature_algorithm(certified.key.algorithm()))
            .map(SupportedCipherSuite::suite)
            .collect();
        Ok(Self {
            certified: Arc::new(certified),
            key_algorithm,
            tls12_suites,
            algorithms: certificates
                .iter()
                .map(|certificate| Algorithms::in_certificate(certificate.parsed()))
                .collect(),
            names: leaf
                .dns_names()
                .iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
            issuers: certificates
                .iter()
                .filter_map(|certificate| certificate.issuer().to_der().ok())
                .collect(),
            not_after,
            size,
        })
    }

    /// Reads the chain and the key from PEM texts, and checks them.
    ///
    /// # Errors
    ///
    /// [`IdentityError`] says what is wrong and what to do.
    pub fn from_pem(
        chain: &[u8],
        key: &[u8],
        provider: &CryptoProvider,
    ) -> Result<Self, IdentityError> {
        let certificates = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<Vec<_>, _>>()
            .map_err(IdentityError::ChainPem)?;
        if certificates.is_empty() {
            return Err(IdentityError::NoCertificateBlock {
                found: labels(chain),
            });
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| match error {
            _ if is_encrypted(key) => IdentityError::EncryptedKey,
            pem::Error::NoItemsFound => IdentityError::NoKeyBlock { found: labels(key) },
            error => IdentityError::KeyPem(error),
        })?;
        Self::new(certificates, key, provider)
    }

    /// The pair in the form that rustls takes.
    pub fn certified_key(&self) -> &Arc<CertifiedKey> {
        &self.certified
    }

    /// The algorithm of the leaf's key.
    pub fn key_algorithm(&self) -> KeyAlgorithm {
        self.key_algorithm
    }

    /// The DNS names of the leaf, in lower case; wildcards as they are.
    pub fn dns_names(&self) -> &[String] {
        &self.names
    }

    /// The last second in which all certificates of the chain are valid: replace them before.
    ///
    /// It may be in the past. That is for the peers to judge, whose clocks decide.
    pub fn not_after(&self) -> UnixTime {
        self.not_after
    }

    /// The length of all certificates together, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What a handshake with it weighs, in bytes: certificates, and the signature in
    /// CertificateVerify.
    fn weight(&self) -> usize {
        self.size + self.key_algorithm.max_signature_len()
    }

    /// What to sign with for a peer that accepts `schemes` in the handshake and
    /// `cert_schemes` in certificates; `None` if it can't verify this identity.
    fn scheme_for(
        &self,
        schemes: &[SignatureScheme],
        cert_schemes: &[SignatureScheme],
    ) -> Option<SignatureScheme> {
        let is_chain_verifiable = Algorithms::relied_on(&self.algorithms).all(|signature| {
            cert_schemes
                .iter()
                .any(|&scheme| signature.is_covered_by(scheme))
        });
        match is_chain_verifiable {
            true => self.signs_with(schemes),
            false => None,
        }
    }

    /// Whether it can be shown in TLS 1.2 to a peer with these cipher suites: there they say
    /// what kind of key signs (RFC 8422, section 2), which post-quantum ones never are.
    fn suits_tls12(&self, suites: &[CipherSuite]) -> bool {
        self.tls12_suites.iter().any(|suite| suites.contains(suite))
    }

    fn signs_with(&self, schemes: &[SignatureScheme]) -> Option<SignatureScheme> {
        let signer = self.certified.key.choose_scheme(schemes)?;
        Some(signer.scheme())
    }

    /// Whether a CA with one of these names, in DER, issued one of the certificates.
    fn is_issued_by(&self, names: &[&[u8]]) -> bool {
        self.issuers.iter().any(|issuer| names.contains(&&**issuer))
    }

    /// That of the weakest link.
    fn strength(&self) -> Strength {
        let keys = self.algorithms.iter().map(|certificate| certificate.key);
        keys.map(KeyAlgorithm::strength)
            .chain(Algorithms::relied_on(&self.algorithms).map(Signature::strength))
            .min()
            .unwrap_or(Strength::NONE)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("names", &self.names)
            .field("key", &format_args!("{}", self.key_algorithm()))
            .field("certificates", &self.algorithms.len())
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// Why a chain and a key can't be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The chain is empty.
    #[error("there is no certificate in the chain; it takes at least that of the key")]
    NoCertificate,

    /// A certificate can't be read.
    #[error(
        "certificate {index} of the chain, counted from 0 for the leaf, is malformed: {source}"
    )]
    Certificate {
        /// The position in the chain.
        index: usize,
        /// What is wrong with it.
        source: CertificateError,
    },

    /// The chain isn't in PEM.
    #[error(
        "the certificate chain can't be read: {}; it should be in PEM, with a CERTIFICATE block \
         for each certificate",
        reason(.0)
    )]
    ChainPem(#[source] pem::Error),

    /// The PEM text for the chain has no certificate.
    #[error(
        "there is no certificate in the text for the chain, which has {}; it should be in PEM, \
         with a CERTIFICATE block for each certificate, that of the key first",
        blocks(found)
    )]
    NoCertificateBlock {
        /// The labels of the blocks that the text has.
        found: Vec<String>,
    },

    /// The private key isn't in PEM.
    #[error(
        "the private key can't be read: {}; it should be in PEM and not encrypted, in a block \
         PRIVATE KEY (PKCS#8), EC PRIVATE KEY or RSA PRIVATE KEY; `openssl pkey` converts others",
        reason(.0)
    )]
    KeyPem(#[source] pem::Error),

    /// The PEM text for the private key has none.
    #[error(
        "there is no private key in the text for it, which has {}; it should be in PEM, in a \
         block PRIVATE KEY (PKCS#8), EC PRIVATE KEY or RSA PRIVATE KEY; `openssl pkey` converts \
         others",
        blocks(found)
    )]
    NoKeyBlock {
        /// The labels of the blocks that the text has.
        found: Vec<String>,
    },

    /// The private key is encrypted.
    #[error(
        "the private key is encrypted, and nothing here asks for a password; decrypt it first, \
         for example with `openssl pkey`"
    )]
    EncryptedKey,

    /// The private key can't be used.
    #[error("the private key can't be used: {}", unusable(.0))]
    Key(#[source] rustls::Error),

    /// What loads private keys has panicked, while [files were watched](IdentityFiles::watch).
    #[error(
        "the provider panicked when it loaded the private key, and standard error may say why; use \
         a key of another kind, or report it to who made the base provider"
    )]
    Panicked,

    /// The private key is post-quantum, and the provider isn't of this crate.
    #[error(
        "the provider loads no private keys of {algorithm}; make it with rustls_pq::provider() or \
         rustls_pq::Builder, and use it for the configuration as well"
    )]
    ClassicalProvider {
        /// The algorithm of the private key.
        algorithm: SignatureAlgorithm,
    },

    /// The private key isn't that of the leaf.
    #[error(
        "the private key doesn't belong to the certificate, which is that of {certificate} with a \
         key for {algorithm}; give the key that it was issued for, and the leaf first in the chain"
    )]
    Mismatch {
        /// Whose certificate comes first in the chain.
        certificate: String,
        /// The algorithm of the key in it.
        algorithm: KeyAlgorithm,
    },

    /// The chain is larger than peers accept.
    #[error(
        "the chain is too large: {certificates} bytes of certificates and a signature of up to \
         {signature} bytes, {} bytes together, where {limit} fit into a handshake with a peer \
         that uses rustls; leave out the root, or take smaller signatures (ML-DSA rather than \
         SLH-DSA for all but the root)",
        .certificates + .signature
    )]
    TooLarge {
        /// The length of all certificates with what frames them, in bytes.
        certificates: usize,
        /// The length of the signature in CertificateVerify, in bytes.
        signature: usize,
        /// What fits, in bytes.
        limit: usize,
    },

    /// What a chain and a key from files have wrong with them.
    #[error("{} with the key {}: {source}", .chain.display(), .key.display())]
    InFiles {
        /// The file with the chain.
        chain: PathBuf,
        /// The file with the key.
        key: PathBuf,
        /// What is wrong.
        source: Box<Self>,
    },

    /// A file can't be read.
    #[error("{} can't be read: {source}", .path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What certificates and the signature of CertificateVerify may take together, in
/// bytes.
///
/// rustls receives a flight of messages into a buffer of 65,535 bytes, and frees nothing of
/// it until a message ends together with a record. Servers that fill their records, as
/// rustls and BoringSSL do, therefore have to get everything from EncryptedExtensions to
/// Finished into this buffer. What is left is for those two, a CertificateRequest with a
/// few dozen names, and the framing of four records.
const FLIGHT_LIMIT: usize = 0xffff - 4095;

fn check_flight(chain: &[CertificateDer<'_>], signature: usize) -> Result<(), IdentityError> {
    // CertificateEntry: three bytes of length, two of extensions (RFC 9846, section 4.4.2).
    let certificates = chain.iter().map(|certificate| certificate.len() + 5).sum();
    match certificates + signature <= FLIGHT_LIMIT {
        true => Ok(()),
        false => Err(IdentityError::TooLarge {
            certificates,
            signature,
            limit: FLIGHT_LIMIT,
        }),
    }
}

/// What `pki_types` reports, which prints markers as lists of numbers.
fn reason(error: &pem::Error) -> String {
    match error {
        pem::Error::MissingSectionEnd { end_marker } => format!(
            "the end of its block {} is missing",
            String::from_utf8_lossy(end_marker)
        ),
        error => error.to_string(),
    }
}

/// Whether a text has an encrypted private key: by its label (RFC 5958), or by the headers of
/// RFC 1421, which other labels have as well.
fn is_encrypted(text: &[u8]) -> bool {
    lines(text).any(|line| {
        line == b"-----BEGIN ENCRYPTED PRIVATE KEY-----" || line == b"Proc-Type: 4,ENCRYPTED"
    })
}

/// The labels of the blocks in a PEM text.
fn labels(text: &[u8]) -> Vec<String> {
    lines(text)
        .filter_map(|line| line.strip_prefix(b"-----BEGIN ")?.strip_suffix(b"-----"))
        .map(|label| String::from_utf8_lossy(label).into_owned())
        .collect()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
}

fn blocks(labels: &[String]) -> String {
    match labels {
        [] => "no block at all".into(),
        labels => labels.join(", "),
    }
}

/// What the key provider forbids says itself what to do; what can't be read doesn't, nor do the
/// base's errors.
fn unusable(error: &rustls::Error) -> String {
    let as_is: &dyn fmt::Display = match error {
        rustls::Error::Other(OtherError(error)) if !error.is::<KeyError>() => {
            return error.to_string();
        }
        rustls::Error::Other(OtherError(error)) => error,
        error => error,
    };
    format!(
        "{as_is}; it should be ML-DSA in PKCS#8, as seed, expanded key or both, or a classical key \
         that the base provider supports"
    )
}

/// The algorithm of a post-quantum private key that can be read.
fn post_quantum(key: &PrivateKeyDer<'_>) -> Option<SignatureAlgorithm> {
    let PrivateKeyDer::Pkcs8(key) = key else {
        return None;
    };
    let key = SigningKey::from_pkcs8_der(key.secret_pkcs8_der()).ok()?;
    Some(key.algorithm())
}

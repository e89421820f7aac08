//! Why a chain, a key, an OCSP response or a file can't be used as an identity, and what the operator can do.

use core::error::Error;
use core::fmt;
use std::io;
use std::path::PathBuf;

use pq_keys::encoding::pem::PemError;
use pq_keys::errors::describe;
use pq_x509::certificate::{CertificateError, SignatureError};
use pq_x509::keys::{KeyError, SignatureAlgorithm};
use pq_x509::ocsp::{OcspError, OcspResponseError};
use rustls::OtherError;

use crate::algorithms::KeyAlgorithm;

/// Why a chain and a key can't be served.
///
/// The text of each error contains the text of its cause. So [`source`](core::error::Error::source)
/// is `None`, and a program that prints causes one after another prints nothing twice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The chain is empty.
    #[error("there is no certificate in the chain; give at least the certificate of the key")]
    NoCertificate,

    /// A certificate can't be read.
    #[error("certificate {index} of the chain, counted from 0 for the leaf, is malformed: {error}")]
    Certificate {
        /// The position in the chain.
        index: usize,
        /// What is wrong with it.
        error: CertificateError,
    },

    /// A block of the chain can't be read.
    #[error(
        "the certificate chain can't be read: {0}; it should be in PEM, with a CERTIFICATE block \
         for each certificate"
    )]
    ChainPem(PemError),

    /// The PEM text for the chain has no certificate.
    #[error(
        "the text for the chain has {}, and no certificate; it should be in PEM, \
         with a CERTIFICATE block for each certificate, the certificate of the key first",
        blocks(found)
    )]
    NoCertificateBlock {
        /// The labels of the blocks that the text has.
        found: Vec<String>,
    },

    /// The block of the private key can't be read.
    #[error(
        "the private key can't be read: {0}; it should be in PEM and not encrypted, in a block \
         PRIVATE KEY (PKCS#8), EC PRIVATE KEY or RSA PRIVATE KEY; `openssl pkey` converts others"
    )]
    KeyPem(PemError),

    /// The DER of the private key is of no kind that is known.
    #[error(
        "the private key can't be read: its DER is neither PKCS#8 nor the older format of an EC or RSA key; if it is \
         encrypted, decrypt it first, for example with `pqtls key decrypt KEY --out FILE` or with `openssl pkey`"
    )]
    KeyDer,

    /// The PEM text for the private key has none.
    #[error(
        "the text for the private key has {}, and no private key; it should be in PEM, in a \
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
        "the private key is encrypted, and nothing here asks for a passphrase; decrypt it first, for example with \
         `pqtls key decrypt KEY --out FILE`, which asks for it or takes it by --passphrase-file, or with `openssl pkey`"
    )]
    EncryptedKey,

    /// The private key can't be used.
    #[error("the private key can't be used: {}", unusable(.0))]
    Key(rustls::Error),

    /// The provider panicked when it loaded a private key, while [files were
    /// watched](super::IdentityFiles::watch).
    #[error(
        "the provider panicked when it loaded the private key, and standard error may say why; use \
         a key of another kind, or report it to the authors of the base provider"
    )]
    Panicked,

    /// An algorithm of the provider panicked when it verified the OCSP response.
    #[error(
        "a signature algorithm of the provider panicked when it verified the OCSP response, and standard \
         error may say why; leave that algorithm out, or report it to its authors"
    )]
    AlgorithmPanicked,

    /// The private key is post-quantum, and the provider isn't from this crate.
    #[error(
        "the provider can't load private keys of {algorithm}; make it with rustls_pq::provider() or \
         rustls_pq::Builder, and use it for the configuration as well"
    )]
    ClassicalProvider {
        /// The algorithm of the private key.
        algorithm: SignatureAlgorithm,
    },

    /// The private key doesn't belong to the leaf.
    #[error(
        "the private key doesn't belong to the certificate of {certificate}, which has a key for \
         {algorithm}; give the key that it was issued for, and the leaf first in the chain"
    )]
    Mismatch {
        /// Whose certificate comes first in the chain.
        certificate: String,
        /// The algorithm of the key in it.
        algorithm: KeyAlgorithm,
    },

    /// A [source](super::SignerSource) has no signer for the leaf's key.
    #[error("there is no signer for the certificate: {0}")]
    NoSigner(Box<dyn Error + Send + Sync>),

    /// The signer's signatures are not those of the leaf's key in a scheme of TLS 1.3.
    #[error(
        "the signer makes signatures of {signature}, and TLS has no scheme for them with a key for {algorithm}; use          ML-DSA, ECDSA with the hash of the key's curve, Ed25519 or RSA-PSS with SHA-256, SHA-384 or SHA-512"
    )]
    NoScheme {
        /// The algorithm of the key in the certificate.
        algorithm: KeyAlgorithm,
        /// What the signer says that its signatures are.
        signature: String,
    },

    /// Nobody here can verify the signer's signatures before they are sent.
    #[error(
        "neither rustls-pq nor the provider can verify signatures of {signature}, so those of the signer can't be checked          before they are sent; take another base provider, or SignatureCheck::LeftOut"
    )]
    Unverifiable {
        /// What the signer says that its signatures are.
        signature: String,
    },

    /// The chain is larger than peers accept.
    #[error(
        "the chain is too large: {certificates} bytes of certificates and a signature of up to \
         {signature} bytes, {} bytes together, but only {limit} fit into a handshake with a peer \
         that uses rustls; leave out the root, or take smaller signatures (ML-DSA rather than \
         SLH-DSA for all but the root)",
        .certificates + .signature
    )]
    TooLarge {
        /// The length of all certificates with their framing, and of the OCSP response, in bytes.
        certificates: usize,
        /// The length of the signature in CertificateVerify, in bytes.
        signature: usize,
        /// What fits, in bytes.
        limit: usize,
    },

    /// An OCSP response can't be read, or has no answer in it.
    #[error(
        "{0}; it should be in DER, as responders send it, and about the certificate of the chain"
    )]
    OcspResponse(OcspResponseError),

    /// The PEM of an OCSP response can't be read.
    #[error("the OCSP response can't be read: {0}; responders send it in DER")]
    OcspPem(PemError),

    /// An OCSP response can't be used for the chain.
    #[error("the OCSP response {0}")]
    Ocsp(OcspError),

    /// Nobody here can verify an OCSP response, because the certificate of the leaf's issuer is neither in the chain
    /// nor [given beside it](super::Identity::with_ocsp_issuers).
    #[error(
        "the OCSP response can't be verified, because the chain lacks the certificate of the leaf's issuer, {issuer}; \
         append it to the chain, or give it for OCSP responses alone"
    )]
    NoOcspIssuer {
        /// The issuer that the leaf names.
        issuer: String,
    },

    /// An OCSP response is by a CA that has the name of the leaf's issuer, but whose key doesn't verify the leaf's
    /// signature.
    #[error(
        "the OCSP response can't be verified, because the certificate of {issuer} that it fits isn't the leaf's \
         issuer: {error}; give the certificate of the CA that has signed the leaf"
    )]
    OtherOcspIssuer {
        /// The issuer that the leaf names.
        issuer: String,
        /// Why the leaf's signature isn't by this CA's key, as far as is known here.
        error: SignatureError,
    },

    /// A [source](super::OcspSource) has no OCSP response.
    #[error("there is no OCSP response: {0}")]
    OcspSource(Box<dyn Error + Send + Sync>),

    /// A chain and a key from files can't be used.
    #[error("{} with the key {}: {error}", .chain.display(), .key.display())]
    InFiles {
        /// The file with the chain.
        chain: PathBuf,
        /// The file with the key.
        key: PathBuf,
        /// What is wrong.
        error: Box<Self>,
    },

    /// A chain from a file can't be used with a key that is elsewhere.
    #[error("{} with the key {key}: {error}", .chain.display())]
    InFile {
        /// The file with the chain.
        chain: PathBuf,
        /// What the key's source calls it.
        key: String,
        /// What is wrong.
        error: Box<Self>,
    },

    /// A path leads to a directory, a pipe, a device or the like.
    #[error(
        "{} isn't a regular file, and only regular files are read; write its content into one",
        .path.display()
    )]
    NoRegularFile {
        /// The path.
        path: PathBuf,
    },

    /// A file is larger than any chain, key or OCSP response.
    #[error(
        "{} has {len} bytes, but a chain, a key or an OCSP response may have at most {limit}; give a \
         file with one of these",
        .path.display()
    )]
    FileTooLarge {
        /// The file.
        path: PathBuf,
        /// Its length, in bytes.
        len: u64,
        /// What is accepted, in bytes.
        limit: u64,
    },

    /// A file can't be read.
    #[error("{} can't be read: {error}", .path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

fn blocks(labels: &[String]) -> String {
    match labels {
        [] => "no PEM block at all".into(),
        labels => describe(labels.join(", ")),
    }
}

/// The text of an error about a private key, with what to do. An error about a key that our key
/// provider forbids has this already; errors of unreadable keys and the base's errors don't.
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

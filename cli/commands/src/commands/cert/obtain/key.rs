//! The key that a certificate is for: a new one, one of a file or a store, or that of a request.

use pq_acme::client::request_for;
use pq_acme::identifier::Identifier;
use pq_keys::encoding::pem;
use pq_x509::certificate::AlternativeName;
use pq_x509::request::CertificateRequest;
use zeroize::Zeroizing;

use crate::arguments::AlgorithmParser;
use crate::commands::custody::{KeySource, SignerStore};
use crate::documents::DocumentError;
use crate::failure::{AcmeFailure, Failure};
use crate::files::{Destination, Source};
use crate::keys::{Algorithm, Narrow, PrivateKey, SigningKey};
use crate::passphrases::PassphraseOptions;

/// The key that the certificate is for.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct KeyOptions {
    /// Where to write a new private key; --renew makes another one each time, and replaces both files together
    #[arg(long, value_name = "FILE", required_unless_present_any = ["key", "csr"])]
    pub(super) new_key: Option<Destination>,

    /// The new key's algorithm
    #[arg(
        long,
        value_parser = AlgorithmParser,
        hide_possible_values = true,
        default_value = "ML-DSA-65",
        requires = "new_key",
        conflicts_with_all = ["key", "csr"],
    )]
    algorithm: Algorithm,

    /// A private key that is there, which the certificate is to be for
    #[arg(long, value_name = "FILE", conflicts_with_all = ["new_key", "csr"])]
    pub(super) key: Option<KeySource>,

    /// A request (PKCS#10), in place of the names and the key
    #[arg(long, value_name = "FILE", conflicts_with = "new_key")]
    pub(super) csr: Option<Source>,

    #[command(flatten)]
    pub(super) passphrase: PassphraseOptions,

    #[command(flatten, next_help_heading = "Key store, for --key store:NAME")]
    pub(super) store: SignerStore,
}

/// A key, as its request for a certificate.
pub(super) enum CertificateKey {
    New {
        pem: Zeroizing<String>,
        request: CertificateRequest,
        names: Vec<Identifier>,
    },
    Old {
        request: CertificateRequest,
        names: Vec<Identifier>,
    },
}

impl CertificateKey {
    pub(super) fn csr(&self) -> &CertificateRequest {
        match self {
            Self::New { request, .. } | Self::Old { request, .. } => request,
        }
    }

    pub(super) fn names(&self) -> &[Identifier] {
        match self {
            Self::New { names, .. } | Self::Old { names, .. } => names,
        }
    }
}

impl KeyOptions {
    /// The key, and its request for a certificate for these names.
    pub(super) fn key(&self, names: &[Identifier]) -> Result<CertificateKey, Failure> {
        if let Some(file) = &self.csr {
            let request = read(file)?;
            let names = names_of(&request, file)?;
            return Ok(CertificateKey::Old { request, names });
        }
        let names = names.to_vec();
        if let Some(source) = &self.key {
            let key = self.store.signer(source, &self.passphrase)?;
            let request = request_for(&names, &key)?;
            return Ok(CertificateKey::Old { request, names });
        }
        let key = PrivateKey::generate(self.algorithm)?;
        let pem = key.to_pkcs8_pem()?;
        let request = request_for(&names, &SigningKey::narrow(key)?)?;
        Ok(CertificateKey::New {
            pem,
            request,
            names,
        })
    }
}

/// A request of SLH-DSA has some tens of kilobytes.
const LIMIT: usize = 1 << 20;

pub(super) fn read(file: &Source) -> Result<CertificateRequest, Failure> {
    let bytes = file.read(LIMIT).map_err(DocumentError::from)?;
    Ok(match pem::is_der(&bytes) {
        true => CertificateRequest::from_der(&bytes)?,
        false => CertificateRequest::from_pem(&*bytes)?,
    })
}

/// What a request is for.
pub(super) fn names_of(
    request: &CertificateRequest,
    file: &Source,
) -> Result<Vec<Identifier>, Failure> {
    let verified = request
        .clone()
        .verify_with(crate::keys::other_verification())?;
    let mut names = Vec::new();
    for name in verified.alternative_names() {
        names.push(match &name {
            AlternativeName::Ip(address) => Identifier::Ip(*address),
            AlternativeName::Dns(dns) if Identifier::dns(dns).is_ok() => {
                Identifier::Dns(dns.to_ascii_lowercase())
            }
            other => {
                return Err(AcmeFailure::OtherName {
                    file: file.to_string(),
                    name: other.to_string(),
                }
                .into());
            }
        });
    }
    match names.is_empty() {
        true => Err(AcmeFailure::Nameless(file.to_string()).into()),
        false => Ok(names),
    }
}

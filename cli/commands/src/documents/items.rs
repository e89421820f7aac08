//! All that a file has, of whatever kind, for whoever only looks at it.

use pq_jose::jwk::{Jwk, JwkSet};
use pq_keys::encoding::pem;
use pq_ssh::{PrivateKey, Signature};
use pq_x509::certificate::Certificate;
use pq_x509::ocsp::{OcspRequest, OcspResponse};
use pq_x509::pkcs12::Pkcs12;
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::CertificateRevocationList;

use super::certificates::{LIST_LIMIT, certificate_of, list_of};
use super::contents::{Block, Contents, Encoding};
use super::error::DocumentError;
use super::keys::{Key, key_of};
use super::pkcs12::pkcs12_of;
use super::ssh::{self, SshLine};
use super::{jose, ocsp};
use crate::files::Source;
use crate::kind::Kind;
use crate::passphrases::PassphraseOptions;

/// Something in a file.
pub(crate) enum Item {
    Certificate(Box<Certificate>),
    Request(Box<CertificateRequest>),
    List(Box<CertificateRevocationList>),
    /// The identifier is that of a JSON Web Key.
    Key(Box<Key>, Option<String>),
    Pkcs12(Box<Pkcs12>),
    OcspRequest(Box<OcspRequest>),
    OcspResponse(Box<OcspResponse>),
    JwkSet(JwkSet),
    SshKey(Box<PrivateKey>),
    SshLine(SshLine),
    SshSignature(Box<Signature>),
}

const KINDS: [Kind; 7] = [
    Kind::Certificate,
    Kind::Request,
    Kind::RevocationList,
    Kind::PrivateKey,
    Kind::EncryptedPrivateKey,
    Kind::PublicKey,
    Kind::Pkcs12,
];

/// All that a file has, in order; at least one.
pub(crate) fn items(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<Vec<Item>, DocumentError> {
    let bytes = source.read(LIST_LIMIT)?;
    let file = source.to_string();
    if let Ok(text) = core::str::from_utf8(&bytes) {
        let jwk_error = |error| DocumentError::Jwk {
            file: file.clone(),
            error,
        };
        if jose::is_set(text) {
            let set = JwkSet::from_json(text).map_err(jwk_error)?;
            return Ok(vec![Item::JwkSet(set)]);
        }
        if ssh::is_private_key(text) {
            let key = ssh::private_key(text, &file, passphrase)?;
            return Ok(vec![Item::SshKey(key.into())]);
        }
        if ssh::is_signature(text) {
            return Ok(vec![Item::SshSignature(
                ssh::signature(text, &file)?.into(),
            )]);
        }
        let lines = ssh::lines(text);
        if !lines.is_empty() {
            return Ok(lines.into_iter().map(Item::SshLine).collect());
        }
    }
    if let Some(message) = ocsp_message(&bytes, source)? {
        return Ok(vec![message]);
    }
    let contents = Contents::of(&bytes, &file)?;
    let kid = match contents.encoding {
        Encoding::Jwk => core::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| Jwk::from_json(text).ok())
            .and_then(|key| key.kid().map(String::from)),
        _ => None,
    };
    let blocks = contents.all(&KINDS)?.into_iter();
    let items = blocks.map(|block| item(&contents, block, &kid, passphrase));
    items.collect()
}

fn item(
    contents: &Contents,
    block: &Block,
    kid: &Option<String>,
    passphrase: &PassphraseOptions,
) -> Result<Item, DocumentError> {
    Ok(match block.kind {
        Kind::Certificate => Item::Certificate(certificate_of(contents, block)?.into()),
        Kind::RevocationList => Item::List(list_of(contents, block)?.into()),
        Kind::Request => {
            let request = CertificateRequest::from_der(&block.der);
            let request = request.map_err(|error| DocumentError::Request {
                file: contents.file().into(),
                error,
            })?;
            Item::Request(request.into())
        }
        Kind::Pkcs12 => Item::Pkcs12(pkcs12_of(contents, block, passphrase)?.into()),
        _ => Item::Key(key_of(contents, block, passphrase)?.into(), kid.clone()),
    })
}

/// An OCSP message, if the bytes are one, or are meant to be.
fn ocsp_message(bytes: &[u8], source: &Source) -> Result<Option<Item>, DocumentError> {
    let has = |label: &str| pem::blocks(bytes).any(|block| block.is_of(label));
    let (is_request, is_response) = match pem::is_in(bytes) {
        true => (has(ocsp::REQUEST), has(ocsp::RESPONSE)),
        false if Kind::of_der(bytes).is_some() => (false, false),
        false => (
            OcspRequest::from_der(bytes).is_ok(),
            OcspResponse::from_der(bytes).is_ok(),
        ),
    };
    Ok(match (is_request, is_response) {
        (true, _) => Some(Item::OcspRequest(ocsp::request_in(bytes, source)?.into())),
        (_, true) => Some(Item::OcspResponse(ocsp::response_in(bytes, source)?.into())),
        _ => None,
    })
}

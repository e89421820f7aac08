//! Reads certificates and revocation lists, with limits of their size. It also finds the end entities among the
//! certificates of a file, and hands documents to the linter as they are.

use alloc::collections::BTreeSet;

use pq_cms::Outline;
use pq_x509::certificate::Certificate;
use pq_x509::linting;
use pq_x509::revocation::CertificateRevocationList;
use zeroize::Zeroizing;

use super::contents::{Block, Contents};
use super::error::DocumentError;
use super::message::{certificates_in_message, message_of};
use crate::files::Source;
use crate::keys::other_verification;
use crate::kind::Kind;

/// A store of all public roots has some hundreds of kilobytes.
const LIMIT: usize = 16 * 1024 * 1024;

/// A list of a million revoked certificates has some 40 megabytes, and in PEM a third more.
pub(super) const LIST_LIMIT: usize = 256 * 1024 * 1024;

/// All certificates of a file, in order; at least one.
pub(crate) fn certificates(source: &Source) -> Result<Vec<Certificate>, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    let blocks = contents.all(&[Kind::Certificate])?;
    let read = blocks.iter().map(|block| certificate_of(&contents, block));
    read.collect()
}

/// The same, and those in the file's messages, as PKCS#7 has certificates alone.
pub(crate) fn certificates_also_in_messages(
    source: &Source,
) -> Result<Vec<Certificate>, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    let mut found = Vec::new();
    for block in contents.all(&[Kind::Certificate, Kind::Message])? {
        match block.kind {
            Kind::Message => {
                if let Outline::Signed(outline) = message_of(&contents, block)? {
                    found.extend(outline.certificates);
                }
            }
            _ => found.push(certificate_of(&contents, block)?),
        }
    }
    match found.is_empty() {
        true => Err(DocumentError::NoCertificateInMessage {
            file: source.to_string(),
        }),
        false => Ok(found),
    }
}

/// All certificates of all of these files, in order.
pub(crate) fn all_certificates(sources: &[Source]) -> Result<Vec<Certificate>, DocumentError> {
    let mut all = Vec::new();
    for source in sources {
        all.extend(certificates(source)?);
    }
    Ok(all)
}

/// The first certificate of a file; in a chain, the key belongs to it.
///
/// # Errors
///
/// Also if others are not of its chain: then nobody knows which of them is meant.
pub(crate) fn first_certificate(source: &Source) -> Result<Certificate, DocumentError> {
    first_of(source, &certificates(source)?).cloned()
}

/// The first of a file's certificates, as [`first_certificate`] returns it.
pub(crate) fn first_of<'a>(
    source: &Source,
    certificates: &'a [Certificate],
) -> Result<&'a Certificate, DocumentError> {
    match (certificates, end_entities(certificates).len()) {
        ([first, ..], 0 | 1) => Ok(first),
        (_, count) => Err(DocumentError::SeveralCertificates {
            file: source.to_string(),
            count,
        }),
    }
}

/// Where those certificates are that end entities have: neither CAs', nor the issuers of those in front of them, since
/// old CAs don't say that they are some.
pub(crate) fn end_entities(certificates: &[Certificate]) -> Vec<usize> {
    let mut issuers = BTreeSet::new();
    let mut found = Vec::new();
    for (place, certificate) in certificates.iter().enumerate() {
        if !certificate.is_ca() && !issuers.contains(&certificate.describe_subject()) {
            found.push(place);
        }
        issuers.insert(certificate.describe_issuer());
    }
    found
}

/// Whether all certificates after the first one are issuers of it or of each other, by their names, in any order. Who
/// signed its own certificate has no issuer: another one of the same name is somebody else's.
pub(super) fn is_one_chain(certificates: &[Certificate]) -> bool {
    let Some((first, others)) = certificates.split_first() else {
        return false;
    };
    let issuer_of = |certificate: &Certificate| {
        (!certificate.is_self_signed(other_verification()))
            .then(|| certificate.issuer().to_string())
    };
    let mut issuers: BTreeSet<String> = issuer_of(first).into_iter().collect();
    let mut others: Vec<&Certificate> = others.iter().filter(|other| *other != first).collect();
    while !others.is_empty() {
        let before = others.len();
        others.retain(|other| {
            let is_above = issuers.contains(&other.subject().to_string());
            if is_above {
                issuers.extend(issuer_of(other));
            }
            !is_above
        });
        if others.len() == before {
            return false;
        }
    }
    true
}

/// All revocation lists of a file, in order; at least one.
pub(crate) fn revocation_lists(
    source: &Source,
) -> Result<Vec<CertificateRevocationList>, DocumentError> {
    let contents = Contents::read(source, LIST_LIMIT)?;
    let blocks = contents.all(&[Kind::RevocationList])?;
    blocks
        .iter()
        .map(|block| list_of(&contents, block))
        .collect()
}

fn list_of(contents: &Contents, block: &Block) -> Result<CertificateRevocationList, DocumentError> {
    CertificateRevocationList::from_der(&block.der).map_err(|error| DocumentError::RevocationList {
        file: contents.file().into(),
        error,
    })
}

/// A document that has to be made anew before it expires.
pub(crate) enum Expiring {
    Certificate(Box<Certificate>),
    List(Box<CertificateRevocationList>),
}

/// All certificates and revocation lists of a file, in order, and the certificates in its messages, as of PKCS#7; at least
/// one. Only lists may be as long as a file of lists is.
pub(crate) fn expiring(source: &Source) -> Result<Vec<Expiring>, DocumentError> {
    let contents = Contents::read(source, LIST_LIMIT)?;
    let mut found = Vec::new();
    let mut others = 0;
    for block in contents.all(&[Kind::Certificate, Kind::RevocationList, Kind::Message])? {
        if block.kind != Kind::RevocationList {
            others += block.der.len();
        }
        if others > LIMIT {
            return Err(DocumentError::TooManyCertificates {
                file: contents.file().into(),
                limit: LIMIT,
            });
        }
        match block.kind {
            Kind::RevocationList => found.push(Expiring::List(list_of(&contents, block)?.into())),
            Kind::Message => {
                let certificates = certificates_in_message(&contents, block)?;
                let boxed = certificates.into_iter().map(Box::new);
                found.extend(boxed.map(Expiring::Certificate));
            }
            _ => found.push(Expiring::Certificate(
                certificate_of(&contents, block)?.into(),
            )),
        }
    }
    match found.is_empty() {
        true => Err(DocumentError::NothingExpires {
            file: source.to_string(),
        }),
        false => Ok(found),
    }
}

/// A signed document as it is in its file, readable or not.
pub(crate) struct SignedDocument {
    pub(crate) kind: linting::Kind,
    pub(crate) der: Zeroizing<Vec<u8>>,
}

/// The longest certificate or request that is taken as it is, in DER. With the longest signature and a name for each of
/// some thousands of hosts one has some hundred kilobytes.
pub(super) const DOCUMENT_LIMIT: usize = 1024 * 1024;

/// All certificates, revocation lists and requests of a file, in order; at least one. Certificates and requests have
/// limits of their own: only a list is as long as the file may be.
pub(crate) fn signed_documents(source: &Source) -> Result<Vec<SignedDocument>, DocumentError> {
    let contents = Contents::read(source, LIST_LIMIT)?;
    let file = contents.file().to_owned();
    let blocks = contents.into_all(&[Kind::Certificate, Kind::RevocationList, Kind::Request])?;
    let documents = blocks.into_iter().map(|Block { kind, der }| {
        let linted = match kind {
            Kind::RevocationList => linting::Kind::RevocationList,
            Kind::Request => linting::Kind::Request,
            _ => linting::Kind::Certificate,
        };
        match linted {
            linting::Kind::RevocationList => {}
            _ if der.len() <= DOCUMENT_LIMIT => {}
            _ => {
                return Err(DocumentError::TooLong {
                    file: file.clone(),
                    kind: kind.to_string(),
                    found: der.len(),
                    limit: DOCUMENT_LIMIT,
                });
            }
        }
        Ok(SignedDocument { kind: linted, der })
    });
    documents.collect()
}

pub(crate) fn certificate_of(
    contents: &Contents,
    block: &Block,
) -> Result<Certificate, DocumentError> {
    Certificate::from_der(&block.der).map_err(|error| DocumentError::Certificate {
        file: contents.file().into(),
        error,
    })
}

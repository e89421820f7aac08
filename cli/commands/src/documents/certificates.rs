use pq_x509::{Certificate, CertificateRevocationList, linting};
use zeroize::Zeroizing;

use super::contents::{Block, Contents};
use super::error::DocumentError;
use super::kind::Kind;
use crate::files::Source;

/// A store of all public roots has some hundreds of kilobytes.
const LIMIT: usize = 16 * 1024 * 1024;

/// A list of a million revoked certificates has some 40 megabytes, and in PEM a third more.
const LIST_LIMIT: usize = 256 * 1024 * 1024;

/// All certificates of a file, in order; at least one.
pub(crate) fn certificates(source: &Source) -> Result<Vec<Certificate>, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    let blocks = contents.all(&[Kind::Certificate])?;
    let read = blocks.iter().map(|block| certificate_of(&contents, block));
    read.collect()
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
pub(crate) fn first_certificate(source: &Source) -> Result<Certificate, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    certificate_of(&contents, contents.first(&[Kind::Certificate])?)
}

/// All revocation lists of a file, in order; at least one.
pub(crate) fn revocation_lists(
    source: &Source,
) -> Result<Vec<CertificateRevocationList>, DocumentError> {
    let contents = Contents::read(source, LIST_LIMIT)?;
    let read = |der: &[u8]| {
        CertificateRevocationList::from_der(der).map_err(|error| DocumentError::RevocationList {
            file: contents.file().into(),
            error,
        })
    };
    let blocks = contents.all(&[Kind::RevocationList])?;
    blocks.iter().map(|block| read(&block.der)).collect()
}

/// A signed document as it is in its file, readable or not.
pub(crate) struct SignedDocument {
    pub(crate) kind: linting::Kind,
    pub(crate) der: Zeroizing<Vec<u8>>,
}

/// All certificates, revocation lists and requests of a file, in order; at least one.
pub(crate) fn signed_documents(source: &Source) -> Result<Vec<SignedDocument>, DocumentError> {
    let contents = Contents::read(source, LIST_LIMIT)?;
    let blocks = contents.all(&[Kind::Certificate, Kind::RevocationList, Kind::Request])?;
    let documents = blocks.into_iter().map(|block| SignedDocument {
        kind: match block.kind {
            Kind::RevocationList => linting::Kind::RevocationList,
            Kind::Request => linting::Kind::Request,
            _ => linting::Kind::Certificate,
        },
        der: block.der.clone(),
    });
    Ok(documents.collect())
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

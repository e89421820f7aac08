//! Opens PKCS#12 files (RFC 7292) with a passphrase.

use pq_x509::pkcs12::Pkcs12;

use super::contents::{Block, Contents};
use super::error::DocumentError;
use crate::files::Source;
use crate::kind::Kind;
use crate::passphrases::{PassphraseOptions, text};

/// More than some hundreds of keys have, with their certificates.
const LIMIT: usize = 16 * 1024 * 1024;

/// What is in a PKCS#12 file.
pub(crate) fn pkcs12(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<Pkcs12, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    pkcs12_of(&contents, contents.only(&[Kind::Pkcs12])?, passphrase)
}

/// What is in such a block.
pub(super) fn pkcs12_of(
    contents: &Contents,
    block: &Block,
    passphrase: &PassphraseOptions,
) -> Result<Pkcs12, DocumentError> {
    let file = contents.file();
    let passphrase = passphrase.of(file)?;
    Pkcs12::from_der(&block.der, text(&passphrase)?).map_err(|error| DocumentError::Pkcs12 {
        file: file.into(),
        error,
    })
}

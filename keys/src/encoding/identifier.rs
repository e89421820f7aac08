//! Algorithm identifiers as `rustls-pki-types` has them.

use der::{Decode, SliceReader};
use spki::{AlgorithmIdentifierRef, ObjectIdentifier};

/// Reads an AlgorithmIdentifier without the header of its SEQUENCE, as
/// [`AlgorithmIdentifier`](pki_types::AlgorithmIdentifier) has it.
///
/// # Errors
///
/// If it is malformed.
pub fn identifier_in(contents: &[u8]) -> der::Result<AlgorithmIdentifierRef<'_>> {
    let mut reader = SliceReader::new(contents)?;
    Ok(AlgorithmIdentifierRef {
        oid: ObjectIdentifier::decode(&mut reader)?,
        parameters: Option::decode(&mut reader)?,
    })
}

//! What a message (CMS, which was PKCS#7) says about itself, and the certificates in it. None of it is verified.

use pq_cms::{Outline, inspect};
use pq_x509::certificate::Certificate;

use super::contents::{Block, Contents};
use super::error::DocumentError;

/// What a message says about itself.
pub(super) fn message_of(contents: &Contents, block: &Block) -> Result<Outline, DocumentError> {
    inspect(&block.der[..]).map_err(|error| DocumentError::Message {
        file: contents.file().into(),
        error: error.into(),
    })
}

/// The certificates in a message. What else expires there would be passed over.
pub(super) fn certificates_in_message(
    contents: &Contents,
    block: &Block,
) -> Result<Vec<Certificate>, DocumentError> {
    match message_of(contents, block)? {
        Outline::Signed(outline) if outline.revocation_lists > 0 => {
            Err(DocumentError::ListsInMessage {
                file: contents.file().into(),
            })
        }
        Outline::Signed(outline) => Ok(outline.certificates),
        _ => Ok(Vec::new()),
    }
}

//! The syntax of what extensions contain, which nobody checks with the document itself: it is in octet strings.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_BASIC_CONSTRAINTS, ID_CE_CRL_DISTRIBUTION_POINTS,
    ID_CE_EXT_KEY_USAGE, ID_CE_ISSUING_DISTRIBUTION_POINT, ID_CE_NAME_CONSTRAINTS,
    ID_CE_SUBJECT_ALT_NAME,
};
use der::{Tag, TagNumber};
use pq_keys::encoding::syntax::{self, SyntaxError};
use x509_cert::ext::Extension;

/// Checks the contents of the extensions that this crate or webpki reads.
pub(crate) fn check_extensions(extensions: &[Extension]) -> Result<(), SyntaxError> {
    const READ: [ObjectIdentifier; 7] = [
        ID_CE_AUTHORITY_KEY_IDENTIFIER,
        ID_CE_BASIC_CONSTRAINTS,
        ID_CE_CRL_DISTRIBUTION_POINTS,
        ID_CE_EXT_KEY_USAGE,
        ID_CE_ISSUING_DISTRIBUTION_POINT,
        ID_CE_NAME_CONSTRAINTS,
        ID_CE_SUBJECT_ALT_NAME,
    ];
    /// registeredID of a GeneralName. None of these extensions uses the tag for anything else.
    const REGISTERED_ID: Tag = Tag::ContextSpecific {
        constructed: false,
        number: TagNumber(8),
    };
    for extension in extensions.iter().filter(|e| READ.contains(&e.extn_id)) {
        let contents = extension.extn_value.as_bytes();
        syntax::check_number(contents)?;
        syntax::walk(contents, |tag, value| match tag {
            REGISTERED_ID => syntax::check_primitive(Tag::ObjectIdentifier, value),
            _ => syntax::check_primitive(tag, value),
        })?;
        // GeneralNames ::= SEQUENCE SIZE (1..MAX) OF GeneralName
        if extension.extn_id == ID_CE_SUBJECT_ALT_NAME && contents == EMPTY_SEQUENCE {
            return Err(SyntaxError::NoAlternativeName);
        }
    }
    Ok(())
}

const EMPTY_SEQUENCE: &[u8] = &[0x30, 0];

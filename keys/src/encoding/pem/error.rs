//! Why a text gave no block, or no contents of it.

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::errors::describe;

/// Why a text gave no PEM block.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum PemError {
    /// There is no block with this label.
    #[error(
        "no PEM block \"{label}\" in the text, which has {}",
        labels_and_hint(.found)
    )]
    Missing {
        /// The label looked for.
        label: &'static str,
        /// The labels that the text has, but no more than the first 16.
        found: Vec<String>,
    },
    /// There is such a block, and it can't be read.
    #[error("the PEM block \"{}\" in line {line} {damage}", describe(.label))]
    Unreadable {
        /// The block's label, as the text has it.
        label: String,
        /// The line of the text in which it begins, from 1 on.
        line: usize,
        /// What is wrong with it.
        damage: Damage,
    },
}

/// What is wrong with a block.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Damage {
    /// The text ends, or another block begins, before its END line.
    #[error("does not end; the text is cut short, so get it again")]
    NoEnd,
    /// There is an END line, and no BEGIN line in front of it.
    #[error("has an END line and no BEGIN line; get the text again")]
    NoBegin,
    /// The END line has another label.
    #[error("ends as \"{}\"; get the text again", describe(.0))]
    OtherEnd(String),
    /// The label in the BEGIN or the END line isn't followed by five dashes.
    #[error("has a BEGIN or END line without all of its dashes; get the text again")]
    Dashes,
    /// It begins behind other text, and goes on in the same line.
    #[error(
        "stands within a line of other text; let it begin in a line of its own if it is meant to be read"
    )]
    WithinLine,
    /// There is nothing in it.
    #[error("is empty; get the text again")]
    Empty,
    /// Its text has other characters than those of base64 and blanks.
    #[error("has something else in it than base64; get the text again")]
    Characters,
    /// Its text has only the right characters, but is no base64: some are missing, or follow its end.
    #[error("has base64 in it that is incomplete, or goes on after its end; get the text again")]
    Base64,
    /// It has headers (RFC 1421), which RFC 7468 forbids.
    #[error(
        "has headers as of RFC 1421, which are not read; remove them and the empty line after them"
    )]
    Headers,
    /// It is encrypted as headers say (RFC 1421).
    #[error(
        "is encrypted in OpenSSL's format from before PKCS#8 (headers as of RFC 1421), which is not read; encrypt it \
         again in a stronger way, with `openssl pkcs8 -topk8`"
    )]
    LegacyEncryption,
    /// It is a certificate with data of OpenSSL's own, which say what it may be trusted for.
    #[error(
        "is a certificate with OpenSSL's own data on what to trust it for, which are not read; write the certificate \
         alone with `openssl x509 -in FILE -out OTHER`"
    )]
    Trust,
}

fn labels_and_hint(found: &[String]) -> String {
    if found.is_empty() {
        return "none at all; it may be DER, or text in UTF-16".into();
    }
    let hint = if found.iter().any(|label| label == "ENCRYPTED PRIVATE KEY") {
        "; decrypt the private key first, for example with `pqtls key decrypt` or `openssl pkey`"
    } else {
        ""
    };
    // Anybody may have written the text, such as a request.
    format!("{}{hint}", describe(found.join(", ")))
}

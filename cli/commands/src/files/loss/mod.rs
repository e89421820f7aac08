//! What a result may not take the place of, also not with `--force`. This is decided here and nowhere else:
//!
//! | what is there | may not be replaced, since | found by |
//! |---|---|---|
//! | what the command reads | the result has not all of it: of a message, there would be only its signature | the file itself, whatever its name: `inputs` |
//! | a file of a CA's folder, or what would be taken for one | the CA could not go on, or would rely on it | the folder: `of_ca` |
//! | a key store, and the text that stands for a key in one | nobody can make it again | how it begins: `content` |
//! | a private key, if the result has none | nobody can make it again | every form that commands read: `kind` |
//! | certificates beside a private key, if the result has none | people keep them together | `content` |
//! | what may be a raw key or a KEK, if nobody else may read it and the result is no secret | nothing else tells what it is | `content` |
//!
//! Destinations are checked before a command does anything, when the first byte is about to be written, and when the file gets its
//! name: what is known of the result by then is compared.

mod content;
mod inputs;
mod of_ca;

use std::path::Path;

pub(super) use self::content::{check_content, irreplaceable};
pub(super) use self::inputs::is_standard_output;
pub(crate) use self::inputs::keep_inputs;
pub(super) use self::of_ca::Cas;
pub(crate) use self::of_ca::{keep_ca, keep_possible_ca, release};
use super::error::OutputError;

/// Refuses a place that no result may take, whatever it is.
pub(super) fn check_place(path: &Path, cas: &mut Cas) -> Result<(), OutputError> {
    check_inputs(path)?;
    cas.check(path)
}

/// Refuses the place of a file that the command reads.
pub(super) fn check_inputs(path: &Path) -> Result<(), OutputError> {
    match inputs::is_input(path) {
        true => Err(OutputError::OverInput(path.display().to_string())),
        false => Ok(()),
    }
}

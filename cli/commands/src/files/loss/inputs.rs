//! The files that a command reads.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::files::source::Source;
use crate::files::special::Identity;

static INPUTS: Mutex<Vec<Identity>> = Mutex::new(Vec::new());

/// From here on, no result takes the place of these.
pub(crate) fn keep_inputs<'s>(read: impl IntoIterator<Item = &'s Source>) {
    let mut inputs = INPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    inputs.extend(read.into_iter().filter_map(Identity::of_source));
}

/// Whether a path leads to a file, no device, that the command reads: it has its name, is a link that leads there, or
/// another name of it.
pub(super) fn is_input(path: &Path) -> bool {
    is_one(Identity::of(path))
}

/// Whether standard output is such a file, and what is written would take the place of what it has.
pub(in crate::files) fn is_standard_output() -> bool {
    is_one(Identity::of_standard_output())
}

fn is_one(identity: Option<Identity>) -> bool {
    let inputs = INPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    identity.is_some_and(|identity| inputs.contains(&identity))
}

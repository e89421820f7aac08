//! Refuses command lines that name standard input twice. Whatever reads it first gets all of it, so that a request would be
//! taken for a passphrase.

use core::any::Any;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::ca::Which;
use super::custody::KeySource;
use crate::failure::Failure;
use crate::files::{InputError, Source};

pub(super) fn check(mut matches: &ArgMatches) -> Result<(), Failure> {
    while let Some((_, of_command)) = matches.subcommand() {
        matches = of_command;
    }
    let is_input = |source: Option<Source>| source == Some(Source::StandardInput);
    let named = matches.ids().map(clap::Id::as_str).map(|id| {
        count(matches, id, |source: &Source| {
            is_input(Some(source.clone()))
        }) + count(matches, id, |key: &KeySource| is_input(key.file()))
            + count(matches, id, |which: &Which| is_input(which.file()))
    });
    match named.sum() {
        0 | 1 => Ok(()),
        2.. => Err(InputError::StandardInputTwice.into()),
    }
}

/// How many values of an argument are so, if they are of this type and not by default.
fn count<T: Any + Clone + Send + Sync>(
    matches: &ArgMatches,
    id: &str,
    is: impl Fn(&T) -> bool,
) -> usize {
    let Ok(Some(values)) = matches.try_get_many::<T>(id) else {
        return 0;
    };
    match matches.value_source(id) {
        Some(ValueSource::CommandLine) => values.filter(|value| is(value)).count(),
        _ => 0,
    }
}

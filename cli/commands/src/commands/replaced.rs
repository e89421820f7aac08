//! Keeps results away from what a command reads: of a message that its signature took the place of, only the signature would be
//! left. It looks at the command line, so that each command is guarded, before it does anything.

use core::any::Any;
use std::env;
use std::path::PathBuf;

use clap::ArgMatches;

use super::ca::Which;
use super::custody::KeySource;
use crate::failure::Failure;
use crate::files::{self, Destination, OutputError, Source};

/// The arguments that may be replaced, with their commands: all that they say is in the result, too.
const MAY_BE_REPLACED: [(&str, &str); 7] = [
    ("key encrypt", "file"),
    ("key decrypt", "file"),
    ("key convert", "file"),
    ("key public", "file"),
    ("cert bundle", "files"),
    ("ca renew", "which"),
    ("ca show", "which"),
];

/// The environment variables that name secrets which a command reads, beside its command line.
const FILES: [&str; 2] = ["PQTLS_STORE_KEK", "PQTLS_PIN_FILE"];

/// Refuses a result that would take the place of a file which the command reads.
pub(super) fn check(matches: &ArgMatches) -> Result<(), Failure> {
    let (mut command, mut matches) = (Vec::new(), matches);
    while let Some((name, of_command)) = matches.subcommand() {
        command.push(name);
        matches = of_command;
    }
    let command = command.join(" ");
    let mut read = Vec::new();
    for id in matches.ids().map(clap::Id::as_str) {
        if !MAY_BE_REPLACED.contains(&(&command, id)) {
            read.extend(values(matches, id, |source: &Source| Some(source.clone())));
            read.extend(values(matches, id, KeySource::file));
            read.extend(values(matches, id, Which::file));
            read.extend(values(matches, id, |path: &PathBuf| {
                Some(Source::File(path.clone()))
            }));
        }
    }
    let named = FILES.into_iter().filter_map(env::var_os);
    read.extend(named.map(|file| Source::File(file.into())));
    for id in matches.ids().map(clap::Id::as_str) {
        for result in values(matches, id, |to: &Destination| Some(to.clone())) {
            if read
                .iter()
                .any(|source| files::is_one_file(&result, source))
            {
                return Err(OutputError::OverInput(result.to_string()).into());
            }
        }
    }
    Ok(())
}

/// What an argument's values are, if they are of this type.
fn values<T: Any + Clone + Send + Sync + 'static, F>(
    matches: &ArgMatches,
    id: &str,
    file: impl Fn(&T) -> Option<F>,
) -> Vec<F> {
    // clap's groups have no values, and other arguments those of another type.
    let found = matches.try_get_many::<T>(id).ok().flatten();
    found.into_iter().flatten().filter_map(file).collect()
}

//! Options of a command line that the commands which it advises need, too: where a key store is, who asks, what the store is
//! sealed under, and what a CA's keys are encrypted under.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory};

use super::Arguments;
use crate::shell::{self, Advised, Repeated};

/// They are read again. What a descriptor or a terminal gave isn't.
const OPTIONS: [&str; 20] = [
    "store",
    "as",
    "kek-file",
    "kek-credential",
    "kek-pkcs11",
    "kek-transit",
    "pkcs11-module",
    "token",
    "token-serial",
    "pin-file",
    "pin-credential",
    "store-passphrase-file",
    "store-passphrase-env",
    "store-token-file",
    "store-token-credential",
    "store-cert",
    "store-cert-key",
    "store-ca",
    "ca-passphrase-file",
    "ca-passphrase-env",
];

/// Has advice repeat what this command line says.
pub(super) fn note(matches: &ArgMatches) {
    let mut last = matches;
    while let Some((_, below)) = last.subcommand() {
        last = below;
    }
    let mut options = Vec::new();
    for name in OPTIONS {
        let id = match name {
            "as" => "principal".to_owned(),
            name => name.replace('-', "_"),
        };
        // A command has some of them.
        let is_given = last.try_contains_id(&id).is_ok()
            && last.value_source(&id) == Some(ValueSource::CommandLine);
        if is_given && let Some(value) = last.get_raw(&id).and_then(|mut values| values.next()) {
            options.push((name, value.to_string_lossy().into_owned()));
        }
    }
    shell::repeat(Repeated { options, advised });
}

/// The command that these words begin with.
fn advised(words: &str) -> Option<Advised> {
    let mut command = Arguments::command();
    let mut len = 0;
    for word in words.split_inclusive(' ') {
        let name = word.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
        let Some(below) = command.find_subcommand(name) else {
            break;
        };
        command = below.clone();
        // Without the space, and what ends the sentence
        len += name.len();
        if name.len() < word.trim_end().len() || !word.ends_with(' ') {
            break;
        }
        len += 1;
    }
    let is_whole = len > 0 && !command.has_subcommands() && command.get_name() != "serve";
    is_whole.then(|| Advised {
        len: words[..len].trim_end().len(),
        takes: longs(&command),
    })
}

fn longs(command: &Command) -> Vec<String> {
    let arguments = command.get_arguments();
    let longs = arguments.filter_map(|argument| argument.get_long());
    longs.map(str::to_owned).collect()
}

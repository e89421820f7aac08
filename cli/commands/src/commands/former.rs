//! Command lines as they were before the key was named by `--key` everywhere and only a file was an argument: whoever
//! types one is told today's.
//!
//! It uses the definitions of the [commands](super), [`kind`](crate::kind) and [`shell`](crate::shell).

use std::ffi::OsString;
use std::fs;
use std::io::Read;

use clap::{ArgAction, Command, CommandFactory, Parser};
use pq_keys::encoding::pem;

use super::Arguments;
use crate::kind::Kind;
use crate::shell::command_line;

/// A command that took other arguments.
struct Former {
    command: &'static str,
    /// The options that take today what were arguments, in their order; empty for what still is one.
    arguments: &'static [&'static str],
    options: &'static [Renamed],
}

/// An option with its name of today, which is empty if its value is an argument, and what its value now ends with.
type Renamed = (&'static str, &'static str, &'static str);

const CERTIFICATES: &[Renamed] = &[("--certificates", "--certs", "")];
const CA_PASSPHRASE: &[Renamed] = &[
    ("--passphrase-file", "--ca-passphrase-file", ""),
    ("--passphrase-fd", "--ca-passphrase-fd", ""),
    ("--passphrase-env", "--ca-passphrase-env", ""),
];
const FORMAT: &[Renamed] = &[("--to", "--format", "")];

#[rustfmt::skip]
const ALL: [Former; 21] = [
    Former { command: "sign", arguments: &["--key"], options: &[] },
    Former { command: "verify", arguments: &["--key", "--signature"], options: &[] },
    Former { command: "mu", arguments: &["--key"], options: &[] },
    Former {
        command: "encaps",
        arguments: &["--key"],
        options: &[("--out-ciphertext", "--out", ""), ("--out-secret", "--secret", "")],
    },
    Former { command: "decaps", arguments: &["--key"], options: &[] },
    Former { command: "jwt sign", arguments: &["--key"], options: &[("--valid-for", "--validity", "")] },
    Former { command: "jwt verify", arguments: &["--key"], options: &[] },
    Former { command: "cert request", arguments: &["--key"], options: &[] },
    Former { command: "cert self-sign", arguments: &["--key"], options: &[("--days", "--validity", "d")] },
    Former { command: "cert ocsp-request", arguments: &["", "--issuer"], options: &[] },
    Former { command: "cert needs-renewal", arguments: &[], options: &[("--days", "--expires-within", "d")] },
    Former { command: "ssh verify", arguments: &["", "--signature"], options: &[] },
    Former { command: "cms verify", arguments: &["--signature"], options: &[("--content", "", "")] },
    Former { command: "ca certify", arguments: &[], options: CA_PASSPHRASE },
    Former { command: "ca crl", arguments: &[], options: CA_PASSPHRASE },
    Former { command: "ca sign", arguments: &[], options: CA_PASSPHRASE },
    Former { command: "key check", arguments: &[], options: &[("--certificate", "--cert", "")] },
    Former { command: "key export", arguments: &[], options: CERTIFICATES },
    Former { command: "key import", arguments: &[], options: CERTIFICATES },
    Former { command: "key public", arguments: &[], options: FORMAT },
    Former { command: "key convert", arguments: &[], options: FORMAT },
];

/// A sentence with today's command line for one that was right before, if this is one.
///
/// Both begin with the program's own name.
pub(crate) fn in_the_grammar_of_today(words: &[OsString]) -> Option<String> {
    let program = Arguments::command();
    let mut words = words.iter();
    let mut today = vec![words.next()?.clone()];
    let mut command = &program;
    let mut path = Vec::new();
    while command.has_subcommands() {
        let word = words.next()?;
        if !is_option(word) {
            command = command.find_subcommand(word)?;
            path.push(command.get_name());
        }
        today.push(word.clone());
    }
    let path = path.join(" ");
    let former = ALL.iter().find(|former| former.command == path)?;
    let mut arguments = former.arguments.iter();
    let (mut given, mut is_renamed, mut key) = (0, false, None);
    while let Some(word) = words.next() {
        let text = word.to_str()?;
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if is_option(word) => (name, Some(value.into())),
            _ => (text, None),
        };
        let renamed = former.options.iter().find(|(was, ..)| *was == name);
        if let Some((_, is, end)) = renamed {
            is_renamed = true;
            let mut value = value.or_else(|| words.next().cloned())?;
            value.push(end);
            today.extend((!is.is_empty()).then(|| is.into()));
            today.push(value);
        } else if is_option(word) {
            today.push(word.clone());
            let takes_next = value.is_none() && takes_value(command, name);
            today.extend(takes_next.then(|| words.next().cloned()).flatten());
        } else {
            given += 1;
            let option = arguments.next().filter(|option| !option.is_empty());
            if option == Some(&"--key") {
                key = Some(word);
            }
            today.extend(option.map(Into::into));
            today.push(word.clone());
        }
    }
    Arguments::try_parse_from(&today).ok()?;
    let line = today.iter().skip(1).map(|word| word.to_string_lossy());
    let line = command_line(core::iter::once("pqtls".into()).chain(line));
    // With no more arguments than today, the option may have been forgotten.
    let may_lack = !is_renamed && given <= command.get_positionals().count();
    let lacks = former.arguments.first().filter(|_| may_lack);
    if lacks.is_some() && key.is_some_and(is_no_key) {
        return None;
    }
    Some(match lacks {
        Some(option) => format!(
            "{option} is missing; if the argument is meant for it, as it was before, today it is:\n  {line}\n"
        ),
        None => format!("the command line has changed, and today it is:\n  {line}\n"),
    })
}

/// What to do if the value of an option was taken for an option, since it begins with `-`: clap says how an argument is
/// written that does.
pub(crate) fn tip_for_value(words: &[OsString], taken: &str) -> Option<String> {
    let program = Arguments::command();
    let mut command = &program;
    for word in words.iter().skip(1) {
        if command.has_subcommands() {
            command = command.find_subcommand(word).unwrap_or(command);
        }
    }
    let is_it = |pair: &&[OsString]| {
        let name = pair[0].to_str().filter(|_| is_option(&pair[0]));
        pair[1].as_encoded_bytes().starts_with(taken.as_bytes())
            && name.is_some_and(|name| takes_value(command, name))
    };
    let pair = words.windows(2).find(is_it)?;
    let [option, value] = [&pair[0], &pair[1]].map(|word| word.to_string_lossy());
    Some(format!(
        "the value of an option that begins with '-' follows '=', as in '{option}={value}'"
    ))
}

/// Whether a word is a file that has neither a key nor a certificate, as far as its beginning tells.
fn is_no_key(file: &OsString) -> bool {
    let mut start = Vec::new();
    let is_file = fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    let opened = fs::File::open(file).ok().filter(|_| is_file);
    let read = opened.and_then(|opened| opened.take(MAX_LEN).read_to_end(&mut start).ok());
    let is_object = start.trim_ascii_start().starts_with(b"{");
    read.is_some() && !pem::is_in(&start) && !is_object && Kind::of_der(&start).is_none()
}

/// More than a key or a certificate has in DER.
const MAX_LEN: u64 = 1024 * 1024;

/// Whether a word is an option, and not a file or "-".
fn is_option(word: &OsString) -> bool {
    word.len() > 1 && word.as_encoded_bytes().starts_with(b"-")
}

/// Whether the next word is the value of this option.
fn takes_value(command: &Command, option: &str) -> bool {
    let is_it = |argument: &&clap::Arg| {
        let long = argument.get_long().map(|long| format!("--{long}"));
        let short = argument.get_short().map(|short| format!("-{short}"));
        [long, short].iter().flatten().any(|name| name == option)
    };
    let argument = command.get_arguments().find(is_it);
    argument
        .is_some_and(|argument| matches!(argument.get_action(), ArgAction::Set | ArgAction::Append))
}

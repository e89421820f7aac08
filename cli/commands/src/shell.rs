//! Command lines that a reader can copy into a shell.
//!
//! This room uses no other.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A command line for a POSIX shell; words that the shell would change are in quotes.
pub(crate) fn command_line<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let words = words.into_iter().map(|word| quoted(word.as_ref()));
    words.collect::<Vec<_>>().join(" ")
}

/// Adds options to each command line of a CA in a text, such as the folder of the CA that was used.
pub(crate) fn with_options_of_ca(text: &str, options: &str) -> String {
    const BEGINNING: &str = "pqtls ca ";
    let mut parts = text.split(BEGINNING);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|character: char| !character.is_ascii_lowercase());
        let (command, rest) = part.split_at(end.unwrap_or(part.len()));
        whole += BEGINNING;
        whole += command;
        whole += options;
        whole += rest;
    }
    whole
}

/// What the commands that this one advises are given, too.
pub(crate) struct Repeated {
    /// The names of options, without their dashes, and their values.
    pub(crate) options: Vec<(&'static str, String)>,
    /// Which command a text begins with, after the program's name.
    pub(crate) advised: fn(&str) -> Option<Advised>,
}

/// A command line in a text.
pub(crate) struct Advised {
    /// How long the command is, without what it is given.
    pub(crate) len: usize,
    /// The names of the options that it takes.
    pub(crate) takes: Vec<String>,
}

/// Each change is one step, so a panic leaves it whole.
static REPEATED: Mutex<Option<Repeated>> = Mutex::new(None);

fn repeated() -> MutexGuard<'static, Option<Repeated>> {
    REPEATED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has [`with_repeated`] give these options from now on.
pub(crate) fn repeat(options: Repeated) {
    *repeated() = Some(options);
}

/// Notes a key store that the command uses, for advice about it, unless an option named one already.
pub(crate) fn uses_store(place: &str) {
    if let Some(Repeated { options, .. }) = &mut *repeated()
        && options.iter().all(|(name, _)| *name != "store")
    {
        options.push(("store", place.into()));
    }
}

/// A text whose command lines are given the options that this command was given and that they take, so that they do what the
/// text says.
pub(crate) fn with_repeated(text: &str) -> String {
    match &*repeated() {
        Some(repeated) if !repeated.options.is_empty() => repeated.add_to(text),
        _ => text.into(),
    }
}

impl Repeated {
    fn add_to(&self, text: &str) -> String {
        const PROGRAM: &str = "pqtls ";
        // They are for another machine.
        let is_elsewhere = text.contains("where the store is (");
        // Who may not do something is to be somebody else.
        let is_another = text.contains("say who you are with --as");
        let mut parts = text.split(PROGRAM);
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // What a command does or did is said of it, and it is none to run.
            let is_told_of = whole.ends_with("that \"");
            whole += PROGRAM;
            let advised = (self.advised)(part).filter(|_| !is_told_of);
            let Some(Advised { len, takes }) = advised else {
                whole += part;
                continue;
            };
            let (command, rest) = part.split_at(len);
            let given = rest.split(['"', '\n']).next().unwrap_or_default();
            whole += command;
            for (name, value) in &self.options {
                let option = format!("--{name}");
                let is_left_out = !takes.iter().any(|taken| taken == name)
                    || given
                        .split(' ')
                        .any(|word| word == option || word == "--help")
                    || (is_elsewhere && command.starts_with("store "))
                    || (is_another && *name == "as");
                if !is_left_out {
                    whole += " ";
                    whole += &command_line([&option, value]);
                }
            }
            whole += rest;
        }
        whole
    }
}

/// A word for a POSIX shell, which takes it for nothing else.
pub(crate) fn quoted(word: &str) -> String {
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Whether the character means nothing special in commands and settings.
pub(crate) fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_./:,=+@%".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_ca_get_options() {
        let text =
            "see \"pqtls ca list\", or:\n  pqtls ca crl --out FILE\n  pqtls key new\npqtls ca show";
        let expected = "see \"pqtls ca list --dir x\", or:\n  pqtls ca crl --dir x --out FILE\n  pqtls key new\npqtls ca show --dir x";
        assert_eq!(with_options_of_ca(text, " --dir x"), expected);
    }

    #[test]
    fn commands_get_the_options_that_they_take() {
        fn advised(words: &str) -> Option<Advised> {
            let takes: &[&str] = match words.starts_with("store list") {
                true => &["store", "as", "kek-pkcs11"],
                false => words.starts_with("store back").then_some(&["store"])?,
            };
            Some(Advised {
                len: words
                    .find(['"', '-'])
                    .unwrap_or(words.len())
                    .min(words.trim_end().len()),
                takes: takes.iter().map(ToString::to_string).collect(),
            })
        }
        let option = |name, value: &str| (name, value.to_owned());
        let repeated = Repeated {
            options: vec![
                option("store", "a b"),
                option("as", "ci"),
                option("kek-pkcs11", "kek"),
                option("pin-file", "pin"),
            ],
            advised,
        };
        for (text, expected) in [
            (
                "see \"pqtls store list\"",
                "see \"pqtls store list --store 'a b' --as ci --kek-pkcs11 kek\"",
            ),
            (
                "run \"pqtls store backup\"",
                "run \"pqtls store backup --store 'a b'\"",
            ),
            ("see \"pqtls mu\", or pqtls", "see \"pqtls mu\", or pqtls"),
            (
                "\"pqtls store list\", or say who you are with --as",
                "\"pqtls store list --store 'a b' --kek-pkcs11 kek\", or say who you are with --as",
            ),
            (
                "where the store is (\"pqtls store list\")",
                "where the store is (\"pqtls store list\")",
            ),
            (
                "name a file that \"pqtls store backup\" wrote",
                "name a file that \"pqtls store backup\" wrote",
            ),
        ] {
            assert_eq!(repeated.add_to(text), expected);
        }
    }

    #[test]
    fn words_arrive_as_they_are() {
        for (words, line) in [
            (
                &["curl", "https://a.test:8443/"][..],
                "curl https://a.test:8443/",
            ),
            (&["curl", "https://[::1]/"], "curl 'https://[::1]/'"),
            (&["cat", "it's a file", ""], r"cat 'it'\''s a file' ''"),
        ] {
            assert_eq!(command_line(words), line);
        }
    }
}

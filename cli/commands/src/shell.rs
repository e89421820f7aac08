//! Command lines that a reader can copy into a shell.
//!
//! This room uses no other.

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

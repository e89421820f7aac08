/// A command line for a POSIX shell; words that the shell would change are in quotes.
pub(super) fn command_line<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let words = words.into_iter().map(|word| quoted(word.as_ref()));
    words.collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Whether the character means nothing special in commands and settings.
pub(super) fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_./:,=+@%".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

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

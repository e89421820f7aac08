//! Common names: which of them no client takes for the name of a host, an address or a mailbox.
//!
//! Clients without rules for alternative names, or whose rules see none of the kind that they look for, compare a
//! common name with the host that they want, each in its own way. OpenSSL does so if there is no DNS name beside it,
//! whatever addresses there are; it takes "w*.example.org" for a pattern, and converts every type of string. Old
//! versions of NSS take shell patterns; others end a name at a NUL, convert full-width letters, ignore a final dot or
//! spaces at the ends, or read numbers such as "2130706433" as addresses. The C library's `inet_aton` reads an address
//! and ignores a space and what follows it. So the question here is the reverse one: what is certainly none of these?
//! What isn't understood may be one.

/// Whether no client takes a text for the name of a host, an address or a mailbox: it has several words, and only
/// what people's names and names of things have.
pub(crate) fn is_only_for_people(text: &str) -> bool {
    // No such name has a space inside. Spaces at the ends may be ignored.
    let has_words = text.trim() == text && text.contains(' ');
    has_words && text.chars().all(is_plain) && !is_host(first_word(text))
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

/// Whether a word could be an address or a host's name, for a client that reads no further: numbers as of `inet_aton`,
/// numbers with colons, and labels with dots between them of which the last could be a top-level domain. What else it
/// may end with, such as a comma or a port, makes no difference.
fn is_host(word: &str) -> bool {
    let word =
        word.trim_matches(|character: char| !character.is_alphanumeric() && character != ':');
    let is_number = |part: &str| {
        let digits = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"));
        match digits {
            Some(digits) => digits.chars().all(|digit| digit.is_ascii_hexdigit()),
            // Some clients convert the digits of other scripts.
            None => part.chars().all(char::is_numeric),
        }
    };
    let is_of_ipv6 = |part: &str| {
        let mut digits = part.chars();
        digits.all(|digit| digit.is_ascii_hexdigit() || digit == '.')
    };
    let host = word.split(':').next().unwrap_or_default();
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_domain = last.chars().count() > 1 && !last.chars().all(char::is_numeric);
    let has_domain = host.contains('.') && is_domain;
    let is_address = !host.is_empty() && host.split('.').all(is_number);
    has_domain || is_address || (word.matches(':').count() > 1 && word.split(':').all(is_of_ipv6))
}

/// Why a text is not [only for people](is_only_for_people).
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Suspicion {
    /// It is a single word, as names of hosts are.
    OneWord,
    /// It begins or ends with a space, which some clients ignore.
    SpaceAtEnd,
    /// It has this character.
    Character(char),
    /// It begins with this word, which could be an address or a host.
    FirstWord(String),
}

/// What is wrong with a text that is not [only for people](is_only_for_people).
pub(crate) fn suspicion(text: &str) -> Suspicion {
    let trimmed = text.trim();
    if !trimmed.contains(' ') {
        return Suspicion::OneWord;
    }
    match trimmed.chars().find(|character| !is_plain(*character)) {
        Some(character) => Suspicion::Character(character),
        None if is_host(first_word(trimmed)) => Suspicion::FirstWord(first_word(trimmed).into()),
        None => Suspicion::SpaceAtEnd,
    }
}

/// Letters and digits of all scripts, and punctuation that no pattern and no address has in a text with spaces.
fn is_plain(character: char) -> bool {
    // The joiners are part of words in some scripts.
    character.is_alphanumeric()
        || is_mark(character)
        || " .,'\u{2019}\u{b7}-\u{2013}()&+#_:".contains(character)
}

/// Marks that belong to the letter before them, in blocks that have nothing else, and in the scripts of India.
fn is_mark(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{34e}'
            | '\u{350}'..='\u{36f}'
            | '\u{5b0}'..='\u{5c7}'
            | '\u{610}'..='\u{61a}'
            | '\u{64b}'..='\u{65f}'
            | '\u{900}'..='\u{963}'
            | '\u{981}'..='\u{d4d}'
            | '\u{e31}'..='\u{e4e}'
            | '\u{200c}'..='\u{200d}'
    )
}

/// Whether a text is a label of a DNS name and no number: a list that has its beginning or its end names it.
pub(crate) fn is_plain_label(text: &str) -> bool {
    let is_of_labels = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(is_of_labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_people_and_things() {
        for name in [
            "Alice Example",
            "My Service 3",
            "printer 7",
            "Dr. Who",
            "Alice O'Neill-Smith, R&D (on leave)",
            "\u{c4}lice M\u{fc}ller",
            "\u{6771}\u{4eac} \u{90fd}",
            "Jose\u{301} A\u{301}lvarez",
            "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940} \u{928}\u{93e}\u{92e}",
            "Example CA #2: issuing",
            "The host example.org",
            "J.R.R. Tolkien",
            "J.R. Smith",
            "St. Mary",
            "Note: all",
            "Dead: Beef",
            "3D printer",
            "No.12 printer",
            "v1.20 of it",
        ] {
            assert!(is_only_for_people(name), "{name:?}");
        }
    }

    #[test]
    fn what_a_client_could_match() {
        for name in [
            "",
            ".",
            " ",
            "example.org",
            "EXAMPLE.ORG.",
            "evil.com..",
            ".evil.com",
            " example.org",
            "example.org ",
            "\u{a0}example.org",
            "*.example.org",
            "w*.evil.com",
            "*",
            "*.org",
            "localhost",
            "LocalHost.",
            "intranet",
            "alice",
            "alice.smith",
            "10.0.0.1",
            "2130706433",
            "0x7f000001",
            "127.1",
            "::1",
            "[::1]",
            "evil.com:443",
            "https://evil.com/",
            "evil.com/a b",
            "a@example.org",
            "Alice <admin@evil.com>",
            "Alice admin@evil.com",
            "\u{ff45}\u{ff56}\u{ff49}\u{ff4c}\u{ff0e}\u{ff43}\u{ff4f}\u{ff4d}",
            "evil\u{3002}com",
            "b\u{fc}cher.example",
            "\u{6771}\u{4eac}",
            "evil.com\0 a",
            "evil.com\u{3000}a",
            "evil.com\ta b",
            "(evil.com|a b)",
            "[e]vil.com~a b",
            "evil.com a*",
            "a b?",
            "a b/CN=evil.com",
            "a b\\",
            // What inet_aton reads up to the space, as addresses with fewer parts, in octal and in hexadecimal
            "127.0.0.1 x",
            "2130706433 printer",
            "7 printers",
            "127.1 x",
            "0177.0.0.01 x",
            "0x7f.1 x",
            "0x7F000001 x",
            // and what other clients could read
            "127.0.0.1, printer",
            "127.0.0.1. printer",
            "(127.0.0.1) printer",
            "127.0.0.1:443 printer",
            "\u{ff11}\u{ff12}\u{ff17}.0.0.1 x",
            "::1 x",
            "fe80::1:2 x",
            "::ffff:127.0.0.1 x",
            "evil.com x",
            "evil.com. x",
            "evil.com, x",
            "evil.com:443 x",
            "b\u{fc}cher.example x",
        ] {
            assert!(!is_only_for_people(name), "{name:?}");
        }
    }

    #[test]
    fn labels() {
        for label in ["user-17", "a", "U_1"] {
            assert!(is_plain_label(label), "{label:?}");
        }
        for other in [
            "",
            "1",
            "0x7f",
            "user-.evil.com",
            "user-*",
            "user 1",
            "user-1.",
            "\u{fc}",
        ] {
            assert!(!is_plain_label(other), "{other:?}");
        }
    }
}

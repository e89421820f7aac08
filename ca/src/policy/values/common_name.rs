//! Common names: which of them no client takes for the name of a host, an address or a mailbox.
//!
//! Clients without rules for alternative names, or whose rules see none of the kind that they look for, compare a
//! common name with the host that they want, each in its own way. OpenSSL does so if there is no DNS name beside it,
//! whatever addresses there are; it takes "w*.example.org" for a pattern, and converts every type of string. Old
//! versions of NSS take shell patterns; others end a name at a NUL, convert full-width letters, ignore a final dot or
//! spaces at the ends, or read numbers such as "2130706433" as addresses. The C library's `inet_aton` reads an address
//! and ignores a space and what follows it. Some take characters for their compatibility forms (NFKC). So the question
//! here is the reverse one: what is certainly none of these? What isn't understood may be one.

use super::character::{is_kept, is_of_several_letters, is_of_words, is_zero};

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
/// numbers with colons, and labels with dots between them of which the last could be a top-level domain. What else may
/// stand before it or after it, such as a comma, a scheme or a port, makes no difference.
fn is_host(word: &str) -> bool {
    let word: String = word.chars().filter(|c| is_kept(*c)).collect();
    let word =
        word.trim_matches(|character: char| !character.is_alphanumeric() && character != ':');
    let is_of_ipv6 = |part: &str| {
        let mut digits = part.chars();
        digits.all(|digit| could_be_hexadecimal(digit) || digit == '.')
    };
    word.split(':').any(has_domain_or_address)
        || (word.matches(':').count() > 1 && word.split(':').all(is_of_ipv6))
}

fn has_domain_or_address(part: &str) -> bool {
    let part = part.trim_matches(|character: char| !character.is_alphanumeric());
    let last = part.rsplit('.').next().unwrap_or_default();
    // A single letter is one of somebody's initials.
    let is_long = last.chars().count() > 1 || last.chars().any(is_of_several_letters);
    let is_domain = is_long && !last.chars().all(char::is_numeric);
    let is_address = !part.is_empty() && part.split('.').all(is_number);
    (part.contains('.') && is_domain) || is_address
}

/// Whether `inet_aton` could read this part of an address. Some clients convert digits and letters of other scripts.
fn is_number(part: &str) -> bool {
    let mut characters = part.chars();
    let has_prefix = characters.next().is_some_and(is_zero)
        && characters
            .next()
            .is_some_and(|x| "xX".contains(x) || !x.is_ascii());
    part.chars().all(char::is_numeric) || (has_prefix && characters.all(could_be_hexadecimal))
}

fn could_be_hexadecimal(digit: char) -> bool {
    digit.is_ascii_hexdigit() || !digit.is_ascii()
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
    is_of_words(character) || " .,'\u{2019}\u{b7}-\u{2013}()&+#_:".contains(character)
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
            "J.\u{d6}. M\u{fc}ller",
            "\u{41f}.\u{418}. \u{427}",
            "2\u{ba} piso",
            "\u{663}D x",
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
            // A pattern beside a word that is no host
            "printer *",
            "w* x",
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
            // Digits whose compatibility forms have a full stop or a comma, and no decimal digits at all
            "evil\u{2488}com x",
            "evil\u{249b}com x",
            "a evil\u{2490}com",
            "evil\u{1f100}com x",
            "127\u{1f100}\u{1f100}1 x",
            "a \u{1f101}",
            "a \u{2474}",
            "a\u{b9} x",
            // and letters whose forms begin with a space
            "evil\u{37a} x",
            "7\u{fe70} x",
            "a \u{fdfa}",
            // after a colon
            ":evil.com x",
            "a:evil.com x",
            "https:evil.com x",
            "a:b:evil.com:443 x",
            ".:evil.com x",
            "a:(evil.com x",
            ":127.0.0.1 x",
            "a:0x7f.1 x",
            // Letters and digits that become others
            "evil.\u{fb01} x",
            "evil.\u{1c7}, x",
            "\u{ff10}\u{ff58}7f.1 x",
            "0\u{ff38}\u{ff17}\u{ff26}.1 x",
            "0x7\u{1d41f}.1 x",
            "\u{ff46}e80::1 x",
            "::\u{24d0} x",
            // and marks that some clients drop
            "127\u{200d}.0.0.1 x",
            "7\u{301} x",
            "evil.c\u{301}om x",
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

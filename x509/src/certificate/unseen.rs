//! Characters that readers of a name don't see, or that change how they see others.

use der::Tag;

/// The characters of a string of any of the types that names have.
pub(crate) fn characters(tag: Tag, value: &[u8]) -> Vec<char> {
    match tag {
        Tag::Utf8String => String::from_utf8_lossy(value).chars().collect(),
        // Surrogates are no characters, and `der` reads no UniversalString.
        Tag::BmpString => value
            .chunks_exact(2)
            .filter_map(|unit| {
                char::from_u32(unit.iter().fold(0, |all, byte| all << 8 | u32::from(*byte)))
            })
            .collect(),
        _ => value.iter().copied().map(char::from).collect(),
    }
}

/// Whether a character isn't shown, or changes the direction or the place of others: controls, marks of
/// direction, characters of no width, tags, and what is no character. (RFC 4518 section 2.2 ignores most of
/// these in comparisons; those of section 2.4 are prohibited.)
///
/// The joiners U+200C and U+200D belong to the spelling of names in some scripts.
pub(crate) fn is_unseen(character: char) -> bool {
    let is_no_character = u32::from(character) & 0xfffe == 0xfffe;
    character.is_control()
        || is_no_character
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{e000}'..='\u{f8ff}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffd}'
                | '\u{e0000}'..='\u{10ffff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_seen() {
        for name in [
            "Alice Example",
            "M\u{fc}ller & S\u{f6}hne",
            "\u{6771}\u{4eac}\u{90fd}",
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}",
            "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}",
            "\u{5d3}\u{5d5}\u{5d3}",
            "e\u{301}",
        ] {
            assert!(!name.chars().any(is_unseen), "{name:?}");
        }
        for unseen in [
            '\0',
            '\n',
            '\u{1b}',
            '\u{7f}',
            '\u{9b}',
            '\u{ad}',
            '\u{200b}',
            '\u{202e}',
            '\u{2066}',
            '\u{2069}',
            '\u{feff}',
            '\u{fffd}',
            '\u{ffff}',
            '\u{e0041}',
            '\u{1fffe}',
        ] {
            assert!(is_unseen(unseen), "{unseen:?}");
        }
    }

    #[test]
    fn texts_of_each_type_are_read() {
        let read = |tag, value: &[u8]| String::from_iter(characters(tag, value));
        assert_eq!(read(Tag::PrintableString, b"a b"), "a b");
        assert_eq!(read(Tag::Utf8String, "\u{fc}".as_bytes()), "\u{fc}");
        assert_eq!(read(Tag::Utf8String, &[0xff]), "\u{fffd}");
        assert_eq!(read(Tag::TeletexString, &[0xfc]), "\u{fc}");
        assert_eq!(
            read(Tag::BmpString, &[0x20, 0x2e, 0xd8, 0, 0, b'a']),
            "\u{202e}a"
        );
    }
}

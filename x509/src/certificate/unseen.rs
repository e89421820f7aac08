//! Characters that readers of a name don't see, or that change how they see others.

use der::Tag;

/// The characters of a string of any of the types that names have.
pub(crate) fn characters(tag: Tag, value: &[u8]) -> Vec<char> {
    match tag {
        Tag::Utf8String => String::from_utf8_lossy(value).chars().collect(),
        // Some programs write UTF-16 in it, and `der` reads no UniversalString.
        Tag::BmpString => {
            let (units, _) = value.as_chunks();
            let units = units.iter().map(|unit| u16::from_be_bytes(*unit));
            char::decode_utf16(units)
                .map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
        _ => value.iter().copied().map(char::from).collect(),
    }
}

/// Whether a character isn't shown, or changes the direction, the place or the form of others: controls, marks of
/// direction, characters of no width or without ink, selectors of variants, tags, and what is no character. (RFC 4518
/// section 2.2 ignores most of these in comparisons; those of section 2.4 are prohibited.)
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
                | '\u{2800}'
                | '\u{3164}'
                | '\u{e000}'..='\u{f8ff}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffd}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
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
            "\u{2801}\u{fdff}\u{fe10}\u{1bca4}\u{1d172}\u{1d17b}",
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
            '\u{2800}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{1bca0}',
            '\u{1bca3}',
            '\u{1d173}',
            '\u{1d17a}',
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
        // Half of a pair is no character.
        for (value, expected) in [
            (&[0x20, 0x2e, 0xd8, 0, 0, b'a'][..], "\u{202e}\u{fffd}a"),
            (&[0xdb, 0x40, 0xdc, 0x41], "\u{e0041}"),
            (&[0xd8, 0x35, 0xdd, 0x73], "\u{1d573}"),
            (&[0xdc, 0x41, 0xdb, 0x40], "\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(read(Tag::BmpString, value), expected);
        }
    }
}

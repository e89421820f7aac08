//! Which characters no reader turns into punctuation.
//!
//! Some readers take a character for its compatibility form (NFKC): for them, U+2488 is "1.", and U+FF0F is "/".
//! Letters and decimal digits have no such form, apart from a few letters whose form begins with a space.

/// Whether words of some script have this character: a letter, a decimal digit, or a mark of a letter.
pub(super) fn is_of_words(character: char) -> bool {
    is_letter(character) || is_decimal_digit(character) || is_mark(character)
}

/// Whether a reader who drops accents and the like, or composes them with letters, keeps this character.
pub(super) fn is_kept(character: char) -> bool {
    character.is_alphanumeric() || !is_mark(character)
}

fn is_letter(character: char) -> bool {
    let becomes_space = matches!(
        character,
        '\u{37a}' | '\u{fc5e}'..='\u{fc63}' | '\u{fdfa}' | '\u{fdfb}' | '\u{fe70}'..='\u{fe7f}'
    );
    character.is_alphabetic() && !becomes_space
}

/// Whether this is a decimal digit (category Nd) of the Basic Multilingual Plane.
fn is_decimal_digit(character: char) -> bool {
    let code = u32::from(character);
    let index = ZEROS.partition_point(|zero| *zero <= code);
    let zero = index.checked_sub(1).and_then(|index| ZEROS.get(index));
    zero.is_some_and(|zero| code - zero < 10)
}

/// Whether this is the digit zero of some script.
pub(super) fn is_zero(character: char) -> bool {
    ZEROS.binary_search(&character.into()).is_ok()
}

/// The digits zero, each of which nine more follow.
const ZEROS: [u32; 37] = [
    0x0030, 0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6,
    0x0d66, 0x0de6, 0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80,
    0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0,
    0xff10,
];

/// Marks that belong to the letter before them, in blocks that have nothing else, and in the scripts of India.
fn is_mark(character: char) -> bool {
    // The joiners are part of words in some scripts.
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

/// Whether this single letter has two or more as its compatibility form, as the ligature "\u{fb01}" does.
pub(super) fn is_of_several_letters(character: char) -> bool {
    matches!(
        character,
        '\u{132}'..='\u{133}'
            | '\u{1c4}'..='\u{1cc}'
            | '\u{1f1}'..='\u{1f3}'
            | '\u{2160}'..='\u{217f}'
            | '\u{fb00}'..='\u{fb17}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All characters below U+20000 whose compatibility form (NFKC or NFKD, Unicode 14) has one of `./\%?#;:@`.
    #[test]
    fn what_becomes_punctuation_is_of_no_word() {
        let ranges = [
            '\u{37e}'..='\u{37e}',
            '\u{2024}'..='\u{2026}',
            '\u{2047}'..='\u{2049}',
            '\u{2100}'..='\u{2101}',
            '\u{2105}'..='\u{2106}',
            '\u{2488}'..='\u{249b}',
            '\u{2a74}'..='\u{2a74}',
            '\u{33c2}'..='\u{33c2}',
            '\u{33c7}'..='\u{33c7}',
            '\u{33d8}'..='\u{33d8}',
            '\u{fe13}'..='\u{fe14}',
            '\u{fe16}'..='\u{fe16}',
            '\u{fe19}'..='\u{fe19}',
            '\u{fe30}'..='\u{fe30}',
            '\u{fe52}'..='\u{fe52}',
            '\u{fe54}'..='\u{fe56}',
            '\u{fe5f}'..='\u{fe5f}',
            '\u{fe68}'..='\u{fe68}',
            '\u{fe6a}'..='\u{fe6b}',
            '\u{ff03}'..='\u{ff03}',
            '\u{ff05}'..='\u{ff05}',
            '\u{ff0e}'..='\u{ff0f}',
            '\u{ff1a}'..='\u{ff1b}',
            '\u{ff1f}'..='\u{ff20}',
            '\u{ff3c}'..='\u{ff3c}',
            '\u{1f100}'..='\u{1f100}',
        ];
        for range in ranges {
            for character in range {
                assert!(!is_of_words(character), "{character:?}");
            }
        }
        for character in
            "./\\%?#;:@ *\0\u{7f}\u{ad}\u{200b}\u{202e}\u{feff}\u{b9}\u{bd}\u{2044}\u{2215}".chars()
        {
            assert!(!is_of_words(character), "{character:?}");
        }
        for character in "aZ09\u{fc}\u{df}\u{6771}\u{301}\u{663}\u{969}\u{94d}\u{ff11}".chars() {
            assert!(is_of_words(character), "{character:?}");
        }
    }

    #[test]
    fn digits() {
        let digits =
            "\u{2f}\u{30}\u{39}\u{3a}\u{65f}\u{660}\u{669}\u{66a}\u{ff19}\u{ff1a}\u{10ffff}";
        let found: Vec<char> = digits.chars().filter(|c| is_decimal_digit(*c)).collect();
        assert_eq!(found, ['0', '9', '\u{660}', '\u{669}', '\u{ff19}']);
    }
}

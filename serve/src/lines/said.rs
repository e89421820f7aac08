//! What clients say of themselves, as the log writes it.

/// The most bytes of a text that a client chooses, as the log writes them.
const MOST: usize = 256;

/// The most bytes of a reason, which is a sentence of ours with texts and numbers that a client chooses.
const MOST_OF_A_REASON: usize = 1024;

/// No more of a text than is to be logged, with what escaping adds to it in either format. JSON doesn't escape what terminals
/// obey from DEL on, so that is replaced. It has to be logged as `str`, which the formats escape.
pub(crate) fn start(text: &str) -> String {
    start_within(text, MOST)
}

/// The same of a sentence with such texts in it.
pub(crate) fn reason(sentence: &impl ToString) -> String {
    start_within(&sentence.to_string(), MOST_OF_A_REASON)
}

fn start_within(text: &str, most: usize) -> String {
    const MORE: char = '…';

    let text = text.replace(is_obeyed, "\u{fffd}");
    let mut length = 0;
    // Where it would be cut.
    let mut end = 0;
    for (at, character) in text.char_indices() {
        if length <= most - MORE.len_utf8() {
            end = at;
        }
        length += escaped_length(character);
        if length > most {
            return format!("{}{MORE}", &text[..end]);
        }
    }
    text
}

/// Whether a terminal may take it for an order, and JSON doesn't escape it: controls from DEL on, and what changes the direction of text or
/// isn't seen.
fn is_obeyed(character: char) -> bool {
    character >= '\u{7f}'
        && (character.is_control()
            || matches!(
                character,
                '\u{ad}'
                    | '\u{61c}'
                    | '\u{180e}'
                    | '\u{200b}'..='\u{200f}'
                    | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{feff}'
                    | '\u{fff9}'..='\u{fffb}'
                    | '\u{e0000}'..='\u{e0fff}'
            ))
}

/// The most bytes that a character takes as text and as JSON, which has six for those of ASCII without a sign.
fn escaped_length(character: char) -> usize {
    let as_text = character.escape_debug().map(char::len_utf8).sum();
    match character.is_ascii_control() {
        true => 6.max(as_text),
        false => as_text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let cut = MOST - "…".len();
        assert_eq!(start("short"), "short");
        assert_eq!(start(&"x".repeat(MOST)), "x".repeat(MOST));
        assert_eq!(start(&"x".repeat(MOST + 1)), "x".repeat(cut) + "…");
        let wide = "é".repeat(MOST);
        let expected = format!("x{}…", &wide[..cut - 1]);
        assert_eq!(start(&format!("x{wide}")), expected);
    }

    /// Whatever a client chooses, it can't make its lines longer.
    #[test]
    fn texts_are_short_after_they_were_escaped() {
        for character in [
            'x',
            '"',
            '\\',
            '\0',
            '\u{7f}',
            '\u{202e}',
            '\u{301}',
            '\u{10ffff}',
            'é',
        ] {
            let said = start(&character.to_string().repeat(1000));
            let text = format!("{said:?}");
            let json = serde_json::to_string(&said).unwrap();
            assert!(text.len() <= MOST + 2, "{text}");
            assert!(json.len() <= MOST + 2, "{json}");
            assert!(said.ends_with('…'), "{text}");
            assert!(text.len().max(json.len()) > MOST - 16, "{text}");
        }
    }

    /// A log is read on terminals, too.
    #[test]
    fn nothing_is_an_order_to_a_terminal() {
        for obeyed in [
            '\u{7f}',
            '\u{80}',
            '\u{9b}',
            '\u{9f}',
            '\u{202e}',
            '\u{2066}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            assert_eq!(start(&format!("a{obeyed}ö")), "a\u{fffd}ö");
        }
        let escaped = serde_json::to_string(&start("\u{1b}[2J")).unwrap();
        assert_eq!(escaped, r#""\u001b[2J""#);
    }
}

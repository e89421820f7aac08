//! HTML in which every text is escaped.

use core::fmt::{self, Display, Write};

/// A text as HTML has it, in elements and between quotation marks.
pub(super) struct Escaped<T>(pub(super) T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

struct Escaping<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '&' => self.0.write_str("&amp;"),
                '<' => self.0.write_str("&lt;"),
                '>' => self.0.write_str("&gt;"),
                '"' => self.0.write_str("&quot;"),
                '\'' => self.0.write_str("&#39;"),
                // What hides or turns around what follows is shown as a number.
                hidden if is_hidden(hidden) => write!(self.0, "\\u{{{:x}}}", u32::from(hidden)),
                other => self.0.write_char(other),
            }?;
        }
        Ok(())
    }
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_an_element_or_an_attribute() {
        let text = "</p><script>alert(\"1\" & '2')</script>\u{202e}\n\u{0}";
        let expected = "&lt;/p&gt;&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;\\u{202e}\\u{a}\\u{0}";
        assert_eq!(Escaped(text).to_string(), expected);
    }
}

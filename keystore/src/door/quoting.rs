//! What a client sent, as errors repeat it: little of it, however long it is.

use core::fmt;

/// The most characters of a value.
const MAX_QUOTED: usize = 64;

/// The most characters of what others say about a value, which may repeat it.
const MAX_SAID: usize = 200;

/// What follows where something was left out.
const CUT: char = '…';

/// The first characters of a text that has more.
fn beginning(text: &str, most: usize) -> Option<&str> {
    let (end, _) = text.char_indices().nth(most)?;
    Some(&text[..end])
}

/// A value of the client in an error's text, in quotation marks.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match beginning(self.0, MAX_QUOTED) {
            None => write!(f, "{:?}", self.0),
            Some(begun) => write!(f, "{begun:?}{CUT}"),
        }
    }
}

/// The beginning of what is said, of which no more is made.
pub(super) fn shortened(said: impl fmt::Display) -> String {
    struct Short {
        said: String,
        left: usize,
    }

    impl fmt::Write for Short {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            match beginning(text, self.left) {
                None => {
                    self.left -= text.chars().count();
                    self.said.push_str(text);
                    Ok(())
                }
                Some(begun) => {
                    self.said.push_str(begun);
                    Err(fmt::Error)
                }
            }
        }
    }

    let mut short = Short {
        said: String::new(),
        left: MAX_SAID,
    };
    // It fails where it is cut.
    if fmt::write(&mut short, format_args!("{said}")).is_err() {
        short.said.push(CUT);
    }
    short.said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_repeated() {
        assert_eq!(Quoted("a\"b").to_string(), "\"a\\\"b\"");
        let longest = "ü".repeat(MAX_QUOTED);
        assert_eq!(Quoted(&longest).to_string(), format!("{longest:?}"));
        let longer = format!("{longest}x");
        assert_eq!(Quoted(&longer).to_string(), format!("{longest:?}…"));
        for text in ["", "short", &"x".repeat(MAX_SAID)] {
            assert_eq!(shortened(text), text);
        }
        let begun = format!("{}…", "ü".repeat(MAX_SAID));
        assert_eq!(shortened("ü".repeat(MAX_SAID + 1)), begun);
        assert_eq!(shortened(format_args!("{0}{0}", "ü".repeat(150))), begun);
    }
}

//! Text of a document in findings: shortened, and made safe to show, because whoever made the document chose it.

use pq_keys::errors::describe;

/// The first few of many texts, and the number of the others: whoever made a document chose how many.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    shown: Vec<String>,
    more: usize,
}

impl Listed {
    pub(crate) fn push(&mut self, text: impl FnOnce() -> String) {
        match self.shown.len() < SHOWN {
            true => self.shown.push(text()),
            false => self.more += 1,
        }
    }

    /// All in one text, if there are any.
    pub(crate) fn text(&self) -> Option<String> {
        let shown = self.shown.join(", ");
        match (self.shown.is_empty(), self.more) {
            (true, _) => None,
            (false, 0) => Some(shown),
            (false, more) => Some(format!("{shown} and {more} more")),
        }
    }
}

impl FromIterator<String> for Listed {
    fn from_iter<T: IntoIterator<Item = String>>(texts: T) -> Self {
        let mut listed = Self::default();
        for text in texts {
            listed.push(|| text);
        }
        listed
    }
}

const SHOWN: usize = 4;

/// A text of the document, in quotation marks.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    // `describe` does not show more, so no more needs to be looked at.
    let start = bytes.get(..1024).unwrap_or(bytes);
    format!("\"{}\"", describe(String::from_utf8_lossy(start)))
}

/// Octets as hexadecimal digits, as many as are worth reading.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits: String = bytes
        .iter()
        .take(24)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if bytes.len() > 24 {
        digits.push_str("...");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_few_are_shown_and_the_others_counted() {
        let listed = |count: usize| {
            let texts: Listed = (1..=count).map(|number| number.to_string()).collect();
            texts.text()
        };
        assert_eq!(listed(0), None);
        assert_eq!(listed(1).unwrap(), "1");
        assert_eq!(listed(4).unwrap(), "1, 2, 3, 4");
        assert_eq!(listed(6).unwrap(), "1, 2, 3, 4 and 2 more");
    }

    #[test]
    fn what_a_document_says_starts_no_line() {
        assert_eq!(quoted(b"a\n\x1b[2J\xff"), "\"a\\n\\u{1b}[2J\u{fffd}\"");
        assert!(quoted(&[b'x'; 10_000]).len() < 300);
        assert!(hex(&[0xab; 100]).len() < 60);
    }
}

//! The text of a policy file, and positions in it.

/// A file's name and text.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) file_name: String,
    text: String,
}

/// A line of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Line {
    /// Its number; the first is 1.
    pub(crate) number: usize,
    /// Its text, without the spaces around it.
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn new(file_name: &str, text: &str) -> Self {
        Self {
            file_name: file_name.into(),
            text: text.into(),
        }
    }

    /// The line that the byte at this offset is on.
    pub(crate) fn line(&self, offset: usize) -> Line {
        let (before, rest) = self.split(offset);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let end = rest
            .find('\n')
            .map_or(self.text.len(), |newline| before.len() + newline);
        Line {
            number: before.matches('\n').count() + 1,
            text: self.text.get(start..end).unwrap_or_default().trim().into(),
        }
    }

    /// The position of the byte at this offset in its line, in characters; the first is 1.
    pub(crate) fn column(&self, offset: usize) -> usize {
        let (before, _) = self.split(offset);
        before.chars().rev().take_while(|c| *c != '\n').count() + 1
    }

    /// The text before the offset, and the rest. No offset causes a panic.
    fn split(&self, offset: usize) -> (&str, &str) {
        self.text
            .split_at_checked(offset)
            .unwrap_or((&self.text, ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offset_has_a_line_and_a_column() {
        let text = "ä = 1\n\n  b = 2 \r\nc";
        let source = Source::new("f", text);
        let at = |offset| {
            let line = source.line(offset);
            (line.number, line.text, source.column(offset))
        };
        assert_eq!(at(0), (1, "ä = 1".into(), 1));
        assert_eq!(at(2), (1, "ä = 1".into(), 2));
        assert_eq!(at(6), (1, "ä = 1".into(), 6));
        assert_eq!(at(7), (2, String::new(), 1));
        assert_eq!(at(10), (3, "b = 2".into(), 3));
        assert_eq!(at(text.len() - 1), (4, "c".into(), 1));
        for end in [text.len(), text.len() + 1, usize::MAX] {
            assert_eq!(at(end), (4, "c".into(), 2));
        }
    }
}

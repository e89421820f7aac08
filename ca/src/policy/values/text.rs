//! Texts of a subject's name.

use core::fmt;
use core::str::FromStr;

use crate::policy::file::read_from_strings;

/// A text, or a pattern with one `*`, which stands for at least one character and for no control characters.
///
/// Case matters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TextPattern {
    before: String,
    /// The text after the `*`, if there is one.
    after: Option<String>,
}

impl TextPattern {
    /// Whether this is a text without a `*`.
    pub(crate) fn is_one_text(&self) -> bool {
        self.after.is_none()
    }

    /// Whether there is any text beside the `*`.
    pub(crate) fn has_text(&self) -> bool {
        !self.before.is_empty() || self.after.as_ref().is_none_or(|after| !after.is_empty())
    }

    pub(crate) fn includes(&self, text: &str) -> bool {
        let Some(after) = &self.after else {
            return text == self.before;
        };
        text.strip_prefix(&self.before)
            .and_then(|rest| rest.strip_suffix(after.as_str()))
            .is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_control))
    }
}

impl FromStr for TextPattern {
    type Err = TextPatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (before, after) = match text.split_once('*') {
            Some((before, after)) => (before, Some(after)),
            None => (text, None),
        };
        let is_refused = text.is_empty()
            || text.contains(char::is_control)
            || after.is_some_and(|after| after.contains('*'));
        match is_refused {
            true => Err(TextPatternError(text.into())),
            false => Ok(Self {
                before: before.into(),
                after: after.map(String::from),
            }),
        }
    }
}

read_from_strings!(TextPattern);

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.before)?;
        match &self.after {
            Some(after) => write!(f, "*{after}"),
            None => Ok(()),
        }
    }
}

/// The text is neither a text for a subject's name nor a pattern of such texts.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} is not a text for a subject's name: write the exact text, or use one \"*\" for any \
     characters, such as \"printer *\", and no control characters"
)]
pub struct TextPatternError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_for_any_characters() {
        for (pattern, inside, outside) in [
            ("alice", &["alice"][..], &["Alice", "alice ", "", "*"][..]),
            ("*", &["a", "*", "a b", "ä"], &["", "a\nb", "\0", "a\u{85}"]),
            (
                "user-*",
                &["user-1", "user-*"],
                &["user-", "auser-1", "user-\u{1b}[0m"],
            ),
            ("a*a", &["aba", "aaa"], &["aa", "a", "ab"]),
            ("* (test)", &["x (test)"], &[" (test)", "x (test) "]),
        ] {
            let read: TextPattern = pattern.parse().unwrap();
            assert_eq!(read.to_string(), pattern);
            for text in inside {
                assert!(read.includes(text), "{pattern:?} {text:?}");
            }
            for text in outside {
                assert!(!read.includes(text), "{pattern:?} {text:?}");
            }
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for text in ["", "**", "a*b*c", "a\nb", "\0"] {
            let error = text.parse::<TextPattern>().unwrap_err();
            assert_eq!(error, TextPatternError(text.into()));
        }
    }
}

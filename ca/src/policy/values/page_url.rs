//! The URLs of pages for people.

use core::fmt;
use core::str::FromStr;

use crate::policy::file::read_from_strings;

/// The URL of a page for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageUrl(String);

impl PageUrl {
    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PageUrl {
    type Err = PageUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rest = ["https://", "http://"].map(|scheme| text.strip_prefix(scheme));
        let rest = rest.into_iter().flatten().next().unwrap_or_default();
        let is_url = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
            && rest
                .chars()
                .all(|c| c.is_ascii_graphic() && !"\"\\<>^`{|}".contains(c));
        match is_url {
            true => Ok(Self(text.into())),
            false => Err(PageUrlError(text.into())),
        }
    }
}

read_from_strings!(PageUrl);

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not the URL of a page.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0:?} is not the URL of a page: write one such as \"https://ca.example.org/terms\"")]
pub struct PageUrlError(String);

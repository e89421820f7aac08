//! Text that people wrote: comments, namespaces, and foreign text quoted in messages.

/// Why a text can't be a comment or a namespace.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The text is too long.
    #[error("{what} has {len} bytes, but may have at most {MAX_TEXT}; shorten it")]
    TooLong {
        /// What the text is, such as `the comment`.
        what: &'static str,
        /// How many bytes the text has.
        len: usize,
    },
    /// The text has a control character, such as a line break, which would begin another line of a file.
    #[error("{0} has a control character in it, such as a line break; remove it")]
    ControlCharacter(&'static str),
    /// The text is not UTF-8.
    #[error("{0} is not UTF-8")]
    NotUtf8(&'static str),
}

/// The text of a field of a file, if it fits in a line.
pub(crate) fn check_text<'t>(what: &'static str, bytes: &'t [u8]) -> Result<&'t str, TextError> {
    if bytes.len() > MAX_TEXT {
        return Err(TextError::TooLong {
            what,
            len: bytes.len(),
        });
    }
    let text = str::from_utf8(bytes).map_err(|_| TextError::NotUtf8(what))?;
    match text.chars().any(|c| c.is_control()) {
        true => Err(TextError::ControlCharacter(what)),
        false => Ok(text),
    }
}

/// Escapes and shortens foreign text for messages: nothing in it starts a line or moves a cursor.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(MAX_SHOWN)];
    let cut = if start.len() < bytes.len() { "..." } else { "" };
    format!("{}{cut}", start.escape_ascii())
}

/// The first word, and the rest after the blanks that follow it.
pub(crate) fn word(line: &str) -> (&str, &str) {
    let (word, rest) = line.split_at(line.find([' ', '\t']).unwrap_or(line.len()));
    (word, rest.trim_start_matches([' ', '\t']))
}

/// How many bytes a comment or a namespace may have.
pub(crate) const MAX_TEXT: usize = 1024;

const MAX_SHOWN: usize = 64;

//! Text that people wrote: comments, namespaces, and what of others' text stands in messages.

/// Why a comment or a namespace is none.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// It is long.
    #[error("{what} has {len} bytes; it may have {MAX_TEXT}")]
    TooLong {
        /// What it is.
        what: &'static str,
        /// How many bytes it has.
        len: usize,
    },
    /// It has a control character, such as a line break, which would begin another line of a file.
    #[error("{0} has a control character in it, such as a line break; take that out")]
    ControlCharacter(&'static str),
    /// It is in no encoding that is read here.
    #[error("{0} is not UTF-8")]
    NotUtf8(&'static str),
}

/// The text of a field of a file, if it is fit for a line.
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

/// For messages: cut off, and with nothing that starts a line or moves a cursor.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(MAX_SHOWN)];
    let cut = if start.len() < bytes.len() { "..." } else { "" };
    format!("{}{cut}", start.escape_ascii())
}

/// The first word, and what comes after the blanks behind it.
pub(crate) fn word(line: &str) -> (&str, &str) {
    let (word, rest) = line.split_at(line.find([' ', '\t']).unwrap_or(line.len()));
    (word, rest.trim_start_matches([' ', '\t']))
}

/// As many bytes as a comment or a namespace may have.
pub(crate) const MAX_TEXT: usize = 1024;

const MAX_SHOWN: usize = 64;

//! Reads and writes lines of `authorized_keys`, with the options in front of the key.

use super::error::KeyError;
use super::options::{begins_with_key, split_options};
use super::public_key::{PublicKey, one_line};

/// A line of `authorized_keys`: a key, with or without options in front of it.
///
/// The options are kept as they are. This crate doesn't interpret them.
///
/// ```
/// use pq_ssh::{AuthorizedKey, PrivateKey};
///
/// let line = PrivateKey::generate()?.public_key().to_line();
/// let line = format!("restrict,command=\"backup --all\" {line}");
/// let key = AuthorizedKey::from_line(&line)?;
/// assert_eq!(key.options(), "restrict,command=\"backup --all\"");
/// assert_eq!(key.to_line(), line);
/// # Ok::<_, Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthorizedKey {
    options: String,
    key: PublicKey,
}

impl AuthorizedKey {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// A [`KeyError`] that says what is wrong with it: [`KeyError::OtherAlgorithm`] for a key of another
    /// algorithm, and [`KeyError::NoKey`] for an empty line or a comment, which begins with `#`.
    pub fn from_line(line: &str) -> Result<Self, KeyError> {
        let line = one_line(line)?;
        if line.is_empty() || line.starts_with('#') {
            return Err(KeyError::NoKey);
        }
        let (options, key) = match begins_with_key(line) {
            true => ("", line),
            false => split_options(line)?,
        };
        Ok(Self {
            options: options.to_owned(),
            key: PublicKey::from_line(key)?,
        })
    }

    /// The line, without a line break.
    pub fn to_line(&self) -> String {
        match &*self.options {
            "" => self.key.to_line(),
            options => format!("{options} {}", self.key.to_line()),
        }
    }

    /// The options, as they stand in the line. Empty if there are none.
    pub fn options(&self) -> &str {
        &self.options
    }

    /// The key.
    pub fn public_key(&self) -> &PublicKey {
        &self.key
    }
}

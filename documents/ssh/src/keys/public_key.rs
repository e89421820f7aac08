//! Public keys: the bytes that SSH sends, the line of a `.pub` file, and the fingerprint.

use base64ct::{Base64, Base64Unpadded, Encoding};
use pq_keys::composite::{CompositeAlgorithm, CompositePublicKey};
use pq_keys::signing::PreHash;

use super::error::KeyError;
use super::name::KeyName;
use crate::encoding::{Reader, check_text, put_string, shown, word};

/// A public key with its comment: the content of a `.pub` file.
///
/// ```
/// use pq_ssh::{PrivateKey, PublicKey};
///
/// let key = PrivateKey::generate()?.with_comment("me@example.org")?;
/// let line = key.public_key().to_line();
/// assert!(line.starts_with("ssh-mldsa44-ed25519 AAAA") && line.ends_with(" me@example.org"));
/// assert_eq!(&PublicKey::from_line(&line)?, key.public_key());
/// # Ok::<_, Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublicKey {
    name: KeyName,
    key: CompositePublicKey,
    comment: String,
}

impl PublicKey {
    /// A key without a comment, named [`KeyName::Standard`].
    ///
    /// # Errors
    ///
    /// [`KeyError::OtherCombination`] if the key's algorithm is not
    /// [`MlDsa44Ed25519Sha512`](CompositeAlgorithm::MlDsa44Ed25519Sha512), the only one that SSH has a name for.
    pub fn new(key: CompositePublicKey) -> Result<Self, KeyError> {
        match key.algorithm() {
            ALGORITHM => Ok(Self {
                name: KeyName::default(),
                key,
                comment: String::new(),
            }),
            other => Err(KeyError::OtherCombination(other)),
        }
    }

    /// Reads the bytes that SSH sends (draft-ietf-sshm-composite-sigs): a `string` with the name and one with the
    /// key. Nothing may follow. They have no comment.
    ///
    /// # Errors
    ///
    /// A [`KeyError`] that says what is wrong with it.
    pub fn from_blob(blob: &[u8]) -> Result<Self, KeyError> {
        let mut reader = Reader::new("the public key", blob);
        let name = read_name(reader.string()?)?;
        let key = CompositePublicKey::from_bytes(ALGORITHM, reader.string()?)?;
        reader.finish()?;
        Ok(Self::new(key)?.with_name(name))
    }

    /// The bytes that [`from_blob`](Self::from_blob) reads.
    pub fn to_blob(&self) -> Vec<u8> {
        let mut blob = Vec::new();
        put_string(&mut blob, self.name.as_str().as_bytes());
        put_string(&mut blob, self.key.as_bytes());
        blob
    }

    /// Reads a line of a `.pub` file: the name, base64, and an optional comment. The line may end in a line
    /// break.
    ///
    /// A changed byte goes unnoticed if the result is still a valid key: compare
    /// [fingerprints](Self::fingerprint).
    ///
    /// # Errors
    ///
    /// A [`KeyError`] that says what is wrong with it. For a line with options in front, as in `authorized_keys`,
    /// use [`AuthorizedKey`](super::AuthorizedKey).
    pub fn from_line(line: &str) -> Result<Self, KeyError> {
        let line = one_line(line)?;
        let (name, rest) = word(line);
        if name.is_empty() {
            return Err(KeyError::NoKey);
        }
        let name = read_name(name.as_bytes())?;
        let (characters, comment) = word(rest);
        if characters.is_empty() {
            return Err(KeyError::NoKey);
        }
        let blob = Base64::decode_vec(characters).map_err(|_| KeyError::Base64)?;
        let other = |key| KeyError::OtherName { line: name, key };
        // A line that says that it is of an algorithm of ours is none of another one, whatever was changed in it.
        let key = Self::from_blob(&blob).map_err(|error| match error {
            KeyError::OtherAlgorithm(key) => other(key),
            error => error,
        })?;
        if key.name != name {
            return Err(other(key.name.to_string()));
        }
        key.with_comment(comment.trim_end_matches([' ', '\t']))
    }

    /// The line, without a line break.
    pub fn to_line(&self) -> String {
        let mut line = format!("{} {}", self.name, Base64::encode_string(&self.to_blob()));
        if !self.comment.is_empty() {
            line.push(' ');
            line.push_str(&self.comment);
        }
        line
    }

    /// The fingerprint as `ssh-keygen -l` writes it: `SHA256:` and 43 characters of base64.
    ///
    /// The name is hashed as well, so the same key has another fingerprint under the other name.
    pub fn fingerprint(&self) -> String {
        let mut hasher = PreHash::Sha256.hasher();
        hasher.update(&self.to_blob());
        let digest = Base64Unpadded::encode_string(hasher.finish().as_bytes());
        format!("SHA256:{digest}")
    }

    /// The name of the algorithm in the file that was read, or that will be written.
    pub fn name(&self) -> KeyName {
        self.name
    }

    /// The same key under this name.
    #[must_use]
    pub fn with_name(self, name: KeyName) -> Self {
        Self { name, ..self }
    }

    /// The comment. Nothing protects it: anybody may have changed it.
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// The same key with this comment. Blanks at the beginning and the end are lost when the line is read again.
    ///
    /// # Errors
    ///
    /// [`KeyError::Comment`] if the comment has a control character or more than 1024 bytes.
    pub fn with_comment(self, comment: &str) -> Result<Self, KeyError> {
        let comment = check_text("the comment", comment.as_bytes())?.to_owned();
        Ok(Self { comment, ..self })
    }

    /// The key itself, for certificates and other documents. Don't use the same key for SSH and for these.
    pub fn key(&self) -> &CompositePublicKey {
        &self.key
    }

    /// Whether both are the same key. Names and comments make no difference.
    pub fn is_same_key(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

/// One of the two names, or an error with the name that was found.
pub(crate) fn read_name(name: &[u8]) -> Result<KeyName, KeyError> {
    KeyName::read(name).ok_or_else(|| KeyError::OtherAlgorithm(shown(name)))
}

/// The line without its line break and without the blanks in front.
pub(super) fn one_line(line: &str) -> Result<&str, KeyError> {
    if line.len() > MAX_LINE {
        return Err(KeyError::LineTooLong(line.len()));
    }
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line.contains(['\n', '\r']) {
        true => Err(KeyError::SeveralLines),
        false => Ok(line.trim_start_matches([' ', '\t'])),
    }
}

/// The composite algorithm that SSH calls `ssh-mldsa44-ed25519`.
pub(crate) const ALGORITHM: CompositeAlgorithm = CompositeAlgorithm::MlDsa44Ed25519Sha512;

const MAX_LINE: usize = 32 * 1024;

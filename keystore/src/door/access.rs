//! Who may come in: digests of tokens and of client certificates, and the principal of each.

use core::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use pq_keys::der::DateTime;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use crate::policy::{InvalidPrincipal, Principal};

/// The most bytes of a file of tokens.
const MAX_FILE_LEN: usize = 1024 * 1024;

/// The most tokens, and the most certificates.
const MAX_ENTRIES: usize = 1_024;

/// The most bytes of a token that is looked up.
const MAX_TOKEN_LEN: usize = 1_024;

type Sha256Digest = [u8; 32];

/// The tokens and client certificates that are known, and the principal of each. It has digests only, so its file is no
/// secret that lets anybody in; but who can write it can.
///
/// A token is a random text that nobody can guess, such as 32 random bytes in base64: its SHA-256 keeps it, no slower hash
/// is needed.
///
/// ```
/// use pq_keystore::door::AccessList;
///
/// let text = format!(
///     r#"
///     [[tokens]]
///     sha256 = "{}"
///     principal = "ci"
///     expires = "2099-12-31T23:59:59Z"    # without it, never
///
///     [[certificates]]                    # of TLS clients
///     sha256 = "{}"                       # of the DER
///     principal = "web"
///     "#,
///     AccessList::digest(b"hvs.a-random-token"),
///     AccessList::digest(b"the DER of a certificate"),
/// );
/// let access = AccessList::from_toml(&text)?;
/// # Ok::<_, pq_keystore::door::InvalidAccessList>(())
/// ```
#[derive(Clone, Default)]
pub struct AccessList {
    tokens: Vec<Entry>,
    certificates: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    digest: Sha256Digest,
    principal: Principal,
    /// In seconds since 1970.
    expires: Option<u64>,
}

/// Somebody who is known.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Authenticated {
    /// Who it is.
    pub principal: Principal,
    /// How many more seconds, or `None` if for ever.
    pub seconds: Option<u64>,
}

/// Why a text is no list of tokens and certificates.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAccessList {
    /// It is too long.
    #[error("a file of tokens has at most {MAX_FILE_LEN} bytes")]
    TooLong,
    /// It is no TOML, or has a key that such a file doesn't have.
    #[error("{0}")]
    Toml(String),
    /// There are too many entries.
    #[error("there are more than {MAX_ENTRIES} tokens or certificates")]
    TooMany,
    /// An entry isn't right.
    #[error("entry {number} of {table}: {problem}")]
    Entry {
        /// `tokens` or `certificates`.
        table: &'static str,
        /// Which one, from 1.
        number: usize,
        /// What is wrong.
        problem: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    tokens: Vec<FileEntry>,
    #[serde(default)]
    certificates: Vec<FileEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEntry {
    sha256: String,
    principal: String,
    expires: Option<String>,
}

impl AccessList {
    /// Reads a list from TOML, as above.
    ///
    /// # Errors
    ///
    /// An [`InvalidAccessList`] that says which entry is wrong. One digest may stand there once.
    pub fn from_toml(text: &str) -> Result<Self, InvalidAccessList> {
        if text.len() > MAX_FILE_LEN {
            return Err(InvalidAccessList::TooLong);
        }
        let file: File = toml::from_str(text)
            // The message without the lines of the file.
            .map_err(|error| {
                let begin = error.span().and_then(|span| text.get(..span.start));
                let line = begin.map_or(1, |begin| begin.matches('\n').count() + 1);
                InvalidAccessList::Toml(format!("line {line}: {}", error.message()))
            })?;
        Ok(Self {
            tokens: entries("tokens", &file.tokens)?,
            certificates: entries("certificates", &file.certificates)?,
        })
    }

    /// What the file has for a token or for the DER of a certificate: its SHA-256 in hexadecimal.
    pub fn digest(secret: &[u8]) -> String {
        base16ct::lower::encode_string(&sha256(secret))
    }

    /// Who has this token, if it is known and not expired at this time.
    pub fn by_token(&self, token: &str, now: SystemTime) -> Option<Authenticated> {
        match token.len() {
            0 => None,
            1..=MAX_TOKEN_LEN => find(&self.tokens, &sha256(token.as_bytes()), now),
            _ => None,
        }
    }

    /// Who has this certificate, which TLS has verified, if it is known and its entry is not expired at this time.
    pub fn by_certificate(&self, der: &[u8], now: SystemTime) -> Option<Authenticated> {
        find(&self.certificates, &sha256(der), now)
    }
}

impl fmt::Debug for AccessList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessList")
            .field("tokens", &self.tokens.len())
            .field("certificates", &self.certificates.len())
            .finish()
    }
}

fn sha256(bytes: &[u8]) -> Sha256Digest {
    Sha256::digest(bytes).into()
}

fn entries(table: &'static str, file: &[FileEntry]) -> Result<Vec<Entry>, InvalidAccessList> {
    if file.len() > MAX_ENTRIES {
        return Err(InvalidAccessList::TooMany);
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (position, entry) in file.iter().enumerate() {
        let problem = |problem: String| InvalidAccessList::Entry {
            table,
            number: position + 1,
            problem,
        };
        let entry = read(entry).map_err(problem)?;
        if entries.iter().any(|other| other.digest == entry.digest) {
            return Err(problem("its sha256 stands there before".into()));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn read(entry: &FileEntry) -> Result<Entry, String> {
    let mut digest = Sha256Digest::default();
    // Programs that print digests say of which function they are.
    let digits = entry.sha256.strip_prefix("sha256:");
    let digits = digits.unwrap_or(&entry.sha256);
    let read = base16ct::mixed::decode(digits, &mut digest);
    if read.map(<[u8]>::len) != Ok(digest.len()) {
        return Err(
            "sha256 is 64 hexadecimal digits, with or without \"sha256:\" before them: cut off all else, such as a file's \
             name, blanks and colons between digits"
                .into(),
        );
    }
    let principal = Principal::new(&entry.principal);
    if principal.as_ref().is_ok_and(Principal::is_auto_rotate) {
        return Err(
            "this principal is the server itself, when it rotates keys that are due".into(),
        );
    }
    let expires = entry.expires.as_deref().map(|text| {
        let time = text.parse::<DateTime>();
        time.map(|time| time.unix_duration().as_secs())
            .map_err(|_| "expires is a time such as 2027-01-31T00:00:00Z")
    });
    Ok(Entry {
        digest,
        principal: principal.map_err(|error: InvalidPrincipal| error.to_string())?,
        expires: expires.transpose()?,
    })
}

/// Compares all entries, each in constant time, so that no time says how much of a digest was right.
fn find(entries: &[Entry], digest: &Sha256Digest, now: SystemTime) -> Option<Authenticated> {
    let mut found = None;
    for entry in entries {
        if bool::from(entry.digest.ct_eq(digest)) {
            found = Some(entry);
        }
    }
    let found = found?;
    let seconds = match found.expires {
        None => None,
        Some(expires) => {
            // A clock from before 1970 says of nothing that it hasn't expired.
            let now = now.duration_since(UNIX_EPOCH).ok()?.as_secs();
            Some(expires.checked_sub(now).filter(|left| *left > 0)?)
        }
    };
    Some(Authenticated {
        principal: found.principal.clone(),
        seconds,
    })
}

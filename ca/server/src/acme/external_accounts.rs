//! The file of those to whom the operator gave a key ("external account binding", RFC 8555 section 7.3.4).

use alloc::collections::BTreeMap;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// The keys that the operator gave out, each under a name of its own.
///
/// ```
/// use pq_ca_server::acme::ExternalAccounts;
///
/// let accounts = ExternalAccounts::parse(
///     "[[accounts]]\nkid = \"web\"\nkey = \"FdGpRmjNLIuGKLMlwOtGxkYMPFa6iQmTDmBD3C2oP9A\"\n",
/// )?;
/// assert!(accounts.key("web").is_some());
/// assert!(accounts.key("mail").is_none());
/// # Ok::<(), pq_ca_server::acme::ExternalAccountsError>(())
/// ```
#[derive(Default)]
pub struct ExternalAccounts(BTreeMap<String, Zeroizing<Vec<u8>>>);

/// The fewest bytes of a key: those of the HMAC's digest (RFC 7518, section 3.2).
const MIN_KEY_LEN: usize = 32;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    accounts: Vec<Account>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Account {
    kid: String,
    #[serde(deserialize_with = "secret")]
    key: Zeroizing<String>,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Zeroizing<String>, D::Error> {
    String::deserialize(deserializer).map(Zeroizing::new)
}

impl ExternalAccounts {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// An [`ExternalAccountsError`], which has nothing of a key in it.
    pub fn parse(text: &str) -> Result<Self, ExternalAccountsError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            let before = text.get(..offset).unwrap_or_default();
            ExternalAccountsError::Toml {
                line: before.matches('\n').count() + 1,
            }
        })?;
        let mut all = BTreeMap::new();
        for Account { kid, key } in file.accounts {
            let error = || kid.clone();
            if kid.is_empty() {
                return Err(ExternalAccountsError::NoName);
            }
            let key = Base64UrlUnpadded::decode_vec(&key).map(Zeroizing::new);
            let key = key.map_err(|_| ExternalAccountsError::Key(error()))?;
            if key.len() < MIN_KEY_LEN {
                return Err(ExternalAccountsError::Short(error()));
            }
            let before = all.insert(kid.clone(), key);
            if before.is_some() {
                return Err(ExternalAccountsError::Twice(kid));
            }
        }
        Ok(Self(all))
    }

    /// The key with this name.
    pub fn key(&self, kid: &str) -> Option<&[u8]> {
        self.0.get(kid).map(|key| key.as_slice())
    }
}

impl core::fmt::Debug for ExternalAccounts {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Why a file has no keys of accounts.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExternalAccountsError {
    /// It is malformed.
    #[error(
        "line {line} is not as it should be: each account is [[accounts]] with kid = \"NAME\" and key = \"BASE64URL\", and there \
         is nothing else"
    )]
    Toml {
        /// The line.
        line: usize,
    },
    /// An account has no name.
    #[error("an account has an empty kid: give it a name")]
    NoName,
    /// A key can't be read.
    #[error(
        "the key of {0:?} is not base64url without padding: make one by \"openssl rand 32 | basenc --base64url | tr -d =\""
    )]
    Key(String),
    /// A key is too short.
    #[error("the key of {0:?} has less than 32 bytes, which could be guessed: make a longer one")]
    Short(String),
    /// Two have the same name.
    #[error("{0:?} is there twice: which key it has would be a guess")]
    Twice(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "FdGpRmjNLIuGKLMlwOtGxkYMPFa6iQmTDmBD3C2oP9A";

    #[test]
    fn each_account_has_one_key() {
        let text = format!(
            "[[accounts]]\nkid = \"a\"\nkey = \"{KEY}\"\n[[accounts]]\nkid = \"b\"\nkey = \"{KEY}A\"\n"
        );
        let accounts = ExternalAccounts::parse(&text).unwrap();
        assert_eq!(accounts.key("a").unwrap().len(), 32);
        assert_eq!(accounts.key("b").unwrap().len(), 33);
        assert!(accounts.key("c").is_none());
        assert_eq!(format!("{accounts:?}"), "{\"a\", \"b\"}");
        assert!(ExternalAccounts::parse("").unwrap().key("").is_none());
    }

    #[test]
    fn what_is_wrong_is_said_without_the_key() {
        for (text, expected) in [
            ("\nkid = 1", ExternalAccountsError::Toml { line: 2 }),
            (
                "[[accounts]]\nkid = \"a\"\nkey = \"secret\"\nmore = 1",
                ExternalAccountsError::Toml { line: 4 },
            ),
            (
                "[[accounts]]\nkid = \"\"\nkey = \"secret\"",
                ExternalAccountsError::NoName,
            ),
            (
                "[[accounts]]\nkid = \"a\"\nkey = \"secret=\"",
                ExternalAccountsError::Key("a".into()),
            ),
            (
                "[[accounts]]\nkid = \"a\"\nkey = \"c2VjcmV0\"",
                ExternalAccountsError::Short("a".into()),
            ),
        ] {
            let error = ExternalAccounts::parse(text).unwrap_err();
            assert_eq!(error, expected);
            assert!(!error.to_string().contains("secret"));
        }
        let one = format!("[[accounts]]\nkid = \"a\"\nkey = \"{KEY}\"\n");
        let error = ExternalAccounts::parse(&one.repeat(2)).unwrap_err();
        assert_eq!(error, ExternalAccountsError::Twice("a".into()));
    }
}

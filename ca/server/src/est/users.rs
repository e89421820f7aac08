//! The file of the users that may ask for certificates with a password.

use alloc::collections::BTreeMap;

use serde::Deserialize;

use super::password::PasswordHash;

/// Users, each with the hash of a password.
///
/// ```
/// use pq_ca_server::est::EstUsers;
///
/// let users = EstUsers::parse(
///     "[[users]]\n\
///      name = \"device-7\"\n\
///      password = \"pbkdf2-sha256:600000:000102030405060708090a0b0c0d0e0f:\
///                   2222222222222222222222222222222222222222222222222222222222222222\"\n",
/// )?;
/// assert!(!users.is_empty());
/// # Ok::<(), pq_ca_server::est::EstUsersError>(())
/// ```
#[derive(Default)]
pub struct EstUsers(BTreeMap<String, PasswordHash>);

/// The longest name, in bytes.
pub(super) const MAX_NAME_LEN: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    users: Vec<User>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct User {
    name: String,
    password: String,
}

impl EstUsers {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// An [`EstUsersError`], which has nothing of a hash in it.
    pub fn parse(text: &str) -> Result<Self, EstUsersError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            let before = text.get(..offset).unwrap_or_default();
            EstUsersError::Toml {
                line: before.matches('\n').count() + 1,
            }
        })?;
        let mut all = BTreeMap::new();
        for User { name, password } in file.users {
            let is_fit = (1..=MAX_NAME_LEN).contains(&name.len())
                && name.chars().all(|one| one.is_ascii_graphic() && one != ':');
            if !is_fit {
                return Err(EstUsersError::Name(name));
            }
            let password = password.parse();
            let password = password.map_err(|_| EstUsersError::Password(name.clone()))?;
            if all.insert(name.clone(), password).is_some() {
                return Err(EstUsersError::Twice(name));
            }
        }
        Ok(Self(all))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this is the user's password. It takes about as long for a user that there is not.
    pub(super) fn is_password(&self, name: &str, password: &[u8]) -> bool {
        match self.0.get(name) {
            Some(hash) => hash.is_of(password),
            None => {
                PasswordHash::nobodys().is_of(password);
                false
            }
        }
    }
}

impl core::fmt::Debug for EstUsers {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Why a file has no users.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstUsersError {
    /// It is malformed.
    #[error(
        "line {line} is not as it should be: each user is [[users]] with name = \"NAME\" and password = \"HASH\", and there is \
         nothing else"
    )]
    Toml {
        /// The line.
        line: usize,
    },
    /// A user's name can't be sent, or can't be told from others.
    #[error(
        "{0:?} is no name of a user: give it up to 64 letters, digits and other characters of ASCII, without spaces and colons"
    )]
    Name(String),
    /// A hash can't be read, or is weak.
    #[error(
        "the password of {0:?} is not pbkdf2-sha256:ROUNDS:SALT:HASH with 100000 to 10000000 rounds, a salt of 16 to 64 bytes and \
         32 bytes in hexadecimal digits: \"pqtls ca serve --help\" says how to make one"
    )]
    Password(String),
    /// Two have the same name.
    #[error("{0:?} is there twice: which password it has would be a guess")]
    Twice(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "pbkdf2-sha256:100000:000102030405060708090a0b0c0d0e0f:\
                        2222222222222222222222222222222222222222222222222222222222222222";

    fn user(name: &str, password: &str) -> String {
        format!("[[users]]\nname = \"{name}\"\npassword = \"{password}\"\n")
    }

    #[test]
    fn what_is_wrong_is_said_without_the_hash() {
        for (text, expected) in [
            ("\nname = 1".into(), EstUsersError::Toml { line: 2 }),
            (user("", HASH), EstUsersError::Name("".into())),
            (user("a:b", HASH), EstUsersError::Name("a:b".into())),
            (user("a b", HASH), EstUsersError::Name("a b".into())),
            (user("a", "2222"), EstUsersError::Password("a".into())),
            (user("a", HASH).repeat(2), EstUsersError::Twice("a".into())),
        ] {
            let error = EstUsers::parse(&text).unwrap_err();
            assert_eq!(error, expected);
            assert!(!error.to_string().contains("2222"));
        }
        let users = EstUsers::parse(&user("a", HASH)).unwrap();
        assert_eq!(format!("{users:?}"), "{\"a\"}");
        assert!(!users.is_password("a", b"secret"));
        assert!(EstUsers::parse("").unwrap().is_empty());
    }
}

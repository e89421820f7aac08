//! The text in a CA's folder that stands for a key in a store, where the file of the key would be:
//!
//! ```text
//! pqtls key in a store 1
//! store: (a file or an address, as --store names it)
//! key: tenant/purpose/name#version
//! ```
//!
//! Behind a door, the key is `name#version`.

use core::fmt;

use super::key_name::{KeyLabel, KeyVersion};
use super::place::StorePlace;
use crate::failure::{Failure, StoreFailure};
use crate::kind::REFERENCE as TITLE;

/// Which version of which key it is, and of which store.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Reference {
    pub(in crate::commands) store: StorePlace,
    pub(in crate::commands) key: KeyVersion,
}

impl Reference {
    /// Reads a text that begins as one; `None` stands for another text.
    pub(in crate::commands) fn in_text(text: &[u8]) -> Option<Result<Self, NotAReference>> {
        let rest = text.strip_prefix(TITLE.as_bytes())?;
        Some(Self::parse(rest).ok_or(NotAReference))
    }

    /// Refuses one whose text would not be read as the same.
    pub(in crate::commands) fn check_text(&self) -> Result<(), Failure> {
        let read = Self::in_text(self.to_string().as_bytes());
        match read {
            Some(Ok(read)) if read.store == self.store && read.key == self.key => Ok(()),
            _ => Err(StoreFailure::UnwritablePlace {
                store: self.store.to_string(),
            }
            .into()),
        }
    }

    fn parse(rest: &[u8]) -> Option<Self> {
        let rest = core::str::from_utf8(rest).ok()?;
        let (store, rest) = rest.strip_prefix("store: ")?.split_once('\n')?;
        let key = rest.strip_prefix("key: ")?.strip_suffix('\n')?;
        // Whoever wrote it by hand wrote it like this, or it is another key than somebody thinks.
        let id: KeyVersion = key
            .parse()
            .ok()
            .filter(|id: &KeyVersion| id.to_string() == key)?;
        let store: StorePlace = store.parse().ok().filter(|_| !store.is_empty())?;
        let is_at_door = matches!(store, StorePlace::Door(_));
        let is_of_door = matches!(id.key, KeyLabel::AtDoor(_));
        (is_at_door == is_of_door).then_some(Self { store, key: id })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{TITLE}store: {}\nkey: {}\n", self.store, self.key)
    }
}

/// A text that begins as a [`Reference`], and goes on otherwise.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct NotAReference;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_they_are_written() {
        for store in [
            "/srv/keys.redb",
            "postgres://ca@db/keys?sslrootcert=root.pem",
        ] {
            let text = format!("{TITLE}store: {store}\nkey: pki/ca/root#12\n");
            let read = Reference::in_text(text.as_bytes()).unwrap().unwrap();
            assert_eq!(read.to_string(), text);
            assert_eq!(read.key.to_string(), "pki/ca/root#12");
        }
        let text = format!("{TITLE}store: https://keys.example/v1/pki\nkey: ca-root#12\n");
        let read = Reference::in_text(text.as_bytes()).unwrap().unwrap();
        assert_eq!(read.to_string(), text);
    }

    #[test]
    fn other_texts_are_no_references() {
        assert!(Reference::in_text(b"-----BEGIN PRIVATE KEY-----\n").is_none());
        for rest in [
            "",
            "store: \nkey: a/b/c#1\n",
            "store: x\nkey: a/b/c\n",
            "store: x\nkey: a/b/c#01\n",
            "store: x\nkey: a/b/c#1",
            "store: x\nkey: a/b/c#1\n\n",
            "key: a/b/c#1\nstore: x\n",
            "store: x\nkey: c#1\n",
            "store: https://x\nkey: a/b/c#1\n",
            "store: https://x\nkey: c#01\n",
        ] {
            let text = format!("{TITLE}{rest}");
            assert!(
                Reference::in_text(text.as_bytes()).unwrap().is_err(),
                "{rest}"
            );
        }
    }
}

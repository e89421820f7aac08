//! What the rows of a store say: the store, its keys, their versions, and the index.
//!
//! Each row has one encoding. A row ends with a MAC, which [`sealing`](crate::sealing) makes and checks before a record is
//! read. It uses [`name`](crate::name), [`policy`](crate::policy),
//! [`custody`](crate::custody) and [`encoding`](crate::encoding).

mod clock;
mod grants_file;
mod index;
mod key;
mod store;
#[cfg(test)]
mod tests;
mod version;
#[cfg(feature = "door")]
mod wrapping;

pub(crate) use self::clock::ClockRecord;
pub use self::grants_file::{InvalidGrantsFile, MAX_GRANTS_FILE_LEN};
pub(crate) use self::index::{BUCKETS, IndexPlace, IndexRecord};
pub(crate) use self::key::KeyRecord;
pub use self::key::{Origin, VersionState};
pub(crate) use self::store::StoreRecord;
pub use self::store::{Scope, StoreGrants, UnknownScope};
pub(crate) use self::version::{PrivatePart, TokenPlace, VersionRecord};
#[cfg(feature = "door")]
pub(crate) use self::wrapping::WrappingRecord;

use pq_keys::any::AnyAlgorithm;

use crate::custody::TokenName;
use crate::encoding::{InvalidRecord, Reader};

/// Reads an algorithm by its name, as it is written.
pub(crate) fn read_algorithm(reader: &mut Reader<'_>) -> Result<AnyAlgorithm, InvalidRecord> {
    let name = reader.text()?;
    let found = AnyAlgorithm::named(name).filter(|algorithm| algorithm.name() == name);
    found.ok_or(InvalidRecord::Value(
        "its algorithm isn't known; use a newer program",
    ))
}

/// Reads the name of a token.
pub(crate) fn read_token(reader: &mut Reader<'_>) -> Result<TokenName, InvalidRecord> {
    let name = reader.text()?.parse();
    name.map_err(|_| InvalidRecord::Value("no token's name"))
}

//! Key stores as commands open them: where one is, who asks, and what it is sealed under; and their keys as those that sign.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod custodian;
mod door;
mod kek;
mod key_name;
mod key_source;
mod opened;
mod place;
mod reference;
mod server_keys;
mod signer;
mod token;
mod transit;

pub(in crate::commands) use custodian::Custodian;
pub(in crate::commands) use door::{DoorKeys, DoorOptions};
pub(in crate::commands) use kek::NewKekOptions;
pub(in crate::commands) use key_name::{KeyLabel, KeyOrVersion, KeyVersion};
pub(in crate::commands) use key_source::{KeySource, SignerStore};
pub(in crate::commands) use opened::Opened;
pub(in crate::commands) use place::{Access, Location, Place, StorePlace, once_free};
pub(in crate::commands) use reference::Reference;
pub(in crate::commands) use signer::{AnySigner, KeyInStore};
pub(in crate::commands) use transit::TransitKey;

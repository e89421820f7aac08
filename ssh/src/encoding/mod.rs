// This room uses no other.

//! What all files of OpenSSH are made of: SSH's data types, armor, and text that is fit for a line.

mod armor;
mod text;
mod wire;

pub use armor::ArmorError;
pub(crate) use armor::{decode, encode};
pub use text::TextError;
pub(crate) use text::{check_text, shown, word};
pub use wire::WireError;
pub(crate) use wire::{Reader, put_string};

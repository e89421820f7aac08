//! The parts of all OpenSSH files: SSH's data types, armor, and text that fits in a line.

// This room uses no other.

mod armor;
mod text;
mod wire;

pub use armor::ArmorError;
pub(crate) use armor::{decode, encode};
pub use text::TextError;
pub(crate) use text::{check_text, shown, word};
pub use wire::WireError;
pub(crate) use wire::{Reader, put_string};

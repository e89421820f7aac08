//! Tokens behind PKCS#11: hardware modules, and programs that behave like one.

mod failure;
mod kek;
mod mechanisms;
mod module;
mod objects;
mod options;
mod sessions;
mod token;
mod turn;

pub use self::kek::Pkcs11Kek;
pub use self::options::{Pin, Pkcs11Options};
pub use self::token::Pkcs11Token;

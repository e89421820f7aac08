// This room uses `files`, `identities` and `provider`.

//! What a server without certificates needs to be tried: fresh ones, and the commands that connect to it.

mod instructions;
mod pki;

pub use instructions::Instructions;
pub use pki::{Client, Issued, Pki, PkiError, PkiFiles, algorithm_of};

//! What a server without certificates needs to be tried: fresh ones, and the commands that connect to it.

// This room uses `identities` and `provider`.

mod instructions;
mod pki;

pub use instructions::Instructions;
pub use pki::{Client, Issued, Pki, PkiError, PkiFiles, algorithm_of};

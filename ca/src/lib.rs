//! A certificate authority for post-quantum keys: its policy, and its record of issued and revoked
//! certificates.
//!
//! * **Policy.** A [`Policy`](policy::Policy) is a file that says what a CA may issue. It turns a [`Wanted`](policy::Wanted)
//!   certificate into a certificate builder, or says which lines forbid it.
//! * **Ledger.** A [`Ledger`](ledger::Ledger) records what was issued and what was revoked. [`LocalLedger`](ledger::LocalLedger) is a ledger
//!   in a folder on this machine. It keeps who had it change what, as a chain that [`verify`](ledger::Ledger::verify) checks. Another one, such as in a database, is held to the tests in `ledger::suite`.
//! * **Authority.** An [`Authority`](authority::Authority) is the CA itself: it issues, renews and revokes certificates, makes
//!   revocation lists, and answers OCSP requests. A [`Responder`](authority::Responder) can answer OCSP requests in its place.
//! * **Issuing.** An [`Issuance`](issuing::Issuance) is all that happens from a key or a request to a certificate that may be handed out,
//!   in the right order; a [`Series`](issuing::Series) is the same for many.
//! * **Folder.** A [`Folder`](folder::Folder) contains all files that an authority needs: certificates, keys, the
//!   policy and the ledger, or with the first three for a ledger elsewhere.
//!
//! # Features
//!
//! * `suite`: the tests that every [`Ledger`](ledger::Ledger) has to pass, for those who write one. The module `ledger::suite` says how.
//!
//! # Errors
//!
//! The text of an error includes the text of its cause. Therefore [`source`](core::error::Error::source)
//! is `None`: a program that prints the chain of causes prints nothing twice.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod authority;
pub mod folder;
pub mod issuing;
pub mod ledger;
pub mod policy;
mod time;

/// The README's program, which is compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

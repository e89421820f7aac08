//! A certificate authority of post-quantum keys: what may be issued, what was, and what no longer
//! holds.
//!
//! * **Policy.** A [`Policy`] is a file that says what a CA may issue. It makes of what is
//!   [`Wanted`] a certificate's builder, or says which lines forbid it.
//! * **Ledger.** A [`Ledger`] keeps what was issued and what no longer holds; [`LocalLedger`] is one in
//!   a folder of this machine.
//! * **Authority.** An [`Authority`] is the CA itself: it issues, renews and revokes, makes
//!   revocation lists, and answers OCSP requests, as a [`Responder`] does in its place.
//! * **Folder.** A [`Folder`] has all that an authority needs in files: certificates, keys, the
//!   policy and the ledger.
//!
//! # Errors
//!
//! The text of an error has that of its cause in it. [`source`](core::error::Error::source) is
//! `None` therefore, so that a program that prints causes one after another prints nothing twice.
#![forbid(unsafe_code)]

extern crate alloc;

mod authority;
mod folder;
mod ledger;
mod policy;
mod time;

pub use authority::{
    Authority, AuthorityError, Batch, Order, Responder, ResponderError, UnknownReason,
    reason_from_name, reason_name,
};
pub use folder::{Constraints, Folder, FolderError, KeyPlan, Plan, Role, StoredKey};
pub use ledger::{
    Entry, Filter, InvalidSerialNumber, Issued, Ledger, LedgerError, LocalLedger, NameFilter,
    NewEntry, NoRandomness, Revocation, SerialNumber, State,
};
pub use policy::{
    DurationError, EmailPattern, EmailPatternError, Forbidden, KeyAlgorithm, ListUrl, ListUrlError,
    NamePattern, NamePatternError, Network, NetworkError, Permitted, Policy, PolicyError, Profile,
    Reason, Refusal, TextPattern, TextPatternError, UnknownKeyAlgorithm, UnknownProfile,
    UriPattern, UriPatternError, Wanted, parse_duration,
};

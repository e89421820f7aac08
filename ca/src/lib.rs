//! A certificate authority for post-quantum keys: its policy, and its record of issued and revoked
//! certificates.
//!
//! * **Policy.** A [`Policy`] is a file that says what a CA may issue. It turns a [`Wanted`]
//!   certificate into a certificate builder, or says which lines forbid it.
//! * **Ledger.** A [`Ledger`] records what was issued and what was revoked. [`LocalLedger`] is a ledger
//!   in a folder on this machine. Another one, such as in a database, is held to the tests in `suite`.
//! * **Authority.** An [`Authority`] is the CA itself: it issues, renews and revokes certificates, makes
//!   revocation lists, and answers OCSP requests. A [`Responder`] can answer OCSP requests in its place.
//! * **Issuing.** An [`Issuance`] is all that happens from a key or a request to a certificate that may be handed out,
//!   in the right order; a [`Series`] is the same for many.
//! * **Folder.** A [`Folder`] contains all files that an authority needs: certificates, keys, the
//!   policy and the ledger, or with the first three for a ledger elsewhere.
//!
//! # Features
//!
//! * `suite`: the tests that every [`Ledger`] has to pass, for those who write one. The module `suite` says how.
//!
//! # Errors
//!
//! The text of an error includes the text of its cause. Therefore [`source`](core::error::Error::source)
//! is `None`: a program that prints the chain of causes prints nothing twice.
#![forbid(unsafe_code)]

extern crate alloc;

mod authority;
mod folder;
mod issuing;
mod ledger;
mod policy;
mod time;

pub use authority::{
    Authority, AuthorityError, Batch, Order, Prepared, Responder, ResponderError, UnknownReason,
    reason_from_name,
};
pub use folder::{
    Constraints, Folder, FolderError, Interruption, KeyPlan, LedgerPlace, Plan, Role, StoredKey,
};
pub use issuing::{
    Answer, Companion, Issuance, IssuanceError, IssuedCertificate, Series, Terms, Unsettled,
};
#[cfg(any(test, feature = "suite"))]
pub use ledger::suite;
pub use ledger::{
    AHEAD, BEHIND, Change, Condition, Entry, Filter, GREATEST_NUMBER, InvalidSerialNumber, Issued,
    KEPT, KeyHash, Ledger, LedgerError, LocalLedger, NameFilter, NewEntry, NoRandomness,
    Revocation, Revoked, SerialNumber, State,
};
pub use policy::{
    DurationError, EmailPattern, EmailPatternError, Forbidden, KeyAlgorithm, ListUrl, ListUrlError,
    NamePattern, NamePatternError, Network, NetworkError, Permitted, Policy, PolicyError, Profile,
    Reason, Refusal, TextPattern, TextPatternError, UnknownKeyAlgorithm, UnknownProfile,
    UriPattern, UriPatternError, Wanted, parse_duration,
};
/// The name of a reason in RFC 5280 section 5.3.1, such as `keyCompromise`.
pub use pq_x509::reason_name;

/// The README's program, which is compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

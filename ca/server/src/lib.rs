//! The doors of a certificate authority over HTTP, on [`pq_serving`].
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod acme;
mod algorithms;
mod clock;
mod doors;
pub mod est;
mod health;
mod http;
mod identity;
mod keys;
mod list_responder;
mod lists;
mod network;
pub mod ocsp;
mod page;
pub mod validation;

pub use self::clock::Clock;
pub use self::doors::{Doors, Issuing, Mounted, PublishedCa, Settings};
pub use self::identity::{OwnCertificate, OwnCertificateError, TlsKey};
pub use self::keys::CaKey;
pub use self::list_responder::{
    InvalidListSource, ListResponder, ListSource, OcspHandler, UnfitList, keep_list,
};
pub use self::lists::{ListError, ListSettings};

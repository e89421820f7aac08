//! An ACME client with its input and output: certificates for programs, and for servers that keep themselves renewed.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

extern crate alloc;

mod account;
mod dns_update;
mod https;
mod obtaining;
mod renewal;
mod showing;
mod source;

pub use self::account::{Account, AccountError};
pub use self::dns_update::{DnsUpdate, DnsUpdateError, InvalidTsigKey, TsigKey};
pub use self::https::{Https, NoAnswer};
pub use self::obtaining::{Notice, ObtainError, obtain};
pub use self::renewal::{NoRenewalInfo, RenewalAdvice, renewal_advice};
pub use self::showing::{
    Challenges, DnsRecord, Listening, Showing, ShowingError, TlsAlpnCertificates, Visible,
    listen_http_01, listen_tls_alpn_01,
};
pub use self::source::{
    AcmeIdentities, AcmeResolver, AcmeSource, CertificateStatus, SourceError, system_roots,
};

//! The values in the policy file, and how they are written: DNS names, addresses, e-mail addresses, URIs,
//! texts, keys, durations, rates, profiles, challenges and limits of ACME, and URLs.
//!
//! This room uses [`file`](super::file).

mod acme_challenge;
mod acme_limits;
mod character;
mod common_name;
mod dns;
mod duration;
mod email;
mod key;
mod list_url;
mod network;
mod page_url;
mod profile;
mod rate;
mod text;
mod uri;

pub use acme_challenge::{AcmeChallenge, UnknownAcmeChallenge};
pub use acme_limits::AcmeLimits;
pub(crate) use common_name::{Suspicion, is_only_for_people, is_plain_label, suspicion};
pub(crate) use dns::AskedName;
pub use dns::{NamePattern, NamePatternError};
pub(crate) use duration::Period;
pub use duration::{DurationError, parse_duration};
pub use email::{EmailPattern, EmailPatternError};
pub(crate) use key::asked_key;
pub use key::{KeyAlgorithm, UnknownKeyAlgorithm};
pub use list_url::{ListUrl, ListUrlError};
pub(crate) use network::as_ipv4;
pub use network::{Network, NetworkError};
pub use page_url::{PageUrl, PageUrlError};
pub use profile::{Profile, UnknownProfile};
pub use rate::Rate;
pub(crate) use rate::RateLimit;
pub use text::{TextPattern, TextPatternError};
pub use uri::{UriPattern, UriPatternError};

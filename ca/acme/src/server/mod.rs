//! A server of ACME without input and output: it takes requests and times, and gives answers and work to do.
//!
//! What it remembers is in a [`Store`], and what it may do is decided by a [`Policy`]. Whoever has a server carries out its work:
//! [`Validate`] a challenge and say [`validated`](Server::validated), [`Issue`] a certificate that is still [due](Server::due)
//! and say [`issued`](Server::issued). What nobody finished is [taken up](Server::take_up) again after some time. Both may be done
//! twice without harm: of several answers the first counts, and a certificate is issued under the
//! [`request_id`](Issue::request_id) of its order, of which a ledger has one.
//!
//! Many servers may share one store and one key for nonces.
//!
//! It uses all other rooms but the client's.

mod accounts;
mod answer;
mod authorizations;
mod certificates;
mod content;
mod csr;
mod keys;
mod limits;
mod orders;
mod policy;
mod posts;
mod revocation;
mod settings;
mod status;
mod urls;
mod work;

use core::fmt;

pub use accounts::revoke_account;
pub use answer::{Answer, Due, Issue, Outcome, Request, Validate, Work};
pub use csr::check_csr;
pub use policy::{
    Grant, Policy, Registration, RevocationRefusal, RevocationWish, Revoker, Wish, default_renewal,
};
pub use settings::Settings;
pub use work::{Issued, IssuedError};

use crate::nonce::Nonces;
use crate::store::Store;
use urls::Urls;

/// A server of ACME.
pub struct Server<S, P> {
    store: S,
    policy: P,
    nonces: Nonces,
    urls: Urls,
    settings: Settings,
}

impl<S: Store, P: Policy> Server<S, P> {
    /// A server at this URL, such as `https://ca.example.org/acme`; its directory is at `/directory` below.
    pub fn new(url: &str, store: S, policy: P, nonces: Nonces) -> Self {
        Self {
            store,
            policy,
            nonces,
            urls: Urls::new(url),
            settings: Settings::default(),
        }
    }

    /// With other times and bounds.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// The URL of the directory, which clients are told.
    pub fn directory_url(&self) -> String {
        self.urls.index()
    }

    /// What it remembers.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// What decides.
    pub fn policy(&self) -> &P {
        &self.policy
    }
}

impl<S: fmt::Debug, P> fmt::Debug for Server<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("urls", &self.urls)
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

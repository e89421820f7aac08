//! What is stored of each object. The states that follow from others, such as that of an order all of whose authorizations
//! are valid, are not stored.

use alloc::sync::Arc;

use pq_jose::any::AnyJwk;

use crate::identifier::Identifier;
use crate::nonce::{MAX_SKEW, Nonce, NonceDigest};
use crate::objects::{AccountStatus, ChallengeKind, Time};
use crate::problem::Problem;

/// An account.
#[derive(Clone, Debug)]
pub struct AccountRecord {
    /// What names it in URLs.
    pub id: String,
    /// How often it was changed.
    pub version: u64,
    /// Its key.
    pub key: AnyJwk,
    /// Its state.
    pub status: AccountStatus,
    /// Where its holder can be reached, by URLs of `mailto:`.
    pub contact: Vec<String>,
    /// Whether its holder agreed to the terms of service.
    pub agreed: bool,
    /// The account elsewhere that it is bound to, and the proof, which is JSON.
    pub external: Option<(String, String)>,
    /// When it was made.
    pub created: Time,
    /// The nonce of the request that made it.
    pub nonce: NonceDigest,
    /// What was changed last.
    pub last_change: LastChange,
}

impl AccountRecord {
    /// When its holder ended it. What an operator ended is kept, so that its key stays refused.
    pub(super) fn ended(&self) -> Option<u64> {
        (self.status == AccountStatus::Deactivated).then_some(self.last_change.made)
    }
}

/// The nonces of the last changes of an account: a request that was made before the last change is not carried out any more,
/// at whichever replica it arrives.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LastChange {
    /// When the nonce of the last change was made, in seconds after 1970.
    pub made: u64,
    /// The nonces of that second by which something was changed.
    pub nonces: Vec<NonceDigest>,
}

impl LastChange {
    /// The most changes by nonces of one second.
    const MOST: usize = 16;

    /// After a change by this nonce, or nothing if there may be none. A last change that was made later than now is one by a
    /// wrong clock, and is not believed: else there could be no change until then.
    pub fn after(&self, nonce: &Nonce, now: Time) -> Option<Self> {
        let made = nonce.made.as_secs();
        let is_by_a_wrong_clock = self.made > now.as_secs().saturating_add(MAX_SKEW);
        if made > self.made || is_by_a_wrong_clock {
            let nonces = vec![nonce.digest];
            return Some(Self { made, nonces });
        }
        let is_new = made == self.made
            && !self.nonces.contains(&nonce.digest)
            && self.nonces.len() < Self::MOST;
        is_new.then(|| {
            let mut after = self.clone();
            after.nonces.push(nonce.digest);
            after
        })
    }
}

/// An order.
#[derive(Clone, Debug)]
pub struct OrderRecord {
    /// What names it in URLs.
    pub id: String,
    /// How often it was changed.
    pub version: u64,
    /// The account that made it.
    pub account: String,
    /// Its state.
    pub state: OrderState,
    /// Until when it has to be finalized.
    pub expires: Time,
    /// What the certificate is for, each once and sorted.
    pub identifiers: Arc<[Identifier]>,
    /// The authorizations that it needs.
    pub authorizations: Vec<String>,
    /// The requested beginning of the certificate.
    pub not_before: Option<Time>,
    /// The requested end of the certificate.
    pub not_after: Option<Time>,
    /// The certificate that the new one replaces, as RFC 9773 names it.
    pub replaces: Option<String>,
    /// The certificate's profile.
    pub profile: Option<String>,
    /// When it was made.
    pub created: Time,
    /// The nonce of the request that made it.
    pub nonce: NonceDigest,
}

/// The state of an order, as far as it does not follow from its authorizations and the time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum OrderState {
    /// Pending or ready, or invalid because of an authorization or the time.
    Open,
    /// Its certificate is being issued.
    Processing(Processing),
    /// Its certificate is there.
    Valid {
        /// The digest of the request for it.
        csr: [u8; 32],
        /// What names it.
        certificate: String,
    },
    /// There will be no certificate.
    Invalid(Problem),
}

/// A certificate is being issued.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Processing {
    /// The request for it (PKCS#10), in DER.
    pub csr: Arc<[u8]>,
    /// Since when somebody has been working on it.
    pub since: Time,
}

/// An authorization.
#[derive(Clone, Debug)]
pub struct AuthorizationRecord {
    /// What names it in URLs.
    pub id: String,
    /// How often it was changed.
    pub version: u64,
    /// The account that has it.
    pub account: String,
    /// The identifier, without `*.`.
    pub identifier: Identifier,
    /// Whether it is for `*.` before the identifier.
    pub is_wildcard: bool,
    /// Its state.
    pub state: AuthorizationState,
    /// Until when it holds, or has to be made valid.
    pub expires: Time,
    /// One of these has to be met. There is one of each kind.
    pub challenges: Vec<ChallengeRecord>,
}

impl AuthorizationRecord {
    /// Since when somebody has been working on a challenge, the longest.
    pub(super) fn in_work_since(&self) -> Option<Time> {
        if self.state != AuthorizationState::Pending {
            return None;
        }
        let times = self.challenges.iter().filter_map(|one| match &one.state {
            ChallengeState::Processing { since } => Some(*since),
            _ => None,
        });
        times.min()
    }
}

/// The state of an authorization, as far as it does not follow from the time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AuthorizationState {
    /// No challenge was met yet.
    Pending,
    /// A challenge was met.
    Valid,
    /// A challenge was not met.
    Invalid,
    /// The account gave it up.
    Deactivated,
    /// The CA took it back.
    Revoked,
}

/// A challenge.
#[derive(Clone, Debug)]
pub struct ChallengeRecord {
    /// Its kind.
    pub kind: ChallengeKind,
    /// Its token.
    pub token: String,
    /// Its state.
    pub state: ChallengeState,
}

/// The state of a challenge.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ChallengeState {
    /// The client did not say yet that it is ready.
    Pending,
    /// Somebody is looking.
    Processing {
        /// Since when.
        since: Time,
    },
    /// It was met.
    Valid {
        /// When.
        validated: Time,
        /// What was seen, and from where.
        evidence: String,
    },
    /// It was not met.
    Invalid(Problem),
}

/// A certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CertificateRecord {
    /// What names it in URLs: [`CertificateRecord::id_of`] its bytes.
    pub id: String,
    /// What names it in RFC 9773, if it can be named so.
    pub name: Option<String>,
    /// The account it was issued to.
    pub account: String,
    /// The order it was issued for.
    pub order: String,
    /// What it is for.
    pub identifiers: Arc<[Identifier]>,
    /// From when it holds.
    pub not_before: Time,
    /// Until when it holds.
    pub not_after: Time,
    /// The certificate's DER.
    pub der: Vec<u8>,
    /// The chains that can be sent, each with the certificate first, in PEM: the first is the usual one.
    pub chains: Vec<String>,
}

//! What is to be validated.

use pq_acme::challenge::KeyAuthorization;
use pq_acme::identifier::Identifier;
use pq_acme::objects::ChallengeKind;
use pq_acme::server::Validate;

/// A challenge that a client says it meets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Question {
    /// How it is asked.
    pub kind: ChallengeKind,
    /// Whom the certificate is to be for: a DNS name without `*.`, or an address.
    pub identifier: Identifier,
    /// What has to be shown.
    pub authorization: KeyAuthorization,
    /// On whose behalf: the account, for its share of the places.
    pub account: String,
}

/// What a server of ACME has to find out.
impl From<&Validate> for Question {
    fn from(work: &Validate) -> Self {
        Self {
            kind: work.kind.clone(),
            identifier: work.identifier.clone(),
            authorization: work.key_authorization.clone(),
            account: work.account.clone(),
        }
    }
}

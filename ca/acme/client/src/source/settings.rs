//! What is asked of the CA.

use pq_acme::client::ExternalKey;
use pq_acme::identifier::Identifier;

use super::pause::Pauses;

/// What is asked of the CA, and how often if it refuses.
#[derive(Clone)]
pub(super) struct Settings {
    /// The URL of its directory.
    pub(super) directory: String,
    pub(super) names: Vec<Identifier>,
    pub(super) contact: Vec<String>,
    /// Whether the holder of the account agrees to the terms of service.
    pub(super) agrees: bool,
    pub(super) external: Option<ExternalKey>,
    pub(super) profile: Option<String>,
    pub(super) pauses: Pauses,
}

//! How long things hold, and how much of them there may be.

use core::time::Duration;

/// Times and bounds of a server.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// How long there is for an order to be finalized: a week.
    pub order_lifetime: Duration,
    /// How long an authorization holds, after a challenge was met: 30 days. None is used for an order that lasts longer.
    pub authorization_lifetime: Duration,
    /// Whether later orders of an account use its valid authorizations.
    pub reuses_authorizations: bool,
    /// How long it is tried to find out whether a challenge is met: six hours. Then its authorization expires. The pauses between
    /// tries double.
    pub validation_time: Duration,
    /// How long after the end of its own time an order that was finalized may wait for its certificate: a day. Then it ends.
    pub issuing_time: Duration,
    /// How long work may take until somebody else takes it up: half a minute. What is done twice has one result.
    pub work_time: Duration,
    /// How long clients shall wait before they ask again: two seconds.
    pub poll_interval: Duration,
    /// The most identifiers of an order: 100.
    pub max_identifiers: usize,
    /// The most contacts of an account: 10.
    pub max_contacts: usize,
    /// The orders on a page of an account's list: 100.
    pub page_len: usize,
}

impl Default for Settings {
    fn default() -> Self {
        let days = |days: u64| Duration::from_secs(days * 24 * 3600);
        Self {
            order_lifetime: days(7),
            authorization_lifetime: days(30),
            reuses_authorizations: true,
            validation_time: Duration::from_secs(6 * 3600),
            issuing_time: days(1),
            work_time: Duration::from_secs(30),
            poll_interval: Duration::from_secs(2),
            max_identifiers: 100,
            max_contacts: 10,
            page_len: 100,
        }
    }
}

/// The longest text in a request that is kept: names, contacts, profiles.
pub(super) const MAX_TEXT: usize = 256;

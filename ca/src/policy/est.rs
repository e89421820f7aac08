//! What a policy says of EST.
//!
//! This room uses [`rules`](super::rules) and [`values`](super::values).

use super::rules::{Est, Rules};
use super::values::Profile;

/// What a policy says of EST (RFC 7030): the table `[est]` of its file.
#[derive(Clone, Copy, Debug)]
pub struct EstPolicy<'a> {
    rules: &'a Rules,
    est: &'a Est,
}

impl<'a> EstPolicy<'a> {
    pub(super) fn of(rules: &'a Rules) -> Option<Self> {
        let est = rules.est.as_ref()?;
        Some(Self { rules, est })
    }

    /// The profiles that devices may name, the default first.
    pub fn profiles(&self) -> Vec<Profile> {
        self.est.profiles(self.rules.usages.permitted())
    }

    /// Whether a request has to be bound to the connection that it comes by (RFC 7030, section 3.5).
    pub fn channel_binding_required(&self) -> bool {
        self.est.channel_binding_required()
    }
}

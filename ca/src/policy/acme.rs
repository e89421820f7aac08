//! What a policy says of ACME.
//!
//! This room uses [`rules`](super::rules) and [`values`](super::values).

use super::rules::Rules;
use super::values::{AcmeChallenge, AcmeLimits, PageUrl, Profile};

/// What a policy says of ACME: the table `[acme]` of its file.
#[derive(Clone, Copy, Debug)]
pub struct AcmePolicy<'a> {
    rules: &'a Rules,
    acme: &'a super::rules::Acme,
}

impl<'a> AcmePolicy<'a> {
    pub(super) fn of(rules: &'a Rules) -> Option<Self> {
        let acme = rules.acme.as_ref()?;
        Some(Self { rules, acme })
    }

    /// The profiles that clients may name, the default first.
    pub fn profiles(&self) -> Vec<Profile> {
        self.acme.profiles(self.rules.usages.permitted())
    }

    /// The challenges by which clients may show that a name is their own.
    pub fn challenges(&self) -> &'a [AcmeChallenge] {
        self.acme.challenges()
    }

    /// Whether a new account has to be bound to one that the operator made.
    pub fn external_account_required(&self) -> bool {
        self.acme.external_account_required()
    }

    /// The page with the terms to which accounts have to agree, if there are any.
    pub fn terms_of_service(&self) -> Option<&'a PageUrl> {
        self.acme.terms_of_service()
    }

    /// A page about the CA.
    pub fn website(&self) -> Option<&'a PageUrl> {
        self.acme.website()
    }
    /// How much clients may do.
    pub fn limits(&self) -> AcmeLimits {
        self.acme.limits()
    }
}

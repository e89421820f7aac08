//! The table `[acme]` of a policy: what clients may get by ACME, and how they show that the names are theirs.

use pq_x509::certificate::AlternativeName;
use serde::Deserialize;

use super::narrower::{Narrower, listed_profiles, refuse_responders};
use crate::policy::file::{List, Number, PolicyError, Setting, Source, table};
use crate::policy::forbidden::{Findings, Reason};
use crate::policy::values::{
    AcmeChallenge, AcmeLimits, NamePattern, Network, PageUrl, Profile, Rate, RateLimit,
};

/// What clients may get by ACME, within what the other tables permit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table",
    rename_all = "kebab-case"
)]
pub(crate) struct Acme {
    dns: Setting<List<NamePattern>>,
    ip: Setting<List<Network>>,
    profiles: Setting<List<Profile>>,
    challenges: Setting<List<AcmeChallenge>>,
    external_account_required: Setting<bool>,
    terms_of_service: Setting<PageUrl>,
    website: Setting<PageUrl>,
    #[serde(deserialize_with = "table")]
    limits: Limits,
}

/// How much clients may do: the table `[acme.limits]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table",
    rename_all = "kebab-case"
)]
struct Limits {
    accounts_per_address: Setting<RateLimit>,
    orders_per_address: Setting<RateLimit>,
    orders_per_account: Setting<RateLimit>,
    orders_per_domain: Setting<RateLimit>,
    orders_per_names: Setting<RateLimit>,
    failed_validations: Setting<RateLimit>,
    pending_orders: Setting<Number<1, 10_000>>,
    pending_authorizations: Setting<Number<1, 100_000>>,
}

impl Limits {
    /// The limits of the file, and those of a CA for an organization's own machines: they stop a client that runs wild, and
    /// keep what strangers leave behind small.
    fn or_usual(&self) -> AcmeLimits {
        let rate = |setting: &Setting<RateLimit>, usual: Option<Rate>| match setting.get() {
            Some(RateLimit(rate)) => *rate,
            None => usual,
        };
        let pending_orders = self.pending_orders.get().map_or(100, |most| most.get());
        let pending = self.pending_authorizations.get();
        let pending_authorizations = pending.map_or(1000, |most| most.get());
        AcmeLimits {
            accounts_per_address: rate(&self.accounts_per_address, Some(Rate::per_hours(50, 3))),
            orders_per_address: rate(&self.orders_per_address, Some(Rate::per_hours(3000, 3))),
            orders_per_account: rate(&self.orders_per_account, Some(Rate::per_hours(1000, 3))),
            orders_per_domain: rate(&self.orders_per_domain, None),
            orders_per_names: rate(&self.orders_per_names, Some(Rate::per_hours(50, 24))),
            failed_validations: rate(&self.failed_validations, Some(Rate::per_hours(10, 1))),
            pending_orders: u32::try_from(pending_orders).unwrap_or(u32::MAX),
            pending_authorizations: u32::try_from(pending_authorizations).unwrap_or(u32::MAX),
        }
    }
}

impl Acme {
    /// Checks that no setting hands out what stands for the CA itself.
    pub(crate) fn check_settings(&self, source: &Source) -> Result<(), PolicyError> {
        refuse_responders("acme.profiles", &self.profiles, source)
    }

    /// The names and the profile of an order, which the other tables permit. Returns the profile.
    pub(crate) fn check(
        &self,
        names: &[AlternativeName],
        asked: Option<Profile>,
        permitted: &[Profile],
        findings: &mut Findings,
    ) -> Option<Profile> {
        let narrower = Narrower {
            dns: &self.dns,
            ip: &self.ip,
            profiles: &self.profiles,
        };
        narrower.check_names(
            names,
            |name, permitted| Reason::AcmeName { name, permitted },
            |address, permitted| Reason::AcmeAddress { address, permitted },
            findings,
        );
        narrower.check_profile(
            asked,
            &self.profiles(permitted),
            |profile, permitted| Reason::AcmeProfile { profile, permitted },
            findings,
        )
    }

    /// The profiles that clients may name, the default first, of those that `usages.profiles` permits.
    pub(crate) fn profiles(&self, permitted: &[Profile]) -> Vec<Profile> {
        const USUAL: [Profile; 3] = [Profile::Server, Profile::Client, Profile::ServerAndClient];
        listed_profiles(&self.profiles, &USUAL, permitted)
    }

    /// The challenges that there are.
    pub(crate) fn challenges(&self) -> &[AcmeChallenge] {
        match self.challenges.get() {
            Some(_) => self.challenges.items(),
            None => &AcmeChallenge::ALL,
        }
    }

    pub(crate) fn external_account_required(&self) -> bool {
        let setting = self.external_account_required.get();
        setting.copied().unwrap_or(false)
    }

    pub(crate) fn terms_of_service(&self) -> Option<&PageUrl> {
        self.terms_of_service.get()
    }

    pub(crate) fn website(&self) -> Option<&PageUrl> {
        self.website.get()
    }

    pub(crate) fn limits(&self) -> AcmeLimits {
        self.limits.or_usual()
    }
}

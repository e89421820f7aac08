//! The table `[est]` of a policy: what devices may get by EST, and which names each user may have.

use alloc::collections::BTreeMap;

use pq_x509::certificate::AlternativeName;
use pq_x509::x509_cert::der::oid::db::rfc4519::COMMON_NAME;
use serde::Deserialize;
use toml::Spanned;

use super::narrower::{Narrower, includes_name, listed_profiles, refuse_responders};
use crate::policy::file::{List, PolicyError, Setting, Source};
use crate::policy::forbidden::{Findings, Reason};
use crate::policy::values::{NamePattern, Network, Profile, TextPattern};
use crate::policy::wanted::Wanted;

/// What devices may get by EST, within what the other tables permit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table",
    rename_all = "kebab-case"
)]
pub(crate) struct Est {
    dns: Setting<List<NamePattern>>,
    ip: Setting<List<Network>>,
    profiles: Setting<List<Profile>>,
    channel_binding_required: Setting<bool>,
    users: Option<BTreeMap<String, Spanned<User>>>,
}

/// The names that a user may have. What is not listed, the user may not have.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table",
    rename_all = "kebab-case"
)]
struct User {
    dns: Setting<List<NamePattern>>,
    ip: Setting<List<Network>>,
    common_name: Setting<List<TextPattern>>,
}

impl Est {
    /// Checks that no setting hands out what stands for the CA itself.
    pub(crate) fn check_settings(&self, source: &Source) -> Result<(), PolicyError> {
        refuse_responders("est.profiles", &self.profiles, source)
    }

    /// The names, the subject and the profile of a certificate, for a user or, without one, for whoever has a certificate
    /// with these names. Returns the profile.
    pub(crate) fn check(
        &self,
        wanted: &Wanted,
        user: Option<&str>,
        permitted: &[Profile],
        findings: &mut Findings,
    ) -> Option<Profile> {
        let narrower = Narrower {
            dns: &self.dns,
            ip: &self.ip,
            profiles: &self.profiles,
        };
        narrower.check_names(
            &wanted.names,
            |name, permitted| Reason::EstName { name, permitted },
            |address, permitted| Reason::EstAddress { address, permitted },
            findings,
        );
        if let (Some(user), Some(users)) = (user, &self.users) {
            match users.get(user) {
                Some(own) => own
                    .get_ref()
                    .check(wanted, user, own.span().start, findings),
                None => findings.add_always(Reason::EstUser { user: user.into() }),
            }
        }
        narrower.check_profile(
            wanted.profile,
            &self.profiles(permitted),
            |profile, permitted| Reason::EstProfile { profile, permitted },
            findings,
        )
    }

    /// The profiles that devices may name, the default first, of those that `usages.profiles` permits.
    pub(crate) fn profiles(&self, permitted: &[Profile]) -> Vec<Profile> {
        // A device shows its certificate to get the next one, which is what clients do.
        const USUAL: [Profile; 3] = [Profile::Client, Profile::ServerAndClient, Profile::Server];
        let mut listed = listed_profiles(&self.profiles, &USUAL, permitted);
        if self.profiles.get().is_none() {
            listed.sort_by_key(|profile| USUAL.iter().position(|one| one == profile));
        }
        listed
    }

    /// Whether a request has to be bound to the connection that it comes by.
    pub(crate) fn channel_binding_required(&self) -> bool {
        let setting = self.channel_binding_required.get();
        setting.copied().unwrap_or(false)
    }
}

impl User {
    fn check(&self, wanted: &Wanted, user: &str, offset: usize, findings: &mut Findings) {
        let mut refuse = |name: String| {
            let reason = Reason::EstUserName {
                user: user.into(),
                name,
            };
            findings.add(Some(offset), reason);
        };
        for name in &wanted.names {
            let includes = match name {
                AlternativeName::Dns(name) => includes_name(self.dns.items(), name),
                AlternativeName::Ip(address) => {
                    let mut networks = self.ip.items().iter();
                    networks.any(|network| network.includes(*address))
                }
                _ => false,
            };
            if !includes {
                refuse(name.to_string());
            }
        }
        for (oid, value) in wanted.attributes() {
            let Some(value) = value.filter(|_| oid == COMMON_NAME) else {
                continue;
            };
            let mut patterns = self.common_name.items().iter();
            let is_own = patterns.any(|pattern| pattern.includes(&value))
                || wanted.has_alternative_name(&value);
            if !is_own {
                refuse(value.into_owned());
            }
        }
    }
}

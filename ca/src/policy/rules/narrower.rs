//! What a table for clients of one protocol, such as `[acme]` and `[est]`, permits less than the tables for everybody.

use core::net::IpAddr;

use pq_x509::certificate::AlternativeName;

use crate::policy::file::{List, PolicyError, Setting, Source};
use crate::policy::forbidden::{Findings, Reason};
use crate::policy::values::{AskedName, NamePattern, Network, Profile};

/// The lists of such a table. One that is missing permits what the other tables do.
pub(super) struct Narrower<'a> {
    pub(super) dns: &'a Setting<List<NamePattern>>,
    pub(super) ip: &'a Setting<List<Network>>,
    pub(super) profiles: &'a Setting<List<Profile>>,
}

impl Narrower<'_> {
    /// The DNS names and addresses, with the reasons for those that are not permitted.
    pub(super) fn check_names(
        &self,
        names: &[AlternativeName],
        of_name: impl Fn(String, Vec<NamePattern>) -> Reason,
        of_address: impl Fn(IpAddr, Vec<Network>) -> Reason,
        findings: &mut Findings,
    ) {
        for name in names {
            match name {
                AlternativeName::Dns(name) if self.dns.get().is_some() => {
                    let patterns = self.dns.items();
                    if !includes_name(patterns, name) {
                        let reason = of_name(name.clone(), patterns.to_vec());
                        findings.add(self.dns.offset(), reason);
                    }
                }
                AlternativeName::Ip(address) if self.ip.get().is_some() => {
                    let networks = self.ip.items();
                    if !networks.iter().any(|network| network.includes(*address)) {
                        findings.add(self.ip.offset(), of_address(*address, networks.to_vec()));
                    }
                }
                _ => {}
            }
        }
    }

    /// The profile that was asked for, or the first of those that are offered.
    pub(super) fn check_profile(
        &self,
        asked: Option<Profile>,
        offered: &[Profile],
        of_profile: impl Fn(Profile, Vec<Profile>) -> Reason,
        findings: &mut Findings,
    ) -> Option<Profile> {
        let profile = asked.or_else(|| offered.first().copied());
        match profile {
            Some(profile) if offered.contains(&profile) => Some(profile),
            _ => {
                let reason = of_profile(profile.unwrap_or(Profile::Server), offered.to_vec());
                findings.add(self.profiles.offset(), reason);
                None
            }
        }
    }
}

/// Whether one of these includes a DNS name.
pub(super) fn includes_name(patterns: &[NamePattern], name: &str) -> bool {
    let asked = AskedName::read(name);
    let includes = |asked| patterns.iter().any(|one| one.includes(asked));
    asked.as_ref().is_some_and(includes)
}

/// The profiles that clients may name, the default first: those of the table's own list, or else the usual ones, as far as
/// `usages.profiles` permits them.
pub(super) fn listed_profiles(
    own: &Setting<List<Profile>>,
    usual: &[Profile],
    permitted: &[Profile],
) -> Vec<Profile> {
    let (in_order, others) = match own.get() {
        Some(_) => (own.items(), permitted),
        None => (permitted, usual),
    };
    let both = in_order.iter().filter(|one| others.contains(one));
    both.copied().collect()
}

/// Refuses a list that hands out what stands for the CA itself.
pub(super) fn refuse_responders(
    key: &str,
    profiles: &Setting<List<Profile>>,
    source: &Source,
) -> Result<(), PolicyError> {
    let lists_responders = profiles.items().contains(&Profile::OcspResponder);
    match profiles.offset() {
        Some(offset) if lists_responders => Err(PolicyError::new(
            source,
            offset,
            format_args!(
                "{key} has \"ocsp-responder\": such a certificate answers in place of the CA, and whoever has a name could get \
                 it; take it from the list"
            ),
        )),
        _ => Ok(()),
    }
}

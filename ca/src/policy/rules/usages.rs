//! The table `[usages]` of a policy: the permitted profiles. Also the rule that a certificate names somebody, and a
//! server's certificate a name that clients look for.

use serde::Deserialize;

use crate::policy::file::{List, Setting};
use crate::policy::forbidden::{Findings, Reason};
use crate::policy::values::Profile;
use crate::policy::wanted::Wanted;

/// What certificates may be for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Usages {
    profiles: Setting<List<Profile>>,
}

impl Usages {
    /// The certificate's profile: the one that was asked for, or the policy's first one.
    pub(crate) fn check(&self, wanted: &Wanted, findings: &mut Findings) -> Profile {
        let first = self.permitted().first().copied();
        let profile = wanted.profile.or(first).unwrap_or(Profile::Server);
        if !self.permitted().contains(&profile) {
            let reason = Reason::Profile {
                profile,
                permitted: self.permitted().to_vec(),
            };
            findings.add(self.profiles.offset(), reason);
        }
        if profile.is_for_servers() {
            if !wanted.has_name_of_server() {
                findings.add_always(Reason::ServerWithoutName(profile));
            }
        } else if wanted.names.is_empty() && wanted.attributes().is_empty() {
            findings.add_always(Reason::Nameless);
        }
        profile
    }

    /// The permitted profiles, the default first.
    pub(crate) fn permitted(&self) -> &[Profile] {
        self.profiles.items()
    }
}

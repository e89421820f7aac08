//! What can be asked for besides the key and what a request says.

use core::time::Duration;

use pq_x509::certificate::AlternativeName;

use crate::policy::{Profile, Wanted};

/// What a certificate should say. What is left out, the policy decides.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Names, which are added to those of a request.
    pub names: Vec<AlternativeName>,
    /// The subject's common name.
    pub common_name: Option<String>,
    /// What the certificate is for.
    pub profile: Option<Profile>,
    /// How long it is valid.
    pub validity: Option<Duration>,
}

impl Terms {
    /// Adds them to what is wanted, as in `order.with(|wanted| terms.apply(wanted))`.
    pub fn apply(&self, mut wanted: Wanted) -> Wanted {
        if let Some(profile) = self.profile {
            wanted = wanted.profile(profile);
        }
        if let Some(validity) = self.validity {
            wanted = wanted.validity(validity);
        }
        for name in &self.names {
            wanted = wanted.alternative_name(name.clone());
        }
        match &self.common_name {
            Some(name) => wanted.common_name(name),
            None => wanted,
        }
    }
}

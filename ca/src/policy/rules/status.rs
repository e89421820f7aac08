//! The tables `[revocation-lists]` and `[ocsp]` of a policy, which have the same settings.

use core::time::Duration;

use serde::Deserialize;

use crate::policy::file::{List, Setting};
use crate::policy::values::{ListUrl, Period};

/// The validity and the URLs of revocation lists or of OCSP responses.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Status {
    validity: Setting<Period>,
    urls: Setting<List<ListUrl>>,
}

impl Status {
    /// The validity in the file, or else this many days.
    pub(crate) fn validity_or(&self, days: u64) -> Duration {
        let validity = self.validity.get().copied();
        let Period(validity) = validity.unwrap_or_else(|| Period::days(days));
        validity
    }

    pub(crate) fn urls(&self) -> &[ListUrl] {
        self.urls.items()
    }
}

use core::time::Duration;

use serde::Deserialize;

use crate::policy::file::{List, Setting};
use crate::policy::values::{ListUrl, Period};

/// How long that is valid which says what was revoked, lists or OCSP responses, and where it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Status {
    validity: Setting<Period>,
    urls: Setting<List<ListUrl>>,
}

impl Status {
    /// What is said, or else so many days.
    pub(crate) fn validity_or(&self, days: u64) -> Duration {
        let validity = self.validity.get().copied();
        let Period(validity) = validity.unwrap_or_else(|| Period::days(days));
        validity
    }

    pub(crate) fn urls(&self) -> &[ListUrl] {
        self.urls.items()
    }
}

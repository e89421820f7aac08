use core::time::Duration;

use serde::Deserialize;

use crate::policy::file::{List, Setting};
use crate::policy::values::{ListUrl, Period};

/// How long revocation lists are valid, and where they are.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RevocationLists {
    validity: Setting<Period>,
    urls: Setting<List<ListUrl>>,
}

impl RevocationLists {
    pub(crate) fn validity(&self) -> Duration {
        let Period(validity) = self.validity.get().copied().unwrap_or(Period::days(7));
        validity
    }

    pub(crate) fn urls(&self) -> &[ListUrl] {
        self.urls.items()
    }
}

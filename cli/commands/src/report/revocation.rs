//! Whether revocation was checked, which a verdict on a chain has to say: "valid" alone would be read as "not revoked".

use serde::Serialize;

/// By what it was checked that no certificate is revoked.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Revocation {
    NotChecked,
    ByLists,
    /// Of the first certificate of a chain alone.
    ByOcsp,
    ByListsAndOcsp,
}

impl Revocation {
    /// By what was given.
    pub(crate) fn by(has_lists: bool, has_responses: bool) -> Self {
        match (has_lists, has_responses) {
            (false, false) => Self::NotChecked,
            (true, false) => Self::ByLists,
            (false, true) => Self::ByOcsp,
            (true, true) => Self::ByListsAndOcsp,
        }
    }

    /// A line of a report. `advice` says how to have it checked.
    pub(crate) fn line(self, advice: &str) -> String {
        match self {
            Self::NotChecked => format!("  revocation: not checked; {advice}"),
            Self::ByLists => {
                "  revocation: checked by lists, of all certificates below the root".into()
            }
            Self::ByOcsp => "  revocation: checked by OCSP, of the first certificate alone".into(),
            Self::ByListsAndOcsp => {
                "  revocation: checked by lists and OCSP, of all certificates below the root".into()
            }
        }
    }
}

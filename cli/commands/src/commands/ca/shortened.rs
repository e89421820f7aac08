//! Says so if certificates end earlier than the policy says because the CA's own does, which nobody asked for.

use pq_ca::authority::Authority;
use pq_ca::folder::Role;
use pq_ca::ledger::{Issued, Ledger};
use pq_keys::Signer;
use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;

use super::opened::CaFolder;
use super::place::Place;
use crate::failure::Failure;
use crate::report;
use crate::shell::with_options_of_ca;

/// When the CA's own certificates end.
pub(super) struct OwnEnd {
    issuing: UnixTime,
    root: UnixTime,
    options: String,
}

impl OwnEnd {
    pub(super) fn of<S: Signer, L: Ledger>(
        authority: &Authority<S, L>,
        folder: &CaFolder,
        place: &Place,
    ) -> Result<Self, Failure> {
        Ok(Self {
            issuing: authority.issuer().certificate().not_after(),
            root: folder.certificate(Role::Root)?.not_after(),
            options: place.options(),
        })
    }

    /// Whether a certificate whose validity nobody asked for is shortened: by itself it ends in another second.
    pub(super) fn shortens(&self, issued: &Issued) -> bool {
        issued.not_after == self.issuing
    }

    /// Warns of so many.
    pub(super) fn warn(&self, shortened: usize) {
        let which = match shortened {
            0 => return,
            1 => "the certificate is".into(),
            several => format!("{several} certificates are"),
        };
        let why = match self.issuing >= self.root {
            true => {
                "the CA's root ends then; make a new CA in time, in another folder, and give its root to all who trust this one"
            }
            false => {
                "the issuing certificate ends then; have a new key issue in time (\"pqtls ca rollover\")"
            }
        };
        let text = format!(
            "{which} shortened to {}, since {why}",
            rfc3339(self.issuing)
        );
        report::warn(with_options_of_ca(&text, &self.options));
    }
}

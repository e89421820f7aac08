//! After a compromise of a key, what becomes of the other certificates for it: they are revoked, too, or listed with
//! the commands that do it. The commands that revoke share it.

use core::fmt;
use core::ops::ControlFlow;

use pq_ca::authority::reason_name;
use pq_ca::ledger::{Entry, Filter, Issued, Ledger, Revocation, Revoked};
use pq_x509::pki_types::UnixTime;

use super::entry::EntryFacts;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::shell::quoted;

/// What to do with other certificates for the same keys.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct SameKeyOptions {
    /// After a compromise of a key, revoke all other certificates for it as well
    #[arg(long)]
    all_with_key: bool,
}

/// What there was for the keys of certificates that were revoked.
#[derive(Debug, Default)]
pub(super) struct SameKey {
    /// What was revoked, too.
    pub(super) revoked: Vec<Revoked>,
    /// What still is to be revoked.
    left: Vec<Entry>,
}

impl SameKeyOptions {
    /// The words of a command line with the same options.
    pub(super) fn words(self) -> Option<&'static str> {
        self.all_with_key.then_some("--all-with-key")
    }

    /// Refuses them for a revocation, if there is one, that says nothing of the key. `option` is the one that has its
    /// reason.
    pub(super) fn check(
        self,
        revocation: Option<&Revocation>,
        option: &'static str,
    ) -> Result<(), Failure> {
        match self.all_with_key && !revocation.is_some_and(Revocation::is_compromise) {
            true => Err(Failure::NotACompromise(option)),
            false => Ok(()),
        }
    }

    /// Finds the other certificates, and revokes them if it is to. The given ones have to be revoked already: from
    /// then on, no other certificate is issued for these keys.
    pub(super) fn apply<'a>(
        self,
        ledger: &impl Ledger,
        given: impl Iterator<Item = &'a Issued>,
        revocation: &Revocation,
    ) -> Result<SameKey, Failure> {
        if !revocation.is_compromise() {
            return Ok(SameKey::default());
        }
        let left = with_same_keys(ledger, given)?;
        if !self.all_with_key {
            return Ok(SameKey {
                revoked: Vec::new(),
                left,
            });
        }
        let numbers: Vec<_> = left
            .iter()
            .map(|entry| entry.issued.serial_number)
            .collect();
        Ok(SameKey {
            revoked: ledger.revoke_if(&numbers, revocation, &[])?,
            left: Vec::new(),
        })
    }
}

impl SameKey {
    /// What is left to be revoked.
    pub(super) fn left(&self, now: UnixTime) -> Vec<EntryFacts> {
        let left = self.left.iter();
        left.map(|entry| EntryFacts::of(entry, now)).collect()
    }

    pub(super) fn status(&self) -> ExitStatus {
        match self.left.is_empty() {
            true => ExitStatus::Done,
            false => ExitStatus::Refused,
        }
    }
}

/// The certificates that are not revoked, or on hold, for the keys of those that were revoked. Expired ones are among
/// them, since the clock may be ahead.
fn with_same_keys<'a>(
    ledger: &impl Ledger,
    revoked: impl Iterator<Item = &'a Issued>,
) -> Result<Vec<Entry>, Failure> {
    let filter = Filter::all().keys(revoked.flat_map(Issued::keys));
    let mut others = Vec::new();
    ledger.find(&filter, &mut |entry| {
        if entry.revocation().is_none_or(Revocation::is_hold) {
            others.push(entry);
        }
        ControlFlow::Continue(())
    })?;
    Ok(others)
}

/// Writes the commands that revoke what is left, for this reason.
pub(super) fn write_left(
    f: &mut fmt::Formatter<'_>,
    left: &[EntryFacts],
    reason: pq_x509::revocation::CrlReason,
) -> fmt::Result {
    if !left.is_empty() {
        writeln!(
            f,
            "Others may use these certificates for the same key; revoke them, too:"
        )?;
    }
    for other in left {
        // A line of its own, and quoted: not every shell that it is pasted into takes it for a comment.
        let (title, number) = (quoted(&other.title()), &other.serial_number);
        let reason = reason_name(reason);
        writeln!(
            f,
            "  # {title}\n  pqtls ca revoke {number} --reason {reason}"
        )?;
    }
    Ok(())
}

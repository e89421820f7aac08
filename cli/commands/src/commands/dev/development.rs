//! The report of `pqtls dev`: roots, certificates, instructions, and what became of each trust store. It tells whether
//! something is left to do by hand.

use core::fmt;

use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::instructions::Instructions;
use super::leaf::Leaf;
use super::roots::{Root, Roots};
use super::scope::Scope;
use super::stores::{Change, Kind, Outcome, State};
use super::twin::Twin;
use crate::report::{CertificateFacts, Report};

/// What was made, and who trusts it.
#[derive(Debug, Serialize)]
pub(super) struct Development {
    pub(super) roots: Vec<RootFacts>,
    pub(super) certificates: Vec<LeafFacts>,
    pub(super) instructions: Option<Instructions>,
    pub(super) change: Option<Change>,
    pub(super) dry_run: bool,
    /// The certificates' files that would be made, if this were not a dry run.
    pub(super) to_be_made: Vec<String>,
    /// The stores that were found, if they were to be changed.
    pub(super) stores: Vec<Outcome>,
}

impl Development {
    /// Whether the user still has to do something that this program was asked for.
    pub(super) fn is_something_left_to_do(&self) -> bool {
        let is_left = |outcome: &Outcome| outcome.state == State::Left;
        let nobody_trusts = self.change == Some(Change::Install) && self.stores.is_empty();
        !self.dry_run && (nobody_trusts || self.stores.iter().any(is_left))
    }
}

impl Report for Development {
    const SCHEMA: &'static str = "dev/1";
}

impl fmt::Display for Development {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut new = self.roots.iter().filter(|root| root.is_new);
        new.try_for_each(|root| writeln!(f, "{root}"))?;
        self.certificates
            .iter()
            .try_for_each(|leaf| writeln!(f, "{leaf}"))?;
        self.to_be_made
            .iter()
            .try_for_each(|file| writeln!(f, "{file}: to be made, with its key"))?;
        if let Some(instructions) = &self.instructions {
            write!(f, "{instructions}")?;
        }
        match self.change {
            Some(change) => self.write_stores(change, f),
            None => Ok(()),
        }
    }
}

impl Development {
    fn write_stores(&self, change: Change, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.certificates.is_empty() {
            writeln!(f)?;
        }
        if self.stores.is_empty() {
            return match change {
                Change::Install => writeln!(
                    f,
                    "no trust store was found, neither of the system nor of a browser; give clients the \
                     roots' files"
                ),
                Change::Uninstall => writeln!(f, "no trust store was found"),
            };
        }
        for outcome in &self.stores {
            write_outcome(outcome, change, f)?;
        }
        let is_changed =
            |outcome: &Outcome| matches!(outcome.state, State::Installed | State::Removed);
        match self.stores.iter().any(is_changed) {
            true => writeln!(f, "restart browsers that are open"),
            false => Ok(()),
        }
    }
}

fn write_outcome(outcome: &Outcome, change: Change, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let what = match (outcome.state, change) {
        (State::Installed, _) => "installed",
        (State::Removed, _) => "removed",
        (State::Unchanged, Change::Install) => "installed already",
        (State::Unchanged, Change::Uninstall) => "nothing to remove",
        (State::Left, Change::Install) => "to be installed",
        (State::Left, Change::Uninstall) => "to be removed",
    };
    let store = match outcome.store {
        Kind::System => "system store",
        Kind::Nss => "NSS database",
    };
    write!(f, "{store} {}: {what}", outcome.place)?;
    if outcome.state == State::Removed {
        writeln!(f)?;
        let mut roots = outcome.roots.iter();
        return roots.try_for_each(|root| writeln!(f, "  {root}"));
    }
    if outcome.state != State::Left {
        return writeln!(f);
    }
    if outcome.commands.is_empty() {
        return writeln!(f);
    }
    match &outcome.why {
        Some(why) => writeln!(f, " by hand, as {why}:")?,
        None => writeln!(f, ":")?,
    }
    outcome
        .commands
        .iter()
        .try_for_each(|command| writeln!(f, "  {command}"))
}

/// A root, and what it is for.
#[derive(Debug, Serialize)]
pub(super) struct RootFacts {
    kind: Twin,
    label: String,
    file: String,
    scope: Scope,
    is_new: bool,
    certificate: CertificateFacts,
}

impl RootFacts {
    pub(super) fn of(roots: &Roots) -> impl Iterator<Item = Self> {
        let of_one = |root: &Root| Self {
            kind: root.twin,
            label: root.label(),
            file: root.file.display().to_string(),
            scope: roots.scope,
            is_new: roots.are_new,
            certificate: CertificateFacts::of(&root.certificate, UnixTime::now()),
        };
        roots.twins.iter().map(of_one)
    }
}

impl fmt::Display for RootFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.scope.names();
        let (algorithm, until) = (&self.certificate.key_algorithm, &self.certificate.not_after);
        let file = &self.file;
        write!(
            f,
            "{file}: a new root for {names}, {algorithm}, until {until}"
        )
    }
}

/// A server's certificate.
#[derive(Debug, Serialize)]
pub(super) struct LeafFacts {
    kind: Twin,
    file: String,
    key_file: String,
    is_renewed: bool,
    certificate: CertificateFacts,
}

impl LeafFacts {
    pub(super) fn of(leaf: &Leaf) -> Self {
        Self {
            kind: leaf.twin,
            file: leaf.file.display().to_string(),
            key_file: leaf.key_file.display().to_string(),
            is_renewed: leaf.is_renewed,
            certificate: CertificateFacts::of(&leaf.certificate, UnixTime::now()),
        }
    }
}

impl fmt::Display for LeafFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, key_file) = (&self.file, &self.key_file);
        let (algorithm, until) = (&self.certificate.key_algorithm, &self.certificate.not_after);
        let renewed = if self.is_renewed { "renewed, " } else { "" };
        write!(f, "{file}, {key_file}: {renewed}{algorithm}, until {until}")
    }
}

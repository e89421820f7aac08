//! Where programs of this machine look for roots, and how to put a root there or remove it.
//!
//! It uses roots and the shell's words.

mod action;
mod java;
mod nss;
mod program;
mod system;

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use self::action::{Action, Obstacle};
use super::roots::Root;

/// What to do with roots.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Change {
    Install,
    Uninstall,
}

/// A place in which programs look for roots.
trait Store {
    fn kind(&self) -> Kind;

    /// Its folder, or else its name.
    fn place(&self) -> String;

    /// Whether roots of this kind are of use there.
    fn takes(&self, root: &Root) -> bool;

    /// Whether the root is there, if that can be told.
    fn has(&self, root: &Root) -> Option<bool>;

    /// The actions that change it for these roots, in order.
    fn actions(&self, change: Change, roots: &[&Root]) -> Vec<Action>;

    /// Whether only the system's administrator may change it.
    fn is_for_root(&self) -> bool;

    /// Why this program can't change it, if that is known beforehand.
    fn obstacle(&self) -> Option<Obstacle>;
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    System,
    Nss,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    Installed,
    Removed,
    Unchanged,
    /// Nothing was done.
    Left,
}

/// What became of a store.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) store: Kind,
    pub(super) place: String,
    pub(super) state: State,
    /// The labels of the roots that were, or are to be, installed or removed.
    pub(super) roots: Vec<String>,
    /// The shell commands for this.
    pub(super) commands: Vec<String>,
    /// Why nothing was done, unless --dry-run asked for that.
    pub(super) why: Option<String>,
}

/// Changes all stores that there are, or says what it would do.
pub(super) fn change_all(change: Change, roots: &[Root], dry_run: bool) -> Vec<Outcome> {
    let stores = system::find().into_iter().chain(nss::find());
    stores
        .map(|store| change_one(&*store, change, roots, dry_run))
        .collect()
}

fn change_one(store: &dyn Store, change: Change, roots: &[Root], dry_run: bool) -> Outcome {
    let wanted = change == Change::Install;
    let is_to_change = |root: &&Root| store.takes(root) && store.has(root) != Some(wanted);
    let roots: Vec<&Root> = roots.iter().filter(is_to_change).collect();
    let actions = match roots.is_empty() {
        true => Vec::new(),
        false => store.actions(change, &roots),
    };
    let (state, why) = match (dry_run, store.obstacle()) {
        _ if actions.is_empty() => (State::Unchanged, None),
        (true, _) => (State::Left, None),
        (false, Some(obstacle)) => (State::Left, Some(obstacle)),
        (false, None) => match (perform(&actions), change) {
            (Ok(()), Change::Install) => (State::Installed, None),
            (Ok(()), Change::Uninstall) => (State::Removed, None),
            (Err(obstacle), _) => (State::Left, Some(obstacle)),
        },
    };
    let sudo = if store.is_for_root() { "sudo " } else { "" };
    Outcome {
        store: store.kind(),
        place: store.place(),
        state,
        roots: roots.iter().map(|root| root.label()).collect(),
        commands: actions.iter().map(|one| format!("{sudo}{one}")).collect(),
        why: why.map(|obstacle| obstacle.to_string()),
    }
}

/// Performs all actions, or undoes those that were performed.
fn perform(actions: &[Action]) -> Result<(), Obstacle> {
    for (done, action) in actions.iter().enumerate() {
        announce(action);
        if let Err(obstacle) = action.perform() {
            actions[..done].iter().rev().for_each(Action::take_back);
            return Err(obstacle);
        }
    }
    Ok(())
}

/// Shows a user at a terminal what is done, and so what asks for a password if anything does.
fn announce(action: &Action) {
    if io::stderr().is_terminal() {
        let _ = writeln!(io::stderr(), "{action}");
    }
}

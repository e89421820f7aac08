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

    /// The actions that put these roots there, in order.
    fn install(&self, roots: &[&Root]) -> Vec<Action>;

    /// How to remove all roots of this program that are there, whatever folder they were kept in. `known` are those that
    /// are still in the data folder: a store that can't be looked into may have no others.
    fn removal(&self, known: &[Root]) -> Changes;

    /// Whether only the system's administrator may change it.
    fn is_for_root(&self) -> bool;

    /// Why this program can't change it, if that is known beforehand.
    fn obstacle(&self) -> Option<Obstacle>;
}

/// What is to be changed in a store.
#[derive(Debug, Default)]
struct Changes {
    /// Of the roots.
    labels: Vec<String>,
    actions: Vec<Action>,
    /// Why this program could not look into the store, if it could not.
    obstacle: Option<Obstacle>,
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

/// The stores that there are, into which roots would be installed that are not made yet. No command can be told, since
/// it would name them.
pub(super) fn all_without_roots() -> Vec<Outcome> {
    let outcome = |store: Box<dyn Store>| Outcome {
        store: store.kind(),
        place: store.place(),
        state: State::Left,
        roots: Vec::new(),
        commands: Vec::new(),
        why: None,
    };
    all().map(outcome).collect()
}

/// Puts roots into all stores that there are, or says what it would do.
pub(super) fn install_all(roots: &[Root], dry_run: bool) -> Vec<Outcome> {
    let install = |store: Box<dyn Store>| {
        let is_missing = |root: &&Root| store.takes(root) && store.has(root) != Some(true);
        let roots: Vec<&Root> = roots.iter().filter(is_missing).collect();
        let actions = match roots.is_empty() {
            true => Vec::new(),
            false => store.install(&roots),
        };
        let wanted = Changes {
            labels: roots.iter().map(|root| root.label()).collect(),
            actions,
            obstacle: None,
        };
        change(&*store, State::Installed, wanted, dry_run)
    };
    all().map(install).collect()
}

/// Removes the roots of this program from all stores that there are, or says what it would do.
pub(super) fn uninstall_all(known: &[Root], dry_run: bool) -> Vec<Outcome> {
    let uninstall = |store: Box<dyn Store>| {
        let removal = store.removal(known);
        change(&*store, State::Removed, removal, dry_run)
    };
    all().map(uninstall).collect()
}

fn all() -> impl Iterator<Item = Box<dyn Store>> {
    system::find().into_iter().chain(nss::find())
}

/// Changes a store, so that the roots are installed or removed.
fn change(store: &dyn Store, done: State, wanted: Changes, dry_run: bool) -> Outcome {
    let Changes {
        labels,
        actions,
        obstacle,
    } = wanted;
    let (state, why) = match (dry_run, obstacle.or_else(|| store.obstacle())) {
        _ if actions.is_empty() => (State::Unchanged, None),
        (true, _) => (State::Left, None),
        (false, Some(obstacle)) => (State::Left, Some(obstacle)),
        (false, None) => match perform(&actions) {
            Ok(()) => (done, None),
            Err(obstacle) => (State::Left, Some(obstacle)),
        },
    };
    let sudo = if store.is_for_root() { "sudo " } else { "" };
    Outcome {
        store: store.kind(),
        place: store.place(),
        state,
        roots: labels,
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
            // The program that failed may have made something before.
            actions[..=done].iter().for_each(Action::make_anew);
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

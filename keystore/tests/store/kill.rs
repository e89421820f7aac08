//! Processes that are killed at any moment: what they had acknowledged is there, and nothing half-made.

use alloc::sync::Arc;
use core::time::Duration;
use std::env;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use pq_keystore::audit::SignedHead;
use pq_keystore::policy::{Input, UseAudit, Verb};
#[cfg(feature = "redb")]
use pq_keystore::storage::RedbStorage;
use pq_keystore::storage::Storage;
use pq_keystore::{Store, StoreError, StoreOptions, Version, VersionState};

use crate::amounts::amount;
use crate::kit::{admin, kek, name, named, user, user_policy};
#[cfg(feature = "redb")]
use crate::places::{Place, Redb};

/// What tells the child which file it is to change.
#[cfg(feature = "redb")]
const FILE: &str = "PQ_KEYSTORE_KILL_FILE";
/// What tells it which database it is to change.
#[cfg(feature = "postgres")]
pub(crate) const DATABASE: &str = "PQ_KEYSTORE_KILL_DATABASE";

/// How many versions of the key are kept.
const KEPT: u32 = 8;

/// How many children are killed: `PQ_KEYSTORE_KILLS`, 20 by default.
pub(crate) fn kills() -> u64 {
    amount("PQ_KEYSTORE_KILLS", 20)
}

pub(crate) fn open(storage: Arc<dyn Storage>) -> Store {
    Store::open(storage, &kek(b"secret"), StoreOptions::default()).unwrap()
}

#[cfg(feature = "redb")]
fn open_file(path: &std::path::Path) -> Store {
    open(Arc::new(RedbStorage::open(path).unwrap()))
}

/// The store that children change.
pub(crate) fn create(storage: Arc<dyn Storage>) -> Store {
    let store = Store::create(storage, &kek(b"secret"), &admin(), StoreOptions::default()).unwrap();
    let mut policy = user_policy();
    policy.audit = UseAudit::Each;
    store
        .create_key(&admin(), &name("k"), named("ML-DSA-44"), &policy)
        .unwrap();
    store
}

/// Does something until it is done, however often the storage goes away; `None` if it was found done already, by a try
/// before whose outcome was unknown.
fn done<T>(act: impl Fn() -> Result<T, StoreError>) -> Option<T> {
    let mut is_repeated = false;
    loop {
        match act() {
            Ok(value) => return Some(value),
            Err(error) if error.retry() || matches!(error, StoreError::OutcomeUnknown(_)) => {
                is_repeated = true;
                thread::sleep(Duration::from_millis(10));
            }
            Err(StoreError::State { .. }) if is_repeated => return None,
            Err(error) => panic!("{error}"),
        }
    }
}

/// The store that the child is to change.
fn opened() -> Option<Store> {
    #[cfg(feature = "redb")]
    if let Some(path) = env::var_os(FILE) {
        return Some(open_file(path.as_ref()));
    }
    #[cfg(feature = "postgres")]
    if let Ok(address) = env::var(DATABASE) {
        return Some(open(crate::postgres::at(&address)));
    }
    None
}

/// The child: rotates, signs with an entry for each signature, disables, enables and trims, and says what it has done. It
/// is no test of its own: without a file's or a database's name, nothing is to be done.
#[test]
#[ignore = "what nothing_acknowledged_is_lost kills"]
fn a_child_that_is_killed() {
    let Some(store) = opened() else {
        return;
    };
    let key = name("k");
    let mut out = std::io::stdout().lock();
    let mut say = |what: &str, version: Version| {
        writeln!(out, "@ {what} {version}").unwrap();
        out.flush().unwrap();
    };
    loop {
        // A rotation whose outcome is unknown may have been made, and then there are two.
        let id = done(|| store.rotate(&admin(), &key)).unwrap();
        say("rotated", id.version());
        let signed = done(|| store.sign(&user(), &key, Input::message(b"message"))).unwrap();
        say("signed", signed.id.version());
        done(|| store.disable(&admin(), &id));
        say("disabled", id.version());
        done(|| store.enable(&admin(), &id));
        say("enabled", id.version());
        let Some(before) = Version::new(id.version().get().saturating_sub(KEPT)) else {
            continue;
        };
        let mut policy = done(|| store.show(&admin(), &key)).unwrap().policy;
        policy.min_version = before;
        done(|| store.set_policy(&admin(), &key, &policy));
        done(|| store.trim(&admin(), &key, before));
        say("trimmed", before);
    }
}

/// A child that changes a store, and what it says.
pub(crate) struct Victim {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    pub(crate) acknowledged: Vec<String>,
}

impl Victim {
    /// Starts it, and waits until it has done something.
    pub(crate) fn start(variable: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args([
                "--exact",
                "kill::a_child_that_is_killed",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(variable, value)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut victim = Self {
            child,
            lines,
            acknowledged: Vec::new(),
        };
        victim.wait_for(|_| true);
        victim
    }

    /// Waits until it says this.
    pub(crate) fn wait_for(&mut self, is_it: impl Fn(&str) -> bool) {
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            if let Some((_, said)) = line.split_once("@ ") {
                self.acknowledged.push(said.into());
                if is_it(said) {
                    return;
                }
            }
        }
        panic!("the child ended after {:?}", self.acknowledged.last());
    }

    /// Kills it, and returns all that it had said.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let mut rest = Vec::new();
        rest.extend(self.lines.by_ref().map_while(Result::ok));
        self.child.wait().unwrap();
        // A line that was cut off was not acknowledged.
        let is_whole = |said: &&str| {
            said.split_once(' ')
                .is_some_and(|(_, number)| !number.is_empty())
        };
        let said = rest.iter().filter_map(|line| line.split_once("@ "));
        let said = said.map(|(_, said)| said).filter(is_whole);
        self.acknowledged.extend(said.map(str::to_owned));
        core::mem::take(&mut self.acknowledged)
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is known of the store after each child.
#[derive(Default)]
pub(crate) struct History {
    newest: u32,
    signatures: u64,
    logged: u64,
    /// The last entry of the log that was counted.
    read: u64,
    head: Option<SignedHead>,
}

impl History {
    /// Checks the store after a child has said this: all of it, and nothing half-made.
    pub(crate) fn check(&mut self, store: &Store, acknowledged: &[String]) {
        let key = name("k");
        let number =
            |said: &String, what: &str| -> Option<u32> { said.strip_prefix(what)?.parse().ok() };
        let last = |what: &str| {
            acknowledged
                .iter()
                .rev()
                .find_map(|said| number(said, what))
        };
        let details = store.show(&admin(), &key).unwrap();
        let versions: Vec<u32> = (details.versions.iter())
            .map(|version| version.version.get())
            .collect();
        let (first, newest) = (versions[0], versions[versions.len() - 1]);
        assert!(versions.iter().copied().eq(first..=newest), "{versions:?}");
        let rotated = last("rotated ").unwrap_or(self.newest);
        assert!(
            newest >= rotated && newest >= self.newest,
            "version {rotated} was lost: {newest}"
        );
        self.newest = newest;
        assert!(first >= last("trimmed ").unwrap_or(1));
        // What was said last holds, unless the next step was made, too.
        if let Some(said) = acknowledged.last() {
            let state = |number: u32| {
                let mut of = details.versions.iter();
                of.find(|version| version.version.get() == number)
                    .unwrap()
                    .state
            };
            if let Some(number) = number(said, "enabled ") {
                assert_eq!(state(number), VersionState::Enabled);
            }
            if let Some(number) = number(said, "disabled ") {
                assert!([VersionState::Disabled, VersionState::Enabled].contains(&state(number)));
            }
        }
        let kept: Vec<SignedHead> = self.head.take().into_iter().collect();
        let report = store.check(&admin(), &kept).unwrap();
        assert!(report.damaged.is_empty(), "{:?}", report.damaged);
        assert_eq!(report.versions, versions.len());
        self.head = Some(store.signed_head(&admin()).unwrap());
        let signed = acknowledged
            .iter()
            .filter(|said| said.starts_with("signed "));
        self.signatures += signed.count() as u64;
        loop {
            let entries = store.audit_log(&admin(), self.read + 1, 1000).unwrap();
            let Some(last) = entries.last() else {
                break;
            };
            self.read = last.sequence;
            let of = entries.iter().filter(|entry| entry.verb == Verb::Sign);
            self.logged += of.map(|entry| entry.count).sum::<u64>();
        }
        let (signatures, logged) = (self.signatures, self.logged);
        assert!(
            logged >= signatures,
            "{signatures} signatures, {logged} of them in the log"
        );
    }

    /// How far it got.
    pub(crate) fn report(&self, kills: u64) {
        println!(
            "{kills} kills: {} versions, {} signatures acknowledged, {} entries in the log",
            self.newest, self.signatures, self.read
        );
    }
}

/// How long the child numbered this is left alone after it has begun: another time each.
pub(crate) fn pause(number: u64) {
    thread::sleep(Duration::from_micros(number * 7919 % 100_000));
}

#[cfg(feature = "redb")]
#[test]
fn nothing_acknowledged_is_lost() {
    let place = Redb::new();
    drop(create(place.open()));
    let mut history = History::default();
    for number in 0..kills() {
        let victim = Victim::start(FILE, place.path());
        pause(number);
        let acknowledged = victim.kill();
        let store = open_file(&place.path());
        history.check(&store, &acknowledged);
        store
            .sign_by(
                &user(),
                &name("k").at(Version::new(history.newest).unwrap()),
                Input::message(b"message"),
            )
            .or_else(|error| match error {
                // It was killed before it enabled the version again.
                StoreError::State { .. } => {
                    store.sign(&user(), &name("k"), Input::message(b"message"))
                }
                error => Err(error),
            })
            .unwrap();
        history.signatures += 1;
    }
    history.report(kills());
}

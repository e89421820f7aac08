//! What a CA above certified, and the CA below could not record any more, is completed by the same call again.

use core::ops::ControlFlow;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::fs;
use std::io;
use std::path::Path;

use pq_ca::authority::Authority;
use pq_ca::folder::{
    Folder, FolderError, Interruption, LedgerPlace, NewName, Role, SubordinatePlan, Successor,
};
use pq_ca::ledger::{
    AdoptedEntry, Condition, Entry, Filter, Generation, KeyHash, Ledger, LedgerError, LocalLedger,
    NewEntry, Revocation, Revoked, SerialNumber,
};
use pq_ca::policy::Policy;
use pq_x509::issuing::Issuer;
use pq_x509::keys::SigningKey;
use pq_x509::pki_types::{CertificateDer, UnixTime};

use crate::forwarded::forwarded;
use crate::subordinate::{
    authority, create_below, issue, key, now, policy, root_with, subordinate, validate,
};

/// When the disk of a ledger is full.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fails {
    /// Before anything is changed.
    Before,
    /// When all is changed, and the last sync fails, as if the process was killed then.
    After,
}

/// A ledger that fails once.
pub(crate) struct Failing {
    ledger: LocalLedger,
    fails: Fails,
    has_failed: AtomicBool,
}

impl Failing {
    fn of(folder: &Path, fails: Fails) -> Self {
        Self {
            ledger: LocalLedger::open(folder.join("ledger")).unwrap(),
            fails,
            has_failed: AtomicBool::new(false),
        }
    }

    fn change(
        &self,
        change: impl FnOnce(&LocalLedger) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        if self.has_failed.swap(true, Ordering::Relaxed) {
            return change(&self.ledger);
        }
        if self.fails == Fails::After {
            change(&self.ledger)?;
        }
        Err(LedgerError::Io {
            doing: "sync",
            path: "head".into(),
            cause: io::ErrorKind::StorageFull.into(),
        })
    }
}

impl Ledger for Failing {
    fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, LedgerError> {
        self.ledger.certificate(number)
    }

    fn record_if(
        &self,
        entries: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), LedgerError> {
        self.change(|ledger| ledger.record_if(entries, conditions))
    }

    fn change_generations(
        &self,
        before: &[Generation],
        after: &[Generation],
        entries: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), LedgerError> {
        self.change(|ledger| ledger.change_generations(before, after, entries, conditions))
    }

    forwarded!(ledger,);
}

pub(crate) fn failing_root(root: &Folder, fails: Fails) -> Authority<SigningKey, Failing> {
    root_with_ledger(root, Failing::of(root.path(), fails))
}

/// The root, with another ledger in the place of the folder's.
pub(crate) fn root_with_ledger<L: Ledger>(root: &Folder, ledger: L) -> Authority<SigningKey, L> {
    let text = fs::read(root.key_path(Role::Root)).unwrap();
    let key = SigningKey::from_pkcs8_pem(&text).unwrap();
    let issuer = Issuer::new(root.certificate(Role::Root).unwrap(), key).unwrap();
    let policy = Policy::parse(&policy(), "policy.toml").unwrap();
    Authority::new("root", issuer, policy, ledger)
}

pub(crate) fn successor(name: NewName) -> Successor<SigningKey> {
    Successor {
        key: key(),
        name,
        validity: None,
        is_for_later: false,
    }
}

/// How many certificates of other CAs the ledger above has.
pub(crate) fn certified(root: &Folder) -> usize {
    let mut count = 0;
    let mut show = |entry: Entry| {
        count += usize::from(entry.issued.profile == "other-ca");
        ControlFlow::Continue(())
    };
    root.ledger()
        .unwrap()
        .find(&Filter::all(), &mut show)
        .unwrap();
    count
}

fn names(folder: &Folder) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

const AFTER_ROLLOVER: [&str; 7] = [
    "issuing-2.key",
    "issuing-2.pem",
    "issuing.key",
    "issuing.pem",
    "ledger",
    "policy.toml",
    "root.pem",
];

#[test]
fn a_rollover_that_the_ledger_above_stopped_is_completed() {
    for (fails, name) in [
        (Fails::Before, NewName::Numbered),
        (Fails::After, NewName::Numbered),
        (Fails::Before, NewName::Given("Next".into())),
        (Fails::After, NewName::Given("Next".into())),
        (Fails::After, NewName::Same),
    ] {
        let (_above, root) = root_with(true);
        let folder = create_below(&root, &subordinate(&["example.org"])).unwrap();
        let above = failing_root(&root, fails);
        let failed = folder.rollover_below(&above, &[], &successor(name.clone()), "tests", now());
        failed.unwrap_err();
        assert_eq!(folder.issuing_role().unwrap(), Role::Issuing);
        assert_eq!(folder.waiting().unwrap().len(), 1);
        let kept = fs::read(folder.key_path(Role::Next(2))).unwrap();

        let above = authority(&root, Role::Root);
        let again = successor(name.clone());
        let role = folder.rollover_below(&above, &[], &again, "tests", now());
        assert_eq!(role.unwrap(), Role::Next(2), "{fails:?} {name:?}");
        assert_eq!(folder.issuing_role().unwrap(), Role::Next(2));
        assert_eq!(fs::read(folder.key_path(Role::Next(2))).unwrap(), kept);
        assert_eq!(names(&folder), AFTER_ROLLOVER);
        // The CA's first key, and this one.
        assert_eq!(certified(&root), 2, "{fails:?} {name:?}");
        validate(
            &folder,
            &root.certificate(Role::Root).unwrap(),
            "www.example.org",
        );

        // What is done is not done again: the next one has a key of its own.
        let next = successor(NewName::Numbered);
        let role = folder.rollover_below(&above, &[], &next, "tests", now());
        assert_eq!(role.unwrap(), Role::Next(3));
    }
}

#[test]
fn a_rollover_that_the_ledger_below_stopped_is_completed_or_done() {
    for fails in [Fails::Before, Fails::After] {
        let (_above, root) = root_with(true);
        let folder = create_below(&root, &subordinate(&["example.org"])).unwrap();
        let path = folder.path().to_owned();
        let full = Folder::open(&path)
            .unwrap()
            .with_ledger(LedgerPlace::new(path.join("ledger"), move || {
                Ok(Failing::of(&path, fails))
            }));
        let above = authority(&root, Role::Root);
        let first = successor(NewName::Numbered);
        let failed = full.rollover_below(&above, &[], &first, "tests", now());
        let failed = failed.unwrap_err();
        let text = failed.to_string();
        match failed {
            FolderError::CertifiedAbove { name, .. } if fails == Fails::Before => {
                assert_eq!(name, "issuing-2");
                assert!(
                    text.contains("the same command goes on with that key"),
                    "{text}"
                );
                let again = successor(NewName::Numbered);
                let role = folder.rollover_below(&above, &[], &again, "tests", now());
                assert_eq!(role.unwrap(), Role::Next(2));
                assert_eq!(names(&folder), AFTER_ROLLOVER);
            }
            FolderError::NotSure { is_done: true, .. } if fails == Fails::After => {
                assert!(text.contains("don't repeat the command"), "{text}");
                assert!(!text.contains("try again"), "{text}");
                // Whoever repeats it nevertheless completes the files.
                let again = successor(NewName::Numbered);
                let role = folder.rollover_below(&above, &[], &again, "tests", now());
                assert_eq!(role.unwrap(), Role::Next(2));
                assert_eq!(names(&folder), AFTER_ROLLOVER);
            }
            other => panic!("{fails:?}: {other}"),
        }
        assert_eq!(certified(&root), 2);
        validate(
            &folder,
            &root.certificate(Role::Root).unwrap(),
            "www.example.org",
        );
    }
}

/// A key that waits is no other one's: of another name, or of another algorithm.
#[test]
fn another_successor_gets_another_key() {
    let (_above, root) = root_with(true);
    let folder = create_below(&root, &subordinate(&[])).unwrap();
    let given = |name: &str| successor(NewName::Given(name.into()));
    let above = failing_root(&root, Fails::After);
    let failed = folder.rollover_below(&above, &[], &given("Second"), "tests", now());
    failed.unwrap_err();
    let above = authority(&root, Role::Root);
    let larger = Successor {
        key: SigningKey::generate(pq_x509::keys::SignatureAlgorithm::MlDsa65).unwrap(),
        ..given("Second")
    };
    let taken = folder.rollover_below(&above, &[], &larger, "tests", now());
    let waits = matches!(taken, Err(FolderError::NameWaits { .. }));
    assert!(waits, "{taken:?}");
    let other = folder.rollover_below(&above, &[], &given("Third"), "tests", now());
    assert_eq!(other.unwrap(), Role::Next(3));
    let first = folder.rollover_below(&above, &[], &given("Second"), "tests", now());
    assert_eq!(first.unwrap(), Role::Next(2));
}

#[test]
fn a_new_ca_that_the_ledger_above_stopped_is_completed() {
    for fails in [Fails::Before, Fails::After] {
        let (_above, root) = root_with(true);
        let trusted = root.certificate(Role::Root).unwrap();
        let path = root.path().with_file_name("below");
        let make = |plan: &SubordinatePlan<SigningKey>, fails| {
            let above = failing_root(&root, fails);
            let stop = Interruption::default();
            Folder::create_below(&path, plan, &above, (&[], &trusted), "tests", now(), &stop)
        };
        make(&subordinate(&["example.org"]), fails).unwrap_err();
        let pending = Folder::open(&path);
        assert!(
            matches!(pending, Err(FolderError::Pending(_))),
            "{pending:?}"
        );
        let kept = fs::read(path.join("issuing.key")).unwrap();
        // Another CA than the one that was begun is none of it.
        let named = SubordinatePlan {
            name: "Other".into(),
            ..subordinate(&["example.org"])
        };
        for other in [named, subordinate(&["example.net"])] {
            let other = create_below(&root, &other);
            assert!(
                matches!(other, Err(FolderError::OtherPending(_))),
                "{other:?}"
            );
        }
        let folder = create_below(&root, &subordinate(&["example.org"])).unwrap();
        assert_eq!(fs::read(path.join("issuing.key")).unwrap(), kept);
        assert_eq!(
            names(&folder),
            [
                "issuing.key",
                "issuing.pem",
                "ledger",
                "policy.toml",
                "root.pem"
            ]
        );
        assert_eq!(certified(&root), 1);
        validate(&folder, &trusted, "www.example.org");
        issue(&folder, "www.example.net").unwrap_err();
        assert!(folder.is_below_another().unwrap());
        let again = create_below(&root, &subordinate(&["example.org"]));
        again.unwrap_err();
    }
}

/// Each step as the last one, as a kill leaves it.
#[test]
fn a_new_ca_without_its_last_files_is_completed() {
    for removed in [&["root.pem"][..], &["root.pem", "issuing.pem"]] {
        let (_above, root) = root_with(true);
        let path = root.path().with_file_name("below");
        let trusted = root.certificate(Role::Root).unwrap();
        let above = failing_root(&root, Fails::After);
        let (plan, stop) = (subordinate(&[]), Interruption::default());
        let made =
            Folder::create_below(&path, &plan, &above, (&[], &trusted), "tests", now(), &stop);
        made.unwrap_err();
        let request = fs::read(path.join("issuing.csr")).unwrap();
        create_below(&root, &subordinate(&[])).unwrap();
        fs::write(path.join("issuing.csr"), request).unwrap();
        for file in removed {
            fs::remove_file(path.join(file)).unwrap();
        }
        let folder = create_below(&root, &subordinate(&[])).unwrap();
        assert_eq!(certified(&root), 1);
        validate(&folder, &trusted, "www.example.org");
    }
}

/// The root is in the same folder, and one ledger has it all: what comes after its record doesn't undo it.
#[test]
fn a_rollover_whose_last_sync_failed_is_said_to_be_done() {
    for fails in [Fails::Before, Fails::After] {
        let (_above, folder) = root_with(true);
        let path = folder.path().to_owned();
        let place = LedgerPlace::new(path.join("ledger"), move || Ok(Failing::of(&path, fails)));
        let full = Folder::open(folder.path()).unwrap().with_ledger(place);
        let root = full.authority::<SigningKey>(Role::Root).unwrap();
        let failed = full.rollover(&root, &successor(NewName::Numbered), "tests", now());
        let failed = failed.unwrap_err();
        let text = failed.to_string();
        match failed {
            FolderError::Authority(_) if fails == Fails::Before => {
                assert!(text.ends_with("try again"), "{text}");
                assert_eq!(folder.issuing_role().unwrap(), Role::Issuing);
            }
            FolderError::NotSure { is_done: true, .. } if fails == Fails::After => {
                let words = "the ledger has the new key \"issuing-2\" with its certificate, so don't repeat the command";
                assert!(
                    text.contains(words) && !text.contains("try again"),
                    "{text}"
                );
                assert_eq!(folder.issuing_role().unwrap(), Role::Next(2));
                issue(&folder, "www.example.org").unwrap();
            }
            other => panic!("{fails:?}: {other}"),
        }
    }
}

/// The ledger that refuses is the one that is told, and nothing is changed before both agree.
#[test]
fn both_ledgers_are_asked_about_the_clock() {
    let (_above, root) = root_with(true);
    let folder = create_below(&root, &subordinate(&[])).unwrap();
    // so that its ledger knows a time
    issue(&folder, "www.example.org").unwrap();
    let ahead = Duration::from_secs(500 * 24 * 60 * 60);
    let later = UnixTime::since_unix_epoch(Duration::from_secs(now().as_secs()) + ahead);
    let above = authority(&root, Role::Root);
    let before = (names(&folder), certified(&root));
    let roll_over = || {
        let next = successor(NewName::Numbered);
        folder.rollover_below(&above, &[], &next, "tests", later)
    };
    let is_clock =
        |error: &FolderError| matches!(error, FolderError::Ledger(LedgerError::Clock { .. }));
    let refused = roll_over().unwrap_err();
    assert!(
        matches!(&refused, FolderError::Above(cause) if is_clock(cause)),
        "{refused}"
    );
    above.ledger().confirm_time(later, "tests").unwrap();
    let refused = roll_over().unwrap_err();
    assert!(is_clock(&refused), "{refused}");
    assert_eq!((names(&folder), certified(&root)), before);
    folder
        .ledger()
        .unwrap()
        .confirm_time(later, "tests")
        .unwrap();
    assert_eq!(roll_over().unwrap(), Role::Next(2));

    let (_above, root) = root_with(true);
    let trusted = root.certificate(Role::Root).unwrap();
    let (above, path) = (
        authority(&root, Role::Root),
        root.path().with_file_name("below"),
    );
    let (plan, stop) = (subordinate(&[]), Interruption::default());
    let refused =
        Folder::create_below(&path, &plan, &above, (&[], &trusted), "tests", later, &stop);
    let refused = refused.unwrap_err();
    assert!(
        matches!(&refused, FolderError::Above(cause) if is_clock(cause)),
        "{refused}"
    );
    assert!(!path.exists());
}

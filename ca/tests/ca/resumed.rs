//! What was begun is completed once, by one process, below the CA that it was begun below, and with nothing that is of no
//! use any more.

use alloc::sync::Arc;
use core::ops::ControlFlow;
use core::slice;
use core::time::Duration;
use std::fs;
use std::sync::{Mutex, mpsc};
use std::thread::{self, JoinHandle};

use pq_ca::authority::Authority;
use pq_ca::folder::{
    Certified, Constraints, Folder, FolderError, Interruption, NewName, Role, SubordinatePlan,
    Successor,
};
use pq_ca::ledger::{
    AdoptedEntry, Condition, Entry, Filter, Generation, KeyHash, Ledger, LedgerError, LocalLedger,
    NewEntry, Revocation, Revoked, SerialNumber,
};
use pq_x509::certificate::Certificate;
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::{CertificateDer, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::CrlReason;

use crate::begun::{Fails, certified, failing_root, root_with_ledger, successor};
use crate::forwarded::forwarded;
use crate::subordinate::{
    authority, create_below, issue, key, now, root_with, subordinate, validate,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What another process does just before a certificate is recorded.
type Act = Box<dyn FnOnce() + Send>;

/// The ledger of a CA above, which is used by another process, too.
struct Shared {
    ledger: LocalLedger,
    act: Mutex<Option<Act>>,
}

impl Ledger for Shared {
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
        if let Some(act) = self.act.lock().unwrap().take() {
            act();
        }
        self.ledger.record_if(entries, conditions)
    }

    forwarded!(ledger);
}

/// The thread of another process, with what it returned.
type Other<T> = Arc<Mutex<Option<JoinHandle<Result<T, FolderError>>>>>;

/// The root, in whose ledger another process works while this one records a certificate. It is given time to end first; if
/// it waits for this one, this one goes on.
fn shared_root<T: Send + 'static>(
    root: &Folder,
    other: impl FnOnce(Folder) -> Result<T, FolderError> + Send + 'static,
) -> (Authority<SigningKey, Shared>, Other<T>) {
    let handle: Other<T> = Arc::default();
    let (of_other, same) = (handle.clone(), root.clone());
    let act = move || {
        let (done, is_done) = mpsc::channel();
        let thread = thread::spawn(move || {
            let result = other(same);
            // Nobody may wait for it any more.
            let _ = done.send(());
            result
        });
        *of_other.lock().unwrap() = Some(thread);
        let _ = is_done.recv_timeout(Duration::from_secs(1));
    };
    let ledger = Shared {
        ledger: LocalLedger::open(root.path().join("ledger")).unwrap(),
        act: Mutex::new(Some(Box::new(act))),
    };
    (root_with_ledger(root, ledger), handle)
}

fn result<T>(other: &Other<T>) -> Result<T, FolderError> {
    let thread = other.lock().unwrap().take().unwrap();
    thread.join().unwrap()
}

fn number(certificate: &Certificate) -> SerialNumber {
    SerialNumber::of(certificate).unwrap()
}

fn create_with<L: Ledger>(
    root: &Folder,
    above: &Authority<SigningKey, L>,
    plan: &SubordinatePlan<SigningKey>,
    now: UnixTime,
) -> Result<Folder, FolderError> {
    let path = root.path().with_file_name("below");
    let trusted = root.certificate(Role::Root).unwrap();
    let (chain, stop) = ((&[][..], &trusted), Interruption::default());
    Folder::create_below(path, plan, above, chain, "tests", now, &stop)
}

fn roll_over(
    folder: &Folder,
    root: &Folder,
    next: &Successor<SigningKey>,
) -> Result<Role, FolderError> {
    folder.rollover_below(&authority(root, Role::Root), &[], next, "tests", now())
}

fn revoke(root: &Folder, certificate: &Certificate, reason: CrlReason) {
    let by_root = authority(root, Role::Root);
    by_root
        .revoke(&number(certificate), reason, "tests", now())
        .unwrap();
}

fn later(than: UnixTime, by: Duration) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(than.as_secs()) + by)
}

fn earlier(than: UnixTime, by: Duration) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(than.as_secs()) - by)
}

/// Puts away the last files of a new CA, as if it was killed before it wrote them.
fn without_last_files(root: &Folder, removed: &[&str]) -> Folder {
    let path = root.path().with_file_name("below");
    let above = failing_root(root, Fails::After);
    create_with(root, &above, &subordinate(&[]), now()).unwrap_err();
    let request = fs::read(path.join("issuing.csr")).unwrap();
    let folder = create_below(root, &subordinate(&[])).unwrap();
    fs::write(path.join("issuing.csr"), request).unwrap();
    for file in removed {
        fs::remove_file(path.join(file)).unwrap();
    }
    folder
}

/// The certificate by the root for the key that waits.
fn certificate_for_waiting(folder: &Folder, root: &Folder) -> Certificate {
    let (_, request) = folder.waiting().unwrap().swap_remove(0);
    let request = request.verify().unwrap();
    let mut found = None;
    let ledger = root.ledger().unwrap();
    let key = KeyHash::of(&request).unwrap();
    ledger
        .find(&Filter::all(), &mut |entry: Entry| {
            if entry.issued.key == key {
                found = ledger.certificate(&entry.issued.serial_number).unwrap();
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    Certificate::from_der(&found.unwrap()).unwrap()
}

#[cfg(unix)]
#[test]
fn two_processes_complete_one_new_ca() {
    let (_above, root) = root_with(true);
    let trusted = root.certificate(Role::Root).unwrap();
    let plan = || subordinate(&["example.org"]);
    let failing = failing_root(&root, Fails::Before);
    create_with(&root, &failing, &plan(), now()).unwrap_err();
    let (above, other) = shared_root(&root, move |root| create_below(&root, &plan()));
    let folder = create_with(&root, &above, &subordinate(&["example.org"]), now()).unwrap();
    let other = result(&other);
    assert!(matches!(other, Err(FolderError::Complete(_))), "{other:?}");
    assert_eq!(certified(&root), 1);
    folder.ledger().unwrap();
    validate(&folder, &trusted, "www.example.org");
}

/// Another process completes what one has just put in its place.
#[cfg(unix)]
#[test]
fn a_new_ca_is_not_completed_by_another_process_while_it_is_made() {
    let (_above, root) = root_with(true);
    let trusted = root.certificate(Role::Root).unwrap();
    let (above, other) = shared_root(&root, |root| create_below(&root, &subordinate(&[])));
    let folder = create_with(&root, &above, &subordinate(&[]), now()).unwrap();
    let other = result(&other);
    assert!(matches!(other, Err(FolderError::Complete(_))), "{other:?}");
    assert_eq!(certified(&root), 1);
    validate(&folder, &trusted, "www.example.org");
}

#[cfg(unix)]
#[test]
fn two_processes_complete_one_rollover() {
    for is_waiting in [true, false] {
        let (_above, root) = root_with(true);
        let trusted = root.certificate(Role::Root).unwrap();
        let folder = create_below(&root, &subordinate(&[])).unwrap();
        if is_waiting {
            folder
                .request_successor(&key(), &NewName::Numbered)
                .unwrap();
        }
        let same = folder.clone();
        let (above, other) = shared_root(&root, move |root| {
            roll_over(&same, &root, &successor(NewName::Numbered))
        });
        let next = successor(NewName::Numbered);
        let role = folder.rollover_below(&above, &[], &next, "tests", now());
        assert_eq!(role.unwrap(), Role::Next(2));
        // It saw the key that waits, and goes on with what became of that.
        assert_eq!(result(&other).unwrap(), Role::Next(2));
        // The CA's first key, and this one.
        assert_eq!(certified(&root), 2);
        assert!(!folder.key_path(Role::Next(3)).exists());
        validate(&folder, &trusted, "www.example.org");
    }
}

#[test]
fn what_was_begun_below_one_ca_is_not_completed_below_another() {
    for removed in [&["root.pem"][..], &["root.pem", "issuing.pem"]] {
        let (_above, root) = root_with(true);
        let trusted = root.certificate(Role::Root).unwrap();
        let folder = without_last_files(&root, removed);
        let opened = Folder::open(folder.path());
        assert!(
            matches!(opened, Err(FolderError::NotCompleted(_))),
            "{opened:?}"
        );
        Folder::check_free_below(folder.path()).unwrap();
        let (_other, other) = root_with(true);
        let by_other = authority(&other, Role::Root);
        let (others, stop) = (
            other.certificate(Role::Root).unwrap(),
            Interruption::default(),
        );
        let refused = Folder::create_below(
            folder.path(),
            &subordinate(&[]),
            &by_other,
            (&[], &others),
            "tests",
            now(),
            &stop,
        );
        assert!(
            matches!(refused, Err(FolderError::OtherAbove { .. })),
            "{refused:?}"
        );
        assert!(!folder.path().join("root.pem").exists());
        let folder = create_below(&root, &subordinate(&[])).unwrap();
        validate(&folder, &trusted, "www.example.org");
    }
}

#[test]
fn an_installed_ca_that_lost_its_root_does_not_wait() {
    let (_above, root) = root_with(true);
    let trusted = root.certificate(Role::Root).unwrap();
    let path = root.path().with_file_name("below");
    let request =
        Folder::create_pending(&path, &subordinate(&[]), &Interruption::default()).unwrap();
    let verified = request.verify().unwrap();
    let certified = Certified {
        subject: verified.subject(),
        key: &verified,
        path_len: Some(0),
        validity: None,
        constraints: &Constraints::default(),
    };
    let by_root = authority(&root, Role::Root);
    let own = by_root.certify(&certified, &[], "tests", now()).unwrap();
    let folder = Folder::open_pending(&path).unwrap();
    let install = || folder.install(slice::from_ref(&own), Some(&trusted), &[], "tests", now());
    install().unwrap();
    assert!(!path.join("issuing.csr").exists());
    // It is there, and the same is no error.
    folder.check_names(slice::from_ref(&own), &[]).unwrap();
    assert_eq!(install().unwrap(), Role::Issuing);
    fs::remove_file(path.join("root.pem")).unwrap();
    let opened = Folder::open(&path);
    assert!(matches!(opened, Err(FolderError::Missing(_))), "{opened:?}");
    Folder::check_free_below(&path).unwrap_err();
    let again = create_below(&root, &subordinate(&[]));
    assert!(matches!(again, Err(FolderError::Exists(_))), "{again:?}");
}

#[test]
fn a_waiting_key_that_is_another_one_is_not_taken() {
    let (_above, root) = root_with(true);
    let folder = create_below(&root, &subordinate(&[])).unwrap();
    folder
        .request_successor(&key(), &NewName::Numbered)
        .unwrap();
    let of_second = folder.key_path(Role::Next(2));
    fs::remove_file(&of_second).unwrap();
    let role = roll_over(&folder, &root, &successor(NewName::Numbered)).unwrap();
    // A request that is left has the number.
    assert_eq!(role, Role::Next(3));
    assert!(!of_second.exists());
    fs::copy(folder.key_path(Role::Next(3)), &of_second).unwrap();
    let role = roll_over(&folder, &root, &successor(NewName::Numbered)).unwrap();
    assert_eq!(role, Role::Next(4));
    issue(&folder, "www.example.org").unwrap();

    // and of a new CA
    let (_above, root) = root_with(true);
    let above = failing_root(&root, Fails::Before);
    create_with(&root, &above, &subordinate(&[]), now()).unwrap_err();
    let path = root.path().with_file_name("below");
    fs::write(path.join("issuing.key"), key().to_pkcs8_pem().unwrap()).unwrap();
    let refused = create_below(&root, &subordinate(&[]));
    assert!(
        matches!(refused, Err(FolderError::OtherPending(_))),
        "{refused:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_has_a_keys_number() {
    for extension in ["key", "csr"] {
        let (_above, root) = root_with(true);
        let folder = create_below(&root, &subordinate(&[])).unwrap();
        let link = folder.path().join(format!("issuing-2.{extension}"));
        std::os::unix::fs::symlink("nowhere", link).unwrap();
        let (role, _) = folder
            .request_successor(&key(), &NewName::Numbered)
            .unwrap();
        assert_eq!(role, Role::Next(3), "{extension}");
    }
}

#[test]
fn a_new_ca_whose_certificate_was_revoked_is_not_completed() {
    let (_above, root) = root_with(true);
    let folder = without_last_files(&root, &["root.pem"]);
    let own = Certificate::chain_from_pem(&*fs::read(folder.path().join("issuing.pem")).unwrap());
    revoke(&root, &own.unwrap()[0], CrlReason::Superseded);
    let refused = create_below(&root, &subordinate(&[]));
    assert!(
        matches!(refused, Err(FolderError::Unusable { .. })),
        "{refused:?}"
    );
    assert!(!folder.path().join("root.pem").exists());
}

#[test]
fn a_next_key_whose_certificate_was_revoked_is_not_taken() {
    // recorded here, and its file is missing
    let (_above, root) = root_with(true);
    let folder = create_below(&root, &subordinate(&[])).unwrap();
    folder
        .request_successor(&key(), &NewName::Numbered)
        .unwrap();
    let request = fs::read(folder.path().join("issuing-2.csr")).unwrap();
    let next = || successor(NewName::Numbered);
    assert_eq!(roll_over(&folder, &root, &next()).unwrap(), Role::Next(2));
    let second = folder.certificate(Role::Next(2)).unwrap();
    fs::write(folder.path().join("issuing-2.csr"), request).unwrap();
    fs::remove_file(folder.path().join("issuing-2.pem")).unwrap();
    revoke(&root, &second, CrlReason::Superseded);
    assert_eq!(roll_over(&folder, &root, &next()).unwrap(), Role::Next(3));
    assert_eq!(folder.issuing_role().unwrap(), Role::Next(3));

    // waiting, and others may know it
    let (_above, root) = root_with(true);
    let folder = create_below(&root, &subordinate(&[])).unwrap();
    let above = failing_root(&root, Fails::After);
    let failed = folder.rollover_below(&above, &[], &next(), "tests", now());
    failed.unwrap_err();
    let waiting = certificate_for_waiting(&folder, &root);
    revoke(&root, &waiting, CrlReason::KeyCompromise);
    assert_eq!(roll_over(&folder, &root, &next()).unwrap(), Role::Next(3));
    assert_eq!(roll_over(&folder, &root, &next()).unwrap(), Role::Next(4));
    issue(&folder, "www.example.org").unwrap();
}

#[test]
fn a_certificate_by_a_clock_that_was_ahead_is_not_taken() {
    let (_above, root) = root_with(true);
    let trusted = root.certificate(Role::Root).unwrap();
    let above = failing_root(&root, Fails::After);
    let ahead = later(now(), 300 * DAY);
    create_with(&root, &above, &subordinate(&[]), ahead).unwrap_err();
    let folder = create_below(&root, &subordinate(&[])).unwrap();
    assert!(folder.certificate(Role::Issuing).unwrap().not_before() <= now());
    assert_eq!(certified(&root), 2);
    validate(&folder, &trusted, "www.example.org");

    let above = failing_root(&root, Fails::After);
    let next = || successor(NewName::Numbered);
    let failed = folder.rollover_below(&above, &[], &next(), "tests", later(now(), 350 * DAY));
    failed.unwrap_err();
    assert_eq!(roll_over(&folder, &root, &next()).unwrap(), Role::Next(2));
    assert!(folder.certificate(Role::Next(2)).unwrap().not_before() <= now());
    validate(&folder, &trusted, "www.example.org");
}

#[test]
fn what_was_begun_is_valid_for_as_long_as_is_asked_for() {
    let (_above, root) = root_with(true);
    let above = failing_root(&root, Fails::After);
    let plan = |validity| SubordinatePlan {
        validity,
        ..subordinate(&[])
    };
    create_with(&root, &above, &plan(Some(2 * YEAR)), now()).unwrap_err();
    let refused = create_below(&root, &plan(Some(YEAR)));
    assert!(
        matches!(refused, Err(FolderError::OtherPending(_))),
        "{refused:?}"
    );
    let folder = create_below(&root, &plan(Some(2 * YEAR))).unwrap();
    assert_eq!(certified(&root), 1);

    let next = |validity| Successor {
        validity,
        ..successor(NewName::Numbered)
    };
    let above = failing_root(&root, Fails::After);
    let failed = folder.rollover_below(&above, &[], &next(Some(YEAR)), "tests", now());
    failed.unwrap_err();
    let other = roll_over(&folder, &root, &next(Some(30 * DAY))).unwrap();
    assert_eq!(other, Role::Next(3));
    let same = roll_over(&folder, &root, &next(Some(YEAR))).unwrap();
    assert_eq!(same, Role::Next(2));
    assert_eq!(certified(&root), 3);
}

#[test]
fn a_name_of_a_key_that_waits_is_told_with_its_files() {
    let (_above, root) = root_with(true);
    let folder = create_below(&root, &subordinate(&[])).unwrap();
    let name = NewName::Given("New".into());
    folder.request_successor(&key(), &name).unwrap();
    let refused = folder.request_successor(&key(), &name).unwrap_err();
    assert!(
        matches!(refused, FolderError::NameWaits { .. }),
        "{refused}"
    );
    let text = refused.to_string();
    for file in ["issuing-2.key", "issuing-2.csr"] {
        assert!(text.contains(file), "{text}");
    }
    let larger = Successor {
        key: SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap(),
        ..successor(name)
    };
    let refused = roll_over(&folder, &root, &larger);
    assert!(
        matches!(refused, Err(FolderError::NameWaits { .. })),
        "{refused:?}"
    );
    assert!(!folder.key_path(Role::Next(3)).exists());
}

/// A clock that is behind, and a root that has expired, are told as such.
#[test]
fn a_time_at_which_the_ca_above_is_not_valid_is_told() {
    let (_above, root) = root_with(true);
    let above = authority(&root, Role::Root);
    let plan = |validity| SubordinatePlan {
        validity,
        ..subordinate(&[])
    };
    let refused = |validity, now, words: &str| {
        let refused = create_with(&root, &above, &plan(validity), now).unwrap_err();
        let text = refused.to_string();
        let is_told = matches!(
            refused,
            FolderError::NotAccepted(_) | FolderError::RootExpired { .. }
        );
        assert!(is_told, "{text}");
        assert!(text.contains(words) && !text.contains("swap"), "{text}");
    };
    for validity in [None, Some(YEAR)] {
        refused(validity, earlier(now(), 6 * YEAR), "not valid");
        let after = later(now(), 10 * YEAR + 2 * DAY);
        above.ledger().confirm_time(after, "tests").unwrap();
        refused(validity, after, "expired");
        above.ledger().confirm_time(now(), "tests").unwrap();
    }
}

#[test]
fn a_ca_below_another_adopts_nothing_of_the_ca_above() {
    let (_above, root) = root_with(true);
    let folder = create_below(&root, &subordinate(&[])).unwrap();
    let backup = root.path().with_file_name("backup");
    crate::rollover::copy(folder.path(), &backup);
    let role = roll_over(&folder, &root, &successor(NewName::Numbered)).unwrap();
    let leaf = issue(&folder, "www.example.org").unwrap();
    let second = folder.certificate(role).unwrap();
    let others = root.certificate(Role::Issuing).unwrap();
    let refused = |folder: &Folder, certificates: &[Certificate]| {
        folder.adopted(certificates, &[], "tests").unwrap_err()
    };
    for folder in [&folder, &Folder::open(&backup).unwrap()] {
        let above = refused(folder, slice::from_ref(&others));
        assert!(matches!(above, FolderError::OfCaAbove { .. }), "{above}");
        let above = refused(folder, &[root.certificate(Role::Root).unwrap()]);
        assert!(matches!(above, FolderError::RootElsewhere(_)), "{above}");
    }
    let old = Folder::open(&backup).unwrap();
    let later = refused(&old, &[leaf.clone(), second.clone()]);
    assert!(matches!(later, FolderError::OfUnknownKey { .. }), "{later}");
    assert!(!later.to_string().contains("--of-root"), "{later}");
    let above = refused(&old, &[second]);
    assert!(matches!(above, FolderError::OfCaAbove { .. }), "{above}");
    // What its own key signed, it adopts.
    assert_eq!(folder.adopted(&[leaf], &[], "tests").unwrap().len(), 1);
}

#[test]
fn the_certificate_of_another_ca_is_adopted_as_one() {
    let (_above, root) = root_with(true);
    let own = root.certificate(Role::Issuing).unwrap();
    let backup = root.path().with_file_name("backup");
    crate::rollover::copy(root.path(), &backup);
    let other = create_below(&root, &subordinate(&[])).unwrap();
    let other = other.certificate(Role::Issuing).unwrap();
    let old = Folder::open(&backup).unwrap();
    let mut adopted = old.adopted(&[other, own.clone()], &[], "tests").unwrap();
    let profiles: Vec<_> = adopted
        .iter()
        .map(|one| one.entry.issued.profile.clone())
        .collect();
    assert_eq!(profiles, ["other-ca", "ca"]);

    // An earlier version recorded it as this CA's own: still it is not taken for the issuing certificate.
    adopted.truncate(1);
    adopted[0].entry.issued.profile = "ca".into();
    adopted[0].entry.issued.at = later(now(), DAY);
    old.ledger().unwrap().adopt(&adopted).unwrap();
    fs::write(backup.join("issuing.pem"), "damaged").unwrap();
    let damaged = old.ledger().unwrap_err();
    assert!(
        matches!(&damaged, FolderError::OtherIssuing { number: of, .. } if *of == number(&own)),
        "{damaged}"
    );
}

/// A key's file that doesn't say which key it is may be the one that was certified.
#[cfg(unix)]
#[test]
fn a_key_that_is_not_told_is_not_taken_for_another_ca_s() {
    let (_above, root) = root_with(true);
    let backup = root.path().with_file_name("backup");
    crate::rollover::copy(root.path(), &backup);
    let successor = successor(NewName::Numbered);
    let by_root = authority(&root, Role::Root);
    let role = root.rollover(&by_root, &successor, "tests", now()).unwrap();
    let later = root.certificate(role).unwrap();
    let other = create_below(&root, &subordinate(&[])).unwrap();
    let other = other.certificate(Role::Issuing).unwrap();
    let old = Folder::open(&backup).unwrap();
    let adopted = |certificate: &Certificate| {
        let adopted = old.adopted(slice::from_ref(certificate), &[], "tests");
        Ok::<_, FolderError>(adopted?[0].entry.issued.profile.clone())
    };
    let key = old.key_path(role);
    let make = |what: &str| match what {
        "a dangling link" => std::os::unix::fs::symlink("away", &key).unwrap(),
        "a folder" => fs::create_dir(&key).unwrap(),
        text => fs::write(&key, text).unwrap(),
    };
    for what in [
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n",
        "pqtls key in a store 1\nstore: keys.redb\nkey: tenant/ca/issuing#2\n",
        "",
        "a dangling link",
        "a folder",
    ] {
        make(what);
        for certificate in [&later, &other] {
            let refused = adopted(certificate).unwrap_err();
            let is_meant =
                matches!(&refused, FolderError::UnknownFile { key: of, .. } if *of == key);
            assert!(is_meant, "{what}: {refused}");
            assert!(refused.to_string().contains("issuing-2.pem"), "{refused}");
        }
        let leaf = issue(&old, "www.example.org").unwrap();
        adopted(&leaf).unwrap();
        fs::write(backup.join("issuing-2.pem"), later.to_pem()).unwrap();
        assert_eq!(adopted(&later).unwrap(), "ca", "{what}");
        assert_eq!(adopted(&other).unwrap(), "other-ca", "{what}");
        fs::remove_file(backup.join("issuing-2.pem")).unwrap();
        match what {
            "a folder" => fs::remove_dir(&key).unwrap(),
            _ => fs::remove_file(&key).unwrap(),
        }
    }
    assert_eq!(adopted(&other).unwrap(), "other-ca");

    // The first key's certificate is the one that was not adopted.
    fs::copy(root.key_path(role), &key).unwrap();
    let own = root.certificate(Role::Issuing).unwrap();
    let entries = old.adopted(&[later.clone(), own.clone()], &[], "tests");
    let entries = entries.unwrap();
    let ledger = old.ledger().unwrap();
    ledger.adopt(&entries[..1]).unwrap();
    let first = old.key_path(Role::Issuing);
    let of_first = fs::read(&first).unwrap();
    for of_key in [of_first.as_slice(), b"of a store"] {
        fs::write(&first, of_key).unwrap();
        for wrong in ["damaged", &later.to_pem()] {
            fs::write(backup.join("issuing.pem"), wrong).unwrap();
            let damaged = old.ledger().unwrap_err();
            assert!(
                matches!(&damaged, FolderError::OtherIssuing { number: of, .. } if *of == number(&own)),
                "{damaged}"
            );
        }
    }

    // In a ledger that was begun anew, both are adopted, and the key alone tells.
    drop(ledger);
    fs::rename(backup.join("ledger"), backup.join("away")).unwrap();
    let anew = LocalLedger::create(backup.join("ledger")).unwrap();
    anew.adopt(&entries).unwrap();
    fs::write(backup.join("issuing.pem"), own.to_pem()).unwrap();
    old.ledger().unwrap();
    fs::write(backup.join("issuing.pem"), "damaged").unwrap();
    for damaged in [
        old.ledger().unwrap_err(),
        old.certificate(Role::Issuing).unwrap_err(),
    ] {
        let text = damaged.to_string();
        assert!(
            matches!(damaged, FolderError::SeveralFirst { .. }),
            "{text}"
        );
        for certificate in [&own, &later] {
            let number = number(certificate).to_string();
            assert!(text.contains(&number), "{text}");
        }
    }
    fs::write(&first, of_first).unwrap();
    for (text, is_right) in [(own.to_pem(), true), (later.to_pem(), false)] {
        fs::write(backup.join("issuing.pem"), text).unwrap();
        assert_eq!(old.ledger().is_ok(), is_right);
    }
}

#[test]
fn two_cas_do_not_get_one_name() {
    let (_above, root) = root_with(true);
    let by_root = authority(&root, Role::Root);
    let request = |name: &str| {
        let request = CertificateRequest::builder().common_name(name).sign(&key());
        request.unwrap().verify().unwrap()
    };
    let (first, second) = (request("Reqd"), request("reqd"));
    fn certified<'a>(
        request: &'a pq_x509::request::VerifiedRequest,
        constraints: &'a Constraints,
    ) -> Certified<'a> {
        Certified {
            subject: request.subject(),
            key: request,
            path_len: Some(0),
            validity: None,
            constraints,
        }
    }
    let none = Constraints::default();
    let made = by_root
        .certify(&certified(&first, &none), &[], "tests", now())
        .unwrap();
    let refused = by_root.certify(&certified(&second, &none), &[], "tests", now());
    assert!(
        matches!(refused, Err(FolderError::NameTaken(_))),
        "{refused:?}"
    );
    // A renewal, and another key of the same CA.
    let again = by_root
        .certify(&certified(&first, &none), &[], "tests", now())
        .unwrap();
    by_root
        .certify_next_key(&certified(&second, &none), &[], "tests", now())
        .unwrap();
    for one in [made, again] {
        revoke(&root, &one, CrlReason::Superseded);
    }
    by_root
        .certify(&certified(&second, &none), &[], "tests", now())
        .unwrap();
    let below = create_below(&root, &subordinate(&[])).unwrap();
    let refused = by_root.certify(&certified(&request("Below"), &none), &[], "tests", now());
    assert!(
        matches!(refused, Err(FolderError::NameTaken(_))),
        "{refused:?}"
    );
    validate(
        &below,
        &root.certificate(Role::Root).unwrap(),
        "www.example.org",
    );
}

//! An issuing key takes the place of another: what each signs, what stays, and what is left of a change that was
//! interrupted.

use core::time::Duration;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, thread};

use pq_ca::authority::{Authority, AuthorityError, Order, ResponderError};
use pq_ca::folder::{Constraints, Folder, FolderError, KeyPlan, NewName, Plan, Role, Successor};
use pq_ca::ledger::{GREATEST_NUMBER, Ledger, LedgerError, LocalLedger, SerialNumber, Stage};
use pq_ca::policy::{Policy, Profile};
use pq_x509::certificate::Certificate;
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspVerifier};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::revocation::{CertificateRevocationList, CrlReason};
use pq_x509::validation::{ChainValidator, ValidationError};
use tempfile::TempDir;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

type Ca = Authority<SigningKey, LocalLedger>;

fn key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

fn plan() -> Plan<SigningKey> {
    let key = |validity| KeyPlan {
        key: key(),
        validity,
    };
    let policy = Policy::default_text(&[".example.org".parse().unwrap()], &[], &[]);
    Plan {
        name: "Example CA".into(),
        root: key(20 * YEAR),
        issuing: Some(key(5 * YEAR)),
        constraints: Constraints {
            domains: vec!["example.org".into()],
            ..Constraints::default()
        },
        policy: policy.replace(
            "\"server+client\"]",
            "\"server+client\", \"ocsp-responder\"]",
        ),
    }
}

fn ca() -> (TempDir, Folder) {
    let above = tempfile::tempdir().unwrap();
    let folder = Folder::create(above.path().join("ca"), &plan(), "tests", now()).unwrap();
    (above, folder)
}

fn now() -> UnixTime {
    UnixTime::now()
}

fn before(duration: Duration) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(now().as_secs()) - duration)
}

fn after(duration: Duration) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(now().as_secs()) + duration)
}

fn successor(name: NewName) -> Successor<SigningKey> {
    Successor {
        key: key(),
        name,
        validity: None,
        is_for_later: false,
    }
}

fn roll_over(folder: &Folder, name: NewName) -> Role {
    let root = authority(folder, Role::Root);
    folder
        .rollover(&root, &successor(name), "tests", now())
        .unwrap()
}

fn published(folder: &Folder, validity: Duration) -> Role {
    let later = Successor {
        validity: Some(validity),
        is_for_later: true,
        ..successor(NewName::Numbered)
    };
    let root = authority(folder, Role::Root);
    folder.rollover(&root, &later, "tests", now()).unwrap()
}

fn use_key(folder: &Folder, role: Role, at: UnixTime) -> Result<(), FolderError> {
    let authority = folder.authority::<SigningKey>(role)?;
    folder.issue_with(&authority, "tests", at)
}

fn authority(folder: &Folder, role: Role) -> Ca {
    folder.authority(role).unwrap()
}

fn number(certificate: &Certificate) -> SerialNumber {
    SerialNumber::of(certificate).unwrap()
}

fn try_issue(ca: &Ca, name: &str, at: UnixTime) -> Result<Certificate, AuthorityError> {
    let key = key();
    let order = Order::for_key(&key).unwrap();
    ca.issue(&order.with(|wanted| wanted.dns_name(name)), "tests", at)
}

fn issue(ca: &Ca, name: &str) -> Certificate {
    try_issue(ca, name, now()).unwrap()
}

fn validate(folder: &Folder, role: Role, leaf: &Certificate) {
    let mut chain = vec![leaf.clone()];
    chain.extend(folder.chain_of(role).unwrap());
    let chain: Vec<_> = chain.iter().collect();
    let root = folder.certificate(Role::Root).unwrap();
    let name = leaf.dns_names()[0].clone();
    ChainValidator::new([root])
        .unwrap()
        .validate_server(&chain, &ServerName::try_from(name).unwrap(), now())
        .unwrap();
}

fn list(ca: &Ca) -> CertificateRevocationList {
    let list = ca.revocation_list(now(), None).unwrap();
    ca.check_list(&list).unwrap();
    ca.confirm_list(&list).unwrap();
    list.verify_signature(ca.issuer().certificate(), &[])
        .unwrap();
    list
}

fn has(list: &CertificateRevocationList, certificate: &Certificate) -> bool {
    let numbers = list.entries().iter().map(|one| one.serial_number());
    numbers
        .into_iter()
        .any(|one| one == certificate.serial_number())
}

fn stages(folder: &Folder) -> Vec<(String, Stage)> {
    let generations = folder.generations().unwrap();
    generations
        .into_iter()
        .map(|one| (one.name, one.stage))
        .collect()
}

#[test]
fn each_key_answers_for_what_it_signed() {
    let (_above, folder) = ca();
    let first = authority(&folder, Role::Issuing);
    let old = [
        issue(&first, "a.example.org"),
        issue(&first, "b.example.org"),
    ];
    assert_eq!(stages(&folder), [("issuing".into(), Stage::Issuing)]);

    let role = roll_over(&folder, NewName::Numbered);
    assert_eq!(role, Role::Next(2));
    assert_eq!(folder.issuing_role().unwrap(), role);
    assert_eq!(
        stages(&folder),
        [
            ("issuing".into(), Stage::Retired),
            ("issuing-2".into(), Stage::Issuing)
        ]
    );
    // A program that runs on with the old key.
    let refused = try_issue(&first, "c.example.org", now()).unwrap_err();
    assert!(
        matches!(
            refused,
            AuthorityError::Ledger(LedgerError::NotIssuing { .. })
        ),
        "{refused}"
    );
    let second = authority(&folder, role);
    let subject = second.issuer().certificate().describe_subject();
    assert!(subject.starts_with("CN=Example CA 2 ("), "{subject}");
    let new = [
        issue(&second, "a.example.org"),
        issue(&second, "b.example.org"),
    ];
    for (role, leaves) in [(Role::Issuing, &old), (role, &new)] {
        leaves.iter().for_each(|leaf| validate(&folder, role, leaf));
    }
    let outside = try_issue(&second, "www.example.net", now());
    assert!(
        outside.is_err(),
        "the constraints are those of the key before"
    );
    let own = second.issuer().certificate();
    let name = "www.example.net".to_owned();
    assert!(!own.permits_name(&pq_x509::certificate::AlternativeName::Dns(name)));

    // Whoever has the new key revokes for the old one, too.
    for leaf in [&old[0], &new[0]] {
        second
            .revoke(&number(leaf), CrlReason::Superseded, "tests", now())
            .unwrap();
    }
    for (ca, own, others) in [(&first, &old, &new), (&second, &new, &old)] {
        for expected in ["01", "02"] {
            let list = list(ca);
            assert_eq!(list.issuer(), ca.issuer().certificate().subject());
            assert_eq!(list.entries().len(), 1);
            assert!(has(&list, &own[0]));
            let found = list.number().unwrap();
            assert_eq!(found, [expected.parse::<u8>().unwrap()]);
        }
        let issuer = ca.issuer().certificate();
        let verifier = OcspVerifier::new(issuer, now());
        for (leaf, is_good) in [(&own[0], false), (&own[1], true)] {
            let request = OcspRequest::builder()
                .certificate(leaf, issuer)
                .build()
                .unwrap();
            let response = ca.respond(request.der(), now(), None).unwrap();
            let answer = verifier.verify(&response, leaf).unwrap();
            assert_eq!(answer.status() == CertStatus::Good, is_good);
        }
        let other = [&first, &second]
            .into_iter()
            .find(|one| one.name() != ca.name());
        let other = other.unwrap().issuer().certificate();
        let request = OcspRequest::builder()
            .certificate(&others[0], other)
            .build()
            .unwrap();
        let refused = ca.respond(request.der(), now(), None).unwrap_err();
        assert!(matches!(refused, ResponderError::OfOthers), "{refused}");
    }
    // The new key renews what the old one signed.
    let renewed = second
        .renew(&number(&old[1]), None, "tests", now())
        .unwrap();
    validate(&folder, role, &renewed);
    // The old one still certifies who answers for it.
    let delegate = key();
    let order = Order::for_key(&delegate).unwrap().with(|wanted| {
        wanted
            .common_name("Old OCSP")
            .profile(Profile::OcspResponder)
    });
    let delegate_of_old = first.issue(&order, "tests", now()).unwrap();
    let responder = folder
        .responder(Role::Issuing, delegate_of_old, delegate)
        .unwrap();
    let request = OcspRequest::builder().certificate(&old[1], first.issuer().certificate());
    responder
        .respond(request.build().unwrap().der(), now())
        .unwrap();

    // No number is used twice, and the root can revoke each key.
    let root = authority(&folder, Role::Root);
    for ca in [&first, &second] {
        let number = number(ca.issuer().certificate());
        root.revoke(&number, CrlReason::CessationOfOperation, "tests", now())
            .unwrap();
    }
    assert_eq!(list(&root).entries().len(), 2);
    first.ledger().check().unwrap();
}

/// The greatest number that may be given is not the last one, for keys of one name either.
#[test]
fn lists_of_one_name_go_on_after_the_greatest_number_that_is_given() {
    let (_above, folder) = ca();
    let first = authority(&folder, Role::Issuing);
    let given = first.numbered_revocation_list(Some(GREATEST_NUMBER), now(), None);
    given.unwrap();
    let role = roll_over(&folder, NewName::Same);
    let (first, second) = (authority(&folder, Role::Issuing), authority(&folder, role));
    for (ca, more) in [(&second, 1), (&first, 2), (&first, 3), (&second, 4)] {
        let number = (GREATEST_NUMBER + more).to_be_bytes();
        assert_eq!(list(ca).number(), Some(&number[..]));
    }
}

/// A response by a responder of another key is one that nobody accepts, whatever the name.
#[test]
fn a_responder_answers_for_the_key_that_certified_it() {
    let (_above, folder) = ca();
    let role = roll_over(&folder, NewName::Same);
    let delegate = key();
    let order = Order::for_key(&delegate).unwrap().with(|wanted| {
        wanted
            .common_name("New OCSP")
            .profile(Profile::OcspResponder)
    });
    let certified = authority(&folder, role).issue(&order, "tests", now());
    let certified = certified.unwrap();
    assert!(folder.responder(role, certified.clone(), &delegate).is_ok());
    let refused = folder
        .responder(Role::Issuing, certified, &delegate)
        .unwrap_err();
    assert!(
        refused.to_string().contains("another key of \"CN="),
        "{refused}"
    );
}

/// A list is of all that the issuer of its name revoked (RFC 5280 section 5), and no two lists of one name have the same
/// number (section 5.2.3).
#[test]
fn keys_of_one_name_share_their_lists() {
    let (_above, folder) = ca();
    let leaves = [(), ()].map(|()| issue(&authority(&folder, Role::Issuing), "a.example.org"));
    for _ in 0..3 {
        list(&authority(&folder, Role::Issuing));
    }
    let role = roll_over(&folder, NewName::Same);
    let (first, second) = (authority(&folder, Role::Issuing), authority(&folder, role));
    let [old, new] = [&first, &second].map(|ca| ca.issuer().certificate());
    assert_eq!(old.subject(), new.subject());
    assert_ne!(old.subject_key_id(), new.subject_key_id());
    let leaf = issue(&second, "b.example.org");
    validate(&folder, role, &leaf);
    validate(&folder, Role::Issuing, &leaves[1]);
    for revoked in [&leaves[0], &leaf] {
        second
            .revoke(&number(revoked), CrlReason::Superseded, "tests", now())
            .unwrap();
    }
    let mut numbers = Vec::new();
    for ca in [&second, &first, &first, &second] {
        let list = list(ca);
        assert!(has(&list, &leaves[0]) && has(&list, &leaf));
        numbers.push(list.number().unwrap().to_vec());
    }
    assert_eq!(numbers, [[4], [5], [6], [7]]);
}

#[test]
fn a_key_is_published_before_it_issues() {
    let (_above, folder) = ca();
    let root = authority(&folder, Role::Root);
    let later = Successor {
        is_for_later: true,
        ..successor(NewName::Given("Other CA".into()))
    };
    let role = folder.rollover(&root, &later, "tests", now()).unwrap();
    assert_eq!(folder.issuing_role().unwrap(), Role::Issuing);
    assert_eq!(
        stages(&folder),
        [
            ("issuing".into(), Stage::Issuing),
            ("issuing-2".into(), Stage::Published)
        ]
    );
    let refused = try_issue(&authority(&folder, role), "a.example.org", now()).unwrap_err();
    assert!(refused.to_string().contains("published"), "{refused}");
    issue(&authority(&folder, Role::Issuing), "a.example.org");
    use_key(&folder, role, now()).unwrap();
    assert_eq!(folder.issuing_role().unwrap(), role);
    issue(&authority(&folder, role), "a.example.org");
    let again = use_key(&folder, role, now()).unwrap_err();
    assert!(matches!(again, FolderError::IssuesAlready(_)), "{again}");
    let unknown = use_key(&folder, Role::Next(3), now()).unwrap_err();
    assert!(matches!(unknown, FolderError::UnknownKey(_)), "{unknown}");
    let of_root = folder.issue_with(&root, "tests", now()).unwrap_err();
    assert!(matches!(of_root, FolderError::UnknownKey(_)), "{of_root}");
    // and after a third key
    assert_eq!(roll_over(&folder, NewName::Numbered), Role::Next(3));
    let stages = stages(&folder);
    assert_eq!(stages[1], ("issuing-2".into(), Stage::Retired));
    assert_eq!(stages[2], ("issuing-3".into(), Stage::Issuing));
}

#[test]
fn of_two_at_once_one_rolls_over() {
    let (_above, folder) = ca();
    let mut done = 0;
    thread::scope(|scope| {
        let turns = [(), (), ()].map(|()| {
            scope.spawn(|| {
                let folder = Folder::open(folder.path()).unwrap();
                let root = authority(&folder, Role::Root);
                folder.rollover(&root, &successor(NewName::Numbered), "tests", now())
            })
        });
        for turn in turns {
            match turn.join().unwrap() {
                Ok(_) => done += 1,
                Err(error) => assert!(
                    matches!(
                        error,
                        FolderError::Ledger(LedgerError::GenerationsChanged)
                            | FolderError::Authority(AuthorityError::Ledger(
                                LedgerError::GenerationsChanged
                            ))
                    ),
                    "{error}"
                ),
            }
        }
    });
    // They may also have come one after another.
    let generations = folder.generations().unwrap();
    assert_eq!(generations.len(), 1 + done);
    assert!(done >= 1);
    issue(
        &authority(&folder, folder.issuing_role().unwrap()),
        "a.example.org",
    );
    let keys = fs::read_dir(folder.path()).unwrap().filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".key")
    });
    assert_eq!(keys.count(), 2 + done, "who lost leaves no key");
}

#[test]
fn a_new_key_is_bounded_by_the_root() {
    let (_above, folder) = ca();
    let root = authority(&folder, Role::Root);
    let until = root.issuer().certificate().not_after();
    let longer = |validity| Successor {
        validity: Some(validity),
        ..successor(NewName::Numbered)
    };
    let refused = folder
        .rollover(&root, &longer(21 * YEAR), "tests", now())
        .unwrap_err();
    assert!(
        matches!(refused, FolderError::OutlivesParent { until: end } if end == until),
        "{refused}"
    );
    // By default it lasts as long as the one before, or the root.
    let first = folder.certificate(Role::Issuing).unwrap();
    let late = after(399 * DAY);
    let role = folder
        .rollover(&root, &successor(NewName::Numbered), "tests", late)
        .unwrap();
    let lasts = |certificate: &Certificate| {
        certificate.not_after().as_secs() - certificate.not_before().as_secs()
    };
    assert_eq!(lasts(&folder.certificate(role).unwrap()), lasts(&first));

    let no_issuing = Plan {
        issuing: None,
        ..plan()
    };
    let above = tempfile::tempdir().unwrap();
    let folder = Folder::create(above.path().join("ca"), &no_issuing, "tests", now()).unwrap();
    let root = authority(&folder, Role::Root);
    let refused = folder.rollover(&root, &successor(NewName::Numbered), "tests", now());
    let refused = refused.unwrap_err();
    assert!(matches!(refused, FolderError::RootIssues), "{refused}");
    assert!(folder.generations().unwrap().is_empty());
}

#[test]
fn a_clock_that_jumped_rolls_nothing_over() {
    let (_above, folder) = ca();
    let root = authority(&folder, Role::Root);
    let ahead = folder.rollover(
        &root,
        &successor(NewName::Numbered),
        "tests",
        after(500 * DAY),
    );
    let ahead = ahead.unwrap_err();
    assert!(
        matches!(
            &ahead,
            FolderError::Authority(AuthorityError::Ledger(LedgerError::Clock { .. }))
        ),
        "{ahead}"
    );
    assert!(
        !folder.key_path(Role::Next(2)).exists(),
        "a key that nobody certified"
    );
    assert_eq!(folder.issuing_role().unwrap(), Role::Issuing);
    // A clock that was set back makes a certificate that is valid as soon as the root is.
    let back = UnixTime::since_unix_epoch(Duration::from_secs(now().as_secs()) - 30 * DAY);
    let role = folder
        .rollover(&root, &successor(NewName::Numbered), "tests", back)
        .unwrap();
    let made = folder.certificate(role).unwrap();
    assert_eq!(made.not_before(), root.issuer().certificate().not_before());
    validate(
        &folder,
        role,
        &issue(&authority(&folder, role), "a.example.org"),
    );
    let late = authority(&folder, role)
        .revocation_list(back, None)
        .unwrap_err();
    assert!(
        matches!(late, AuthorityError::Ledger(LedgerError::Clock { .. })),
        "{late}"
    );
}

/// What each step leaves if it is the last one.
#[test]
fn after_each_step_there_is_a_ca_that_works() {
    // a key, and nothing else
    let (_above, folder) = ca();
    fs::copy(
        folder.key_path(Role::Issuing),
        folder.key_path(Role::Next(2)),
    )
    .unwrap();
    issue(
        &authority(&folder, folder.issuing_role().unwrap()),
        "a.example.org",
    );
    assert_eq!(roll_over(&folder, NewName::Numbered), Role::Next(3));
    // all but the certificate's file
    fs::remove_file(folder.path().join("issuing-3.pem")).unwrap();
    let folder = Folder::open(folder.path()).unwrap();
    let role = folder.issuing_role().unwrap();
    assert_eq!(role, Role::Next(3));
    validate(
        &folder,
        role,
        &issue(&authority(&folder, role), "a.example.org"),
    );
    // another certificate than the ledger's counts for nothing
    fs::copy(
        folder.path().join("issuing.pem"),
        folder.path().join("issuing-3.pem"),
    )
    .unwrap();
    validate(
        &folder,
        role,
        &issue(&authority(&folder, role), "a.example.org"),
    );
}

const FOLDER: &str = "PQ_CA_TEST_ROLLOVER";

/// The worker, if it is started with [`FOLDER`] set; otherwise this does nothing.
#[test]
fn worker_that_rolls_over() {
    if let Some(path) = env::var_os(FOLDER) {
        let folder = Folder::open(Path::new(&path)).unwrap();
        loop {
            roll_over(&folder, NewName::Numbered);
        }
    }
}

#[test]
fn who_is_killed_while_it_rolls_over_leaves_a_ca_that_works() {
    let (_above, folder) = ca();
    let mut seen = 1;
    let mut round = 0;
    // On a machine that is busy, the workers need more rounds to do enough.
    while round < 12 || seen < 4 && round < 100 {
        let mut worker = Command::new(env::current_exe().unwrap())
            .args(["--exact", "rollover::worker_that_rolls_over"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // longer each time, so that a slow machine gets somewhere, too
        thread::sleep(Duration::from_millis(40 + 17 * (round % 6) + 20 * round));
        worker.kill().unwrap();
        worker.wait().unwrap();
        let folder = Folder::open(folder.path()).unwrap();
        let generations = folder.generations().unwrap();
        assert!(generations.len() >= seen);
        seen = generations.len();
        let role = folder.issuing_role().unwrap();
        validate(
            &folder,
            role,
            &issue(&authority(&folder, role), "a.example.org"),
        );
        for one in &generations {
            let role = Role::from_name(&one.name).unwrap();
            assert_eq!(
                folder.certificate(role).unwrap().der(),
                one.certificate().unwrap()
            );
            list(&authority(&folder, role));
        }
        round += 1;
    }
    assert!(seen >= 4, "{seen} keys after {round} rounds");
    folder.ledger().unwrap().check().unwrap();
}

/// The folder that a version wrote which knew one issuing key alone.
fn of_format_3() -> (TempDir, Folder) {
    let above = tempfile::tempdir().unwrap();
    let to = above.path().join("ca");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ca/data/format-3");
    fs::create_dir_all(to.join("ledger")).unwrap();
    for file in [
        "root.pem",
        "root.key",
        "issuing.pem",
        "issuing.key",
        "policy.toml",
        "ledger/journal",
        "ledger/head",
    ] {
        // Whatever the umask was when this was checked out, nobody else may write these.
        fs::write(to.join(file), fs::read(from.join(file)).unwrap()).unwrap();
    }
    #[cfg(unix)]
    for path in ["", "ledger"] {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(to.join(path), fs::Permissions::from_mode(0o700)).unwrap();
    }
    (above, Folder::open(to).unwrap())
}

#[test]
fn a_ca_of_an_earlier_version_rolls_over() {
    let (_above, folder) = of_format_3();
    let journal = folder.path().join("ledger/journal");
    let before = fs::read(&journal).unwrap();
    assert_eq!(before[12], 3);
    let then = UnixTime::since_unix_epoch(Duration::from_secs(1_780_000_000));
    assert_eq!(stages(&folder), [("issuing".into(), Stage::Issuing)]);
    assert_eq!(
        fs::read(&journal).unwrap(),
        before,
        "reading changes nothing"
    );
    let first = authority(&folder, Role::Issuing);
    let numbered = |ca: &Ca| {
        let list = ca.revocation_list(then, None).unwrap();
        (list.number().unwrap().to_vec(), list.entries().len())
    };
    assert_eq!(numbered(&first), (vec![2], 1));
    let root = authority(&folder, Role::Root);
    let role = folder
        .rollover(&root, &successor(NewName::Numbered), "tests", then)
        .unwrap();
    let second = authority(&folder, role);
    let subject = second.issuer().certificate().describe_subject();
    assert!(subject.starts_with("CN=Old CA 2 ("), "{subject}");
    try_issue(&second, "a.example.org", then).unwrap();
    assert_eq!(numbered(&first), (vec![3], 1));
    assert_eq!(numbered(&second), (vec![1], 0));
    // Nothing that was there before was written anew, but the header, which says that programs of then can't read on.
    let after = fs::read(&journal).unwrap();
    assert_eq!(after[12], 5);
    assert_eq!(after[64..before.len()], before[64..]);
    folder.ledger().unwrap().check().unwrap();
}

#[test]
fn a_key_ends_with_its_certificate() {
    let (_above, folder) = ca();
    let late = after(6 * YEAR);
    folder
        .ledger()
        .unwrap()
        .confirm_time(late, "tests")
        .unwrap();
    let root = authority(&folder, Role::Root);
    folder
        .rollover(&root, &successor(NewName::Numbered), "tests", late)
        .unwrap();
    assert_eq!(
        stages(&folder),
        [
            ("issuing".into(), Stage::Ended),
            ("issuing-2".into(), Stage::Issuing)
        ]
    );
}

/// An older backup of the ledger knows nothing of a key that issues.
#[test]
fn a_key_issues_again_after_an_older_backup() {
    let (_above, folder) = ca();
    let ledger = folder.path().join("ledger");
    let backup = folder.path().with_file_name("backup");
    fs::create_dir(&backup).unwrap();
    for file in ["journal", "head"] {
        fs::copy(ledger.join(file), backup.join(file)).unwrap();
    }
    let role = roll_over(&folder, NewName::Numbered);
    let leaf = issue(&authority(&folder, role), "a.example.org");
    fs::remove_dir_all(&ledger).unwrap();
    fs::create_dir(&ledger).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&ledger, fs::Permissions::from_mode(0o700)).unwrap();
    }
    for file in ["journal", "head"] {
        fs::copy(backup.join(file), ledger.join(file)).unwrap();
    }
    let folder = Folder::open(folder.path()).unwrap();
    assert_eq!(folder.issuing_role().unwrap(), Role::Issuing);
    // What the key signed is known by its file.
    let lacking = folder
        .adopted(core::slice::from_ref(&leaf), &[], "tests")
        .unwrap();
    assert_eq!(lacking[0].entry.issued.issuer, "issuing-2");
    folder.ledger().unwrap().adopt(&lacking).unwrap();
    use_key(&folder, role, now()).unwrap();
    assert_eq!(folder.issuing_role().unwrap(), role);
    let again = authority(&folder, role);
    validate(&folder, role, &issue(&again, "b.example.org"));
    again
        .revoke(&number(&leaf), CrlReason::Superseded, "tests", now())
        .unwrap();
    assert!(has(&list(&again), &leaf));
    let own = number(again.issuer().certificate());
    assert!(
        again.ledger().entry(&own).unwrap().is_some(),
        "the root can revoke it"
    );
}

/// A key that can't issue, for whatever reason, changes nothing.
#[test]
fn a_key_that_cannot_issue_takes_no_place() {
    let (_above, folder) = ca();
    let (role, other) = (published(&folder, 30 * DAY), published(&folder, YEAR));
    let before_all = folder.generations().unwrap();
    for (at, is_expired) in [(after(60 * DAY), true), (before(30 * DAY), false)] {
        let refused = use_key(&folder, role, at).unwrap_err();
        let is_right = match &refused {
            FolderError::NotAccepted(ValidationError::Expired { .. }) => is_expired,
            FolderError::NotAccepted(ValidationError::NotYetValid { .. }) => !is_expired,
            _ => false,
        };
        assert!(is_right, "{refused}");
    }
    let ahead = use_key(&folder, other, after(500 * DAY)).unwrap_err();
    assert!(
        matches!(ahead, FolderError::Ledger(LedgerError::Clock { .. })),
        "{ahead}"
    );
    let away = folder.path().join("away");
    fs::rename(folder.key_path(role), &away).unwrap();
    let gone = use_key(&folder, role, now()).unwrap_err();
    assert!(matches!(gone, FolderError::NoKey(_)), "{gone}");
    fs::copy(folder.key_path(other), folder.key_path(role)).unwrap();
    let wrong = use_key(&folder, role, now()).unwrap_err();
    assert!(matches!(wrong, FolderError::OtherKey { .. }), "{wrong}");
    fs::rename(&away, folder.key_path(role)).unwrap();
    let opened = authority(&folder, role);
    authority(&folder, Role::Root)
        .revoke(
            &number(opened.issuer().certificate()),
            CrlReason::Superseded,
            "tests",
            now(),
        )
        .unwrap();
    let revoked = folder.issue_with(&opened, "tests", now()).unwrap_err();
    assert!(
        matches!(
            revoked,
            FolderError::Authority(AuthorityError::Ledger(LedgerError::IssuerRevoked { .. }))
        ),
        "{revoked}"
    );
    assert_eq!(folder.generations().unwrap(), before_all);
    issue(&authority(&folder, Role::Issuing), "a.example.org");
    use_key(&folder, other, now()).unwrap();
}

/// A clock that was ahead leaves a key whose certificate is not valid yet, and takes the key before it for expired.
#[test]
fn after_a_clock_that_was_ahead_the_key_before_issues_again() {
    let mut plan = plan();
    plan.issuing.as_mut().unwrap().validity = 300 * DAY;
    let make = || {
        let above = tempfile::tempdir().unwrap();
        let folder = Folder::create(above.path().join("ca"), &plan, "tests", now()).unwrap();
        let root = authority(&folder, Role::Root);
        let ahead = after(390 * DAY);
        folder
            .rollover(&root, &successor(NewName::Numbered), "tests", ahead)
            .unwrap();
        assert_eq!(stages(&folder)[0], ("issuing".into(), Stage::Ended));
        (above, folder)
    };
    let (_above, folder) = make();
    use_key(&folder, Role::Issuing, now()).unwrap();
    assert_eq!(
        stages(&folder),
        [
            ("issuing".into(), Stage::Issuing),
            ("issuing-2".into(), Stage::Retired)
        ]
    );
    let leaf = issue(&authority(&folder, Role::Issuing), "a.example.org");
    validate(&folder, Role::Issuing, &leaf);
    folder.ledger().unwrap().check().unwrap();

    // or a new key does, and the first one is not taken for ended any more
    let (_above, folder) = make();
    let role = roll_over(&folder, NewName::Numbered);
    let leaf = issue(&authority(&folder, role), "a.example.org");
    validate(&folder, role, &leaf);
    assert_eq!(stages(&folder)[0], ("issuing".into(), Stage::Retired));
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => {
                fs::copy(entry.path(), to).unwrap();
            }
        }
    }
}

/// What is revoked is known by the issuer's name (RFC 5280 section 5).
#[test]
fn no_two_keys_have_one_name() {
    let (above, folder) = ca();
    let backup = above.path().join("backup");
    copy(folder.path(), &backup);
    roll_over(&folder, NewName::Given("Other CA".into()));
    let root = authority(&folder, Role::Root);
    let refused = |name: NewName| {
        let by_root = folder.rollover(&root, &successor(name.clone()), "tests", now());
        let requested = folder.request_successor(&key(), &name);
        for refused in [by_root.map(drop), requested.map(drop)] {
            assert!(
                matches!(
                    refused,
                    Err(FolderError::NameTaken(_) | FolderError::NameWaits { .. })
                ),
                "{name:?}: {refused:?}"
            );
        }
    };
    for name in ["Example CA", "example  ca", "Example CA Root", "Other CA"] {
        refused(NewName::Given(name.into()));
    }
    let (role, request) = folder
        .request_successor(&key(), &NewName::Numbered)
        .unwrap();
    let asked = &request.parsed().info.subject;
    let asked = asked.common_name().unwrap().unwrap().value().into_owned();
    assert!(asked.starts_with("Example CA 3 ("), "{asked}");
    refused(NewName::Given(asked));
    let waiting = folder.waiting().unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].0, role);
    let (_, same) = folder.request_successor(&key(), &NewName::Same).unwrap();
    let last = folder.certificate(Role::Next(2)).unwrap();
    assert_eq!(same.parsed().info.subject, *last.subject());

    // An older backup knows nothing of the names that were given since.
    let names = [&backup, folder.path()].map(|path| {
        let folder = Folder::open(path).unwrap();
        let role = roll_over(&folder, NewName::Numbered);
        folder.certificate(role).unwrap().describe_subject()
    });
    let copy = Folder::open(&backup).unwrap();
    let role = roll_over(&copy, NewName::Numbered);
    let third = copy.certificate(role).unwrap().describe_subject();
    assert!(!names.contains(&third) && names[0] != names[1], "{names:?}");
    // A long name has room for the end.
    let long = Plan {
        name: "x".repeat(59),
        ..plan()
    };
    let folder = Folder::create(above.path().join("long"), &long, "tests", now()).unwrap();
    let role = roll_over(&folder, NewName::Numbered);
    assert!(
        folder
            .certificate(role)
            .unwrap()
            .describe_subject()
            .contains("x 2 (")
    );
}

/// The ledger has the first key's certificate since that was followed by another, as it has those of all others.
#[test]
fn the_first_key_is_known_without_its_file() {
    let (_above, folder) = ca();
    let leaf = issue(&authority(&folder, Role::Issuing), "a.example.org");
    roll_over(&folder, NewName::Numbered);
    let chain = folder.chain_of(Role::Issuing).unwrap();
    let keys = folder.issuing_keys().unwrap();
    assert_eq!(keys.len(), 2);
    fs::remove_file(folder.path().join("issuing.pem")).unwrap();
    assert_eq!(folder.issuing_keys().unwrap(), keys);
    assert_eq!(folder.chain_of(Role::Issuing).unwrap(), chain);
    validate(&folder, Role::Issuing, &leaf);
    let first = authority(&folder, Role::Issuing);
    first
        .revoke(&number(&leaf), CrlReason::Superseded, "tests", now())
        .unwrap();
    assert!(has(&list(&first), &leaf));
    // It issues again, and another follows it.
    use_key(&folder, Role::Issuing, now()).unwrap();
    assert_eq!(folder.issuing_role().unwrap(), Role::Issuing);
    let leaf = issue(&authority(&folder, Role::Issuing), "b.example.org");
    validate(&folder, Role::Issuing, &leaf);
    assert_eq!(roll_over(&folder, NewName::Numbered), Role::Next(3));
}

/// A responder answers for the key that certified it, so that key renews its certificate, also when it is retired.
#[test]
fn a_responder_is_renewed_by_the_key_that_certified_it() {
    let (_above, folder) = ca();
    let responder = key();
    let order = Order::for_key(&responder).unwrap().with(|wanted| {
        wanted
            .common_name("Our OCSP")
            .profile(Profile::OcspResponder)
    });
    let old = authority(&folder, Role::Issuing);
    let of_old = number(&old.issue(&order, "tests", now()).unwrap());
    let leaf = number(&issue(&old, "a.example.org"));
    let role = roll_over(&folder, NewName::Numbered);
    let new = authority(&folder, role);
    let refused = new.renew(&of_old, None, "tests", now()).unwrap_err();
    let is_others = matches!(
        &refused,
        AuthorityError::Ledger(LedgerError::AnotherIssuers { issuer, .. }) if issuer == "issuing"
    );
    assert!(is_others, "{refused}");
    let renewed = old.renew(&of_old, None, "tests", now()).unwrap();
    folder
        .responder(Role::Issuing, renewed, &responder)
        .unwrap();
    // Others are renewed by the key that issues.
    new.renew(&leaf, None, "tests", now()).unwrap();
}

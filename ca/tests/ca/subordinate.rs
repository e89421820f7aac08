//! CAs below other CAs: made below one that is at hand, or by a request to one that is elsewhere; and what is refused of
//! what comes back.

use core::slice;
use core::time::Duration;
use std::fs;

use pq_ca::authority::{Authority, AuthorityError, Order};
use pq_ca::folder::{
    Certified, Constraints, Folder, FolderError, Interruption, KeyPlan, NewName, Plan, Role,
    SubordinatePlan, Successor,
};
use pq_ca::ledger::{Ledger, LocalLedger, SerialNumber, Stage};
use pq_ca::policy::Policy;
use pq_x509::certificate::{AlternativeName, Certificate};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::CrlReason;
use pq_x509::validation::ChainValidator;
use tempfile::TempDir;

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

type Ca = Authority<SigningKey, LocalLedger>;

fn key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

fn now() -> UnixTime {
    UnixTime::now()
}

fn policy() -> String {
    Policy::default_text(&[".".parse().unwrap()], &[], &[])
}

fn root_with(has_issuing: bool) -> (TempDir, Folder) {
    let key = |validity| KeyPlan {
        key: key(),
        validity,
    };
    let plan = Plan {
        name: "Example".into(),
        root: key(10 * YEAR),
        issuing: has_issuing.then(|| key(3 * YEAR)),
        constraints: Constraints::default(),
        policy: policy(),
    };
    let above = tempfile::tempdir().unwrap();
    let folder = Folder::create(above.path().join("root"), &plan, "tests", now()).unwrap();
    (above, folder)
}

fn authority(folder: &Folder, role: Role) -> Ca {
    folder.authority(role).unwrap()
}

fn subordinate(domains: &[&str]) -> SubordinatePlan<SigningKey> {
    SubordinatePlan {
        name: "Below".into(),
        key: key(),
        validity: None,
        constraints: Constraints {
            domains: domains.iter().map(ToString::to_string).collect(),
            ..Constraints::default()
        },
        policy: policy(),
    }
}

fn create_below(root: &Folder, plan: &SubordinatePlan<SigningKey>) -> Result<Folder, FolderError> {
    let path = root.path().with_file_name("below");
    let certificate = root.certificate(Role::Root).unwrap();
    let above = authority(root, Role::Root);
    let interruption = Interruption::default();
    Folder::create_below(
        path,
        plan,
        &above,
        (&[], &certificate),
        "tests",
        now(),
        &interruption,
    )
}

fn issue(folder: &Folder, name: &str) -> Result<Certificate, AuthorityError> {
    let key = key();
    let order = Order::for_key(&key)
        .unwrap()
        .with(|wanted| wanted.dns_name(name));
    let role = folder.issuing_role().unwrap();
    authority(folder, role).issue(&order, "tests", now())
}

fn validate(folder: &Folder, root: &Certificate, name: &str) {
    let mut chain = vec![issue(folder, name).unwrap()];
    chain.extend(folder.chain().unwrap());
    let chain: Vec<_> = chain.iter().collect();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let validator = ChainValidator::new([root.clone()]).unwrap();
    validator.validate_server(&chain, &name, now()).unwrap();
}

fn number(certificate: &Certificate) -> SerialNumber {
    SerialNumber::from_bytes(certificate.serial_number()).unwrap()
}

#[test]
fn a_ca_is_made_below_another() {
    let (_above, root) = root_with(true);
    let trusted = root.certificate(Role::Root).unwrap();
    let folder = create_below(&root, &subordinate(&["example.org"])).unwrap();
    validate(&folder, &trusted, "www.example.org");
    assert!(folder.is_below_another().unwrap());
    assert!(!root.is_below_another().unwrap());
    assert!(!folder.key_path(Role::Root).exists());
    issue(&folder, "www.example.net").unwrap_err();
    let own = folder.certificate(Role::Issuing).unwrap();
    // The root has it in its ledger, and can revoke it; and it is not taken for the root's own issuing key.
    let by_root = authority(&root, Role::Root);
    let entry = by_root.ledger().entry(&number(&own)).unwrap().unwrap();
    assert_eq!(entry.issued.profile, "other-ca");
    validate(&root, &trusted, "www.example.org");
    fs::write(root.path().join("issuing.pem"), "damaged").unwrap();
    let damaged = root.ledger().unwrap_err();
    assert!(
        matches!(&damaged, FolderError::OtherIssuing { number: of, .. } if *of != number(&own)),
        "{damaged}"
    );
    let by_root = root.ledger_of_root().unwrap();
    let revocation = pq_ca::ledger::Revocation {
        at: now(),
        reason: CrlReason::CaCompromise,
        by: "tests".into(),
    };
    by_root.revoke(&number(&own), &revocation).unwrap();

    // Another CA's ledger has none of this one's revocations.
    let (_other, other) = root_with(true);
    let others = create_below(&other, &subordinate(&[])).unwrap();
    fs::rename(folder.path().join("ledger"), folder.path().join("away")).unwrap();
    fs::rename(others.path().join("ledger"), folder.path().join("ledger")).unwrap();
    folder.ledger().unwrap_err();
}

#[test]
fn a_key_below_another_ca_is_followed_by_one_that_it_certifies() {
    let (_above, root) = root_with(true);
    let trusted = root.certificate(Role::Root).unwrap();
    let folder = create_below(&root, &subordinate(&["example.org"])).unwrap();
    let by_root = authority(&root, Role::Root);
    let successor = Successor {
        key: key(),
        name: NewName::Numbered,
        validity: None,
        is_for_later: false,
    };
    let role = folder
        .rollover_below(&by_root, &[], &successor, "tests", now())
        .unwrap();
    assert_eq!(folder.issuing_role().unwrap(), role);
    validate(&folder, &trusted, "www.example.org");
    issue(&folder, "www.example.net").unwrap_err();
    let own = folder.certificate(role).unwrap();
    assert!(by_root.ledger().entry(&number(&own)).unwrap().is_some());
    let (_other, other) = root_with(true);
    let others = authority(&other, Role::Root);
    let refused = folder.rollover_below(&others, &[], &successor, "tests", now());
    assert!(
        matches!(refused, Err(FolderError::OtherRoot { .. })),
        "{refused:?}"
    );
}

#[test]
fn what_the_ca_above_forbids_is_said_when_it_is_asked_for() {
    let (_above, root) = root_with(false);
    let refused = create_below(&root, &subordinate(&[])).unwrap_err();
    assert!(
        matches!(
            &refused,
            FolderError::Issue(IssueError::PathLength(_))
                | FolderError::Authority(AuthorityError::Issue(IssueError::PathLength(_)))
        ),
        "{refused}"
    );
    let (_above, root) = root_with(true);
    let longer = SubordinatePlan {
        validity: Some(11 * YEAR),
        ..subordinate(&[])
    };
    let refused = create_below(&root, &longer).unwrap_err();
    assert!(
        matches!(refused, FolderError::OutlivesParent { .. }),
        "{refused}"
    );
    assert!(!root.path().with_file_name("below").exists());

    // A CA with constraints, and one below it.
    let builder = CertificateBuilder::ca("Constrained")
        .path_len(2)
        .permit_dns("example.org")
        .permit_ip("192.0.2.0".parse().unwrap(), 24);
    let above = Issuer::self_signed(builder, key()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let ledger = LocalLedger::create(place.path().join("ledger")).unwrap();
    let parsed = Policy::parse(&policy(), "policy.toml").unwrap();
    let above = Authority::new("root", above, parsed, ledger);
    let (name, new_key) = (
        Issuer::self_signed(CertificateBuilder::ca("New"), key()).unwrap(),
        key(),
    );
    let certify = |constraints: &Constraints, path_len| {
        above.certify(
            &Certified {
                subject: name.certificate().subject(),
                key: &new_key,
                path_len,
                validity: None,
                constraints,
            },
            "tests",
            now(),
        )
    };
    let within = Constraints {
        domains: vec!["a.example.org".into()],
        networks: vec!["192.0.2.128/25".parse().unwrap()],
        ..Constraints::default()
    };
    let made = certify(&within, 1).unwrap();
    assert_eq!(made.path_len(), Some(1));
    let outside = AlternativeName::Dns("b.example.org".into());
    assert!(!made.permits_name(&outside));
    let with_those_above = certify(&Constraints::default(), 0).unwrap();
    assert!(with_those_above.permits_name(&outside));
    assert!(!with_those_above.permits_name(&AlternativeName::Dns("example.net".into())));
    for (domains, networks) in [
        (vec!["example.net"], vec![]),
        (vec![], vec!["192.0.0.0/16"]),
    ] {
        let outside = Constraints {
            domains: domains.into_iter().map(Into::into).collect(),
            networks: networks
                .into_iter()
                .map(|one| one.parse().unwrap())
                .collect(),
            ..Constraints::default()
        };
        let refused = certify(&outside, 0).unwrap_err();
        assert!(
            matches!(refused, FolderError::OutsideParent { .. }),
            "{refused}"
        );
    }
    let refused = certify(&within, 2).unwrap_err();
    assert!(
        matches!(refused, FolderError::PathLength { path_len: 2, .. }),
        "{refused}"
    );
}

/// Certifies what a request asks for, as a CA elsewhere does.
fn certified(root: &Folder, request: &CertificateRequest) -> Certificate {
    let subject = &request.parsed().info.subject;
    let verified = request.clone().verify().unwrap();
    let certified = Certified {
        subject,
        key: &verified,
        path_len: 0,
        validity: None,
        constraints: &Constraints::default(),
    };
    authority(root, Role::Root)
        .certify(&certified, "tests", now())
        .unwrap()
}

#[test]
fn a_ca_waits_for_its_certificate() {
    let (_above, root) = root_with(true);
    let trusted = root.certificate(Role::Root).unwrap();
    let path = root.path().with_file_name("pending");
    let interruption = Interruption::default();
    let request = Folder::create_pending(&path, &subordinate(&[]), &interruption).unwrap();
    let pending = Folder::open(&path).unwrap_err();
    assert!(matches!(pending, FolderError::Pending(_)), "{pending}");
    let folder = Folder::open_pending(&path).unwrap();
    let install = |certificates: &[Certificate], root: Option<&Certificate>| {
        folder.install(certificates, root, &[], "tests", now())
    };
    let refused = |certificates: &[Certificate], root: Option<&Certificate>, words: &str| {
        let refused = install(certificates, root).unwrap_err();
        assert!(matches!(refused, FolderError::NotInstalled(_)), "{refused}");
        assert!(refused.to_string().contains(words), "{refused}");
        assert!(matches!(Folder::open(&path), Err(FolderError::Pending(_))));
    };
    let own = certified(&root, &request);
    let (_other, other) = root_with(true);
    let of_other = other.certificate(Role::Root).unwrap();
    refused(
        slice::from_ref(&own),
        None,
        "the root's certificate is missing",
    );
    refused(
        slice::from_ref(&own),
        Some(&of_other),
        "don't lead to the root",
    );
    refused(
        slice::from_ref(&of_other),
        Some(&trusted),
        "none of the certificates is for a key",
    );
    let by_hand = authority(&root, Role::Root);
    let verified = request.verify().unwrap();
    let leaf = CertificateBuilder::server().dns_name("www.example.org");
    let leaf = by_hand.issuer().issue(leaf, &verified).unwrap();
    refused(&[leaf], Some(&trusted), "not the certificate of a CA");
    // A chain that clients refuse: the root permits one CA below it.
    let middle = CertificateBuilder::ca("Middle").path_len(1);
    let middle = by_hand.issuer().issue_ca(middle, key()).unwrap();
    let too_deep = middle
        .issue(CertificateBuilder::ca("Below").path_len(0), &verified)
        .unwrap();
    refused(
        &[too_deep, middle.certificate().clone()],
        Some(&trusted),
        "path length",
    );

    // In any order, with what is of no use.
    let given = [of_other, own.clone()];
    assert_eq!(install(&given, Some(&trusted)).unwrap(), Role::Issuing);
    let folder = Folder::open(&path).unwrap();
    validate(&folder, &trusted, "www.example.org");
    // again, as after a crash
    fs::remove_file(path.join("root.pem")).unwrap();
    let pending = Folder::open_pending(&path).unwrap();
    pending
        .install(&[own], Some(&trusted), &[], "tests", now())
        .unwrap();
    validate(&folder, &trusted, "www.example.org");
    folder.ledger().unwrap().check().unwrap();

    // A successor by a request, too: it issues once it is told to.
    let (role, request) = folder.request_successor(&key(), Some("Below 2")).unwrap();
    assert_eq!(role, Role::Next(2));
    assert_eq!(folder.generations().unwrap().len(), 1);
    let second = certified(&root, &request);
    assert_eq!(
        folder
            .install(&[second], None, &[], "tests", now())
            .unwrap(),
        role
    );
    assert_eq!(folder.issuing_role().unwrap(), Role::Issuing);
    folder.issue_with(role, "tests", now()).unwrap();
    validate(&folder, &trusted, "www.example.org");
    let stages: Vec<_> = folder
        .generations()
        .unwrap()
        .iter()
        .map(|one| one.stage)
        .collect();
    assert_eq!(stages, [Stage::Retired, Stage::Issuing]);
}

/// The certificate "new with old": clients that trust only the old root accept what is below the new one.
#[test]
fn a_root_certifies_the_one_that_follows_it() {
    let ((_one, old), (_two, new)) = (root_with(true), root_with(true));
    let by_old = authority(&old, Role::Root);
    let root = new.certificate(Role::Root).unwrap();
    assert_eq!(root.subject(), by_old.issuer().certificate().subject());
    let new_with_old = by_old
        .certify_root(&root, None, &[], "tests", now())
        .unwrap();
    assert_eq!(new_with_old.subject(), new_with_old.issuer());
    assert_eq!(new_with_old.subject_key_id(), root.subject_key_id());
    new_with_old
        .verify_signature(by_old.issuer().certificate(), &[])
        .unwrap();
    new.certificate(Role::Issuing)
        .unwrap()
        .verify_signature(&new_with_old, &[])
        .unwrap();
    let entry = by_old.ledger().entry(&number(&new_with_old)).unwrap();
    assert_eq!(entry.unwrap().issued.issuer, "root");
    let issuing = new.certificate(Role::Issuing).unwrap();
    let refused = by_old
        .certify_root(&issuing, None, &[], "tests", now())
        .unwrap_err();
    assert!(matches!(refused, FolderError::NotARoot(_)), "{refused}");
}

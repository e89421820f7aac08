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
use pq_x509::x509_cert::der::asn1::OctetString;
use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::BasicConstraints;
use pq_x509::x509_cert::ext::pkix::NameConstraints;
use pq_x509::x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use pq_x509::x509_cert::ext::pkix::name::GeneralName;
use tempfile::TempDir;

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

pub(crate) type Ca = Authority<SigningKey, LocalLedger>;

pub(crate) fn key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

pub(crate) fn now() -> UnixTime {
    UnixTime::now()
}

pub(crate) fn policy() -> String {
    Policy::default_text(&[".".parse().unwrap()], &[], &[])
}

pub(crate) fn root_with(has_issuing: bool) -> (TempDir, Folder) {
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

pub(crate) fn authority(folder: &Folder, role: Role) -> Ca {
    folder.authority(role).unwrap()
}

pub(crate) fn subordinate(domains: &[&str]) -> SubordinatePlan<SigningKey> {
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

pub(crate) fn create_below(
    root: &Folder,
    plan: &SubordinatePlan<SigningKey>,
) -> Result<Folder, FolderError> {
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

pub(crate) fn issue(folder: &Folder, name: &str) -> Result<Certificate, AuthorityError> {
    let key = key();
    let order = Order::for_key(&key)
        .unwrap()
        .with(|wanted| wanted.dns_name(name));
    let role = folder.issuing_role().unwrap();
    authority(folder, role).issue(&order, "tests", now())
}

pub(crate) fn validate(folder: &Folder, root: &Certificate, name: &str) {
    let mut chain = vec![issue(folder, name).unwrap()];
    chain.extend(folder.chain().unwrap());
    let chain: Vec<_> = chain.iter().collect();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let validator = ChainValidator::new([root.clone()]).unwrap();
    validator.validate_server(&chain, &name, now()).unwrap();
}

fn number(certificate: &Certificate) -> SerialNumber {
    SerialNumber::of(certificate).unwrap()
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
    let elsewhere = folder.authority::<SigningKey>(Role::Root).unwrap_err();
    assert!(
        matches!(elsewhere, FolderError::RootElsewhere(_)),
        "{elsewhere}"
    );
    for name in ["Below", "Example", "example root"] {
        let named = SubordinatePlan {
            name: name.into(),
            ..subordinate(&[])
        };
        let path = root.path().with_file_name("named");
        let above = (&[][..], &trusted);
        let by_root = authority(&root, Role::Root);
        let stop = Interruption::default();
        let taken = Folder::create_below(path, &named, &by_root, above, "tests", now(), &stop);
        let taken = taken.unwrap_err();
        assert!(matches!(taken, FolderError::NameTaken(_)), "{taken}");
    }
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
        matches!(refused, Err(FolderError::OtherAbove { .. })),
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
                path_len: Some(path_len),
                validity: None,
                constraints,
            },
            &[],
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
        matches!(
            refused,
            FolderError::PathLength {
                path_len: 2,
                most: 1,
                ..
            }
        ),
        "{refused}"
    );
}

/// A critical extension that nobody processes.
fn unknown_extension() -> Extension {
    Extension {
        extn_id: ObjectIdentifier::new_unwrap("1.3.6.1.4.1.55555.1"),
        critical: true,
        extn_value: OctetString::new([5, 0]).unwrap(),
    }
}

/// Certifies what a request asks for, as a CA elsewhere does.
fn certified(root: &Folder, request: &CertificateRequest) -> Certificate {
    let subject = &request.parsed().info.subject;
    let verified = request.clone().verify().unwrap();
    let certified = Certified {
        subject,
        key: &verified,
        path_len: Some(0),
        validity: None,
        constraints: &Constraints::default(),
    };
    authority(root, Role::Root)
        .certify(&certified, &[], "tests", now())
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
    let verified = request.clone().verify().unwrap();
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

    // A chain that is signed by the certificate of an end entity, and what nobody can process.
    let middle_key = key();
    let builder = CertificateBuilder::ca("Middle").path_len(0);
    let mut end_entity = by_hand.issuer().prepare(builder, &middle_key).unwrap();
    let no_ca = BasicConstraints {
        ca: false,
        path_len_constraint: None,
    };
    end_entity.set_extension(true, &no_ca).unwrap();
    let end_entity = end_entity.sign(by_hand.issuer().signer()).unwrap();
    let middle = Issuer::self_signed(CertificateBuilder::ca("Middle"), middle_key).unwrap();
    let below = CertificateBuilder::ca("Below").path_len(0);
    let by_end_entity = middle.issue(below, &verified).unwrap();
    refused(&[by_end_entity, end_entity], Some(&trusted), "is not a CA");
    let below = CertificateBuilder::ca("Below").path_len(0);
    let mut unknown = by_hand.issuer().prepare(below, &verified).unwrap();
    unknown.extensions.push(unknown_extension());
    let unknown = unknown.sign(by_hand.issuer().signer()).unwrap();
    refused(&[unknown], Some(&trusted), "1.3.6.1.4.1.55555.1");
    // Another self-signed certificate is not taken for the root, and of two roots a person chooses.
    refused(
        &[of_other.clone(), own.clone()],
        None,
        "don't lead to the root",
    );
    let twin = CertificateBuilder::ca("").subject(trusted.subject().clone());
    let twin = Issuer::self_signed(twin, by_hand.issuer().signer()).unwrap();
    let both = [twin.certificate().clone(), own.clone(), trusted.clone()];
    refused(&both, None, "several roots");

    // In any order, with what is of no use.
    let given = [of_other, own.clone()];
    assert_eq!(install(&given, Some(&trusted)).unwrap(), Role::Issuing);
    let folder = Folder::open(&path).unwrap();
    validate(&folder, &trusted, "www.example.org");
    // again, as after a crash
    fs::remove_file(path.join("root.pem")).unwrap();
    fs::write(path.join("issuing.csr"), request.to_pem()).unwrap();
    let pending = Folder::open_pending(&path).unwrap();
    pending
        .install(&[own], Some(&trusted), &[], "tests", now())
        .unwrap();
    validate(&folder, &trusted, "www.example.org");
    folder.ledger().unwrap().check().unwrap();

    // A successor by a request, too: it issues once it is told to.
    let name = NewName::Given("Below 2".into());
    let (role, request) = folder.request_successor(&key(), &name).unwrap();
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
    let next = authority(&folder, role);
    folder.issue_with(&next, "tests", now()).unwrap();
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
        .certify_root(&root, None, None, &[], "tests", now())
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
        .certify_root(&issuing, None, None, &[], "tests", now())
        .unwrap_err();
    assert!(matches!(refused, FolderError::NotARoot(_)), "{refused}");
}

/// A certificate that a CA issues to its own name doesn't count for path lengths (RFC 5280 section 4.2.1.9).
#[test]
fn a_root_without_a_path_length_is_certified_with_all_the_room_there_is() {
    let (_above, old) = root_with(true);
    let by_old = authority(&old, Role::Root);
    let trusted = by_old.issuer().certificate();
    let named = |name: &Certificate| {
        let builder = CertificateBuilder::ca("").subject(name.subject().clone());
        Issuer::self_signed(builder, key()).unwrap()
    };
    let new = named(trusted);
    let certify = |root: &Certificate, path_len| {
        by_old.certify_root(root, path_len, None, &[], "tests", now())
    };
    let new_with_old = certify(new.certificate(), None).unwrap();
    assert_eq!(new_with_old.path_len(), Some(1));
    let issuing = CertificateBuilder::ca("Issuing").path_len(0);
    let issuing = new.issue_ca(issuing, key()).unwrap();
    let leaf = CertificateBuilder::server().dns_name("www.example.org");
    let leaf = issuing.issue(leaf, &key()).unwrap();
    let chain = [&leaf, issuing.certificate(), &new_with_old];
    let name = ServerName::try_from("www.example.org").unwrap();
    ChainValidator::new([trusted.clone()])
        .unwrap()
        .validate_server(&chain, &name, now())
        .unwrap();
    let asked = certify(new.certificate(), Some(0)).unwrap();
    assert_eq!(asked.path_len(), Some(0));
    let refused = certify(new.certificate(), Some(2)).unwrap_err();
    assert!(
        matches!(refused, FolderError::PathLength { most: 1, .. }),
        "{refused}"
    );
    let other = Issuer::self_signed(CertificateBuilder::ca("Other"), key()).unwrap();
    let cross = certify(other.certificate(), None).unwrap();
    assert_eq!(cross.path_len(), Some(0));
    let itself = certify(trusted, None).unwrap_err();
    assert!(matches!(itself, FolderError::CertifiesItself), "{itself}");
}

/// What was certified has to be valid up to the root.
#[test]
fn nobody_is_certified_by_a_root_that_nobody_accepts() {
    let own_key = key();
    let issuer = Issuer::self_signed(CertificateBuilder::ca("Plain"), &own_key).unwrap();
    let place = tempfile::tempdir().unwrap();
    let ledger = LocalLedger::create(place.path().join("ledger")).unwrap();
    let parsed = Policy::parse(&policy(), "policy.toml").unwrap();
    let builder = CertificateBuilder::ca("Plain").path_len(1);
    let mut tbs = issuer.prepare(builder, &own_key).unwrap();
    tbs.extensions.push(unknown_extension());
    let certificate = tbs.sign(&own_key).unwrap();
    let issuer = Issuer::new(certificate, own_key).unwrap();
    let strange = Authority::new("root", issuer, parsed, ledger);
    let other = Issuer::self_signed(CertificateBuilder::ca("Other"), key()).unwrap();
    let refused = strange
        .certify_root(other.certificate(), None, None, &[], "tests", now())
        .unwrap_err();
    assert!(matches!(refused, FolderError::NotAccepted(_)), "{refused}");
}

/// Whoever certified a CA may have written a mask with a gap. The CA writes none, for a CA below it.
#[test]
fn masks_with_gaps_are_not_written() {
    let alone = Issuer::self_signed(CertificateBuilder::ca("Constrained"), key()).unwrap();
    let builder = CertificateBuilder::ca("Constrained").path_len(2);
    let mut tbs = alone.prepare(builder, alone.signer()).unwrap();
    let gap = GeneralSubtree {
        base: GeneralName::IpAddress(OctetString::new([10, 0, 1, 0, 255, 0, 255, 0]).unwrap()),
        minimum: 0,
        maximum: None,
    };
    let constraints = NameConstraints {
        permitted_subtrees: Some(vec![gap]),
        excluded_subtrees: None,
    };
    tbs.set_extension(true, &constraints).unwrap();
    let certificate = tbs.sign(alone.signer()).unwrap();
    let above = Issuer::new(certificate, alone.signer()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let ledger = LocalLedger::create(place.path().join("ledger")).unwrap();
    let parsed = Policy::parse(&policy(), "policy.toml").unwrap();
    let above = Authority::new("root", above, parsed, ledger);
    let name = Issuer::self_signed(CertificateBuilder::ca("New"), key()).unwrap();
    let certify = |constraints: &Constraints| {
        let certified = Certified {
            subject: name.certificate().subject(),
            key: name.signer(),
            path_len: Some(0),
            validity: None,
            constraints,
        };
        above.certify(&certified, &[], "tests", now()).unwrap_err()
    };
    let refused = certify(&Constraints::default()).to_string();
    assert!(
        refused.contains("rfc5280-name-constraints-address"),
        "{refused}"
    );
    let within = Constraints {
        networks: vec!["10.0.1.0/32".parse().unwrap()],
        ..Constraints::default()
    };
    let refused = certify(&within);
    assert!(
        matches!(refused, FolderError::OutsideParent { .. }),
        "{refused}"
    );
}

/// The root's ledger has the names of the CA's keys, also before the first of them is followed, without their files, and
/// when they are revoked: their lists are known by these names.
#[test]
fn no_other_ca_gets_the_name_of_a_key_that_the_ledger_has() {
    let (_above, root) = root_with(true);
    let by_root = authority(&root, Role::Root);
    let own = number(&root.certificate(Role::Issuing).unwrap());
    let certify = |name: &str| {
        let request = CertificateRequest::builder()
            .common_name(name)
            .sign(&key())
            .unwrap();
        let request = request.verify().unwrap();
        let certified = Certified {
            subject: request.subject(),
            key: &request,
            path_len: Some(0),
            validity: None,
            constraints: &Constraints::default(),
        };
        by_root.certify(&certified, &[], "tests", now())
    };
    let check = || {
        for name in ["Example", "example", "Example Root"] {
            let refused = certify(name);
            let is_taken = matches!(refused, Err(FolderError::NameTaken(_)));
            assert!(is_taken, "{name}: {refused:?}");
        }
    };
    check();
    certify("Other").unwrap();
    fs::remove_file(root.path().join("issuing.pem")).unwrap();
    check();
    by_root
        .revoke(&own, CrlReason::Superseded, "tests", now())
        .unwrap();
    check();
}

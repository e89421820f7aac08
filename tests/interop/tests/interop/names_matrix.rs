//! Names that certificates certify: whatever is asked for, in whatever place of a certificate, under whatever policy,
//! nobody takes a certificate that a policy permits for a host, an address or a mailbox that it doesn't. OpenSSL, Go,
//! webpki and our own validator judge.
//!
//! The same for the roots of `pqtls dev`, whose keys are stolen here.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use interop::go;
use interop::openssl::Openssl;
use pq_ca::policy::{Policy, Profile, Wanted};
use pq_x509::certificate::{AlternativeName, Certificate, Name};
use pq_x509::issuing::{CertificateBuilder, EndEntity, Issuer, TbsCertificate};
use pq_x509::pki_types::{CertificateDer, ServerName, UnixTime};
use pq_x509::validation::{ChainValidator, Purpose};
use pq_x509::x509_cert::attr::AttributeTypeAndValue;
use pq_x509::x509_cert::der::asn1::{Any, OctetString, SetOfVec};
use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::der::{Decode, Encode, Tag};
use pq_x509::x509_cert::ext::pkix::SubjectAltName;
use pq_x509::x509_cert::ext::pkix::name::{GeneralName, OtherName};
use pq_x509::x509_cert::name::{RdnSequence, RelativeDistinguishedName};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls_pq::classical::{ClassicalKey, verification_algorithms};

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");
const EMAIL: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.1");
const SMTP_UTF8_MAILBOX: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.8.9");

/// Forms of names that no policy here permits.
const EVIL: [&str; 34] = [
    "www.evil.com",
    "WWW.EVIL.COM",
    "evil.com",
    "*.evil.com",
    "w*.evil.com",
    "*w.evil.com",
    "*.*.evil.com",
    "www.*.com",
    "*",
    "*.com",
    "www.evil.com.",
    "www.evil.com..",
    ".evil.com",
    "..evil.com",
    " www.evil.com",
    "www.evil.com ",
    "www.evil.com\0",
    "www.evil.com\0.good.example",
    "www.evil.com\t",
    "www.evil.com:443",
    "https://www.evil.com/",
    "www.evil.com/a b",
    "(www.evil.com|a b)",
    "\u{ff57}\u{ff57}\u{ff57}\u{ff0e}\u{ff45}\u{ff56}\u{ff49}\u{ff4c}\u{ff0e}\u{ff43}\u{ff4f}\u{ff4d}",
    "www\u{3002}evil\u{3002}com",
    "\u{202e}moc.live.www",
    "intranet",
    "intranet.",
    "10.0.0.1",
    "2130706433",
    "::1",
    "admin@evil.com",
    "Admin <admin@evil.com>",
    "good.example.evil.com",
];

/// Names that some policies permit.
const GOOD: [&str; 8] = [
    "www.good.example",
    "good.example",
    "*.good.example",
    "192.0.2.7",
    "admin@good.example",
    "https://good.example/a/b",
    "Alice Example",
    "user-7",
];

/// What clients look for: hosts, addresses and mailboxes that no policy here permits.
const SOUGHT: [(&str, &str); 16] = [
    ("host", "www.evil.com"),
    ("host", "www.evil.com."),
    ("host", "www.evil.com.."),
    ("host", "evil.com"),
    ("host", "evil.com."),
    ("host", "a.www.evil.com"),
    ("host", "w1.evil.com"),
    ("host", "intranet"),
    ("host", "intranet."),
    ("host", "2130706433"),
    ("host", "good.example.evil.com"),
    ("host", "user-.evil.com"),
    ("ip", "10.0.0.1"),
    ("ip", "127.0.0.1"),
    ("ip", "::1"),
    ("email", "admin@evil.com"),
];

/// The same of those that some policies permit, to see that judges accept anything.
const PERMITTED: [(&str, &str); 3] = [
    ("host", "www.good.example"),
    ("ip", "192.0.2.7"),
    ("email", "admin@good.example"),
];

/// Tables `[names]` and `[subject]` of policies.
const POLICIES: [(&str, &str); 5] = [
    (
        "dns = ['.good.example']\nip = ['192.0.2.0/24']",
        "common-name = ['*']",
    ),
    (
        "dns = ['.good.example']\nip = ['192.0.2.0/24']\nemail = ['*@.good.example']\nuri = \
         ['https://good.example/a/*']\nwildcards = true\nsingle-label = true",
        "common-name = ['*']\norganization = ['*']\nunit = ['*']",
    ),
    (
        "dns = ['*.good.example', 'good.example']\nip = ['192.0.2.7']\nwildcards = true",
        "common-name = ['user-*', '*.example', 'w*']",
    ),
    ("ip = ['192.0.2.0/24']", "common-name = ['*']"),
    ("", "common-name = ['*']"),
];

/// Where a name stands in a request.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// An attribute of the subject, whose value is a string of this type.
    Subject(ObjectIdentifier, Tag),
    /// The common name after another one.
    SecondCommonName,
    Dns,
    Email,
    Uri,
}

const PLACES: [Place; 10] = [
    Place::Subject(COMMON_NAME, Tag::Utf8String),
    Place::Subject(COMMON_NAME, Tag::PrintableString),
    Place::Subject(COMMON_NAME, Tag::BmpString),
    Place::Subject(COMMON_NAME, Tag::TeletexString),
    Place::Subject(ORGANIZATION, Tag::Utf8String),
    Place::Subject(EMAIL, Tag::Ia5String),
    Place::SecondCommonName,
    Place::Dns,
    Place::Email,
    Place::Uri,
];

/// What else the request asks for, so that it is permitted.
const BESIDE: [&[&str]; 4] = [
    &[],
    &["192.0.2.7"],
    &["www.good.example"],
    &["admin@good.example"],
];

fn subject(attributes: &[(ObjectIdentifier, Tag, &str)]) -> Option<Name> {
    let parts = attributes.iter().map(|(oid, tag, text)| {
        let value = match tag {
            Tag::BmpString => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            _ => text.as_bytes().to_vec(),
        };
        let attribute = AttributeTypeAndValue {
            oid: *oid,
            value: Any::new(*tag, value).ok()?,
        };
        let set = SetOfVec::try_from(vec![attribute]).ok()?;
        Some(RelativeDistinguishedName::from(set))
    });
    let name = RdnSequence::from(parts.collect::<Option<Vec<_>>>()?);
    Name::from_der(&name.to_der().ok()?).ok()
}

impl Place {
    /// Asks for a name in this place.
    fn ask(self, wanted: Wanted, name: &str) -> Option<Wanted> {
        Some(match self {
            Self::Subject(oid, tag) => wanted.subject(subject(&[(oid, tag, name)])?),
            Self::SecondCommonName => wanted.subject(subject(&[
                (COMMON_NAME, Tag::Utf8String, "Alice Example"),
                (COMMON_NAME, Tag::Utf8String, name),
            ])?),
            Self::Dns => wanted.dns_name(name),
            Self::Email => wanted.email_address(name),
            Self::Uri => wanted.uri(name),
        })
    }
}

fn key() -> ClassicalKey {
    ClassicalKey::generate("ECDSA-P256".parse().expect("it is one")).expect("a key")
}

fn policy(names: &str, subject: &str) -> Policy {
    let text = format!(
        "[names]\n{names}\n[subject]\n{subject}\n[keys]\nalgorithms = ['ECDSA-P256']\n[usages]\n\
         profiles = ['server', 'client', 'server+client', 'any']\n"
    );
    Policy::parse(&text, "policy.toml").expect("a policy")
}

/// A certificate, and what was asked for.
struct Issued {
    what: String,
    /// Which of the roots.
    root: usize,
    certificate: Certificate,
}

/// All certificates that the policies permit.
fn all_permitted(ca: &Issuer<ClassicalKey>) -> Vec<Issued> {
    let leaf_key = key();
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    let names = EVIL.iter().chain(&GOOD);
    for (number, (names_table, subject_table)) in POLICIES.iter().enumerate() {
        let policy = policy(names_table, subject_table);
        for name in names.clone() {
            for place in PLACES {
                for beside in BESIDE {
                    for profile in [Profile::Server, Profile::Any] {
                        let wanted = Wanted::new(&leaf_key).expect("a key").profile(profile);
                        let Some(wanted) = place.ask(wanted, name) else {
                            continue;
                        };
                        let wanted = beside.iter().fold(wanted, |wanted, other| {
                            let Ok(other) = other.parse::<AlternativeName>();
                            wanted.alternative_name(other)
                        });
                        let checked = policy.check(&wanted, ca.certificate(), UnixTime::now());
                        let Ok(permitted) = checked else { continue };
                        // Other policies permit the same.
                        let builder = permitted.certificate();
                        let contents = format!("{wanted:?}");
                        if !seen.insert(contents) {
                            continue;
                        }
                        // Not all that a policy permits can be in a certificate.
                        let Ok(certificate) = ca.issue(builder, &leaf_key) else {
                            continue;
                        };
                        all.push(Issued {
                            what: format!(
                                "policy {number}, {name:?} as {place:?}, {profile}, {beside:?}"
                            ),
                            root: 0,
                            certificate,
                        });
                    }
                }
            }
        }
    }
    all
}

/// A question for judges.
#[derive(Clone, Copy)]
struct Question<'a> {
    issued: &'a Issued,
    kind: &'static str,
    name: &'static str,
}

fn questions<'a>(
    issued: &'a [Issued],
    names: &'static [(&'static str, &'static str)],
) -> Vec<Question<'a>> {
    let of_one = |issued| {
        names
            .iter()
            .map(move |&(kind, name)| Question { issued, kind, name })
    };
    issued.iter().flat_map(of_one).collect()
}

/// Programs of others, in a folder with the certificates.
struct Judges {
    folder: tempfile::TempDir,
    openssl: Option<PathBuf>,
    go: Option<PathBuf>,
}

impl Judges {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self {
            openssl: build_openssl(folder.path()),
            go: go::build("go", 0, folder.path()),
            folder,
        }
    }

    /// What each judge says to all questions, by its name.
    fn ask(
        &self,
        roots: &[Certificate],
        questions: &[Question<'_>],
    ) -> BTreeMap<&'static str, Vec<bool>> {
        let mut verdicts = BTreeMap::new();
        let files = self.write(roots, questions);
        let mut outside = |judge, program: &Option<PathBuf>, knows_email| {
            let Some(program) = program else { return };
            verdicts.insert(judge, self.run(program, &files, questions, knows_email));
        };
        outside("OpenSSL", &self.openssl, true);
        outside("Go", &self.go, false);
        let webpki: Vec<_> = roots.iter().map(webpki).collect();
        let ours: Vec<_> = roots.iter().map(ours).collect();
        let by = |judge: &dyn Fn(&Question<'_>) -> bool| questions.iter().map(judge).collect();
        let is_accepted = by(&|question| {
            let certificate = question.issued.certificate.der();
            let verifier = &webpki[question.issued.root];
            let verify = |name: &ServerName<'_>| {
                verifier.verify_server_cert(certificate, &[], name, &[], UnixTime::now())
            };
            server_name(question).is_some_and(|name| verify(&name).is_ok())
        });
        verdicts.insert("webpki", is_accepted);
        let is_accepted = by(&|question| {
            let validator = &ours[question.issued.root];
            let chain = [&question.issued.certificate];
            match server_name(question) {
                Some(name) => validator
                    .validate_server(&chain, &name, UnixTime::now())
                    .is_ok(),
                None if question.kind == "email" => {
                    let (name, now) = (question.name, UnixTime::now());
                    let validated = validator.validate_email(&chain, name, Purpose::Documents, now);
                    validated.is_ok()
                }
                None => false,
            }
        });
        verdicts.insert("pq-x509", is_accepted);
        verdicts
    }

    /// Writes each certificate once. The files of the questions, and of the roots.
    fn write(&self, roots: &[Certificate], questions: &[Question<'_>]) -> Vec<String> {
        let write = |name: &str, pem: &str| {
            fs::write(self.folder.path().join(name), pem).expect("the folder can be written");
        };
        for (index, root) in roots.iter().enumerate() {
            write(&format!("root{index}.pem"), &root.to_pem());
        }
        let mut files: Vec<String> = Vec::new();
        let mut last: Option<&Issued> = None;
        for (index, question) in questions.iter().enumerate() {
            let file = match (last, files.last()) {
                (Some(last), Some(file)) if core::ptr::eq(last, question.issued) => file.clone(),
                _ => {
                    let file = format!("leaf{index}.pem");
                    write(&file, &question.issued.certificate.to_pem());
                    file
                }
            };
            last = Some(question.issued);
            files.push(file);
        }
        files
    }

    fn run(
        &self,
        program: &Path,
        files: &[String],
        questions: &[Question<'_>],
        knows_email: bool,
    ) -> Vec<bool> {
        let is_asked = |question: &Question<'_>| knows_email || question.kind != "email";
        let lines = questions.iter().zip(files);
        let lines = lines.filter(|(question, _)| is_asked(question));
        let lines: String = lines
            .map(|(question, file)| {
                let Question { issued, kind, name } = question;
                format!("root{}.pem {file} {kind} {name}\n", issued.root)
            })
            .collect();
        let mut child = Command::new(program)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was just built");
        let mut input = child.stdin.take().expect("it is a pipe");
        // In a thread of its own, so that neither pipe can fill up.
        let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
        let output = child.wait_with_output().expect("it ends");
        writer
            .join()
            .expect("no panic")
            .expect("it reads all lines");
        assert!(output.status.success(), "{} failed", program.display());
        let text = String::from_utf8(output.stdout).expect("digits");
        let mut answers = text.lines().map(|line| line == "1");
        let verdicts = questions
            .iter()
            .map(|question| is_asked(question) && answers.next().expect("a line for each"))
            .collect();
        assert_eq!(answers.next(), None);
        verdicts
    }
}

fn server_name(question: &Question<'_>) -> Option<ServerName<'static>> {
    match question.kind {
        "email" => None,
        _ => ServerName::try_from(question.name).ok(),
    }
}

fn webpki(root: &Certificate) -> Arc<WebPkiServerVerifier> {
    let mut roots = RootCertStore::empty();
    let der = CertificateDer::from(root.der().to_vec());
    roots.add(der).expect("it is a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .expect("a verifier")
}

fn ours(root: &Certificate) -> ChainValidator {
    let classical = verification_algorithms().expect("this CPU has them");
    ChainValidator::new([root.clone()])
        .expect("it is a root")
        .with_algorithms(classical)
}

/// Builds the judge in C.
fn build_openssl(folder: &Path) -> Option<PathBuf> {
    // Tells about what is missing, or fails in CI.
    Openssl::find()?;
    let openssl = Openssl::folder().expect("what was found can be built");
    let program = folder.join("judge-openssl");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("judges/openssl.c");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(compiler)
        .arg("-I")
        .arg(openssl.join("include"))
        .arg("-o")
        .args([&program, &source])
        .arg(openssl.join("libcrypto.a"))
        .args(["-lpthread", "-ldl"])
        .status()
        .expect("the compiler that built OpenSSL");
    assert!(status.success(), "compiling {} failed", source.display());
    Some(program)
}

fn assert_refused(judges: &Judges, roots: &[Certificate], questions: &[Question<'_>]) {
    for (judge, verdicts) in judges.ask(roots, questions) {
        for (question, is_accepted) in questions.iter().zip(verdicts) {
            let Question { issued, kind, name } = question;
            assert!(
                !is_accepted,
                "{judge} accepts {kind} {name}: {}",
                issued.what
            );
        }
    }
}

#[test]
fn nobody_accepts_a_name_that_the_policy_did_not_permit() {
    let ca = Issuer::self_signed(CertificateBuilder::ca("Example CA"), key()).expect("a CA");
    let root = [ca.certificate().clone()];
    let judges = Judges::new();
    let permitted = all_permitted(&ca);
    assert!(permitted.len() > 50, "{} certificates", permitted.len());
    assert_refused(&judges, &root, &questions(&permitted, &SOUGHT));

    // The judges do accept what was permitted,
    let asked = questions(&permitted, &PERMITTED);
    for (judge, verdicts) in judges.ask(&root, &asked) {
        for (kind, name) in PERMITTED {
            let mut of_name = asked
                .iter()
                .zip(&verdicts)
                .filter(|(one, _)| one.name == name);
            let knows = kind != "email" || matches!(judge, "OpenSSL");
            assert!(
                !knows || of_name.any(|(_, is_accepted)| *is_accepted),
                "{judge} accepts no certificate for {name}"
            );
        }
    }
    // and OpenSSL would accept common names, if policies permitted them.
    let careless: Vec<_> = [
        ("www.evil.com", "www.evil.com"),
        ("*.evil.com", "www.evil.com"),
        ("w*.evil.com", "www.evil.com"),
        ("evil.com.", "evil.com."),
        ("intranet", "intranet"),
    ]
    .into_iter()
    .map(|(name, sought)| {
        let builder = CertificateBuilder::server()
            .ip_address([192, 0, 2, 7].into())
            .common_name(name);
        let issued = Issued {
            what: name.into(),
            root: 0,
            certificate: ca.issue(builder, &key()).expect("no policy"),
        };
        (issued, sought)
    })
    .collect();
    let asked: Vec<_> = careless
        .iter()
        .map(|(issued, name)| Question {
            issued,
            kind: "host",
            name,
        })
        .collect();
    for (judge, verdicts) in judges.ask(&root, &asked) {
        assert_eq!(
            verdicts,
            [judge == "OpenSSL"; 5],
            "{judge} and common names"
        );
    }
}

static LEAF_KEY: LazyLock<ClassicalKey> = LazyLock::new(key);

/// A certificate by a thief of a root's key, who is bound by nothing but the root's certificate; `None` if it is no
/// certificate that this crate can write.
fn forged(
    root: &Issuer<ClassicalKey>,
    builder: CertificateBuilder<EndEntity>,
    change: &dyn Fn(&mut TbsCertificate),
) -> Option<Certificate> {
    let mut tbs = root
        .prepare(builder, &*LEAF_KEY)
        .expect("it is a certificate");
    change(&mut tbs);
    tbs.sign(root.signer()).ok()
}

/// `pqtls dev` says that whoever steals its roots' keys can impersonate nobody beyond local names.
#[test]
fn a_stolen_dev_root_certifies_nobody_else() {
    let judges = Judges::new();
    let folder = tempfile::tempdir().expect("a folder");
    let made = Command::new(env!("CARGO_BIN_EXE_interop-pqtls"))
        .args(["dev", "localhost", "--data-dir", "data"])
        .current_dir(folder.path())
        .output()
        .expect("it is built with this test");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let read = |file: &str| {
        fs::read_to_string(folder.path().join("data/local").join(file)).expect("dev made it")
    };
    let root = |file: &str| Certificate::from_pem(&read(file)).expect("a certificate");
    let stolen = || ClassicalKey::from_pem(&read("root-classical.key")).expect("a key");
    let roots = [
        root("root-classical.pem"),
        root("root-classical-for-browsers.pem"),
    ];

    let mut all = Vec::new();
    let mut honest = Vec::new();
    for (index, certificate) in roots.iter().enumerate() {
        let root = Issuer::new(certificate.clone(), stolen()).expect("its key");
        let mut add = |what: String,
                       builder: CertificateBuilder<EndEntity>,
                       subject: Option<Name>,
                       names: Option<Vec<GeneralName>>| {
            let forged = forged(&root, builder, &|tbs| {
                if let Some(subject) = &subject {
                    tbs.subject = subject.clone();
                }
                match &names {
                    Some(names) if names.is_empty() => {
                        tbs.remove_extension(ObjectIdentifier::new_unwrap("2.5.29.17"));
                    }
                    Some(names) => tbs
                        .set_extension(true, &SubjectAltName(names.clone()))
                        .expect("names"),
                    None => {}
                }
            });
            let Some(certificate) = forged else { return };
            all.push(Issued {
                what: format!("root {index}, {what}"),
                root: index,
                certificate,
            });
        };
        let local = || CertificateBuilder::server().ip_address([127, 0, 0, 2].into());
        for name in EVIL {
            for tag in [
                Tag::Utf8String,
                Tag::PrintableString,
                Tag::BmpString,
                Tag::TeletexString,
            ] {
                let subject = subject(&[(COMMON_NAME, tag, name)]);
                let Some(subject) = subject else { continue };
                let what = format!("{name:?} as {tag}");
                add(
                    format!("{what} with an address"),
                    local(),
                    Some(subject.clone()),
                    None,
                );
                add(
                    format!("{what} alone"),
                    local(),
                    Some(subject),
                    Some(Vec::new()),
                );
            }
            let two = subject(&[
                (COMMON_NAME, Tag::Utf8String, "localhost"),
                (COMMON_NAME, Tag::Utf8String, name),
            ]);
            add(
                format!("{name:?} as second common name"),
                local(),
                two,
                None,
            );
            if let Some(email) = subject(&[(EMAIL, Tag::Ia5String, name)]) {
                add(
                    format!("{name:?} as emailAddress"),
                    local(),
                    Some(email),
                    Some(Vec::new()),
                );
            }
            for builder in [
                CertificateBuilder::server().dns_name(name),
                CertificateBuilder::server().email_address(name),
                CertificateBuilder::server().uri(name),
            ] {
                // What no certificate of ours has is tried as a common name above.
                if root.prepare(builder.clone(), &*LEAF_KEY).is_ok() {
                    add(format!("{name:?} as alternative name"), builder, None, None);
                }
            }
        }
        let mailbox = Any::new(Tag::Utf8String, b"admin@evil.com".to_vec()).expect("a string");
        let mailbox = GeneralName::OtherName(OtherName {
            type_id: SMTP_UTF8_MAILBOX,
            value: mailbox,
        });
        add(
            "a mailbox as otherName".into(),
            local(),
            None,
            Some(vec![mailbox]),
        );
        for address in [&[10, 0, 0, 1][..], &[0; 16], &[8, 8, 8, 8]] {
            let address = OctetString::new(address).expect("an address");
            add(
                "an address".into(),
                local(),
                None,
                Some(vec![GeneralName::IpAddress(address)]),
            );
        }
        let leaf = CertificateBuilder::server()
            .dns_name("localhost")
            .ip_address([127, 0, 0, 1].into());
        honest.push(Issued {
            what: "localhost".into(),
            root: index,
            certificate: forged(&root, leaf, &|_| {}).expect("it is sound"),
        });
    }
    assert!(all.len() > 500, "{} certificates", all.len());

    // The private addresses and the loopback are local. The roots for browsers are not for OpenSSL.
    let is_local = |name: &str| ["10.0.0.1", "127.0.0.1", "::1"].contains(&name);
    let mut asked = questions(&all, &SOUGHT);
    asked.retain(|question| !is_local(question.name));
    for (judge, verdicts) in judges.ask(&roots, &asked) {
        for (question, is_accepted) in asked.iter().zip(verdicts) {
            let Question { issued, kind, name } = question;
            let is_ours = !(judge == "OpenSSL" && issued.root == 1);
            assert!(
                !(is_accepted && is_ours),
                "{judge} accepts {kind} {name}: {}",
                issued.what
            );
        }
    }
    // Each root is of use to those that it is for.
    const LOCAL: [(&str, &str); 1] = [("host", "localhost")];
    for (judge, verdicts) in judges.ask(&roots, &questions(&honest, &LOCAL)) {
        let expected = match judge {
            "OpenSSL" | "pq-x509" => [true, true],
            _ => [false, true],
        };
        assert_eq!(verdicts, expected, "{judge}");
    }
}

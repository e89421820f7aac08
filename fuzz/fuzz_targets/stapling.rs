//! OCSP responses of identities, set in memory, from a file and from a source: clients only get current responses about
//! the certificate, signed by its CA or a delegate of the CA, and none if the chain lacks the CA's certificate. Any
//! other response leaves the previous one in place, and the identity stays in any case.
#![no_main]

use std::fs::{self, File};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
use fuzz::pki::{FixedKey, PKI};
use fuzz::tls::PROVIDER;
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::SignatureAlgorithm;
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder, OcspResponse, OcspVerifier};
use pq_x509::revocation::CrlReason;
use pq_x509::x509_cert::der::Encode;
use pq_x509::x509_cert::der::asn1::OctetString;
use pq_x509::x509_cert::ext::Extension;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls_pq::identity::{FilePair, Identities, Identity, IdentityFiles, IdentitySet, Watcher};
use rustls_pq::{ObjectIdentifier, TrustAnchorId};

fuzz_target!(|input: Input<'_>| match input {
    Input::InMemory(server, responses) => in_memory(server, &responses),
    Input::FromSource(asked) => asked.check(),
    Input::InFile(in_file) => in_file.check(),
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    InMemory(Server, [Response<'a>; 4]),
    FromSource(Asked<'a>),
    InFile(InFile<'a>),
}

/// Whose chain it is, and whether the chain has the certificate of the CA.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Server {
    number: bool,
    with_issuer: bool,
}

#[derive(Arbitrary, Debug)]
enum Response<'a> {
    Made(Made),
    Edited(Made, DerEdits<'a>),
    Bytes(&'a [u8]),
    Nothing,
}

/// A response that somebody signs.
#[derive(Arbitrary, Debug)]
struct Made {
    about: About,
    status: Status,
    window: u8,
    signer: Signer,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum About {
    It,
    ItAndAnother,
    Another,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Status {
    Good,
    Revoked,
    Unknown,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Signer {
    Ca,
    Delegate,
    ExpiredDelegate,
    /// A delegate of another CA with the same name.
    ForgedDelegate,
    /// That other CA itself.
    Forger,
}

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// When a response is made and when it expires, in seconds from now. Those in [`CURRENT`] are good now.
const WINDOWS: [(i64, i64); 8] = [
    (-HOUR, HOUR),
    (-2 * DAY, 2 * DAY),
    (-MINUTE, 30 * DAY),
    // Begins in the future, but within the tolerance for wrong clocks.
    (MINUTE, HOUR),
    (-2 * DAY, -DAY),
    (-2 * HOUR, -HOUR),
    (10 * MINUTE, 2 * HOUR),
    (DAY, 2 * DAY),
];

const CURRENT: core::ops::Range<usize> = 0..4;

/// The key of every leaf here.
static KEY: LazyLock<String> = LazyLock::new(|| {
    let key = PKI.server_key.0.to_pkcs8_pem();
    key.expect("a key with a seed").to_string()
});

/// Two certificates of the server, the second of which requires a response (must-staple), and two between which
/// [`Files::wait`] alternates.
static LEAVES: LazyLock<[Certificate; 4]> = LazyLock::new(|| {
    [0x31, 0x32, 0x33, 0x34].map(|number| {
        let leaf = CertificateBuilder::server()
            .dns_name("localhost")
            .serial_number(&[number]);
        let mut tbs = PKI.ca.prepare(leaf, &PKI.server_key).expect("a leaf");
        if number == 0x32 {
            let features = vec![17_u16, 5].to_der().expect("numbers");
            tbs.extensions.push(Extension {
                extn_id: ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.24"),
                critical: false,
                extn_value: OctetString::new(features).expect("a short one"),
            });
        }
        tbs.sign(PKI.ca.signer()).expect("a key that signs")
    })
});

static FORGER: LazyLock<Issuer<FixedKey>> = LazyLock::new(|| {
    let ca = CertificateBuilder::ca("CA");
    Issuer::self_signed(ca, key(7)).expect("a CA")
});

fn key(number: u8) -> FixedKey {
    FixedKey::new(SignatureAlgorithm::MlDsa44, number)
}

fn delegate(issuer: &Issuer<FixedKey>, validity: Validity) -> OcspResponder<FixedKey> {
    let certificate = CertificateBuilder::ocsp_responder()
        .common_name("Responder")
        .validity(validity);
    let mut tbs = issuer.prepare(certificate, &key(8)).expect("a delegate");
    // Without the identifier of the issuer's key: a forger doesn't say that it is another one.
    tbs.remove_extension(ObjectIdentifier::new_unwrap("2.5.29.35"));
    let certificate = tbs.sign(issuer.signer()).expect("a delegate");
    OcspResponder::delegate(PKI.ca.certificate().clone(), certificate, key(8)).expect("a pair")
}

static DELEGATES: LazyLock<[OcspResponder<FixedKey>; 3]> = LazyLock::new(|| {
    let [long_ago, before, later] = [-20 * DAY, -10 * DAY, 100 * DAY].map(after);
    [
        delegate(&PKI.ca, Validity::new(long_ago, later)),
        delegate(&PKI.ca, Validity::new(long_ago, before)),
        delegate(&FORGER, Validity::new(long_ago, later)),
    ]
});

fn after(seconds: i64) -> SystemTime {
    let long = Duration::from_secs(seconds.unsigned_abs());
    match seconds < 0 {
        true => SystemTime::now() - long,
        false => SystemTime::now() + long,
    }
}

impl Server {
    fn leaf(self) -> &'static Certificate {
        &LEAVES[usize::from(self.number)]
    }

    fn chain(self) -> String {
        let issuer = PKI.ca.certificate().to_pem();
        let issuer = self.with_issuer.then_some(issuer);
        self.leaf().to_pem() + &issuer.unwrap_or_default()
    }

    fn identity(self) -> Identity {
        let identity = Identity::from_pem(self.chain().as_bytes(), KEY.as_bytes(), &PROVIDER);
        let identity = identity.expect("a pair");
        assert_eq!(identity.must_staple(), self.number);
        identity
    }
}

impl Made {
    fn window(&self) -> usize {
        usize::from(self.window) % WINDOWS.len()
    }

    fn der(&self, server: Server) -> Vec<u8> {
        let issuer = match self.signer {
            Signer::Forger => FORGER.certificate(),
            _ => PKI.ca.certificate(),
        };
        let request = OcspRequest::builder();
        let another = &PKI.client;
        let request = match self.about {
            About::It => request.certificate(server.leaf(), issuer),
            About::ItAndAnother => request
                .certificate(another, issuer)
                .certificate(server.leaf(), issuer),
            About::Another => request.certificate(another, issuer),
        };
        let request = request.build().expect("a request");
        let status = match self.status {
            Status::Good => CertStatus::Good,
            Status::Revoked => CertStatus::Revoked {
                date: UnixTime::since_unix_epoch(Duration::from_secs(1_700_000_000)),
                reason: CrlReason::KeyCompromise,
            },
            Status::Unknown => CertStatus::Unknown,
        };
        let status = |_: &[u8]| Ok::<_, IssueError>(status);
        let (from, until) = WINDOWS[self.window()];
        let validity = Validity::new(after(from), after(until));
        let now = SystemTime::now();
        let by_ca = |ca| OcspResponder::ca(ca).respond(&request, now, validity, status);
        let by = |index: usize| DELEGATES[index].respond(&request, now, validity, status);
        let response = match self.signer {
            Signer::Ca => by_ca(&PKI.ca),
            Signer::Delegate => by(0),
            Signer::ExpiredDelegate => by(1),
            Signer::ForgedDelegate => by(2),
            Signer::Forger => by_ca(&FORGER),
        };
        response.expect("a response").into_der()
    }

    /// Whether a client of this server can use it.
    fn is_for(&self, server: Server) -> bool {
        !matches!(self.about, About::Another)
            && !matches!(self.status, Status::Unknown)
            && CURRENT.contains(&self.window())
            // Without the certificate of the CA nothing can be verified.
            && server.with_issuer
            && matches!(self.signer, Signer::Ca | Signer::Delegate)
    }
}

impl Response<'_> {
    /// Its bytes, and whether an identity of this server takes them.
    fn of(&self, server: Server) -> (Vec<u8>, bool) {
        match self {
            Self::Made(made) => (made.der(server), made.is_for(server)),
            Self::Edited(made, edits) => {
                let der = made.der(server);
                let edited = edits.of(&der);
                let is_taken = match edited == der {
                    true => made.is_for(server),
                    false => takes(server, &edited),
                };
                // No edit makes a bad response good: the signature covers everything that counts.
                assert!(!is_taken || made.is_for(server));
                (edited, is_taken)
            }
            Self::Bytes(bytes) => (bytes.to_vec(), takes(server, bytes)),
            Self::Nothing => (Vec::new(), false),
        }
    }
}

/// Whether an identity without a response takes this one. Empty bytes, which stand for no response, count as not taken.
fn takes(server: Server, response: &[u8]) -> bool {
    static IDENTITIES: LazyLock<[Identity; 4]> = LazyLock::new(|| {
        let both = [false, true];
        let servers = both.map(|number| {
            both.map(|with_issuer| Server {
                number,
                with_issuer,
            })
        });
        let [[a, b], [c, d]] = servers;
        [a, b, c, d].map(Server::identity)
    });
    let index = 2 * usize::from(server.number) + usize::from(server.with_issuer);
    let identity = &IDENTITIES[index];
    let is_taken = !response.is_empty() && identity.set_ocsp_response(response).is_ok();
    identity.set_ocsp_response(&[]).expect("none");
    is_taken
}

/// Checks that the identity has this response, and that a client can use it.
fn check_shown(identity: &Identity, server: Server, shown: Option<&Vec<u8>>) {
    let certified = identity.certified_key();
    assert_eq!(certified.ocsp.as_ref(), shown);
    let size = identity.chain().iter().map(|it| it.len()).sum::<usize>();
    assert_eq!(identity.size(), size + shown.map_or(0, Vec::len));
    let until = identity.ocsp_response_until();
    let Some(shown) = shown else {
        assert_eq!(until, None);
        return;
    };
    let now = UnixTime::now();
    let response = OcspResponse::from_der(shown).expect("a response");
    let leaf = server.leaf();
    // Identities show nothing that they can't verify, with this verifier.
    assert!(server.with_issuer);
    let issuer = PKI.ca.certificate();
    let verifier = OcspVerifier::new(issuer, now)
        .with_algorithms(PROVIDER.signature_verification_algorithms.all);
    let verified = verifier.verify(&response, leaf).expect("a verified one");
    let answer = verified.answer();
    assert_ne!(answer.status(), CertStatus::Unknown);
    assert_eq!(until, answer.next_update());
    assert!(until.is_some_and(|until| until > now));
    assert!(answer.this_update().as_secs() <= now.as_secs() + 5 * 60);
}

fn in_memory(server: Server, responses: &[Response<'_>]) {
    let [first, others @ ..] = responses else {
        unreachable!("an array of several");
    };
    let identity = server.identity();
    check_shown(&identity, server, None);
    let (response, is_taken) = first.of(server);
    let mut shown = is_taken.then(|| response.clone());
    let identity = match identity.with_ocsp_response(&response) {
        Ok(identity) => {
            assert!(is_taken || response.is_empty());
            identity
        }
        Err(error) => {
            assert!(!is_taken && !error.to_string().is_empty());
            server.identity()
        }
    };
    check_shown(&identity, server, shown.as_ref());
    for response in others {
        let (response, is_taken) = response.of(server);
        let result = identity.set_ocsp_response(&response);
        assert_eq!(result.is_ok(), is_taken || response.is_empty());
        if result.is_ok() {
            shown = is_taken.then_some(response);
        }
        check_shown(&identity, server, shown.as_ref());
    }
}

/// A source that is asked for the responses of two identities.
#[derive(Arbitrary, Debug)]
struct Asked<'a> {
    with_issuer: [bool; 2],
    before: [Response<'a>; 2],
    answers: [Answer<'a>; 2],
}

#[derive(Arbitrary, Debug)]
enum Answer<'a> {
    Response(Response<'a>),
    Fails,
    Panics,
}

/// The payload of a source's panic by `resume_unwind`, which doesn't call libFuzzer's hook: it isn't a finding.
struct OfSource;

impl Asked<'_> {
    fn servers(&self) -> [Server; 2] {
        let [first, second] = self.with_issuer;
        [(false, first), (true, second)].map(|(number, with_issuer)| Server {
            number,
            with_issuer,
        })
    }

    fn check(&self) {
        let start = Instant::now();
        let servers = self.servers();
        let of_servers = |responses: [&Response<'_>; 2]| {
            let [first, second] = responses;
            [first.of(servers[0]), second.of(servers[1])]
        };
        let [first, second] = &self.before;
        let mut shown = of_servers([first, second]).map(|(der, taken)| taken.then_some(der));
        let identities = servers.map(|server| Arc::new(server.identity()));
        for (identity, response) in identities.iter().zip(&shown) {
            let response = response.as_deref().unwrap_or_default();
            identity.set_ocsp_response(response).expect("one of use");
        }
        let set = identities.iter().fold(IdentitySet::new(), |set, identity| {
            set.with_default(Arc::clone(identity))
        });
        let all = Identities::new(set);

        let answers = [0, 1].map(|index| match &self.answers[index] {
            Answer::Response(response) => response.of(servers[index]),
            Answer::Fails | Answer::Panics => (Vec::new(), false),
        });
        let asked = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let source = |chain: &[CertificateDer<'static>]| {
            let mut both = servers.iter();
            let index = both.position(|server| *server.leaf().der() == chain[0]);
            let index = index.expect("the chain of one");
            asked[index].fetch_add(1, Ordering::Relaxed);
            match self.answers[index] {
                Answer::Response(_) => Ok(answers[index].0.clone()),
                Answer::Fails => Err("there is none"),
                Answer::Panics => resume_unwind(Box::new(OfSource)),
            }
        };
        let pause = all.refresh_ocsp_responses(&source);
        let mut expected = DAY as u64;
        let now = UnixTime::now().as_secs();
        for ((shown, (der, is_taken)), server) in shown.iter_mut().zip(answers.clone()).zip(servers)
        {
            let times = |der: &[u8]| times(der, server);
            // Only a newer response replaces the previous one.
            let is_new =
                is_taken && (shown.as_ref()).is_none_or(|before| times(before).0 < times(&der).0);
            if is_new {
                *shown = Some(der);
            }
            let next = shown.as_ref().map(|der| times(der));
            let left = match (is_new, next) {
                (true, Some((from, until))) => {
                    let half = from + (until - from) / 2;
                    half.saturating_sub(now).clamp(1, DAY as u64)
                }
                (false, Some((_, until))) => (until.saturating_sub(now) / 4).clamp(10, 60 * 60),
                (_, None) => 60,
            };
            expected = expected.min(left);
        }
        let late = start.elapsed().as_secs() + 2;
        assert!(
            pause.as_secs().abs_diff(expected) <= late,
            "{pause:?}, {expected}"
        );

        // The source is only asked again after the pause.
        all.refresh_ocsp_responses(&source);
        let once = asked.iter().all(|asked| asked.load(Ordering::Relaxed) == 1);
        assert!(once || pause.as_secs() <= late);
        let current = all.current();
        for ((identity, server), shown) in identities.iter().zip(servers).zip(&shown) {
            assert!(current.contains(identity));
            check_shown(identity, server, shown.as_ref());
        }
    }
}

/// The period for which a response is good, in seconds since 1970.
fn times(der: &[u8], server: Server) -> (u64, u64) {
    let response = OcspResponse::from_der(der).expect("one that was taken");
    let leaf = server.leaf();
    let mut answers = response.answers().iter();
    let answer = match server.with_issuer {
        true => response.answer_for(leaf, PKI.ca.certificate()),
        false => answers.find(|it| it.certificate().serial_number() == leaf.serial_number()),
    };
    let answer = answer.expect("one about the certificate");
    let until = answer.next_update().expect("an end");
    (answer.this_update().as_secs(), until.as_secs())
}

/// A response in a file beside a pair, which is watched.
#[derive(Arbitrary, Debug)]
struct InFile<'a> {
    server: Server,
    at_first: First<'a>,
    /// Nobody tells the watcher to look.
    by_itself: bool,
    panics: bool,
    steps: Vec<Step<'a>>,
}

#[derive(Arbitrary, Debug)]
enum First<'a> {
    Nothing,
    Response(Response<'a>),
    TooLarge,
}

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Write(Response<'a>),
    Remove,
    TooLarge,
    Directory,
    /// The other server's chain.
    Chain {
        with_issuer: bool,
    },
    NoChain,
    Mode(bool),
    /// The program puts an empty set in place, which the watcher replaces when a file changes.
    Replace,
}

struct Files {
    folder: PathBuf,
    /// The index in [`LEAVES`] of the certificate in the pair that the watcher looks at last: 2 or 3.
    last: usize,
}

impl Files {
    fn new(server: Server) -> Self {
        let name = format!("fuzz-stapling-{}", std::process::id());
        let files = Self {
            folder: std::env::temp_dir().join(name),
            last: 2,
        };
        // A dead process with this ID may have left one.
        drop(fs::remove_dir_all(&files.folder));
        fs::create_dir(&files.folder).expect("a folder for files");
        files.write("chain.pem", server.chain().as_bytes());
        files.write("key.pem", KEY.as_bytes());
        files.write("last.pem", LEAVES[files.last].to_pem().as_bytes());
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes the file as a whole: the watcher never sees a part.
    fn write(&self, name: &str, content: &[u8]) {
        let new = self.path("new");
        fs::write(&new, content).expect("a file");
        fs::rename(new, self.path(name)).expect("a file");
    }

    /// Writes a response that is larger than the watcher reads.
    fn write_too_large(&self) {
        let new = self.path("new");
        let file = File::create(&new).expect("a file");
        file.set_len((1 << 20) + 1).expect("a sparse one");
        fs::rename(new, self.response()).expect("a file");
    }

    fn response(&self) -> PathBuf {
        self.path("chain.ocsp")
    }

    /// Removes the response, and anything else in its place.
    fn clear(&self) {
        let response = self.response();
        match response.is_dir() {
            true => fs::remove_dir(response).expect("an empty directory"),
            // It may not be there.
            false => drop(fs::remove_file(response)),
        }
    }

    fn watched(&self) -> IdentityFiles {
        let pair = FilePair::new(self.path("chain.pem"), self.path("key.pem"))
            .for_name("first")
            .with_ocsp_response(self.response())
            .with_protocols(["protocol"])
            .with_trust_anchors([*ANCHOR]);
        IdentityFiles::new(PROVIDER.clone().into())
            .with_pair(pair)
            .with_name("LAST", self.path("last.pem"), self.path("key.pem"))
    }

    /// Waits until the watcher has seen all changes: it looks at the last pair last, so this changes the last pair and
    /// waits until the change is in use.
    fn wait(&mut self, identities: &Identities, watcher: Option<&Watcher>) {
        self.last = 5 - self.last;
        let leaf = &LEAVES[self.last];
        self.write("last.pem", leaf.to_pem().as_bytes());
        if let Some(watcher) = watcher {
            watcher.reload();
        }
        let start = Instant::now();
        let is_seen = || {
            let set = identities.current();
            let mut named = set.named("last");
            named.any(|identity| identity.chain()[0] == *leaf.der())
        };
        while !is_seen() {
            assert!(start.elapsed() < Duration::from_secs(120), "nobody looks");
            thread::sleep(Duration::from_micros(100));
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).expect("its own folder");
    }
}

static ANCHOR: LazyLock<TrustAnchorId> = LazyLock::new(|| "32473.1".parse().expect("an ID"));

fn identity_of(identities: &Identities, name: &str) -> Arc<Identity> {
    let set = identities.current();
    let mut named = set.named(name);
    Arc::clone(named.next().expect("an identity that stays"))
}

impl InFile<'_> {
    fn check(&self) {
        let mut server = self.server;
        let mut files = Files::new(server);
        let mut is_there = false;
        let mut shown = None;
        match &self.at_first {
            First::Nothing => {}
            First::Response(response) => {
                let (der, is_taken) = response.of(server);
                files.write("chain.ocsp", &der);
                is_there = true;
                shown = is_taken.then_some(der);
            }
            First::TooLarge => files.write_too_large(),
        }
        let watched = files.watched();
        assert!(!format!("{watched:?}").is_empty());
        let loaded = Identities::new(watched.load().expect("two pairs"));
        check_shown(&identity_of(&loaded, "first"), server, shown.as_ref());

        // The first pair has its response in a file, so that the source is asked for the last one only.
        let of_first = Arc::new(AtomicBool::new(false));
        let (is_asked, panics) = (Arc::clone(&of_first), self.panics);
        let source = move |chain: &[CertificateDer<'static>]| -> Result<Vec<u8>, &str> {
            let is_last = LEAVES[2..].iter().any(|leaf| *leaf.der() == chain[0]);
            is_asked.fetch_or(!is_last, Ordering::Relaxed);
            match panics {
                true => resume_unwind(Box::new(OfSource)),
                false => Err("there is none"),
            }
        };
        let error = watched
            .clone()
            .watch(Duration::ZERO)
            .expect_err("too often");
        assert!(!error.to_string().is_empty());
        let every = match self.by_itself {
            true => Duration::from_millis(1),
            false => Duration::from_secs(60 * 60),
        };
        let watched = watched.with_ocsp_source(source);
        let (identities, watcher) = watched.watch(every).expect("a thread");
        check_shown(&identity_of(&identities, "first"), server, shown.as_ref());

        // If nobody tells the watcher to look, each step takes a while.
        let steps = if self.by_itself { 1 } else { 4 };
        for step in self.steps.iter().take(steps) {
            let mut is_new = false;
            match step {
                Step::Write(response) => {
                    let (der, is_taken) = response.of(server);
                    if files.response().is_dir() {
                        files.clear();
                    }
                    files.write("chain.ocsp", &der);
                    if is_taken {
                        shown = Some(der);
                    }
                    is_there = true;
                }
                Step::Remove => {
                    files.clear();
                    (is_there, shown) = (false, None);
                }
                Step::TooLarge => {
                    if files.response().is_dir() {
                        files.clear();
                    }
                    files.write_too_large();
                    is_there = false;
                }
                // The watcher could look when the response is gone and the directory not there yet.
                Step::Directory if self.by_itself => {}
                Step::Directory => {
                    files.clear();
                    fs::create_dir(files.response()).expect("a directory");
                    is_there = false;
                }
                &Step::Chain { with_issuer } => {
                    let number = !server.number;
                    server = Server {
                        number,
                        with_issuer,
                    };
                    files.write("chain.pem", server.chain().as_bytes());
                    is_new = true;
                }
                Step::NoChain => files.write("chain.pem", b"no chain"),
                Step::Replace => identities.replace(IdentitySet::new()),
                Step::Mode(everybody) => mode(&files.path("key.pem"), *everybody),
            }
            files.wait(&identities, (!self.by_itself).then_some(&watcher));
            let identity = identity_of(&identities, "first");
            if is_new {
                let der = is_there.then(|| fs::read(files.response()).expect("a response"));
                shown = der.filter(|der| takes(server, der));
            }
            assert_eq!(identity.chain()[0], *server.leaf().der());
            assert_eq!(identity.protocols(), [b"protocol"]);
            assert_eq!(identity.trust_anchors(), [*ANCHOR]);
            check_shown(&identity, server, shown.as_ref());
        }
        drop(watcher);
        assert!(!of_first.load(Ordering::Relaxed));
    }
}

/// Sets who may read a file.
fn mode(path: &Path, everybody: bool) {
    use std::os::unix::fs::PermissionsExt;

    let mode = if everybody { 0o644 } else { 0o600 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its own file");
}

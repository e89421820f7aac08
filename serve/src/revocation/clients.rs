//! Verifies client certificates by revocation lists, and watches the lists' files. Changed files are used without a new
//! start, but never to go back to an older list.

use std::hash::RandomState;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use pq_x509::certificate::Certificate;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientCertVerifierBuilder, WebPkiClientVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore,
    SignatureScheme,
};
use rustls_pq::Builder;
use rustls_pq::watching::{Reload, Watch, WatchThread};
use tracing::{info, warn};

use super::error::RevocationError;
use super::known_keys::KnownKeys;
use super::lists::{Revocation, RevocationFiles, looked_at};
use super::newest_lists::NewestLists;
use super::watched_file::{Look, WatchedFile};
use crate::lines::{LineLimit, reason};

/// Verifies clients' chains by revocation lists in files, which are read again when they change.
///
/// Each file is on its own: one that is missing, damaged or of no use keeps the lists that it had last, and no other
/// file from being used. The log says why, and says it again whenever another file has changed. At the start, each file
/// has to be of use.
///
/// A list that is older than one that was in use before isn't taken over: by its number, or its time if both have the
/// same number or one has none. It takes a new start to go back. A list that isn't valid yet waits. Whom a list revokes
/// stays revoked until one takes that back that has both a later time and a higher number: if these contradict each
/// other, as with a CA that was restored from a backup, both lists count.
///
/// This goes by the key that signed a list, and by what the list is about. A list by a key that isn't known outdates no
/// other, and is forgotten when it is gone. Known are the keys of the roots, and of CAs below them from the moment on
/// when a client has sent the CA's certificate, or from the start if they are given: 64 at most.
///
/// Resumed sessions are checked against the new lists, too, since the server verifies their certificates
/// again. Connections that are open when a list arrives stay open.
#[derive(Debug)]
pub struct RevocableClients {
    builder: ClientCertVerifierBuilder,
    roots: Vec<DistinguishedName>,
    current: RwLock<Arc<Current>>,
    /// The CAs whose lists are remembered.
    known: RwLock<Arc<KnownKeys>>,
    /// The lines about clients that are refused.
    refused: LineLimit,
}

impl RevocableClients {
    /// Reads the lists, and looks at the interval `every` whether the files have changed. `issuers` are CAs below the
    /// roots that are known from the start.
    ///
    /// # Errors
    ///
    /// [`RevocationError`] if the lists can't be read or used, there are no roots, one of the issuers is below none of them,
    /// or the provider can't be built.
    pub fn watch(
        builder: Builder,
        roots: RootCertStore,
        files: RevocationFiles,
        issuers: &[Certificate],
        every: Duration,
    ) -> Result<(Arc<Self>, ListWatcher), RevocationError> {
        WatchThread::check_interval(every)?;
        let watched = WatchedLists::begin(builder, roots, files, issuers)?;
        let clients = watched.clients.clone();
        let thread = WatchThread::start("revocation lists", every, watched)?;
        let in_use = ListsInUse(clients.clone());
        Ok((clients, ListWatcher { thread, in_use }))
    }

    fn current(&self) -> Arc<Current> {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn known(&self) -> Arc<KnownKeys> {
        let known = self.known.read();
        known.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Learns which CAs there are below the roots, from a chain that was verified, be it of a client that is refused
    /// because of a list.
    fn learn(&self, verified: &Result<ClientCertVerified, Error>, cas: &[CertificateDer<'_>]) {
        let is_chain = match verified {
            Ok(_) | Err(Error::InvalidCertRevocationList(_)) => true,
            Err(Error::InvalidCertificate(error)) => matches!(
                error,
                CertificateError::Revoked
                    | CertificateError::UnknownRevocationStatus
                    | CertificateError::ExpiredRevocationList
                    | CertificateError::ExpiredRevocationListContext { .. }
            ),
            Err(_) => false,
        };
        if !is_chain {
            return;
        }
        let cas = cas.iter().filter_map(|der| Certificate::from_der(der).ok());
        // Other handshakes go on while signatures are verified.
        let new = self.known().certified(&cas.collect::<Vec<_>>());
        if !new.is_empty() {
            let known = self.known.write();
            Arc::make_mut(&mut known.unwrap_or_else(PoisonError::into_inner)).learn(new);
        }
    }

    fn replace(&self, current: Current) {
        let place = self.current.write();
        *place.unwrap_or_else(PoisonError::into_inner) = current.into();
    }
}

impl ClientCertVerifier for RevocableClients {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.roots
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let Current {
            verifier,
            revocation,
        } = &*self.current();
        let intermediates = looked_at(intermediates);
        let verified = revocation
            .confirm(end_entity, intermediates, now, |intermediates| {
                verifier.verify_client_cert(end_entity, intermediates, now)
            })
            .and_then(|verified| match revocation.check() {
                Ok(()) => Ok(verified),
                Err(_) => Err(CertificateError::UnknownRevocationStatus.into()),
            });
        self.learn(&verified, intermediates);
        if let Err(Error::InvalidCertificate(error)) = &verified {
            let chain = [end_entity].into_iter().chain(intermediates);
            let chain: Vec<_> = chain
                .filter_map(|der| Certificate::from_der(der).ok())
                .collect();
            // For the log, since rustls says only that a certificate is revoked.
            if let Some(why) = revocation.why(error, &chain, now)
                && let Some(left_out) = self.refused.next_line()
            {
                let left_out = (left_out > 0).then_some(left_out);
                info!(
                    why = reason(&why),
                    left_out, "a certificate of this client isn't accepted"
                );
            }
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let current = self.current();
        current.verifier.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let current = self.current();
        current.verifier.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.current().verifier.supported_verify_schemes()
    }
}

/// Lists, and the verifier that uses them.
#[derive(Debug)]
struct Current {
    revocation: Revocation,
    verifier: Arc<dyn ClientCertVerifier>,
}

impl Current {
    fn new(
        revocation: Revocation,
        builder: &ClientCertVerifierBuilder,
    ) -> Result<Self, RevocationError> {
        let verifier = revocation.of_clients(builder.clone())?;
        Ok(Self {
            revocation,
            verifier,
        })
    }
}

/// Watches files with revocation lists until it is dropped.
#[derive(Debug)]
#[must_use = "the files are watched until this is dropped"]
pub struct ListWatcher {
    thread: WatchThread,
    in_use: ListsInUse,
}

impl ListWatcher {
    /// Reads the files now, and uses their contents without a second look. It returns at once; what it returns tells when
    /// that is done, and the log tells the outcome.
    pub fn reload(&self) -> Reload {
        self.thread.reload()
    }

    /// The lists that are in use.
    pub fn in_use(&self) -> ListsInUse {
        self.in_use.clone()
    }
}

/// The lists that are in use, whichever these are when somebody looks.
#[derive(Clone, Debug)]
pub struct ListsInUse(Arc<RevocableClients>);

impl ListsInUse {
    /// When each was issued (thisUpdate), the newest first.
    pub fn issued(&self) -> Vec<UnixTime> {
        let current = self.0.current();
        let lists = current.revocation.lists.iter();
        lists.map(|list| list.this_update()).collect()
    }
}

/// The state of the thread that looks at the files.
struct WatchedLists {
    clients: Arc<RevocableClients>,
    given: RevocationFiles,
    files: Vec<WatchedFile>,
    newest: NewestLists,
    /// How many CAs were known when the lists were chosen.
    known: usize,
    hasher: RandomState,
}

impl WatchedLists {
    /// Reads the files for the first time.
    fn begin(
        builder: Builder,
        roots: RootCertStore,
        given: RevocationFiles,
        issuers: &[Certificate],
    ) -> Result<Self, RevocationError> {
        let provider = Arc::new(builder.build()?);
        let mut known = KnownKeys::of(&roots, provider.signature_verification_algorithms);
        known.learn(known.certified(issuers));
        if let Some(unknown) = issuers.iter().find(|issuer| !known.contains(issuer)) {
            return Err(RevocationError::ListIssuer {
                subject: unknown.describe_subject(),
            });
        }
        let builder = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
        let hasher = RandomState::new();
        let files = given.files.iter();
        let files = files.map(|path| WatchedFile::read(path, &builder, &hasher));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let mut newest = NewestLists::default();
        let lists = files.iter().flat_map(WatchedFile::lists);
        let revocation = given.choose(lists, &mut newest, &known, UnixTime::now());
        let current = Current::new(revocation, &builder)?;
        current.revocation.log();
        let clients = Arc::new(RevocableClients {
            builder,
            roots: current.verifier.root_hint_subjects().to_vec(),
            current: RwLock::new(current.into()),
            known: RwLock::new(known.into()),
            refused: LineLimit::default(),
        });
        Ok(Self {
            known: clients.known().count(),
            clients,
            given,
            files,
            newest,
            hasher,
        })
    }

    /// Looks at each file. What is new in one is used if it was the same at the last look, or if `is_complete` is set:
    /// otherwise somebody may still be writing. A file that can't be used keeps no other from being used.
    fn look_at(&mut self, is_complete: bool, now: UnixTime) {
        let mut has_changed = false;
        let mut unchanged = Vec::new();
        for file in &mut self.files {
            match file.look(is_complete, &self.clients.builder, &self.hasher) {
                Look::Changed => has_changed = true,
                Look::Same => unchanged.push(file.path().display().to_string()),
                Look::Unusable => {}
            }
        }
        // The same lists may have to be chosen from anew.
        let known = self.clients.known();
        let is_due = known.count() != self.known || self.clients.current().revocation.is_due(now);
        let is_new = has_changed || is_due;
        if is_complete {
            if !is_new {
                self.clients.current().revocation.log_missing();
            }
            if !unchanged.is_empty() {
                info!(files = unchanged.join(", "), "revocation lists unchanged");
            }
        }
        if !is_new {
            return;
        }

        let mut newest = self.newest.clone();
        self.known = known.count();
        let lists = self.files.iter().flat_map(WatchedFile::lists);
        let revocation = self.given.choose(lists, &mut newest, &known, now);
        match Current::new(revocation, &self.clients.builder) {
            Ok(current) => {
                self.clients.replace(current);
                self.clients.current().revocation.log();
                self.newest = newest;
            }
            // rustls has taken those of each file before.
            Err(error) => warn!(%error, "the revocation lists before stay in use"),
        }
        self.files.iter().for_each(WatchedFile::remind);
    }
}

impl Watch for WatchedLists {
    fn look(&mut self, is_complete: bool, _: &dyn Fn() -> bool) {
        self.look_at(is_complete, UnixTime::now());
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::{Instant, SystemTime};
    use std::{fs, slice};

    use pq_x509::certificate::Validity;
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};
    use pq_x509::revocation::{
        CertificateRevocationList, CertificateRevocationListBuilder, CrlReason,
    };
    use pq_x509::x509_cert::der::Decode;
    use pq_x509::x509_cert::der::asn1::Any;
    use rustls_pq::Profile;
    use tempfile::TempDir;

    use super::*;
    use crate::provider::provider_builder;
    use crate::revocation::known_keys::tests::Counting;
    use crate::revocation::tests::{self, ca, key, of_url};

    /// A CA, and a file with its list.
    struct Ca {
        ca: Issuer<SigningKey>,
        folder: TempDir,
    }

    impl Ca {
        fn new() -> Self {
            Self {
                ca: ca(1),
                folder: tempfile::tempdir().unwrap(),
            }
        }

        fn file(&self) -> PathBuf {
            self.folder.path().join("ca.crl")
        }

        fn write(&self, list: CertificateRevocationListBuilder) {
            let list = self.ca.issue_revocation_list(list).unwrap();
            self.write_all(&[&list]);
        }

        fn write_all(&self, lists: &[&CertificateRevocationList]) {
            let lists = lists.iter().map(|list| list.to_pem());
            fs::write(self.file(), lists.collect::<String>()).unwrap();
        }

        fn roots(&self) -> RootCertStore {
            let mut roots = RootCertStore::empty();
            roots.add(self.ca.certificate().der().clone()).unwrap();
            roots
        }

        fn watch(&self) -> WatchedLists {
            self.watch_with(&[])
        }

        fn watch_with(&self, issuers: &[Certificate]) -> WatchedLists {
            let builder = provider_builder(Profile::Default, &[]).unwrap();
            let files = RevocationFiles {
                files: vec![self.file()],
                leaf_only: false,
            };
            WatchedLists::begin(builder, self.roots(), files, issuers).unwrap()
        }
    }

    const HOUR: Duration = Duration::from_secs(60 * 60);

    /// A client's certificate by this CA.
    fn client(ca: &Issuer<SigningKey>) -> Certificate {
        let leaf = CertificateBuilder::client().common_name("someone");
        ca.issue(leaf, &key(9)).unwrap()
    }

    /// A list of this CA from some hours ago, that revokes these.
    fn list(
        ca: &Issuer<SigningKey>,
        number: u8,
        hours_ago: u32,
        revoked: &[&Certificate],
    ) -> CertificateRevocationList {
        let from = SystemTime::now() - hours_ago * HOUR;
        let list = CertificateRevocationListBuilder::new(&[number]);
        let list = list.validity(Validity::new(from, from + 100 * HOUR));
        let list = revoked.iter().fold(list, |list, certificate| {
            let number = certificate.serial_number();
            list.revoke(number, from, CrlReason::KeyCompromise)
        });
        ca.issue_revocation_list(list).unwrap()
    }

    /// Whether a client is refused because it was revoked; no other refusal will do.
    #[track_caller]
    fn is_revoked(watch: &WatchedLists, leaf: &Certificate, cas: &[&Certificate]) -> bool {
        let cas: Vec<_> = cas.iter().map(|ca| ca.der().clone()).collect();
        let now = UnixTime::now();
        match watch.clients.verify_client_cert(leaf.der(), &cas, now) {
            Ok(_) => false,
            Err(Error::InvalidCertificate(CertificateError::Revoked)) => true,
            Err(error) => panic!("{error}"),
        }
    }

    /// rustls asks only the first list that may be about a certificate, and takes any for one of a certificate without
    /// distribution points.
    #[test]
    fn no_list_hides_another_one() {
        let ca = Ca::new();
        let leaf = client(&ca.ca);
        for (full, part) in [
            (list(&ca.ca, 1, 2, &[&leaf]), list(&ca.ca, 2, 1, &[])),
            (list(&ca.ca, 1, 2, &[]), list(&ca.ca, 2, 1, &[&leaf])),
            // The same time.
            (list(&ca.ca, 1, 1, &[&leaf]), list(&ca.ca, 1, 1, &[])),
            (list(&ca.ca, 2, 1, &[]), list(&ca.ca, 1, 2, &[&leaf])),
        ] {
            let part = of_url(&part, 1, &[]);
            for lists in [[&full, &part], [&part, &full]] {
                ca.write_all(&lists);
                let watch = ca.watch();
                assert!(is_revoked(&watch, &leaf, &[]));
                assert!(!is_revoked(&watch, &client(&ca.ca), &[]));
            }
        }
        // Nor does it help to put away the one that revokes.
        let [full, part] = [list(&ca.ca, 1, 2, &[&leaf]), list(&ca.ca, 2, 1, &[])];
        let part = of_url(&part, 1, &[]);
        ca.write_all(&[&full, &part]);
        let mut watch = ca.watch();
        ca.write_all(&[&part]);
        watch.look_at(true, UnixTime::now());
        assert!(is_revoked(&watch, &leaf, &[]));
    }

    /// The same for lists of a CA below the root, which is known from its first client's message on, or from the start.
    #[test]
    fn no_list_of_a_ca_below_hides_another_one() {
        let ca = Ca::new();
        let below = CertificateBuilder::ca("below");
        let below = ca.ca.issue_ca(below, key(2)).unwrap();
        let by = below.certificate();
        let [leaf, good] = [(); 2].map(|()| client(&below));
        let of_root = list(&ca.ca, 1, 1, &[]);
        let [full, part] = [list(&below, 1, 2, &[&leaf]), list(&below, 2, 1, &[])];
        let part = of_url(&part, 2, &[]);
        ca.write_all(&[&of_root, &full, &part]);
        for issuers in [&[][..], slice::from_ref(by)] {
            let mut watch = ca.watch_with(issuers);
            for _ in 0..2 {
                assert!(is_revoked(&watch, &leaf, &[by]));
                assert!(!is_revoked(&watch, &good, &[by]));
                watch.look_at(false, UnixTime::now());
            }
        }
        // A later list of one scope takes a revocation back at once, and what a stranger has signed revokes nobody.
        let stranger = Issuer::self_signed(CertificateBuilder::ca("below"), key(3)).unwrap();
        let [later, forged] = [list(&below, 2, 1, &[]), list(&stranger, 9, 3, &[&good])];
        for lists in [[&of_root, &full, &later], [&of_root, &later, &forged]] {
            ca.write_all(&lists);
            let mut watch = ca.watch();
            for _ in 0..2 {
                assert!(!is_revoked(&watch, &leaf, &[by]));
                assert!(!is_revoked(&watch, &good, &[by]));
                watch.look_at(false, UnixTime::now());
            }
        }
    }

    /// A CA has two certificates, one of which was revoked: the other one is a way to the root.
    #[test]
    fn what_is_not_on_the_path_revokes_nobody() {
        let ca = Ca::new();
        let [revoked, other] = [(); 2].map(|()| {
            let below = CertificateBuilder::ca("below");
            ca.ca.issue_ca(below, key(2)).unwrap()
        });
        let leaf = client(&other);
        let [full, part] = [
            list(&ca.ca, 1, 2, &[revoked.certificate()]),
            list(&ca.ca, 2, 1, &[]),
        ];
        ca.write_all(&[&full, &of_url(&part, 1, &[]), &list(&other, 1, 1, &[])]);
        let watch = ca.watch();
        let [revoked, other] = [&revoked, &other].map(Issuer::certificate);
        assert!(is_revoked(&watch, &leaf, &[revoked]));
        assert!(!is_revoked(&watch, &leaf, &[revoked, other]));
        assert!(!is_revoked(&watch, &leaf, &[other, revoked]));
    }

    /// A CA that was restored from a backup begins again with numbers that it had.
    #[test]
    fn lists_that_contradict_each_other_readmit_nobody() {
        let ca = Ca::new();
        let leaf = client(&ca.ca);
        let [before, restored, next, beyond] = [
            list(&ca.ca, 7, 4, &[]),
            list(&ca.ca, 5, 3, &[&leaf]),
            // It contradicts the first one, and takes the second one back.
            list(&ca.ca, 6, 2, &[]),
            list(&ca.ca, 8, 1, &[]),
        ];
        ca.write_all(&[&before]);
        let mut watch = ca.watch();
        assert!(!is_revoked(&watch, &leaf, &[]));
        let mut is_revoked_with = |lists: &[&CertificateRevocationList]| {
            ca.write_all(lists);
            watch.look_at(true, UnixTime::now());
            is_revoked(&watch, &leaf, &[])
        };
        assert!(is_revoked_with(&[&restored]));
        assert!(is_revoked_with(&[&before]));
        assert!(is_revoked_with(&[&before, &restored]));
        assert!(!is_revoked_with(&[&next]));
        // It isn't newer than that one.
        assert!(!is_revoked_with(&[&restored]));

        let [revokes, again] = [list(&ca.ca, 9, 1, &[&leaf]), list(&ca.ca, 9, 0, &[])];
        assert!(is_revoked_with(&[&revokes]));
        // Two lists of one number, and the number alone.
        assert!(is_revoked_with(&[&again]));
        assert!(is_revoked_with(&[&list(&ca.ca, 10, 2, &[])]));
        assert!(is_revoked_with(&[&beyond]));
        assert!(!is_revoked_with(&[&list(&ca.ca, 10, 0, &[])]));
    }

    /// Our clock may be late.
    #[test]
    fn a_revocation_whose_date_has_come_counts_before_its_list() {
        let ca = Ca::new();
        let leaf = client(&ca.ca);
        let current = list(&ca.ca, 1, 1, &[]);
        let now = SystemTime::now();
        for (date, expected) in [(now, true), (now + HOUR, false)] {
            let early = CertificateRevocationListBuilder::new(&[2]);
            let early = early.validity(Validity::starting(now + HOUR, HOUR));
            let early = early.revoke(leaf.serial_number(), date, CrlReason::KeyCompromise);
            let early = ca.ca.issue_revocation_list(early).unwrap();
            ca.write_all(&[&current]);
            let mut watch = ca.watch();
            assert!(!is_revoked(&watch, &leaf, &[]));
            for lists in [&[&early][..], &[&early, &current], &[&current]] {
                ca.write_all(lists);
                watch.look_at(true, UnixTime::now());
                assert_eq!(is_revoked(&watch, &leaf, &[]), expected);
                assert!(!is_revoked(&watch, &client(&ca.ca), &[]));
            }
        }
    }

    /// A stranger may show anybody's certificate, and any CA certificates with it.
    #[test]
    fn many_cas_cost_little() {
        let ca = Ca::new();
        let leaf = client(&ca.ca);
        ca.write_all(&[&list(&ca.ca, 1, 1, &[])]);
        let watch = ca.watch();
        let (known, verified) = Counting::keys_of(&ca.roots());
        *watch.clients.known.write().unwrap() = Arc::new(known);
        let stranger = tests::ca(4);
        let cas: Vec<_> = (0..20)
            .map(|at| {
                let below = CertificateBuilder::ca(format!("CA {at}"));
                stranger.issue_ca(below, key(5)).unwrap()
            })
            .collect();
        let cas: Vec<_> = cas.iter().map(Issuer::certificate).collect();
        assert!(!is_revoked(&watch, &leaf, &cas));
        assert_eq!(verified(), 8);
        assert_eq!(watch.clients.known().count(), 1);
    }

    /// What is given at the start is remembered from the start, and has to be below a root.
    #[test]
    fn an_older_list_of_a_ca_that_is_given_readmits_nobody() {
        let ca = Ca::new();
        let below = CertificateBuilder::ca("below");
        let below = ca.ca.issue_ca(below, key(2)).unwrap();
        let by = below.certificate();
        let leaf = client(&below);
        let of_root = list(&ca.ca, 1, 1, &[]);
        for (issuers, expected) in [(&[][..], false), (slice::from_ref(by), true)] {
            ca.write_all(&[&of_root, &list(&below, 2, 1, &[&leaf])]);
            let mut watch = ca.watch_with(issuers);
            ca.write_all(&[&of_root, &list(&below, 1, 2, &[])]);
            watch.look_at(true, UnixTime::now());
            assert_eq!(is_revoked(&watch, &leaf, &[by]), expected);
        }
        let stranger = tests::ca(4);
        let files = RevocationFiles {
            files: vec![ca.file()],
            leaf_only: false,
        };
        let builder = provider_builder(Profile::Default, &[]).unwrap();
        let issuers = [stranger.certificate().clone()];
        let refused = WatchedLists::begin(builder, ca.roots(), files, &issuers).err();
        assert!(matches!(refused, Some(RevocationError::ListIssuer { .. })));
    }

    /// A client may come again and again.
    #[test]
    fn lines_about_refused_clients_are_few() {
        let mut two = Two::new();
        two.write(2, true);
        assert!(two.is_revoked_after_looks());
        let start = Instant::now();
        let log = tests::log_of(|| {
            for _ in 0..1000 {
                assert!(is_revoked(&two.watch, &two.leaf, &[]));
            }
        });
        let seconds = start.elapsed().as_secs() as usize + 1;
        let lines = log
            .matches("a certificate of this client isn't accepted")
            .count();
        assert!((1..=100 * (seconds + 1)).contains(&lines), "{lines}");
    }

    #[test]
    fn an_older_list_readmits_nobody() {
        let ca = Ca::new();
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let leaf = CertificateBuilder::client().common_name("revoked");
        let leaf = ca.ca.issue(leaf, &key).unwrap();
        let [minute, day] = [60, 24 * 60 * 60].map(Duration::from_secs);
        let start = SystemTime::now() - minute;
        let write = |number: u8, time: SystemTime, revokes: bool| {
            let list = CertificateRevocationListBuilder::new(&[number]);
            let list = list.validity(Validity::new(time, time + 100 * day));
            ca.write(match revokes {
                true => list.revoke(leaf.serial_number(), start, CrlReason::KeyCompromise),
                false => list,
            });
        };
        write(7, start - day, false);
        let mut watch = ca.watch();
        let now = UnixTime::now();
        let later = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + 2 * day);
        let mut is_revoked = |time: UnixTime| {
            watch.look_at(true, time);
            let verified = watch.clients.verify_client_cert(leaf.der(), &[], now);
            match verified {
                Ok(_) => false,
                Err(Error::InvalidCertificate(CertificateError::Revoked)) => true,
                Err(error) => panic!("{error}"),
            }
        };
        assert!(!is_revoked(now));
        write(8, start, true);
        assert!(is_revoked(now));
        // An older one, by its number, whatever its time says.
        write(7, start, false);
        assert!(is_revoked(now));
        // The same number with an older time.
        write(8, start - day, false);
        assert!(is_revoked(now));
        // After a file without any use for a while, too.
        fs::write(ca.file(), "rubbish").unwrap();
        assert!(is_revoked(now));
        write(6, start, false);
        assert!(is_revoked(now));
        // One that isn't valid yet stands in for no other, and nobody has to touch it when its time comes.
        write(9, start + day, false);
        assert!(is_revoked(now));
        assert!(!is_revoked(later));
    }

    /// Where there is only a list that isn't valid yet, nothing tells whether a client is revoked.
    #[test]
    fn a_list_that_is_not_yet_valid_waits() {
        let ca = Ca::new();
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let leaf = CertificateBuilder::client().common_name("someone");
        let leaf = ca.ca.issue(leaf, &key).unwrap();
        let day = Duration::from_secs(24 * 60 * 60);
        let tomorrow = Validity::starting(SystemTime::now() + day, day);
        ca.write(CertificateRevocationListBuilder::new(&[1]).validity(tomorrow));
        let mut watch = ca.watch();
        let now = UnixTime::now();
        let verified = watch.clients.verify_client_cert(leaf.der(), &[], now);
        let Err(Error::InvalidCertificate(error)) = verified else {
            panic!("accepted");
        };
        let current = watch.clients.current();
        let why = current.revocation.why(&error, slice::from_ref(&leaf), now);
        let why = why.unwrap();
        assert!(why.contains("isn't valid before"), "{why}");

        let later = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + day);
        watch.look_at(false, later);
        watch
            .clients
            .verify_client_cert(leaf.der(), &[], now)
            .unwrap();
    }

    /// Two CAs, each with a list in a file of its own.
    struct Two {
        cas: [Ca; 2],
        leaf: Certificate,
        watch: WatchedLists,
    }

    impl Two {
        fn new() -> Self {
            let other = Issuer::self_signed(CertificateBuilder::ca("other"), key(2)).unwrap();
            let other = Ca {
                ca: other,
                ..Ca::new()
            };
            let cas = [Ca::new(), other];
            for ca in &cas {
                ca.write_all(&[&list(&ca.ca, 1, 9, &[])]);
            }
            let mut roots = RootCertStore::empty();
            roots.extend(cas.iter().flat_map(|ca| ca.roots().roots));
            let files = RevocationFiles {
                files: cas.iter().map(Ca::file).collect(),
                leaf_only: false,
            };
            let builder = provider_builder(Profile::Default, &[]).unwrap();
            let watch = WatchedLists::begin(builder, roots, files, &[]).unwrap();
            Self {
                leaf: client(&cas[1].ca),
                cas,
                watch,
            }
        }

        /// The second CA's new list, which may revoke the client.
        fn write(&self, number: u8, revokes: bool) {
            let [_, ca] = &self.cas;
            let revoked = [&self.leaf];
            let hours_ago = 9 - u32::from(number);
            ca.write_all(&[&list(
                &ca.ca,
                number,
                hours_ago,
                &revoked[usize::from(!revokes)..],
            )]);
        }

        fn is_revoked_after_looks(&mut self) -> bool {
            for _ in 0..2 {
                self.watch.look_at(false, UnixTime::now());
            }
            is_revoked(&self.watch, &self.leaf, &[])
        }
    }

    /// Whatever becomes of one CA's file, the lists of the others count, and its last one as well.
    #[test]
    fn a_file_of_no_use_keeps_no_other_from_being_used() {
        let spoils: [fn(&Ca); 4] = [
            |ca| fs::remove_file(ca.file()).unwrap(),
            |ca| fs::write(ca.file(), "").unwrap(),
            |ca| fs::write(ca.file(), "-----BEGIN X509 CRL-----\nMIIB").unwrap(),
            // rustls doesn't take a list of changes since another one.
            |ca| {
                let changes = tests::resigned(&list(&ca.ca, 1, 1, &[]), 1, |body| {
                    let [identifier, number] = [[6, 3, 0x55, 29, 27], [1, 1, 0xff, 4, 3]];
                    let extension = [&[0x30, 13][..], &identifier, &number, &[2, 1, 1]].concat();
                    let extension = Any::from_der(&extension).unwrap();
                    tests::change_extensions(body, |all| all.push(extension));
                });
                ca.write_all(&[&changes]);
            },
        ];
        for spoil in spoils {
            let mut two = Two::new();
            let of_first = client(&two.cas[0].ca);
            let Ca { ca, .. } = &two.cas[0];
            two.cas[0].write_all(&[&list(ca, 2, 8, &[&of_first])]);
            assert!(!two.is_revoked_after_looks());
            assert!(is_revoked(&two.watch, &of_first, &[]));
            spoil(&two.cas[0]);
            two.write(2, true);
            let log = tests::log_of(|| assert!(two.is_revoked_after_looks()));
            assert!(log.contains("new revocation lists refused"), "{log}");
            assert!(is_revoked(&two.watch, &of_first, &[]));
            two.write(3, false);
            two.watch.look_at(true, UnixTime::now());
            assert!(!is_revoked(&two.watch, &two.leaf, &[]));
            assert!(is_revoked(&two.watch, &of_first, &[]));
        }
    }

    /// A pipe would keep the thread that watches waiting for good, and a device has no end.
    #[cfg(unix)]
    #[test]
    fn only_regular_files_up_to_a_limit_are_read() {
        let spoils: [fn(&std::path::Path); 4] = [
            |path| {
                let made = std::process::Command::new("mkfifo").arg(path).status();
                assert!(made.unwrap().success());
            },
            |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
            |path| fs::create_dir(path).unwrap(),
            // It has holes only, and takes no place on the disk.
            |path| {
                fs::File::create(path)
                    .unwrap()
                    .set_len((256 << 20) + 1)
                    .unwrap()
            },
        ];
        for spoil in spoils {
            let mut two = Two::new();
            let file = two.cas[0].file();
            fs::remove_file(&file).unwrap();
            spoil(&file);
            let files = RevocationFiles {
                files: vec![file.clone()],
                leaf_only: false,
            };
            let refused = files.load().unwrap_err();
            assert!(
                matches!(refused, RevocationError::ListFileKind { .. }),
                "{refused}"
            );
            two.write(2, true);
            assert!(two.is_revoked_after_looks());
            // Somebody mends it.
            if file.is_dir() {
                fs::remove_dir(&file).unwrap();
            } else {
                fs::remove_file(&file).unwrap();
            }
            let [first, _] = &two.cas;
            let of_first = client(&first.ca);
            first.write_all(&[&list(&first.ca, 2, 1, &[&of_first])]);
            assert!(two.is_revoked_after_looks());
            assert!(is_revoked(&two.watch, &of_first, &[]));
        }
    }

    /// Nobody may have read the first line about it.
    #[test]
    fn the_log_repeats_what_is_not_in_use() {
        let mut two = Two::new();
        let lines_after_looks = |two: &mut Two| {
            let log = tests::log_of(|| {
                two.is_revoked_after_looks();
            });
            log.matches("ca.crl can't be read").count()
        };
        fs::remove_file(two.cas[0].file()).unwrap();
        assert_eq!(lines_after_looks(&mut two), 1);
        assert_eq!(lines_after_looks(&mut two), 0);
        for number in 2..5 {
            two.write(number, true);
            assert_eq!(lines_after_looks(&mut two), 1);
        }
        let [first, _] = &two.cas;
        first.write_all(&[&list(&first.ca, 2, 1, &[])]);
        assert_eq!(lines_after_looks(&mut two), 0);
        two.write(5, true);
        assert_eq!(lines_after_looks(&mut two), 0);
    }

    #[test]
    fn what_is_new_is_taken_over() {
        let ca = Ca::new();
        let file = ca.file();
        let write = |number: u8| ca.write(CertificateRevocationListBuilder::new(&[number]));
        write(1);
        let mut watch = ca.watch();
        let mut number_after_look = |is_complete| {
            watch.look_at(is_complete, UnixTime::now());
            let Current { revocation, .. } = &*watch.clients.current();
            revocation.lists[0].number().unwrap().to_vec()
        };
        assert_eq!(number_after_look(false), [1]);

        // Whoever writes the file may not be done at the first look.
        write(2);
        assert_eq!(number_after_look(false), [1]);
        assert_eq!(number_after_look(false), [2]);
        write(3);
        assert_eq!(number_after_look(true), [3]);
        // What is of no use changes nothing, and is tried again on request.
        fs::write(&file, "rubbish").unwrap();
        for is_complete in [false, false, false, true] {
            assert_eq!(number_after_look(is_complete), [3]);
        }
        fs::remove_file(&file).unwrap();
        for is_complete in [false, false, true] {
            assert_eq!(number_after_look(is_complete), [3]);
        }
        write(4);
        assert_eq!(number_after_look(false), [3]);
        assert_eq!(number_after_look(false), [4]);
    }
}

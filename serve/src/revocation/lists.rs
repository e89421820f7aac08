//! Reads files with revocation lists, makes rustls's verifiers for clients and servers with them, and says why a chain
//! was refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pq_keys::encoding::rfc3339;
use pq_x509::certificate::Certificate;
use pq_x509::revocation::CertificateRevocationList;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ServerCertVerifierBuilder, WebPkiServerVerifier};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientCertVerifierBuilder, VerifierBuilderError};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore,
    SignatureScheme,
};
use rustls_pq::watching::{ReadError, WholeFile};
use tracing::{info, warn};

use super::error::RevocationError;
use super::known_keys::KnownKeys;
use super::newest_lists::{Chosen, Evidence, NewestLists, is_newer, is_valid_at};

/// Files with revocation lists: PEM with any number of them, or DER with one.
#[derive(Clone, Debug)]
pub struct RevocationFiles {
    /// Where they are.
    pub files: Vec<PathBuf>,
    /// Whether only a peer's own certificate is checked. Otherwise the certificates of the CAs above it are
    /// checked, too, and there has to be a list of each of these CAs.
    pub leaf_only: bool,
}

impl RevocationFiles {
    /// Reads the lists. A file may have 256 MiB. Only regular files are read: no pipe, such as that of a shell's `<(…)`,
    /// and no device, which might never end.
    ///
    /// # Errors
    ///
    /// [`RevocationError::ListFile`] if a file can't be read, [`RevocationError::ListFileKind`] if it is none of these,
    /// [`RevocationError::List`] if there is no list in it,
    /// or one that is malformed.
    pub fn load(&self) -> Result<Revocation, RevocationError> {
        let mut lists = Vec::new();
        for path in &self.files {
            lists.extend(lists_in(path, &read(path)?.content)?);
        }
        let mut newest = NewestLists::default();
        Ok(self.choose(lists, &mut newest, &KnownKeys::default(), UnixTime::now()))
    }

    /// What counts of the lists in all files: not those that others replace or that aren't valid yet.
    pub(crate) fn choose(
        &self,
        lists: impl IntoIterator<Item = impl Into<Arc<CertificateRevocationList>>>,
        newest: &mut NewestLists,
        known: &KnownKeys,
        now: UnixTime,
    ) -> Revocation {
        let Chosen {
            lists,
            early,
            replaced,
            evidence,
        } = newest.choose(lists, known, now);
        Revocation {
            lists,
            early,
            replaced,
            evidence,
            leaf_only: self.leaf_only,
            files: self.to_string(),
        }
    }
}

/// As much as `pqtls` reads: millions of revoked certificates.
const LIMIT: u64 = 256 << 20;

/// Reads a file whole.
pub(crate) fn read(path: &Path) -> Result<WholeFile, RevocationError> {
    WholeFile::read(path, LIMIT).map_err(|error| match error {
        ReadError::File(error) => RevocationError::ListFile {
            path: path.into(),
            error,
        },
        error => RevocationError::ListFileKind {
            path: path.into(),
            error,
        },
    })
}

/// The lists in what [`read`] has read of a file.
pub(crate) fn lists_in(
    path: &Path,
    content: &[u8],
) -> Result<Vec<CertificateRevocationList>, RevocationError> {
    let lists = CertificateRevocationList::all_in(content);
    lists.map_err(|error| RevocationError::List {
        path: path.into(),
        error,
    })
}

/// Refuses the lists of a file that rustls doesn't take.
pub(crate) fn check_lists<'a>(
    path: &Path,
    lists: impl IntoIterator<Item = &'a CertificateRevocationList>,
    builder: ClientCertVerifierBuilder,
) -> Result<(), RevocationError> {
    let lists = lists.into_iter().map(|list| list.der().clone());
    let built = builder.with_crls(lists).build();
    built
        .map(drop)
        .map_err(|error| refused(error, || path.display().to_string()))
}

impl std::fmt::Display for RevocationFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.files.iter().map(|path| path.display().to_string());
        f.write_str(&names.collect::<Vec<_>>().join(", "))
    }
}

/// Revocation lists, by which certificates of peers are checked.
///
/// A peer is refused if a certificate of its chain is on a list. It is also refused if the lists can't tell:
/// if there is no list of the CA that issued the certificate, or only one that was to be replaced by now or that isn't
/// valid yet. Of several lists by one key about the same certificates, the one with the highest number counts. But what
/// the others say of revoked certificates counts, too, unless a list takes it back that has both a later time and
/// a higher number. A list that isn't valid yet counts for revocations whose date has come.
///
/// Of the CA certificates that a peer sends, the first eight are looked at.
///
/// `pq_ca::ledger::Revocation` is something else: that one certificate was revoked, as a ledger records it.
#[derive(Clone, Debug)]
pub struct Revocation {
    /// The newest first.
    pub(crate) lists: Vec<Arc<CertificateRevocationList>>,
    /// Those that aren't valid yet.
    early: Vec<Arc<CertificateRevocationList>>,
    /// Those in the files that aren't in use since another one is, which comes second.
    replaced: Vec<[Arc<CertificateRevocationList>; 2]>,
    evidence: Evidence,
    leaf_only: bool,
    /// Where they are from, for messages.
    files: String,
}

/// Makes a verifier that uses the lists, from rustls's builder for clients or for servers. The two builders
/// share no trait.
macro_rules! going_by_lists {
    ($lists:ident, $builder:ident) => {{
        let builder = $builder.with_crls($lists.der());
        let builder = builder.enforce_revocation_expiration();
        let builder = match $lists.leaf_only {
            true => builder.only_check_end_entity_revocation(),
            false => builder,
        };
        let built = builder.build();
        built.map_err(|error| refused(error, || $lists.files.clone()))
    }};
}

impl Revocation {
    /// rustls's verifier of clients' chains that uses the lists. It mustn't be believed before a list is valid: see
    /// [`check`](Self::check). It asks one list about a certificate: see [`confirm`](Self::confirm).
    pub(crate) fn of_clients(
        &self,
        builder: ClientCertVerifierBuilder,
    ) -> Result<Arc<dyn ClientCertVerifier>, RevocationError> {
        going_by_lists!(self, builder)
    }

    /// Refuses if there is no list that is valid by now.
    pub(crate) fn check(&self) -> Result<(), RevocationError> {
        match self.lists.is_empty() {
            true => Err(RevocationError::NoListYet {
                files: self.files.clone(),
            }),
            false => Ok(()),
        }
    }

    /// A verifier of servers' chains that uses the lists. `roots` and `algorithms` are those of the builder.
    ///
    /// # Errors
    ///
    /// [`RevocationError::NoListYet`] if no list is valid yet,
    /// [`RevocationError::ListsRefused`] if rustls doesn't take one of the lists,
    /// [`RevocationError::Verifier`] if there are no roots.
    pub fn of_servers(
        &self,
        builder: ServerCertVerifierBuilder,
        roots: &RootCertStore,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Result<Arc<dyn ServerCertVerifier>, RevocationError> {
        self.check()?;
        let webpki = going_by_lists!(self, builder)?;
        let known = KnownKeys::of(roots, algorithms);
        Ok(Arc::new(RevocableServers {
            revocation: Self {
                evidence: self.evidence.with_keys(known),
                ..self.clone()
            },
            webpki,
        }))
    }

    /// Has a chain verified by `verify`, which is given CA certificates and goes by the lists as rustls does. Then this
    /// refuses what another list revokes.
    pub(crate) fn confirm<T>(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
        verify: impl Fn(&[CertificateDer<'_>]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let intermediates = looked_at(intermediates);
        let verified = verify(intermediates)?;
        // What can't be read might be revoked.
        let read = |der: &CertificateDer<'_>| {
            Certificate::from_der(der).map_err(|_| CertificateError::BadEncoding)
        };
        let leaf = read(end_entity)?;
        let cas = intermediates.iter().map(read);
        let cas = cas.collect::<Result<Vec<_>, _>>()?;
        let is_revoked =
            |certificate: &Certificate| self.evidence.is_revoked(certificate, &cas, now);
        if is_revoked(&leaf) {
            return Err(CertificateError::Revoked.into());
        }
        if self.leaf_only {
            return Ok(verified);
        }
        let good = cas.iter().filter(|ca| !is_revoked(ca));
        let good: Vec<_> = good.map(|ca| ca.der().clone()).collect();
        match good.len() == cas.len() {
            true => Ok(verified),
            // There may be another way to a root, and otherwise this is the reason.
            false => verify(&good).map_err(|_| CertificateError::Revoked.into()),
        }
    }

    /// Which certificate made rustls refuse a chain with this error, and what the lists say about it.
    ///
    /// `None` if the error isn't about revocation.
    pub fn why(
        &self,
        error: &CertificateError,
        chain: &[Certificate],
        now: UnixTime,
    ) -> Option<String> {
        let explain = match error {
            CertificateError::Revoked => Self::say_if_revoked,
            CertificateError::UnknownRevocationStatus
            | CertificateError::ExpiredRevocationList
            | CertificateError::ExpiredRevocationListContext { .. } => Self::say_if_unknown,
            _ => return None,
        };
        let checked = match self.leaf_only {
            true => 1,
            false => chain.len(),
        };
        // A root that was sent along is not checked.
        let checked = chain.iter().take(checked);
        let mut checked = checked.filter(|one| !one.is_self_signed(&[]));
        checked.find_map(|certificate| explain(self, certificate, now))
    }

    fn say_if_revoked(&self, certificate: &Certificate, _: UnixTime) -> Option<String> {
        let entry = self.evidence.entries_for(certificate).next()?;
        Some(format!(
            "the certificate of {} {entry}",
            certificate.describe_subject(),
        ))
    }

    fn say_if_unknown(&self, certificate: &Certificate, now: UnixTime) -> Option<String> {
        let issuer = certificate.describe_issuer();
        let mut lists = self.lists.iter();
        let Some(list) = lists.find(|list| list.issuer() == certificate.issuer()) else {
            let mut early = self.early.iter();
            if let Some(list) = early.find(|list| list.issuer() == certificate.issuer()) {
                return Some(format!(
                    "the list of {issuer} in {} isn't valid before {}",
                    self.files,
                    rfc3339(list.this_update())
                ));
            }
            return Some(format!(
                "there is no list of {issuer}, which issued the certificate of {}, in {}",
                certificate.describe_subject(),
                self.files
            ));
        };
        let end = list.next_update().filter(|end| *end <= now)?;
        Some(format!(
            "the list of {issuer} in {} was to be replaced at {}",
            self.files,
            rfc3339(end)
        ))
    }

    /// Whether a list that wasn't valid yet is valid now.
    pub(crate) fn is_due(&self, now: UnixTime) -> bool {
        self.early.iter().any(|list| is_valid_at(list, now))
    }

    /// Warns of CAs without a list.
    pub(crate) fn log_missing(&self) {
        // Which CAs issue the certificates of clients isn't known.
        if self.leaf_only {
            return;
        }
        let lists = self.lists.iter().chain(&self.early);
        for issuer in self
            .evidence
            .known()
            .without_list(lists.map(|list| &**list))
        {
            warn!(
                %issuer,
                "there is no revocation list of this CA in {}, so all clients below it are refused; give its list, \
                 too, with a further --crl (of a root: pqtls ca crl --root), or have only clients' own certificates \
                 checked with --crl-leaf-only",
                self.files
            );
        }
    }

    /// Tells the log what was read.
    pub(crate) fn log(&self) {
        self.log_missing();
        let now = UnixTime::now();
        for list in &self.lists {
            let issuer = list.issuer();
            let revoked = list.entries().len();
            let end = list.next_update();
            let until = end.map_or_else(|| "it doesn't say".into(), rfc3339);
            match end.is_some_and(|end| end <= now) {
                true => warn!(
                    %issuer,
                    until,
                    "this revocation list was to be replaced by now, and clients that need it are refused; \
                     put the CA's newest one in its place"
                ),
                false => info!(%issuer, revoked, until, "revocation list read"),
            }
        }
        for list in &self.early {
            warn!(
                issuer = %list.issuer(),
                from = rfc3339(list.this_update()),
                "this revocation list isn't valid yet, and before then only revocations whose date has come count; \
                 check the clocks here and of the CA"
            );
        }
        for [replaced, newer] in &self.replaced {
            let advice = match is_newer(newer, replaced) {
                true => "this revocation list is older than the one in use, which stays in use; put the CA's newest \
                         one in its place"
                    .into(),
                false => format!(
                    "this revocation list and the one in use {}, so the revocations of both count; have the CA issue \
                     one that is later and has a higher number than both (pqtls ca crl --number 0x{})",
                    why_neither_is_newer(replaced, newer),
                    number_above([replaced, newer])
                ),
            };
            warn!(
                issuer = %replaced.issuer(),
                number = replaced.number().map(number),
                number_in_use = newer.number().map(number),
                since = rfc3339(replaced.this_update()),
                in_use_since = rfc3339(newer.this_update()),
                "{advice}"
            );
        }
    }

    fn der(&self) -> impl Iterator<Item = CertificateRevocationListDer<'static>> {
        // Without any list, rustls would check nothing.
        let lists = match self.lists.is_empty() {
            true => &self.early,
            false => &self.lists,
        };
        lists.iter().map(|list| list.der().clone())
    }
}

/// Why rustls makes no verifier with the lists in these files.
fn refused(error: VerifierBuilderError, files: impl FnOnce() -> String) -> RevocationError {
    match error {
        VerifierBuilderError::InvalidCrl(error) => RevocationError::ListsRefused {
            files: files(),
            error,
        },
        error => RevocationError::Verifier(error),
    }
}

/// Why neither of two lists that differ takes back what the other one says, as [`is_newer`] judges.
fn why_neither_is_newer(
    one: &CertificateRevocationList,
    other: &CertificateRevocationList,
) -> &'static str {
    let is_at_once = one.this_update() == other.this_update();
    let has_same_number = one.number().is_some() && one.number() == other.number();
    match (is_at_once, has_same_number) {
        (true, true) => "differ, but have the same number and time",
        (true, false) => "were issued in the same second",
        (false, true) => "were issued at different times with the same number",
        (false, false) => {
            "contradict each other, since the one with the higher number was issued earlier"
        }
    }
}

/// Of the CA certificates that a peer has sent, those that are looked at: each may cost signatures, and nobody has a
/// path of so many.
pub(crate) fn looked_at<'a, 'b>(sent: &'a [CertificateDer<'b>]) -> &'a [CertificateDer<'b>] {
    const MOST: usize = 8;
    &sent[..sent.len().min(MOST)]
}

/// Verifies servers' chains as rustls does, and then asks all lists.
#[derive(Debug)]
struct RevocableServers {
    revocation: Revocation,
    webpki: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for RevocableServers {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let revocation = &self.revocation;
        revocation.confirm(end_entity, intermediates, now, |intermediates| {
            self.webpki.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            )
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.webpki.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.webpki.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        self.webpki.root_hint_subjects()
    }
}

/// The least number above those of these lists, in hexadecimal.
fn number_above(lists: [&CertificateRevocationList; 2]) -> String {
    let numbers = lists.map(|list| list.number().unwrap_or_default());
    let greatest = numbers
        .into_iter()
        .max_by_key(|number| (number.len(), *number));
    // for a carry
    let mut above = [&[0], greatest.unwrap_or_default()].concat();
    for byte in above.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            break;
        }
    }
    let above = match &*above {
        [0, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    number(above)
}

/// A list's number, in hexadecimal.
fn number(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use pq_x509::certificate::Validity;
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::SigningKey;
    use pq_x509::revocation::{CertificateRevocationListBuilder, CrlReason};
    use rustls_pq::Profile;

    use super::*;
    use crate::provider::provider_builder;
    use crate::revocation::tests::{ca, key, of_url};

    #[test]
    fn the_next_number_is_above_both() {
        let ca = ca(1);
        let list = |number: &[u8]| {
            let list = CertificateRevocationListBuilder::new(number);
            ca.issue_revocation_list(list).unwrap()
        };
        for (one, other, above) in [
            (&[5][..], &[11][..], "0c"),
            (&[1, 0], &[0xff], "0101"),
            (&[0xff], &[1], "0100"),
            (&[0x7f], &[1], "80"),
        ] {
            assert_eq!(number_above([&list(one), &list(other)]), above);
            assert_eq!(number_above([&list(other), &list(one)]), above);
        }
    }

    /// The log says of two lists what is true of them.
    #[test]
    fn why_the_revocations_of_two_lists_count() {
        let ca = ca(1);
        let list = |number: u8, seconds_ago: u64, entries: u8| {
            let from = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 - seconds_ago);
            let list = CertificateRevocationListBuilder::new(&[number]);
            let list = list.validity(Validity::starting(from, Duration::from_secs(3600)));
            let list = (1..=entries).fold(list, |list, serial| {
                list.revoke(&[serial], from, CrlReason::Unspecified)
            });
            ca.issue_revocation_list(list).unwrap()
        };
        for (replaced, in_use, expected) in [
            (list(1, 0, 0), list(2, 0, 0), "in the same second"),
            (list(1, 0, 0), list(1, 0, 1), "the same number and time"),
            (list(1, 9, 0), list(1, 0, 0), "with the same number"),
            (list(1, 0, 0), list(2, 9, 0), "contradict each other"),
        ] {
            assert!(!is_newer(&in_use, &replaced));
            for lists in [[&replaced, &in_use], [&in_use, &replaced]] {
                let why = why_neither_is_newer(lists[0], lists[1]);
                assert!(why.contains(expected), "{why}");
            }
        }
        // A second suffices.
        assert!(is_newer(&list(2, 0, 0), &list(1, 1, 0)));
    }

    /// Clients know no keys when they read lists: those of the roots come later, and others from the server.
    #[test]
    fn no_list_hides_another_one_from_a_client() {
        let root = ca(1);
        let below = CertificateBuilder::ca("below");
        let below = root.issue_ca(below, key(2)).unwrap();
        let leaf = || CertificateBuilder::server().dns_name("localhost");
        let [direct, indirect, good] = [&root, &below, &below].map(|ca| {
            let leaf = ca.issue(leaf(), &key(3));
            leaf.unwrap()
        });
        let list = |ca: &Issuer<SigningKey>, number: u8, revoked: &[&Certificate]| {
            let list = CertificateRevocationListBuilder::new(&[number]);
            let list = revoked.iter().fold(list, |list, certificate| {
                let number = certificate.serial_number();
                list.revoke(number, SystemTime::now(), CrlReason::KeyCompromise)
            });
            ca.issue_revocation_list(list).unwrap()
        };
        let lists = [
            list(&root, 1, &[&direct]),
            of_url(&list(&root, 1, &[]), 1, &[]),
            list(&below, 1, &[&indirect]),
            of_url(&list(&below, 1, &[]), 2, &[]),
        ];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lists.pem");
        let text = lists.iter().map(CertificateRevocationList::to_pem);
        std::fs::write(&file, text.collect::<String>()).unwrap();
        let files = RevocationFiles {
            files: vec![file],
            leaf_only: false,
        };

        let mut roots = RootCertStore::empty();
        roots.add(root.certificate().der().clone()).unwrap();
        let builder = provider_builder(Profile::Default, &[]).unwrap();
        let provider = Arc::new(builder.build().unwrap());
        let algorithms = provider.signature_verification_algorithms;
        let webpki = WebPkiServerVerifier::builder_with_provider(Arc::new(roots.clone()), provider);
        let verifier = files.load().unwrap();
        let verifier = verifier.of_servers(webpki, &roots, algorithms).unwrap();
        let verify = |leaf: &Certificate, cas: &[CertificateDer<'_>]| {
            let name = ServerName::try_from("localhost").unwrap();
            verifier
                .verify_server_cert(leaf.der(), cas, &name, &[], UnixTime::now())
                .map(drop)
        };
        let revoked = Err(CertificateError::Revoked.into());
        let by = [below.certificate().der().clone()];
        assert_eq!(verify(&direct, &[]), revoked);
        assert_eq!(verify(&indirect, &by), revoked);
        assert_eq!(verify(&good, &by), Ok(()));
    }
}

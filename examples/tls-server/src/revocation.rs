//! Reads files with revocation lists, makes rustls's verifiers for clients and servers with them, and says why a chain
//! was refused.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use pq_x509::x509_cert::der::DateTime;
use pq_x509::{Certificate, CertificateRevocationList, RevocationListError};
use rustls::CertificateError;
use rustls::client::{ServerCertVerifierBuilder, WebPkiServerVerifier};
use rustls::pki_types::{CertificateRevocationListDer, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientCertVerifierBuilder, VerifierBuilderError};
use tracing::{info, warn};

use crate::TlsError;
use crate::known_keys::KnownKeys;
use crate::newest_lists::{Chosen, NewestLists, is_valid_at};

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
    /// Reads the lists.
    ///
    /// # Errors
    ///
    /// [`TlsError::ListFile`] if a file can't be read, [`TlsError::List`] if there is no list in it,
    /// or one that is malformed.
    pub fn load(&self) -> Result<Revocation, TlsError> {
        let mut newest = NewestLists::default();
        self.parse(
            &self.read()?,
            &mut newest,
            &KnownKeys::default(),
            UnixTime::now(),
        )
    }

    /// What is in the files.
    pub(crate) fn read(&self) -> Result<Vec<Vec<u8>>, TlsError> {
        let read = |path: &PathBuf| {
            fs::read(path).map_err(|error| TlsError::ListFile {
                path: path.clone(),
                error,
            })
        };
        self.files.iter().map(read).collect()
    }

    /// The lists in what [`read`](Self::read) has read, except for those that others replace or that aren't valid yet.
    pub(crate) fn parse(
        &self,
        contents: &[Vec<u8>],
        newest: &mut NewestLists,
        known: &KnownKeys,
        now: UnixTime,
    ) -> Result<Revocation, TlsError> {
        let mut lists = Vec::new();
        for (path, content) in self.files.iter().zip(contents) {
            lists.extend(lists_in(content).map_err(|error| TlsError::List {
                path: path.clone(),
                error,
            })?);
        }
        let Chosen {
            lists,
            early,
            outdated,
        } = newest.choose(lists, known, now);
        Ok(Revocation {
            lists,
            early,
            outdated,
            leaf_only: self.leaf_only,
            files: self.to_string(),
        })
    }
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
/// valid yet. Of several lists by one key, the one with the highest number counts.
#[derive(Clone, Debug)]
pub struct Revocation {
    /// The newest first.
    pub(crate) lists: Vec<Arc<CertificateRevocationList>>,
    /// Those that aren't valid yet, and don't count.
    early: Vec<Arc<CertificateRevocationList>>,
    /// Those that don't count since another one, which comes second, is newer.
    outdated: Vec<[Arc<CertificateRevocationList>; 2]>,
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
        builder.build().map_err(|error| $lists.refused(error))
    }};
}

impl Revocation {
    /// A verifier of clients' chains that uses the lists.
    ///
    /// # Errors
    ///
    /// [`TlsError::NoListYet`] if no list is valid yet,
    /// [`TlsError::ListsRefused`] if rustls doesn't take one of the lists,
    /// [`TlsError::ClientVerifier`] if there are no roots.
    pub fn of_clients(
        &self,
        builder: ClientCertVerifierBuilder,
    ) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
        self.check()?;
        self.of_clients_even_if_early(builder)
    }

    /// The verifier of [`of_clients`](Self::of_clients), which mustn't be believed before a list is valid: see
    /// [`check`](Self::check).
    pub(crate) fn of_clients_even_if_early(
        &self,
        builder: ClientCertVerifierBuilder,
    ) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
        going_by_lists!(self, builder)
    }

    /// Refuses if there is no list that is valid by now.
    pub(crate) fn check(&self) -> Result<(), TlsError> {
        match self.lists.is_empty() {
            true => Err(TlsError::NoListYet {
                files: self.files.clone(),
            }),
            false => Ok(()),
        }
    }

    /// A verifier of servers' chains that uses the lists.
    ///
    /// # Errors
    ///
    /// The errors of [`of_clients`](Self::of_clients).
    pub fn of_servers(
        &self,
        builder: ServerCertVerifierBuilder,
    ) -> Result<Arc<WebPkiServerVerifier>, TlsError> {
        self.check()?;
        going_by_lists!(self, builder)
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
        let mut checked = checked.filter(|one| one.subject() != one.issuer());
        checked.find_map(|certificate| explain(self, certificate, now))
    }

    fn say_if_revoked(&self, certificate: &Certificate, _: UnixTime) -> Option<String> {
        let mut entries = self.lists.iter();
        let entry = entries.find_map(|list| list.entry_for(certificate))?;
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
                    utc(list.this_update())
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
            utc(end)
        ))
    }

    /// Whether a list that wasn't valid yet is valid now.
    pub(crate) fn is_due(&self, now: UnixTime) -> bool {
        self.early.iter().any(|list| is_valid_at(list, now))
    }

    /// Tells the log what was read.
    pub(crate) fn log(&self) {
        let now = UnixTime::now();
        for list in &self.lists {
            let issuer = list.issuer();
            let revoked = list.entries().len();
            let end = list.next_update();
            let until = end.map_or_else(|| "it doesn't say".into(), utc);
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
                from = utc(list.this_update()),
                "this revocation list isn't valid yet, and isn't used before then; check the clocks here and of \
                 the CA"
            );
        }
        for [outdated, newer] in &self.outdated {
            warn!(
                issuer = %outdated.issuer(),
                number = outdated.number().map(number),
                number_in_use = newer.number().map(number),
                since = utc(outdated.this_update()),
                in_use_since = utc(newer.this_update()),
                "this revocation list is older than the one in use, which stays in use; put the CA's newest one \
                 in its place"
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

    fn refused(&self, error: VerifierBuilderError) -> TlsError {
        match error {
            VerifierBuilderError::InvalidCrl(error) => TlsError::ListsRefused {
                files: self.files.clone(),
                error,
            },
            error => TlsError::ClientVerifier(error),
        }
    }
}

fn lists_in(content: &[u8]) -> Result<Vec<CertificateRevocationList>, RevocationListError> {
    match std::str::from_utf8(content) {
        Ok(text) => CertificateRevocationList::all_from_pem(text),
        // DER: signatures are not text.
        Err(_) => Ok(vec![CertificateRevocationList::from_der(content)?]),
    }
}

/// A list's number, in hexadecimal.
fn number(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a time as in RFC 3339.
pub fn utc(time: UnixTime) -> String {
    match DateTime::from_unix_duration(std::time::Duration::from_secs(time.as_secs())) {
        Ok(time) => time.to_string(),
        Err(_) => format!("{} s after 1970", time.as_secs()),
    }
}

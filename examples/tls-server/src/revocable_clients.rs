use std::hash::{BuildHasher, RandomState};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use pq_x509::Certificate;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientCertVerifierBuilder, WebPkiClientVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use rustls_pq::Builder;
use rustls_pq::identity::WatchError;
use tracing::{info, warn};

use crate::{Revocation, RevocationFiles, TlsError};

/// Verifies clients' chains by revocation lists in files, which are read again when they change.
///
/// Resumed sessions are checked against the new lists, too, since the server verifies their certificates
/// again. Connections that are open when a list arrives stay open.
#[derive(Debug)]
pub struct RevocableClients {
    builder: ClientCertVerifierBuilder,
    roots: Vec<DistinguishedName>,
    current: RwLock<Arc<Current>>,
}

impl RevocableClients {
    /// Reads the lists, and looks at the interval `every` whether the files have changed.
    ///
    /// # Errors
    ///
    /// [`TlsError`] if the lists can't be read or used, there are no roots, or the provider can't be
    /// built.
    pub fn watch(
        builder: Builder,
        roots: RootCertStore,
        files: RevocationFiles,
        every: Duration,
    ) -> Result<(Arc<Self>, ListWatcher), TlsError> {
        let watch = Watch::begin(builder, roots, files)?;
        let clients = watch.clients.clone();
        let (orders, next_order) = mpsc::sync_channel(1);
        thread::Builder::new()
            .name("list-watcher".into())
            .spawn(move || watch.run(every, &next_order))
            .map_err(WatchError::Thread)?;
        Ok((clients, ListWatcher { orders }))
    }

    fn current(&self) -> Arc<Current> {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
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
        let verified = verifier.verify_client_cert(end_entity, intermediates, now);
        if let Err(Error::InvalidCertificate(error)) = &verified {
            let chain = [end_entity].into_iter().chain(intermediates);
            let chain: Vec<_> = chain
                .filter_map(|der| Certificate::from_der(der).ok())
                .collect();
            // For the log, since rustls says only that a certificate is revoked.
            if let Some(why) = revocation.why(error, &chain, now) {
                info!("a certificate of this client isn't accepted: {why}");
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
    fn new(revocation: Revocation, builder: &ClientCertVerifierBuilder) -> Result<Self, TlsError> {
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
    orders: SyncSender<Reload>,
}

impl ListWatcher {
    /// Reads the files now, and uses their contents without a second look. The log tells the outcome.
    pub fn reload(&self) {
        // If the channel is full, the order has been given already.
        let _ = self.orders.try_send(Reload);
    }
}

/// The order to look at the files at once.
#[derive(Debug)]
struct Reload;

/// The state of the thread that looks at the files.
struct Watch {
    clients: Arc<RevocableClients>,
    files: RevocationFiles,
    hasher: RandomState,
    /// The hash of the contents that are in use.
    loaded: Option<u64>,
    /// The hash of the contents at the last look, if they could be read.
    last: Option<u64>,
    /// Whether the latter are in use, or the log says why not.
    is_settled: bool,
}

impl Watch {
    /// Reads the files for the first time.
    fn begin(
        builder: Builder,
        roots: RootCertStore,
        files: RevocationFiles,
    ) -> Result<Self, TlsError> {
        let provider = Arc::new(builder.build()?);
        let builder = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
        let contents = files.read()?;
        let current = Current::new(files.parse(&contents)?, &builder)?;
        current.revocation.log();
        let clients = Arc::new(RevocableClients {
            builder,
            roots: current.verifier.root_hint_subjects().to_vec(),
            current: RwLock::new(current.into()),
        });
        let hasher = RandomState::new();
        let loaded = Some(hasher.hash_one(&contents));
        Ok(Self {
            clients,
            files,
            hasher,
            loaded,
            last: loaded,
            is_settled: true,
        })
    }

    fn run(mut self, every: Duration, orders: &Receiver<Reload>) {
        loop {
            match orders.recv_timeout(every) {
                Ok(Reload) => self.look(true),
                Err(RecvTimeoutError::Timeout) => self.look(false),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Reads the files. New contents are used if they were the same at the last look, or if `is_complete`
    /// is set: otherwise somebody may still be writing.
    fn look(&mut self, is_complete: bool) {
        let contents = self.files.read();
        let stamp = |contents: &Vec<Vec<u8>>| self.hasher.hash_one(contents);
        let seen = contents.as_ref().ok().map(stamp);
        let is_new = seen != self.last;
        self.last = seen;
        if seen == self.loaded {
            self.is_settled = true;
            if is_complete {
                info!(files = %self.files, "revocation lists unchanged");
            }
            return;
        }
        self.is_settled &= !is_new;
        if !is_complete && (is_new || self.is_settled) {
            return;
        }

        self.is_settled = true;
        let current = contents
            .and_then(|contents| self.files.parse(&contents))
            .and_then(|revocation| Current::new(revocation, &self.clients.builder));
        match current {
            Ok(current) => {
                self.clients.replace(current);
                self.clients.current().revocation.log();
                self.loaded = seen;
            }
            Err(error) => warn!(
                %error,
                "new revocation lists refused; the old ones stay in use"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pq_x509::{
        CertificateBuilder, CertificateRevocationListBuilder, Issuer, SignatureAlgorithm,
        SigningKey,
    };
    use rustls_pq::Profile;

    use super::*;
    use crate::provider_builder;

    #[test]
    fn what_is_new_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.crl");
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key).unwrap();
        let write = |number: u8| {
            let list = CertificateRevocationListBuilder::new(&[number]);
            fs::write(&file, ca.issue_revocation_list(list).unwrap().to_pem()).unwrap();
        };
        write(1);
        let mut roots = RootCertStore::empty();
        roots.add(ca.certificate().der().clone()).unwrap();
        let builder = provider_builder(Profile::Default, &[]).unwrap();
        let files = RevocationFiles {
            files: vec![file.clone()],
            leaf_only: false,
        };
        let mut watch = Watch::begin(builder, roots, files).unwrap();
        let mut number_after_look = |is_complete| {
            watch.look(is_complete);
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

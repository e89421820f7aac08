use alloc::sync::Arc;
use core::mem;
use core::time::Duration;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError, RwLock};

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::pki_types::UnixTime;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tracing::{debug, warn};

use super::choice::{Accepted, find};
use super::stapled::OcspSource;
use super::{Choice, Identity, IdentitySet};
use crate::hello::{Offer, Start};

/// Gives rustls an identity for each peer, and takes a new set at any
/// time: the resolver of a [`ServerConfig`](rustls::ServerConfig) or a
/// [`ClientConfig`](rustls::ClientConfig).
///
/// [The module](crate::identity) says which identity a client gets, and which one a server.
#[derive(Debug)]
pub struct Identities {
    // Locked only to copy or to exchange the pointer.
    current: RwLock<Arc<IdentitySet>>,
    /// Whose turn it is to exchange it.
    turn: Mutex<()>,
}

impl Identities {
    /// Starts with `set`.
    pub fn new(mut set: IdentitySet) -> Self {
        set.replaces(None);
        Self {
            current: RwLock::new(Arc::new(set)),
            turn: Mutex::new(()),
        }
    }

    /// Puts `set` in the place of the current one, for all handshakes that start from
    /// now on. Handshakes that are under way and connections keep what they have.
    ///
    /// What the set held before goes when nobody uses it any more. That may be a handshake that
    /// began before: to drop 100,000 identities takes it a while. [`update`](Self::update) drops what
    /// it changes, and no more.
    ///
    /// Where [files are watched](super::IdentityFiles::watch), a set that wasn't made from the
    /// current one is replaced in turn when one of them changes: then change the files, or
    /// [`update`](Self::update) the set. This goes for a copy of an earlier one as well.
    pub fn replace(&self, set: IdentitySet) {
        self.update(|_| set);
    }

    /// Puts what `change` makes of the current set in its place, for all handshakes that start from
    /// then on. They never wait for it: others that update or replace the set do.
    ///
    /// That `change` gets a copy costs nothing, and to change one identity in it costs the same
    /// among ten and among 100,000:
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use rustls_pq::identity::{Identities, Identity};
    ///
    /// /// A certificate is renewed, in all places that it has. If it isn't there yet, it comes last.
    /// fn renew(identities: &Identities, old: &Arc<Identity>, renewed: &Arc<Identity>) {
    ///     identities.update(|set| match set.contains(old) {
    ///         true => set.with_replaced(old, renewed.clone()),
    ///         false => set.with(renewed.clone()),
    ///     });
    /// }
    /// # let set = rustls_pq::identity::IdentitySet::new();
    /// # let identities = Identities::new(set);
    /// # use pq_x509::{CertificateBuilder, Issuer, SignatureAlgorithm, SigningKey};
    /// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
    /// # let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key)?;
    /// # let issue = || {
    /// #     let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
    /// #     let leaf = root.issue(CertificateBuilder::server().dns_name("a.test"), &key)?;
    /// #     let provider = rustls_pq::provider()?;
    /// #     let key = key.to_pkcs8_pem()?;
    /// #     let identity = Identity::from_pem(leaf.to_pem().as_bytes(), key.as_bytes(), &provider)?;
    /// #     Ok::<_, Box<dyn std::error::Error>>(Arc::new(identity))
    /// # };
    /// # let (first, other, renewed) = (issue()?, issue()?, issue()?);
    /// # renew(&identities, &first, &first);
    /// # renew(&identities, &other, &other);
    /// # renew(&identities, &first, &renewed);
    /// # let set = identities.current();
    /// # let left: Vec<_> = set.named("a.test").collect();
    /// # assert!(Arc::ptr_eq(left[0], &renewed) && Arc::ptr_eq(left[1], &other));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `change` must not update or replace the set of the same `Identities`, which would wait for
    /// itself. If it panics, nothing changes.
    pub fn update(&self, change: impl FnOnce(IdentitySet) -> IdentitySet) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.current();
        let mut set = change((*before).clone());
        set.replaces(Some(&before));
        let mut set = Arc::new(set);
        mem::swap(
            &mut *self.current.write().unwrap_or_else(PoisonError::into_inner),
            &mut set,
        );
        drop(turn);
        // What was the current set goes here, after the locks.
    }

    /// Asks `source` for OCSP responses for those identities in the set for whose it is time, and
    /// shows them from then on, as [`Identity::set_ocsp_response`] does. Says how long it is until
    /// the next one has to be asked for: call it again then, and when identities were added. It
    /// waits for the source, so call it from a thread of its own, or where waiting is allowed. Where [files are
    /// watched](super::IdentityFiles::with_ocsp_source), the thread that does so does this as well.
    ///
    /// A response is asked for at once where there is none, and again after half of the time between
    /// its thisUpdate and its nextUpdate, or a day if that is less. If the source fails, or what it has is
    /// of no use, the log says so. Then, and if it has nothing newer, the one before stays until it
    /// expires, and the source is asked again after a quarter of the time that is left until then, between
    /// ten seconds and an hour, and each minute where there is none. Identities whose response is
    /// [in a file](super::FilePair::with_ocsp_response) are left out.
    ///
    /// ```
    /// use pq_x509::{CertStatus, Certificate, IssueError, Issuer, OcspRequest, OcspResponder};
    /// use pq_x509::{SigningKey, Validity};
    /// use rustls::pki_types::CertificateDer;
    /// use rustls_pq::identity::{Identities, OcspSource};
    /// # use pq_x509::{CertificateBuilder, SignatureAlgorithm};
    /// # use std::time::{Duration, SystemTime};
    ///
    /// /// A CA in this program. Most ask a responder over HTTP.
    /// fn source(ca: &Issuer<SigningKey>) -> impl OcspSource {
    ///     |chain: &[CertificateDer<'static>]| -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
    ///         let leaf = Certificate::from_der(&chain[0])?;
    ///         let request = OcspRequest::builder().certificate(&leaf, ca.certificate()).build()?;
    ///         let responder = OcspResponder::ca(ca);
    ///         let response =
    ///             responder.respond(&request, SystemTime::now(), Validity::days(2), |_| {
    ///                 Ok::<_, IssueError>(CertStatus::Good)
    ///             })?;
    ///         Ok(response.into_der())
    ///     }
    /// }
    /// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
    /// # let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key)?;
    /// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
    /// # let leaf = ca.issue(CertificateBuilder::server().dns_name("a.test"), &key)?;
    /// # let (chain, key) = (leaf.to_pem(), key.to_pkcs8_pem()?);
    /// # let provider = rustls_pq::provider()?;
    /// # let identity = rustls_pq::identity::Identity::from_pem(
    /// #     chain.as_bytes(),
    /// #     key.as_bytes(),
    /// #     &provider,
    /// # )?;
    /// # let set = rustls_pq::identity::IdentitySet::new().with(identity);
    /// # let identities = Identities::new(set);
    ///
    /// let pause = identities.refresh_ocsp_responses(&source(&ca));
    /// // `std::thread::sleep(pause)`, and again.
    /// # assert!(Duration::from_secs(23 * 3600) < pause && pause <= Duration::from_secs(24 * 3600));
    /// # let set = identities.current();
    /// # assert!(set.named("a.test").next().unwrap().ocsp_response_until().is_some());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn refresh_ocsp_responses(&self, source: &dyn OcspSource) -> Duration {
        self.refresh_while(source, || true)
    }

    /// The same, for as long as it goes on.
    pub(super) fn refresh_while(
        &self,
        source: &dyn OcspSource,
        goes_on: impl Fn() -> bool,
    ) -> Duration {
        let set = self.current();
        let times = set.each();
        let times = times.filter_map(|one| one.refresh_ocsp_response(source, &goes_on));
        let next = times.map(|time| time.as_secs()).min();
        let pause = next.map(|next| next.saturating_sub(UnixTime::now().as_secs()));
        pause
            .map_or(LONGEST_PAUSE, Duration::from_secs)
            .max(SHORTEST_PAUSE)
    }

    /// The current set.
    pub fn current(&self) -> Arc<IdentitySet> {
        // A pointer is whole whenever the lock is free.
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What a client with this ClientHello gets, which is what rustls is told, too:
    /// `None` if the set has nothing for the name, and no default.
    pub fn choose(&self, hello: &ClientHello<'_>) -> Option<Choice> {
        self.choose_offered(&Offer::of(hello))
    }

    /// What a client with this offer gets.
    pub fn choose_offered(&self, offer: &Offer) -> Option<Choice> {
        self.current().choose(offer)
    }

    /// What a client gets that asks for `server_name` and accepts `schemes` in the
    /// handshake (signature_algorithms) and `cert_schemes` in certificates
    /// (signature_algorithms_cert, or the same where the client doesn't send it), and doesn't
    /// say whom it trusts.
    pub fn choose_for(
        &self,
        server_name: Option<&str>,
        schemes: &[SignatureScheme],
        cert_schemes: &[SignatureScheme],
    ) -> Option<Choice> {
        let set = self.current();
        let accepted = Accepted {
            schemes,
            cert_schemes,
            has_cert_list: true,
        };
        accepted.choose(set.candidates(server_name), |_| false)
    }
}

/// Between two questions for OCSP responses.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);

/// Where there is nobody to ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl ResolvesServerCert for Identities {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let choice = self.current().resolve(&Offer::of(&hello))?;
        Some(choice.identity.certified_key())
    }
}

impl ResolvesClientCert for Identities {
    fn resolve(
        &self,
        root_hint_subjects: &[&[u8]],
        schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        let set = self.current();
        let accepted = Accepted {
            schemes,
            cert_schemes: schemes,
            has_cert_list: false,
        };
        let names = root_hint_subjects.iter().copied().collect::<HashSet<_>>();
        let is_trusted = |identity: &Identity| identity.is_issued_by(|name| names.contains(name));
        let identities = set.identities();
        let trusted = identities.clone().filter(|identity| is_trusted(identity));
        // A server names whom it insists on, so that a chain that it may verify from one of
        // these is better than one that it can verify from another.
        let choice = find(trusted.clone(), |identity| accepted.verify(identity))
            .or_else(|| accepted.sign(trusted))
            .or_else(|| accepted.choose(identities.clone(), |_| false));
        match choice {
            Some(Choice {
                identity,
                scheme: Some(scheme),
            }) => {
                debug!(key = %identity.key_algorithm(), ?scheme, "client certificate chosen");
                Some(identity.certified_key())
            }
            // Then rustls sends an empty chain, and the server decides.
            _ => {
                let keys = identities.map(|identity| identity.key_algorithm().to_string());
                warn!(
                    server_accepts = ?Start(schemes),
                    client_has = ?Start(&keys.collect::<Vec<_>>()),
                    "no client certificate that this server accepts the signatures of"
                );
                None
            }
        }
    }

    fn has_certs(&self) -> bool {
        !self.current().is_empty()
    }
}

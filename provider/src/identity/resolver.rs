//! `Identities`, which rustls asks for a certificate in each handshake, on a server or a client. It exchanges whole
//! sets, so that no handshake waits for a change.

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

/// Gives rustls an identity for each peer.
///
/// It is the resolver of a [`ServerConfig`](rustls::ServerConfig) or a
/// [`ClientConfig`](rustls::ClientConfig). Its set can be replaced or changed at any time.
/// [The module](crate::identity) says which identity a client gets, and which one a server.
#[derive(Debug)]
pub struct Identities {
    // Locked only to copy or to exchange the pointer.
    current: RwLock<Arc<IdentitySet>>,
    /// Locked while the set is changed, so that one change follows another.
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

    /// Replaces the current set with `set`, for all handshakes that start from now on. Connections
    /// and handshakes that have already begun keep what they have.
    ///
    /// The earlier set is dropped when nobody uses it any more. This may happen in a handshake that
    /// began before: dropping 100,000 identities takes a while. [`update`](Self::update) drops only
    /// what it changes.
    ///
    /// Where [files are watched](super::IdentityFiles::watch), a set that wasn't made from the
    /// current one is replaced in turn when one of them changes. This applies to a copy of an earlier
    /// set as well. So change the files instead, or [`update`](Self::update) the set.
    pub fn replace(&self, set: IdentitySet) {
        self.update(|_| set);
    }

    /// Replaces the current set with what `change` makes of it, for all handshakes that start from
    /// then on. Handshakes never wait for it; other calls that update or replace the set do.
    ///
    /// `change` gets a copy, which costs nothing. Changing one identity in it costs the same among
    /// ten as among 100,000:
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
    /// # use pq_x509::issuing::{CertificateBuilder, Issuer};
    /// # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
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
    /// `change` must not update or replace the set of the same `Identities`: that would deadlock. If
    /// it panics, nothing changes.
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
        // The set that was current before is dropped here, after the locks.
    }

    /// Asks `source` for the OCSP responses that are due, and returns how long to wait before the
    /// next call.
    ///
    /// The responses are set as by [`Identity::set_ocsp_response`]; where a chain lacks the certificate of its leaf's
    /// issuer, give this to [`Identity::with_ocsp_issuers`]. Call this again after that
    /// time, and when identities were added. It waits for the source, so call it from a thread of its
    /// own, or where blocking is allowed. Where [files are
    /// watched](super::IdentityFiles::with_ocsp_source), the thread that watches them does this as
    /// well.
    ///
    /// It asks at once for a response where there is none, and again after half of the time between
    /// thisUpdate and nextUpdate, or after a day if that is less. If the source fails, or its response
    /// is of no use, the log says so. Then, and if the source has nothing newer, the earlier response
    /// stays until it expires. The source is asked again after a quarter of the time that is left
    /// until then, but not before ten seconds and not after an hour; where there is no response, it is
    /// asked each minute. Identities whose response is
    /// [in a file](super::FilePair::with_ocsp_response) are left out.
    ///
    /// ```
    /// use pq_x509::certificate::Certificate;
    /// use pq_x509::issuing::{IssueError, Issuer};
    /// use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder};
    /// use pq_x509::certificate::Validity;
    /// use pq_x509::keys::SigningKey;
    /// use rustls::pki_types::CertificateDer;
    /// use rustls_pq::identity::{Identities, OcspSource};
    /// # use pq_x509::issuing::CertificateBuilder;
    /// # use pq_x509::keys::SignatureAlgorithm;
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
    /// # )?
    /// # .with_ocsp_issuers([ca.certificate().clone()]);
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

    /// As [`refresh_ocsp_responses`](Self::refresh_ocsp_responses), while `goes_on` returns `true`.
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

    /// The identity for a client with this ClientHello, the same that rustls gets: `None` if the
    /// set has none for the name, and no default.
    pub fn choose(&self, hello: &ClientHello<'_>) -> Option<Choice> {
        self.choose_offered(&Offer::of(hello))
    }

    /// The identity for a client with this offer.
    pub fn choose_offered(&self, offer: &Offer) -> Option<Choice> {
        self.current().choose(offer)
    }

    /// The identity for a client that asks for `server_name` and doesn't say whom it trusts. It
    /// accepts `schemes` in the handshake (signature_algorithms) and `cert_schemes` in certificates
    /// (signature_algorithms_cert, or the same as `schemes` if the client doesn't send it).
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

/// The least time between two rounds of asking for OCSP responses.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);

/// The time until the next round if there is no identity to ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl ResolvesServerCert for Identities {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let offer = Offer::of(&hello);
        let choice = self.current().resolve(&offer)?;
        Some(choice.identity.shown_to(&offer))
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
        // A server insists on the CAs that it names. So a chain from one of these that it may be
        // able to verify is better than a chain from another CA that it can verify.
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
                    "no client certificate whose signatures this server accepts"
                );
                None
            }
        }
    }

    fn has_certs(&self) -> bool {
        !self.current().is_empty()
    }
}

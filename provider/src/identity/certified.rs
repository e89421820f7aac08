//! `Identity`: the checks of a chain and its key when it is made, the OCSP response that goes with it, and what the
//! choice among identities asks of each.

use alloc::sync::Arc;
use core::fmt;
use core::mem;
use core::sync::atomic::{AtomicBool, Ordering};

use pq_keys::encoding::pem::{self, Damage, PemError};
use pq_keys::encoding::rfc3339;
use pq_x509::certificate::Certificate;
use pq_x509::keys::{Signer, SubjectKey};
use pq_x509::ocsp::CertStatus;
use pq_x509::x509_cert::der::referenced::OwnedToRef;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer,
    SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::{
    CipherSuite, InconsistentKeys, ProtocolVersion, SignatureAlgorithm, SignatureScheme,
    SupportedCipherSuite,
};
use tracing::{info, warn};
use zeroize::Zeroizing;

use super::IdentityError;
use super::files::SignerSource;
use super::stapled::{self, OcspSource, Shown, Stapled};
use crate::algorithms::{Algorithms, KeyAlgorithm, Signature, Strength};
use crate::hello::{Offer, TrustAnchorId};
use crate::ocsp::must_staple;
use crate::sign::{ExternalKey, SignatureCheck, UnfitSigner};

/// A certificate chain with the private key of its leaf.
///
/// The key of every `Identity` belongs to its leaf, as far as the key gives its public half. Its
/// certificates can be read, and the handshake messages with it fit what peers accept.
///
/// # Memory
///
/// An identity holds the chain as it is sent, the key in the form that signs quickly, and little
/// else. With one certificate in the chain it takes about 60 kB for ML-DSA-65, mostly the expanded key,
/// and 4 kB for ECDSA on P-256 below an ML-DSA-65 root. 100,000 of them take 5.9 GB and 0.4 GB. An
/// OCSP response adds its own length and that of the chain. An
/// [`IdentitySet`](super::IdentitySet) holds identities by reference, under any number of names.
///
/// `pq_serving::Identity` is a chain and a key as bytes, before anything is checked: its `check` makes one of these.
pub struct Identity {
    /// Without an OCSP response.
    certified: Arc<CertifiedKey>,
    stapled: Stapled,
    /// The algorithms that verify the signatures of OCSP responses.
    verification: &'static [&'static dyn SignatureVerificationAlgorithm],
    /// CA certificates that aren't sent, one of which may verify OCSP responses.
    ocsp_issuers: Vec<Certificate>,
    /// Whether the key is elsewhere.
    may_block: bool,
    must_staple: bool,
    /// Whether the log says already that a must-staple certificate was sent without a response.
    is_lack_reported: AtomicBool,
    key_algorithm: KeyAlgorithm,
    /// The provider's cipher suites of TLS 1.2 that the key can sign a handshake with.
    tls12_suites: Vec<CipherSuite>,
    /// The algorithms of each certificate.
    algorithms: Vec<Algorithms>,
    names: Vec<String>,
    /// The issuer of each certificate, a Name in DER.
    issuers: Vec<Vec<u8>>,
    not_after: UnixTime,
    size: usize,
    trust_anchors: Vec<TrustAnchorId>,
    /// Application protocols whose clients trust the chain.
    protocols: Vec<Vec<u8>>,
}

impl Identity {
    /// Checks a chain, leaf first, and the key of the leaf. The chain needn't have the root.
    /// `provider` is the provider of the configuration that uses the identity.
    ///
    /// # Errors
    ///
    /// [`IdentityError`] says what is wrong and what to do.
    pub fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        provider: &CryptoProvider,
    ) -> Result<Self, IdentityError> {
        // Wiped in any case; the key provider has to take care of its copy.
        let key = Zeroizing::new(key);
        Self::with_key(chain, provider, |_, _| {
            provider
                .key_provider
                .load_private_key(key.clone_key())
                .map_err(|error| match post_quantum(&key) {
                    // Our key provider says why it refuses a key that it can read.
                    Some(algorithm) if !matches!(error, rustls::Error::Other(_)) => {
                        IdentityError::ClassicalProvider { algorithm }
                    }
                    _ => IdentityError::Key(error),
                })
        })
    }

    /// Checks a chain, leaf first, and the public key of `signer`, which has to be that of the leaf. The private key may be
    /// anywhere: in a hardware module, in a key store, behind a network. [The module `sign`](crate::sign) says what follows
    /// from that.
    ///
    /// A signer that may be slow, hang or fail should be within bounds:
    /// [`BoundedSigner`](crate::sign::BoundedSigner). `check` says whether its signatures are verified before they are sent.
    /// `provider` is the provider of the configuration that uses the identity; if this crate has made it, the schemes that
    /// its own keys may sign with are those that the signer may sign with.
    ///
    /// The two stay together: for another key, make another identity, and
    /// [replace](super::IdentitySet::with_replaced) this one.
    ///
    /// # Errors
    ///
    /// [`IdentityError`] says what is wrong and what to do: in particular [`Mismatch`](IdentityError::Mismatch) for another
    /// public key, [`NoScheme`](IdentityError::NoScheme) and [`Unverifiable`](IdentityError::Unverifiable).
    pub fn with_signer(
        chain: Vec<CertificateDer<'static>>,
        signer: Arc<dyn Signer>,
        check: SignatureCheck,
        provider: &CryptoProvider,
    ) -> Result<Self, IdentityError> {
        let identity = Self::with_key(chain, provider, |leaf, algorithm| {
            if signer.spki() != leaf.spki() {
                return Err(mismatch(leaf, algorithm));
            }
            let spki = leaf.parsed().tbs_certificate().subject_public_key_info();
            let key = ExternalKey::new(signer, &spki.owned_to_ref(), algorithm, check, provider);
            match key {
                Ok(key) => Ok(Arc::new(key)),
                Err(UnfitSigner::NoScheme { signature }) => Err(IdentityError::NoScheme {
                    algorithm,
                    signature,
                }),
                Err(UnfitSigner::Unverifiable { signature }) => {
                    Err(IdentityError::Unverifiable { signature })
                }
                Err(UnfitSigner::NotAllowed(error)) => Err(IdentityError::Key(error)),
            }
        })?;
        Ok(Self {
            may_block: true,
            ..identity
        })
    }

    /// Checks a chain and the key that `load` gives for its leaf.
    fn with_key(
        chain: Vec<CertificateDer<'static>>,
        provider: &CryptoProvider,
        load: impl FnOnce(&Certificate, KeyAlgorithm) -> Result<Arc<dyn SigningKey>, IdentityError>,
    ) -> Result<Self, IdentityError> {
        let certificates = chain
            .iter()
            .enumerate()
            .map(|(index, certificate)| {
                Certificate::from_der(certificate)
                    .map_err(|error| IdentityError::Certificate { index, error })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let leaf = certificates.first().ok_or(IdentityError::NoCertificate)?;
        let key_algorithm = Algorithms::in_certificate(leaf.parsed()).key;
        let not_after =
            (certificates.iter().map(Certificate::not_after)).fold(leaf.not_after(), UnixTime::min);
        let size = chain.iter().map(|certificate| certificate.len()).sum();
        check_flight(&chain, 0, key_algorithm.max_signature_len())?;

        let certified = CertifiedKey::new(chain, load(leaf, key_algorithm)?);
        match certified.keys_match() {
            // If a key can't give its public half, trust that it is the certificate's,
            // as rustls does.
            Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
            Err(rustls::Error::InconsistentKeys(_)) => {
                return Err(mismatch(leaf, key_algorithm));
            }
            Err(error) => return Err(IdentityError::Key(error)),
        }

        let tls12_suites = (provider.cipher_suites.iter())
            .filter(|suite| suite.version().version == ProtocolVersion::TLSv1_2)
            .filter(|suite| suite.usable_for_signature_algorithm(certified.key.algorithm()))
            .map(SupportedCipherSuite::suite)
            .collect();
        Ok(Self {
            certified: Arc::new(certified),
            stapled: Stapled::default(),
            verification: provider.signature_verification_algorithms.all,
            ocsp_issuers: Vec::new(),
            may_block: false,
            must_staple: must_staple(leaf),
            is_lack_reported: AtomicBool::new(false),
            key_algorithm,
            tls12_suites,
            algorithms: certificates
                .iter()
                .map(|certificate| Algorithms::in_certificate(certificate.parsed()))
                .collect(),
            names: leaf
                .dns_names()
                .iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
            issuers: certificates
                .iter()
                .map(|certificate| certificate.issuer_der().to_vec())
                .collect(),
            not_after,
            size,
            trust_anchors: Vec::new(),
            protocols: Vec::new(),
        })
    }

    /// Reads the chain and the key from PEM texts, and checks them.
    ///
    /// # Errors
    ///
    /// [`IdentityError`] says what is wrong and what to do.
    pub fn from_pem(
        chain: &[u8],
        key: &[u8],
        provider: &CryptoProvider,
    ) -> Result<Self, IdentityError> {
        let chain = pem::decode_all(chain, CERTIFICATE).map_err(of_chain)?;
        Self::new(certificates(chain), key_in_pem(key)?, provider)
    }

    /// Reads the chain and the key from the contents of files, in PEM or DER, and checks them.
    pub(super) fn in_files(
        chain: &[u8],
        key: &[u8],
        provider: &CryptoProvider,
    ) -> Result<Self, IdentityError> {
        let chain = pem::all_in(chain, CERTIFICATE).map_err(of_chain)?;
        let key = match pem::is_der(key) {
            true => PrivateKeyDer::try_from(key)
                .map_err(|_| IdentityError::KeyDer)?
                .clone_key(),
            false => key_in_pem(key)?,
        };
        Self::new(certificates(chain), key, provider)
    }

    /// Reads a chain from the content of a file, in PEM or DER, and checks it with the signer that a source has for it.
    pub(super) fn in_file(
        chain: &[u8],
        source: &dyn SignerSource,
        provider: &CryptoProvider,
    ) -> Result<Self, IdentityError> {
        let chain = certificates(pem::all_in(chain, CERTIFICATE).map_err(of_chain)?);
        let leaf = chain.first().ok_or(IdentityError::NoCertificate)?;
        let leaf = Certificate::from_der(leaf)
            .map_err(|error| IdentityError::Certificate { index: 0, error })?;
        let signer = source
            .signer(&leaf.spki())
            .map_err(IdentityError::NoSigner)?;
        Self::with_signer(chain, signer, SignatureCheck::Each, provider)
    }

    /// States the trust anchor IDs of the CA that the chain ends at, in place of those stated before.
    ///
    /// The IDs come from the CA. Clients that send one of them in `trust_anchors`
    /// (draft-ietf-tls-trust-anchor-ids-06), as Chromium does, get the chain wherever it stands in the
    /// order. This needs an [`OfferReader`](crate::OfferReader) with a
    /// [`ServerHandshake`](crate::ServerHandshake), because rustls drops the extension. The chain has
    /// to be complete, each certificate followed by its issuer's, up to the one that this CA issued
    /// (section 5.5).
    ///
    /// Three things differ from the draft, because rustls can't send what it asks of servers:
    ///
    /// * A client isn't told that its IDs decided (an empty extension with the chain, section 5.5).
    ///   It verifies the chain like any other.
    /// * A client isn't told which IDs the server has (section 5.6). The draft lets clients send IDs
    ///   of CAs that they don't trust, and try again with that list. Here such a client fails, even if
    ///   another chain would have worked. So state the CA's own ID, and not the IDs of groups, which
    ///   more clients send.
    /// * An ID counts if it equals one of the client's. The patterns by which a CA describes a range
    ///   of groups, such as `32473.2.{7-}` (section 5.3.1), can't be stated.
    pub fn with_trust_anchors(self, ids: impl IntoIterator<Item = TrustAnchorId>) -> Self {
        Self {
            trust_anchors: ids.into_iter().collect(),
            ..self
        }
    }

    /// States application protocols (ALPN, RFC 7301) that only clients that trust the chain offer, in
    /// place of those stated before.
    ///
    /// Such clients get the chain wherever it stands in the order. Name no protocol that other clients
    /// offer too, such as `h2`: they would get this chain instead of one that they trust.
    ///
    /// [`ServerConfig::alpn_protocols`](rustls::ServerConfig) should have the protocol, too: a server
    /// that has protocols, but none of the client's, refuses the client.
    pub fn with_protocols<P: Into<Vec<u8>>>(self, protocols: impl IntoIterator<Item = P>) -> Self {
        Self {
            protocols: protocols.into_iter().map(P::into).collect(),
            ..self
        }
    }

    /// Gives CA certificates for the verification of OCSP responses, in place of those given before.
    ///
    /// A response is sent only if it can be verified, which takes the certificate of the leaf's issuer. If that isn't
    /// in the chain, because it is the root, it has to be here. These certificates aren't sent.
    pub fn with_ocsp_issuers(self, issuers: impl IntoIterator<Item = Certificate>) -> Self {
        Self {
            ocsp_issuers: issuers.into_iter().collect(),
            ..self
        }
    }

    /// Sets an OCSP response, as [`set_ocsp_response`](Self::set_ocsp_response) does, before the
    /// identity is shared.
    ///
    /// # Errors
    ///
    /// Those of [`set_ocsp_response`](Self::set_ocsp_response).
    pub fn with_ocsp_response(self, response: &[u8]) -> Result<Self, IdentityError> {
        self.set_ocsp_response(response)?;
        Ok(self)
    }

    /// Sets the OCSP response that is sent with the certificate.
    ///
    /// `response` is in DER and about the leaf (RFC 6960). Clients that ask for a response (RFC 6066,
    /// section 8; RFC 9846, section 4.4.2.1) get it from the next handshake on. An empty one removes
    /// the response.
    ///
    /// It is sent until its nextUpdate, and not while it is from the future because the clock was set back. Then
    /// handshakes go on without it, and the log says so once;
    /// [`IdentityFiles`](super::IdentityFiles) and
    /// [`Identities::refresh_ocsp_responses`](super::Identities::refresh_ocsp_responses) provide newer
    /// ones. Handshakes that resume a session send no certificate, and no response either.
    ///
    /// A response that says that the certificate was revoked is sent, too, and the log warns.
    ///
    /// # Errors
    ///
    /// The response that was set before stays.
    ///
    /// * [`IdentityError::OcspResponse`] if the response can't be read or has no answer in it.
    /// * [`IdentityError::Ocsp`] if it is about another certificate, has expired, is from the future by more
    ///   than clients allow ([`OcspVerifier::CLOCK_TOLERANCE`](pq_x509::ocsp::OcspVerifier::CLOCK_TOLERANCE)), has no
    ///   nextUpdate, or says that the responder doesn't know the certificate; also if it is signed neither by
    ///   the issuer nor by a responder that the issuer certified for this, or by an algorithm that neither this crate
    ///   nor the provider has. A client that has the algorithm would refuse the server because of a forged response.
    /// * [`IdentityError::NoOcspIssuer`] if the issuer's certificate is neither in the chain nor
    ///   [given beside it](Self::with_ocsp_issuers), and [`IdentityError::OtherOcspIssuer`] if the only one that the
    ///   response fits has another key than the leaf's signature.
    /// * [`IdentityError::AlgorithmPanicked`] if an algorithm of the provider panics.
    /// * [`IdentityError::TooLarge`] if no handshake can carry the response with the chain.
    pub fn set_ocsp_response(&self, response: &[u8]) -> Result<(), IdentityError> {
        if response.is_empty() {
            // TLS has no empty response: clients would refuse the whole message.
            self.stapled.set(None);
            return Ok(());
        }
        self.take_ocsp_response(response, UnixTime::now())
    }

    /// As [`set_ocsp_response`](Self::set_ocsp_response) at this time, but refuses an empty response.
    pub(super) fn take_ocsp_response(
        &self,
        response: &[u8],
        now: UnixTime,
    ) -> Result<(), IdentityError> {
        let answer = self.check_ocsp_response(response, now)?;
        self.show(response, answer)
    }

    /// Asks a source for a response if one is due, takes it if it [supersedes](stapled::Answer::supersedes) the one
    /// before, and returns when to ask again. Stops when `goes_on` returns `false`.
    pub(super) fn refresh_ocsp_response(
        &self,
        source: &dyn OcspSource,
        goes_on: impl Fn() -> bool,
    ) -> Option<UnixTime> {
        let time = self.stapled.ask_at(UnixTime::now())?;
        if UnixTime::now() < time || !goes_on() {
            return Some(time);
        }
        let response = stapled::ask(source, &self.certified.cert);
        if !goes_on() {
            return Some(time);
        }
        // The source may have taken a while.
        let now = UnixTime::now();
        let taken = response.and_then(|response| {
            let answer = self.check_ocsp_response(&response, now)?;
            let before = self
                .stapled
                .answer()
                .filter(|before| before.is_current(now));
            match before {
                Some(before) if !answer.supersedes(&before) => Ok(false),
                _ => self.show(&response, answer).map(|()| true),
            }
        });
        let is_new = *taken.as_ref().unwrap_or(&false);
        let again = self.stapled.asked(is_new, now);
        if let Err(error) = taken {
            warn!(
                names = ?self.names,
                again_in_seconds = again.as_secs().saturating_sub(now.as_secs()),
                %error,
                "no newer OCSP response; the one before, if there is one, is shown until it expires"
            );
        }
        Some(again)
    }

    fn check_ocsp_response(
        &self,
        response: &[u8],
        now: UnixTime,
    ) -> Result<stapled::Answer, IdentityError> {
        stapled::check(
            response,
            &self.certified.cert,
            &self.ocsp_issuers,
            self.verification,
            now,
        )
    }

    /// Asks no source for a response, because it comes from elsewhere.
    pub(super) fn never_ask_for_ocsp_response(&self) {
        self.stapled.never_ask();
    }

    fn show(&self, response: &[u8], answer: stapled::Answer) -> Result<(), IdentityError> {
        // Extension, CertificateStatus and OCSPResponse have headers of four, one and three
        // bytes.
        let signature = self.key_algorithm.max_signature_len();
        check_flight(&self.certified.cert, response.len() + 8, signature)?;
        let certified = CertifiedKey {
            ocsp: Some(response.to_vec()),
            ..CertifiedKey::clone(&self.certified)
        };
        self.stapled.set(Some((certified, answer)));
        let until = rfc3339(answer.next_update);
        match answer.status {
            CertStatus::Revoked {
                date: since,
                reason,
            } => warn!(
                names = ?self.names,
                since = rfc3339(since),
                ?reason,
                until,
                "the OCSP response that clients get says that the certificate was revoked; get a new \
                 certificate, for a new key"
            ),
            _ => info!(names = ?self.names, until, "OCSP response taken"),
        }
        Ok(())
    }

    /// The chain and the key in the form that rustls takes, with the current OCSP response if any.
    pub fn certified_key(&self) -> Arc<CertifiedKey> {
        match self.stapled.shown(UnixTime::now) {
            Shown::Staple(certified) => return certified,
            Shown::Nothing => {
                if self.must_staple && !self.is_lack_reported.swap(true, Ordering::Relaxed) {
                    warn!(
                        names = ?self.names,
                        "the certificate requires an OCSP response (must-staple), and there is none, so \
                         that clients may refuse it; provide one"
                    );
                }
            }
            Shown::Ended(end) => warn!(
                names = ?self.names,
                end = rfc3339(end),
                "the OCSP response has expired, and clients get none; provide a newer one"
            ),
            Shown::Early(from) => warn!(
                names = ?self.names,
                from = rfc3339(from),
                "the OCSP response is from the future, since the clock was set back, and clients get none; provide \
                 one of now"
            ),
        }
        Arc::clone(&self.certified)
    }

    /// The certificates as they are sent, leaf first.
    pub fn chain(&self) -> &[CertificateDer<'static>] {
        &self.certified.cert
    }

    /// When the OCSP response expires (nextUpdate), if there is one. Set another one before then.
    pub fn ocsp_response_until(&self) -> Option<UnixTime> {
        Some(self.stapled.answer()?.next_update)
    }

    /// Whether the certificate requires an OCSP response (RFC 7633, must-staple). Clients that check
    /// this, such as [`CheckOcsp`](crate::verify::CheckOcsp), refuse the certificate without one.
    pub fn must_staple(&self) -> bool {
        self.must_staple
    }

    /// Whether signing may wait for something outside of this process, because the identity was made
    /// [with a signer](Self::with_signer).
    pub fn may_block(&self) -> bool {
        self.may_block
    }

    /// The algorithm of the leaf's key.
    pub fn key_algorithm(&self) -> KeyAlgorithm {
        self.key_algorithm
    }

    /// The DNS names of the leaf, in lower case; wildcards as they are.
    pub fn dns_names(&self) -> &[String] {
        &self.names
    }

    /// The last second in which all certificates of the chain are valid: replace them before.
    ///
    /// It may be in the past: the peers' clocks decide whether the chain is accepted.
    pub fn not_after(&self) -> UnixTime {
        self.not_after
    }

    /// The IDs that [`with_trust_anchors`](Self::with_trust_anchors) has stated.
    pub fn trust_anchors(&self) -> &[TrustAnchorId] {
        &self.trust_anchors
    }

    /// The protocols that [`with_protocols`](Self::with_protocols) has stated.
    pub fn protocols(&self) -> &[Vec<u8>] {
        &self.protocols
    }

    /// The length of all certificates together, and of the OCSP response if there is one, in bytes.
    pub fn size(&self) -> usize {
        self.size + self.stapled.len()
    }

    /// The length of the certificates and of the signature in CertificateVerify, in bytes: what a
    /// handshake with it takes, without an OCSP response.
    pub(super) fn weight(&self) -> usize {
        self.size + self.key_algorithm.max_signature_len()
    }

    /// The scheme to sign with for a peer that accepts `schemes` in the handshake, and in certificates
    /// the signatures that `is_accepted` accepts; `None` if the peer can't verify this identity.
    pub(super) fn scheme_for(
        &self,
        schemes: &[SignatureScheme],
        is_accepted: impl Fn(Signature) -> bool,
    ) -> Option<SignatureScheme> {
        match Algorithms::relied_on(&self.algorithms).all(is_accepted) {
            true => self.signs_with(schemes),
            false => None,
        }
    }

    /// Whether it can be used in TLS 1.2 with a client with this offer. There a suite is for
    /// one kind of key (RFC 8422, section 2), and never for a post-quantum one.
    pub(super) fn suits_tls12(&self, offer: &Offer) -> bool {
        let mut suites = self.tls12_suites.iter();
        suites.any(|suite| offer.cipher_suites.contains(suite)) && self.has_curve_of(offer)
    }

    /// Whether a client with this offer knows the curve of the key, if the key has one. A client that lists no groups
    /// leaves the choice to the server (RFC 8422, section 4).
    fn has_curve_of(&self, offer: &Offer) -> bool {
        let curve = self.key_algorithm.curve();
        offer.groups.is_empty() || curve.is_none_or(|curve| offer.groups.contains(&curve))
    }

    /// What rustls gets for a client with this offer.
    pub(crate) fn shown_to(&self, offer: &Offer) -> Arc<CertifiedKey> {
        let certified = self.certified_key();
        match self.has_curve_of(offer) {
            true => certified,
            // rustls doesn't tell the version beforehand, and looks at no curve afterwards.
            false => Arc::new(CertifiedKey {
                key: Arc::new(ForTls13(Arc::clone(&certified.key))),
                ..CertifiedKey::clone(&certified)
            }),
        }
    }

    pub(super) fn signs_with(&self, schemes: &[SignatureScheme]) -> Option<SignatureScheme> {
        let signer = self.certified.key.choose_scheme(schemes)?;
        Some(signer.scheme())
    }

    /// Whether a CA with such a name, in DER, issued one of the certificates.
    pub(super) fn is_issued_by(&self, is_such: impl Fn(&[u8]) -> bool) -> bool {
        self.issuers.iter().any(|issuer| is_such(issuer))
    }

    /// Whether a client shows that it trusts the chain.
    pub(super) fn is_trusted_by(&self, offer: &Offer) -> bool {
        self.is_issued_by(|name| offer.certificate_authorities.contains(name))
            || (self.trust_anchors.iter()).any(|id| offer.trust_anchors.contains(id))
            || self.is_for_protocol_of(offer)
    }

    /// Whether a client offers one of the protocols whose clients trust the chain.
    pub(super) fn is_for_protocol_of(&self, offer: &Offer) -> bool {
        (self.protocols.iter()).any(|protocol| offer.protocols.contains(protocol))
    }

    pub(super) fn algorithms(&self) -> &[Algorithms] {
        &self.algorithms
    }

    /// The strength of the weakest link of the chain.
    pub(super) fn strength(&self) -> Strength {
        let keys = self.algorithms.iter().map(|certificate| certificate.key);
        keys.map(KeyAlgorithm::strength)
            .chain(Algorithms::relied_on(&self.algorithms).map(Signature::strength))
            .min()
            .unwrap_or(Strength::NONE)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("names", &self.names)
            .field("key", &format_args!("{}", self.key_algorithm()))
            .field("certificates", &self.algorithms.len())
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// A key that no cipher suite of TLS 1.2 is for, so that rustls refuses clients of this version with the alert
/// `handshake_failure`.
#[derive(Debug)]
struct ForTls13(Arc<dyn SigningKey>);

impl SigningKey for ForTls13 {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn rustls::sign::Signer>> {
        self.0.choose_scheme(offered)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.0.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::Anonymous
    }
}

/// How large the certificates and the signature of CertificateVerify may be together, in
/// bytes.
///
/// rustls receives a flight of messages into a buffer of 65,535 bytes, and frees nothing of
/// it until a message ends together with a record. Servers that fill their records, as
/// rustls and BoringSSL do, therefore have to get everything from EncryptedExtensions to
/// Finished into this buffer. The rest of the buffer is for those two, a CertificateRequest
/// with a few dozen names, and the framing of four records.
const FLIGHT_LIMIT: usize = 0xffff - 4095;

fn check_flight(
    chain: &[CertificateDer<'_>],
    extensions: usize,
    signature: usize,
) -> Result<(), IdentityError> {
    // CertificateEntry: three bytes of length, two of extensions (RFC 9846, section 4.4.2).
    let entries = chain.iter().map(|certificate| certificate.len() + 5);
    let certificates = entries.sum::<usize>() + extensions;
    match certificates + signature <= FLIGHT_LIMIT {
        true => Ok(()),
        false => Err(IdentityError::TooLarge {
            certificates,
            signature,
            limit: FLIGHT_LIMIT,
        }),
    }
}

fn mismatch(leaf: &Certificate, algorithm: KeyAlgorithm) -> IdentityError {
    IdentityError::Mismatch {
        certificate: leaf.describe_subject(),
        algorithm,
    }
}

const CERTIFICATE: &str = "CERTIFICATE";
const PKCS8: &str = "PRIVATE KEY";
const SEC1: &str = "EC PRIVATE KEY";
const PKCS1: &str = "RSA PRIVATE KEY";

fn certificates(chain: Vec<Zeroizing<Vec<u8>>>) -> Vec<CertificateDer<'static>> {
    let certificates = chain.into_iter();
    certificates
        .map(|mut der| mem::take(&mut *der).into())
        .collect()
}

/// The first private key of a PEM text.
fn key_in_pem(text: &[u8]) -> Result<PrivateKeyDer<'static>, IdentityError> {
    let (label, mut der) = pem::decode_first_of(text, &[PKCS8, SEC1, PKCS1]).map_err(of_key)?;
    let der = mem::take(&mut *der);
    Ok(match label {
        PKCS8 => PrivatePkcs8KeyDer::from(der).into(),
        SEC1 => PrivateSec1KeyDer::from(der).into(),
        _ => PrivatePkcs1KeyDer::from(der).into(),
    })
}

fn of_chain(error: PemError) -> IdentityError {
    match error {
        PemError::Missing { found, .. } => IdentityError::NoCertificateBlock { found },
        error => IdentityError::ChainPem(error),
    }
}

fn of_key(error: PemError) -> IdentityError {
    let is_encrypted = |label: &String| label == "ENCRYPTED PRIVATE KEY";
    match error {
        PemError::Missing { found, .. } if found.iter().any(is_encrypted) => {
            IdentityError::EncryptedKey
        }
        PemError::Missing { found, .. } => IdentityError::NoKeyBlock { found },
        PemError::Unreadable {
            damage: Damage::LegacyEncryption,
            ..
        } => IdentityError::EncryptedKey,
        error => IdentityError::KeyPem(error),
    }
}

/// The algorithm of a post-quantum private key that can be read.
fn post_quantum(key: &PrivateKeyDer<'_>) -> Option<pq_x509::keys::SignatureAlgorithm> {
    let PrivateKeyDer::Pkcs8(key) = key else {
        return None;
    };
    let key = pq_x509::keys::SigningKey::from_pkcs8_der(key.secret_pkcs8_der()).ok()?;
    Some(key.algorithm())
}

use alloc::sync::Arc;
use core::cmp::Reverse;
use core::mem;
use std::sync::{PoisonError, RwLock};

use rustls::client::ResolvesClientCert;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{CipherSuite, ProtocolVersion, SignatureScheme};
use tracing::{debug, info, warn};

use super::Identity;
use crate::start::Start;
use crate::{Authentication, Offer};

/// The identities of a server, or of a client.
///
/// A server picks by name; a client has no use for names and picks among all.
#[derive(Clone, Debug, Default)]
pub struct IdentitySet {
    /// The best first.
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    identity: Arc<Identity>,
    /// In lower case, without a dot at the end; `*.example.org` is a wildcard.
    names: Vec<String>,
    is_default: bool,
}

impl IdentitySet {
    /// A set with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an identity for the names in its certificate.
    pub fn with(self, identity: impl Into<Arc<Identity>>) -> Self {
        let identity = identity.into();
        let names = identity.dns_names().to_vec();
        self.insert(identity, names, false)
    }

    /// Adds an identity for the names in its certificate, and for clients that ask for no
    /// name or for one that isn't in the set. There can be several.
    pub fn with_default(self, identity: impl Into<Arc<Identity>>) -> Self {
        let identity = identity.into();
        let names = identity.dns_names().to_vec();
        self.insert(identity, names, true)
    }

    /// Adds an identity for one name, whatever its certificate says: a DNS name, or a
    /// wildcard such as `*.example.org`.
    pub fn with_name(self, name: &str, identity: impl Into<Arc<Identity>>) -> Self {
        self.insert(identity.into(), vec![normalized(name)], false)
    }

    /// All identities, the strongest first.
    pub fn identities(&self) -> impl Iterator<Item = &Arc<Identity>> + Clone {
        self.entries.iter().map(|entry| &entry.identity)
    }

    fn insert(mut self, identity: Arc<Identity>, names: Vec<String>, is_default: bool) -> Self {
        self.entries.push(Entry {
            identity,
            names,
            is_default,
        });
        // Stable: what came first stays first among equals.
        self.entries.sort_by_key(|Entry { identity, .. }| {
            (Reverse(identity.strength()), identity.weight())
        });
        self
    }

    /// What a client with this offer gets.
    fn choose(&self, offer: &Offer) -> Option<Choice> {
        let schemes = &offer.signature_schemes;
        let cert_schemes = offer.certificate_schemes.as_ref().unwrap_or(schemes);
        let candidates = self.for_name(offer.server_name.as_deref());
        let identities = || candidates.iter().map(|entry| &entry.identity);
        let suites = &offer.cipher_suites;
        let for_tls12 = || identities().filter(|identity| identity.suits_tls12(suites));
        let tls13 = for_tls13(schemes);
        match MayBe::of(offer) {
            MayBe::Tls13 => choose(identities(), &tls13, cert_schemes),
            MayBe::Tls12 => {
                choose(for_tls12(), schemes, cert_schemes).or_else(|| without_scheme(identities()))
            }
            MayBe::Either => verifiable(for_tls12(), &tls13, cert_schemes)
                .or_else(|| choose(identities(), &tls13, cert_schemes)),
        }
    }

    /// What a client with this offer gets that is shaking hands, which the log tells.
    pub(crate) fn resolve(&self, offer: &Offer) -> Option<Choice> {
        let server_name = offer.server_name.as_deref();
        let Some(choice) = self.choose(offer) else {
            info!(
                server_name,
                "no certificate for this name, and no default one; add one, or the client is \
                 refused"
            );
            return None;
        };
        match choice.scheme {
            Some(scheme) => debug!(
                server_name,
                key = %choice.identity.key_algorithm(),
                ?scheme,
                "certificate chosen"
            ),
            None => info!(
                server_name,
                client_accepts = ?Start(&offer.signature_schemes),
                server_has = ?keys(self),
                "no signature scheme shared with this client; add a certificate with a key that it \
                 accepts"
            ),
        }
        Some(choice)
    }

    /// The entries for a name, the most specific first and then the best.
    fn for_name(&self, name: Option<&str>) -> Vec<&Entry> {
        let mut matches = Vec::new();
        if let Some(name) = name.map(normalized) {
            let is_exact = |entry: &&Entry| entry.names.contains(&name);
            let wildcard = name
                .split_once('.')
                .map(|(_, parent)| format!("*.{parent}"));
            let is_wildcard = |entry: &&Entry| {
                wildcard
                    .as_ref()
                    .is_some_and(|wildcard| entry.names.contains(wildcard))
            };
            matches.extend(self.entries.iter().filter(is_exact));
            matches.extend(
                self.entries
                    .iter()
                    .filter(|entry| !is_exact(entry) && is_wildcard(entry)),
            );
        }
        match matches.is_empty() {
            true => self.entries.iter().filter(|e| e.is_default).collect(),
            false => matches,
        }
    }
}

/// Gives rustls the identity that suits the peer best, and takes a new set at any
/// time: the resolver of a [`ServerConfig`](rustls::ServerConfig) or a
/// [`ClientConfig`](rustls::ClientConfig).
///
/// [The module](crate::identity) says which identity a client gets. Servers get the
/// strongest one that they can verify, preferably issued by a CA that they name in the
/// request.
#[derive(Debug)]
pub struct Identities {
    // Locked only to copy or to exchange the pointer.
    current: RwLock<Arc<IdentitySet>>,
}

/// An identity and what it signs with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Choice {
    /// The identity.
    pub identity: Arc<Identity>,
    /// What it signs the handshake with; `None` if the peer accepts nothing that the
    /// key is able to, or in TLS 1.2 offers no cipher suite for any of the keys, and the
    /// handshake is going to fail.
    pub scheme: Option<SignatureScheme>,
}

impl Choice {
    /// How the handshake proves who this side is, for
    /// [`Negotiated::with_own`](crate::Negotiated::with_own); `None` if it is going to fail.
    pub fn authentication(&self) -> Option<Authentication> {
        let scheme = self.scheme?;
        Some(Authentication {
            scheme: Some(scheme),
            ..Authentication::by(&self.identity.algorithms)?
        })
    }
}

impl Identities {
    /// Starts with `set`.
    pub fn new(set: IdentitySet) -> Self {
        Self {
            current: RwLock::new(Arc::new(set)),
        }
    }

    /// Puts `set` in the place of the current one, for all handshakes that start from
    /// now on. Handshakes that are under way and connections keep what they have.
    ///
    /// Where [files are watched](super::IdentityFiles::watch), it is replaced in turn when one
    /// of them changes: then change the files instead.
    pub fn replace(&self, set: IdentitySet) {
        let mut set = Arc::new(set);
        mem::swap(
            &mut *self.current.write().unwrap_or_else(PoisonError::into_inner),
            &mut set,
        );
        // What was the current set goes here, after the lock.
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
    /// (signature_algorithms_cert, or the same where the client doesn't send it).
    pub fn choose_for(
        &self,
        server_name: Option<&str>,
        schemes: &[SignatureScheme],
        cert_schemes: &[SignatureScheme],
    ) -> Option<Choice> {
        let set = self.current();
        let candidates = set.for_name(server_name);
        let identities = candidates.iter().map(|entry| &entry.identity);
        choose(identities, schemes, cert_schemes)
    }
}

impl ResolvesServerCert for Identities {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let choice = self.current().resolve(&Offer::of(&hello))?;
        Some(Arc::clone(choice.identity.certified_key()))
    }
}

impl ResolvesClientCert for Identities {
    fn resolve(
        &self,
        root_hint_subjects: &[&[u8]],
        schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        let set = self.current();
        let hinted = set
            .identities()
            .filter(|identity| identity.is_issued_by(root_hint_subjects))
            .collect::<Vec<_>>();
        let choice = choose(hinted.iter().copied(), schemes, schemes)
            .filter(|choice| choice.scheme.is_some())
            .or_else(|| choose(set.identities(), schemes, schemes));
        match choice {
            Some(Choice {
                identity,
                scheme: Some(scheme),
            }) => {
                debug!(key = %identity.key_algorithm(), ?scheme, "client certificate chosen");
                Some(Arc::clone(identity.certified_key()))
            }
            // Then rustls sends an empty chain, and the server decides.
            _ => {
                warn!(
                    server_accepts = ?Start(schemes),
                    client_has = ?keys(&set),
                    "no client certificate that this server accepts the signatures of"
                );
                None
            }
        }
    }

    fn has_certs(&self) -> bool {
        self.current().identities().next().is_some()
    }
}

/// The first one that the peer can verify; else, one that it may.
fn choose<'a>(
    candidates: impl Iterator<Item = &'a Arc<Identity>> + Clone,
    schemes: &[SignatureScheme],
    cert_schemes: &[SignatureScheme],
) -> Option<Choice> {
    verifiable(candidates.clone(), schemes, cert_schemes)
        // The chain may be one that the peer trusts for other reasons.
        .or_else(|| find(candidates.clone(), |identity| identity.signs_with(schemes)))
        .or_else(|| without_scheme(candidates))
}

/// The first one, which this peer is going to refuse.
fn without_scheme<'a>(mut candidates: impl Iterator<Item = &'a Arc<Identity>>) -> Option<Choice> {
    Some(Choice {
        identity: Arc::clone(candidates.next()?),
        scheme: None,
    })
}

fn verifiable<'a>(
    candidates: impl Iterator<Item = &'a Arc<Identity>>,
    schemes: &[SignatureScheme],
    cert_schemes: &[SignatureScheme],
) -> Option<Choice> {
    find(candidates, |identity| {
        identity.scheme_for(schemes, cert_schemes)
    })
}

fn find<'a>(
    mut candidates: impl Iterator<Item = &'a Arc<Identity>>,
    scheme_of: impl Fn(&Identity) -> Option<SignatureScheme>,
) -> Option<Choice> {
    candidates.find_map(|identity| {
        Some(Choice {
            scheme: Some(scheme_of(identity)?),
            identity: Arc::clone(identity),
        })
    })
}

/// The version that a handshake is going to be of, which rustls doesn't tell its
/// resolvers.
enum MayBe {
    Tls12,
    Tls13,
    /// The client lists cipher suites of TLS 1.3 and no post-quantum group. It may be a
    /// rustls client that is limited to TLS 1.2: those list all suites
    /// and all schemes of their provider, and groups of the versions that they speak.
    Either,
}

impl MayBe {
    fn of(offer: &Offer) -> Self {
        if let Some(versions) = &offer.versions {
            return match versions.contains(&ProtocolVersion::TLSv1_3) {
                true => Self::Tls13,
                false => Self::Tls12,
            };
        }
        let has_tls13_suite = offer.cipher_suites.iter().any(|&suite| is_tls13(suite));
        let has_pq_group = offer.groups.iter().any(|group| group.is_post_quantum());
        match (has_tls13_suite, has_pq_group) {
            (false, _) => Self::Tls12,
            (true, true) => Self::Tls13,
            (true, false) => Self::Either,
        }
    }
}

fn keys(set: &IdentitySet) -> Vec<String> {
    set.identities()
        .map(|identity| identity.key_algorithm().to_string())
        .collect()
}

/// The schemes that may sign a handshake of TLS 1.3: not PKCS#1 v1.5 and not SHA-1
/// (RFC 9846, section 4.2.3).
fn for_tls13(schemes: &[SignatureScheme]) -> Vec<SignatureScheme> {
    use SignatureScheme as Scheme;
    let mut schemes = schemes.to_vec();
    schemes.retain(|scheme| {
        !matches!(
            scheme,
            Scheme::RSA_PKCS1_SHA1
                | Scheme::RSA_PKCS1_SHA256
                | Scheme::RSA_PKCS1_SHA384
                | Scheme::RSA_PKCS1_SHA512
                | Scheme::ECDSA_SHA1_Legacy
        )
    });
    schemes
}

/// The suites of TLS 1.3 have the first byte 0x13 (RFC 9846, appendix B.4).
fn is_tls13(suite: CipherSuite) -> bool {
    u16::from(suite) >> 8 == 0x13
}

fn normalized(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

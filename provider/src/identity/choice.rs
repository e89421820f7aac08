//! Which identity a peer gets.

use alloc::borrow::Cow;
use alloc::sync::Arc;

use rustls::{CipherSuite, ProtocolVersion, SignatureScheme};
use tracing::{debug, info};

use super::{Identity, IdentitySet};
use crate::algorithms::{Authentication, Signature};
use crate::hello::{Offer, Start};

/// An identity, and the scheme that it signs the handshake with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Choice {
    /// The identity.
    pub identity: Arc<Identity>,
    /// The scheme that it signs the handshake with. `None` means that the handshake is going to
    /// fail: the peer accepts no scheme of the key, or in TLS 1.2 offers no cipher suite for any of
    /// the keys, or lists the curve of none.
    pub scheme: Option<SignatureScheme>,
}

impl Choice {
    /// How the handshake proves who this side is, for
    /// [`Negotiated::with_own`](crate::Negotiated::with_own); `None` if it is going to fail.
    pub fn authentication(&self) -> Option<Authentication> {
        let scheme = self.scheme?;
        Some(Authentication {
            scheme: Some(scheme),
            ..Authentication::by(self.identity.algorithms())?
        })
    }
}

impl IdentitySet {
    /// The identity for a client with this offer.
    pub(super) fn choose(&self, offer: &Offer) -> Option<Choice> {
        let schemes = &offer.signature_schemes;
        let accepted = Accepted {
            schemes,
            cert_schemes: offer.certificate_schemes.as_ref().unwrap_or(schemes),
            has_cert_list: offer.certificate_schemes.is_some(),
        };
        let for_tls13 = for_tls13(schemes);
        let accepted_in_tls13 = Accepted {
            schemes: &for_tls13,
            ..accepted
        };
        let candidates = self.candidates(offer.server_name.as_deref());
        let suitable = candidates.clone();
        let suitable = suitable.filter(|identity| identity.suits_tls12(offer));
        let is_trusted = |identity: &Identity| identity.is_trusted_by(offer);

        match MayBe::of(offer) {
            MayBe::Tls13 => accepted_in_tls13.choose(candidates, is_trusted),
            // Extensions of TLS 1.3 count for nothing, as they do for rustls.
            MayBe::Tls12 => accepted
                .choose(suitable, |identity| identity.is_for_protocol_of(offer))
                .or_else(|| without_scheme(candidates)),
            // A client that trusts none that suit TLS 1.2 can use none of these in any version.
            MayBe::Either => accepted_in_tls13
                .choose_trusted(suitable.clone(), is_trusted)
                .or_else(|| accepted_in_tls13.choose_trusted(candidates.clone(), is_trusted))
                .or_else(|| find(suitable, |identity| accepted_in_tls13.verify(identity)))
                .or_else(|| accepted_in_tls13.choose(candidates, is_trusted)),
        }
    }

    /// The identity for a client with this offer, in a handshake; the log tells the outcome.
    pub(crate) fn resolve(&self, offer: &Offer) -> Option<Choice> {
        let server_name = offer.server_name.as_deref();
        let Some(choice) = self.choose(offer) else {
            info!(
                server_name,
                "no certificate for this name, and no default one, so the client is refused; add a \
                 certificate for this name, or a default"
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
            None => {
                let keys = self.keys_for(server_name);
                let keys = keys.iter().map(ToString::to_string).collect::<Vec<_>>();
                info!(
                    server_name,
                    client_accepts = ?Start(&offer.signature_schemes),
                    server_has = ?keys,
                    "no signature scheme shared with this client; add a certificate with a key that \
                     it accepts"
                );
            }
        }
        Some(choice)
    }
}

/// The signatures that a peer verifies.
#[derive(Clone, Copy)]
pub(super) struct Accepted<'a> {
    /// In the handshake.
    pub(super) schemes: &'a [SignatureScheme],
    /// In certificates.
    pub(super) cert_schemes: &'a [SignatureScheme],
    /// Whether it sent a list of those (signature_algorithms_cert), which then counts as complete.
    pub(super) has_cert_list: bool,
}

impl Accepted<'_> {
    /// One that the peer shows that it trusts; else, the first one that it can verify; else, one
    /// that it may be able to verify.
    pub(super) fn choose<'a>(
        &self,
        candidates: impl Iterator<Item = &'a Arc<Identity>> + Clone,
        is_trusted: impl Fn(&Identity) -> bool + Copy,
    ) -> Option<Choice> {
        self.choose_trusted(candidates.clone(), is_trusted)
            .or_else(|| find(candidates.clone(), |identity| self.verify(identity)))
            .or_else(|| self.sign(candidates.clone()))
            .or_else(|| without_scheme(candidates))
    }

    /// The first one that the peer trusts and can verify; else, the first one that it trusts and
    /// can verify except for signatures of SLH-DSA. Few of the peers that verify SLH-DSA list it, and
    /// none can list HashSLH-DSA; a peer that trusts a CA probably verifies its signatures.
    fn choose_trusted<'a>(
        &self,
        candidates: impl Iterator<Item = &'a Arc<Identity>> + Clone,
        is_trusted: impl Fn(&Identity) -> bool,
    ) -> Option<Choice> {
        let trusted = candidates.filter(|identity| is_trusted(identity));
        let but_for_slh_dsa = |identity: &Identity| {
            identity.scheme_for(self.schemes, |signature| {
                self.covers(signature) || signature.is_slh_dsa()
            })
        };
        find(trusted.clone(), |identity| self.verify(identity)).or_else(|| {
            match self.has_cert_list {
                true => None,
                false => find(trusted, but_for_slh_dsa),
            }
        })
    }

    /// The first one that can sign the handshake. Its chain may be one that the peer trusts for
    /// other reasons.
    pub(super) fn sign<'a>(
        &self,
        candidates: impl Iterator<Item = &'a Arc<Identity>>,
    ) -> Option<Choice> {
        find(candidates, |identity| identity.signs_with(self.schemes))
    }

    /// The scheme that this one signs with, if the peer can verify it.
    pub(super) fn verify(&self, identity: &Identity) -> Option<SignatureScheme> {
        identity.scheme_for(self.schemes, |signature| self.covers(signature))
    }

    fn covers(&self, signature: Signature) -> bool {
        let mut schemes = self.cert_schemes.iter();
        schemes.any(|&scheme| signature.is_covered_by(scheme))
    }
}

/// The first one, which the peer is going to refuse.
fn without_scheme<'a>(mut candidates: impl Iterator<Item = &'a Arc<Identity>>) -> Option<Choice> {
    Some(Choice {
        identity: Arc::clone(candidates.next()?),
        scheme: None,
    })
}

pub(super) fn find<'a>(
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

/// The version that a handshake is going to have, which rustls doesn't tell its
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

/// The schemes that may sign a handshake of TLS 1.3: not PKCS#1 v1.5 and not SHA-1
/// (RFC 9846, section 4.2.3).
fn for_tls13(schemes: &[SignatureScheme]) -> Cow<'_, [SignatureScheme]> {
    use SignatureScheme as Scheme;
    let is_for_tls13 = |scheme: &Scheme| {
        !matches!(
            *scheme,
            Scheme::RSA_PKCS1_SHA1
                | Scheme::RSA_PKCS1_SHA256
                | Scheme::RSA_PKCS1_SHA384
                | Scheme::RSA_PKCS1_SHA512
                | Scheme::ECDSA_SHA1_Legacy
        )
    };
    match schemes.iter().all(is_for_tls13) {
        true => schemes.into(),
        false => schemes.iter().copied().filter(is_for_tls13).collect(),
    }
}

/// The suites of TLS 1.3 have the first byte 0x13 (RFC 9846, appendix B.4).
fn is_tls13(suite: CipherSuite) -> bool {
    u16::from(suite) >> 8 == 0x13
}

//! `Builder` makes a provider: it chooses groups, cipher suites and signature schemes by the profile and by what the
//! caller names, and says what can be had instead of what can't.

use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::{CipherSuite, ProtocolVersion, RootCertStore, SignatureScheme, SupportedCipherSuite};
use tracing::debug;

use crate::algorithms::Group;
use crate::policy::Profile;
use crate::verify::{Algorithm, Kinds, RootKeys, SlhDsa};
use crate::{Error, base, kx, sign, verify};

/// Adds post-quantum algorithms to a [`CryptoProvider`], the *base*.
///
/// Cipher suites and randomness are the base's. The classical half of a hybrid is
/// the base's own group, so a hybrid is available only if the base has that group.
/// If the base has a post-quantum algorithm that this crate has too, this
/// crate's takes its place.
///
/// ```
/// use rustls::crypto::CryptoProvider;
/// use rustls_pq::{Builder, Error, Group, Profile};
///
/// fn strict(base: CryptoProvider) -> Result<CryptoProvider, Error> {
///     Builder::new(base)
///         .profile(Profile::RequirePq)
///         .require_pq_authentication()
///         .build()
/// }
///
/// fn explicit(base: CryptoProvider) -> Result<CryptoProvider, Error> {
///     Builder::new(base)
///         .groups([Group::SECP384R1MLKEM1024, Group::MLKEM1024])
///         .build()
/// }
/// #
/// # let base = rustls::crypto::ring::default_provider();
/// # assert_eq!(strict(base.clone())?.kx_groups.len(), 5);
/// # assert_eq!(explicit(base)?.kx_groups.len(), 2);
/// # Ok::<_, Error>(())
/// ```
///
/// # Memory
///
/// rustls requires references that live for ever. So what [`build()`](Self::build) makes
/// is kept for the life of the process, once for each different base, choice of
/// signature schemes and [kinds](Self::roots) of roots. Building the same provider again
/// allocates nothing that stays. Two bases differ if they hold different references: if a
/// program leaks a new key provider or group for every connection, and builds on it,
/// what is kept here grows as well. Build once, and share the provider.
///
/// # FIPS
///
/// The result's [`fips()`](CryptoProvider::fips) is `false` over any base, because
/// ML-KEM, ML-DSA and the loading of keys come from this crate, which is not a
/// validated module.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build()` is called"]
pub struct Builder {
    base: CryptoProvider,
    profile: Profile,
    groups: Option<Vec<Group>>,
    cipher_suites: Option<Vec<CipherSuite>>,
    schemes: Option<Vec<SignatureScheme>>,
    roots: Option<RootKeys>,
    pq_authentication: bool,
    slh_dsa_handshakes: bool,
}

impl Builder {
    /// Starts from any provider.
    ///
    /// Its groups must do the checks of RFC 9846, section 7.4.2, also in hybrids. Those of
    /// graviola, AWS-LC and ring do.
    pub fn new(base: CryptoProvider) -> Self {
        Self {
            base,
            profile: Profile::Default,
            groups: None,
            cipher_suites: None,
            schemes: None,
            roots: None,
            pq_authentication: false,
            slh_dsa_handshakes: false,
        }
    }

    /// Starts from [`base::first_usable()`].
    ///
    /// # Errors
    ///
    /// Those of [`base::first_usable()`].
    pub fn with_default_base() -> Result<Self, Error> {
        base::first_usable().map(Self::new)
    }

    /// Selects algorithms by purpose; without this call the profile is [`Profile::Default`].
    ///
    /// Groups, cipher suites and schemes that the methods below name, before or after this call,
    /// replace those that the profile lists. [`build()`](Self::build) refuses what the profile
    /// excludes.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Chooses the groups by name, the most preferred one first. A client sends a
    /// share for the first.
    ///
    /// You can name groups of this crate and groups of the base. A group that is named
    /// twice counts once.
    pub fn groups(mut self, groups: impl IntoIterator<Item = Group>) -> Self {
        self.groups = Some(groups.into_iter().collect());
        self
    }

    /// Chooses among the cipher suites of the base by name, the most preferred one
    /// first.
    pub fn cipher_suites(mut self, suites: impl IntoIterator<Item = CipherSuite>) -> Self {
        self.cipher_suites = Some(suites.into_iter().collect());
        self
    }

    /// Chooses the signatures that are accepted from the peer, in certificate chains
    /// and in the handshake, the most preferred scheme first. Without this call they are
    /// those of the profile.
    ///
    /// This doesn't affect signing, which depends on the key and on what the peer
    /// accepts. Nor does it affect SLH-DSA in chains: it isn't advertised, and except with
    /// [`Profile::Cnsa2`] it is accepted in addition to the schemes named here.
    pub fn signature_schemes(mut self, schemes: impl IntoIterator<Item = SignatureScheme>) -> Self {
        self.schemes = Some(schemes.into_iter().collect());
        self
    }

    /// Asks the peer for the kinds of signatures that suit these `roots`. Give the same ones to the verifier.
    ///
    /// | the roots are | asked for |
    /// |---|---|
    /// | all post-quantum | post-quantum signatures alone |
    /// | all classical | classical signatures first, then post-quantum ones |
    /// | of both kinds | everything, post-quantum signatures first, as without this call |
    ///
    /// A server with several certificates chooses by what the client says it can verify. Many follow
    /// the client's list, such as those over OpenSSL: from them a client that lists
    /// ML-DSA first, but trusts only classical roots, gets a chain that it can't use, although the server
    /// has one that it could. Others prefer ECDSA to what the client lists first, and send that to a client that trusts only
    /// post-quantum roots. With those roots, handshakes
    /// are signed with post-quantum keys alone, but chains may still have classical signatures: whoever has forged the key of a
    /// classical intermediate under such a root can certify a post-quantum key. [`Self::require_pq_authentication`] refuses that.
    ///
    /// The same applies to clients that have several certificates for a server that demands one:
    /// build the provider for [`WebPkiClientVerifier`](rustls::server::WebPkiClientVerifier) with
    /// the roots of the clients.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use rustls::server::WebPkiClientVerifier;
    /// use rustls::server::danger::ClientCertVerifier;
    /// use rustls::{ClientConfig, RootCertStore};
    /// use rustls_pq::Builder;
    ///
    /// fn client(roots: RootCertStore) -> Result<ClientConfig, Box<dyn std::error::Error>> {
    ///     let provider = Builder::with_default_base()?.roots(&roots).build()?;
    ///     Ok(ClientConfig::builder_with_provider(provider.into())
    ///         .with_safe_default_protocol_versions()?
    ///         .with_root_certificates(roots)
    ///         .with_no_client_auth())
    /// }
    ///
    /// /// For `ServerConfig`'s `with_client_cert_verifier`.
    /// fn verifier_of_clients(
    ///     roots: Arc<RootCertStore>,
    /// ) -> Result<Arc<dyn ClientCertVerifier>, Box<dyn std::error::Error>> {
    ///     let provider = Builder::with_default_base()?.roots(&roots).build()?;
    ///     Ok(WebPkiClientVerifier::builder_with_provider(roots, provider.into()).build()?)
    /// }
    /// # let key = pq_x509::keys::SigningKey::generate(pq_x509::keys::SignatureAlgorithm::MlDsa44)?;
    /// # let root = pq_x509::issuing::Issuer::self_signed(pq_x509::issuing::CertificateBuilder::ca("Root"), key)?;
    /// # let mut roots = RootCertStore::empty();
    /// # roots.add(root.certificate().der().clone())?;
    /// # client(roots.clone())?;
    /// # let schemes = verifier_of_clients(roots.into())?.supported_verify_schemes();
    /// # assert_eq!(schemes, rustls_pq::verify::ML_DSA.supported_schemes());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Mixed chains
    ///
    /// A classical root can sign the certificate of an ML-DSA key: a peer with such a chain is accepted. A peer with
    /// a classical key is refused if all roots are post-quantum. If such a root signs certificates of classical
    /// keys, don't call this method: all schemes are
    /// offered then. Or name the schemes that you want
    /// ([`signature_schemes`](Self::signature_schemes)): they are offered whatever their kind, in your order.
    /// Within chains signatures of both kinds are verified in any case.
    ///
    /// A peer with chains of both kinds, which prefers one whatever the client lists first, may choose one that ends
    /// at no root that is here, unless the roots are all post-quantum. Clients of such a server name schemes of the
    /// other kind alone.
    ///
    /// # Roots that are of no use
    ///
    /// Signatures by some roots' keys are not accepted: because the profile excludes them, as
    /// [`Profile::Cnsa2`] does with ML-DSA-44, or because neither the base nor this crate verifies
    /// them, as with P-521 over graviola or ring. Such roots are ignored. If there are no others,
    /// [`build()`](Self::build) fails with [`Error::NoSchemeForRoots`]. A root whose key can't be
    /// read counts as a root of both kinds, so that nothing is left out because of it.
    pub fn roots(mut self, roots: &RootCertStore) -> Self {
        self.roots = Some(RootKeys::of(roots));
        self
    }

    /// Leaves out every scheme of the profile that isn't post-quantum.
    ///
    /// Certificate chains with a classical signature and handshakes signed with a classical key
    /// are refused, and no classical key of our own is loaded. If
    /// [`signature_schemes`](Self::signature_schemes) names a classical scheme,
    /// [`build()`](Self::build) fails.
    ///
    /// If a server has a classical certificate, the client's handshake fails with the alert
    /// `handshake_failure`, because the server has nothing to sign with that the client accepts.
    /// If the server still sends such a certificate, the client sends it `decrypt_error`: rustls
    /// uses this alert where RFC 9846, section 4.4.2.2, has `unsupported_certificate`.
    pub fn require_pq_authentication(mut self) -> Self {
        self.pq_authentication = true;
        self
    }

    /// Accepts SLH-DSA in CertificateVerify, too, after ML-DSA and before the base's
    /// schemes, and loads SLH-DSA keys to sign handshakes with.
    ///
    /// **Experimental**: the code points are registered, but the draft behind them
    /// (draft-reddy-tls-slhdsa) has expired and is not a standard, few peers know
    /// them, and signatures have 7,856 to 49,856 bytes: [`Identity`](crate::identity::Identity)
    /// refuses a chain that no handshake can carry. The main use of SLH-DSA needs none of this: in
    /// certificate chains, such as an ML-DSA leaf under an SLH-DSA root, SLH-DSA is accepted anyway,
    /// except with [`Profile::Cnsa2`], which refuses this method too.
    ///
    /// There is one exception: a *peer* that compares its own chain with what this side advertises,
    /// as RFC 9846, section 4.4.2.2, requires and BouncyCastle does. It can't know that SLH-DSA is
    /// accepted in chains, and doesn't send a chain with such a signature. For such peers, call this
    /// on clients, and on servers that verify the chains of clients.
    #[cfg(feature = "slh-dsa")]
    pub fn experimental_slh_dsa(mut self) -> Self {
        self.slh_dsa_handshakes = true;
        self
    }

    /// The groups that can be chosen with this base and this profile.
    ///
    /// First come those of [`Group::POST_QUANTUM`], except hybrids whose classical half the base
    /// lacks, then the base's own. Groups that the profile excludes are left out.
    pub fn available_groups(&self) -> Vec<Group> {
        names(&available(&self.base, self.profile))
    }

    /// Makes the provider.
    ///
    /// If none of the groups is for TLS 1.2, the cipher suites of TLS 1.2 are left
    /// out: they could not be used, and a client would still offer them.
    ///
    /// # Errors
    ///
    /// [`Error::GroupUnavailable`], [`Error::CipherSuiteUnavailable`] and
    /// [`Error::SchemeUnavailable`] if something was chosen by name that neither this
    /// crate nor the base has; [`Error::SlhDsaIsExperimental`] if a scheme of SLH-DSA was named
    /// without [`experimental_slh_dsa`](Self::experimental_slh_dsa);
    /// [`Error::GroupExcluded`], [`Error::CipherSuiteExcluded`], [`Error::SchemeExcluded`] and
    /// [`Error::SlhDsaExcluded`] if the profile excludes it; [`Error::SchemeNotPostQuantum`] if a
    /// classical scheme was named and post-quantum authentication is required; [`Error::NoRoots`]
    /// if there are no [`roots`](Self::roots), and [`Error::NoSchemeForRoots`] if signatures by none
    /// of their keys are accepted; [`Error::NoGroups`], [`Error::NoCipherSuites`] and
    /// [`Error::NoSignatureSchemes`] if nothing is left.
    pub fn build(self) -> Result<CryptoProvider, Error> {
        let kx_groups = choose_groups(&self.base, self.profile, self.groups.as_deref())?;
        let schemes = self.accepted_schemes()?;
        let signature_verification_algorithms = verify::algorithms_over(
            self.base.signature_verification_algorithms,
            schemes.as_deref(),
            self.slh_dsa(),
            |accepted| self.offered_kinds(accepted),
        )?;
        let key_provider =
            sign::key_provider_over(&self.base, self.schemes_to_sign_with(), self.slh_dsa());

        let mut cipher_suites = choose_cipher_suites(
            self.base.cipher_suites,
            self.profile,
            self.cipher_suites.as_deref(),
        )?;
        if !kx_groups
            .iter()
            .any(|group| group.usable_for_version(ProtocolVersion::TLSv1_2))
        {
            cipher_suites.retain(|suite| suite.version().version != ProtocolVersion::TLSv1_2);
        }
        if cipher_suites.is_empty() {
            return Err(Error::NoCipherSuites);
        }

        debug!(
            profile = ?self.profile,
            groups = ?names(&kx_groups),
            cipher_suites = ?cipher_suites,
            signature_schemes = ?signature_verification_algorithms.supported_schemes(),
            "provider built"
        );
        Ok(CryptoProvider {
            cipher_suites,
            kx_groups,
            signature_verification_algorithms,
            secure_random: self.base.secure_random,
            key_provider,
        })
    }

    fn slh_dsa(&self) -> SlhDsa {
        match (self.profile.schemes(), self.slh_dsa_handshakes) {
            (Some(_), _) => SlhDsa::Nowhere,
            (None, false) => SlhDsa::InChains,
            (None, true) => SlhDsa::InChainsAndHandshakes,
        }
    }

    /// The schemes that are accepted from the peer, or `None` for all.
    fn accepted_schemes(&self) -> Result<Option<Vec<SignatureScheme>>, Error> {
        let profile = self.profile;
        if self.slh_dsa_handshakes && profile.schemes().is_some() {
            return Err(Error::SlhDsaExcluded { profile });
        }
        let Some(named) = &self.schemes else {
            return Ok(self.schemes_to_sign_with());
        };

        let post_quantum = verify::post_quantum_schemes(SlhDsa::InChainsAndHandshakes);
        for &scheme in named {
            if !profile.allows_scheme(scheme) {
                return Err(Error::SchemeExcluded {
                    scheme,
                    profile,
                    allowed: profile.schemes().unwrap_or_default().to_vec(),
                });
            }
            if self.pq_authentication && !post_quantum.contains(&scheme) {
                return Err(Error::SchemeNotPostQuantum { scheme });
            }
        }
        Ok(Some(named.clone()))
    }

    /// The kinds of schemes to offer if chains are verified by the algorithms `accepted`. Schemes
    /// that were named are offered whatever their kind.
    fn offered_kinds(&self, accepted: &[Algorithm]) -> Result<Kinds, Error> {
        let Some(roots) = &self.roots else {
            return Ok(Kinds::All);
        };
        let kinds = roots.kinds(accepted)?;
        Ok(match self.schemes {
            None => kinds,
            Some(_) => Kinds::All,
        })
    }

    /// The schemes that our own keys may sign with, and the peer's keys too unless schemes were
    /// named; `None` means all.
    fn schemes_to_sign_with(&self) -> Option<Vec<SignatureScheme>> {
        match (self.profile.schemes(), self.pq_authentication) {
            (Some(schemes), _) => Some(schemes.to_vec()),
            (None, true) => Some(verify::post_quantum_schemes(self.slh_dsa())),
            (None, false) => None,
        }
    }
}

fn choose_groups(
    base: &CryptoProvider,
    profile: Profile,
    named: Option<&[Group]>,
) -> Result<KxGroups, Error> {
    let mut available = available(base, profile);
    let mut groups = KxGroups::with_capacity(available.len());
    match named {
        None => {
            for &preferred in profile.preferred() {
                if let Some(at) = position(&available, preferred) {
                    groups.push(available.remove(at));
                }
            }
            available.retain(|group| profile.follows(group.name().into(), base));
            groups.append(&mut available);
        }
        Some(names) => {
            for &name in names {
                let at = position(&available, name)
                    .ok_or_else(|| refused_group(name, profile, &available))?;
                if position(&groups, name).is_none() {
                    groups.push(available[at]);
                }
            }
        }
    }

    match groups.is_empty() {
        true => Err(Error::NoGroups),
        false => Ok(groups),
    }
}

fn choose_cipher_suites(
    available: Vec<SupportedCipherSuite>,
    profile: Profile,
    named: Option<&[CipherSuite]>,
) -> Result<Vec<SupportedCipherSuite>, Error> {
    let Some(names) = named.or_else(|| profile.cipher_suites()) else {
        let mut suites = available;
        suites.retain(|suite| profile.allows_cipher_suite(suite));
        return Ok(suites);
    };

    let mut suites = Vec::<SupportedCipherSuite>::with_capacity(names.len());
    for &name in names {
        match available.iter().find(|suite| suite.suite() == name) {
            Some(suite) if profile.allows_cipher_suite(suite) => {
                if !suites.contains(suite) {
                    suites.push(*suite);
                }
            }
            Some(_) => {
                let allowed = available
                    .iter()
                    .filter(|suite| profile.allows_cipher_suite(suite));
                return Err(Error::CipherSuiteExcluded {
                    cipher_suite: name,
                    profile,
                    allowed: allowed.map(SupportedCipherSuite::suite).collect(),
                });
            }
            None => {
                return Err(Error::CipherSuiteUnavailable {
                    cipher_suite: name,
                    available: available.iter().map(SupportedCipherSuite::suite).collect(),
                });
            }
        }
    }
    Ok(suites)
}

type KxGroups = Vec<&'static dyn SupportedKxGroup>;

/// Our groups, then those of the base that ours don't replace, without those that the profile
/// excludes.
fn available(base: &CryptoProvider, profile: Profile) -> KxGroups {
    let mut groups: KxGroups = Group::POST_QUANTUM
        .iter()
        .filter_map(|&group| kx::group_over(base, group))
        .collect();
    for &group in &base.kx_groups {
        if position(&groups, group.name().into()).is_none() {
            groups.push(group);
        }
    }
    groups.retain(|group| profile.allows_group(group.name().into()));
    groups
}

fn position(groups: &[&'static dyn SupportedKxGroup], wanted: Group) -> Option<usize> {
    groups
        .iter()
        .position(|group| Group::from(group.name()) == wanted)
}

fn names(groups: &[&'static dyn SupportedKxGroup]) -> Vec<Group> {
    groups.iter().map(|group| group.name().into()).collect()
}

/// Why `group` isn't among those that are `available`.
fn refused_group(
    group: Group,
    profile: Profile,
    available: &[&'static dyn SupportedKxGroup],
) -> Error {
    let available = names(available);
    match profile.allows_group(group) {
        false => Error::GroupExcluded {
            group,
            profile,
            allowed: available,
        },
        true => Error::GroupUnavailable {
            group,
            needs: kx::classical_half(group),
            available,
        },
    }
}

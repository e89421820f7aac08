use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::{CipherSuite, ProtocolVersion, SignatureScheme, SupportedCipherSuite};
use tracing::debug;

use crate::verify::SlhDsa;
use crate::{Error, Group, Profile, base, kx, sign, verify};

/// Adds post-quantum algorithms to a [`CryptoProvider`], the *base*.
///
/// Cipher suites and randomness are the base's. The classical half of a hybrid is
/// the base's own group, so a hybrid can be had where the base has that group.
/// Where the base has a post-quantum algorithm that this crate has too, this
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
/// rustls wants references that live for ever. What [`build()`](Self::build) makes
/// is kept for the life of the process, once for each different base and choice of
/// signature schemes; building the same provider again allocates nothing that
/// stays. Bases differ where they hold different references: a program that leaks
/// a new key provider or group for every connection, and builds on it, grows by what
/// is kept here, too. Build once, and share the provider.
///
/// # FIPS
///
/// The result's [`fips()`](CryptoProvider::fips) is `false` over any base, because
/// ML-KEM, ML-DSA and the loading of keys are this crate's, which is not a
/// validated module.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build()` is called"]
pub struct Builder {
    base: CryptoProvider,
    profile: Profile,
    groups: Option<Vec<Group>>,
    cipher_suites: Option<Vec<CipherSuite>>,
    schemes: Option<Vec<SignatureScheme>>,
    pq_authentication: bool,
    slh_dsa_handshakes: bool,
}

impl Builder {
    /// Starts from any provider.
    ///
    /// Its groups are responsible for the checks of RFC 9846, section 7.4.2, also in
    /// hybrids; those of graviola, AWS-LC and ring do them.
    pub fn new(base: CryptoProvider) -> Self {
        Self {
            base,
            profile: Profile::Default,
            groups: None,
            cipher_suites: None,
            schemes: None,
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

    /// Chooses by purpose; [`Profile::Default`] unless called. What is named by the
    /// methods below, before or after, takes the place of what the profile says about it.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Chooses the groups by name, the most preferred one first. A client sends a
    /// share for the first.
    ///
    /// Groups of this crate and groups of the base can be named; one that is named
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
    /// and in the handshake, the most preferred scheme first. Unless called, they are
    /// those of the profile.
    ///
    /// This says nothing about signing: that depends on the key and on what the peer
    /// accepts. Nor does it about SLH-DSA in chains, which isn't advertised and is accepted
    /// beside whatever is named here.
    pub fn signature_schemes(mut self, schemes: impl IntoIterator<Item = SignatureScheme>) -> Self {
        self.schemes = Some(schemes.into_iter().collect());
        self
    }

    /// Leaves out every scheme that isn't post-quantum, whatever the profile and
    /// [`signature_schemes`](Self::signature_schemes) say: no certificate chain with a
    /// classical signature in it is accepted, no handshake that is signed with a
    /// classical key, and no classical key of our own is loaded.
    ///
    /// A client whose server has a classical certificate sees the handshake fail with
    /// the alert `handshake_failure`, because the server has nothing to sign with that the
    /// client accepts; if the server sends such a certificate nevertheless, it is told
    /// `decrypt_error`, in rustls's place of `unsupported_certificate` (RFC 9846,
    /// section 4.4.2.2).
    pub fn require_pq_authentication(mut self) -> Self {
        self.pq_authentication = true;
        self
    }

    /// Accepts SLH-DSA in CertificateVerify, too, after ML-DSA and before the base's
    /// schemes, and loads SLH-DSA keys to sign handshakes with.
    ///
    /// **Experimental**: the code points are registered, but the draft behind them
    /// (draft-reddy-tls-slhdsa) has expired and is nobody's standard, few peers know
    /// them, and signatures are of 7,856 to 49,856 bytes: a chain that no
    /// handshake can carry is refused by [`Identity`](crate::identity::Identity). What SLH-DSA is good
    /// for needs none of this: in certificate chains, such as an ML-DSA leaf
    /// under an SLH-DSA root, it is accepted anyway, save by [`Profile::Cnsa2`].
    pub fn experimental_slh_dsa(mut self) -> Self {
        self.slh_dsa_handshakes = true;
        self
    }

    /// The groups that can be chosen over this base: those of
    /// [`Group::POST_QUANTUM`] that it has the classical half for, then its own.
    pub fn available_groups(&self) -> Vec<Group> {
        names(&available(&self.base))
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
    /// crate nor the base has; [`Error::NoGroups`], [`Error::NoCipherSuites`] and
    /// [`Error::NoSignatureSchemes`] if nothing is left.
    pub fn build(self) -> Result<CryptoProvider, Error> {
        let kx_groups = choose_groups(&self.base, self.profile, self.groups.as_deref())?;
        let schemes = self.accepted_schemes();
        let signature_verification_algorithms = verify::algorithms_over(
            self.base.signature_verification_algorithms,
            schemes.as_deref(),
            self.slh_dsa(),
        )?;
        let key_provider =
            sign::key_provider_over(&self.base, self.schemes_to_sign_with(), self.slh_dsa());

        let suites = self.cipher_suites.as_deref();
        let mut cipher_suites = choose_cipher_suites(
            self.base.cipher_suites,
            suites.or_else(|| self.profile.cipher_suites()),
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
        let profile_excludes = self.schemes.is_none() && self.profile.schemes().is_some();
        match (profile_excludes, self.slh_dsa_handshakes) {
            (true, _) => SlhDsa::Nowhere,
            (false, false) => SlhDsa::InChains,
            (false, true) => SlhDsa::InChainsAndHandshakes,
        }
    }

    /// What may come from the peer, or `None` for everything.
    fn accepted_schemes(&self) -> Option<Vec<SignatureScheme>> {
        let named = self.schemes.as_deref().or_else(|| self.profile.schemes());
        match (named, self.pq_authentication) {
            (None, false) => None,
            (None, true) => Some(verify::post_quantum_schemes(self.slh_dsa())),
            (Some(named), false) => Some(named.to_vec()),
            (Some(named), true) => {
                let post_quantum = verify::post_quantum_schemes(self.slh_dsa());
                let mut schemes = named.to_vec();
                schemes.retain(|scheme| post_quantum.contains(scheme));
                Some(schemes)
            }
        }
    }

    /// What keys of our own may sign with, or `None` for everything.
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
    let mut available = available(base);
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
                let at = position(&available, name).ok_or_else(|| unavailable(name, &available))?;
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
    named: Option<&[CipherSuite]>,
) -> Result<Vec<SupportedCipherSuite>, Error> {
    let Some(names) = named else {
        return Ok(available);
    };

    let mut suites = Vec::<SupportedCipherSuite>::with_capacity(names.len());
    for &name in names {
        let suite = available
            .iter()
            .find(|suite| suite.suite() == name)
            .ok_or_else(|| Error::CipherSuiteUnavailable {
                cipher_suite: name,
                available: available.iter().map(SupportedCipherSuite::suite).collect(),
            })?;
        if !suites.contains(suite) {
            suites.push(*suite);
        }
    }
    Ok(suites)
}

type KxGroups = Vec<&'static dyn SupportedKxGroup>;

/// Ours and then the base's, without those of the base that ours replace.
fn available(base: &CryptoProvider) -> KxGroups {
    let mut groups: KxGroups = Group::POST_QUANTUM
        .iter()
        .filter_map(|&group| kx::group_over(base, group))
        .collect();
    for &group in &base.kx_groups {
        if position(&groups, group.name().into()).is_none() {
            groups.push(group);
        }
    }
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

fn unavailable(group: Group, available: &[&'static dyn SupportedKxGroup]) -> Error {
    Error::GroupUnavailable {
        group,
        needs: kx::classical_half(group),
        available: names(available),
    }
}

use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::{ProtocolVersion, SignatureScheme};

use crate::{Error, Group, base, kx, sign, verify};

/// Adds post-quantum algorithms to a [`CryptoProvider`], the *base*.
///
/// Cipher suites and randomness stay the base's. The classical half of a hybrid is
/// the base's own group, so a hybrid can be had where the base has that group.
/// Where the base has a post-quantum algorithm that this crate has too, this
/// crate's takes its place.
///
/// ```
/// use rustls::crypto::CryptoProvider;
/// use rustls_pq::{Builder, Error, Group, Profile};
///
/// fn strict(base: CryptoProvider) -> Result<CryptoProvider, Error> {
///     Builder::new(base).profile(Profile::HighSecurity).build()
/// }
///
/// fn explicit(base: CryptoProvider) -> Result<CryptoProvider, Error> {
///     Builder::new(base)
///         .groups([Group::SECP384R1MLKEM1024, Group::MLKEM1024])
///         .build()
/// }
/// #
/// # let base = rustls::crypto::ring::default_provider();
/// # assert_eq!(strict(base.clone())?.kx_groups.len(), 3);
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
    groups: Choice,
    schemes: Option<Vec<SignatureScheme>>,
}

impl Builder {
    /// Starts from any provider.
    ///
    /// Its groups are responsible for the checks of RFC 9846, section 7.4.2, also in
    /// hybrids; those of graviola, AWS-LC and ring do them.
    pub fn new(base: CryptoProvider) -> Self {
        Self {
            base,
            groups: Choice::Profile(Profile::Default),
            schemes: None,
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

    /// Chooses the groups by purpose; [`Profile::Default`] unless called.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.groups = Choice::Profile(profile);
        self
    }

    /// Chooses the groups by name, the most preferred one first. A client sends a
    /// share for the first.
    ///
    /// Groups of this crate and groups of the base can be named; one that is named
    /// twice counts once.
    pub fn groups(mut self, groups: impl IntoIterator<Item = Group>) -> Self {
        self.groups = Choice::Explicit(groups.into_iter().collect());
        self
    }

    /// Chooses the signatures that are accepted from the peer, in certificate chains
    /// and in the handshake, the most preferred scheme first. Unless called, they are
    /// ML-DSA and then all of the base's.
    ///
    /// This says nothing about signing: that depends on the key and on what the peer
    /// accepts.
    pub fn signature_schemes(mut self, schemes: impl IntoIterator<Item = SignatureScheme>) -> Self {
        self.schemes = Some(schemes.into_iter().collect());
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
    /// [`Error::GroupUnavailable`] and [`Error::SchemeUnavailable`] if something was
    /// chosen by name that neither this crate nor the base has;
    /// [`Error::NoGroups`] and [`Error::NoSignatureSchemes`] if nothing is left.
    pub fn build(self) -> Result<CryptoProvider, Error> {
        let kx_groups = self.groups.resolve(&self.base)?;
        let signature_verification_algorithms = verify::algorithms_over(
            self.base.signature_verification_algorithms,
            self.schemes.as_deref(),
        )?;
        let key_provider = sign::key_provider_over(&self.base);

        let mut cipher_suites = self.base.cipher_suites;
        if !kx_groups
            .iter()
            .any(|group| group.usable_for_version(ProtocolVersion::TLSv1_2))
        {
            cipher_suites.retain(|suite| suite.version().version != ProtocolVersion::TLSv1_2);
        }

        Ok(CryptoProvider {
            cipher_suites,
            kx_groups,
            signature_verification_algorithms,
            secure_random: self.base.secure_random,
            key_provider,
        })
    }
}

/// Which groups to use, by purpose. Groups that the base can't supply are left out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Profile {
    /// For clients and servers on the open internet: X25519MLKEM768, then x25519,
    /// SecP256r1MLKEM768, secp256r1 and secp384r1, then whatever else the base
    /// lists.
    ///
    /// A client sends its X25519 share twice, in the hybrid and on its own, so a
    /// server without post-quantum groups costs no round trip.
    ///
    /// rustls servers take the first group of the *client's* list that they have,
    /// share or no share. Two choices follow from that.
    ///
    /// * x25519 comes before SecP256r1MLKEM768. A server with both of these and without
    ///   X25519MLKEM768 therefore ends up with x25519, which is not post-quantum.
    ///   The other order would have every such server ask for a retry, a round trip
    ///   more. Clients that would rather pay that name the groups in the other order
    ///   ([`Builder::groups`]), or take [`HighSecurity`](Self::HighSecurity).
    /// * Groups at the 1024 level are left out: a server that lists them makes clients
    ///   that merely prefer them start over.
    #[default]
    Default,
    /// Post-quantum groups only, the strongest first: SecP384r1MLKEM1024,
    /// X25519MLKEM768, SecP256r1MLKEM768. A peer without any of them is refused.
    ///
    /// For ML-KEM-1024 and nothing else, as CNSA 2.0 asks, name the groups:
    /// [`Builder::groups`].
    ///
    /// A profile is about groups. Classical signatures are still accepted, in chains and
    /// in the handshake; to refuse them as well, name the schemes:
    ///
    /// ```
    /// use rustls::SignatureScheme;
    /// use rustls_pq::{Builder, Profile};
    /// # use rustls_pq::Error;
    ///
    /// # fn strict(base: rustls::crypto::CryptoProvider) -> Result<(), Error> {
    /// let provider = Builder::new(base)
    ///     .profile(Profile::HighSecurity)
    ///     .signature_schemes([SignatureScheme::ML_DSA_87, SignatureScheme::ML_DSA_65])
    ///     .build()?;
    /// # assert_eq!(provider.signature_verification_algorithms.all.len(), 2);
    /// # Ok(())
    /// # }
    /// # strict(rustls::crypto::ring::default_provider())?;
    /// # Ok::<_, Error>(())
    /// ```
    HighSecurity,
    /// The default list, then all other groups of this crate and of the base: for
    /// servers and tests that should meet everybody.
    All,
}

impl Profile {
    fn preferred(self) -> &'static [Group] {
        match self {
            Self::Default | Self::All => &[
                Group::X25519MLKEM768,
                Group::X25519,
                Group::SECP256R1MLKEM768,
                Group::SECP256R1,
                Group::SECP384R1,
            ],
            Self::HighSecurity => &[
                Group::SECP384R1MLKEM1024,
                Group::X25519MLKEM768,
                Group::SECP256R1MLKEM768,
            ],
        }
    }

    /// Whether `group`, which isn't a preferred one, follows them.
    fn follows(self, group: Group, base: &CryptoProvider) -> bool {
        match self {
            Self::Default => position(&base.kx_groups, group).is_some(),
            Self::HighSecurity => false,
            Self::All => true,
        }
    }
}

#[derive(Clone, Debug)]
enum Choice {
    Profile(Profile),
    Explicit(Vec<Group>),
}

impl Choice {
    fn resolve(&self, base: &CryptoProvider) -> Result<KxGroups, Error> {
        let mut available = available(base);
        let groups = match self {
            Self::Profile(profile) => {
                let mut groups = KxGroups::with_capacity(available.len());
                for &preferred in profile.preferred() {
                    if let Some(at) = position(&available, preferred) {
                        groups.push(available.remove(at));
                    }
                }
                available.retain(|group| profile.follows(group.name().into(), base));
                groups.append(&mut available);
                groups
            }
            Self::Explicit(names) => {
                let mut groups = KxGroups::with_capacity(names.len());
                for &name in names {
                    let at =
                        position(&available, name).ok_or_else(|| unavailable(name, &available))?;
                    if position(&groups, name).is_none() {
                        groups.push(available[at]);
                    }
                }
                groups
            }
        };

        match groups.is_empty() {
            true => Err(Error::NoGroups),
            false => Ok(groups),
        }
    }
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

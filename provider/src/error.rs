//! Why a provider can't be made. Each error of a choice says what can be chosen instead.

use rustls::{CipherSuite, SignatureScheme};

use crate::algorithms::{Group, KeyAlgorithm};
use crate::policy::Profile;

/// Why a provider can't be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// graviola needs instructions that this CPU lacks.
    #[error(
        "graviola needs CPU features that this CPU lacks: {}; use another base: the features \
         `aws-lc-rs` and `ring` of rustls-pq bring one each, and `rustls_pq::Builder::new` takes \
         any provider",
        .missing.join(", ")
    )]
    UnsupportedCpu {
        /// The missing features, as `std::arch` names them.
        missing: Vec<&'static str>,
    },

    /// graviola doesn't exist for this architecture.
    #[error(
        "graviola runs on x86_64 and aarch64, not on {architecture}; use another base: the \
         features `aws-lc-rs` and `ring` of rustls-pq bring one each, and \
         `rustls_pq::Builder::new` takes any provider"
    )]
    UnsupportedArchitecture {
        /// The architecture that the program was built for.
        architecture: &'static str,
    },

    /// No base is compiled in.
    #[error(
        "no base provider is compiled in; enable the feature `graviola`, `aws-lc-rs` or `ring` of \
         rustls-pq, or give a provider to `rustls_pq::Builder::new`"
    )]
    NoBase,

    /// The base can't supply a group that was asked for.
    #[error(
        "the group {group} is not available: {}; available are {}",
        reason(*.needs),
        list(.available)
    )]
    GroupUnavailable {
        /// The group that was asked for.
        group: Group,
        /// The classical half of this hybrid, which the base lacks;
        /// `None` if neither the base nor this crate knows the group.
        needs: Option<Group>,
        /// The groups that can be asked for.
        available: Vec<Group>,
    },

    /// Neither the base nor this crate has a signature scheme that was asked for.
    #[error(
        "the signature scheme {scheme:?} is not available: neither the base provider nor \
         rustls-pq has it; available are {available:?}"
    )]
    SchemeUnavailable {
        /// The scheme that was asked for.
        scheme: SignatureScheme,
        /// The schemes that can be asked for.
        available: Vec<SignatureScheme>,
    },

    /// A signature scheme of SLH-DSA was asked for, but not SLH-DSA for handshakes.
    #[error(
        "the signature scheme {scheme:?} is one of SLH-DSA, which is experimental in TLS handshakes: \
         call `Builder::experimental_slh_dsa` to accept it there, or leave it out, since in \
         certificate chains SLH-DSA is accepted anyway"
    )]
    SlhDsaIsExperimental {
        /// The scheme that was asked for.
        scheme: SignatureScheme,
    },

    /// The base lacks a cipher suite that was asked for.
    #[error(
        "the cipher suite {cipher_suite:?} is not available: the base provider lacks it; available \
         are {available:?}"
    )]
    CipherSuiteUnavailable {
        /// The suite that was asked for.
        cipher_suite: CipherSuite,
        /// The suites that can be asked for.
        available: Vec<CipherSuite>,
    },

    /// The profile excludes a group that was asked for.
    #[error(
        "the profile {profile} excludes the group {group}; name one of {}, or take another profile",
        list(.allowed)
    )]
    GroupExcluded {
        /// The group that was asked for.
        group: Group,
        /// The profile that was chosen.
        profile: Profile,
        /// The groups that can be asked for with this profile.
        allowed: Vec<Group>,
    },

    /// The profile excludes a cipher suite that was asked for.
    #[error(
        "the profile {profile} excludes the cipher suite {cipher_suite:?}; name one of {allowed:?}, \
         or take another profile"
    )]
    CipherSuiteExcluded {
        /// The suite that was asked for.
        cipher_suite: CipherSuite,
        /// The profile that was chosen.
        profile: Profile,
        /// The suites that can be asked for with this profile.
        allowed: Vec<CipherSuite>,
    },

    /// The profile excludes a signature scheme that was asked for.
    #[error(
        "the profile {profile} excludes the signature scheme {scheme:?}; name only {allowed:?}, \
         or take another profile"
    )]
    SchemeExcluded {
        /// The scheme that was asked for.
        scheme: SignatureScheme,
        /// The profile that was chosen.
        profile: Profile,
        /// The schemes that can be asked for with this profile.
        allowed: Vec<SignatureScheme>,
    },

    /// The profile excludes SLH-DSA, which was asked for.
    #[error(
        "the profile {profile} excludes SLH-DSA; leave out `Builder::experimental_slh_dsa`, or take \
         another profile"
    )]
    SlhDsaExcluded {
        /// The profile that was chosen.
        profile: Profile,
    },

    /// A classical signature scheme was asked for, although post-quantum authentication is
    /// required.
    #[error(
        "the signature scheme {scheme:?} is classical, and post-quantum authentication is required; \
         name post-quantum schemes only, such as ML_DSA_65, or leave out \
         `Builder::require_pq_authentication`"
    )]
    SchemeNotPostQuantum {
        /// The scheme that was asked for.
        scheme: SignatureScheme,
    },

    /// There are no roots, so no chain can end at one.
    #[error("there are no root certificates; add those that the peer's chain may end at")]
    NoRoots,

    /// No chain under the roots would be accepted, because signatures by their keys are not.
    #[error(
        "the roots have keys for {}, and signatures by such keys are not accepted; add a root with \
         another kind of key, or accept more: take another profile or base, leave out \
         `Builder::require_pq_authentication`, or add schemes to `Builder::signature_schemes`",
        list(.roots)
    )]
    NoSchemeForRoots {
        /// The algorithms of the roots' keys.
        roots: Vec<KeyAlgorithm>,
    },

    /// The list of groups is empty.
    #[error("no key exchange groups were chosen; name at least one, such as X25519MLKEM768")]
    NoGroups,

    /// The list of signature schemes is empty.
    #[error("no signature schemes were chosen; name at least one, such as ML_DSA_65")]
    NoSignatureSchemes,

    /// The list of cipher suites is empty.
    #[error(
        "no cipher suites are left; name at least one of TLS 1.3, such as TLS13_AES_256_GCM_SHA384"
    )]
    NoCipherSuites,

    /// rustls or the base reported an error.
    #[error(transparent)]
    Rustls(#[from] rustls::Error),
}

fn reason(needs: Option<Group>) -> String {
    match needs {
        Some(classical) => format!("the base provider lacks its classical half, {classical}"),
        None => "neither the base provider nor rustls-pq has it".into(),
    }
}

fn list<T: ToString>(items: &[T]) -> String {
    let items: Vec<_> = items.iter().map(T::to_string).collect();
    items.join(", ")
}

//! What ends up in a provider, and what is refused.

use core::ptr;

use pq_x509::{SignatureAlgorithm, SigningKey};
use rustls::crypto::{ActiveKeyExchange, CryptoProvider, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{CipherSuite, NamedGroup, ProtocolVersion, SignatureScheme, version};
use rustls_pq::verify::slh_dsa::SLH_DSA;
use rustls_pq::{Builder, Error, Group, Profile};

use crate::peers::{Ecdsa, HAS_BASE, any_base, bases, private_key};

#[test]
fn default_list() {
    for (name, base) in bases() {
        println!("{name}");
        let provider = Builder::new(base).build().unwrap();
        assert_eq!(
            names(&provider),
            [
                Group::X25519MLKEM768,
                Group::X25519,
                Group::SECP256R1MLKEM768,
                Group::SECP256R1,
                Group::SECP384R1,
            ]
        );
    }
}

#[test]
fn default_provider() {
    let provider = rustls_pq::provider();
    match HAS_BASE {
        true => assert_eq!(
            names(&provider.unwrap())[..2],
            [Group::X25519MLKEM768, Group::X25519]
        ),
        false => assert_eq!(provider.unwrap_err(), Error::NoBase),
    }
}

#[test]
fn require_pq_list() {
    for (_, base) in bases() {
        let builder = Builder::new(base.clone()).profile(Profile::RequirePq);
        let provider = builder.clone().build().unwrap();
        assert_eq!(
            names(&provider),
            [
                Group::X25519MLKEM768,
                Group::SECP256R1MLKEM768,
                Group::SECP384R1MLKEM1024,
                Group::MLKEM768,
                Group::MLKEM1024,
            ]
        );
        assert!(schemes(&provider).contains(&SignatureScheme::ECDSA_NISTP256_SHA256));

        let strict = builder.require_pq_authentication().build().unwrap();
        assert_eq!(names(&strict), names(&provider));
        assert_eq!(
            schemes(&strict),
            rustls_pq::verify::ML_DSA.supported_schemes()
        );
    }
}

/// Also where names come before the profile.
#[test]
fn require_pq_excludes_classical_groups() {
    for (name, base) in bases() {
        println!("{name}");
        for named in [
            vec![Group::X25519],
            vec![Group::MLKEM768, Group::X25519],
            vec![Group::SECP256R1, Group::X25519],
        ] {
            let classical = *named.iter().find(|g| !g.is_post_quantum()).unwrap();
            let error = Builder::new(base.clone())
                .groups(named)
                .profile(Profile::RequirePq)
                .build()
                .unwrap_err();
            assert_eq!(
                error,
                Error::GroupExcluded {
                    group: classical,
                    profile: Profile::RequirePq,
                    allowed: Group::POST_QUANTUM.to_vec(),
                }
            );
            assert_eq!(
                error.to_string(),
                format!(
                    "the profile require-pq excludes the group {classical}; name one of \
                     X25519MLKEM768, SecP256r1MLKEM768, SecP384r1MLKEM1024, MLKEM512, MLKEM768, \
                     MLKEM1024, or take another profile"
                )
            );
        }
        let builder = Builder::new(base).profile(Profile::RequirePq);
        assert_eq!(builder.available_groups(), Group::POST_QUANTUM);
        let smallest = builder.groups([Group::MLKEM512]).build().unwrap();
        assert_eq!(names(&smallest), [Group::MLKEM512]);
    }
}

#[test]
fn require_pq_excludes_suites_of_tls12() {
    let suite = CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;
    let error = Builder::new(any_base())
        .profile(Profile::RequirePq)
        .cipher_suites([CipherSuite::TLS13_AES_128_GCM_SHA256, suite])
        .build()
        .unwrap_err();
    assert!(
        error.to_string().starts_with(
            "the profile require-pq excludes the cipher suite \
             TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256; name one of [TLS13_AES_256_GCM_SHA384, "
        ),
        "{error}"
    );
}

#[test]
fn post_quantum_authentication_excludes_classical_schemes() {
    let builder = Builder::new(any_base()).require_pq_authentication();
    let error = builder
        .clone()
        .signature_schemes([
            SignatureScheme::ML_DSA_65,
            SignatureScheme::ECDSA_NISTP256_SHA256,
        ])
        .build()
        .unwrap_err();
    assert_eq!(
        error,
        Error::SchemeNotPostQuantum {
            scheme: SignatureScheme::ECDSA_NISTP256_SHA256
        }
    );
    let one = builder.signature_schemes([SignatureScheme::ML_DSA_87]);
    assert_eq!(schemes(&one.build().unwrap()), [SignatureScheme::ML_DSA_87]);
}

#[test]
fn cnsa2_list() {
    for (_, base) in bases() {
        let provider = Builder::new(base).profile(Profile::Cnsa2).build().unwrap();
        assert_eq!(
            names(&provider),
            [Group::SECP384R1MLKEM1024, Group::MLKEM1024]
        );
        assert_eq!(suites(&provider), [CipherSuite::TLS13_AES_256_GCM_SHA384]);
        assert_eq!(schemes(&provider), [SignatureScheme::ML_DSA_87]);
        assert_eq!(provider.signature_verification_algorithms.all.len(), 1);
    }
}

/// What is named is taken instead of what the profile lists, whichever comes first.
#[test]
fn names_before_profiles() {
    let provider = Builder::new(any_base())
        .groups([Group::MLKEM1024])
        .profile(Profile::Cnsa2)
        .build()
        .unwrap();
    assert_eq!(names(&provider), [Group::MLKEM1024]);
    assert_eq!(suites(&provider), [CipherSuite::TLS13_AES_256_GCM_SHA384]);
    assert_eq!(schemes(&provider), [SignatureScheme::ML_DSA_87]);

    let provider = Builder::new(any_base())
        .profile(Profile::RequirePq)
        .groups([Group::MLKEM1024, Group::X25519MLKEM768])
        .build()
        .unwrap();
    assert_eq!(names(&provider), [Group::MLKEM1024, Group::X25519MLKEM768]);
}

/// Naming what the profile has anyway changes nothing, and lets nothing else in: SLH-DSA in
/// chains would.
#[test]
fn cnsa2_by_name() {
    let cnsa2 = Builder::new(any_base()).profile(Profile::Cnsa2);
    let named = cnsa2
        .clone()
        .groups([Group::SECP384R1MLKEM1024, Group::MLKEM1024])
        .cipher_suites([CipherSuite::TLS13_AES_256_GCM_SHA384])
        .signature_schemes([SignatureScheme::ML_DSA_87])
        .build()
        .unwrap();
    let listed = cnsa2.build().unwrap();
    assert_eq!(names(&named), names(&listed));
    assert_eq!(suites(&named), suites(&listed));
    assert_eq!(schemes(&named), schemes(&listed));
    assert_eq!(named.signature_verification_algorithms.all.len(), 1);
}

#[test]
fn cnsa2_excludes_everything_else() {
    let cnsa2 = || Builder::new(any_base()).profile(Profile::Cnsa2);
    for group in [Group::X25519MLKEM768, Group::MLKEM768, Group::SECP384R1] {
        assert_eq!(
            cnsa2().groups([group]).build().unwrap_err().to_string(),
            format!(
                "the profile cnsa2 excludes the group {group}; name one of SecP384r1MLKEM1024, \
                 MLKEM1024, or take another profile"
            )
        );
    }
    let suite = CipherSuite::TLS13_AES_128_GCM_SHA256;
    assert_eq!(
        cnsa2()
            .cipher_suites([suite])
            .build()
            .unwrap_err()
            .to_string(),
        "the profile cnsa2 excludes the cipher suite TLS13_AES_128_GCM_SHA256; name one of \
         [TLS13_AES_256_GCM_SHA384], or take another profile"
    );
    let named = [SignatureScheme::ML_DSA_87, SignatureScheme::ML_DSA_65];
    assert_eq!(
        cnsa2()
            .signature_schemes(named)
            .build()
            .unwrap_err()
            .to_string(),
        "the profile cnsa2 excludes the signature scheme ML_DSA_65; name none but [ML_DSA_87], or \
         take another profile"
    );
    assert_eq!(
        cnsa2().experimental_slh_dsa().build().unwrap_err(),
        Error::SlhDsaExcluded {
            profile: Profile::Cnsa2
        }
    );
}

#[test]
fn explicit_cipher_suites() {
    let builder = Builder::new(any_base());
    let provider = builder
        .clone()
        .cipher_suites([
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
            CipherSuite::TLS13_AES_128_GCM_SHA256,
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        ])
        .build()
        .unwrap();
    assert_eq!(
        suites(&provider),
        [
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
            CipherSuite::TLS13_AES_128_GCM_SHA256,
        ]
    );

    assert_eq!(
        builder.clone().cipher_suites([]).build().unwrap_err(),
        Error::NoCipherSuites
    );
    // Of TLS 1.2, for which none of the groups is.
    let tls12_only = builder
        .clone()
        .groups([Group::X25519MLKEM768])
        .cipher_suites([CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]);
    assert_eq!(tls12_only.build().unwrap_err(), Error::NoCipherSuites);

    let unavailable = builder
        .cipher_suites([CipherSuite::TLS13_AES_128_CCM_SHA256])
        .build()
        .unwrap_err();
    assert!(
        unavailable.to_string().starts_with(
            "the cipher suite TLS13_AES_128_CCM_SHA256 is not available: the base provider lacks \
             it; available are [TLS13_AES_256_GCM_SHA384, "
        ),
        "{unavailable}"
    );

    let mut base = any_base();
    base.cipher_suites
        .retain(|suite| suite.suite() != CipherSuite::TLS13_AES_256_GCM_SHA384);
    let cnsa2 = Builder::new(base).profile(Profile::Cnsa2).build();
    assert!(matches!(
        cnsa2,
        Err(Error::CipherSuiteUnavailable {
            cipher_suite: CipherSuite::TLS13_AES_256_GCM_SHA384,
            ..
        })
    ));
}

/// Where classical authentication is ruled out, that holds for keys of our own, too.
#[test]
fn keys_that_a_profile_refuses() {
    let key = |algorithm| private_key(&SigningKey::generate(algorithm).unwrap());
    let ecdsa = Ecdsa::generate();
    for (name, base) in bases() {
        println!("{name}");
        let load = |provider: &CryptoProvider, key| provider.key_provider.load_private_key(key);

        let pq = Builder::new(base.clone())
            .require_pq_authentication()
            .build()
            .unwrap();
        for &algorithm in SignatureAlgorithm::ML_DSA {
            assert!(load(&pq, key(algorithm)).is_ok());
        }
        let error = load(&pq, ecdsa.private_key()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "other error: the provider signs with [ML_DSA_65, ML_DSA_87, ML_DSA_44] only, which \
             this private key can't; use a key for one of these, or build the provider with \
             another profile"
        );

        let cnsa2 = Builder::new(base.clone())
            .profile(Profile::Cnsa2)
            .build()
            .unwrap();
        let ml_dsa_87 = load(&cnsa2, key(SignatureAlgorithm::MlDsa87)).unwrap();
        assert!(ml_dsa_87.public_key().is_some());
        let all = [SignatureScheme::ML_DSA_65, SignatureScheme::ML_DSA_87];
        assert_eq!(
            ml_dsa_87.choose_scheme(&all).unwrap().scheme(),
            SignatureScheme::ML_DSA_87
        );
        assert!(ml_dsa_87.choose_scheme(&all[..1]).is_none());
        assert!(load(&cnsa2, key(SignatureAlgorithm::MlDsa65)).is_err());
        assert!(load(&cnsa2, ecdsa.private_key()).is_err());

        let default = Builder::new(base).build().unwrap();
        assert!(load(&default, ecdsa.private_key()).is_ok());
    }
}

#[test]
fn complete_list() {
    for (_, base) in bases() {
        let provider = Builder::new(base).profile(Profile::All).build().unwrap();
        assert_eq!(
            names(&provider),
            [
                Group::X25519MLKEM768,
                Group::X25519,
                Group::SECP256R1MLKEM768,
                Group::SECP256R1,
                Group::SECP384R1,
                Group::SECP384R1MLKEM1024,
                Group::MLKEM512,
                Group::MLKEM768,
                Group::MLKEM1024,
            ]
        );
    }
}

/// The order is the caller's, and a group that is named twice counts once.
#[test]
fn explicit_list() {
    let provider = Builder::new(any_base())
        .groups([
            Group::MLKEM1024,
            Group::SECP384R1,
            Group::MLKEM1024,
            Group::X25519MLKEM768,
        ])
        .build()
        .unwrap();
    assert_eq!(
        names(&provider),
        [Group::MLKEM1024, Group::SECP384R1, Group::X25519MLKEM768]
    );
}

/// A group of the base that nobody here has heard of.
#[test]
fn groups_of_the_base_are_kept() {
    let mut base = any_base();
    base.kx_groups.insert(0, &Exotic(0x6399));
    base.kx_groups.push(&Exotic(0x0202 /* MLKEM1024 */));
    let default = Builder::new(base.clone()).build().unwrap();
    assert_eq!(
        names(&default)[5..],
        // One that the base lists is in the default list, though in our version.
        [Group::MLKEM1024, exotic()]
    );
    assert!(!is_exotic(default.kx_groups[5]));
    assert!(is_exotic(default.kx_groups[6]));

    let explicit = Builder::new(base.clone())
        .groups([exotic()])
        .build()
        .unwrap();
    assert_eq!(names(&explicit), [exotic()]);

    let strict = Builder::new(base)
        .profile(Profile::RequirePq)
        .build()
        .unwrap();
    assert!(!names(&strict).contains(&exotic()));
}

/// A hybrid needs its classical half, and that of the base where there is none.
#[test]
fn missing_classical_half() {
    let mut base = any_base();
    base.kx_groups
        .retain(|group| group.name() != NamedGroup::secp384r1);
    let builder = Builder::new(base.clone());
    assert!(
        !builder
            .available_groups()
            .contains(&Group::SECP384R1MLKEM1024)
    );
    assert_eq!(
        names(&builder.clone().profile(Profile::Cnsa2).build().unwrap()),
        [Group::MLKEM1024]
    );

    let error = builder
        .groups([Group::X25519MLKEM768, Group::SECP384R1MLKEM1024])
        .build()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the group SecP384r1MLKEM1024 is not available: the base provider lacks its classical \
         half, secp384r1; available are X25519MLKEM768, SecP256r1MLKEM768, MLKEM512, MLKEM768, \
         MLKEM1024, x25519, secp256r1"
    );

    base.kx_groups
        .push(&Exotic(0x11ed /* SecP384r1MLKEM1024 */));
    let provider = Builder::new(base)
        .groups([Group::SECP384R1MLKEM1024])
        .build()
        .unwrap();
    assert!(is_exotic(provider.kx_groups[0]));
}

#[test]
fn unknown_group() {
    let error = Builder::new(any_base())
        .groups([exotic()])
        .build()
        .unwrap_err();
    assert!(matches!(
        &error,
        Error::GroupUnavailable { group, needs: None, available }
            if *group == exotic() && available.len() == 9
    ));
    assert!(
        error
            .to_string()
            .starts_with("the group 0x6399 is not available: neither the base provider nor")
    );
}

#[test]
fn no_groups() {
    assert_eq!(
        Builder::new(any_base()).groups([]).build().unwrap_err(),
        Error::NoGroups
    );
    // Pure ML-KEM needs no classical half, but isn't in the default profile.
    let mut base = any_base();
    base.kx_groups.clear();
    assert_eq!(
        Builder::new(base.clone()).build().unwrap_err(),
        Error::NoGroups
    );
    let provider = Builder::new(base).profile(Profile::All).build().unwrap();
    assert_eq!(
        names(&provider),
        [Group::MLKEM512, Group::MLKEM768, Group::MLKEM1024]
    );
}

/// Ours take the place of the base's, where it has them: each name occurs once, and
/// it makes no difference whether the base had it.
#[test]
fn replaces_what_the_base_has() {
    for (name, base) in bases() {
        println!("{name}");
        let mut classical = base.clone();
        classical
            .kx_groups
            .retain(|group| !Group::POST_QUANTUM.contains(&group.name().into()));
        let from_classical = Builder::new(classical)
            .profile(Profile::All)
            .build()
            .unwrap();
        let from_base = Builder::new(base).profile(Profile::All).build().unwrap();
        assert_eq!(names(&from_base), names(&from_classical));
        for (one, other) in from_base.kx_groups.iter().zip(&from_classical.kx_groups) {
            assert!(ptr::addr_eq(*one, *other), "{one:?}");
        }

        let schemes = from_base
            .signature_verification_algorithms
            .supported_schemes();
        for ours in rustls_pq::verify::ML_DSA.mapping {
            let count = schemes.iter().filter(|scheme| **scheme == ours.0).count();
            assert_eq!(count, 1);
        }
    }
}

/// Building over our own provider changes nothing.
#[test]
fn base_that_is_ours() {
    for (_, base) in bases() {
        let once = Builder::new(base).profile(Profile::All).build().unwrap();
        let twice = Builder::new(once.clone()).build().unwrap();
        assert_eq!(names(&once), names(&twice));
        for (one, other) in once.kx_groups.iter().zip(&twice.kx_groups) {
            assert!(ptr::addr_eq(*one, *other));
        }
        let [once, twice] =
            [once, twice].map(|provider| provider.signature_verification_algorithms);
        assert_eq!(once.supported_schemes(), twice.supported_schemes());
        assert_eq!(once.all.len(), twice.all.len());
    }
}

/// What is leaked is leaked once.
#[test]
fn building_again_makes_nothing_new() {
    for (_, base) in bases() {
        let build = || {
            Builder::new(base.clone())
                .profile(Profile::All)
                .signature_schemes([
                    SignatureScheme::ML_DSA_65,
                    SignatureScheme::ECDSA_NISTP256_SHA256,
                ])
                .build()
                .unwrap()
        };
        let (first, second) = (build(), build());
        for (one, other) in first.kx_groups.iter().zip(&second.kx_groups) {
            assert!(ptr::addr_eq(*one, *other));
        }
        assert!(ptr::addr_eq(first.key_provider, second.key_provider));
        let [first, second] =
            [first, second].map(|provider| provider.signature_verification_algorithms);
        assert!(ptr::eq(first.all, second.all));
        assert!(ptr::eq(first.mapping, second.mapping));
    }
}

#[test]
fn ml_dsa_comes_first() {
    for (name, base) in bases() {
        println!("{name}");
        let before = base.signature_verification_algorithms;
        let after = Builder::new(base)
            .build()
            .unwrap()
            .signature_verification_algorithms;

        let schemes = after.supported_schemes();
        assert_eq!(
            schemes[..3],
            [
                SignatureScheme::ML_DSA_65,
                SignatureScheme::ML_DSA_87,
                SignatureScheme::ML_DSA_44,
            ]
        );
        assert_eq!(
            schemes[..3]
                .iter()
                .map(|scheme| u16::from(*scheme))
                .collect::<Vec<_>>(),
            [0x0905, 0x0906, 0x0904]
        );
        let mut others = before.supported_schemes();
        others.retain(|scheme| !schemes[..3].contains(scheme));
        assert_eq!(schemes[3..], others);

        let ids = |all: &[&dyn rustls::pki_types::SignatureVerificationAlgorithm]| {
            all.iter()
                .map(|algorithm| (algorithm.signature_alg_id(), algorithm.public_key_alg_id()))
                .collect::<Vec<_>>()
        };
        let ours = ids(rustls_pq::verify::ML_DSA.all);
        let after = ids(after.all);
        assert_eq!(after[..3], ours);
        let mut others = ids(before.all);
        others.retain(|id| !ours.contains(id));
        // SLH-DSA comes last: for chains only, and for few of those.
        others.extend(ids(SLH_DSA.all));
        assert_eq!(after[3..], others);
    }
}

/// What isn't advertised isn't accepted in chains either, save SLH-DSA, which has no
/// standard scheme to advertise.
#[test]
fn explicit_schemes() {
    let algorithms = Builder::new(any_base())
        .signature_schemes([
            SignatureScheme::ECDSA_NISTP384_SHA384,
            SignatureScheme::ML_DSA_87,
            SignatureScheme::ECDSA_NISTP384_SHA384,
        ])
        .build()
        .unwrap()
        .signature_verification_algorithms;
    assert_eq!(
        algorithms.supported_schemes(),
        [
            SignatureScheme::ECDSA_NISTP384_SHA384,
            SignatureScheme::ML_DSA_87
        ]
    );
    // With SHA-384 on either curve, as TLS 1.2 has it; and ML-DSA-87.
    assert_eq!(algorithms.all.len(), 3 + SLH_DSA.all.len());
    assert_eq!(
        algorithms.all[2].signature_alg_id(),
        rustls::pki_types::alg_id::ML_DSA_87
    );
}

#[test]
fn unavailable_schemes() {
    let builder = Builder::new(any_base());
    assert_eq!(
        builder.clone().signature_schemes([]).build().unwrap_err(),
        Error::NoSignatureSchemes
    );
    let error = builder
        .signature_schemes([SignatureScheme::ML_DSA_44, SignatureScheme::ED448])
        .build()
        .unwrap_err();
    assert!(
        error.to_string().starts_with(
            "the signature scheme ED448 is not available: neither the base provider nor \
                 rustls-pq has it; available are [ML_DSA_65, ML_DSA_87, ML_DSA_44, "
        ),
        "{error}"
    );
}

/// TLS 1.2 has no post-quantum groups.
#[test]
fn tls12_goes_with_its_groups() {
    for (name, base) in bases() {
        println!("{name}");
        let strict = Builder::new(base.clone())
            .profile(Profile::RequirePq)
            .build()
            .unwrap();
        assert!(!strict.cipher_suites.is_empty());
        assert!(
            strict
                .cipher_suites
                .iter()
                .all(|suite| suite.version().version == ProtocolVersion::TLSv1_3)
        );
        assert!(
            rustls::ClientConfig::builder_with_provider(strict.into())
                .with_protocol_versions(&[&version::TLS12])
                .is_err()
        );

        let default = Builder::new(base.clone()).build().unwrap();
        assert_eq!(default.cipher_suites, base.cipher_suites);
    }
}

fn suites(provider: &CryptoProvider) -> Vec<CipherSuite> {
    let suites = provider.cipher_suites.iter();
    suites.map(|suite| suite.suite()).collect()
}

fn schemes(provider: &CryptoProvider) -> Vec<SignatureScheme> {
    provider
        .signature_verification_algorithms
        .supported_schemes()
}

fn names(provider: &CryptoProvider) -> Vec<Group> {
    provider
        .kx_groups
        .iter()
        .map(|group| group.name().into())
        .collect()
}

/// A group that is only there to be listed.
#[derive(Debug)]
struct Exotic(u16);

fn exotic() -> Group {
    NamedGroup::from(0x6399).into()
}

fn is_exotic(group: &dyn SupportedKxGroup) -> bool {
    format!("{group:?}").starts_with("Exotic")
}

impl SupportedKxGroup for Exotic {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, rustls::Error> {
        Err(rustls::Error::General("not a real group".into()))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.0.into()
    }
}

//! What each profile takes from a base, and what it excludes.

use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::crypto::CryptoProvider;
use rustls::{CipherSuite, SignatureScheme};
use rustls_pq::{Builder, Error, Group, Profile};

use super::{names, schemes, suites};
use crate::peers::{Ecdsa, HAS_BASE, KeyPair, any_base, bases};

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
                Group::SECP384R1MLKEM1024,
                Group::MLKEM1024,
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

/// Also if groups are named before the profile.
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

/// Named algorithms replace those of the profile, whichever comes first.
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

/// Naming what the profile has anyway changes nothing, and doesn't add SLH-DSA in chains.
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
        "the profile cnsa2 excludes the signature scheme ML_DSA_65; name only [ML_DSA_87], or \
         take another profile"
    );
    assert_eq!(
        cnsa2().experimental_slh_dsa().build().unwrap_err(),
        Error::SlhDsaExcluded {
            profile: Profile::Cnsa2
        }
    );
}

/// If classical authentication is excluded, our own classical keys are, too.
#[test]
fn keys_that_a_profile_refuses() {
    let key = |algorithm| SigningKey::generate(algorithm).unwrap().private_key();
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
            "other error: the provider signs with [ML_DSA_65, ML_DSA_87, ML_DSA_44] only, and \
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

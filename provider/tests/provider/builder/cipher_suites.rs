//! Cipher suites that are chosen by name, and those that go with the groups.

use rustls::{CipherSuite, ProtocolVersion, version};
use rustls_pq::{Builder, Error, Group, Profile};

use super::suites;
use crate::peers::{any_base, bases};

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
    // A suite of TLS 1.2, for which there is no group.
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

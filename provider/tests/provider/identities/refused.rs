//! Identities that can't be served are refused before anyone connects.

use pq_x509::issuing::CertificateBuilder;
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::Error;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls_pq::identity::IdentityError;
use rustls_pq::{Builder, Profile, identity};

use super::{ML_DSA_65, root};
use crate::peers::{
    Identity, Pki, any_base, connect, mutual_client_config, mutual_server_config, roots,
};

#[test]
fn pairs_that_are_refused() {
    let provider = Builder::new(any_base()).build().unwrap();
    let new = |chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>| {
        identity::Identity::new(chain, key, &provider).map(|_| ())
    };
    let Identity { chain, key } = Pki::new(SignatureAlgorithm::MlDsa65).server;
    let other = Pki::new(SignatureAlgorithm::MlDsa65).server;

    assert!(new(chain.clone(), key.clone_key()).is_ok());
    let error = new(Vec::new(), key.clone_key()).unwrap_err();
    assert!(matches!(error, IdentityError::NoCertificate));

    let error = new(chain.clone(), other.key.clone_key()).unwrap_err();
    assert!(matches!(
        error,
        IdentityError::Mismatch { algorithm, .. } if algorithm == ML_DSA_65
    ));
    assert_eq!(
        error.to_string(),
        "the private key doesn't belong to the certificate of localhost, which has a key for \
         ML-DSA-65; give the key that it was issued for, and the leaf first in the chain"
    );

    // A leaf that has only an address.
    let root = root(SignatureAlgorithm::MlDsa44);
    let builder = CertificateBuilder::server().ip_address("192.0.2.1".parse().unwrap());
    let leaf = root.issue(builder, root.signer()).unwrap();
    let error = new(vec![leaf.into_der()], key.clone_key()).unwrap_err();
    assert!(error.to_string().contains("of 192.0.2.1, which has"));

    let junk = vec![chain[0].clone(), CertificateDer::from(vec![0x30, 0x00])];
    let error = new(junk, key.clone_key()).unwrap_err();
    assert!(matches!(error, IdentityError::Certificate { index: 1, .. }));

    let no_key = PrivatePkcs8KeyDer::from(vec![0x30, 0x00]).into();
    let error = new(chain.clone(), no_key).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("the private key can't be used: "));
    // A program that prints an error with its causes doesn't print this twice.
    assert!(core::error::Error::source(&error).is_none());
    assert!(text.contains("it should be ML-DSA in PKCS#8"), "{text}");
    let mut damaged = key.secret_der().to_vec();
    damaged.pop();
    let damaged = PrivatePkcs8KeyDer::from(damaged).into();
    let text = new(chain.clone(), damaged).unwrap_err().to_string();
    assert!(text.contains("it should be ML-DSA in PKCS#8"), "{text}");

    // If a key could be loaded but is refused, the refusal says which keys are accepted.
    let cnsa2 = Builder::new(any_base()).profile(Profile::Cnsa2).build();
    let error = identity::Identity::new(chain.clone(), key.clone_key(), &cnsa2.unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "the private key can't be used: the provider signs with [ML_DSA_87] only, and this \
         private key can't; use a key for one of these, or build the provider with another profile"
    );

    let error = identity::Identity::new(chain, key, &any_base());
    assert_eq!(
        error.unwrap_err().to_string(),
        "the provider can't load private keys of ML-DSA-65; make it with rustls_pq::provider() or \
         rustls_pq::Builder, and use it for the configuration as well"
    );

    for (chain, key, expected) in [
        (
            "",
            "",
            "the text for the chain has no PEM block at all, and no certificate; it \
             should be in PEM, with a CERTIFICATE block for each certificate, the certificate of the \
             key first",
        ),
        // Chain and key are swapped.
        (
            "-----BEGIN PRIVATE KEY-----\r\nMAA=\r\n-----END PRIVATE KEY-----\r\n",
            "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
            "the text for the chain has PRIVATE KEY, and no certificate; it should \
             be in PEM, with a CERTIFICATE block for each certificate, the certificate of the \
             key first",
        ),
        (
            "-----BEGIN CERTIFICATE-----\nMAA=\n",
            "",
            "the certificate chain can't be read: the PEM block \"CERTIFICATE\" in line 1 does not end; the text is cut \
             short, so get it again; it should be in PEM, with a CERTIFICATE block for each certificate",
        ),
        (
            "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "the private key is encrypted, and nothing here asks for a passphrase; decrypt it first, \
             for example with `pqtls key decrypt KEY --out FILE`, which asks for it or takes it by \
             --passphrase-file, or with `openssl pkey`",
        ),
        // As `openssl rsa -traditional -aes256` writes it.
        (
            "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\
             DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\nMAA=\n\
             -----END RSA PRIVATE KEY-----\n",
            "the private key is encrypted, and nothing here asks for a passphrase; decrypt it first, \
             for example with `pqtls key decrypt KEY --out FILE`, which asks for it or takes it by \
             --passphrase-file, or with `openssl pkey`",
        ),
        (
            "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
            "-----BEGIN EC PARAMETERS-----\nMAA=\n-----END EC PARAMETERS-----\n\
             -----BEGIN OPENSSH PRIVATE KEY-----\nMAA=\n-----END OPENSSH PRIVATE KEY-----\n",
            "the text for the private key has EC PARAMETERS, OPENSSH PRIVATE KEY, and no private \
             key; it should be in PEM, in a block PRIVATE KEY (PKCS#8), EC PRIVATE KEY or RSA \
             PRIVATE KEY; `openssl pkey` converts others",
        ),
    ] {
        let error = identity::Identity::from_pem(chain.as_bytes(), key.as_bytes(), &provider);
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
}

/// A chain that is accepted gets through, with a request for client certificates beside
/// it; one that rustls could not receive is refused before anyone connects.
#[test]
fn size_of_chains() {
    let root = root(SignatureAlgorithm::MlDsa87);
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap();
    let with_names = |count: usize| {
        let leaf = CertificateBuilder::server().dns_name("localhost");
        let leaf = (0..count).fold(leaf, |leaf, at| {
            leaf.dns_name(format!("{at:05}.{}.example.org", "x".repeat(60)))
        });
        Identity::issued_by(&root, leaf, &key)
    };
    let provider = Builder::new(any_base()).build().unwrap();
    let check = |identity: &Identity| {
        let Identity { chain, key } = identity.clone();
        identity::Identity::new(chain, key, &provider)
    };

    // 80 bytes for each name.
    let (mut fits, mut too_many) = (0, 1000);
    while too_many - fits > 1 {
        let middle = (fits + too_many) / 2;
        match check(&with_names(middle)) {
            Ok(_) => fits = middle,
            Err(IdentityError::TooLarge {
                certificates,
                signature,
                limit,
            }) => {
                assert!(certificates + signature > limit);
                assert_eq!(signature, 4627);
                too_many = middle;
            }
            Err(error) => panic!("{error}"),
        }
    }

    let largest = with_names(fits);
    let clients = Pki::new(SignatureAlgorithm::MlDsa44);
    let connect_with = |identity: &Identity| {
        let server = mutual_server_config(provider.clone(), identity, clients.roots());
        let client = mutual_client_config(
            provider.clone(),
            roots([root.certificate().der().clone()]),
            &clients.client,
        );
        connect(&client.into(), &server.into())
    };
    assert_eq!(connect_with(&largest).client.result, Ok(()));

    // rustls doesn't accept four kilobytes more, so the bound is needed.
    let beyond = with_names(fits + 50);
    let error = check(&beyond).unwrap_err().to_string();
    assert!(error.starts_with("the chain is too large: "), "{error}");
    assert!(error.contains("but only 61440 fit"), "{error}");
    assert_eq!(
        connect_with(&beyond).client.result,
        Err(Error::General("message buffer full".into()))
    );
}

//! Which identity a client gets in TLS 1.2.

use alloc::sync::Arc;

use pq_x509::keys::SignatureAlgorithm;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::SingleCertAndKey;
use rustls::{
    AlertDescription, CipherSuite, ClientConfig, ClientConnection, Error, NamedGroup, ServerConfig,
    SignatureScheme, version,
};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, KeyAlgorithm, OfferReader};

use super::{World, assert_is, for_both_ends, issue, server_with};
use crate::peers::{Ecdsa, Identity, Outcome, Pki, accept, any_base, connect, roots};

/// TLS 1.2 has no ML-DSA, which comes first here.
#[test]
fn tls12_clients() {
    let world = World::new();
    let server = server_with(world.all().strongest_first());
    let client =
        ClientConfig::builder_with_provider(Arc::new(Builder::new(any_base()).build().unwrap()))
            .with_protocol_versions(&[&version::TLS12])
            .unwrap()
            .with_root_certificates(roots(world.roots.clone()))
            .with_no_client_auth();
    let outcome = connect(&client.into(), &server);
    assert_eq!(outcome.client.result, Ok(()));
    let negotiated = outcome.client.negotiated.unwrap();
    assert_eq!(negotiated.peer.unwrap().key, KeyAlgorithm::EcdsaP256);
}

/// In TLS 1.2 the cipher suites say what kind of key signs, and `signature_algorithms` may list more
/// kinds.
#[test]
fn cipher_suites_of_tls12_clients() {
    let root = Ecdsa::root();
    let trusted = || roots([root.certificate().der().clone()]);
    let ecdsa = issue(&root, &Ecdsa::generate());
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../rsa-2048.pem")).unwrap();
    let public_key = any_base().key_provider.load_private_key(key.clone_key());
    let public_key = public_key.unwrap();
    let leaf = root.issue(for_both_ends(), &public_key.public_key().unwrap());
    let rsa = Identity {
        chain: vec![leaf.unwrap().into_der()],
        key,
    };
    let ml_dsa = Pki::new(SignatureAlgorithm::MlDsa65).server;
    let identities = [&ml_dsa, &ecdsa, &rsa].map(Identity::checked);
    let identities = identities
        .into_iter()
        .fold(IdentitySet::new(), IdentitySet::with_default);
    let identities = Identities::new(identities);

    // Whether a client lists suites of TLS 1.3 or not.
    for kinds in [
        &["TLS_ECDHE_RSA"][..],
        &["TLS_ECDHE_ECDSA"],
        &["TLS_ECDHE_ECDSA", "TLS_ECDHE_RSA"],
        &["TLS13", "TLS_ECDHE_ECDSA"],
        &["TLS13", "TLS_ECDHE_RSA"],
    ] {
        let mut provider = any_base();
        provider.cipher_suites.retain(|suite| {
            let suite = format!("{:?}", suite.suite());
            kinds.iter().any(|kind| suite.starts_with(kind))
        });
        let client = ClientConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[&version::TLS12])
            .unwrap()
            .with_root_certificates(trusted())
            .with_no_client_auth();
        let client = Arc::new(client);
        let mut hello = Vec::new();
        ClientConnection::new(client.clone(), "localhost".try_into().unwrap())
            .unwrap()
            .write_tls(&mut hello)
            .unwrap();
        let accepted = accept(&hello);

        let expected = match kinds.contains(&"TLS_ECDHE_ECDSA") {
            true => &ecdsa,
            false => &rsa,
        };
        let mut offer = OfferReader::new().read(&hello).unwrap().unwrap();
        for choice in [
            identities.choose(&accepted.client_hello()).unwrap(),
            identities.choose_offered(&offer).unwrap(),
        ] {
            assert_is(&choice, expected);
            let key = choice.identity.certified_key().clone();
            let server = ServerConfig::builder_with_provider(any_base().into())
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_cert_resolver(Arc::new(SingleCertAndKey::from(key)));
            let outcome = connect(&client, &server.into());
            assert_eq!(outcome.client.result, Ok(()));
        }

        // A suite that the provider lacks doesn't count.
        let lacking = CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256;
        offer.cipher_suites.push(lacking);
        assert_is(&identities.choose_offered(&offer).unwrap(), expected);
        // If there is no other suite, the client is refused.
        offer.cipher_suites = vec![lacking];
        assert_eq!(identities.choose_offered(&offer).unwrap().scheme, None);
    }
}

/// In TLS 1.2 a client has to list the curve of an ECDSA key among its groups (RFC 8422, section 5.3), even if it
/// accepts the scheme.
#[test]
fn curves_of_tls12_clients() {
    let root = Ecdsa::root();
    let p384 = Ecdsa::generate_for(&ring::signature::ECDSA_P384_SHA384_ASN1_SIGNING);
    let p384 = issue(&root, &p384);
    let p256 = issue(&root, &Ecdsa::generate());
    let identities = |identities: &[&Identity]| {
        let identities = identities.iter().map(|identity| identity.checked());
        let set = identities.fold(IdentitySet::new(), IdentitySet::with_default);
        Arc::new(Identities::new(set))
    };
    let both = identities(&[&p384, &p256]);
    let alone = identities(&[&p384]);
    let server = |identities: &Arc<Identities>| -> Arc<ServerConfig> {
        ServerConfig::builder_with_provider(any_base().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(identities.clone())
            .into()
    };
    let client = |groups: &[NamedGroup], version| -> Arc<ClientConfig> {
        let mut provider = any_base();
        provider
            .kx_groups
            .retain(|group| groups.contains(&group.name()));
        ClientConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots([root.certificate().der().clone()]))
            .with_no_client_auth()
            .into()
    };
    let key = |outcome: &Outcome| {
        assert_eq!(outcome.client.result, Ok(()));
        outcome.client.negotiated.unwrap().peer.unwrap().key
    };

    let only_p256 = client(&[NamedGroup::secp256r1], &version::TLS12);
    let of_both = [NamedGroup::secp256r1, NamedGroup::secp384r1];
    let of_both = client(&of_both, &version::TLS12);
    assert_eq!(
        key(&connect(&only_p256, &server(&both))),
        KeyAlgorithm::EcdsaP256
    );
    assert_eq!(
        key(&connect(&of_both, &server(&both))),
        KeyAlgorithm::EcdsaP384
    );
    // None fits, and the client is told.
    let outcome = connect(&only_p256, &server(&alone));
    assert_eq!(
        outcome.client.result,
        Err(Error::AlertReceived(AlertDescription::HandshakeFailure))
    );
    // In TLS 1.3 the scheme decides alone. rustls doesn't tell the version before, so the one that suits both comes
    // first.
    let newer = client(&[NamedGroup::secp256r1], &version::TLS13);
    for (identities, expected) in [
        (&both, KeyAlgorithm::EcdsaP256),
        (&alone, KeyAlgorithm::EcdsaP384),
    ] {
        assert_eq!(key(&connect(&newer, &server(identities))), expected);
    }

    // The same for offers from bytes; who lists no group leaves the choice to the server.
    let mut hello = Vec::new();
    ClientConnection::new(only_p256, "localhost".try_into().unwrap())
        .unwrap()
        .write_tls(&mut hello)
        .unwrap();
    let mut offer = OfferReader::new().read(&hello).unwrap().unwrap();
    assert_is(&both.choose_offered(&offer).unwrap(), &p256);
    assert_eq!(alone.choose_offered(&offer).unwrap().scheme, None);
    offer.groups.clear();
    for identities in [&both, &alone] {
        let choice = identities.choose_offered(&offer).unwrap();
        assert_is(&choice, &p384);
        assert_eq!(choice.scheme, Some(SignatureScheme::ECDSA_NISTP384_SHA384));
    }
}

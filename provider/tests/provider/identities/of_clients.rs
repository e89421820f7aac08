//! Which certificate a client sends.

use alloc::sync::Arc;

use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::SignatureScheme as Scheme;
use rustls::client::ResolvesClientCert;
use rustls::pki_types::CertificateDer;
use rustls::{AlertDescription, ClientConfig, Error};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, KeyAlgorithm};

use super::{ML_DSA_65, World, issue, root, subject_of};
use crate::peers::{Ecdsa, Outcome, Pki, any_base, connect, mutual_server_config, roots};

#[test]
fn by_what_servers_accept() {
    let world = World::new();
    let server_pki = Pki::new(SignatureAlgorithm::MlDsa44);
    // The strongest comes last.
    let set = [&world.ml_dsa_65, &world.ecdsa, &world.ml_dsa_87].map(|identity| identity.checked());
    let set = set.into_iter().fold(IdentitySet::new(), IdentitySet::with);
    let identities = Arc::new(Identities::new(set));
    let provider = Arc::new(Builder::new(any_base()).build().unwrap());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(server_pki.roots())
        .with_client_cert_resolver(identities);
    let client = Arc::new(client);

    let accepts = |schemes: &[Scheme], trusted: &[CertificateDer<'static>]| {
        let provider = Builder::new(any_base())
            .signature_schemes(schemes.iter().copied())
            .build()
            .unwrap();
        let server =
            mutual_server_config(provider, &server_pki.server, roots(trusted.iter().cloned()));
        connect(&client, &Arc::new(server))
    };
    let key = |outcome: Outcome| {
        assert_eq!(outcome.server.result, Ok(()));
        outcome.server.negotiated.unwrap().peer.unwrap().key
    };
    let both = [
        Scheme::ML_DSA_65,
        Scheme::ECDSA_NISTP256_SHA256,
        Scheme::ML_DSA_87,
    ];
    assert_eq!(key(accepts(&both, &world.roots)), ML_DSA_65);
    assert_eq!(key(accepts(&both[..1], &world.roots)), ML_DSA_65);
    let classical = key(accepts(&both[1..2], &world.roots));
    assert_eq!(classical, KeyAlgorithm::EcdsaP256);
    // The server says which CAs it trusts.
    let hinted = key(accepts(&both, &world.roots[3..]));
    assert_eq!(hinted, KeyAlgorithm::EcdsaP256);

    let nothing = accepts(&[Scheme::ED25519], &world.roots);
    assert_eq!(nothing.server.result, Err(Error::NoCertificatesPresented));
    assert_eq!(
        nothing.client.result,
        Err(Error::AlertReceived(AlertDescription::CertificateRequired))
    );
}

/// A chain from a CA that the server names comes before other chains, even if the server doesn't list
/// all its schemes, as with SLH-DSA.
#[test]
fn from_a_ca_that_the_server_names() {
    let named = root(SignatureAlgorithm::SlhDsaSha2_128f);
    let under_slh_dsa = issue(
        &named,
        &SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap(),
    );
    let elsewhere = Ecdsa::root();
    let ecdsa = issue(&elsewhere, &Ecdsa::generate());
    let set = IdentitySet::new()
        .with(ecdsa.checked())
        .with(under_slh_dsa.checked());
    let identities = Identities::new(set);
    let both = [Scheme::ECDSA_NISTP256_SHA256, Scheme::ML_DSA_65];
    let of_named = subject_of(named.certificate().der());
    let of_elsewhere = subject_of(elsewhere.certificate().der());
    let chosen = |hints: &[&[u8]], schemes: &[Scheme]| {
        let key = ResolvesClientCert::resolve(&identities, hints, schemes);
        key.unwrap().cert.clone()
    };
    assert_eq!(chosen(&[], &both), ecdsa.chain);
    assert_eq!(chosen(&[b"nobody"], &both), ecdsa.chain);
    assert_eq!(chosen(&[&of_named], &both), under_slh_dsa.chain);
    assert_eq!(chosen(&[&of_named, &of_elsewhere], &both), ecdsa.chain);
    // Its key can't sign with this scheme.
    assert_eq!(chosen(&[&of_named], &both[..1]), ecdsa.chain);
}

//! Several certificates on one port, and which of them a peer gets.

mod chosen;
mod files;
mod in_order;
mod of_clients;
mod refused;
mod tenants;
mod tls12;
mod trusted;

use alloc::sync::Arc;

use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, Signer, SigningKey};
use pq_x509::x509_cert::der::Encode;
use rustls::SignatureScheme as Scheme;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ServerConfig};
use rustls_pq::identity::{Choice, Identities, IdentitySet};
use rustls_pq::{Builder, KeyAlgorithm, Offer};

use crate::peers::{Ecdsa, Identity, KeyPair, any_base, client_config, roots};

const ML_DSA_65: KeyAlgorithm = KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa65);

/// Four identities for localhost, each from a root of its own.
struct World {
    ml_dsa_87: Identity,
    ml_dsa_65: Identity,
    ml_dsa_44: Identity,
    ecdsa: Identity,
    roots: Vec<CertificateDer<'static>>,
}

impl World {
    fn new() -> Self {
        let mut roots = Vec::new();
        let mut post_quantum = |algorithm| {
            let root = root(algorithm);
            roots.push(root.certificate().der().clone());
            issue(&root, &SigningKey::generate(algorithm).unwrap())
        };
        let ml_dsa_87 = post_quantum(SignatureAlgorithm::MlDsa87);
        let ml_dsa_65 = post_quantum(SignatureAlgorithm::MlDsa65);
        let ml_dsa_44 = post_quantum(SignatureAlgorithm::MlDsa44);
        let root = Issuer::self_signed(CertificateBuilder::ca("ECDSA"), Ecdsa::generate()).unwrap();
        roots.push(root.certificate().der().clone());
        Self {
            ml_dsa_87,
            ml_dsa_65,
            ml_dsa_44,
            ecdsa: issue(&root, &Ecdsa::generate()),
            roots,
        }
    }

    fn all(&self) -> IdentitySet {
        [
            &self.ecdsa,
            &self.ml_dsa_44,
            &self.ml_dsa_87,
            &self.ml_dsa_65,
        ]
        .into_iter()
        .fold(IdentitySet::new(), |set, identity| {
            set.with_default(identity.checked())
        })
    }

    /// A client that accepts these schemes, or all.
    fn client(&self, schemes: Option<Vec<Scheme>>) -> Arc<ClientConfig> {
        provider_client(schemes, self.roots.clone())
    }
}

fn provider_client(
    schemes: Option<Vec<Scheme>>,
    trusted: impl IntoIterator<Item = CertificateDer<'static>>,
) -> Arc<ClientConfig> {
    let builder = Builder::new(any_base());
    let provider = match schemes {
        Some(schemes) => builder.signature_schemes(schemes).build(),
        None => builder.build(),
    };
    client_config(provider.unwrap(), roots(trusted)).into()
}

fn server_with(set: IdentitySet) -> Arc<ServerConfig> {
    server_over(Identities::new(set))
}

fn server_over(identities: impl Into<Arc<Identities>>) -> Arc<ServerConfig> {
    let config =
        ServerConfig::builder_with_provider(Arc::new(Builder::new(any_base()).build().unwrap()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(identities.into());
    config.into()
}

fn root(algorithm: SignatureAlgorithm) -> Issuer<SigningKey> {
    let key = SigningKey::generate(algorithm).unwrap();
    Issuer::self_signed(CertificateBuilder::ca(algorithm.to_string()), key).unwrap()
}

fn issue(issuer: &Issuer<impl Signer>, key: &impl KeyPair) -> Identity {
    Identity::issued_by(issuer, for_both_ends(), key)
}

pub(crate) fn for_both_ends() -> CertificateBuilder<pq_x509::issuing::EndEntity> {
    CertificateBuilder::server()
        .client_auth()
        .dns_name("localhost")
}

/// The subject of a certificate, in DER.
fn subject_of(certificate: &CertificateDer<'_>) -> Vec<u8> {
    let certificate = Certificate::from_der(certificate).unwrap();
    certificate.subject().to_der().unwrap()
}

#[track_caller]
fn assert_is(choice: &Choice, identity: &Identity) {
    assert_eq!(choice.identity.certified_key().cert, identity.chain);
}

/// An offer that differs from `offer`.
fn with(mut offer: Offer, change: impl FnOnce(&mut Offer)) -> Offer {
    change(&mut offer);
    offer
}

//! The table in the documentation of `Profile`: each profile with each kind of peer.
//!
//! `UPDATE_TABLES=1 cargo test -p rustls-pq profile_table` writes it anew.

use alloc::sync::Arc;
use core::fmt::Write;
use std::path::Path;
use std::{env, fs};

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::SignatureScheme as Scheme;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, Error, ServerConfig, SupportedProtocolVersion, version};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, Group, KeyAlgorithm, Negotiated, Profile};

use crate::peers::{Ecdsa, Identity, Outcome, bases, connect, roots};

#[test]
fn profile_table() {
    for profile in Profile::ALL {
        assert!(OUR_SIDES.iter().any(|ours| ours.profile == *profile));
    }
    let pki = Pki::new();
    let mut tables = bases()
        .into_iter()
        .map(|(name, base)| (name, table(&base, &pki)));
    let (_, table) = tables.next().expect("there is always ring");
    for (name, other) in tables {
        assert_eq!(other, table, "{name}");
    }

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/policy/profile_table.md");
    if env::var_os("UPDATE_TABLES").is_some() {
        fs::write(&path, &table).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        table,
        "run `UPDATE_TABLES=1 cargo test -p rustls-pq profile_table`"
    );
}

fn table(base: &CryptoProvider, pki: &Pki) -> String {
    let mut text = String::new();
    for profile in OUR_SIDES {
        writeln!(text, "{}\n", profile.title).unwrap();
        writeln!(text, "| peer | peer as the client | peer as the server |").unwrap();
        writeln!(text, "|---|---|---|").unwrap();
        let ours = Side {
            provider: profile.provider(base),
            versions: rustls::DEFAULT_VERSIONS,
            identities: pki.identities(profile.keys),
        };
        for peer in PEERS {
            let theirs = Side {
                provider: peer.provider(base),
                versions: peer.versions,
                identities: pki.identities(peer.keys),
            };
            writeln!(
                text,
                "| {} | {} | {} |",
                peer.name,
                cell(&connect(&theirs.client(pki), &ours.server())),
                cell(&connect(&ours.client(pki), &theirs.server())),
            )
            .unwrap();
        }
        writeln!(text).unwrap();
    }
    text
}

/// What was negotiated, or how each side reports the refusal.
fn cell(outcome: &Outcome) -> String {
    match (&outcome.client.result, &outcome.server.result) {
        (Ok(()), Ok(())) => {
            let negotiated = outcome.client.negotiated.as_ref().unwrap();
            let Negotiated { group, peer, .. } = negotiated;
            let version = match negotiated.version {
                rustls::ProtocolVersion::TLSv1_2 => "TLS 1.2, ",
                _ => "",
            };
            format!("{version}{}, {}", group.unwrap(), peer.unwrap().key)
        }
        (client, server) => {
            let report = |result: &Result<(), Error>| match result {
                Ok(()) => "no error".to_owned(),
                Err(error) => format!("`{error:?}`"),
            };
            format!(
                "refused: client {}, server {}",
                report(client),
                report(server)
            )
        }
    }
}

/// One side of a connection.
struct Side {
    provider: Arc<CryptoProvider>,
    versions: &'static [&'static SupportedProtocolVersion],
    identities: IdentitySet,
}

impl Side {
    fn client(&self, pki: &Pki) -> Arc<ClientConfig> {
        ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(self.versions)
            .unwrap()
            .with_root_certificates(roots(pki.roots.clone()))
            .with_no_client_auth()
            .into()
    }

    fn server(&self) -> Arc<ServerConfig> {
        ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(self.versions)
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Identities::new(self.identities.clone())))
            .into()
    }
}

/// A use of this crate.
struct OurSide {
    title: &'static str,
    profile: Profile,
    pq_authentication: bool,
    keys: &'static [KeyAlgorithm],
}

impl OurSide {
    fn provider(&self, base: &CryptoProvider) -> Arc<CryptoProvider> {
        let mut builder = Builder::new(base.clone()).profile(self.profile);
        if self.pq_authentication {
            builder = builder.require_pq_authentication();
        }
        builder.build().unwrap().into()
    }
}

const OUR_SIDES: [OurSide; 5] = [
    OurSide {
        title: "[`Default`](Profile::Default), as a server with certificates of ML-DSA-65 and \
                ECDSA:",
        profile: Profile::Default,
        pq_authentication: false,
        keys: &[ML_DSA_65, KeyAlgorithm::EcdsaP256],
    },
    OurSide {
        title: "[`RequirePq`](Profile::RequirePq), with the same certificates:",
        profile: Profile::RequirePq,
        pq_authentication: false,
        keys: &[ML_DSA_65, KeyAlgorithm::EcdsaP256],
    },
    OurSide {
        title: "[`RequirePq`](Profile::RequirePq) with \
                [`require_pq_authentication`](crate::Builder::require_pq_authentication), with \
                the ML-DSA-65 certificate alone:",
        profile: Profile::RequirePq,
        pq_authentication: true,
        keys: &[ML_DSA_65],
    },
    OurSide {
        title: "[`Cnsa2`](Profile::Cnsa2), with a certificate of ML-DSA-87:",
        profile: Profile::Cnsa2,
        pq_authentication: false,
        keys: &[ML_DSA_87],
    },
    OurSide {
        title: "[`All`](Profile::All), with the certificates of `Default`:",
        profile: Profile::All,
        pq_authentication: false,
        keys: &[ML_DSA_65, KeyAlgorithm::EcdsaP256],
    },
];

/// Another implementation.
struct Peer {
    name: &'static str,
    groups: &'static [Group],
    schemes: &'static [Scheme],
    keys: &'static [KeyAlgorithm],
    versions: &'static [&'static SupportedProtocolVersion],
}

impl Peer {
    fn provider(&self, base: &CryptoProvider) -> Arc<CryptoProvider> {
        Builder::new(base.clone())
            .groups(self.groups.iter().copied())
            .signature_schemes(self.schemes.iter().copied())
            .build()
            .unwrap()
            .into()
    }
}

const PEERS: [Peer; 5] = [
    Peer {
        name: "post-quantum only: MLKEM1024, ML-DSA-87",
        groups: &[Group::MLKEM1024],
        schemes: &[Scheme::ML_DSA_87],
        keys: &[ML_DSA_87],
        versions: &[&version::TLS13],
    },
    Peer {
        name: "post-quantum only: X25519MLKEM768, ML-DSA-65",
        groups: &[Group::X25519MLKEM768],
        schemes: &[Scheme::ML_DSA_65],
        keys: &[ML_DSA_65],
        versions: &[&version::TLS13],
    },
    Peer {
        name: "hybrid: X25519MLKEM768 or x25519, ECDSA",
        groups: &[Group::X25519MLKEM768, Group::X25519],
        schemes: CLASSICAL,
        keys: &[KeyAlgorithm::EcdsaP256],
        versions: rustls::DEFAULT_VERSIONS,
    },
    Peer {
        name: "classical only: x25519, ECDSA",
        groups: &[Group::X25519, Group::SECP256R1],
        schemes: CLASSICAL,
        keys: &[KeyAlgorithm::EcdsaP256],
        versions: &[&version::TLS13],
    },
    Peer {
        name: "TLS 1.2 only: x25519, ECDSA",
        groups: &[Group::X25519, Group::SECP256R1],
        schemes: CLASSICAL,
        keys: &[KeyAlgorithm::EcdsaP256],
        versions: &[&version::TLS12],
    },
];

const CLASSICAL: &[Scheme] = &[Scheme::ECDSA_NISTP256_SHA256, Scheme::ECDSA_NISTP384_SHA384];
const ML_DSA_65: KeyAlgorithm = KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa65);
const ML_DSA_87: KeyAlgorithm = KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa87);

/// A chain of one certificate for each algorithm, under a root of the same.
struct Pki {
    identities: Vec<(KeyAlgorithm, Identity)>,
    roots: Vec<CertificateDer<'static>>,
}

impl Pki {
    fn new() -> Self {
        let (mut identities, mut roots) = (Vec::new(), Vec::new());
        let leaf = || CertificateBuilder::server().dns_name("localhost");
        for algorithm in [SignatureAlgorithm::MlDsa65, SignatureAlgorithm::MlDsa87] {
            let key = || SigningKey::generate(algorithm).unwrap();
            let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
            let key = key();
            let identity = Identity::issued_by(&root, leaf(), &key);
            roots.push(root.certificate().der().clone());
            identities.push((KeyAlgorithm::PostQuantum(algorithm), identity));
        }
        let root = Ecdsa::root();
        let identity = Identity::issued_by(&root, leaf(), &Ecdsa::generate());
        roots.push(root.certificate().der().clone());
        identities.push((KeyAlgorithm::EcdsaP256, identity));
        Self { identities, roots }
    }

    fn identities(&self, keys: &[KeyAlgorithm]) -> IdentitySet {
        let wanted = self.identities.iter().filter(|(key, _)| keys.contains(key));
        wanted.fold(IdentitySet::new(), |set, (_, identity)| {
            set.with_default(identity.checked())
        })
    }
}

//! `tls-alpn-01`.

use alloc::sync::Arc;
use core::net::SocketAddr;

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::asn1::OctetString;
use pq_acme::objects::ChallengeKind;
use pq_acme::problem::ProblemType;
use pq_ca_server::validation::Outcome;
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnySigningKey};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::dns::NameServer;
use super::{AUTHORIZATION, NAME, evidence, question, refusal, validator};

/// The extension (RFC 8737, section 6.1).
struct AcmeIdentifier(OctetString);

impl AssociatedOid for AcmeIdentifier {
    const OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.31");
}

impl der::Encode for AcmeIdentifier {
    fn encoded_len(&self) -> der::Result<der::Length> {
        self.0.encoded_len()
    }

    fn encode(&self, writer: &mut impl der::Writer) -> der::Result<()> {
        self.0.encode(writer)
    }
}

const TLS12: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS12];

/// What the server of a client shows.
struct Shown {
    algorithm: &'static str,
    names: Vec<&'static str>,
    extension: Option<(bool, Vec<u8>)>,
    protocols: Vec<Vec<u8>>,
    versions: &'static [&'static rustls::SupportedProtocolVersion],
    /// Whether the handshake is signed by another key than the certificate's.
    has_other_key: bool,
}

impl Shown {
    fn right(names: &[&'static str]) -> Self {
        Self {
            algorithm: "ML-DSA-65",
            names: names.to_vec(),
            extension: Some((true, Sha256::digest(AUTHORIZATION).to_vec())),
            protocols: vec![b"acme-tls/1".to_vec()],
            versions: rustls::ALL_VERSIONS,
            has_other_key: false,
        }
    }

    async fn start(self) -> SocketAddr {
        let algorithm = AnyAlgorithm::named(self.algorithm).unwrap();
        let key = AnyPrivateKey::generate(algorithm).unwrap();
        let other = AnyPrivateKey::generate(algorithm).unwrap();
        let of_handshake = if self.has_other_key { &other } else { &key };
        let der = of_handshake.to_pkcs8_der().unwrap();
        let pem = key.to_pkcs8_pem().unwrap();
        let signer = AnySigningKey::from_pem(pem.as_bytes()).unwrap();
        let issuer = Issuer::self_signed(CertificateBuilder::ca(NAME), &signer).unwrap();
        let builder = CertificateBuilder::server().common_name(NAME);
        let names = self.names.iter();
        let builder = names.fold(builder, |builder, name| {
            builder.alternative_name(name.parse().unwrap())
        });
        let mut tbs = issuer.prepare(builder, &signer).unwrap();
        if let Some((critical, digest)) = self.extension {
            let extension = AcmeIdentifier(OctetString::new(digest).unwrap());
            tbs.set_extension(critical, &extension).unwrap();
        }
        let certificate = tbs.sign(&signer).unwrap().into_der();
        let provider = rustls_pq::Builder::with_default_base().unwrap().build();
        let provider = Arc::new(provider.unwrap());
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(der.to_vec()));
        let key = provider.key_provider.load_private_key(key).unwrap();
        let identity = SingleCertAndKey::from(CertifiedKey::new(vec![certificate], key));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(self.versions)
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(identity));
        config.alpn_protocols = self.protocols;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    if let Ok(mut tls) = acceptor.accept(stream).await {
                        let mut rest = Vec::new();
                        let _ = tokio::io::AsyncReadExt::read_to_end(&mut tls, &mut rest).await;
                    }
                });
            }
        });
        address
    }
}

async fn ask(address: SocketAddr, name: &str) -> Outcome {
    let dns = NameServer::start().await;
    dns.address(NAME, "127.0.0.1");
    validator(&dns, address.port())
        .validate(&question(ChallengeKind::TlsAlpn01, name))
        .await
}

#[tokio::test]
async fn a_certificate_of_any_key_in_any_version_is_evidence() {
    for algorithm in [
        "ML-DSA-44",
        "ML-DSA-65",
        "ML-DSA-87",
        "ECDSA-P256",
        "ECDSA-P384",
        "Ed25519",
    ] {
        let shown = Shown {
            algorithm,
            ..Shown::right(&["WWW.example.org"])
        };
        let address = shown.start().await;
        let seen = evidence(ask(address, NAME).await);
        assert_eq!(seen, format!("from {address}"));
    }
    for algorithm in ["ECDSA-P256", "ECDSA-P384", "RSA-2048"] {
        let shown = Shown {
            algorithm,
            versions: TLS12,
            ..Shown::right(&[NAME])
        };
        evidence(ask(shown.start().await, NAME).await);
    }
    let address = Shown::right(&["127.0.0.1"]).start().await;
    evidence(ask(address, "127.0.0.1").await);
}

#[tokio::test]
async fn other_certificates_are_not() {
    let digest = || Sha256::digest(AUTHORIZATION).to_vec();
    for (shown, kind, what) in [
        (
            Shown::right(&[]),
            ProblemType::IncorrectResponse,
            "not the identifier alone",
        ),
        (
            Shown::right(&[NAME, "other.example.org"]),
            ProblemType::IncorrectResponse,
            "not the identifier alone",
        ),
        (
            Shown::right(&["other.example.org"]),
            ProblemType::IncorrectResponse,
            "it is for \"other.example.org\"",
        ),
        (
            Shown::right(&["*.example.org"]),
            ProblemType::IncorrectResponse,
            "not the identifier alone",
        ),
        (
            Shown::right(&["127.0.0.1"]),
            ProblemType::IncorrectResponse,
            "not the identifier alone",
        ),
        (
            Shown {
                extension: None,
                ..Shown::right(&[NAME])
            },
            ProblemType::IncorrectResponse,
            "has no extension",
        ),
        (
            Shown {
                extension: Some((false, digest())),
                ..Shown::right(&[NAME])
            },
            ProblemType::IncorrectResponse,
            "not critical",
        ),
        (
            Shown {
                extension: Some((true, vec![0; 32])),
                ..Shown::right(&[NAME])
            },
            ProblemType::IncorrectResponse,
            "is not the digest",
        ),
        (
            Shown {
                extension: Some((true, digest()[..31].to_vec())),
                ..Shown::right(&[NAME])
            },
            ProblemType::IncorrectResponse,
            "is not the digest",
        ),
        (
            Shown {
                protocols: Vec::new(),
                ..Shown::right(&[NAME])
            },
            ProblemType::Tls,
            "has not negotiated",
        ),
        (
            Shown {
                protocols: vec![b"http/1.1".to_vec()],
                ..Shown::right(&[NAME])
            },
            ProblemType::Tls,
            "no handshake",
        ),
    ] {
        refusal(ask(shown.start().await, NAME).await, kind, what);
    }
}

#[tokio::test]
async fn what_is_no_tls_is_no_evidence() {
    use super::target::{Reply, Target};

    let target = Target::start(|_, _| Reply::page(AUTHORIZATION)).await;
    let limits = pq_ca_server::validation::Limits {
        whole: core::time::Duration::from_secs(1),
        ..Default::default()
    };
    let dns = NameServer::start().await;
    dns.address(NAME, "127.0.0.1");
    let validator = validator(&dns, target.port()).limits(limits);
    let outcome = validator
        .validate(&question(ChallengeKind::TlsAlpn01, NAME))
        .await;
    // It waits for the end of a request's head.
    refusal(outcome, ProblemType::Connection, "no whole answer");
}

/// Who has a copy of the right certificate has not its key.
#[tokio::test]
async fn a_certificate_without_its_key_is_not() {
    for (algorithm, versions) in [
        ("ML-DSA-65", rustls::ALL_VERSIONS),
        ("ECDSA-P256", rustls::ALL_VERSIONS),
        ("ECDSA-P256", TLS12),
    ] {
        for has_other_key in [false, true] {
            let shown = Shown {
                algorithm,
                versions,
                has_other_key,
                ..Shown::right(&[NAME])
            };
            let outcome = ask(shown.start().await, NAME).await;
            match has_other_key {
                true => refusal(outcome, ProblemType::Tls, "no handshake"),
                false => drop(evidence(outcome)),
            }
        }
    }
}

//! Two peers in memory: their configuration, their connection, and its outcome.

use alloc::sync::Arc;

use handshakes::exchange;
use pq_core::slh_dsa::{self, Message, PreHash, SlhDsaSha2_128f};
use pq_x509::issuing::{CertificateBuilder, EndEntity, Issuer};
use pq_x509::keys::{SignError, SignatureAlgorithm, Signer, SigningKey, SubjectKey};
use pq_x509::x509_cert::spki::{AlgorithmIdentifierOwned, ObjectIdentifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer,
};
use rustls::server::{Accepted, Acceptor, WebPkiClientVerifier};
use rustls::{
    ClientConfig, ClientConnection, Error, HandshakeKind, RootCertStore, ServerConfig,
    ServerConnection, SignatureScheme,
};
use rustls_pq::{Builder, Group, Negotiated};

/// Every base that is compiled in, by name.
pub(crate) fn bases() -> Vec<(&'static str, CryptoProvider)> {
    vec![
        #[cfg(feature = "graviola")]
        (
            "graviola",
            rustls_pq::base::graviola().expect("the tests run on a CPU that graviola supports"),
        ),
        #[cfg(feature = "aws-lc-rs")]
        ("aws-lc-rs", rustls_pq::base::aws_lc_rs()),
        ("ring", any_base()),
    ]
}

/// Whether `rustls_pq::provider()` has a base to work with.
pub(crate) const HAS_BASE: bool = cfg!(any(
    feature = "graviola",
    feature = "aws-lc-rs",
    feature = "ring"
));

/// A base, for tests that work with any base.
pub(crate) fn any_base() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

/// A provider over `base` with exactly these groups.
pub(crate) fn with_groups(
    base: &CryptoProvider,
    groups: impl IntoIterator<Item = Group>,
) -> CryptoProvider {
    Builder::new(base.clone())
        .groups(groups)
        .build()
        .expect("the base has these groups")
}

/// A chain that a peer sends: the leaf, its issuers without the root, and the leaf's key.
pub(crate) struct Identity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self {
            chain: self.chain.clone(),
            key: self.key.clone_key(),
        }
    }
}

impl Identity {
    /// A leaf right below `issuer`.
    pub(crate) fn issued_by(
        issuer: &Issuer<impl Signer>,
        leaf: CertificateBuilder<EndEntity>,
        key: &(impl KeyPair + ?Sized),
    ) -> Self {
        Self {
            chain: vec![issuer.issue(leaf, key).unwrap().into_der()],
            key: key.private_key(),
        }
    }

    /// As the crate's type, which checks it.
    pub(crate) fn checked(&self) -> rustls_pq::identity::Identity {
        let provider = Builder::new(any_base()).build().unwrap();
        let Self { chain, key } = self.clone();
        rustls_pq::identity::Identity::new(chain, key, &provider).unwrap()
    }
}

/// A root, an intermediate, and leaves for a server called `localhost` and for a
/// client, all of one algorithm.
pub(crate) struct Pki {
    pub(crate) root: CertificateDer<'static>,
    pub(crate) server: Identity,
    pub(crate) client: Identity,
}

impl Pki {
    pub(crate) fn new(algorithm: SignatureAlgorithm) -> Self {
        let key = || SigningKey::generate(algorithm).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Test Root"), key()).unwrap();
        let ca = root
            .issue_ca(CertificateBuilder::ca("Test CA").path_len(0), key())
            .unwrap();
        let identity = |leaf, key: SigningKey| {
            let mut identity = Identity::issued_by(&ca, leaf, &key);
            identity.chain.push(ca.certificate().der().clone());
            identity
        };

        Self {
            server: identity(CertificateBuilder::server().dns_name("localhost"), key()),
            client: identity(
                CertificateBuilder::client().common_name("Test Client"),
                key(),
            ),
            root: root.certificate().der().clone(),
        }
    }

    pub(crate) fn roots(&self) -> RootCertStore {
        roots([self.root.clone()])
    }
}

pub(crate) fn roots(
    certificates: impl IntoIterator<Item = CertificateDer<'static>>,
) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate).unwrap();
    }
    roots
}

/// A key with its private half, as rustls loads it.
pub(crate) trait KeyPair: SubjectKey {
    fn private_key(&self) -> PrivateKeyDer<'static>;
}

impl KeyPair for SigningKey {
    fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.to_pkcs8_der().unwrap().to_vec()).into()
    }
}

/// An ECDSA key on P-256 that issues certificates, implemented with ring.
pub(crate) struct Ecdsa {
    pkcs8: PrivatePkcs8KeyDer<'static>,
    key: Arc<dyn rustls::sign::SigningKey>,
}

impl Ecdsa {
    pub(crate) fn generate() -> Self {
        Self::generate_for(&ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING)
    }

    /// On the curve of this algorithm.
    pub(crate) fn generate_for(algorithm: &'static ring::signature::EcdsaSigningAlgorithm) -> Self {
        let pkcs8 = ring::signature::EcdsaKeyPair::generate_pkcs8(
            algorithm,
            &ring::rand::SystemRandom::new(),
        )
        .unwrap();
        let pkcs8 = PrivatePkcs8KeyDer::from(pkcs8.as_ref().to_vec());
        Self {
            key: any_base()
                .key_provider
                .load_private_key(pkcs8.clone_key().into())
                .unwrap(),
            pkcs8,
        }
    }

    /// A CA called "Root" with such a key.
    pub(crate) fn root() -> Issuer<Self> {
        Issuer::self_signed(CertificateBuilder::ca("Root"), Self::generate()).unwrap()
    }
}

impl KeyPair for Ecdsa {
    fn private_key(&self) -> PrivateKeyDer<'static> {
        self.pkcs8.clone_key().into()
    }
}

impl SubjectKey for Ecdsa {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.public_key().unwrap()
    }
}

impl Signer for Ecdsa {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            // ecdsa-with-SHA256
            oid: ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2"),
            parameters: None,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.key
            .choose_scheme(&[SignatureScheme::ECDSA_NISTP256_SHA256])
            .unwrap()
            .sign(message)
            .map_err(SignError::new)
    }
}

/// A key for HashSLH-DSA-SHA2-128f-with-SHA256, which `pq_x509` verifies and does not make.
pub(crate) struct HashSlhDsa {
    key: slh_dsa::SigningKey<SlhDsaSha2_128f>,
    spki: Vec<u8>,
}

impl HashSlhDsa {
    pub(crate) const SET: SignatureAlgorithm = SignatureAlgorithm::SlhDsaSha2_128f;

    pub(crate) fn generate() -> Self {
        let pure = SigningKey::generate(Self::SET).unwrap();
        let mut spki = pure.spki().to_vec();
        // The last arc of the identifier; nothing else differs.
        assert_eq!(spki[14], 21);
        spki[14] = 36;
        Self {
            key: slh_dsa::SigningKey::from_bytes(&pure.to_expanded()).unwrap(),
            spki,
        }
    }
}

impl SubjectKey for HashSlhDsa {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl Signer for HashSlhDsa {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            // id-hash-slh-dsa-sha2-128f-with-sha256
            oid: ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.36"),
            parameters: None,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let message = Message::Hashed(PreHash::Sha256, message);
        let mut signature = vec![0; Self::SET.signature_len()];
        self.key
            .sign_into(message, &[], None, &|_| (), &mut signature)
            .map_err(|error| SignError::new(error.to_string()))?;
        Ok(signature)
    }
}

pub(crate) fn server_config(provider: CryptoProvider, identity: &Identity) -> ServerConfig {
    ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(identity.chain.clone(), identity.key.clone_key())
        .unwrap()
}

/// A server that wants a client certificate from one of `roots`.
pub(crate) fn mutual_server_config(
    provider: CryptoProvider,
    identity: &Identity,
    roots: RootCertStore,
) -> ServerConfig {
    let provider = Arc::new(provider);
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .unwrap();
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(identity.chain.clone(), identity.key.clone_key())
        .unwrap()
}

pub(crate) fn client_config(provider: CryptoProvider, roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

pub(crate) fn mutual_client_config(
    provider: CryptoProvider,
    roots: RootCertStore,
    identity: &Identity,
) -> ClientConfig {
    ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(identity.chain.clone(), identity.key.clone_key())
        .unwrap()
}

/// How a handshake went, seen from one side.
#[derive(Debug)]
pub(crate) struct End {
    /// The first error, if any.
    pub(crate) result: Result<(), Error>,
    pub(crate) group: Option<Group>,
    pub(crate) negotiated: Option<Negotiated>,
    pub(crate) kind: Option<HandshakeKind>,
    pub(crate) peer_certificates: usize,
    /// The peer's own certificate.
    pub(crate) leaf: Option<CertificateDer<'static>>,
    /// Everything that this side wrote.
    pub(crate) sent: Vec<u8>,
}

impl From<handshakes::End> for End {
    fn from(end: handshakes::End) -> Self {
        let connection = &end.connection;
        let certificates = connection.peer_certificates().unwrap_or_default();
        Self {
            group: connection
                .negotiated_key_exchange_group()
                .map(|group| group.name().into()),
            negotiated: Negotiated::of(connection),
            kind: connection.handshake_kind(),
            peer_certificates: certificates.len(),
            leaf: certificates.first().cloned(),
            result: end.error.map_or(Ok(()), Err),
            sent: end.sent,
        }
    }
}

/// How a handshake went.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) client: End,
    pub(crate) server: End,
}

impl Outcome {
    /// Asserts that both sides finished with `group`, by a handshake of this kind.
    #[track_caller]
    pub(crate) fn assert_success(&self, group: Group, kind: HandshakeKind) {
        for end in [&self.client, &self.server] {
            assert_eq!(end.result, Ok(()));
            assert_eq!(end.group, Some(group));
            assert_eq!(end.kind, Some(kind));
        }
    }
}

/// Connects to `localhost`, exchanges a message each way and all records after the handshake, and
/// reports.
pub(crate) fn connect(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Outcome {
    connect_to("localhost", client, server)
}

/// [`connect`], to a server of another name.
pub(crate) fn connect_to(
    name: &'static str,
    client: &Arc<ClientConfig>,
    server: &Arc<ServerConfig>,
) -> Outcome {
    let name = ServerName::try_from(name).unwrap();
    let handshakes::Outcome {
        mut client,
        mut server,
    } = handshakes::connect(
        ClientConnection::new(Arc::clone(client), name).unwrap(),
        ServerConnection::new(Arc::clone(server)).unwrap(),
    );

    if client.error.is_none() && server.error.is_none() {
        client.say(b"ping");
        server.say(b"pong");
        exchange(&mut client, &mut server);
        assert_eq!(server.heard(), b"ping");
        assert_eq!(client.heard(), b"pong");
    }

    Outcome {
        client: client.into(),
        server: server.into(),
    }
}

/// What rustls reads in the ClientHello in `hello`.
pub(crate) fn accept(mut hello: &[u8]) -> Accepted {
    let mut acceptor = Acceptor::default();
    loop {
        let read = acceptor.read_tls(&mut hello).unwrap();
        assert_ne!(read, 0, "the ClientHello isn't whole");
        if let Some(accepted) = acceptor.accept().map_err(|(error, _)| error).unwrap() {
            return accepted;
        }
    }
}

//! Chains that claim any algorithms, and what follows from these alone: a key's name, the chain that a client
//! gets, the strongest chain, the signatures that a provider with certain roots asks for, and the certificates that may
//! be used. Each answer is compared with what RFC 9846 and the registry of schemes say of the same algorithms.
#![no_main]

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use fuzz::der::{self, Contents, Element};
use fuzz::identities::{SERVER_KEYS, ServerKey};
use fuzz::one_of;
use fuzz::pki::{PKI, SERVER_NAME};
use fuzz::tls::{self, PROVIDER};
use libfuzzer_sys::fuzz_target;
use pq_x509::keys::SignatureAlgorithm;
use pq_x509::x509_cert::der::Encode;
use rustls::client::ResolvesClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, Der, ServerName, TrustAnchor, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, CipherSuite, ClientConfig, DigitallySignedStruct, DistinguishedName, Error,
    ProtocolVersion, RootCertStore, SignatureScheme,
};
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::verify::EnforceKeyUsage;
use rustls_pq::{
    Authentication, Builder, KeyAlgorithm, ObjectIdentifier, Offer, Refusal, TrustAnchorId,
};

fuzz_target!(|input: Input<'_>| match input {
    Input::Keys(keys) => check_keys(&keys),
    Input::Names(signatures) => check_names(&signatures),
    Input::Choice(choice) => choice.check(),
    Input::Roots(roots) => check_roots(&roots),
    Input::Usages(usages) => usages.check(),
    Input::TrustAnchor(id) => id.check(),
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Keys([Key; 4]),
    Names([Signature; 4]),
    Choice(AChoice),
    Roots(Vec<Root>),
    Usages(Usages),
    TrustAnchor(AnId<'a>),
}

/// The key that a certificate claims to have.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Key {
    PostQuantum(u8),
    HashSlhDsa(u8),
    Curve(u8),
    Rsa {
        bits: u16,
        pss: bool,
    },
    /// The algorithm of RSA keys, with something else instead of the key.
    NoRsa {
        pss: bool,
    },
    Ed25519,
    Ed448,
    /// NULL instead of the curve.
    NoCurve,
    Other(u8),
}

/// The algorithm that a certificate claims to be signed with.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Signature {
    PostQuantum(u8),
    HashSlhDsa(u8),
    Ecdsa(u8),
    RsaPkcs1(u8),
    RsaPss(Pss),
    Ed25519,
    Ed448,
    Other(u8),
}

/// The parameters of RSASSA-PSS.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Pss {
    Hash(u8),
    /// Without a hash, which means SHA-1: all fields are left out, or all but the mask and the salt.
    Default {
        with_mask: bool,
    },
    Missing,
    OtherHash,
    /// A number instead of the hash.
    Nonsense,
}

const EC_PUBLIC_KEY: &[u8] = b"\x2a\x86\x48\xce\x3d\x02\x01";
const RSA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
const RSA_PSS: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a";
const ED25519: &[u8] = b"\x2b\x65\x70";
const ED448: &[u8] = b"\x2b\x65\x71";
const CURVES: [&[u8]; 4] = [
    b"\x2a\x86\x48\xce\x3d\x03\x01\x07",
    b"\x2b\x81\x04\x00\x22",
    b"\x2b\x81\x04\x00\x23",
    b"\x2b\x81\x04\x00\x0a",
];
/// ECDSA with SHA-1, SHA-256, SHA-384 and SHA-512. All tables by hash have this order.
const ECDSA: [&[u8]; 4] = [
    b"\x2a\x86\x48\xce\x3d\x04\x01",
    b"\x2a\x86\x48\xce\x3d\x04\x03\x02",
    b"\x2a\x86\x48\xce\x3d\x04\x03\x03",
    b"\x2a\x86\x48\xce\x3d\x04\x03\x04",
];
const RSA_PKCS1: [u8; 4] = [0x05, 0x0b, 0x0c, 0x0d];
const HASHES: [&[u8]; 4] = [
    b"\x2b\x0e\x03\x02\x1a",
    b"\x60\x86\x48\x01\x65\x03\x04\x02\x01",
    b"\x60\x86\x48\x01\x65\x03\x04\x02\x02",
    b"\x60\x86\x48\x01\x65\x03\x04\x02\x03",
];
/// SHA-224, DSA, HashML-DSA-44 and ML-KEM-768, none of which signs anything in TLS.
const OTHERS: [&[u8]; 4] = [
    b"\x60\x86\x48\x01\x65\x03\x04\x02\x04",
    b"\x2a\x86\x48\xce\x38\x04\x01",
    b"\x60\x86\x48\x01\x65\x03\x04\x03\x20",
    b"\x60\x86\x48\x01\x65\x03\x04\x04\x02",
];
const BITS: [usize; 8] = [512, 1024, 2047, 2048, 3072, 4096, 7680, 15_360];

fn element(tag: u8, bytes: impl Into<Vec<u8>>) -> Element {
    Element {
        tag,
        contents: Contents::Bytes(bytes.into()),
    }
}

fn sequence(elements: Vec<Element>) -> Element {
    Element {
        tag: 0x30,
        contents: Contents::Elements(Vec::new(), elements),
    }
}

fn oid(bytes: &[u8]) -> Element {
    element(0x06, bytes)
}

fn encode(element: &Element) -> Vec<u8> {
    let mut bytes = Vec::new();
    der::encode(std::slice::from_ref(element), &mut bytes);
    bytes
}

/// An algorithm of SLH-DSA, and the OID of the HashSLH-DSA algorithm for it: the last arc is higher by 15 (RFC 9909).
fn hash_slh_dsa(index: u8) -> (SignatureAlgorithm, Vec<u8>) {
    let algorithm = one_of(SignatureAlgorithm::SLH_DSA, index);
    let mut oid = algorithm.oid().as_bytes().to_vec();
    *oid.last_mut().expect("an arc") += 15;
    (algorithm, oid)
}

impl Key {
    fn identifier(self) -> Element {
        let null = || element(0x05, []);
        sequence(match self {
            Self::PostQuantum(index) => {
                vec![oid(one_of(SignatureAlgorithm::ALL, index).oid().as_bytes())]
            }
            Self::HashSlhDsa(index) => vec![oid(&hash_slh_dsa(index).1)],
            Self::Curve(index) => vec![oid(EC_PUBLIC_KEY), oid(one_of(&CURVES, index))],
            Self::Rsa { pss: false, .. } | Self::NoRsa { pss: false } => vec![oid(RSA), null()],
            Self::Rsa { pss: true, .. } | Self::NoRsa { pss: true } => vec![oid(RSA_PSS)],
            Self::Ed25519 => vec![oid(ED25519)],
            Self::Ed448 => vec![oid(ED448)],
            Self::NoCurve => vec![oid(EC_PUBLIC_KEY), null()],
            Self::Other(index) => vec![oid(one_of(&OTHERS, index))],
        })
    }

    fn bits(bits: u16) -> usize {
        match bits {
            // The usual sizes are more frequent than all others.
            0..0x8000 => BITS[usize::from(bits) % BITS.len()],
            _ => usize::from(bits % 0x4000) + 8,
        }
    }

    fn spki(self) -> Element {
        let key = match self {
            Self::Rsa { bits, .. } => {
                let bits = Self::bits(bits);
                let mut modulus = vec![0xff; bits.div_ceil(8)];
                modulus[0] = 0xff >> (modulus.len() * 8 - bits);
                if bits % 8 == 0 {
                    modulus.insert(0, 0);
                }
                encode(&sequence(vec![
                    element(0x02, modulus),
                    element(0x02, [1, 0, 1]),
                ]))
            }
            _ => vec![4; 32],
        };
        let key = element(0x03, [&[0], &*key].concat());
        sequence(vec![self.identifier(), key])
    }

    fn algorithm(self) -> KeyAlgorithm {
        let other = |bytes| KeyAlgorithm::Other(ObjectIdentifier::from_bytes(bytes).expect("one"));
        match self {
            Self::PostQuantum(index) => {
                KeyAlgorithm::PostQuantum(one_of(SignatureAlgorithm::ALL, index))
            }
            Self::HashSlhDsa(index) => KeyAlgorithm::HashSlhDsa(hash_slh_dsa(index).0),
            Self::Curve(index) => match index % 4 {
                0 => KeyAlgorithm::EcdsaP256,
                1 => KeyAlgorithm::EcdsaP384,
                2 => KeyAlgorithm::EcdsaP521,
                _ => other(CURVES[3]),
            },
            Self::Rsa { bits, .. } => KeyAlgorithm::Rsa {
                bits: Self::bits(bits),
            },
            Self::NoRsa { pss: false } => other(RSA),
            Self::NoRsa { pss: true } => other(RSA_PSS),
            Self::Ed25519 => KeyAlgorithm::Ed25519,
            Self::Ed448 => KeyAlgorithm::Ed448,
            Self::NoCurve => other(EC_PUBLIC_KEY),
            Self::Other(index) => other(one_of(&OTHERS, index)),
        }
    }
}

/// Whether it is post-quantum, and the category or the bits of its security.
type Strength = (bool, u16);

fn strength(key: KeyAlgorithm) -> Strength {
    match key {
        KeyAlgorithm::PostQuantum(algorithm) | KeyAlgorithm::HashSlhDsa(algorithm) => {
            (true, algorithm.security_category().into())
        }
        KeyAlgorithm::EcdsaP256 | KeyAlgorithm::Ed25519 => (false, 128),
        KeyAlgorithm::EcdsaP384 => (false, 192),
        KeyAlgorithm::EcdsaP521 => (false, 256),
        KeyAlgorithm::Ed448 => (false, 224),
        KeyAlgorithm::Rsa { bits } => {
            let levels = [(15_360, 256), (7680, 192), (3072, 128), (2048, 112)];
            let level = levels.into_iter().find(|(least, _)| bits >= *least);
            (false, level.map_or(80, |(_, level)| level))
        }
        _ => (false, 0),
    }
}

impl Signature {
    fn identifier(self) -> Element {
        let null = || element(0x05, []);
        sequence(match self {
            Self::PostQuantum(index) => {
                vec![oid(one_of(SignatureAlgorithm::ALL, index).oid().as_bytes())]
            }
            Self::HashSlhDsa(index) => vec![oid(&hash_slh_dsa(index).1)],
            Self::Ecdsa(index) => vec![oid(one_of(&ECDSA, index))],
            Self::RsaPkcs1(index) => {
                let prefix = &RSA[..RSA.len() - 1];
                vec![
                    oid(&[prefix, &[one_of(&RSA_PKCS1, index)]].concat()),
                    null(),
                ]
            }
            Self::RsaPss(pss) => pss.identifier(),
            Self::Ed25519 => vec![oid(ED25519)],
            Self::Ed448 => vec![oid(ED448)],
            Self::Other(index) => vec![oid(one_of(&OTHERS, index))],
        })
    }

    /// The schemes that permit it: in `signature_algorithms_cert`, or if that is absent, in `signature_algorithms`.
    fn schemes(self) -> Vec<u16> {
        let of_hash = |index: u8, schemes: [u16; 4]| vec![one_of(&schemes, index)];
        match self {
            Self::PostQuantum(index) => {
                let algorithm = one_of(SignatureAlgorithm::ALL, index);
                let mut slh_dsa = SignatureAlgorithm::SLH_DSA.iter();
                vec![match slh_dsa.position(|it| *it == algorithm) {
                    Some(index) => 0x0911 + index as u16,
                    None => match algorithm {
                        SignatureAlgorithm::MlDsa44 => 0x0904,
                        SignatureAlgorithm::MlDsa65 => 0x0905,
                        _ => 0x0906,
                    },
                }]
            }
            Self::Ecdsa(index) => of_hash(index, [0x0203, 0x0403, 0x0503, 0x0603]),
            Self::RsaPkcs1(index) => of_hash(index, [0x0201, 0x0401, 0x0501, 0x0601]),
            Self::RsaPss(Pss::Hash(index)) => match index % 4 {
                0 => Vec::new(),
                hash => vec![0x0803 + u16::from(hash), 0x0808 + u16::from(hash)],
            },
            Self::Ed25519 => vec![0x0807],
            Self::Ed448 => vec![0x0808],
            Self::HashSlhDsa(_) | Self::RsaPss(_) | Self::Other(_) => Vec::new(),
        }
    }

    fn is_post_quantum(self) -> bool {
        matches!(self, Self::PostQuantum(_) | Self::HashSlhDsa(_))
    }

    fn is_slh_dsa(self) -> bool {
        match self {
            Self::PostQuantum(index) => {
                SignatureAlgorithm::SLH_DSA.contains(&one_of(SignatureAlgorithm::ALL, index))
            }
            Self::HashSlhDsa(_) => true,
            _ => false,
        }
    }

    fn strength(self) -> Strength {
        let of_hash = |index: u8| (false, one_of(&[63, 128, 192, 256], index));
        match self {
            Self::PostQuantum(index) => {
                let algorithm = one_of(SignatureAlgorithm::ALL, index);
                (true, algorithm.security_category().into())
            }
            Self::HashSlhDsa(index) => (true, hash_slh_dsa(index).0.security_category().into()),
            Self::Ecdsa(index) | Self::RsaPkcs1(index) => of_hash(index),
            Self::RsaPss(Pss::Hash(index)) => match index % 4 {
                // SHA-1 is not recognized if it is explicit.
                0 => (false, 0),
                _ => of_hash(index),
            },
            Self::RsaPss(Pss::Default { .. }) => of_hash(0),
            Self::Ed25519 => (false, 128),
            Self::Ed448 => (false, 224),
            Self::RsaPss(_) | Self::Other(_) => (false, 0),
        }
    }

    /// The name in messages.
    fn name(self) -> String {
        match self {
            Self::PostQuantum(index) => one_of(SignatureAlgorithm::ALL, index).to_string(),
            Self::HashSlhDsa(index) => format!("Hash{}", hash_slh_dsa(index).0),
            Self::Ecdsa(index) => format!("ECDSA with {}", one_of(&NAMES, index)),
            Self::RsaPkcs1(index) => format!("RSA PKCS#1 v1.5 with {}", one_of(&NAMES, index)),
            Self::RsaPss(Pss::Hash(index)) if index % 4 != 0 => {
                format!("RSA-PSS with {}", one_of(&NAMES, index))
            }
            Self::RsaPss(Pss::Default { .. }) => format!("RSA-PSS with {}", NAMES[0]),
            Self::RsaPss(_) => "1.2.840.113549.1.1.10".into(),
            Self::Ed25519 => "Ed25519".into(),
            Self::Ed448 => "Ed448".into(),
            Self::Other(index) => {
                let oid = ObjectIdentifier::from_bytes(one_of(&OTHERS, index)).expect("one");
                oid.to_string()
            }
        }
    }
}

const NAMES: [&str; 4] = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];

impl Pss {
    fn identifier(self) -> Vec<Element> {
        let tagged = |tag: u8, inner: Element| Element {
            tag,
            contents: Contents::Elements(Vec::new(), vec![inner]),
        };
        let hash = |bytes: &[u8]| sequence(vec![oid(bytes), element(0x05, [])]);
        let mask = |bytes: &[u8]| {
            let mgf1 = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08";
            tagged(0xa1, sequence(vec![oid(mgf1), hash(bytes)]))
        };
        let salt = |len: u8| tagged(0xa2, element(0x02, [len]));
        let parameters = match self {
            Self::Hash(index) => {
                let bytes = one_of(&HASHES, index);
                vec![tagged(0xa0, hash(bytes)), mask(bytes), salt(32)]
            }
            Self::Default { with_mask: true } => vec![mask(HASHES[0]), salt(20)],
            Self::Default { with_mask: false } => Vec::new(),
            Self::OtherHash => vec![tagged(0xa0, hash(OTHERS[0]))],
            Self::Nonsense => vec![tagged(0xa0, element(0x02, [1]))],
            Self::Missing => return vec![oid(RSA_PSS)],
        };
        vec![oid(RSA_PSS), sequence(parameters)]
    }
}

/// Checks that each key is recognized, and that different keys have different names.
fn check_keys(keys: &[Key]) {
    let read = keys.iter().map(|key| {
        let spki = encode(&key.spki());
        let read = KeyAlgorithm::of_spki_der(&spki).expect("a key's form");
        assert_eq!(read, key.algorithm());
        assert_eq!(read.is_post_quantum(), strength(read).0);
        assert!(KeyAlgorithm::of_spki_der(&spki[1..]).is_err());
        read
    });
    let read = read.collect::<Vec<_>>();
    for one in &read {
        for other in &read {
            assert_eq!(one == other, one.to_string() == other.to_string());
        }
    }
}

static CLIENT: LazyLock<ClientConfig> =
    LazyLock::new(|| tls::client_config(PROVIDER.clone(), false));

/// Checks that a refusal names the algorithm that isn't accepted.
fn check_names(signatures: &[Signature]) {
    for signature in signatures {
        let identifier = encode(&signature.identifier());
        let header = if identifier[1] < 0x80 { 2 } else { 3 };
        let error = CertificateError::UnsupportedSignatureAlgorithmContext {
            signature_algorithm_id: identifier[header..].to_vec(),
            supported_algorithms: Vec::new(),
        };
        let refusal = Refusal::by_client(&Error::from(error), &CLIENT).to_string();
        let said = format!("is signed with {}, which isn't accepted", signature.name());
        assert!(refusal.contains(&said), "{refusal}, and not {said}");
    }
}

/// A server's or a client's chains, and what the peer accepts.
#[derive(Arbitrary, Debug)]
struct AChoice {
    chains: [Chain; 3],
    strongest_first: bool,
    version: Version,
    suites: Suites,
    schemes: Schemes,
    cert_schemes: Option<Schemes>,
    /// The issuers that a server names when it asks a client for a certificate.
    hint: Hint,
}

/// What is known about the versions that a client speaks.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Version {
    Tls12,
    Tls13,
    Unknown,
}

/// Which cipher suites a client offers: those of TLS 1.2 are for keys of one kind.
#[derive(Arbitrary, Debug)]
struct Suites {
    ecdsa: bool,
    rsa: bool,
    tls13: bool,
}

impl Suites {
    fn offered(&self) -> Vec<CipherSuite> {
        let suites = [
            (
                self.ecdsa,
                CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            ),
            (self.rsa, CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
            (self.tls13, CipherSuite::TLS13_AES_128_GCM_SHA256),
        ];
        let offered = suites.into_iter().filter(|(is_offered, _)| *is_offered);
        offered.map(|(_, suite)| suite).collect()
    }

    /// Whether a server can sign with such a key in TLS 1.2. Ed25519 counts as ECDSA there (RFC 8422).
    fn suit(&self, key: KeyAlgorithm) -> bool {
        match key {
            KeyAlgorithm::EcdsaP256 | KeyAlgorithm::EcdsaP384 | KeyAlgorithm::Ed25519 => self.ecdsa,
            KeyAlgorithm::Rsa { .. } => self.rsa,
            _ => false,
        }
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Hint {
    Nobody,
    /// The CA that issued every leaf.
    Ca,
    /// The root that issued all CAs.
    Root,
    Other,
}

/// The server's certificate, and the CA certificates that are sent with it.
#[derive(Arbitrary, Debug)]
struct Chain {
    leaf: u8,
    signature: Signature,
    cas: Vec<Ca>,
    is_trusted: bool,
}

#[derive(Arbitrary, Debug)]
struct Ca {
    is_self_issued: bool,
    key: Key,
    signature: Option<Signature>,
}

/// The schemes in an offer.
#[derive(Arbitrary, Debug)]
struct Schemes {
    /// For each chain, whether the offer has every scheme that the chain needs.
    of_chains: [bool; 3],
    known: u64,
    others: Vec<u16>,
}

const SCHEMES: [u16; 33] = [
    0x0904, 0x0905, 0x0906, 0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0x0807, 0x0808, 0x0809,
    0x080a, 0x080b, 0x0401, 0x0501, 0x0601, 0x0201, 0x0203, 0x0911, 0x0912, 0x0913, 0x0914, 0x0915,
    0x0916, 0x0917, 0x0918, 0x0919, 0x091a, 0x091b, 0x091c, 0x0a0a, 0x0202,
];

impl Schemes {
    fn of(&self, chains: &[Chain]) -> Vec<SignatureScheme> {
        let known = SCHEMES.iter().enumerate();
        let known = known.filter(|(index, _)| self.known >> index & 1 == 1);
        let of_chains = chains.iter().zip(self.of_chains);
        let of_chains = of_chains.filter(|(_, with)| *with).flat_map(|(chain, _)| {
            let signatures = chain.relied_on().into_iter().flat_map(Signature::schemes);
            chain.leaf().schemes.iter().copied().chain(signatures)
        });
        let known = known.map(|(_, scheme)| *scheme).chain(of_chains);
        let all = known.chain(self.others.iter().copied());
        all.map(SignatureScheme::from).collect()
    }
}

/// The certificate with other algorithms, and its old signature, which is now wrong.
fn claiming(
    certificate: &[u8],
    spki: Option<Element>,
    signature: Option<Signature>,
) -> CertificateDer<'static> {
    let mut document = der::parse(certificate).expect("DER");
    let [tbs, algorithm, _] = &mut **der::parts(&mut document) else {
        unreachable!("what is signed, with what and the signature");
    };
    let Contents::Elements(_, fields) = &mut tbs.contents else {
        unreachable!("a SEQUENCE");
    };
    if let Some(signature) = signature {
        *algorithm = signature.identifier();
        fields[2] = signature.identifier();
    }
    if let Some(spki) = spki {
        fields[6] = spki;
    }
    let mut bytes = Vec::new();
    der::encode(&document, &mut bytes);
    bytes.into()
}

impl Ca {
    /// The given algorithm, or one that its own key can use.
    fn signature(&self) -> Signature {
        self.signature.unwrap_or(match self.key {
            Key::PostQuantum(index) => Signature::PostQuantum(index),
            Key::HashSlhDsa(index) => Signature::HashSlhDsa(index),
            Key::Curve(index) => Signature::Ecdsa(index % 3 + 1),
            Key::Rsa { pss: true, .. } | Key::NoRsa { pss: true } => {
                Signature::RsaPss(Pss::Hash(1))
            }
            Key::Rsa { .. } | Key::NoRsa { .. } => Signature::RsaPkcs1(1),
            Key::Ed25519 => Signature::Ed25519,
            Key::Ed448 => Signature::Ed448,
            Key::NoCurve => Signature::Ecdsa(1),
            Key::Other(index) => Signature::Other(index),
        })
    }

    fn certificate(&self) -> CertificateDer<'static> {
        let template = match self.is_self_issued {
            true => PKI.root.certificate(),
            false => PKI.ca.certificate(),
        };
        claiming(
            template.der(),
            Some(self.key.spki()),
            Some(self.signature()),
        )
    }

    /// Whether it looks self-signed by its names and by the kinds of its key and its signature.
    fn looks_self_signed(&self) -> bool {
        let oid_of = |identifier: Element| match identifier.contents {
            Contents::Elements(_, elements) => encode(&elements[0]),
            Contents::Bytes(_) => unreachable!("a SEQUENCE"),
        };
        let signature = self.signature();
        let key = oid_of(self.key.identifier());
        let of_kind = match signature {
            Signature::Ecdsa(_) => key == encode(&oid(EC_PUBLIC_KEY)),
            Signature::RsaPkcs1(_) => key == encode(&oid(RSA)),
            Signature::RsaPss(_) if !signature.name().starts_with("1.") => {
                key == encode(&oid(RSA)) || key == encode(&oid(RSA_PSS))
            }
            _ => key == oid_of(signature.identifier()),
        };
        self.is_self_issued && of_kind
    }
}

impl Chain {
    fn leaf(&self) -> &'static ServerKey {
        &SERVER_KEYS[usize::from(self.leaf) % SERVER_KEYS.len()]
    }

    fn cas(&self) -> &[Ca] {
        &self.cas[..self.cas.len().min(3)]
    }

    fn relied_on(&self) -> Vec<Signature> {
        let cas = self.cas().iter().filter(|ca| !ca.looks_self_signed());
        [self.signature]
            .into_iter()
            .chain(cas.map(Ca::signature))
            .collect()
    }

    fn strength(&self) -> Strength {
        let keys = self.cas().iter().map(|ca| ca.key.algorithm());
        let keys = keys.chain([self.leaf().algorithm]).map(strength);
        let signatures = self.relied_on().into_iter().map(Signature::strength);
        keys.chain(signatures).min().expect("a leaf")
    }

    fn identity(&self) -> Arc<Identity> {
        let leaf = self.leaf();
        let certificate = claiming(&leaf.certificate, None, Some(self.signature));
        let chain = [certificate]
            .into_iter()
            .chain(self.cas().iter().map(Ca::certificate));
        let chain = chain.collect::<Vec<_>>();
        let authentication = Authentication::of(&chain).expect("certificates");
        assert_eq!(authentication.key, leaf.algorithm);
        let is_post_quantum = leaf.algorithm.is_post_quantum()
            && self.relied_on().into_iter().all(Signature::is_post_quantum);
        assert_eq!(authentication.is_post_quantum, is_post_quantum);
        let mixed = leaf.algorithm.is_post_quantum() && !is_post_quantum;
        let text = authentication.to_string();
        assert_eq!(text.contains("a classical signature in its chain"), mixed);

        let identity = leaf.identity(chain);
        assert_eq!(identity.key_algorithm(), leaf.algorithm);
        assert!(format!("{identity:?}").contains(&leaf.algorithm.to_string()));
        let anchors = self.is_trusted.then_some(*ANCHOR);
        identity.with_trust_anchors(anchors).into()
    }
}

static ANCHOR: LazyLock<TrustAnchorId> = LazyLock::new(|| "32473.1".parse().expect("an ID"));

impl AChoice {
    fn check(&self) {
        let identities = self.chains.iter().map(Chain::identity).collect::<Vec<_>>();
        let mut set = IdentitySet::new();
        for identity in &identities {
            set = set.with_default(Arc::clone(identity));
        }
        if self.strongest_first {
            set = set.strongest_first();
        }
        let index_of = |identity: &Arc<Identity>| {
            let mut all = identities.iter();
            all.position(|it| Arc::ptr_eq(it, identity))
                .expect("one of the set")
        };
        let order = set.identities().map(index_of).collect::<Vec<_>>();
        let mut expected = [0, 1, 2];
        if self.strongest_first {
            let weight = |index: usize| {
                let signature = self.chains[index].leaf().algorithm;
                identities[index].size() + signature_len(signature)
            };
            expected.sort_by_key(|index| {
                let strength = self.chains[*index].strength();
                (core::cmp::Reverse(strength), weight(*index), *index)
            });
        }
        assert_eq!(order, expected);

        let mut offer = Offer::default();
        offer.server_name = Some(SERVER_NAME.into());
        offer.signature_schemes = self.schemes.of(&self.chains);
        offer.certificate_schemes = self.cert_schemes.as_ref().map(|it| it.of(&self.chains));
        offer.trust_anchors = BTreeSet::from([*ANCHOR]);
        offer.cipher_suites = self.suites.offered();
        offer.versions = match self.version {
            Version::Tls12 => Some(vec![ProtocolVersion::TLSv1_2]),
            Version::Tls13 => Some(vec![ProtocolVersion::TLSv1_3]),
            Version::Unknown => None,
        };
        let all = Identities::new(set);
        self.check_client(&all, &identities, &order, &offer.signature_schemes);
        let choice = all.choose_offered(&offer).expect("a default");
        if let Some(scheme) = choice.scheme {
            assert!(offer.signature_schemes.contains(&scheme));
        }
        let chosen = index_of(&choice.identity);
        assert_eq!(choice.authentication().is_some(), choice.scheme.is_some());
        let (expected, signs) = self.expected(&offer, &order);
        assert_eq!(chosen, expected, "of {order:?}");
        assert_eq!(choice.scheme.is_some(), signs);
    }

    /// Checks the chain that a client sends to a server that accepts these schemes.
    fn check_client(
        &self,
        all: &Identities,
        identities: &[Arc<Identity>],
        order: &[usize],
        schemes: &[SignatureScheme],
    ) {
        let name = match self.hint {
            Hint::Nobody => None,
            Hint::Ca => Some(PKI.ca.certificate().subject().to_der().expect("a name")),
            Hint::Root => Some(PKI.root.certificate().subject().to_der().expect("a name")),
            Hint::Other => Some(b"\x30\x00".to_vec()),
        };
        let hints = name.as_deref().into_iter().collect::<Vec<_>>();
        let shown = ResolvesClientCert::resolve(all, &hints, schemes);
        assert!(all.has_certs());

        let is_trusted = |chain: &Chain| match self.hint {
            Hint::Ca => true,
            Hint::Root => !chain.cas().is_empty(),
            Hint::Nobody | Hint::Other => false,
        };
        let accepted = Accepted {
            in_handshakes: code_points(schemes),
            in_certificates: code_points(schemes),
            with_pkcs1: true,
        };
        let expected = self.first(
            order,
            &[
                &|chain| is_trusted(chain) && accepted.verify(chain),
                &|chain| is_trusted(chain) && accepted.sign(chain),
                &|chain| accepted.verify(chain),
                &|chain| accepted.sign(chain),
            ],
        );
        let expected = expected.map(|index| identities[index].certified_key());
        assert_eq!(shown.is_some(), expected.is_some());
        if let (Some(shown), Some(expected)) = (shown, expected) {
            assert!(Arc::ptr_eq(&shown, &expected));
        }
    }

    /// The index of the chain that a client gets, and whether it accepts a signature by the chain's key.
    fn expected(&self, offer: &Offer, order: &[usize]) -> (usize, bool) {
        let version = match self.version {
            Version::Unknown if !self.suites.tls13 => Version::Tls12,
            version => version,
        };
        let schemes = &offer.signature_schemes;
        let cert_schemes = offer.certificate_schemes.as_ref();
        let accepted = Accepted {
            in_handshakes: code_points(schemes),
            in_certificates: code_points(cert_schemes.unwrap_or(schemes)),
            with_pkcs1: matches!(version, Version::Tls12),
        };
        let sign = |chain: &Chain| accepted.sign(chain);
        let verify = |chain: &Chain| accepted.verify(chain);
        let trust = |chain: &Chain| chain.is_trusted && verify(chain);
        // A client that doesn't list what it accepts in certificates may accept SLH-DSA there.
        let may_trust = |chain: &Chain| {
            chain.is_trusted && cert_schemes.is_none() && accepted.verify_but_for_slh_dsa(chain)
        };
        let suits = |index: &usize| self.suites.suit(self.chains[*index].leaf().algorithm);
        let suitable = order.iter().copied().filter(suits).collect::<Vec<_>>();
        let chosen = match version {
            Version::Tls12 => self.first(&suitable, &[&verify, &sign]),
            Version::Tls13 => self.first(order, &[&trust, &may_trust, &verify, &sign]),
            // Chains for TLS 1.2 come first, unless the client trusts only other chains.
            Version::Unknown => self
                .first(&suitable, &[&trust, &may_trust])
                .or_else(|| self.first(order, &[&trust, &may_trust]))
                .or_else(|| self.first(&suitable, &[&verify]))
                .or_else(|| self.first(order, &[&verify, &sign])),
        };
        let refused = match version {
            Version::Tls12 => suitable.first().unwrap_or(&order[0]),
            Version::Tls13 | Version::Unknown => &order[0],
        };
        (chosen.unwrap_or(*refused), chosen.is_some())
    }

    /// The first chain in this order that meets the first demand, or else the second one, and so on.
    fn first(&self, order: &[usize], demands: &[&dyn Fn(&Chain) -> bool]) -> Option<usize> {
        demands.iter().find_map(|is_met| {
            let mut order = order.iter().copied();
            order.find(|index| is_met(&self.chains[*index]))
        })
    }
}

fn code_points(schemes: &[SignatureScheme]) -> Vec<u16> {
    schemes.iter().copied().map(u16::from).collect()
}

/// The schemes that a peer accepts.
struct Accepted {
    in_handshakes: Vec<u16>,
    in_certificates: Vec<u16>,
    /// RSA keys may sign handshakes with PKCS#1 v1.5, too, as in TLS 1.2.
    with_pkcs1: bool,
}

impl Accepted {
    fn sign(&self, chain: &Chain) -> bool {
        let leaf = chain.leaf();
        let pkcs1 = match leaf.algorithm {
            KeyAlgorithm::Rsa { .. } if self.with_pkcs1 => &[0x0401, 0x0501, 0x0601][..],
            _ => &[],
        };
        let mut own = leaf.schemes.iter().chain(pkcs1);
        own.any(|scheme| self.in_handshakes.contains(scheme))
    }

    fn verify(&self, chain: &Chain) -> bool {
        self.sign(chain) && chain.relied_on().into_iter().all(|it| self.cover(it))
    }

    fn verify_but_for_slh_dsa(&self, chain: &Chain) -> bool {
        let mut relied_on = chain.relied_on().into_iter();
        self.sign(chain) && relied_on.all(|it| self.cover(it) || it.is_slh_dsa())
    }

    fn cover(&self, signature: Signature) -> bool {
        let mut schemes = signature.schemes().into_iter();
        schemes.any(|scheme| self.in_certificates.contains(&scheme))
    }
}

fn signature_len(key: KeyAlgorithm) -> usize {
    match key {
        KeyAlgorithm::PostQuantum(algorithm) => algorithm.signature_len(),
        // The longest signature in DER.
        KeyAlgorithm::EcdsaP256 => 72,
        KeyAlgorithm::EcdsaP384 => 104,
        KeyAlgorithm::Ed25519 => 64,
        KeyAlgorithm::Rsa { bits } => bits / 8,
        other => unreachable!("{other} signs nothing here"),
    }
}

/// A root that is trusted.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Root {
    Key(Key),
    /// A key whose end is missing, so that it can't be read.
    Cut(Key, u16),
}

impl Root {
    fn key(self) -> Key {
        let (Self::Key(key) | Self::Cut(key, _)) = self;
        key
    }

    fn trust_anchor(self) -> TrustAnchor<'static> {
        let Contents::Elements(_, fields) = self.key().spki().contents else {
            unreachable!("a SEQUENCE");
        };
        // A trust anchor has the contents of that SEQUENCE, without its header.
        let mut spki = Vec::new();
        der::encode(&fields, &mut spki);
        if let Self::Cut(_, len) = self {
            spki.truncate(usize::from(len) % spki.len());
        }
        TrustAnchor {
            subject: Der::from(&b"\x31\x00"[..]),
            subject_public_key_info: spki.into(),
            name_constraints: None,
        }
    }

    /// Whether this root makes the provider ask for post-quantum and for classical signatures.
    fn kinds(self) -> [bool; 2] {
        match self {
            // A key that can't be read rules nothing out.
            Self::Cut(..) => [true, true],
            Self::Key(key) => match key {
                Key::PostQuantum(_) | Key::HashSlhDsa(_) => [true, false],
                // P-256 and P-384.
                Key::Curve(index) => [false, index % 4 < 2],
                Key::Ed25519 | Key::Rsa { pss: false, .. } => [false, true],
                // The algorithm is one that can be verified, but the key is of no known kind.
                Key::NoRsa { pss: false } => [true, true],
                _ => [false, false],
            },
        }
    }
}

/// Checks that a provider asks for the kinds of signatures that its roots need.
fn check_roots(roots: &[Root]) {
    let roots = &roots[..roots.len().min(4)];
    let mut store = RootCertStore::empty();
    store.roots = roots.iter().map(|root| root.trust_anchor()).collect();
    let kinds = roots.iter().map(|root| root.kinds());
    let expected = kinds.fold([false; 2], |[a, b], [c, d]| [a || c, b || d]);

    let builder = Builder::with_default_base().expect("a CPU that graviola supports");
    let error = match builder.roots(&store).build() {
        Ok(provider) => {
            let schemes = provider.signature_verification_algorithms;
            let is_post_quantum = |scheme| (0x0904..0x0907).contains(&u16::from(scheme));
            let schemes = schemes.supported_schemes().into_iter();
            let (post_quantum, classical) =
                schemes.partition::<Vec<_>, _>(|it| is_post_quantum(*it));
            // Classical roots sign the certificates of post-quantum keys, too.
            assert!(expected[0] || expected[1]);
            assert_eq!(
                [!post_quantum.is_empty(), !classical.is_empty()],
                [true, expected[1]]
            );
            return;
        }
        Err(error) => error,
    };
    assert_eq!(expected, [false; 2]);
    let mut keys = Vec::new();
    for key in roots.iter().map(|root| root.key().algorithm()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    match keys.is_empty() {
        true => assert_eq!(error, rustls_pq::Error::NoRoots),
        false => assert_eq!(error, rustls_pq::Error::NoSchemeForRoots { roots: keys }),
    }
}

/// Key usages of a leaf and of a CA whose certificates claim these keys.
#[derive(Arbitrary, Debug)]
struct Usages {
    leaf: u8,
    ca: u8,
    leaf_key: Key,
    ca_key: Key,
}

const DIGITAL_SIGNATURE: u8 = 0x80;
const NON_REPUDIATION: u8 = 0x40;
const KEY_CERT_SIGN: u8 = 0x04;
const CRL_SIGN: u8 = 0x02;

impl Usages {
    fn check(&self) {
        let with = |certificate: &[u8], key: Key, usage: u8| {
            let certificate = claiming(certificate, Some(key.spki()), None);
            with_usage(&certificate, usage)
        };
        let leaf = with(PKI.server.der(), self.leaf_key, self.leaf);
        let ca = with(PKI.ca.certificate().der(), self.ca_key, self.ca);
        let verifier = EnforceKeyUsage::new(Arc::new(Anything));
        let chain = std::slice::from_ref(&ca);
        let now = UnixTime::now();
        let name = ServerName::try_from(SERVER_NAME).expect("a name");
        let server = verifier.verify_server_cert(&leaf, chain, &name, &[], now);
        let server = server.map(drop);
        let client = verifier.verify_client_cert(&leaf, chain, now).map(drop);
        assert_eq!(
            ClientCertVerifier::offer_client_auth(&verifier),
            Anything.offer_client_auth()
        );
        assert_eq!(format!("{server:?}"), format!("{client:?}"));

        let signs = DIGITAL_SIGNATURE | NON_REPUDIATION | KEY_CERT_SIGN | CRL_SIGN;
        let may = |key: Key, usage: u8, needed: u8| {
            usage & needed != 0 && !(key.algorithm().is_post_quantum() && usage & !signs != 0)
        };
        let may_sign = may(self.leaf_key, self.leaf, DIGITAL_SIGNATURE);
        let may_certify = may(self.ca_key, self.ca, KEY_CERT_SIGN);
        match server {
            Ok(()) => assert!(may_sign && may_certify),
            Err(error) => {
                let refusal = Refusal::by_client(&error, &CLIENT);
                match refusal {
                    Refusal::KeyUsage { subject, error } => {
                        assert!(!may_sign || !may_certify);
                        assert!(!subject.is_empty() && !error.to_string().is_empty());
                    }
                    other => panic!("{other}"),
                }
            }
        }
    }
}

/// The certificate with another key usage. Its first bit, digitalSignature, is the highest one here.
fn with_usage(certificate: &[u8], usage: u8) -> CertificateDer<'static> {
    let key_usage = b"\x06\x03\x55\x1d\x0f\x01\x01\xff\x04\x04\x03\x02";
    let at = certificate
        .windows(key_usage.len())
        .position(|bytes| bytes == key_usage);
    let at = at.expect("a critical extension with one byte of usages") + key_usage.len();
    let mut certificate = certificate.to_vec();
    certificate[at] = usage.trailing_zeros().min(7) as u8;
    certificate[at + 1] = usage;
    certificate.into()
}

/// Accepts every certificate.
#[derive(Debug)]
struct Anything;

macro_rules! accepts_no_signature {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            unreachable!("there is no handshake")
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            unreachable!("there is no handshake")
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            Vec::new()
        }
    };
}

impl ServerCertVerifier for Anything {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    accepts_no_signature!();
}

impl ClientCertVerifier for Anything {
    fn offer_client_auth(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    accepts_no_signature!();
}

#[derive(Arbitrary, Debug)]
enum AnId<'a> {
    Numbers(Vec<Number>),
    Bytes(&'a [u8]),
    Text(&'a str),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Number {
    Small(u8),
    Shifted(u64, u8),
    Any(u64),
}

impl AnId<'_> {
    fn check(&self) {
        match self {
            Self::Numbers(numbers) => {
                let numbers = numbers.iter().map(|number| match *number {
                    Number::Small(number) => number.into(),
                    Number::Shifted(number, by) => number >> (by % 64),
                    Number::Any(number) => number,
                });
                let numbers = numbers.collect::<Vec<u64>>();
                // Each byte has seven bits.
                let len = |number: &u64| (64 - number.leading_zeros()).div_ceil(7).max(1);
                let len = numbers.iter().map(len).sum::<u32>();
                let texts = numbers.iter().map(u64::to_string).collect::<Vec<_>>();
                let text = texts.join(".");
                match text.parse::<TrustAnchorId>() {
                    Ok(id) => {
                        assert_eq!(id.to_string(), text);
                        assert_eq!(id.as_bytes().len(), len as usize);
                        check_id(id);
                    }
                    Err(error) => {
                        assert!(!error.to_string().is_empty());
                        assert!(!(1..=32).contains(&len));
                    }
                }
            }
            Self::Bytes(bytes) => match TrustAnchorId::from_bytes(bytes) {
                Ok(id) => {
                    assert_eq!(id.as_bytes(), *bytes);
                    check_id(id);
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            },
            Self::Text(text) => {
                if let Ok(id) = text.parse::<TrustAnchorId>() {
                    assert_eq!(id.to_string(), *text);
                    check_id(id);
                }
            }
        }
    }
}

/// Checks that an ID can be read again from its bytes and from its text.
fn check_id(id: TrustAnchorId) {
    assert_eq!(TrustAnchorId::from_bytes(id.as_bytes()), Ok(id));
    assert!(format!("{id:?}").contains(&id.to_string()));
    // Numbers above 64 bits are shown in hexadecimal, which can't be read again.
    match id.to_string().parse::<TrustAnchorId>() {
        Ok(read) => assert_eq!(read, id),
        Err(_) => assert!(id.to_string().starts_with("0x")),
    }
    let mut longer = id.as_bytes().to_vec();
    longer.push(0x80);
    assert!(TrustAnchorId::from_bytes(&longer).is_err());
}

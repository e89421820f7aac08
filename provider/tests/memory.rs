//! The memory of items that a server has many of agrees with the documentation. This is a separate
//! binary, since counting allocations replaces the allocator.

extern crate alloc;

use alloc::sync::Arc;
use std::time::SystemTime;

use allocation_counter::{AllocationInfo, measure};
use pq_x509::{
    CertStatus, Certificate, CertificateBuilder, IssueError, Issuer, OcspRequest, OcspResponder,
    SignatureAlgorithm, SigningKey, SubjectKey, Validity,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use rustls::server::ProducesTickets;
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::{Builder, Offer, TicketOptions, Tickets};

const MANY: usize = 100_000;

/// `Identity` says 60 kB and 4 kB.
#[test]
fn identities() {
    let tenants = Tenants::new();
    for (leaf, stated) in [(&tenants.ml_dsa, 60_000), (&tenants.p256, 4_000)] {
        let mut identities = Vec::with_capacity(20);
        let bytes = kept(|| {
            for at in 0..20 {
                identities.push(tenants.identity(at, leaf));
            }
        });
        assert_is_about(bytes / 20, stated);
    }
}

/// `IdentitySet` says 200 to 400 bytes for each name.
#[test]
fn names() {
    let tenants = Tenants::new();
    let identity = Arc::new(tenants.identity(0, &tenants.p256));
    for names in [10_000, 60_000, MANY] {
        let mut set = None;
        let bytes = kept(|| set = Some(named(&identity, names)));
        let each = bytes / names;
        println!("{names} names: {each} bytes for each");
        assert!((180..=400).contains(&each));
    }
}

/// `TicketOptions::stored_bytes` says some 200 bytes for each session beside the session itself.
#[test]
fn sessions() {
    const SESSION: [u8; Tickets::MAX_STATELESS_LEN + 1] = [7; _];

    let base = rustls::crypto::ring::default_provider();
    let options = TicketOptions::default().with_stored_bytes(usize::MAX);
    let tickets = Tickets::for_provider(&base, options).unwrap();
    let bytes = kept(|| {
        for _ in 0..MANY {
            tickets.encrypt(&SESSION).unwrap();
        }
    });
    assert_is_about(bytes / MANY - SESSION.len(), 200);
}

/// Replacing, adding or removing one of many makes a copy of the set that shares the others: a copy of
/// all names would take megabytes.
#[test]
fn changes() {
    let tenants = Tenants::new();
    let [common, old, new] = [0, 1, 1].map(|at| Arc::new(tenants.identity(at, &tenants.p256)));
    let identities = Identities::new(named(&common, MANY).with(old.clone()));
    let changes: [&dyn Fn(IdentitySet) -> IdentitySet; 3] = [
        &|set| set.with_replaced(&old, new.clone()),
        &|set| set.without(&new),
        &|set| set.with(old.clone()),
    ];
    for change in changes {
        let bytes = measure(|| identities.update(change)).bytes_total;
        println!("a change: {bytes} bytes");
        assert!(bytes < 32_000, "{bytes}");
    }
}

/// Choosing among many takes no more memory than among ten.
#[test]
fn choices() {
    let tenants = Tenants::new();
    let identity = Arc::new(tenants.identity(0, &tenants.p256));
    let [few, many] = [10, MANY].map(|names| {
        let identities = Identities::new(named(&identity, names));
        let mut offer = Offer::default();
        offer.server_name = Some(name(7));
        offer.signature_schemes = vec![
            rustls::SignatureScheme::ML_DSA_65,
            rustls::SignatureScheme::ECDSA_NISTP256_SHA256,
        ];
        offer.versions = Some(vec![rustls::ProtocolVersion::TLSv1_3]);
        offer.cipher_suites = vec![rustls::CipherSuite::TLS13_AES_128_GCM_SHA256];
        let AllocationInfo {
            count_total,
            bytes_total,
            ..
        } = measure(|| assert!(identities.choose_offered(&offer).is_some()));
        (count_total, bytes_total)
    });
    assert_eq!(few, many);
}

/// What rustls requests in each handshake is prepared, with an OCSP response or without.
#[test]
fn what_is_shown() {
    let tenants = Tenants::new();
    let identity = tenants.identity(0, &tenants.p256);
    let allocations = || measure(|| drop(identity.certified_key())).count_total;
    assert_eq!(allocations(), 0);

    let leaf = Certificate::from_der(&identity.chain()[0]).unwrap();
    let request = OcspRequest::builder().certificate(&leaf, tenants.root.certificate());
    let response = OcspResponder::ca(&tenants.root).respond(
        &request.build().unwrap(),
        SystemTime::now(),
        Validity::days(1),
        |_| Ok::<_, IssueError>(CertStatus::Good),
    );
    identity.set_ocsp_response(response.unwrap().der()).unwrap();
    assert!(identity.certified_key().ocsp.is_some());
    assert_eq!(allocations(), 0);
}

/// How many more bytes are allocated after `run`.
fn kept(run: impl FnOnce()) -> usize {
    measure(run).bytes_current.try_into().unwrap()
}

#[track_caller]
fn assert_is_about(bytes: usize, stated: usize) {
    println!("{bytes} bytes, and {stated} are stated");
    assert!(bytes.abs_diff(stated) <= stated / 5, "{bytes}");
}

fn named(identity: &Arc<Identity>, names: usize) -> IdentitySet {
    (0..names).fold(IdentitySet::new(), |set, at| {
        set.with_name(&name(at), identity.clone())
    })
}

fn name(at: usize) -> String {
    format!("tenant-{at}.example.org")
}

/// A root with ML-DSA-65, and keys for those below it.
struct Tenants {
    root: Issuer<SigningKey>,
    ml_dsa: Leaf,
    p256: Leaf,
    provider: CryptoProvider,
}

/// The key of a leaf in both halves.
struct Leaf {
    spki: Vec<u8>,
    pkcs8: PrivatePkcs8KeyDer<'static>,
}

impl Tenants {
    fn new() -> Self {
        let key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
        let base = rustls::crypto::ring::default_provider();
        let leaf = |pkcs8: &[u8]| {
            let pkcs8 = PrivatePkcs8KeyDer::from(pkcs8.to_vec());
            let provider = Builder::new(base.clone()).build().unwrap();
            let key = PrivateKeyDer::from(pkcs8.clone_key());
            let key = provider.key_provider.load_private_key(key).unwrap();
            Leaf {
                spki: key.public_key().unwrap().to_vec(),
                pkcs8,
            }
        };
        let p256 = ring::signature::EcdsaKeyPair::generate_pkcs8(
            &ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING,
            &ring::rand::SystemRandom::new(),
        );
        Self {
            root: Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap(),
            ml_dsa: leaf(&key().to_pkcs8_der().unwrap()),
            p256: leaf(p256.unwrap().as_ref()),
            provider: Builder::new(base).build().unwrap(),
        }
    }

    fn identity(&self, at: usize, key: &Leaf) -> Identity {
        let leaf = CertificateBuilder::server().dns_name(name(at));
        let leaf = self.root.issue(leaf, key).unwrap();
        let key = key.pkcs8.clone_key().into();
        Identity::new(vec![leaf.into_der()], key, &self.provider).unwrap()
    }
}

impl SubjectKey for Leaf {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

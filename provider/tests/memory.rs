//! The memory of items that a server has many of agrees with the documentation. This is a separate
//! binary, since counting allocations replaces the allocator.

extern crate alloc;

use alloc::sync::Arc;
use std::time::SystemTime;

use allocation_counter::{AllocationInfo, measure};
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey, SubjectKey};
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use rustls::server::ProducesTickets;
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::{Builder, Offer, OfferReader, TicketOptions, Tickets};

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
/// all names, or of all identities for one name, would take megabytes. Identities and names have their places in the
/// set by a hash with a random key, so thousands are changed: some lie beside the identity with all names, or beside
/// the name with many identities.
#[test]
fn changes() {
    const CHANGED: usize = 10_000;

    let tenants = Tenants::new();
    let leaf = &tenants.p256;
    let chain = [tenants.identity(0, leaf).chain()[0].clone()];
    let another = || {
        let key = leaf.pkcs8.clone_key().into();
        Arc::new(Identity::new(chain.to_vec(), key, &tenants.provider).unwrap())
    };
    let mut set = named(&another(), MANY);
    for _ in 0..1000 {
        set = set.with_name("common.example.org", another());
    }
    let identities = Identities::new(set);
    let mut most = 0;
    let mut seen = Vec::new(); // kept, so that each has an address of its own
    for at in 0..CHANGED {
        let name = &format!("changed-{at}.example.org");
        let [old, new] = [another(), another()];
        let changes: [&dyn Fn(IdentitySet) -> IdentitySet; 3] = [
            &|set| set.with_name(name, old.clone()),
            &|set| set.with_replaced(&old, new.clone()),
            &|set| set.without(&new),
        ];
        for change in changes {
            most = most.max(measure(|| identities.update(change)).bytes_total);
        }
        seen.extend([old, new]);
    }
    println!("a change: {most} bytes at most");
    assert!(most < 32_000, "{most}");
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
    let identity = identity.with_ocsp_issuers([tenants.root.certificate().clone()]);
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

/// What a ClientHello offers takes at most four times its bytes and 16 KiB, however it is cut into records. `OfferReader`
/// says that it takes no more than some 100 kB for a list.
#[test]
fn client_hellos() {
    let vector = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
    let extension = |number: u16, data: &[u8]| [&number.to_be_bytes()[..], &vector(data)].concat();
    let room = 65_000;
    let many = |piece: &[u8]| piece.repeat(room / piece.len());
    for (what, suites, extensions) in [
        ("suites", many(&[0x13, 1]), vec![]),
        (
            "groups",
            vec![0x13, 1],
            extension(10, &vector(&many(&[0, 29]))),
        ),
        (
            "schemes",
            vec![0x13, 1],
            extension(13, &vector(&many(&[4, 3]))),
        ),
        (
            "shares",
            vec![0x13, 1],
            extension(51, &vector(&many(&[0, 29, 0, 0]))),
        ),
        (
            "protocols",
            vec![0x13, 1],
            extension(16, &vector(&many(&[1, b'a']))),
        ),
        (
            "empty protocols",
            vec![0x13, 1],
            extension(16, &vector(&many(&[0]))),
        ),
        (
            "names of CAs",
            vec![0x13, 1],
            extension(47, &vector(&many(&[0, 1, 7]))),
        ),
        (
            "long names of CAs",
            vec![0x13, 1],
            extension(47, &vector(&many(&[&[0, 60][..], &[7; 60]].concat()))),
        ),
        (
            "trust anchors",
            vec![0x13, 1],
            extension(0xca34, &vector(&many(&[1, 7]))),
        ),
        ("extensions", vec![0x13, 1], many(&[0xaa, 0xaa, 0, 0])),
        (
            "the same extension",
            vec![0x13, 1],
            many(&extension(10, &vector(&[0, 29].repeat(100)))),
        ),
    ] {
        let hello = [
            &[3; 35][..34],
            &[0],
            &vector(&suites),
            &[1, 0],
            &vector(&extensions),
        ];
        let hello = hello.concat();
        let message = [&[1, 0][..], &vector(&hello)].concat();
        for record in [1, 1 << 14] {
            let records = message.chunks(record);
            let records = records.flat_map(|record| [&[22, 3, 1][..], &vector(record)].concat());
            let records: Vec<u8> = records.collect();
            for piece in [1, records.len()] {
                let peak = measure(|| {
                    let mut reader = OfferReader::new();
                    let mut offer = None;
                    for piece in records.chunks(piece) {
                        offer = reader.read(piece).unwrap();
                    }
                    assert!(offer.is_some());
                });
                let peak = peak.bytes_max as usize;
                println!("{what}: {} bytes, {peak} at once", message.len());
                assert!(peak <= 4 * message.len() + (16 << 10), "{what}: {peak}");
            }
        }
    }
}

/// A ticket that nobody made takes no more than twice its bytes.
#[test]
fn tickets_of_strangers() {
    let base = rustls::crypto::ring::default_provider();
    let tickets = Tickets::for_provider(&base, TicketOptions::default()).unwrap();
    let session = [7; Tickets::MAX_STATELESS_LEN];
    let own = tickets.encrypt(&session).unwrap();
    for len in [0, 1, 8, 31, 32, 33, own.len(), 0xffff] {
        // With the key's own number, so that it is tried.
        let ticket: Vec<u8> = own.iter().copied().cycle().take(len).collect();
        let peak = measure(|| drop(tickets.decrypt(&ticket))).bytes_max;
        assert!(peak <= 2 * len as u64 + 4096, "{len}: {peak}");
    }
}

/// A chain and a key, in files of a mebibyte at most, take at most four times their bytes, and 128 KiB.
#[test]
fn texts_of_identities() {
    let tenants = Tenants::new();
    let identity = tenants.identity(0, &tenants.p256);
    let leaf = Certificate::from_der(&identity.chain()[0]).unwrap();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let key = key.to_pkcs8_pem().unwrap();
    let chain = leaf.to_pem();
    for (what, chain, key) in [
        (
            "certificates",
            chain.repeat((1 << 20) / chain.len()),
            key.to_string(),
        ),
        ("keys", chain.clone(), key.repeat((1 << 20) / key.len())),
        ("lines", "\n".repeat(1 << 20), key.to_string()),
        (
            "labels",
            "-----BEGIN -----\n".repeat(60_000),
            key.to_string(),
        ),
    ] {
        let peak = measure(|| {
            drop(Identity::from_pem(
                chain.as_bytes(),
                key.as_bytes(),
                &tenants.provider,
            ));
        });
        let (peak, input) = (peak.bytes_max as usize, chain.len() + key.len());
        println!("{what}: {input} bytes, {peak} at once");
        assert!(peak <= 4 * input + (128 << 10), "{what}: {peak}");
    }
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

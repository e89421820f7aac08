//! The operations of rustls-pq over each of its bases.

use std::sync::Mutex;

use pq_core::ml_kem::{DecapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{PrivateKeyForm, SignatureAlgorithm, SigningKey};
use rustls::crypto::{ActiveKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::ProducesTickets;
use rustls::{NamedGroup, SignatureScheme};
use rustls_pq::identity::Identity;
use rustls_pq::{Group, TicketOptions, Tickets};

use crate::bases::Base;
use crate::operation::{Operation, fresh};
use crate::random::RANDOM;
use crate::sought::Sought;
use crate::x509::{Kind, document, text};
use crate::{ml_kem, operation_name};

pub(crate) fn operations() -> Vec<Operation> {
    let of_base = |base: Base| {
        let groups = base.provider().kx_groups;
        let groups = groups
            .into_iter()
            .filter(|group| sets(group.name()).is_some());
        let exchanges = groups.flat_map(move |group| key_exchange(base, group));
        exchanges.chain(signing(base)).chain(tickets(base))
    };
    Base::all().flat_map(of_base).collect()
}

/// The secrets of a client that made its key from a seed, and of a server that encapsulates to this key
/// with m.
type Secrets = (fn(&[u8; 64]) -> Sought, fn(&[u8; 64], &[u8; 32]) -> Sought);

/// [`Secrets`] for the post-quantum groups.
fn sets(group: NamedGroup) -> Option<Secrets> {
    fn of<P: ParameterSet>() -> Secrets {
        (
            |seed| ml_kem::secrets_of(&*DecapsulationKey::<P>::boxed_from_seed(seed)),
            |seed, m| {
                let key = DecapsulationKey::<P>::boxed_from_seed(seed);
                ml_kem::secrets_of_encapsulation(&key, m)
            },
        )
    }
    match Group::from(group) {
        Group::MLKEM512 => Some(of::<MlKem512>()),
        Group::X25519MLKEM768 | Group::SECP256R1MLKEM768 | Group::MLKEM768 => {
            Some(of::<MlKem768>())
        }
        Group::SECP384R1MLKEM1024 | Group::MLKEM1024 => Some(of::<MlKem1024>()),
        _ => None,
    }
}

/// A client that waits for the server's share, and the randomness that it drew.
struct Client {
    exchange: Mutex<Option<Box<dyn ActiveKeyExchange>>>,
    seed: Box<[u8; 64]>,
    share: Vec<u8>,
}

impl Client {
    fn new(group: &dyn SupportedKxGroup) -> Self {
        RANDOM.prepare();
        let exchange = group.start().expect("a key");
        Self {
            seed: seed(),
            share: exchange.pub_key().to_vec(),
            exchange: Mutex::new(Some(exchange)),
        }
    }

    fn take(&self) -> Box<dyn ActiveKeyExchange> {
        let exchange = self.exchange.lock().expect("one thread").take();
        exchange.expect("once")
    }
}

/// d ‖ z, the first bytes that were drawn.
fn seed() -> Box<[u8; 64]> {
    Box::new(RANDOM.drawn()[..64].try_into().expect("64 bytes"))
}

fn key_exchange(base: Base, group: &'static dyn SupportedKxGroup) -> Vec<Operation> {
    let name = |operation| operation_name(base.name, &format!("{:?} {operation}", group.name()));
    let (of_client, of_server) = sets(group.name()).expect("a post-quantum group");
    let mut operations = vec![
        Operation::new(
            name("start"),
            || RANDOM.prepare(),
            |()| group.start().expect("a key"),
            move |(), _| of_client(&seed()),
        ),
        Operation::new(
            name("start_and_complete"),
            || {
                let client = Client::new(group);
                RANDOM.prepare();
                client
            },
            |client| {
                group
                    .start_and_complete(&client.share)
                    .expect("a good share")
            },
            move |client, completed| {
                let m = RANDOM.drawn()[..32].try_into().expect("32 bytes");
                let sought = of_server(&client.seed, &m);
                sought.and(halves(group.name(), &completed.secret))
            },
        ),
        Operation::new(
            name("complete"),
            || {
                let client = Client::new(group);
                RANDOM.prepare();
                let completed = group
                    .start_and_complete(&client.share)
                    .expect("a good share");
                let m: Box<[u8; 32]> = Box::new(RANDOM.drawn()[..32].try_into().expect("32 bytes"));
                (client, completed.pub_key, m)
            },
            |(client, share, _)| client.take().complete(share).expect("a good share"),
            move |(client, _, m), secret| {
                let sought = of_client(&client.seed).and(of_server(&client.seed, m));
                sought.and(halves(group.name(), secret))
            },
        ),
        Operation::new(
            name("given up"),
            || Client::new(group),
            |client| drop(client.take()),
            move |client, ()| of_client(&client.seed),
        ),
    ];
    if Client::new(group).take().hybrid_component().is_some() {
        operations.push(Operation::new(
            name("complete_hybrid_component"),
            move || {
                let client = Client::new(group);
                let exchange = client.take();
                let (name, share) = exchange.hybrid_component().expect("a hybrid");
                let groups = base.provider().kx_groups;
                let classical = groups.iter().find(|group| group.name() == name);
                let classical = classical.expect("the base has it");
                let completed = classical.start_and_complete(share).expect("a good share");
                *client.exchange.lock().expect("one thread") = Some(exchange);
                (client, completed.pub_key)
            },
            |(client, share)| {
                let completed = client.take().complete_hybrid_component(share);
                completed.expect("a good share")
            },
            move |(client, _), secret| {
                let sought = of_client(&client.seed);
                sought.secret(CLASSICAL_SECRET, secret.secret_bytes())
            },
        ));
    }
    operations
}

/// The halves of a hybrid secret.
fn halves(group: NamedGroup, secret: &SharedSecret) -> Sought {
    let secret = secret.secret_bytes();
    let (classical, post_quantum) = match Group::from(group) {
        Group::X25519MLKEM768 => {
            let (post_quantum, classical) = secret.split_at(32);
            (classical, post_quantum)
        }
        _ => secret.split_at(secret.len() - 32),
    };
    let sought = Sought::default().secret(ML_KEM_SECRET, post_quantum);
    match classical {
        [] => sought,
        _ => sought.secret(CLASSICAL_SECRET, classical),
    }
}

const ML_KEM_SECRET: &str = "the shared secret";
pub(crate) const CLASSICAL_SECRET: &str = "the classical half's shared secret";

fn signing(base: Base) -> Vec<Operation> {
    use pq_core::ml_dsa::{MlDsa44, MlDsa65, MlDsa87};
    let kinds = [
        Kind::ml_dsa::<MlDsa44>(SignatureAlgorithm::MlDsa44),
        Kind::ml_dsa::<MlDsa65>(SignatureAlgorithm::MlDsa65),
        Kind::ml_dsa::<MlDsa87>(SignatureAlgorithm::MlDsa87),
    ];
    let kinds = kinds.into_iter();
    let mut operations: Vec<Operation> = kinds
        .flat_map(|kind| post_quantum_signing(base, kind))
        .collect();
    operations.extend(classical_signing(base));
    operations
}

fn post_quantum_signing(base: Base, kind: Kind) -> Vec<Operation> {
    let name =
        |operation: &str| operation_name(base.name, &format!("{} {operation}", kind.algorithm()));
    let mut operations = vec![Operation::new(
        name("sign"),
        move || {
            let key = kind.key();
            let der = key.to_pkcs8_der().expect("has a seed").to_vec();
            let loaded = base.provider().key_provider.load_private_key(pkcs8(der));
            RANDOM.prepare();
            (key, loaded.expect("valid"))
        },
        move |(_, key)| {
            let schemes = [
                SignatureScheme::ML_DSA_44,
                SignatureScheme::ML_DSA_65,
                SignatureScheme::ML_DSA_87,
            ];
            let signer = key.choose_scheme(&schemes).expect("its own scheme");
            signer.sign(b"a message").expect("randomness")
        },
        move |(key, _), signature| {
            let sought = kind.secrets_of(key).public(signature);
            sought.secret("the randomness", &RANDOM.drawn())
        },
    )];
    for form in [
        PrivateKeyForm::Seed,
        PrivateKeyForm::Expanded,
        PrivateKeyForm::Both,
    ] {
        let name = |operation: &str| name(&format!("{operation}, {form:?}"));
        operations.push(Operation::new(
            name("load_private_key"),
            move || {
                let key = kind.key();
                let der = key.to_pkcs8_der_as(form).expect("has a seed").to_vec();
                let sought = kind.secrets_of(&key).and(document(&der));
                (base.provider(), Mutex::new(Some(pkcs8(der))), sought)
            },
            |(provider, key, _)| {
                let key = key.lock().expect("one thread").take().expect("once");
                provider.key_provider.load_private_key(key).expect("valid")
            },
            |(_, _, sought), _| sought.clone(),
        ));
        operations.push(Operation::new(
            name("Identity::from_pem"),
            move || {
                let key = kind.key();
                let signing_key = SigningKey::try_from(key.clone()).expect("a key that signs");
                let root = Issuer::self_signed(CertificateBuilder::ca("Root"), &signing_key);
                let chain = root.expect("a certificate").certificate().to_pem();
                let pem = key.to_pkcs8_pem_as(form).expect("has a seed");
                (base.provider(), chain, pem, key)
            },
            |(provider, chain, pem, _)| {
                let identity = Identity::from_pem(chain.as_bytes(), pem.as_bytes(), provider);
                identity.expect("valid").certified_key()
            },
            move |(_, _, pem, key), _| {
                let der = key.to_pkcs8_der_as(form).expect("has a seed");
                kind.secrets_of(key).and(document(&der)).and(text(pem))
            },
        ));
    }
    operations
}

/// An ECDSA key on P-256, for which the base does the signing.
fn classical_signing(base: Base) -> [Operation; 2] {
    let name = |operation: &str| operation_name(base.name, &format!("ECDSA P-256 {operation}"));
    let document = || {
        let algorithm = &ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING;
        let random = ring::rand::SystemRandom::new();
        let document = ring::signature::EcdsaKeyPair::generate_pkcs8(algorithm, &random);
        document.expect("randomness").as_ref().to_vec()
    };
    // at its place in ring's template
    let scalar = |der: &[u8]| Sought::default().secret(CLASSICAL_KEY, &der[36..68]);
    [
        Operation::new(
            name("load_private_key"),
            move || {
                let der = document();
                let sought = scalar(&der);
                (base.provider(), Mutex::new(Some(pkcs8(der))), sought)
            },
            |(provider, key, _)| {
                let key = key.lock().expect("one thread").take().expect("once");
                provider.key_provider.load_private_key(key).expect("valid")
            },
            |(_, _, sought), _| sought.clone(),
        ),
        Operation::new(
            name("sign"),
            move || {
                let der = document();
                let sought = scalar(&der);
                let key = base.provider().key_provider.load_private_key(pkcs8(der));
                (key.expect("valid"), sought)
            },
            |(key, _)| {
                let signer = key.choose_scheme(&[SignatureScheme::ECDSA_NISTP256_SHA256]);
                signer
                    .expect("its own scheme")
                    .sign(b"a message")
                    .expect("randomness")
            },
            |(_, sought), _| sought.clone(),
        ),
    ]
}

pub(crate) const CLASSICAL_KEY: &str = "the classical private key";

fn pkcs8(der: Vec<u8>) -> PrivateKeyDer<'static> {
    PrivateKeyDer::Pkcs8(der.into())
}

fn tickets(base: Base) -> [Operation; 3] {
    let name = |operation: &str| operation_name(base.name, &format!("Tickets {operation}"));
    let make = move || {
        RANDOM.prepare();
        Tickets::for_provider(&base.provider(), TicketOptions::default()).expect("randomness")
    };
    // All drawn bytes are keys. The first belongs to a ticketer that only serves to make others.
    let keys = |sought: Sought, drawn: &[u8]| {
        let keys = drawn.chunks_exact(32);
        keys.fold(sought, |sought, key| sought.secret(TICKET_KEY, key))
    };
    let session = || fresh::<100>();
    [
        Operation::new(
            name("new"),
            move || {
                let provider = base.provider();
                RANDOM.prepare();
                provider
            },
            |provider| {
                let tickets = Tickets::for_provider(provider, TicketOptions::default());
                Box::new(tickets.expect("randomness"))
            },
            move |_, _| keys(Sought::default(), &RANDOM.drawn()),
        ),
        Operation::new(
            name("encrypt"),
            move || {
                let tickets = make();
                (tickets, session(), RANDOM.drawn())
            },
            |(tickets, session, _)| tickets.encrypt(&session[..]).expect("a ticket"),
            move |(_, session, drawn), _| {
                keys(Sought::default().secret(SESSION, &session[..]), drawn)
            },
        ),
        Operation::new(
            name("decrypt"),
            move || {
                let tickets = make();
                let (drawn, session) = (RANDOM.drawn(), session());
                let ticket = tickets.encrypt(&session[..]).expect("a ticket");
                (tickets, ticket, session, drawn)
            },
            |(tickets, ticket, ..)| tickets.decrypt(ticket).expect("a session"),
            move |(_, _, session, drawn), _| {
                keys(Sought::default().secret(SESSION, &session[..]), drawn)
            },
        ),
    ]
}

pub(crate) const TICKET_KEY: &str = "the ticket key";
const SESSION: &str = "the session";

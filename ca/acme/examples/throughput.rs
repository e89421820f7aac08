//! How much of a core the server's half takes for an order, from newOrder to the download, without the CA and the client:
//! `cargo run --release -p pq-acme --example throughput`.

use core::cell::Cell;
use core::time::Duration;
use std::time::Instant;

use pq_acme::identifier::Identifier;
use pq_acme::jws::{self, KeyId};
use pq_acme::nonce::Nonces;
use pq_acme::objects::{Authorization, NewOrder, Order, Time};
use pq_acme::problem::Problem;
use pq_acme::server::{
    Answer, Grant, Issued, Policy, Request, RevocationRefusal, RevocationWish, Server, Wish, Work,
};
use pq_acme::store::MemoryStore;
use pq_jose::any::AnyJwk;
use pq_jose::encoding::base64url;
use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};
use pq_keys::{SignatureAlgorithm, Signer, SigningKey};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::request::CertificateRequest;
use pq_x509::verification::classical_algorithms;

type Result<T> = core::result::Result<T, Box<dyn core::error::Error>>;

const BASE: &str = "https://ca.example/acme";
const ORDERS: usize = 300;

struct Anything;

impl Policy for Anything {
    fn may_order(&self, _: &Wish<'_>) -> core::result::Result<Grant, Problem> {
        Ok(Grant::default())
    }

    fn revoke(&self, _: &RevocationWish<'_>) -> core::result::Result<(), RevocationRefusal> {
        Err(RevocationRefusal::Unknown)
    }
}

struct Client {
    server: Server<MemoryStore, Anything>,
    key: Box<dyn Signer>,
    by: KeyId,
    nonce: String,
    spent: Cell<Duration>,
}

fn main() -> Result<()> {
    let p256 = || ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256);
    let ml_dsa = || SigningKey::generate(SignatureAlgorithm::MlDsa65);
    run("ES256", Box::new(p256()?), &p256()?)?;
    run("ML-DSA-65", Box::new(ml_dsa()?), &ml_dsa()?)
}

fn run(name: &str, key: Box<dyn Signer>, leaf_key: &dyn Signer) -> Result<()> {
    let ca = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
    let ca = Issuer::self_signed(CertificateBuilder::ca("Test"), ca)?;
    let nonces = Nonces::new([7; 32]);
    let mut client = Client {
        by: KeyId::Key(Box::new(AnyJwk::of(&key)?)),
        nonce: nonces.make(now())?,
        server: Server::new(BASE, MemoryStore::new(), Anything, nonces),
        key,
        spent: Cell::default(),
    };
    let made = client.post(&format!("{BASE}/new-account"), "{}")?.0;
    client.by = KeyId::Account(made.header("Location").ok_or("no account")?.into());
    client.spent.set(Duration::ZERO);
    for number in 0..ORDERS {
        client.order(&format!("{number}.example.org"), &ca, leaf_key)?;
    }
    let spent = client.spent.get();
    let rate = ORDERS as f64 / spent.as_secs_f64();
    println!(
        "{name}: {rate:.0} orders a second, {:.2?} each",
        spent / ORDERS as u32
    );
    Ok(())
}

fn now() -> Time {
    Time::from_secs(1_800_000_000)
}

impl Client {
    fn timed<T>(&self, work: impl FnOnce(&Server<MemoryStore, Anything>) -> T) -> T {
        let start = Instant::now();
        let done = work(&self.server);
        self.spent.set(self.spent.get() + start.elapsed());
        done
    }

    fn post(&mut self, url: &str, payload: &str) -> Result<(Answer, Option<Work>)> {
        let body = jws::write(
            &*self.key,
            &self.by,
            Some(&self.nonce),
            url,
            payload.as_bytes(),
        )?;
        let request = Request {
            method: "POST",
            target: &url["https://ca.example".len()..],
            content_type: Some(jws::CONTENT_TYPE),
            body: body.as_bytes(),
            from: None,
        };
        let outcome = self.timed(|server| server.handle(&request, now()));
        self.nonce = outcome
            .answer
            .header("Replay-Nonce")
            .ok_or("no nonce")?
            .into();
        match outcome.answer.status {
            200 | 201 => Ok((outcome.answer, outcome.work)),
            _ => Err(String::from_utf8_lossy(&outcome.answer.body).into()),
        }
    }

    fn order(&mut self, name: &str, ca: &Issuer<SigningKey>, key: &dyn Signer) -> Result<()> {
        let wish = serde_json::to_string(&NewOrder::new(vec![Identifier::dns(name)?]))?;
        let answer = self.post(&format!("{BASE}/new-order"), &wish)?.0;
        let url = answer.header("Location").ok_or("no order")?.to_owned();
        let order: Order<'_> = serde_json::from_slice(&answer.body)?;
        let answer = self.post(&order.authorizations[0], "")?.0;
        let authorization: Authorization<'_> = serde_json::from_slice(&answer.body)?;
        let work = self.post(&authorization.challenges[0].url, "{}")?.1;
        let Some(Work::Validate(work)) = work else {
            return Err("there is no challenge to validate".into());
        };
        self.timed(|server| server.validated(&work, Ok("seen".into()), now()))?;
        self.post(&order.authorizations[0], "")?;
        let csr = CertificateRequest::builder().dns_name(name).sign(key)?;
        let csr = format!(r#"{{"csr":"{}"}}"#, base64url::encode(csr.to_der()));
        let Some(Work::Issue(work)) = self.post(&order.finalize, &csr)?.1 else {
            return Err("there is no certificate to issue".into());
        };
        let request =
            CertificateRequest::from_der(&work.csr)?.verify_with(classical_algorithms()?)?;
        let leaf = ca.issue(request.certificate().server_auth(), &request)?;
        let chains = vec![vec![leaf, ca.certificate().clone()]];
        self.timed(|server| server.issued(&work.order, Ok(Issued { chains })))?;
        let answer = self.post(&url, "")?.0;
        let order: Order<'_> = serde_json::from_slice(&answer.body)?;
        self.post(&order.certificate.ok_or("no certificate")?, "")?;
        Ok(())
    }
}

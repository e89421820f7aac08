//! The client of this crate and its server, with each other.

use core::time::Duration;

use pq_acme::client::{self, ClientError, ExternalKey, Issued, Obtaining, Step, Wanted};
use pq_acme::identifier::Identifier;
use pq_acme::jws::external_account::MacAlgorithm;
use pq_acme::objects::{CertificateId, ChallengeKind};
use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};
use pq_keys::{SignatureAlgorithm, Signer, SigningKey};
use pq_x509::request::CertificateRequest;

use crate::kit::{Ca, EAB_KEY, World};

fn obtain(world: &World, key: &dyn Signer, wanted: Wanted) -> Result<Issued, ClientError> {
    let mut client = Obtaining::new(world.server.directory_url(), key, wanted)?;
    for _ in 0..100 {
        match client.next(world.now())? {
            Step::Send(request) => {
                let method = match request.method {
                    client::Method::Get => "GET",
                    client::Method::Head => "HEAD",
                    client::Method::Post => "POST",
                };
                let body = request.body.unwrap_or_default();
                let outcome = world.send(method, &request.url, body.as_bytes());
                world.work(outcome.work);
                let header = |name: &str| outcome.answer.header(name).map(Into::into);
                let answer = client::Answer {
                    status: outcome.answer.status,
                    replay_nonce: header("Replay-Nonce"),
                    location: header("Location"),
                    retry_after: header("Retry-After"),
                    body: outcome.answer.body.clone(),
                };
                client.received(&answer, world.now())?;
            }
            Step::Wait(time) => world.wait(time.max(Duration::from_secs(1)).as_secs()),
            Step::Show(shown) => {
                assert!(!shown.is_empty());
                client.shown();
            }
            Step::Done(issued) => return Ok(issued),
        }
    }
    panic!("it doesn't end");
}

fn wanted(names: &[&str]) -> Wanted {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let names = names.iter().map(|name| match name.parse() {
        Ok(address) => Identifier::Ip(address),
        Err(_) => Identifier::dns(name).unwrap(),
    });
    let names: Vec<Identifier> = names.collect();
    let mut builder = CertificateRequest::builder();
    for name in &names {
        builder = builder.alternative_name(name.clone().into());
    }
    Wanted::new(
        names,
        builder.sign(&key).unwrap(),
        vec![ChallengeKind::Http01, ChallengeKind::Dns01],
    )
}

#[test]
fn certificates_for_names_wildcards_and_addresses_by_every_kind_of_account() {
    let ml_dsa = [
        SignatureAlgorithm::MlDsa44,
        SignatureAlgorithm::MlDsa65,
        SignatureAlgorithm::MlDsa87,
    ];
    let classical = [
        ClassicalAlgorithm::EcdsaP256,
        ClassicalAlgorithm::EcdsaP384,
        ClassicalAlgorithm::Ed25519,
        ClassicalAlgorithm::Rsa2048,
    ];
    let ml_dsa = ml_dsa.map(|one| Box::new(SigningKey::generate(one).unwrap()) as Box<dyn Signer>);
    let classical =
        classical.map(|one| Box::new(ClassicalKey::generate(one).unwrap()) as Box<dyn Signer>);
    let world = World::new();
    for key in ml_dsa.iter().chain(&classical) {
        let names = [
            "www.example.org",
            "*.example.org",
            "192.0.2.1",
            "2001:db8::1",
        ];
        let issued = obtain(&world, key, wanted(&names)).unwrap();
        assert_eq!(issued.chain.len(), 2);
        // The account is found, and the next certificate replaces the first.
        let mut next = wanted(&names);
        next.has_account = true;
        next.profile = Some("server".into());
        next.replaces = CertificateId::of(&issued.chain[0]).map(|id| id.to_string());
        let again = obtain(&world, key, next.clone()).unwrap();
        assert_eq!(again.account, issued.account);
        // That one is replaced already.
        obtain(&world, key, next).unwrap();
    }
    assert_eq!(world.ca().issued(), 21);
}

#[test]
fn what_the_server_refuses_is_told() {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let world = World::new();
    let error = obtain(
        &world,
        &key,
        wanted(&["refused.example.org", "www.example.org"]),
    )
    .unwrap_err();
    assert!(error.to_string().contains("refused.example.org"), "{error}");
    let mut wish = wanted(&["www.example.org"]);
    wish.contact = vec!["mailto:refused@example.org".into()];
    let other = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let error = obtain(&world, &other, wish).unwrap_err();
    assert!(matches!(error, ClientError::Refused { .. }), "{error}");
    let mut wish = wanted(&["www.example.org"]);
    wish.profile = Some("other".into());
    let error = obtain(&world, &key, wish).unwrap_err();
    assert!(error.to_string().contains("it has server"), "{error}");
    assert_eq!(world.ca().issued(), 0);
}

#[test]
fn an_account_is_bound_and_terms_are_agreed_to() {
    let mut ca = Ca::new();
    ca.meta.external_account_required = true;
    ca.meta.terms_of_service = Some("https://ca.example/terms".into());
    let world = World::with(ca);
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let mut wish = wanted(&["www.example.org"]);
    let error = obtain(&world, &key, wish.clone()).unwrap_err();
    assert!(matches!(error, ClientError::Terms(_)), "{error}");
    wish.agrees = true;
    let error = obtain(&world, &key, wish.clone()).unwrap_err();
    assert!(matches!(error, ClientError::NoExternalAccount), "{error}");
    for (mac_key, is_right) in [(&b"another"[..], false), (EAB_KEY, true)] {
        wish.external = Some(ExternalKey {
            kid: "known".into(),
            key: mac_key.into(),
            algorithm: MacAlgorithm::Hs256,
        });
        assert_eq!(obtain(&world, &key, wish.clone()).is_ok(), is_right);
    }
}

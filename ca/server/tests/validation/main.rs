//! Challenges that are asked over real sockets, with targets and name servers that are honest, wrong or hostile.

extern crate alloc;

mod bounds;
mod dns;
mod dns_01;
mod exactly;
mod http_01;
mod target;
mod tls_alpn_01;

use alloc::sync::Arc;
use core::time::Duration;

use pq_acme::challenge::KeyAuthorization;
use pq_acme::identifier::Identifier;
use pq_acme::objects::ChallengeKind;
use pq_acme::problem::ProblemType;
use pq_ca_server::validation::{
    Addresses, Limits, Outcome, Ports, Question, Resolver, Validator, Verdict,
};

use pq_jose::Thumbprint;

use self::dns::NameServer;

const TOKEN: &str = "DGyRejmCefe7v4NfDGDKfA";
const AUTHORIZATION: &str = "DGyRejmCefe7v4NfDGDKfA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const NAME: &str = "www.example.org";

fn authorization() -> KeyAuthorization {
    let authorization = KeyAuthorization::new(TOKEN, &Thumbprint::from_bytes([0; 32]));
    assert_eq!(authorization.as_str(), AUTHORIZATION);
    authorization
}

fn question(kind: ChallengeKind, name: &str) -> Question {
    let identifier = match name.parse() {
        Ok(address) => Identifier::Ip(address),
        Err(_) => Identifier::Dns(name.into()),
    };
    Question {
        kind,
        identifier,
        authorization: authorization(),
        account: "alice".into(),
    }
}

/// A validator that asks this name server, and one address of this machine at this port.
fn validator(dns: &NameServer, port: u16) -> Validator {
    let resolver = Resolver::new(&[dns.address]).unwrap();
    let provider = rustls_pq::Builder::with_default_base().unwrap().build();
    let ports = Ports {
        http: port,
        https: port,
        tls_alpn: port,
    };
    let limits = Limits {
        whole: Duration::from_secs(60),
        ..Limits::default()
    };
    Validator::new(resolver, Arc::new(provider.unwrap()))
        .unwrap()
        .addresses(Addresses::with(["127.0.0.1".parse().unwrap()]))
        .ports(ports)
        .limits(limits)
}

#[track_caller]
fn refusal(outcome: Outcome, kind: ProblemType, what: &str) {
    match &outcome.verdict {
        Verdict::Invalid(refusal) => {
            assert_eq!(refusal.kind, kind, "{outcome:?}");
            assert!(refusal.detail.contains(what), "{what}: {outcome:?}");
            assert!(!outcome.steps.is_empty());
        }
        other => panic!("{other:?} in place of {what}"),
    }
}

#[track_caller]
fn evidence(outcome: Outcome) -> String {
    match outcome.verdict {
        Verdict::Valid { evidence } => evidence,
        other => panic!("{other:?}: {:?}", outcome.steps),
    }
}

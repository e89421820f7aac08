//! Whether who asks for a certificate has the names in it: the challenges of ACME, asked over the network.
//!
//! A client chooses whom this server asks, and whoever is asked chooses the answer. So only
//! [addresses of the internet](Addresses) are asked, after the name was looked up, at every redirect, and at the very address
//! that was judged; time, bytes and redirects are [bounded](Limits); and a target that answers slowly takes
//! [no other's place](Places).
//!
//! It uses no other room.

mod addresses;
mod connecting;
mod dns_01;
mod http_01;
mod outcome;
mod places;
mod question;
mod resolver;
mod tls;
mod tls_alpn_01;

use alloc::sync::Arc;
use core::time::Duration;

use pq_acme::objects::ChallengeKind;
use pq_acme::problem::ProblemType;
use rustls::crypto::CryptoProvider;
use tokio::time::timeout;

pub use self::addresses::{Addresses, Forbidden};
use self::outcome::Steps;
pub use self::outcome::{Outcome, Refusal, Verdict};
use self::places::Admission;
pub use self::places::Places;
pub use self::question::Question;
pub use self::resolver::{Resolver, ResolverError};
use self::tls::Connectors;

/// Asks challenges. It is shared by all that have some to ask.
#[derive(Debug)]
pub struct Validator {
    resolver: Resolver,
    addresses: Addresses,
    ports: Ports,
    limits: Limits,
    admission: Admission,
    connectors: Connectors,
}

/// The ports that are asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ports {
    /// Of `http-01`, and of redirects to `http`: 80 by RFC 8555.
    pub http: u16,
    /// Of redirects to `https`: 443.
    pub https: u16,
    /// Of `tls-alpn-01`: 443 by RFC 8737.
    pub tls_alpn: u16,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            http: 80,
            https: 443,
            tls_alpn: 443,
        }
    }
}

/// What a validation may cost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// How long one may take in all, once it has its place.
    pub whole: Duration,
    /// How long each connection may take to come about.
    pub connect: Duration,
    /// How many redirects are followed.
    pub redirects: usize,
    /// How many bytes of a body are read.
    pub body: usize,
    /// How many run at a time.
    pub places: Places,
}

impl Default for Limits {
    /// 20 s in all, 5 s for a connection, 10 redirects, 8 KiB.
    fn default() -> Self {
        Self {
            whole: Duration::from_secs(20),
            connect: Duration::from_secs(5),
            redirects: 10,
            body: 8 << 10,
            places: Places::default(),
        }
    }
}

impl Validator {
    /// Looks names up at this resolver, asks addresses of the internet at the usual ports, within the usual limits.
    pub fn new(resolver: Resolver, provider: Arc<CryptoProvider>) -> Result<Self, rustls::Error> {
        let limits = Limits::default();
        Ok(Self {
            resolver,
            addresses: Addresses::default(),
            ports: Ports::default(),
            limits,
            admission: Admission::new(limits.places),
            connectors: Connectors::new(provider)?,
        })
    }

    /// Asks these addresses, too.
    #[must_use]
    pub fn addresses(self, addresses: Addresses) -> Self {
        Self { addresses, ..self }
    }

    /// Asks at these ports.
    #[must_use]
    pub fn ports(self, ports: Ports) -> Self {
        Self { ports, ..self }
    }

    /// Keeps to these limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self {
            limits,
            admission: Admission::new(limits.places),
            ..self
        }
    }

    /// Asks whether a challenge is met. It waits for a place first.
    pub async fn validate(&self, question: &Question) -> Outcome {
        let mut steps = Steps::default();
        let name = question.identifier.to_string();
        let Ok(_place) = self.admission.enter(&name, &question.account).await else {
            let detail = "this CA has as many challenges to ask as it can; try again later";
            steps.add(detail);
            return Outcome {
                verdict: Verdict::Undecided(Refusal::new(ProblemType::ServerInternal, detail)),
                steps: steps.into_lines(),
            };
        };
        let asked = timeout(self.limits.whole, async {
            match &question.kind {
                ChallengeKind::Http01 => self.http_01(question, &mut steps).await,
                ChallengeKind::Dns01 => self.dns_01(question, &mut steps).await,
                ChallengeKind::TlsAlpn01 => self.tls_alpn_01(question, &mut steps).await,
                other => {
                    let detail = format!("this CA asks no challenges of the kind {other}");
                    Err(Refusal::new(ProblemType::Malformed, detail).into())
                }
            }
        });
        let asked = asked.await.unwrap_or_else(|_| {
            let seconds = self.limits.whole.as_secs_f32();
            let detail = format!(
                "{}: no whole answer to {} within {seconds} s",
                question.identifier, question.kind
            );
            Err(Refusal::new(ProblemType::Connection, detail).into())
        });
        let verdict = match asked {
            Ok(whence) => Verdict::Valid {
                evidence: format!("from {whence}"),
            },
            Err(verdict) => verdict,
        };
        match &verdict {
            Verdict::Valid { evidence } => {
                steps.add(format_args!("{} {name} {evidence}", question.kind));
            }
            Verdict::Invalid(refusal) | Verdict::Undecided(refusal) => steps.add(refusal),
        }
        Outcome {
            verdict,
            steps: steps.into_lines(),
        }
    }
}

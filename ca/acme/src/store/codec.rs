//! Records as JSON, as they are kept in a file or a database.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::time::Duration;

use pq_jose::any::AnyJwk;
use pq_jose::encoding::base64url;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::records::{
    AccountRecord, AuthorizationRecord, AuthorizationState, CertificateRecord, ChallengeRecord,
    ChallengeState, LastChange, OrderRecord, OrderState, Processing,
};
use crate::identifier::Identifier;
use crate::nonce::NonceDigest;
use crate::objects::{AccountStatus, ChallengeKind, Time};
use crate::problem::Problem;

/// What is kept is not what was written.
pub(super) type Malformed = serde_json::Error;

/// A record that is kept as JSON, beside its identifier and version.
pub(super) trait Record: Sized {
    /// What it is called.
    const WHAT: &'static str;

    fn to_json(&self) -> Result<String, Malformed>;

    fn from_json(id: &str, version: u64, json: &str) -> Result<Self, Malformed>;
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, Malformed> {
    serde_json::from_str(json)
}

/// Bytes, in base64url.
#[derive(Clone)]
struct Bytes<'a>(Cow<'a, [u8]>);

impl<'a> Bytes<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self(Cow::Borrowed(bytes))
    }
}

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64url::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let bytes = base64url::decode(&text).map_err(D::Error::custom)?;
        Ok(Self(Cow::Owned(bytes)))
    }
}

fn fixed<const LEN: usize>(bytes: &Bytes<'_>) -> Result<[u8; LEN], Malformed> {
    let fixed = <[u8; LEN]>::try_from(&*bytes.0);
    fixed.map_err(|_| Malformed::custom("bytes of another length"))
}

fn digest(bytes: &Bytes<'_>) -> Result<NonceDigest, Malformed> {
    fixed(bytes).map(NonceDigest)
}

fn some_time(seconds: Option<u64>) -> Option<Time> {
    seconds.map(Time::from_secs)
}

fn some_secs(time: Option<Time>) -> Option<u64> {
    time.map(Time::as_secs)
}

/// A problem, and what does not stand in its document.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct KeptProblem<'a> {
    problem: Cow<'a, Problem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
}

impl<'a> KeptProblem<'a> {
    fn of(problem: &'a Problem) -> Self {
        Self {
            problem: Cow::Borrowed(problem),
            retry_after: problem.retry_after.map(|after| after.as_secs()),
        }
    }

    fn back(self) -> Problem {
        Problem {
            retry_after: self.retry_after.map(Duration::from_secs),
            ..self.problem.into_owned()
        }
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Account<'a> {
    key: Box<RawValue>,
    status: AccountStatus,
    contact: Cow<'a, [String]>,
    agreed: bool,
    external: Option<(Cow<'a, str>, Cow<'a, str>)>,
    created: u64,
    nonce: Bytes<'a>,
    changed: u64,
    nonces: Vec<Bytes<'a>>,
}

impl Record for AccountRecord {
    const WHAT: &'static str = "account";

    fn to_json(&self) -> Result<String, Malformed> {
        let external = self.external.as_ref();
        serde_json::to_string(&Account {
            key: RawValue::from_string(self.key.to_json())?,
            status: self.status,
            contact: Cow::Borrowed(&self.contact),
            agreed: self.agreed,
            external: external.map(|(id, proof)| (id.into(), proof.into())),
            created: self.created.as_secs(),
            nonce: Bytes::of(&self.nonce.0),
            changed: self.last_change.made,
            nonces: (self.last_change.nonces.iter())
                .map(|one| Bytes::of(&one.0))
                .collect(),
        })
    }

    fn from_json(id: &str, version: u64, json: &str) -> Result<Self, Malformed> {
        let kept: Account<'_> = read(json)?;
        let nonces = kept.nonces.iter().map(digest);
        Ok(Self {
            id: id.into(),
            version,
            key: AnyJwk::from_json(kept.key.get().as_bytes()).map_err(Malformed::custom)?,
            status: kept.status,
            contact: kept.contact.into_owned(),
            agreed: kept.agreed,
            external: (kept.external).map(|(id, proof)| (id.into_owned(), proof.into_owned())),
            created: Time::from_secs(kept.created),
            nonce: digest(&kept.nonce)?,
            last_change: LastChange {
                made: kept.changed,
                nonces: nonces.collect::<Result<_, _>>()?,
            },
        })
    }
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum KeptOrderState<'a> {
    Open,
    Processing {
        csr: Bytes<'a>,
        since: u64,
    },
    Valid {
        csr: Bytes<'a>,
        certificate: Cow<'a, str>,
    },
    Invalid(KeptProblem<'a>),
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Order<'a> {
    account: Cow<'a, str>,
    state: KeptOrderState<'a>,
    expires: u64,
    identifiers: Cow<'a, [Identifier]>,
    authorizations: Cow<'a, [String]>,
    not_before: Option<u64>,
    not_after: Option<u64>,
    replaces: Option<Cow<'a, str>>,
    profile: Option<Cow<'a, str>>,
    created: u64,
    nonce: Bytes<'a>,
}

impl Record for OrderRecord {
    const WHAT: &'static str = "order";

    fn to_json(&self) -> Result<String, Malformed> {
        serde_json::to_string(&Order {
            account: Cow::Borrowed(&self.account),
            state: match &self.state {
                OrderState::Open => KeptOrderState::Open,
                OrderState::Processing(work) => KeptOrderState::Processing {
                    csr: Bytes::of(&work.csr),
                    since: work.since.as_secs(),
                },
                OrderState::Valid { csr, certificate } => KeptOrderState::Valid {
                    csr: Bytes::of(csr),
                    certificate: certificate.into(),
                },
                OrderState::Invalid(problem) => KeptOrderState::Invalid(KeptProblem::of(problem)),
            },
            expires: self.expires.as_secs(),
            identifiers: Cow::Borrowed(&self.identifiers),
            authorizations: Cow::Borrowed(&self.authorizations),
            not_before: some_secs(self.not_before),
            not_after: some_secs(self.not_after),
            replaces: self.replaces.as_deref().map(Cow::Borrowed),
            profile: self.profile.as_deref().map(Cow::Borrowed),
            created: self.created.as_secs(),
            nonce: Bytes::of(&self.nonce.0),
        })
    }

    fn from_json(id: &str, version: u64, json: &str) -> Result<Self, Malformed> {
        let kept: Order<'_> = read(json)?;
        Ok(Self {
            id: id.into(),
            version,
            account: kept.account.into_owned(),
            state: match kept.state {
                KeptOrderState::Open => OrderState::Open,
                KeptOrderState::Processing { csr, since } => OrderState::Processing(Processing {
                    csr: Arc::from(&*csr.0),
                    since: Time::from_secs(since),
                }),
                KeptOrderState::Valid { csr, certificate } => OrderState::Valid {
                    csr: fixed(&csr)?,
                    certificate: certificate.into_owned(),
                },
                KeptOrderState::Invalid(problem) => OrderState::Invalid(problem.back()),
            },
            expires: Time::from_secs(kept.expires),
            identifiers: kept.identifiers.into(),
            authorizations: kept.authorizations.into_owned(),
            not_before: some_time(kept.not_before),
            not_after: some_time(kept.not_after),
            replaces: kept.replaces.map(Cow::into_owned),
            profile: kept.profile.map(Cow::into_owned),
            created: Time::from_secs(kept.created),
            nonce: digest(&kept.nonce)?,
        })
    }
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum KeptAuthorizationState {
    Pending,
    Valid,
    Invalid,
    Deactivated,
    Revoked,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum KeptChallengeState<'a> {
    Pending,
    Processing {
        since: u64,
    },
    Valid {
        validated: u64,
        evidence: Cow<'a, str>,
    },
    Invalid(KeptProblem<'a>),
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Challenge<'a> {
    kind: Cow<'a, ChallengeKind>,
    token: Cow<'a, str>,
    state: KeptChallengeState<'a>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Authorization<'a> {
    account: Cow<'a, str>,
    identifier: Cow<'a, Identifier>,
    is_wildcard: bool,
    state: KeptAuthorizationState,
    expires: u64,
    challenges: Vec<Challenge<'a>>,
}

impl Record for AuthorizationRecord {
    const WHAT: &'static str = "authorization";

    fn to_json(&self) -> Result<String, Malformed> {
        let challenges = self.challenges.iter().map(|one| Challenge {
            kind: Cow::Borrowed(&one.kind),
            token: Cow::Borrowed(&one.token),
            state: match &one.state {
                ChallengeState::Pending => KeptChallengeState::Pending,
                ChallengeState::Processing { since } => KeptChallengeState::Processing {
                    since: since.as_secs(),
                },
                ChallengeState::Valid {
                    validated,
                    evidence,
                } => KeptChallengeState::Valid {
                    validated: validated.as_secs(),
                    evidence: evidence.into(),
                },
                ChallengeState::Invalid(problem) => {
                    KeptChallengeState::Invalid(KeptProblem::of(problem))
                }
            },
        });
        serde_json::to_string(&Authorization {
            account: Cow::Borrowed(&self.account),
            identifier: Cow::Borrowed(&self.identifier),
            is_wildcard: self.is_wildcard,
            state: match self.state {
                AuthorizationState::Pending => KeptAuthorizationState::Pending,
                AuthorizationState::Valid => KeptAuthorizationState::Valid,
                AuthorizationState::Invalid => KeptAuthorizationState::Invalid,
                AuthorizationState::Deactivated => KeptAuthorizationState::Deactivated,
                AuthorizationState::Revoked => KeptAuthorizationState::Revoked,
            },
            expires: self.expires.as_secs(),
            challenges: challenges.collect(),
        })
    }

    fn from_json(id: &str, version: u64, json: &str) -> Result<Self, Malformed> {
        let kept: Authorization<'_> = read(json)?;
        let challenges = kept.challenges.into_iter().map(|one| ChallengeRecord {
            kind: one.kind.into_owned(),
            token: one.token.into_owned(),
            state: match one.state {
                KeptChallengeState::Pending => ChallengeState::Pending,
                KeptChallengeState::Processing { since } => ChallengeState::Processing {
                    since: Time::from_secs(since),
                },
                KeptChallengeState::Valid {
                    validated,
                    evidence,
                } => ChallengeState::Valid {
                    validated: Time::from_secs(validated),
                    evidence: evidence.into_owned(),
                },
                KeptChallengeState::Invalid(problem) => ChallengeState::Invalid(problem.back()),
            },
        });
        Ok(Self {
            id: id.into(),
            version,
            account: kept.account.into_owned(),
            identifier: kept.identifier.into_owned(),
            is_wildcard: kept.is_wildcard,
            state: match kept.state {
                KeptAuthorizationState::Pending => AuthorizationState::Pending,
                KeptAuthorizationState::Valid => AuthorizationState::Valid,
                KeptAuthorizationState::Invalid => AuthorizationState::Invalid,
                KeptAuthorizationState::Deactivated => AuthorizationState::Deactivated,
                KeptAuthorizationState::Revoked => AuthorizationState::Revoked,
            },
            expires: Time::from_secs(kept.expires),
            challenges: challenges.collect(),
        })
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Certificate<'a> {
    name: Option<Cow<'a, str>>,
    account: Cow<'a, str>,
    order: Cow<'a, str>,
    identifiers: Cow<'a, [Identifier]>,
    not_before: u64,
    not_after: u64,
    der: Bytes<'a>,
    chains: Cow<'a, [String]>,
}

/// It has no version, as it never changes.
impl Record for CertificateRecord {
    const WHAT: &'static str = "certificate";

    fn to_json(&self) -> Result<String, Malformed> {
        serde_json::to_string(&Certificate {
            name: self.name.as_deref().map(Cow::Borrowed),
            account: Cow::Borrowed(&self.account),
            order: Cow::Borrowed(&self.order),
            identifiers: Cow::Borrowed(&self.identifiers),
            not_before: self.not_before.as_secs(),
            not_after: self.not_after.as_secs(),
            der: Bytes::of(&self.der),
            chains: Cow::Borrowed(&self.chains),
        })
    }

    fn from_json(id: &str, _: u64, json: &str) -> Result<Self, Malformed> {
        let kept: Certificate<'_> = read(json)?;
        Ok(Self {
            id: id.into(),
            name: kept.name.map(Cow::into_owned),
            account: kept.account.into_owned(),
            order: kept.order.into_owned(),
            identifiers: kept.identifiers.into(),
            not_before: Time::from_secs(kept.not_before),
            not_after: Time::from_secs(kept.not_after),
            der: kept.der.0.into_owned(),
            chains: kept.chains.into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use core::fmt::Debug;

    use super::*;
    use crate::problem::{ProblemType, Subproblem};
    use crate::store::suite;

    /// Comes back as it was, by all that is shown of it.
    fn comes_back(id: &str, version: u64, record: &(impl Record + Debug)) {
        fn read<R: Record>(_: &R, id: &str, version: u64, json: &str) -> R {
            R::from_json(id, version, json).unwrap()
        }
        let json = record.to_json().unwrap();
        let back = read(record, id, version, &json);
        assert_eq!(format!("{back:?}"), format!("{record:?}"));
        for wrong in ["", "{}", &json[1..], &json.replacen('{', "{\"more\":1,", 1)] {
            assert!(read_fails(record, wrong), "{wrong}");
        }
    }

    fn read_fails<R: Record>(_: &R, json: &str) -> bool {
        R::from_json("id", 0, json).is_err()
    }

    fn problem() -> Problem {
        let mut problem = Problem::new(ProblemType::Dns, "a \0 \u{1f512} \"text\"");
        problem.retry_after = Some(Duration::from_secs(7));
        problem.subproblems = [Subproblem {
            kind: ProblemType::Other("urn:other".into()),
            detail: String::new(),
            identifier: Some(suite::name()),
        }]
        .into();
        problem
    }

    #[test]
    fn records_come_back() {
        let account = AccountRecord {
            version: 7,
            contact: vec!["mailto:a@example.org".into()],
            external: Some(("kid".into(), "{\"a\":1}".into())),
            last_change: LastChange {
                made: 5,
                nonces: vec![suite::nonce(1), suite::nonce(2)],
            },
            ..suite::account("account", 3)
        };
        comes_back("account", 7, &account);
        for state in [
            OrderState::Open,
            OrderState::Processing(Processing {
                csr: [0, 255].into(),
                since: Time::from_secs(5),
            }),
            OrderState::Valid {
                csr: [9; 32],
                certificate: "c".into(),
            },
            OrderState::Invalid(problem()),
        ] {
            let order = OrderRecord {
                state,
                identifiers: [
                    suite::name(),
                    Identifier::Dns("*.example.org".into()),
                    Identifier::Ip([192, 0, 2, 1].into()),
                ]
                .into(),
                not_before: Some(Time::from_secs(1)),
                replaces: Some("r".into()),
                profile: Some("p".into()),
                ..suite::order("order", "account", 4)
            };
            comes_back("order", 0, &order);
            comes_back("order of", 0, &suite::order("order of", "account", 4));
        }
        let mut one = suite::authorization(&suite::order("order", "account", 4));
        for (state, of_challenge) in [
            (AuthorizationState::Pending, ChallengeState::Pending),
            (
                AuthorizationState::Valid,
                ChallengeState::Processing {
                    since: Time::from_secs(u64::MAX),
                },
            ),
            (
                AuthorizationState::Deactivated,
                ChallengeState::Valid {
                    validated: Time::from_secs(5),
                    evidence: "seen".into(),
                },
            ),
            (
                AuthorizationState::Invalid,
                ChallengeState::Invalid(problem()),
            ),
            (AuthorizationState::Revoked, ChallengeState::Pending),
        ] {
            one.state = state;
            one.challenges[0].state = of_challenge;
            one.challenges[0].kind = ChallengeKind::Other("new-01".into());
            comes_back(&one.id, 0, &one);
        }
        let order = suite::order("order", "account", 4);
        let certificate = CertificateRecord {
            der: vec![0, 1, 255],
            chains: vec!["a\nb".into(), String::new()],
            ..suite::certificate(&order)
        };
        comes_back(&certificate.id, 0, &certificate);
    }
}

//! The command `pqtls jwt verify`: its options become the policy that pq-jose checks a token's claims with.

use core::fmt;
use core::time::Duration;

use pq_ca::policy::parse_duration;
use pq_jose::jwt::Policy;
use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::arguments::time;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::passphrases::PassphraseOptions;
use crate::report::{self, Report, printable};

/// Verify a token: its signature and its claims
///
/// By default, a token is refused if it names an issuer or an audience, has no expiry, or has another type
/// than JWT; options say what to accept. The key decides the algorithm, whatever the token says.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The issuer's key or certificate in PEM or DER, its JSON Web Key, a set of them, or its COSE_Key; "-"
    /// is standard input
    #[arg(long, value_name = "FILE")]
    key: Source,

    /// The file with the token; "-" is standard input
    #[arg(default_value = "-", value_name = "FILE")]
    token: Source,

    /// Accept only tokens of this issuer (iss); can be given several times
    #[arg(long, value_name = "NAME", conflicts_with = "any_issuer")]
    issuer: Vec<String>,

    /// Accept tokens of any issuer, or of none
    #[arg(long)]
    any_issuer: bool,

    /// Accept only tokens for this audience (aud); can be given several times
    #[arg(long, value_name = "NAME", conflicts_with = "any_audience")]
    audience: Vec<String>,

    /// Accept tokens for any audience, or for none
    #[arg(long)]
    any_audience: bool,

    /// Accept only tokens about this subject (sub)
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,

    /// Accept only tokens of this type (typ)
    #[arg(long = "type", value_name = "TYPE")]
    type_: Option<String>,

    /// How much clocks may differ, such as 30s
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    leeway: Option<Duration>,

    /// Accept only tokens that were issued at most this long ago, such as 12h
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    max_age: Option<Duration>,

    /// Accept tokens without an expiry, too
    #[arg(long)]
    no_expiry: bool,

    /// Accept only tokens that have this claim; can be given several times
    #[arg(long, value_name = "CLAIM")]
    require: Vec<String>,

    /// Verify for this time, such as 2027-01-31 or 2027-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<UnixTime>,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls jwt verify --key server.pub alice.jwt --issuer id.example.org
  $ pqtls jwt verify --key server.jwk admin.jwt --require role --leeway 30s";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let keys = documents::token_keys(&arguments.key, &arguments.passphrase)?;
    for left_out in keys.left_out() {
        report::warn(format_args!("{}: {left_out}", arguments.key));
    }
    let text = documents::token(&arguments.token)?;
    let at = arguments.at.unwrap_or_else(UnixTime::now);
    let verified = arguments
        .policy()
        .verify_with::<Map<String, Value>>(&text, &keys, at);
    let file = arguments.token.to_string();
    match verified {
        Ok(token) => {
            let report = TokenVerdict {
                valid: true,
                token: file,
                algorithm: Some(token.key().algorithm().name()),
                kid: token.header().kid().map(Into::into),
                claims: Some(token.into_claims().more().clone()),
                reason: None,
            };
            report::print(&report, json)?;
            Ok(ExitStatus::Done)
        }
        Err(error) => {
            let failure = Failure::RefusedToken {
                file: file.clone(),
                at: arguments.at.map(rfc3339),
                error: error.into(),
            };
            if json {
                let report = TokenVerdict {
                    valid: false,
                    token: file,
                    algorithm: None,
                    kid: None,
                    claims: None,
                    reason: Some(failure.to_string()),
                };
                report::print(&report, json)?;
            }
            Err(failure)
        }
    }
}

impl Arguments {
    fn policy(&self) -> Policy {
        let mut policy = Policy::new();
        if self.any_issuer {
            policy = policy.any_issuer();
        }
        for issuer in &self.issuer {
            policy = policy.issuer(issuer);
        }
        if self.any_audience {
            policy = policy.any_audience();
        }
        for audience in &self.audience {
            policy = policy.audience(audience);
        }
        if let Some(subject) = &self.subject {
            policy = policy.subject(subject);
        }
        if let Some(type_) = &self.type_ {
            policy = policy.token_type(type_);
        }
        if let Some(leeway) = self.leeway {
            policy = policy.leeway(leeway);
        }
        if let Some(age) = self.max_age {
            policy = policy.max_age(age);
        }
        if self.no_expiry {
            policy = policy.without_expiry();
        }
        for claim in &self.require {
            policy = policy.require(claim);
        }
        policy
    }
}

#[derive(Debug, Serialize)]
struct TokenVerdict {
    valid: bool,
    token: String,
    algorithm: Option<&'static str>,
    kid: Option<String>,
    /// As the token has them.
    claims: Option<Map<String, Value>>,
    /// Why the token is refused.
    reason: Option<String>,
}

/// The claims that are times (RFC 7519, section 4.1).
const TIMES: [&str; 3] = ["exp", "nbf", "iat"];

fn seconds_since_1970(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

impl Report for TokenVerdict {
    const SCHEMA: &'static str = "jwt-verify/1";
}

impl fmt::Display for TokenVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = self.algorithm.unwrap_or_default();
        writeln!(f, "{}: valid token, signed by {algorithm}", self.token)?;
        for (name, value) in self.claims.iter().flatten() {
            let value = match (value.as_str(), value.as_u64()) {
                (Some(text), _) => text.to_owned(),
                (_, Some(seconds)) if TIMES.contains(&&**name) => {
                    rfc3339(seconds_since_1970(seconds))
                }
                _ => value.to_string(),
            };
            writeln!(f, "  {:<12} {}", printable(name), printable(&value))?;
        }
        Ok(())
    }
}

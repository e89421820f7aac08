//! The command `pqtls jwt sign`: it builds claims from options and a JSON object, and signs them by ML-DSA (RFC 9964).

use core::fmt;
use core::time::Duration;

use pq_ca::policy::parse_duration;
use pq_jose::jwk::Jwk;
use pq_jose::jws::Header;
use pq_jose::jwt::Claims;
use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use crate::arguments::time;
use crate::commands::custody::{KeySource, SignerStore};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::key::KeyFacts;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::passphrases::PassphraseOptions;
use crate::report::Report;

/// Sign a token
///
/// The token says when it was issued and when it expires, and has the claims of the options and of the file of
/// claims. Whoever has the token can use it, so only the owner can read its file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A private ML-DSA key in PEM or DER, as a JSON Web Key or as a COSE_Key, or store:NAME for one in a key store; "-" is standard input
    #[arg(long, value_name = "FILE")]
    key: KeySource,

    /// Further claims: a file with a JSON object; "-" is standard input
    #[arg(long, value_name = "FILE")]
    claims: Option<Source>,

    /// Who issues the token (iss)
    #[arg(long, value_name = "NAME")]
    issuer: Option<String>,

    /// Who the token is about (sub)
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,

    /// Who the token is for (aud); can be given several times
    #[arg(long, value_name = "NAME")]
    audience: Vec<String>,

    /// How long the token is valid, such as 15min, 12h or 30d
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1h")]
    validity: Duration,

    /// Make a token that never expires
    #[arg(long, conflicts_with = "validity")]
    no_expiry: bool,

    /// When the token becomes valid (nbf), such as 2027-01-31 or 2027-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    not_before: Option<UnixTime>,

    /// An identifier of the token (jti)
    #[arg(long, value_name = "TEXT")]
    id: Option<String>,

    /// The type of the token (typ) [default: JWT]
    #[arg(long = "type", value_name = "TYPE")]
    type_: Option<String>,

    /// The identifier of the key (kid) [default: the thumbprint of RFC 7638]
    #[arg(long, value_name = "TEXT")]
    kid: Option<String>,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten, next_help_heading = "Key store, for --key store:NAME")]
    key_store: SignerStore,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls jwt sign --key server.key --issuer id.example.org --subject alice --out alice.jwt
  $ echo '{\"role\": \"admin\"}' | pqtls jwt sign --key server.key --claims - --out admin.jwt";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let (key, public) = arguments
        .key_store
        .post_quantum_signer(&arguments.key, &arguments.passphrase)?;
    let public = Jwk::new(public)?;
    let kid = arguments.kid.clone();
    let kid = kid.unwrap_or_else(|| public.thumbprint().to_string());
    let more = match &arguments.claims {
        Some(file) => documents::claims(file)?,
        None => serde_json::Map::new(),
    };
    let claims = arguments.claims(UnixTime::now()).with_more(more);
    if let (Some(from), Some(until)) = (arguments.not_before, claims.expiry())
        && from >= until
    {
        return Err(Failure::ExpiresFirst {
            from: rfc3339(from),
            until: rfc3339(until),
        });
    }
    let mut header = Header::new().with_kid(&kid);
    if let Some(type_) = &arguments.type_ {
        header = header.with_type(type_);
    }
    let token = claims.sign(&header, &*key)? + "\n";
    let report = TokenSigned {
        key: KeyFacts::of(&public.verifying_key().clone().into()),
        kid,
        expires: claims.expiry().map(rfc3339),
        file: out.to_string(),
    };
    let output = Output {
        to: out,
        content: token.as_bytes(),
        access: Access::Private,
        is_binary: false,
    };
    delivery.deliver(&[output], &report)
}

impl Arguments {
    fn claims(&self, now: UnixTime) -> Claims {
        let mut claims = match self.no_expiry {
            true => Claims::new().with_issued_at(now),
            false => Claims::new().with_lifetime(now, self.validity),
        };
        if let Some(issuer) = &self.issuer {
            claims = claims.with_issuer(issuer);
        }
        if let Some(subject) = &self.subject {
            claims = claims.with_subject(subject);
        }
        for audience in &self.audience {
            claims = claims.with_audience(audience);
        }
        if let Some(time) = self.not_before {
            claims = claims.with_not_before(time);
        }
        if let Some(id) = &self.id {
            claims = claims.with_id(id);
        }
        claims
    }
}

/// A token that was made.
#[derive(Debug, Serialize)]
struct TokenSigned {
    #[serde(flatten)]
    key: KeyFacts,
    kid: String,
    expires: Option<String>,
    file: String,
}

impl Report for TokenSigned {
    const SCHEMA: &'static str = "jwt-sign/1";
}

impl fmt::Display for TokenSigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: token signed by {}", self.file, self.key.algorithm)?;
        match &self.expires {
            Some(time) => writeln!(f, "  expires      {time}")?,
            None => writeln!(f, "  expires      never")?,
        }
        writeln!(f, "  key          {}", self.kid)
    }
}

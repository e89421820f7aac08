//! Why there is no certificate by ACME.

use core::net::SocketAddr;
use std::io;

use pq_acme::client::ClientError;
use pq_acme::problem::ProblemType;
use pq_acme_client::{AccountError, NoAnswer, ObtainError, ShowingError};
use pq_keys::files::FileError;

use super::Failure;
use crate::exit_status::ExitStatus;
use crate::files::OutputError;

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AcmeFailure {
    #[error("{0}{advice}", advice = advice(.0))]
    Client(ClientError),
    #[error("{url} can't be asked: {what}")]
    NoAnswer { url: String, what: String },
    #[error("--from is the URL of an ACME server's directory, and {url:?} is of no use: {why}")]
    Url { url: String, why: String },
    #[error(
        "no roots are known by which the ACME server could be trusted: this system has no file of them in the usual places; \
         name one with --trust"
    )]
    NoRoots,
    #[error("TLS can't be used: {0}")]
    Tls(String),
    #[error(
        "challenges of the kind {kind} can't be answered at {address}: {error}; if another server has this port, let that one \
         answer (--webroot), or name another address that the CA's requests are sent on to"
    )]
    Listen {
        kind: String,
        address: SocketAddr,
        #[source]
        error: io::Error,
    },
    /// What the library says, in its words.
    #[error("{0}")]
    Other(String),
    #[error(
        "{0} is of no use as the key of an account: it has to be of ML-DSA, ECDSA on P-256 or P-384, Ed25519 or RSA"
    )]
    AccountKey(String),
    #[error("{0} has no names in it, and ACME's certificates are for DNS names and IP addresses")]
    Nameless(String),
    #[error("{file} names {name}, and ACME's certificates are for DNS names and IP addresses only")]
    OtherName { file: String, name: String },
    #[error("{file} is not a key in base64url, as CAs give it out for --eab-kid: {why}")]
    ExternalKey { file: String, why: String },
    #[error("{file} can't be used as a name server's key: {why}")]
    DnsKey { file: String, why: String },
    #[error("--{option} needs a file to write the certificate to; name one with --out")]
    NeedsFile { option: &'static str },
    #[error(
        "{file} is what an interrupted run left of a new key with its certificate, and it can't be read: {why}; look at it, and remove it"
    )]
    Pending { file: String, why: String },
    #[error(
        "the server takes keys of {0} for accounts, none of which this program makes; use another server"
    )]
    NoAccountKey(String),
    #[error("the accounts can't be read or changed: {0}")]
    Objects(String),
    #[error(
        "there are no accounts: {0} is missing; \"pqtls ca serve --acme\" makes it, or it is elsewhere, which --acme-objects says"
    )]
    NoObjects(String),
    #[error(
        "{0} is in use by another process, which is the server, so that accounts can't be shown; stop it first; but --end works \
         meanwhile"
    )]
    ObjectsInUse(String),
    #[error("there is no account {0}; see which there are: \"pqtls ca accounts\"")]
    NoAccount(String),
    #[error(
        "the server can't be asked to end the account: {0}; do it as a user who may write beside the file of accounts"
    )]
    NotAsked(String),
    #[error(
        "the server did not end the account {0} within 30 s; it is asked to, and may do so yet: look at its log"
    )]
    NotEnded(String),
}

impl AcmeFailure {
    pub(super) fn status(&self) -> ExitStatus {
        match self {
            Self::Client(error) => of_client(error),
            Self::NoAnswer { .. }
            | Self::NoRoots
            | Self::Tls(_)
            | Self::Listen { .. }
            | Self::Other(_)
            | Self::ExternalKey { .. }
            | Self::DnsKey { .. }
            | Self::Pending { .. }
            | Self::Objects(_)
            | Self::NoObjects(_)
            | Self::ObjectsInUse(_)
            | Self::NotAsked(_)
            | Self::NotEnded(_) => ExitStatus::InputOutput,
            Self::Url { .. }
            | Self::Nameless(_)
            | Self::OtherName { .. }
            | Self::NeedsFile { .. } => ExitStatus::Usage,
            Self::AccountKey(_) | Self::NoAccountKey(_) | Self::NoAccount(_) => ExitStatus::Refused,
        }
    }
}

/// What to do about a server that doesn't answer.
pub(crate) fn advice_on_no_answer(why: &NoAnswer) -> &'static str {
    match why.is_untrusted() {
        true => "; name its root with --trust",
        false => "",
    }
}

impl From<ObtainError<Self>> for Failure {
    fn from(error: ObtainError<Self>) -> Self {
        match error {
            ObtainError::Client(error) => AcmeFailure::Client(error).into(),
            ObtainError::NoAnswer { url, why } => {
                let what = format!("{why}{}", advice_on_no_answer(&why));
                AcmeFailure::NoAnswer { url, what }.into()
            }
            ObtainError::AccountKey(file) => {
                AcmeFailure::AccountKey(file.display().to_string()).into()
            }
            ObtainError::Account(error) => error.into(),
            ObtainError::Showing(failure) => failure,
            other => AcmeFailure::Other(other.to_string()).into(),
        }
    }
}

impl From<AccountError> for Failure {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::Write(FileError::Exists { path, .. }) => {
                OutputError::Exists(path.display().to_string()).into()
            }
            AccountError::Write(
                FileError::Write { path, error } | FileError::Sync { path, error },
            ) => OutputError::at(&path, error).into(),
            AccountError::NoKind(taken) => AcmeFailure::NoAccountKey(taken).into(),
            AccountError::Making(error) => crate::keys::KeyError::from(error).into(),
            other => AcmeFailure::Other(other.to_string()).into(),
        }
    }
}

impl From<ShowingError> for Failure {
    fn from(error: ShowingError) -> Self {
        match error {
            ShowingError::Listen {
                kind,
                address,
                error,
            } => AcmeFailure::Listen {
                kind: kind.to_string(),
                address,
                error,
            },
            ShowingError::Tls(what) => AcmeFailure::Tls(what),
            other => AcmeFailure::Other(other.to_string()),
        }
        .into()
    }
}

fn of_client(error: &ClientError) -> ExitStatus {
    match error {
        ClientError::Terms(_)
        | ClientError::NoExternalAccount
        | ClientError::NoProfile { .. }
        | ClientError::NoChallenge { .. } => ExitStatus::Usage,
        ClientError::Refused { problem, .. } => match problem.kind {
            ProblemType::RejectedIdentifier | ProblemType::Caa => ExitStatus::Policy,
            _ => ExitStatus::Refused,
        },
        _ => ExitStatus::Refused,
    }
}

/// What to do.
fn advice(error: &ClientError) -> &'static str {
    match error {
        ClientError::Terms(_) => "; read them, and use --agree-terms",
        ClientError::NoExternalAccount => {
            "; use --eab-kid and --eab-key-file with what the CA gave you"
        }
        ClientError::NoProfile { .. } => "; choose another --profile, or leave it out",
        ClientError::NoChallenge { .. } => {
            "; choose among --http-01, --webroot, --tls-alpn-01, and --dns-hook or --dns-update, which wildcards need"
        }
        _ => "",
    }
}

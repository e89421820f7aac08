//! The way to a certificate: requests are sent, challenges are shown, and what the server wants waited for is waited for.

use core::fmt;
use std::path::PathBuf;

use pq_acme::client::{ClientError, Issued, Method, Obtaining, Step, Wanted};
use pq_acme::objects::Time;
use pq_keys::Signer;
use pq_keys::pki_types::UnixTime;
use tokio::time::sleep;

use crate::account::{Account, AccountError};
use crate::https::{Https, NoAnswer};
use crate::showing::{Showing, Visible};

/// Why there is no certificate. `E` is why challenges are not shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObtainError<E> {
    /// The server refuses, or says what can't be used.
    #[error("{0}")]
    Client(ClientError),
    /// The server doesn't answer.
    #[error("{url} can't be asked: {why}")]
    NoAnswer {
        /// What was asked.
        url: String,
        /// Why there is no answer.
        why: NoAnswer,
    },
    /// The key can't be that of an account.
    #[error(
        "{} is of no use as the key of an account: it has to be of ML-DSA, ECDSA on P-256 or P-384, Ed25519 or RSA", .0.display()
    )]
    AccountKey(PathBuf),
    /// There is no key that the server takes, or it can't be written.
    #[error("{0}")]
    Account(AccountError),
    /// Challenges can't be shown.
    #[error("{0}")]
    Showing(E),
}

impl<E> From<ClientError> for ObtainError<E> {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl<E> From<AccountError> for ObtainError<E> {
    fn from(error: AccountError) -> Self {
        Self::Account(error)
    }
}

/// What happens on the way and may interest somebody. It says what in its text.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// There was no answer, so the same is asked again.
    Again {
        /// What was asked.
        url: &'a str,
        /// Why there is no answer.
        why: &'a NoAnswer,
    },
    /// The account has a key of another kind now.
    OtherKind {
        /// That of before, as JOSE calls it.
        before: &'a str,
        /// That of now.
        now: &'a str,
    },
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Again { url, why } => write!(f, "{url}: {why}; it is tried again"),
            Self::OtherKind { before, now } => write!(
                f,
                "the CA takes no account with a key of {before}; the account's key is of {now}"
            ),
        }
    }
}

/// Obtains a certificate from the CA with this directory. What is wanted is asked for by the account, which is made if there is
/// none, with a key of a kind that the server takes; `wanted` need not say whether there is one, and takes its challenges from
/// `showing`. `notice` hears what happens on the way.
///
/// The certificate was found to be for the key and the names that were asked for.
///
/// # Errors
///
/// [`ObtainError`] says what keeps it from coming.
pub async fn obtain<S: Showing>(
    https: &mut Https,
    directory: &str,
    account: &mut Account,
    wanted: &Wanted,
    showing: &S,
    notice: &(dyn Fn(Notice<'_>) + Sync),
) -> Result<Issued, ObtainError<S::Error>> {
    let mut tried = Vec::new();
    loop {
        let mut wanted = wanted.clone();
        wanted.challenges = showing.kinds();
        wanted.has_account = account.is_old();
        let mut obtaining =
            Obtaining::new(directory, account.key(), wanted).map_err(|error| match error {
                ClientError::Key(_) => ObtainError::AccountKey(account.file().into()),
                other => ObtainError::Client(other),
            })?;
        match go(https, &mut obtaining, account, showing, notice).await {
            Err(ObtainError::Client(ClientError::AccountKey { algorithm, problem }))
                if !account.is_old() =>
            {
                tried.push(algorithm.to_owned());
                let now = account.change_kind(&problem, &tried).await?;
                let before = algorithm;
                notice(Notice::OtherKind { before, now });
            }
            Ok(issued) => {
                account.is_known();
                return Ok(issued);
            }
            refused => return refused,
        }
    }
}

/// Does what the client asks for, until there is the certificate.
async fn go<K: Signer + ?Sized, S: Showing>(
    https: &mut Https,
    obtaining: &mut Obtaining<'_, K>,
    account: &Account,
    showing: &S,
    notice: &(dyn Fn(Notice<'_>) + Sync),
) -> Result<Issued, ObtainError<S::Error>> {
    let now = || Time::from(UnixTime::now());
    let mut visible = Visible::default();
    let mut was_answered = false;
    loop {
        match obtaining.next(now())? {
            Step::Send(request) => {
                if request.method == Method::Post {
                    account.write().await?;
                }
                match https.send(&request).await {
                    Ok(answer) => {
                        was_answered = true;
                        obtaining.received(&answer, now())?;
                    }
                    Err(why) => {
                        let may_try =
                            was_answered && !why.is_final() && obtaining.unanswered(now());
                        let url = request.url;
                        if !may_try {
                            return Err(ObtainError::NoAnswer { url, why });
                        }
                        notice(Notice::Again {
                            url: &url,
                            why: &why,
                        });
                    }
                }
            }
            Step::Wait(time) => sleep(time).await,
            Step::Show(shown) => {
                visible = showing.show(&shown).await.map_err(ObtainError::Showing)?;
                obtaining.shown();
            }
            Step::Done(issued) => {
                drop(visible);
                return Ok(issued);
            }
        }
    }
}

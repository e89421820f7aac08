//! Why the key of Vault or OpenBao that a key store is sealed under can't be asked for.

use pq_keystore::remote::{InvalidAddress, TokenSourceError};

use crate::exit_status::ExitStatus;

/// Why the address of a key leads nowhere. No text has anything of the address, since there may be a token in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TransitFailure {
    #[error("the address of the key that the store is sealed under: {0}")]
    Address(InvalidAddress),
    #[error("the address of the key that the store is sealed under: {option} has {problem}")]
    Option {
        option: &'static str,
        problem: &'static str,
    },
    #[error(
        "the address of the key that the store is sealed under has an option that isn't one: there are cacert, token_file, \
         token_credential, namespace and timeout"
    )]
    UnknownOption,
    #[error(
        "the address of the key that the store is sealed under has an option twice, or two for the token"
    )]
    Twice,
    #[error(
        "the address of the key that the store is sealed under has a token in it, which others may have read: revoke the token, \
         and give another by a file (?token_file=FILE), a credential of systemd (?token_credential=NAME) or VAULT_TOKEN"
    )]
    TokenInAddress,
    #[error(
        "which CA certified the Vault or OpenBao server? Name its root by ?cacert=FILE in the key's address or by VAULT_CACERT"
    )]
    NoRoots,
    #[error(
        "a Vault or OpenBao server wants a token: name its file by ?token_file=FILE in the key's address, or a credential of \
         systemd by ?token_credential=NAME, or set VAULT_TOKEN"
    )]
    NoToken,
    #[error(
        "VAULT_TOKEN is of one server, and the two keys are on two: name the file of at least one token by ?token_file=FILE in a \
         key's address"
    )]
    OneTokenForTwo,
    #[error("the Vault or OpenBao server: {0}")]
    Token(TokenSourceError),
    #[error("the connection to the Vault or OpenBao server can't be protected: {0}")]
    Tls(String),
}

impl TransitFailure {
    pub(super) fn status(&self) -> ExitStatus {
        match self {
            Self::Address(_)
            | Self::Option { .. }
            | Self::UnknownOption
            | Self::Twice
            | Self::TokenInAddress
            | Self::NoRoots
            | Self::NoToken
            | Self::OneTokenForTwo => ExitStatus::Usage,
            Self::Token(_) | Self::Tls(_) => ExitStatus::InputOutput,
        }
    }
}

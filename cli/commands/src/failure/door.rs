//! Why a command can't use a key behind a door.

use pq_keystore::KeyName;
use pq_keystore::remote::{InvalidAddress, RemoteError, TokenSourceError, TransportError};

use crate::exit_status::ExitStatus;

/// Why the address of a store behind a door can't be read. It has nothing of the address, since there may be a token in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum InvalidDoorAddress {
    #[error(transparent)]
    Address(#[from] InvalidAddress),
    #[error("its options are connect_timeout=SECONDS and timeout=SECONDS")]
    UnknownOption,
    #[error("one of its times has {0}")]
    Time(&'static str),
}

/// Why the door to a key store does not do something.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoorFailure {
    #[error("the store's address: {0}")]
    Address(InvalidDoorAddress),
    #[error(
        "who are you to the store? Give your token by --store-token-file FILE or --store-token-credential NAME, or a certificate \
         by --store-cert FILE and --store-cert-key FILE"
    )]
    NobodyAsks,
    #[error("a certificate has a key: give both --store-cert FILE and --store-cert-key FILE")]
    HalfACertificate,
    #[error(
        "--as is for stores that are opened here; at https://, your token or certificate says who you are"
    )]
    As,
    #[error(
        "which CA certified the store's server? Name its root by --store-ca FILE or by the environment variable PQTLS_STORE_CA"
    )]
    NoRoots,
    #[error("for the store: {0}")]
    Token(TokenSourceError),
    #[error("the connection to the store's server can't be protected: {0}")]
    Tls(String),
    #[error("the store {door}: {error}{}", advice(.error))]
    Remote { door: String, error: RemoteError },
    #[error("the store {door}: there is no key {key}")]
    NoKey { door: String, key: String },
    #[error("the store {door}: there is no version {version}")]
    NoVersion { door: String, version: String },
    #[error(
        "the store {door}: no version of {key} is enabled; enable one where the store is (\"pqtls store enable\")"
    )]
    NoneEnabled { door: String, key: String },
    #[error(
        "the store {0}: the key server doesn't say which version it made, so another process may have it, too; keys that have to \
         be one process's alone need \"pqtls store serve\" of this program"
    )]
    UnsaidVersion(String),
    #[error(
        "{0} is the name of a key in a store; at https://, the mount stands for tenant and purpose, so write {name}", name = .0.name()
    )]
    FullName(KeyName),
    #[error(
        "which version made the signature? At https://, name it with --key NAME#VERSION, or give the signature's text, which names it"
    )]
    VersionNeeded,
    #[error(
        "this needs the store itself, and {0} is the door to one; run it where the store is, with --store FILE or postgres://…"
    )]
    NeedsStore(String),
    #[error(
        "the server of {0} says who may do what with new keys, and how they are used (\"pqtls store serve --new-keys\"); leave \
         --policy and --grant out"
    )]
    PolicyOfServer(String),
    #[error(
        "{key} exists already behind {door}; choose another name, or make its next version by \"pqtls store rotate\""
    )]
    Exists { door: String, key: String },
}

impl DoorFailure {
    pub(super) fn status(&self) -> ExitStatus {
        match self {
            Self::Address(_)
            | Self::NobodyAsks
            | Self::HalfACertificate
            | Self::As
            | Self::NoRoots
            | Self::FullName(_)
            | Self::VersionNeeded
            | Self::NeedsStore(_)
            | Self::PolicyOfServer(_) => ExitStatus::Usage,
            Self::Token(_) | Self::Tls(_) => ExitStatus::InputOutput,
            Self::NoKey { .. }
            | Self::NoVersion { .. }
            | Self::NoneEnabled { .. }
            | Self::UnsaidVersion(_)
            | Self::Exists { .. } => ExitStatus::Refused,
            Self::Remote { error, .. } => match error {
                RemoteError::Refused {
                    status: 401 | 403, ..
                } => ExitStatus::Policy,
                error if error.retry() => ExitStatus::InputOutput,
                RemoteError::Transport(_) | RemoteError::Answer(_) => ExitStatus::InputOutput,
                _ => ExitStatus::Refused,
            },
        }
    }

    /// The stable name of what happened, which is that of a store where it means the same.
    pub(super) fn code(&self) -> Option<&'static str> {
        Some(match self {
            Self::Remote { error, .. } => match error {
                RemoteError::Refused {
                    status: 401 | 403, ..
                } => "denied",
                error if error.retry() => "away",
                RemoteError::WrongSignature => "invalid-signature",
                _ => return None,
            },
            Self::NoKey { .. } => "not-found",
            Self::NoVersion { .. } => "version-not-found",
            Self::NoneEnabled { .. } => "no-enabled-version",
            Self::Exists { .. } => "exists",
            Self::VersionNeeded => "version-needed",
            _ => return None,
        })
    }

    /// Whether trying the same again helps.
    pub(crate) fn retry(&self) -> bool {
        matches!(self, Self::Remote { error, .. } if error.retry())
    }
}

fn advice(error: &RemoteError) -> &'static str {
    match error {
        RemoteError::Transport(TransportError::Tls(_)) => {
            "; check that --store-ca has the root of the CA that certified it, that its certificate is for this name, and, if it wants \
             one of yours, --store-cert"
        }
        // As the server said itself
        error if error.retry() && error.to_string().ends_with("try again") => "",
        error if error.retry() => "; try again once it answers",
        RemoteError::Refused {
            status: 401 | 403, ..
        } => {
            "; check your token or certificate, and have what you want to do granted to its principal where the store is (\"pqtls store \
             policy set\" or \"pqtls store grants set\")"
        }
        RemoteError::Refused { status: 404, .. } => {
            "; check the mount in the address, and the name of the key"
        }
        RemoteError::Refused { status: 413, .. } => {
            "; sign its µ (\"pqtls mu\"), or have the server take longer bodies (\"pqtls store serve --max-body\")"
        }
        RemoteError::Answer(_) => "; check that the address is that of a key server",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_advises_is_not_said_again() {
        let said = |what: &str| {
            let error = RemoteError::Refused {
                status: 503,
                errors: vec![what.into()],
            };
            let door = "https://keys.example".into();
            DoorFailure::Remote { door, error }.to_string()
        };
        let full = said("the storage is away (away); try again");
        assert_eq!(full.matches("try again").count(), 1, "{full}");
        let short = said("the storage is away");
        assert!(short.ends_with("; try again once it answers"), "{short}");
    }
}

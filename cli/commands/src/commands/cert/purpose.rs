//! The values of `--purpose`, as `pqtls cert self-sign` and `pqtls cert verify` take them.

use clap::ValueEnum;
use serde::Serialize;

/// What a certificate is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Purpose {
    /// A TLS server
    Server,
    /// A TLS client
    Client,
}

impl From<Purpose> for pq_x509::validation::Purpose {
    fn from(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Server => Self::ServerAuth,
            Purpose::Client => Self::ClientAuth,
        }
    }
}

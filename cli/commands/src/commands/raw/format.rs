//! The formats of signatures, ciphertexts and secrets in files: raw bytes, which terminals don't get, or a line of
//! hexadecimal or base64.

use clap::ValueEnum;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::commands::text::{TextEncoding, line};
use crate::failure::Failure;
use crate::files::{self, Access, Destination, Output};

/// How a signature, a ciphertext or a secret is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(in crate::commands) enum Format {
    /// The bytes as they are
    Raw,
    /// One line of hexadecimal
    Hex,
    /// One line of base64
    Base64,
}

impl Format {
    /// Refuses bytes on a terminal, before time is spent on making them.
    pub(in crate::commands) fn check(self, to: &Destination) -> Result<(), Failure> {
        match self {
            Self::Raw => Ok(files::check_binary(to)?),
            Self::Hex | Self::Base64 => Ok(()),
        }
    }

    /// Encodes the bytes for a file.
    pub(in crate::commands) fn encode(self, bytes: &[u8]) -> Zeroizing<Vec<u8>> {
        match self {
            Self::Raw => Zeroizing::new(bytes.to_vec()),
            Self::Hex => line(bytes, TextEncoding::Hex),
            Self::Base64 => line(bytes, TextEncoding::Base64),
        }
    }

    /// The output for encoded bytes.
    pub(in crate::commands) fn output<'a>(
        self,
        to: &'a Destination,
        content: &'a [u8],
        access: Access,
    ) -> Output<'a> {
        Output {
            to,
            content,
            access,
            is_binary: self == Self::Raw,
        }
    }
}

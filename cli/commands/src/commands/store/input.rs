//! What is signed or verified: a message with a context, or µ in its place.

use pq_cms::AttributesGuard;
use pq_keystore::policy::Input;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::commands::raw::message::{self, ContextOptions};
use crate::documents;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;
use crate::report::hex;

/// The longest message, in bytes; a key's policy may permit less.
const LIMIT: usize = 64 * 1024 * 1024;

const MU_LEN: usize = 64;

/// What signer and verifier have to agree on.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct AgreedOptions {
    #[command(flatten)]
    context: ContextOptions,

    /// FILE is the message's µ: 64 bytes, raw, in hexadecimal or in base64. The key is an ML-DSA key; see
    /// "pqtls mu"
    #[arg(long, conflicts_with_all = ["context", "context_hex"])]
    mu: bool,
}

/// A message, or its µ.
pub(super) enum Content {
    Message(Zeroizing<Vec<u8>>),
    Mu([u8; MU_LEN]),
}

impl AgreedOptions {
    /// Reads what is signed or verified.
    pub(super) fn read(&self, file: &Source) -> Result<(Content, InputFacts), Failure> {
        let content = match self.mu {
            true => {
                let mut mu = [0; MU_LEN];
                mu.copy_from_slice(&documents::raw_bytes(file, "µ", MU_LEN)?);
                Content::Mu(mu)
            }
            false => {
                let message = file.read_message(LIMIT)?;
                Content::Message(message.ok_or_else(|| StoreFailure::LargeMessage {
                    file: file.to_string(),
                    mebibytes: LIMIT >> 20,
                })?)
            }
        };
        let facts = InputFacts {
            message: file.to_string(),
            context: hex(self.context.as_bytes()),
            mu: self.mu,
        };
        Ok((content, facts))
    }

    /// Reads what is to be signed, and refuses what may be the signed attributes of a CMS message.
    pub(super) fn read_to_sign(&self, file: &Source) -> Result<(Content, InputFacts), Failure> {
        let (content, facts) = self.read(file)?;
        if let Content::Message(message) = &content {
            let mut guard = AttributesGuard::new();
            guard.update(message);
            message::check_to_sign(guard.may_be_attributes(), &facts.context, &facts.message)?;
        }
        Ok((content, facts))
    }

    pub(super) fn input<'a>(&'a self, content: &'a Content) -> Input<'a> {
        match content {
            Content::Message(message) => Input::Message {
                message,
                context: self.context.as_bytes(),
            },
            Content::Mu(mu) => Input::Mu(mu),
        }
    }
}

/// What was signed.
#[derive(Debug, Serialize)]
pub(super) struct InputFacts {
    message: String,
    /// In hexadecimal.
    context: String,
    mu: bool,
}

impl InputFacts {
    /// The message for sentences, such as `µ in message.mu`.
    pub(super) fn name(&self) -> String {
        match self.mu {
            true => format!("µ in {}", self.message),
            false => self.message.clone(),
        }
    }
}

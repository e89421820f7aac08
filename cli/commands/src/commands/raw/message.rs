//! What `pqtls sign`, `pqtls verify` and `pqtls mu` share: options for context, pre-hash and µ, and the message, which
//! is hashed while it is read if its algorithm allows. Messages that may be the signed attributes of CMS are not
//! signed.

use core::fmt;

use pq_cms::AttributesGuard;
use pq_keys::signing::Mode;
use pq_keys::signing::{HashedMessage, MessageHasher, PreHash, SignatureOptions};
use pq_keys::{KeyError, SignatureAlgorithm, VerifyingKey};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::arguments::{
    Context, context_of_hex, context_of_text, list_of_pre_hashes, pre_hash as pre_hash_parser,
};
use crate::documents;
use crate::failure::Failure;
use crate::files::Source;
use crate::progress::Progress;
use crate::report::{hex, printable};

/// A context, or none.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct ContextOptions {
    /// A text that keeps signatures for different purposes apart, at most 255 bytes; without it the
    /// context is empty, as in certificates and TLS
    #[arg(long, value_name = "TEXT", value_parser = context_of_text)]
    context: Option<Context>,

    /// A context of bytes, in hexadecimal
    #[arg(
        long,
        value_name = "HEX",
        value_parser = context_of_hex,
        conflicts_with = "context"
    )]
    context_hex: Option<Context>,
}

impl ContextOptions {
    pub(in crate::commands) fn as_bytes(&self) -> &[u8] {
        let context = self.context.as_ref().or(self.context_hex.as_ref());
        context.map_or(&[], Context::as_bytes)
    }
}

/// What signer and verifier have to agree on.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct AgreedOptions {
    #[command(flatten)]
    context: ContextOptions,

    #[arg(
        long,
        value_name = "HASH",
        value_parser = pre_hash_parser(),
        ignore_case = true,
        hide_possible_values = true,
        help = format!(
            "Sign or verify a hash of the message, by HashML-DSA or HashSLH-DSA; HASH is one of {}",
            list_of_pre_hashes()
        ),
    )]
    pre_hash: Option<PreHash>,

    /// FILE is the message's µ: 64 bytes, raw, in hexadecimal or in base64. The key is an ML-DSA key; see
    /// "pqtls mu"
    #[arg(long, conflicts_with_all = ["context", "context_hex", "pre_hash"])]
    mu: bool,
}

impl AgreedOptions {
    pub(super) fn options(&self) -> SignatureOptions<'_> {
        let options = SignatureOptions::new().context(self.context.as_bytes());
        self.pre_hash.map_or(options, |hash| options.pre_hash(hash))
    }

    pub(super) fn context(&self) -> &[u8] {
        self.context.as_bytes()
    }

    /// Reads the message, or hashes it while it is read. Returns what a key signs or verifies, and the
    /// facts for the report.
    pub(super) fn read(
        &self,
        file: &Source,
        key: &VerifyingKey,
        hasher: impl FnOnce(&SignatureOptions<'_>) -> Result<MessageHasher, KeyError>,
    ) -> Result<(Message, MessageFacts), Failure> {
        let mut guard = AttributesGuard::new();
        let (message, bytes) = match self.mu {
            true => (Message::Hashed(mu_in(file)?), None),
            false => match hasher(&self.options()) {
                Ok(hasher) => {
                    let (message, bytes) = hash(file, hasher, &mut guard)?;
                    (Message::Hashed(message), Some(bytes))
                }
                Err(KeyError::CannotStream(algorithm)) => {
                    let message = whole(file, algorithm)?;
                    guard.update(&message);
                    let bytes = message.len() as u64;
                    (Message::Whole(message), Some(bytes))
                }
                Err(error) => return Err(error.into()),
            },
        };
        let own = || (key.mode() == Mode::PreHash).then(|| key.algorithm().usual_pre_hash());
        let facts = MessageFacts {
            message: file.to_string(),
            bytes,
            context: hex(self.context.as_bytes()),
            readable_context: readable(self.context.as_bytes()),
            pre_hash: self.pre_hash.or_else(own).map(PreHash::name),
            mu: self.mu,
            may_be_attributes: guard.may_be_attributes(),
        };
        Ok((message, facts))
    }
}

/// A message, in memory only if it has to be.
pub(super) enum Message {
    Whole(Zeroizing<Vec<u8>>),
    Hashed(HashedMessage),
}

/// Hashes a file of any size, and returns how many bytes it had.
pub(super) fn hash(
    file: &Source,
    mut hasher: MessageHasher,
    guard: &mut AttributesGuard,
) -> Result<(HashedMessage, u64), Failure> {
    let mut progress = Progress::of(file.len());
    let bytes = file.stream(|piece| {
        hasher.update(piece);
        guard.update(piece);
        progress.add(piece.len());
    })?;
    Ok((hasher.finish(), bytes))
}

/// Refuses what may be the signed attributes of a CMS message, unless a context keeps the signature apart from those of
/// CMS, which have none: it would be one of the content that the attributes are for.
pub(in crate::commands) fn check_to_sign(
    may_be_attributes: bool,
    context: &str,
    file: &str,
) -> Result<(), Failure> {
    match may_be_attributes && context.is_empty() {
        true => Err(Failure::MayBeAttributes(file.into())),
        false => Ok(()),
    }
}

/// The longest message for SLH-DSA without a pre-hash, in bytes.
const WHOLE_LIMIT: usize = 64 * 1024 * 1024;

fn whole(file: &Source, algorithm: SignatureAlgorithm) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let message = file.read_message(WHOLE_LIMIT)?;
    message.ok_or_else(|| Failure::TooLargeForMemory {
        file: file.to_string(),
        mebibytes: WHOLE_LIMIT >> 20,
        algorithm,
    })
}

fn mu_in(file: &Source) -> Result<HashedMessage, Failure> {
    const LEN: usize = 64;
    let bytes = documents::raw_bytes(file, "µ", LEN)?;
    let mut mu = [0; LEN];
    mu.copy_from_slice(&bytes);
    Ok(HashedMessage::from_mu(mu))
}

/// A context as the user probably gave it.
fn readable(context: &[u8]) -> String {
    match core::str::from_utf8(context) {
        Ok(text) if !text.contains(char::is_control) => printable(text),
        _ => format!("{} in hexadecimal", hex(context)),
    }
}

/// What was signed.
#[derive(Debug, Serialize)]
pub(super) struct MessageFacts {
    message: String,
    /// The message's length, unless µ was given in its place.
    bytes: Option<u64>,
    /// In hexadecimal.
    context: String,
    #[serde(skip)]
    readable_context: String,
    pre_hash: Option<&'static str>,
    mu: bool,
    #[serde(skip)]
    may_be_attributes: bool,
}

impl MessageFacts {
    /// Refuses to sign what [`check_to_sign`] refuses.
    pub(super) fn check_to_sign(&self) -> Result<(), Failure> {
        // a pre-hash keeps signatures apart, too
        match self.pre_hash {
            Some(_) => Ok(()),
            None => check_to_sign(self.may_be_attributes, &self.context, &self.message),
        }
    }

    /// The message for sentences, such as `µ in message.mu`.
    pub(super) fn name(&self) -> String {
        match self.mu {
            true => format!("µ in {}", self.message),
            false => self.message.clone(),
        }
    }

    /// What to check when the signature is not valid.
    pub(super) fn advice(&self) -> &'static str {
        if self.mu {
            "check that µ is of the right message, key and context"
        } else if self.context.is_empty() && self.pre_hash.is_none() {
            "check that both are the right ones, and ask the signer for a --context and a --pre-hash"
        } else {
            "check that both are the right ones, and that --context and --pre-hash are the signer's"
        }
    }
}

impl fmt::Display for MessageFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.context.is_empty() {
            writeln!(f, "  context      {}", self.readable_context)?;
        }
        if let Some(hash) = self.pre_hash {
            writeln!(f, "  pre-hash     {hash}")?;
        }
        Ok(())
    }
}

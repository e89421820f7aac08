//! Heads of the log, signed by the store.

use core::fmt;
use core::str::FromStr;

use base64ct::{Base64, Encoding};
use pq_keys::any::{AnyKeyError, AnyPublicKey, AnySigningKey};

use crate::encoding::Writer;
use crate::storage::LogHead;

const FORMAT: u8 = 1;
const TITLE: &str = "pq-keystore log head 1";

/// What keeps the store's signatures of heads apart from others.
const CONTEXT: &[u8] = b"pq-keystore head";

/// The longest text that can be one: an ML-DSA-65 signature in base64, and some numbers.
const MAX_TEXT: usize = 8 * 1024;

/// Where the log of a store ended at a time, signed by the store. Keep it where nobody who can write to the storage can
/// write: a later check shows whether the log still has all that it had.
///
/// ```text
/// pq-keystore log head 1
/// store: 00112233445566778899aabbccddeeff
/// sequence: 42
/// hash: (64 hexadecimal digits)
/// time: 1764460800000
/// signature: (base64)
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SignedHead {
    /// The number of the store.
    pub store: [u8; 16],
    /// The last entry.
    pub head: LogHead,
    /// When it was signed, in milliseconds since 1970, by the clock of the machine.
    pub time: u64,
    /// The signature by the store's ML-DSA-65 key.
    pub signature: Vec<u8>,
}

/// Why a text is no head, or a head isn't one of this store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidHead {
    /// The text has another form.
    #[error("it is no head of a log, which begins with {TITLE:?}: {0}")]
    Form(&'static str),
    /// The signature isn't the store's.
    #[error("its signature is not the store's: {0}")]
    Signature(AnyKeyError),
    /// It says that it is of another store.
    #[error("it is a head of another store's log")]
    OtherStore,
}

fn message(store: [u8; 16], head: LogHead, time: u64) -> Vec<u8> {
    let mut writer = Writer::of_format(FORMAT);
    writer
        .array(&store)
        .u64(head.sequence)
        .array(&head.hash)
        .u64(time)
        .finish()
}

/// Signs a head.
pub(crate) fn sign(
    key: &AnySigningKey,
    store: [u8; 16],
    head: LogHead,
    time: u64,
) -> Result<SignedHead, AnyKeyError> {
    let signature = key.sign_with_context(&message(store, head, time), CONTEXT)?;
    Ok(SignedHead {
        store,
        head,
        time,
        signature,
    })
}

impl SignedHead {
    /// Verifies the signature with the store's public key.
    ///
    /// # Errors
    ///
    /// [`InvalidHead::Signature`].
    pub fn verify(&self, key: &AnyPublicKey) -> Result<(), InvalidHead> {
        let message = message(self.store, self.head, self.time);
        let verified = key.verify_with_context(&message, &self.signature, CONTEXT);
        verified.map_err(InvalidHead::Signature)
    }
}

impl SignedHead {
    /// Whether a text begins as a head does, whole or not.
    pub fn is_begun(text: &[u8]) -> bool {
        text.strip_prefix(TITLE.as_bytes())
            .is_some_and(|rest| rest.starts_with(b"\n"))
    }
}

impl fmt::Display for SignedHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = base16ct::lower::encode_string;
        writeln!(f, "{TITLE}")?;
        writeln!(f, "store: {}", hex(&self.store))?;
        writeln!(f, "sequence: {}", self.head.sequence)?;
        writeln!(f, "hash: {}", hex(&self.head.hash))?;
        writeln!(f, "time: {}", self.time)?;
        writeln!(f, "signature: {}", Base64::encode_string(&self.signature))
    }
}

impl FromStr for SignedHead {
    type Err = InvalidHead;

    /// Reads what [`Display`](fmt::Display) writes, and nothing else.
    fn from_str(text: &str) -> Result<Self, InvalidHead> {
        const FORM: InvalidHead = InvalidHead::Form("a line is missing or changed");
        if text.len() > MAX_TEXT {
            return Err(InvalidHead::Form("it is too long"));
        }
        let mut lines = text.lines();
        if lines.next() != Some(TITLE) {
            return Err(FORM);
        }
        let mut field = |name: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(name));
            line.and_then(|line| line.strip_prefix(": ")).ok_or(FORM)
        };
        let mut head = Self {
            store: [0; 16],
            head: LogHead::EMPTY,
            time: 0,
            signature: Vec::new(),
        };
        let hex = |text: &str, bytes: &mut [u8]| {
            let is_whole = text.len() == 2 * bytes.len();
            match is_whole && base16ct::lower::decode(text, bytes).is_ok() {
                true => Ok(()),
                false => Err(FORM),
            }
        };
        hex(field("store")?, &mut head.store)?;
        head.head.sequence = field("sequence")?.parse().map_err(|_| FORM)?;
        hex(field("hash")?, &mut head.head.hash)?;
        head.time = field("time")?.parse().map_err(|_| FORM)?;
        head.signature = Base64::decode_vec(field("signature")?).map_err(|_| FORM)?;
        match head.to_string() == text {
            true => Ok(head),
            false => Err(FORM),
        }
    }
}

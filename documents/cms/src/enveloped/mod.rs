//! EnvelopedData (RFC 5652, section 6) and AuthEnvelopedData (RFC 5083): content encrypted for recipients
//! with ML-KEM (RFC 9629, RFC 9936), ECDH (RFC 5753), X25519 (RFC 8418) or a key that both sides have.
//!
//! It uses [`encoding`](crate::encoding) and [`identifier`](crate::identifier).

mod cbc;
mod cipher;
mod encrypting;
mod error;
mod key_encryption;
mod message;
mod opening;
mod outline;
mod recipient;
mod recipient_info;

pub use cipher::ContentCipher;
pub use encrypting::EnvelopeBuilder;
pub use error::{EnvelopingError, OpeningError};
pub use key_encryption::Kdf;
pub use opening::{Opened, Opener};
pub(crate) use outline::outline;
pub use outline::{EnvelopedOutline, RecipientKind, RecipientOutline};
pub use recipient::{Recipient, RecipientKey};

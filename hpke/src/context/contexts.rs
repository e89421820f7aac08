//! The two contexts of HPKE, for sender and recipient: how they are set up, encrypt and decrypt messages, and export
//! secrets (RFC 9180, sections 5.1 to 5.3).

use core::fmt;

use pq_core::wiping_stack;
use zeroize::Zeroizing;

use super::error::HpkeError;
use super::keyed::{Keyed, check_info};
use crate::recipient::{RecipientKey, RecipientPublicKey};
use crate::suite::{Suite, TAG_LEN};
use pq_keys::x_wing::SECRET_LEN;

/// A sender's context, which encrypts messages.
///
/// It counts its messages and can't be cloned, so no nonce is used twice with its key.
///
/// ```
/// use pq_hpke::{Receiver, RecipientKey, RecipientPublicKey, Sender, Suite, XWingPrivateKey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = XWingPrivateKey::generate()?;
///
/// let recipient = RecipientPublicKey::from(key.public_key().clone());
/// let (enc, mut sender) = Sender::new(&recipient, Suite::default(), b"example")?;
/// let first = sender.seal(b"", b"a secret")?;
///
/// let key = RecipientKey::from(key);
/// let mut receiver = Receiver::new(&key, Suite::default(), &enc, b"example")?;
/// assert_eq!(receiver.open(b"", &first)?.as_slice(), b"a secret");
/// # Ok(())
/// # }
/// ```
pub struct Sender(Box<Keyed>);

impl Sender {
    /// SetupBaseS: returns the encapsulated secret, for the recipient, and the context. Both sides have to give
    /// the same info, of 65,535 bytes at most.
    ///
    /// # Errors
    ///
    /// [`HpkeError::InfoTooLong`] and [`HpkeError::Kem`].
    pub fn new(
        recipient: &RecipientPublicKey,
        suite: Suite,
        info: &[u8],
    ) -> Result<(Vec<u8>, Self), HpkeError> {
        check_info(info)?;
        wiping_stack(|| {
            let mut secret = Zeroizing::new([0; SECRET_LEN]);
            let enc = recipient.encapsulate(&mut secret)?;
            let keyed = Keyed::new(recipient.kem(), suite, &secret, info);
            Ok((enc, Self(Box::new(keyed))))
        })
    }

    /// Encrypts the next message. The result is longer by the 16 bytes of the tag.
    ///
    /// # Errors
    ///
    /// [`HpkeError::MessageLimit`] and [`HpkeError::MessageTooLong`].
    pub fn seal(&mut self, aad: &[u8], message: &[u8]) -> Result<Vec<u8>, HpkeError> {
        // room for the tag: growing would leave a copy of the message behind
        let mut sealed = Vec::with_capacity(message.len() + TAG_LEN);
        sealed.extend_from_slice(message);
        let tag = self.seal_in_place(aad, &mut sealed)?;
        sealed.extend_from_slice(&tag);
        Ok(sealed)
    }

    /// Encrypts the next message in place, and returns its tag. [`Receiver::open`] expects the message followed
    /// by the tag.
    ///
    /// # Errors
    ///
    /// [`HpkeError::MessageLimit`] and [`HpkeError::MessageTooLong`]. The message is unchanged then.
    pub fn seal_in_place(
        &mut self,
        aad: &[u8],
        message: &mut [u8],
    ) -> Result<[u8; TAG_LEN], HpkeError> {
        let nonce = self.0.nonce()?;
        let tag = wiping_stack(|| self.0.cipher.seal(&nonce, aad, message));
        // also after an error
        self.0.count();
        tag.map_err(|_| HpkeError::MessageTooLong)
    }

    /// Derives a secret that the other side can derive, too.
    ///
    /// # Errors
    ///
    /// [`HpkeError::ExportTooLong`].
    pub fn export(&self, context: &[u8], output: &mut [u8]) -> Result<(), HpkeError> {
        wiping_stack(|| self.0.export(context, output))
    }
}

/// A recipient's context, which decrypts messages in the order in which they were encrypted.
pub struct Receiver(Box<Keyed>);

impl Receiver {
    /// SetupBaseR, with the encapsulated secret that [`Sender::new`] returned.
    ///
    /// If it was made for another key or info, opening a message fails.
    ///
    /// # Errors
    ///
    /// [`HpkeError::InfoTooLong`] and [`HpkeError::Kem`].
    pub fn new(
        key: &RecipientKey,
        suite: Suite,
        enc: &[u8],
        info: &[u8],
    ) -> Result<Self, HpkeError> {
        check_info(info)?;
        wiping_stack(|| {
            let mut secret = Zeroizing::new([0; SECRET_LEN]);
            key.decapsulate(enc, &mut secret)?;
            let keyed = Keyed::new(key.kem(), suite, &secret, info);
            Ok(Self(Box::new(keyed)))
        })
    }

    /// Decrypts the next message, which is wiped when dropped.
    ///
    /// # Errors
    ///
    /// [`HpkeError::MessageLimit`] and [`HpkeError::NotAuthentic`]. After that the same message is still the next.
    pub fn open(&mut self, aad: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, HpkeError> {
        let mut message = Zeroizing::new(sealed.to_vec());
        let len = self.open_in_place(aad, &mut message)?.len();
        message.truncate(len);
        Ok(message)
    }

    /// Decrypts the next message in place. Its tag follows it.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open). The bytes are of no use then.
    pub fn open_in_place<'m>(
        &mut self,
        aad: &[u8],
        sealed: &'m mut [u8],
    ) -> Result<&'m mut [u8], HpkeError> {
        let nonce = self.0.nonce()?;
        let (message, tag) = sealed
            .split_last_chunk_mut()
            .ok_or(HpkeError::NotAuthentic)?;
        let opened = wiping_stack(|| self.0.cipher.open(&nonce, aad, message, tag));
        opened.map_err(|_| HpkeError::NotAuthentic)?;
        self.0.count();
        Ok(message)
    }

    /// Derives a secret that the other side can derive, too.
    ///
    /// # Errors
    ///
    /// [`HpkeError::ExportTooLong`].
    pub fn export(&self, context: &[u8], output: &mut [u8]) -> Result<(), HpkeError> {
        wiping_stack(|| self.0.export(context, output))
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender")
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver")
    }
}

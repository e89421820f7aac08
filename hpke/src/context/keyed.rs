//! The state of a context: its keys, and the nonce of each message, which is never used twice.

use zeroize::Zeroizing;

use super::error::HpkeError;
use crate::recipient::Kem;
use crate::suite::{Cipher, NONCE_LEN, Schedule, Suite, SuiteId};
use pq_keys::x_wing::SECRET_LEN;

/// What both contexts consist of: keys, and the number of the next message.
pub(super) struct Keyed {
    suite: Suite,
    id: SuiteId,
    schedule: Schedule,
    pub(super) cipher: Cipher,
    sequence: u64,
}

impl Keyed {
    pub(super) fn new(kem: Kem, suite: Suite, secret: &[u8; SECRET_LEN], info: &[u8]) -> Self {
        let id = SuiteId::new(kem.id(), suite);
        let schedule = Schedule::new(id, suite, secret, info);
        let cipher = Cipher::new(suite.aead, &schedule.key);
        Self {
            suite,
            id,
            cipher: cipher.expect("the key was made as long as the cipher's"),
            schedule,
            sequence: 0,
        }
    }

    /// The nonce of the next message (RFC 9180, section 5.2).
    pub(super) fn nonce(&self) -> Result<Zeroizing<[u8; NONCE_LEN]>, HpkeError> {
        if self.sequence == u64::MAX {
            return Err(HpkeError::MessageLimit);
        }
        let mut nonce = self.schedule.base_nonce.clone();
        for (byte, number) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= number;
        }
        Ok(nonce)
    }

    /// Marks the nonce as used.
    pub(super) fn count(&mut self) {
        self.sequence += 1;
    }

    pub(super) fn export(&self, context: &[u8], output: &mut [u8]) -> Result<(), HpkeError> {
        let most = self.suite.kdf.max_export_len();
        if output.len() > most {
            return Err(HpkeError::ExportTooLong {
                asked: output.len(),
                most,
            });
        }
        self.schedule
            .export(self.id, self.suite.kdf, context, output);
        Ok(())
    }
}

/// The longest info, in bytes.
pub(crate) const MAX_INFO_LEN: usize = u16::MAX as usize;

/// Refuses an info that is too long: key derivation encodes lengths in two bytes.
pub(super) fn check_info(info: &[u8]) -> Result<(), HpkeError> {
    let (len, most) = (info.len(), MAX_INFO_LEN);
    match len > most {
        true => Err(HpkeError::InfoTooLong { len, most }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{Aead, Kdf};

    #[test]
    fn the_last_nonce_is_not_used_again() {
        let suite = Suite {
            kdf: Kdf::Shake256,
            aead: Aead::Aes128Gcm,
        };
        let mut keyed = Keyed::new(Kem::XWing, suite, &[7; 32], &[]);
        keyed.sequence = u64::MAX - 1;
        assert!(keyed.nonce().is_ok());
        keyed.count();
        assert!(matches!(keyed.nonce(), Err(HpkeError::MessageLimit)));
    }
}

//! AES-GCM made of `counter` and `ghash`. It exists because in CMS the content comes in pieces, and the additional data
//! (the authenticated attributes) only after it.

use zeroize::Zeroizing;

use super::counter::{Block, Counter, NONCE_LEN};
use super::ghash::{CiphertextHash, add, hash, times, times_power};

pub(super) const TAG_LEN: usize = 16;

/// What one key and nonce encrypt at most, in bytes (SP 800-38D, section 5.2.1.1).
pub(super) const MAX_LEN: u64 = (1 << 36) - 32;

/// How much is encrypted and then hashed at a time: it stays in the first-level cache for both.
const CHUNK: usize = 16 * 1024;

/// AES-GCM (SP 800-38D) for content that comes in pieces. The additional data may come after it.
pub(super) struct Gcm {
    counter: Counter,
    hash: CiphertextHash,
    /// The key of the hash.
    h: Zeroizing<Block>,
    /// The block that encrypts the tag.
    mask: Zeroizing<Block>,
    len: u64,
}

/// There is more content than one key and nonce encrypt.
#[derive(Debug)]
pub(super) struct TooLong;

impl Gcm {
    /// `None` if the key has neither 16 nor 32 bytes.
    pub(super) fn new(key: &[u8], nonce: &[u8; NONCE_LEN]) -> Option<Self> {
        let mut counter = Counter::new(key, nonce)?;
        let h = counter.encrypted_zeros();
        let mut mask = Zeroizing::new([0; 16]);
        counter.apply(&mut *mask);
        Some(Self {
            hash: CiphertextHash::new(key, nonce, &h, &mask),
            counter,
            h,
            mask,
            len: 0,
        })
    }

    /// Encrypts a piece, which has whole blocks unless it is the last one.
    pub(super) fn encrypt(&mut self, piece: &mut [u8]) -> Result<(), TooLong> {
        self.count(piece.len())?;
        for chunk in piece.chunks_mut(CHUNK) {
            self.counter.apply(chunk);
            self.hash.update(chunk);
        }
        Ok(())
    }

    /// Decrypts a piece, which has whole blocks unless it is the last one.
    pub(super) fn decrypt(&mut self, piece: &mut [u8]) -> Result<(), TooLong> {
        self.count(piece.len())?;
        for chunk in piece.chunks_mut(CHUNK) {
            self.hash.update(chunk);
            self.counter.apply(chunk);
        }
        Ok(())
    }

    /// Takes a piece of the ciphertext for the tag, and decrypts nothing.
    pub(super) fn authenticate(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        self.count(piece.len())?;
        self.hash.update(piece);
        Ok(())
    }

    fn count(&mut self, len: usize) -> Result<(), TooLong> {
        let len = self.len.checked_add(len as u64).ok_or(TooLong)?;
        self.len = len;
        (len <= MAX_LEN).then_some(()).ok_or(TooLong)
    }

    /// The tag.
    ///
    /// The hash of additional data and ciphertext is a sum: the hash of the data, multiplied by the hash key
    /// once for each block of the ciphertext, plus the hash of the ciphertext.
    pub(super) fn finish(self, additional_data: &[u8]) -> Zeroizing<[u8; TAG_LEN]> {
        let mut before = Zeroizing::new([0; 16]);
        before[..8].copy_from_slice(&(additional_data.len() as u64 * 8).to_be_bytes());
        before[8..].copy_from_slice(&(self.len * 8).to_be_bytes());
        if !additional_data.is_empty() {
            let hash = hash(additional_data, &self.h);
            let hash = times_power(&hash, &self.h, self.len.div_ceil(16));
            add(&mut before, &hash);
        }
        let mut tag = times(&before, &self.h);
        add(&mut tag, &self.hash.finish());
        add(&mut tag, &self.mask);
        tag
    }
}

#[cfg(test)]
mod tests {
    use ghash::GHash;
    use ghash::universal_hash::UniversalHash;

    use super::*;

    /// The GCM specification's test cases 4 and 16, which have additional data and a block that is not whole.
    #[test]
    fn known_answers() {
        let key = hex::decode("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
        let key = key.unwrap();
        let nonce = hex::decode("cafebabefacedbaddecaf888").unwrap();
        let content = hex::decode(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
             1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        )
        .unwrap();
        let data = hex::decode("feedfacedeadbeeffeedfacedeadbeefabaddad2").unwrap();
        for (len, tag) in [
            (16, "5bc94fbc3221a5db94fae95ae7121a47"),
            (32, "76fc6ece0f4e1768cddf8853bb2d551b"),
        ] {
            let gcm = || Gcm::new(&key[..len], nonce[..].try_into().unwrap()).unwrap();
            let mut encrypting = gcm();
            let mut bytes = content.clone();
            let (start, end) = bytes.split_at_mut(32);
            encrypting.encrypt(start).unwrap();
            encrypting.encrypt(end).unwrap();
            assert_eq!(hex::encode(*encrypting.finish(&data)), tag);
            let mut checking = gcm();
            checking.authenticate(&bytes).unwrap();
            assert_eq!(hex::encode(*checking.finish(&data)), tag);
            let mut decrypting = gcm();
            decrypting.decrypt(&mut bytes).unwrap();
            assert_eq!(hex::encode(*decrypting.finish(&data)), tag);
            assert_eq!(bytes, content);
        }
    }

    /// Additional data before and after a long ciphertext are the same to the hash.
    #[test]
    fn additional_data_may_come_last() {
        let key = [7; 32];
        let gcm = || Gcm::new(&key, &[1; NONCE_LEN]).unwrap();
        for len in [0, 1, 16, 17, 1000, 40_000] {
            let (content, data) = (vec![3; len], vec![5; 50]);
            let mut ours = gcm();
            ours.authenticate(&content).unwrap();
            let mut expected = GHash::new((&*gcm().h).into());
            expected.update_padded(&data);
            expected.update_padded(&content);
            let mut lengths = [0; 16];
            lengths[7] = (data.len() * 8 % 256) as u8;
            lengths[6] = (data.len() * 8 / 256) as u8;
            lengths[8..].copy_from_slice(&(len as u64 * 8).to_be_bytes());
            expected.update(&[lengths.into()]);
            let mut expected = expected.finalize().into();
            add(&mut expected, &gcm().mask);
            assert_eq!(*ours.finish(&data), expected, "{len}");
        }
    }

    #[test]
    fn no_more_than_one_key_may_encrypt() {
        let mut gcm = Gcm::new(&[7; 32], &[1; NONCE_LEN]).unwrap();
        gcm.len = MAX_LEN - 16;
        assert!(gcm.encrypt(&mut [0; 16]).is_ok());
        assert!(gcm.encrypt(&mut [0]).is_err());
    }
}

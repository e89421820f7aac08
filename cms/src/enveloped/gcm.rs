use aes::cipher::{BlockCipherEncrypt, KeyInit, KeyIvInit, StreamCipher};
use aes::{Aes128, Aes256};
use ctr::Ctr32BE;
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use zeroize::Zeroizing;

pub(super) const NONCE_LEN: usize = 12;

pub(super) const TAG_LEN: usize = 16;

/// What one key and nonce encrypt at most, in bytes (SP 800-38D, section 5.2.1.1).
pub(super) const MAX_LEN: u64 = (1 << 36) - 32;

/// As much as is encrypted and then hashed at a time: it is in the first cache for both.
const CHUNK: usize = 16 * 1024;

/// AES-GCM (SP 800-38D) of content that comes in pieces, whose additional data may come after it.
pub(super) struct Gcm {
    counter: Counter,
    /// Over the ciphertext alone.
    hash: GHash,
    /// The key of the hash.
    h: Zeroizing<[u8; 16]>,
    /// What the tag is encrypted by.
    mask: Zeroizing<[u8; 16]>,
    len: u64,
}

enum Counter {
    Aes128(Ctr32BE<Aes128>),
    Aes256(Ctr32BE<Aes256>),
}

impl Counter {
    fn apply(&mut self, bytes: &mut [u8]) {
        match self {
            Self::Aes128(counter) => counter.apply_keystream(bytes),
            Self::Aes256(counter) => counter.apply_keystream(bytes),
        }
    }
}

/// There is more content than one key and nonce encrypt.
#[derive(Debug)]
pub(super) struct TooLong;

impl Gcm {
    /// `None` if the key is of neither length.
    pub(super) fn new(key: &[u8], nonce: &[u8; NONCE_LEN]) -> Option<Self> {
        let mut first = [0; 16];
        first[..NONCE_LEN].copy_from_slice(nonce);
        first[15] = 1;
        let first = first.into();
        let mut h = Zeroizing::new([0; 16]);
        let mut counter = match key.len() {
            16 => {
                Aes128::new_from_slice(key)
                    .ok()?
                    .encrypt_block((&mut *h).into());
                let key = key.try_into().ok()?;
                Counter::Aes128(Ctr32BE::<Aes128>::new(key, &first))
            }
            _ => {
                Aes256::new_from_slice(key)
                    .ok()?
                    .encrypt_block((&mut *h).into());
                let key = key.try_into().ok()?;
                Counter::Aes256(Ctr32BE::<Aes256>::new(key, &first))
            }
        };
        let mut mask = Zeroizing::new([0; 16]);
        counter.apply(&mut *mask);
        Some(Self {
            counter,
            hash: GHash::new((&*h).into()),
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
            self.hash.update_padded(chunk);
        }
        Ok(())
    }

    /// Decrypts a piece, which has whole blocks unless it is the last one.
    pub(super) fn decrypt(&mut self, piece: &mut [u8]) -> Result<(), TooLong> {
        self.count(piece.len())?;
        for chunk in piece.chunks_mut(CHUNK) {
            self.hash.update_padded(chunk);
            self.counter.apply(chunk);
        }
        Ok(())
    }

    /// Takes a piece of the ciphertext for the tag, and decrypts nothing.
    pub(super) fn authenticate(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        self.count(piece.len())?;
        self.hash.update_padded(piece);
        Ok(())
    }

    fn count(&mut self, len: usize) -> Result<(), TooLong> {
        let len = self.len.checked_add(len as u64).ok_or(TooLong)?;
        self.len = len;
        (len <= MAX_LEN).then_some(()).ok_or(TooLong)
    }

    /// The tag.
    ///
    /// The hash of additional data and ciphertext is that of the data, multiplied by the key once for
    /// each block of the ciphertext, plus that of the ciphertext.
    pub(super) fn finish(self, additional_data: &[u8]) -> Zeroizing<[u8; TAG_LEN]> {
        let mut sum = Zeroizing::new([0; 16]);
        if !additional_data.is_empty() {
            let mut hash = GHash::new((&*self.h).into());
            hash.update_padded(additional_data);
            let hash = Zeroizing::new(hash.finalize().into());
            *sum = *times_power(&hash, &self.h, self.len.div_ceil(16));
        }
        let mut lengths = [0; 16];
        lengths[..8].copy_from_slice(&(additional_data.len() as u64 * 8).to_be_bytes());
        lengths[8..].copy_from_slice(&(self.len * 8).to_be_bytes());
        let ciphertext = Zeroizing::new(<[u8; 16]>::from(self.hash.finalize()));
        add(&mut sum, &ciphertext);
        add(&mut sum, &lengths);
        let mut tag = times(&sum, &self.h);
        add(&mut tag, &self.mask);
        tag
    }
}

fn add(sum: &mut [u8; 16], other: &[u8; 16]) {
    for (sum, other) in sum.iter_mut().zip(other) {
        *sum ^= other;
    }
}

/// The product in the field of GCM: what hashing one block by a key is.
fn times(a: &[u8; 16], b: &[u8; 16]) -> Zeroizing<[u8; 16]> {
    let mut hash = GHash::new(b.into());
    hash.update(&[(*a).into()]);
    Zeroizing::new(hash.finalize().into())
}

/// The product with a power of the other element, whose exponent is public.
fn times_power(a: &[u8; 16], b: &[u8; 16], exponent: u64) -> Zeroizing<[u8; 16]> {
    let (mut product, mut power) = (Zeroizing::new(*a), Zeroizing::new(*b));
    let mut left = exponent;
    while left > 0 {
        if left & 1 == 1 {
            product = times(&product, &power);
        }
        power = times(&power, &power);
        left >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
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

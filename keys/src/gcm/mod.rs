//! AES-GCM made of `counter` and `ghash`, for documents of any size: by the fastest code that there is for the CPU, for
//! content that comes in pieces, with additional data that may come after it (the authenticated attributes of CMS), and
//! for messages that are there as a whole.

mod counter;
mod ghash;

use alloc::boxed::Box;
use core::borrow::Borrow;

use subtle::ConstantTimeEq;
use zeroize::{ZeroizeOnDrop, Zeroizing};

pub use counter::NONCE_LEN;
use counter::{Block, CounterKey};
use ghash::{CiphertextHash, HashKey, add, hash, times, times_power};

/// Length of a tag, in bytes.
pub const TAG_LEN: usize = 16;

/// What one key and nonce encrypt at most, in bytes (SP 800-38D, section 5.2.1.1).
pub const MAX_LEN: u64 = (1 << 36) - 32;

/// How much is encrypted and then hashed at a time: it stays in the first-level cache for both.
const CHUNK: usize = 16 * 1024;

/// The counter of the first block of content.
const FIRST: u32 = 2;

/// A key of AES-128-GCM or AES-256-GCM, for any number of messages. Wiped when dropped.
///
/// What it computes leaves secrets on the stack: callers overwrite them
/// ([`wiping_stack`](pq_core::wiping_stack)).
pub struct Key(Box<Keyed>);

/// Its parts wipe themselves.
impl ZeroizeOnDrop for Key {}

struct Keyed {
    counter: CounterKey,
    hash: HashKey,
}

/// There is more content than one key and nonce encrypt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLong;

/// The message was changed, or is longer than what one key and nonce encrypt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Altered;

impl Key {
    /// `None` if the key has neither 16 nor 32 bytes.
    pub fn new(key: &[u8]) -> Option<Self> {
        let counter = CounterKey::new(key)?;
        let hash = HashKey::new(key, counter.encrypted_zeros());
        Some(Self(Box::new(Keyed { counter, hash })))
    }

    /// By code for every CPU.
    #[cfg(test)]
    fn portable(key: &[u8]) -> Option<Self> {
        let counter = CounterKey::portable(key)?;
        let hash = HashKey::portable(counter.encrypted_zeros());
        Some(Self(Box::new(Keyed { counter, hash })))
    }

    /// Encrypts a text in place, and returns its tag.
    ///
    /// # Errors
    ///
    /// [`TooLong`] for more than [`MAX_LEN`] bytes.
    pub fn seal(
        &self,
        nonce: &[u8; NONCE_LEN],
        additional_data: &[u8],
        text: &mut [u8],
    ) -> Result<[u8; TAG_LEN], TooLong> {
        let mut message = Message::new(self, nonce);
        message.encrypt(text)?;
        Ok(*message.finish(additional_data))
    }

    /// Decrypts a text in place, if it is authentic, and otherwise leaves it as it was.
    ///
    /// # Errors
    ///
    /// [`Altered`] if the tag is another one.
    pub fn open(
        &self,
        nonce: &[u8; NONCE_LEN],
        additional_data: &[u8],
        text: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Altered> {
        let mut message = Message::new(self, nonce);
        message.authenticate(text).map_err(|TooLong| Altered)?;
        let expected = message.finish(additional_data);
        if !bool::from(expected.ct_eq(tag)) {
            return Err(Altered);
        }
        self.0.counter.apply(nonce, FIRST, text);
        Ok(())
    }
}

/// A message (SP 800-38D) whose content comes in pieces. The additional data may come after it.
///
/// `K` is its [`Key`], or a reference to one.
pub struct Message<K> {
    key: K,
    nonce: [u8; NONCE_LEN],
    /// The counter of the next block.
    next: u32,
    hash: CiphertextHash,
    /// The block that encrypts the tag.
    mask: Zeroizing<Block>,
    len: u64,
}

impl<K: Borrow<Key>> Message<K> {
    /// Begins a message. A nonce may be used only once with a key.
    pub fn new(key: K, nonce: &[u8; NONCE_LEN]) -> Self {
        let keyed = &key.borrow().0;
        let mut mask = Zeroizing::new([0; 16]);
        keyed.counter.apply(nonce, FIRST - 1, &mut *mask);
        Self {
            hash: CiphertextHash::new(&keyed.hash, nonce, &mask),
            key,
            nonce: *nonce,
            next: FIRST,
            mask,
            len: 0,
        }
    }

    /// Encrypts a piece, which has whole blocks unless it is the last one.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if this makes more than [`MAX_LEN`] bytes.
    pub fn encrypt(&mut self, piece: &mut [u8]) -> Result<(), TooLong> {
        self.count(piece.len())?;
        for chunk in piece.chunks_mut(CHUNK) {
            self.apply(chunk);
            self.hash.update(&self.key.borrow().0.hash, chunk);
        }
        Ok(())
    }

    /// Decrypts a piece, which has whole blocks unless it is the last one.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if this makes more than [`MAX_LEN`] bytes.
    pub fn decrypt(&mut self, piece: &mut [u8]) -> Result<(), TooLong> {
        self.count(piece.len())?;
        for chunk in piece.chunks_mut(CHUNK) {
            self.hash.update(&self.key.borrow().0.hash, chunk);
            self.apply(chunk);
        }
        Ok(())
    }

    /// Takes a piece of the ciphertext for the tag, and decrypts nothing.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if this makes more than [`MAX_LEN`] bytes.
    pub fn authenticate(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        self.count(piece.len())?;
        self.hash.update(&self.key.borrow().0.hash, piece);
        Ok(())
    }

    fn apply(&mut self, chunk: &mut [u8]) {
        let counter = &self.key.borrow().0.counter;
        counter.apply(&self.nonce, self.next, chunk);
        self.next = self.next.wrapping_add(chunk.len().div_ceil(16) as u32);
    }

    fn count(&mut self, len: usize) -> Result<(), TooLong> {
        debug_assert!(
            len == 0 || self.len.is_multiple_of(16) || self.len > MAX_LEN,
            "only the last piece may end within a block"
        );
        let len = self.len.checked_add(len as u64).ok_or(TooLong)?;
        self.len = len;
        (len <= MAX_LEN).then_some(()).ok_or(TooLong)
    }

    /// The tag.
    ///
    /// The hash of additional data and ciphertext is a sum: the hash of the data, multiplied by the hash key
    /// once for each block of the ciphertext, plus the hash of the ciphertext.
    pub fn finish(self, additional_data: &[u8]) -> Zeroizing<[u8; TAG_LEN]> {
        let key = &self.key.borrow().0.hash;
        let h = key.h();
        let mut before = Zeroizing::new([0; 16]);
        before[..8].copy_from_slice(&(additional_data.len() as u64 * 8).to_be_bytes());
        before[8..].copy_from_slice(&(self.len * 8).to_be_bytes());
        if !additional_data.is_empty() {
            let hash = hash(additional_data, h);
            let hash = times_power(&hash, h, self.len.div_ceil(16));
            add(&mut before, &hash);
        }
        let mut tag = times(&before, h);
        add(&mut tag, &self.hash.finish(key));
        add(&mut tag, &self.mask);
        tag
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use ::ghash::GHash;
    use ::ghash::universal_hash::UniversalHash;
    use aes_gcm::aead::{AeadInOut, KeyInit, Nonce};
    use aes_gcm::{Aes128Gcm, Aes256Gcm};

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
            let key = Key::new(&key[..len]).unwrap();
            let gcm = || Message::new(&key, nonce[..].try_into().unwrap());
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
        let key = Key::new(&[7; 32]).unwrap();
        let gcm = || Message::new(&key, &[1; NONCE_LEN]);
        for len in [0, 1, 16, 17, 1000, 40_000] {
            let (content, data) = (vec![3; len], vec![5; 50]);
            let mut ours = gcm();
            ours.authenticate(&content).unwrap();
            let mut expected = GHash::new(key.0.hash.h().into());
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

    /// The last block has the last value of the counter.
    #[test]
    fn no_more_than_one_key_may_encrypt() {
        let key = Key::new(&[7; 32]).unwrap();
        let full = || {
            let mut message = Message::new(&key, &[1; NONCE_LEN]);
            message.len = MAX_LEN - 16;
            message.next = u32::MAX;
            message
        };
        let mut expected = [3; 16];
        key.0
            .counter
            .apply(&[1; NONCE_LEN], u32::MAX, &mut expected);

        let mut text = [3; 16];
        let mut encrypting = full();
        assert_eq!(encrypting.encrypt(&mut text), Ok(()));
        assert_eq!(text, expected);
        let mut decrypting = full();
        assert_eq!(decrypting.decrypt(&mut text), Ok(()));
        assert_eq!(text, [3; 16]);
        let mut checking = full();
        assert_eq!(checking.authenticate(&text), Ok(()));
        for mut message in [encrypting, decrypting, checking] {
            // and so it stays
            assert_eq!(message.encrypt(&mut text[..1]), Err(TooLong));
            assert_eq!(message.decrypt(&mut text[..1]), Err(TooLong));
            assert_eq!(message.authenticate(&text[..1]), Err(TooLong));
            assert_eq!(text, [3; 16]);
        }
        assert_eq!(full().encrypt(&mut [0; 17]), Err(TooLong));
        assert_eq!(full().decrypt(&mut [0; 17]), Err(TooLong));
        assert_eq!(full().authenticate(&[0; 17]), Err(TooLong));
    }

    /// Lengths around blocks, the blocks that a CPU encrypts side by side, and the pieces of both parts.
    const LENGTHS: [usize; 26] = [
        0,
        1,
        15,
        16,
        17,
        31,
        33,
        100,
        127,
        128,
        129,
        255,
        256,
        257,
        511,
        513,
        4096 - 1,
        4096,
        4096 + 1,
        16 * 1024 - 1,
        16 * 1024,
        16 * 1024 + 1,
        32 * 1024 - 15,
        32 * 1024,
        64 * 1024,
        64 * 1024 + 17,
    ];

    /// In every way that there is on this CPU.
    fn keys(key: &[u8]) -> [Key; 2] {
        [Key::new(key).unwrap(), Key::portable(key).unwrap()]
    }

    /// Whole messages, against the crate `aes-gcm`.
    #[test]
    fn messages_match_another_implementation() {
        fn check<C: AeadInOut + KeyInit>(key: &[u8], ours: &Key) {
            let theirs = C::new_from_slice(key).unwrap();
            let data = [5; 300];
            for len in LENGTHS {
                for data in [0, 1, 15, 16, 17, 40, 300].map(|len| &data[..len]) {
                    let nonce = [len as u8; NONCE_LEN];
                    let text: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
                    let mut expected = text.clone();
                    let their_nonce = Nonce::<C>::try_from(&nonce[..]).unwrap();
                    let their_tag = theirs
                        .encrypt_inout_detached(&their_nonce, data, expected.as_mut_slice().into())
                        .unwrap();
                    let mut bytes = text.clone();
                    let tag = ours.seal(&nonce, data, &mut bytes).unwrap();
                    assert!(bytes == expected, "{len}");
                    assert_eq!(tag, their_tag.as_slice(), "{len}");

                    let changed = |i: usize| {
                        let mut tag = tag;
                        tag[i] ^= 1;
                        tag
                    };
                    for i in [0, 15] {
                        let opened = ours.open(&nonce, data, &mut bytes, &changed(i));
                        assert_eq!(opened, Err(Altered));
                    }
                    let opened = ours.open(&nonce, b"other data", &mut bytes, &tag);
                    assert_eq!(opened, Err(Altered));
                    assert!(bytes == expected, "refused texts stay: {len}");
                    assert_eq!(ours.open(&nonce, data, &mut bytes, &tag), Ok(()));
                    assert!(bytes == text, "{len}");
                }
            }
        }

        for ours in keys(&[7; 16]) {
            check::<Aes128Gcm>(&[7; 16], &ours);
        }
        for ours in keys(&[7; 32]) {
            check::<Aes256Gcm>(&[7; 32], &ours);
        }
    }

    /// Pieces of any number of blocks, and a last one of any length.
    #[test]
    fn pieces_make_no_difference() {
        let nonce = [1; NONCE_LEN];
        let text: Vec<u8> = (0..40_000 + 9).map(|i| (i % 241) as u8).collect();
        for key in keys(&[7; 32]) {
            for len in [0, 16, 40_000, text.len()] {
                let text = &text[..len];
                let mut sealed = text.to_vec();
                let tag = key.seal(&nonce, b"data", &mut sealed).unwrap();
                for blocks in [
                    1, 2, 7, 8, 9, 15, 16, 17, 31, 255, 256, 257, 1023, 1024, 1025, 2049,
                ] {
                    let (mut encrypting, mut decrypting, mut checking) = (
                        Message::new(&key, &nonce),
                        Message::new(&key, &nonce),
                        Message::new(&key, &nonce),
                    );
                    let mut bytes = text.to_vec();
                    for piece in bytes.chunks_mut(16 * blocks) {
                        encrypting.encrypt(piece).unwrap();
                        checking.authenticate(piece).unwrap();
                    }
                    assert!(bytes == sealed, "{len} bytes by {blocks} blocks");
                    for piece in bytes.chunks_mut(16 * blocks) {
                        decrypting.decrypt(piece).unwrap();
                    }
                    assert!(bytes == text, "{len} bytes by {blocks} blocks");
                    for message in [encrypting, decrypting, checking] {
                        assert_eq!(*message.finish(b"data"), tag, "{len}, {blocks}");
                    }
                }
            }
        }
    }

    /// Crates wipe these only with a feature, which another crate of the workspace may enable and this one may lack:
    /// then this doesn't compile on its own.
    #[test]
    fn what_has_secrets_is_wiped() {
        fn is_wiped<T: ZeroizeOnDrop>() {}
        is_wiped::<aes::Aes128>();
        is_wiped::<aes::Aes256>();
    }

    #[test]
    fn keys_of_other_lengths_are_refused() {
        for len in [0, 15, 17, 24, 31, 33] {
            assert!(Key::new(&[1; 33][..len]).is_none());
        }
    }
}

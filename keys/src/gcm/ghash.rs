//! The hash that makes the tag of AES-GCM, by graviola where the CPU allows it and otherwise by RustCrypto. Also the
//! arithmetic that adds the hash of data which comes later.

use alloc::boxed::Box;

use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use zeroize::Zeroizing;

use super::counter::{Block, NONCE_LEN};

/// A key of GHASH, and what is computed of it once.
pub(super) struct HashKey {
    h: Zeroizing<Block>,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    graviola: Option<Box<graviola_gmac::Key>>,
}

impl HashKey {
    /// With the AES key and the hash key that is made of it.
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(unused_variables)
    )]
    pub(super) fn new(key: &[u8], h: Zeroizing<Block>) -> Self {
        Self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            graviola: graviola::util::is_cpu_supported()
                .then(|| Box::new(graviola_gmac::Key::new(key, &h))),
            h,
        }
    }

    /// Without graviola.
    #[cfg(test)]
    pub(super) fn portable(h: Zeroizing<Block>) -> Self {
        Self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            graviola: None,
            h,
        }
    }

    /// Itself as a number.
    pub(super) fn h(&self) -> &Block {
        &self.h
    }
}

/// GHASH (SP 800-38D, section 6.4) of a ciphertext that comes in pieces.
pub(super) enum CiphertextHash {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Graviola(graviola_gmac::Hash),
    RustCrypto(GHash),
}

impl CiphertextHash {
    /// With the nonce of the message, and the block that encrypts its tag.
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(unused_variables)
    )]
    pub(super) fn new(key: &HashKey, nonce: &[u8; NONCE_LEN], mask: &Zeroizing<Block>) -> Self {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(key) = &key.graviola {
            return Self::Graviola(graviola_gmac::Hash::new(key, nonce, mask));
        }
        Self::portable(key)
    }

    fn portable(key: &HashKey) -> Self {
        Self::RustCrypto(GHash::new(key.h().into()))
    }

    /// Takes a piece, which has whole blocks unless it is the last one. `key` is the one that it was made with.
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(unused_variables)
    )]
    pub(super) fn update(&mut self, key: &HashKey, piece: &[u8]) {
        match self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Self::Graviola(hash) => {
                let Some(graviola) = &key.graviola else {
                    unreachable!("a hash by graviola was made with such a key")
                };
                hash.update(graviola, key.h(), piece);
            }
            Self::RustCrypto(hash) => hash.update_padded(piece),
        }
    }

    /// The hash of all pieces, multiplied once more by the hash key, so that the hash of the lengths can be added.
    pub(super) fn finish(self, key: &HashKey) -> Zeroizing<Block> {
        match self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Self::Graviola(hash) => hash.finish(),
            Self::RustCrypto(hash) => times(&Zeroizing::new(hash.finalize().into()), key.h()),
        }
    }
}

/// The hash by graviola's GMAC (SP 800-38D, section 3), which uses CPU instructions that RustCrypto's GHASH
/// doesn't use.
///
/// GMAC takes all data at once, so each piece has a tag of its own: the encrypted hash of the piece and of its
/// length. Only the key's owner may know these tags: they stay here.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod graviola_gmac {
    use graviola::aead::AesGcm;
    use zeroize::Zeroizing;

    use super::{Block, NONCE_LEN, add, times, times_power};

    /// Pieces of this length cost least.
    pub(super) const PIECE: usize = 16 * 1024;

    pub(in super::super) struct Key {
        gmac: AesGcm,
        /// The hash of a whole piece's length.
        whole: Zeroizing<Block>,
        /// The key of the hash, to the power of a whole piece's blocks.
        power: Zeroizing<Block>,
    }

    impl Key {
        pub(super) fn new(key: &[u8], h: &Zeroizing<Block>) -> Self {
            Self {
                gmac: AesGcm::new(key),
                whole: length(PIECE, h),
                power: times_power(h, h, (PIECE / 16 - 1) as u64),
            }
        }
    }

    pub(in super::super) struct Hash {
        nonce: [u8; NONCE_LEN],
        mask: Zeroizing<Block>,
        /// What the tag of a whole piece contains besides the piece's hash.
        beside_whole: Zeroizing<Block>,
        /// The hash, times its key.
        sum: Zeroizing<Block>,
    }

    impl Hash {
        pub(super) fn new(key: &Key, nonce: &[u8; NONCE_LEN], mask: &Zeroizing<Block>) -> Self {
            let mut beside_whole = key.whole.clone();
            add(&mut beside_whole, mask);
            Self {
                nonce: *nonce,
                mask: mask.clone(),
                beside_whole,
                sum: Zeroizing::new([0; 16]),
            }
        }

        pub(super) fn update(&mut self, key: &Key, h: &Block, piece: &[u8]) {
            for piece in piece.chunks(PIECE) {
                self.sum = match piece.len() {
                    PIECE => times(&self.sum, &key.power),
                    len => times_power(&self.sum, h, len.div_ceil(16) as u64),
                };
                let mut tag = Zeroizing::new([0; 16]);
                key.gmac.encrypt(&self.nonce, piece, &mut [], &mut tag);
                add(&mut self.sum, &tag);
                if piece.len() == PIECE {
                    add(&mut self.sum, &self.beside_whole);
                } else {
                    add(&mut self.sum, &length(piece.len(), h));
                    add(&mut self.sum, &self.mask);
                }
            }
        }

        pub(super) fn finish(self) -> Zeroizing<Block> {
            self.sum
        }
    }

    /// The hash of a piece's length, which a tag contains besides the piece's hash and the block that encrypts it.
    fn length(len: usize, h: &Block) -> Zeroizing<Block> {
        let mut bits = [0; 16];
        bits[..8].copy_from_slice(&(len as u64 * 8).to_be_bytes());
        times(&bits, h)
    }
}

/// GHASH of data that is there as a whole.
pub(super) fn hash(data: &[u8], h: &Block) -> Zeroizing<Block> {
    let mut hash = GHash::new(h.into());
    hash.update_padded(data);
    Zeroizing::new(hash.finalize().into())
}

/// The sum in the field of GCM.
pub(super) fn add(sum: &mut Block, other: &Block) {
    for (sum, other) in sum.iter_mut().zip(other) {
        *sum ^= other;
    }
}

/// The product in the field of GCM: the hash of block `a` with the key `b`.
pub(super) fn times(a: &Block, b: &Block) -> Zeroizing<Block> {
    let mut hash = GHash::new(b.into());
    hash.update(&[(*a).into()]);
    Zeroizing::new(hash.finalize().into())
}

/// The product of `a` and a power of `b`, whose exponent is public.
pub(super) fn times_power(a: &Block, b: &Block, exponent: u64) -> Zeroizing<Block> {
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
    use alloc::vec;
    use alloc::vec::Vec;

    use super::super::counter::CounterKey;
    use super::*;

    /// By graviola and by RustCrypto, of pieces around the length of those that graviola gets.
    #[test]
    fn both_implementations_agree() {
        let key = [7; 32];
        for lengths in [
            &[0][..],
            &[1],
            &[16],
            &[16 * 1024],
            &[16 * 1024 - 1],
            &[16 * 1024, 17],
            &[48, 40_000],
            &[64 * 1024, 64 * 1024, 65_535],
        ] {
            let nonce = [1; NONCE_LEN];
            let counter = CounterKey::new(&key).unwrap();
            let hash_key = HashKey::new(&key, counter.encrypted_zeros());
            let h = hash_key.h();
            let mut mask = Zeroizing::new([0; 16]);
            counter.apply(&nonce, 1, &mut *mask);
            let mut chosen = CiphertextHash::new(&hash_key, &nonce, &mask);
            let mut portable = CiphertextHash::portable(&hash_key);
            let mut whole = Vec::new();
            for (i, len) in lengths.iter().enumerate() {
                let mut piece = vec![i as u8; *len];
                counter.apply(&nonce, 2, &mut piece);
                chosen.update(&hash_key, &piece);
                portable.update(&hash_key, &piece);
                whole.extend(piece);
            }
            let expected = times(&hash(&whole, h), h);
            assert_eq!(portable.finish(&hash_key), expected, "{lengths:?}");
            assert_eq!(chosen.finish(&hash_key), expected, "{lengths:?}");
        }
    }
}

//! The hash that makes the tag of AES-GCM, by graviola where the CPU allows it and otherwise by RustCrypto. Also the
//! arithmetic that adds the hash of data which comes later.

use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use zeroize::Zeroizing;

use super::counter::{Block, NONCE_LEN};

/// GHASH (SP 800-38D, section 6.4) of a ciphertext that comes in pieces.
pub(super) struct CiphertextHash {
    h: Zeroizing<Block>,
    by: Implementation,
}

enum Implementation {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Graviola(Box<graviola_gmac::Hash>),
    RustCrypto(GHash),
}

impl CiphertextHash {
    /// With the key and nonce of the message, the hash key, and the block that encrypts the tag.
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(unused_variables)
    )]
    pub(super) fn new(
        key: &[u8],
        nonce: &[u8; NONCE_LEN],
        h: &Zeroizing<Block>,
        mask: &Zeroizing<Block>,
    ) -> Self {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if graviola::util::is_cpu_supported() {
            let hash = graviola_gmac::Hash::new(key, nonce, h, mask);
            return Self {
                h: h.clone(),
                by: Implementation::Graviola(Box::new(hash)),
            };
        }
        Self::portable(h)
    }

    fn portable(h: &Zeroizing<Block>) -> Self {
        Self {
            h: h.clone(),
            by: Implementation::RustCrypto(GHash::new((&**h).into())),
        }
    }

    /// Takes a piece, which has whole blocks unless it is the last one.
    pub(super) fn update(&mut self, piece: &[u8]) {
        match &mut self.by {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Implementation::Graviola(hash) => hash.update(piece, &self.h),
            Implementation::RustCrypto(hash) => hash.update_padded(piece),
        }
    }

    /// The hash of all pieces, multiplied once more by the hash key, so that the hash of the lengths can be added.
    pub(super) fn finish(self) -> Zeroizing<Block> {
        match self.by {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Implementation::Graviola(hash) => hash.finish(),
            Implementation::RustCrypto(hash) => {
                times(&Zeroizing::new(hash.finalize().into()), &self.h)
            }
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

    pub(in super::super) struct Hash {
        gmac: AesGcm,
        nonce: [u8; NONCE_LEN],
        mask: Zeroizing<Block>,
        /// What the tag of a whole piece contains besides the piece's hash.
        beside_whole: Zeroizing<Block>,
        /// The key of the hash, to the power of a whole piece's blocks.
        power: Zeroizing<Block>,
        /// The hash, times its key.
        sum: Zeroizing<Block>,
    }

    impl Hash {
        pub(super) fn new(
            key: &[u8],
            nonce: &[u8; NONCE_LEN],
            h: &Zeroizing<Block>,
            mask: &Zeroizing<Block>,
        ) -> Self {
            Self {
                gmac: AesGcm::new(key),
                nonce: *nonce,
                beside_whole: beside(PIECE, h, mask),
                mask: mask.clone(),
                power: times_power(h, h, (PIECE / 16 - 1) as u64),
                sum: Zeroizing::new([0; 16]),
            }
        }

        pub(super) fn update(&mut self, piece: &[u8], h: &Zeroizing<Block>) {
            for piece in piece.chunks(PIECE) {
                self.sum = match piece.len() {
                    PIECE => times(&self.sum, &self.power),
                    len => times_power(&self.sum, h, len.div_ceil(16) as u64),
                };
                let mut tag = Zeroizing::new([0; 16]);
                self.gmac.encrypt(&self.nonce, piece, &mut [], &mut tag);
                add(&mut self.sum, &tag);
                match piece.len() {
                    PIECE => add(&mut self.sum, &self.beside_whole),
                    len => add(&mut self.sum, &beside(len, h, &self.mask)),
                }
            }
        }

        pub(super) fn finish(self) -> Zeroizing<Block> {
            self.sum
        }
    }

    /// What a tag contains besides a piece's hash: the hash of the piece's length, and the block that encrypts it.
    fn beside(len: usize, h: &Zeroizing<Block>, mask: &Zeroizing<Block>) -> Zeroizing<Block> {
        let mut bits = [0; 16];
        bits[..8].copy_from_slice(&(len as u64 * 8).to_be_bytes());
        let mut beside = times(&bits, h);
        add(&mut beside, mask);
        beside
    }
}

/// GHASH of data that is there as a whole.
pub(super) fn hash(data: &[u8], h: &Zeroizing<Block>) -> Zeroizing<Block> {
    let mut hash = GHash::new((&**h).into());
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
            let mut counter = super::super::counter::Counter::new(&key, &nonce).unwrap();
            let h = counter.encrypted_zeros();
            let mut mask = Zeroizing::new([0; 16]);
            counter.apply(&mut *mask);
            let mut chosen = CiphertextHash::new(&key, &nonce, &h, &mask);
            let mut portable = CiphertextHash::portable(&h);
            let mut whole = Vec::new();
            for (i, len) in lengths.iter().enumerate() {
                let mut piece = vec![i as u8; *len];
                counter.apply(&mut piece);
                chosen.update(&piece);
                portable.update(&piece);
                whole.extend(piece);
            }
            let expected = times(&hash(&whole, &h), &h);
            assert_eq!(portable.finish(), expected, "{lengths:?}");
            assert_eq!(chosen.finish(), expected, "{lengths:?}");
        }
    }
}

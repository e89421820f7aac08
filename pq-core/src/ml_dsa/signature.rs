//! The encoding of a signature and its three parts. Most of the file is about the hint, which has only one valid
//! encoding (FIPS 204, algorithms 20 and 21).

use super::encoding::z_len;
use super::params::ParameterSet;
use crate::Error;
use crate::arch::Backend;
use crate::dimension::{Array, Dimension, array};
use crate::hex::public_bytes;
use crate::kernel::ml_dsa::encoding::Ones;

/// A signature: any bytes of the right length.
///
/// Only verification finds out whether it is well-formed and valid.
#[derive(Clone)]
pub struct Signature<P: ParameterSet>(Array<P::SignatureLen, u8>);

impl<P: ParameterSet> Signature<P> {
    /// Reads a signature of [`P::SIGNATURE_LEN`](ParameterSet::SIGNATURE_LEN) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        array::<P::SignatureLen>(bytes).map(Self)
    }

    /// The signature as the standard encodes it.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    /// A signature of zeros, to be written over.
    pub(super) fn zero() -> Self {
        Self(P::SignatureLen::from_fn(|_| 0))
    }

    /// [`parts`], to be written (sigEncode, FIPS 204, algorithm 26).
    pub(super) fn parts_mut(&mut self) -> (&mut [u8], impl Iterator<Item = &mut [u8]>, &mut [u8]) {
        let (c_tilde, rest) = self.0.as_mut().split_at_mut(P::LAMBDA / 4);
        let (z, hint) = rest.split_at_mut(z_len::<P>() * P::L::N);
        (c_tilde, z.chunks_exact_mut(z_len::<P>()), hint)
    }
}

/// c̃, the encoded elements of **z**, and the encoded hint of an encoded signature (sigDecode, FIPS
/// 204, algorithm 27, before it decodes them).
pub(super) fn parts<P: ParameterSet>(
    signature: &[u8],
) -> (&[u8], impl Iterator<Item = &[u8]>, &[u8]) {
    let (c_tilde, rest) = signature.split_at(P::LAMBDA / 4);
    let (z, hint) = rest.split_at(z_len::<P>() * P::L::N);
    (c_tilde, z.chunks_exact(z_len::<P>()), hint)
}

public_bytes!(Signature);

/// A decoded hint **h**: the positions of the ones in each of its k polynomials.
pub(super) struct Hints<'a> {
    indices: &'a [u8],
    /// The end of each polynomial's part of `indices`.
    ends: &'a [u8],
}

impl<'a> Hints<'a> {
    /// HintBitUnpack (algorithm 21) of ω + k bytes; `None` if they are malformed. Each hint has
    /// exactly one encoding.
    pub(super) fn decode<P: ParameterSet>(bytes: &'a [u8]) -> Option<Self> {
        let (indices, ends) = bytes.split_at_checked(P::OMEGA)?;
        // 3-4: for each polynomial; `index` is where the previous one's part ends
        let mut index = 0;
        for end in ends {
            let end = usize::from(*end);
            // 5-7: ends never decrease, and are at most ω; 8-14: indices increase
            let row = indices.get(index..end)?;
            if !row.is_sorted_by(|a, b| a < b) {
                return None;
            }
            index = end;
        }
        // 17-19: the rest must be zeros
        let rest = indices.get(index..)?;
        rest.iter()
            .all(|index| *index == 0)
            .then_some(Self { indices, ends })
    }

    /// The indices of ones in polynomial `i`, ascending.
    pub(super) fn of(&self, i: usize) -> &'a [u8] {
        let start = i.checked_sub(1).map_or(0, |last| self.ends[last]);
        &self.indices[usize::from(start)..usize::from(self.ends[i])]
    }
}

/// HintBitPack (algorithm 20) into ω + k bytes. There are at most ω ones.
pub(super) fn encode_hints<'a, P: ParameterSet, B: Backend>(
    b: B,
    hints: impl Iterator<Item = &'a [i32; 256]>,
    output: &mut [u8],
) {
    let (indices, ends) = output.split_at_mut(P::OMEGA);
    indices.fill(0);
    let mut ones = [0; 256];
    let mut index = 0;
    for (hint, end) in hints.zip(ends) {
        let count = b.run(Ones {
            hint,
            indices: &mut ones,
        });
        for (output, one) in indices[index..].iter_mut().zip(&ones[..count]) {
            *output = *one as u8;
        }
        index += count;
        *end = index as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::{Hints, encode_hints};
    use crate::arch::Portable;
    use crate::ml_dsa::{MlDsa44, MlDsa65, MlDsa87, ParameterSet};
    use crate::test_random::Random;

    /// Algorithm 21 as written, with a set of bits for each polynomial.
    fn textbook(omega: usize, k: usize, y: &[u8]) -> Option<[[i32; 256]; 8]> {
        let mut h = [[0; 256]; 8];
        let mut index = 0;
        for i in 0..k {
            let end = usize::from(y[omega + i]);
            if end < index || end > omega {
                return None;
            }
            let first = index;
            while index < end {
                if index > first && y[index - 1] >= y[index] {
                    return None;
                }
                h[i][usize::from(y[index])] = 1;
                index += 1;
            }
        }
        y[index..omega].iter().all(|y| *y == 0).then_some(h)
    }

    fn check<P: ParameterSet>(k: usize) {
        let len = P::OMEGA + k;
        let mut random = Random::new(1);
        let mut random = move |limit: u32| random.below(limit) as u8;
        let mut accepted = 0;
        for round in 0..20_000 {
            // a valid hint, and often one change to it
            let mut hints = [[0; 256]; 8];
            let ones = random(P::OMEGA as u32 + 1);
            for _ in 0..ones {
                hints[usize::from(random(k as u32))][usize::from(random(256))] = 1;
            }
            let mut storage = [0xaa; 84];
            let bytes = &mut storage[..len];
            encode_hints::<P, _>(Portable, hints[..k].iter(), bytes);
            assert_eq!(textbook(P::OMEGA, k, bytes), Some(hints));
            if round % 4 > 0 {
                bytes[usize::from(random(len as u32))] = random(256);
            }
            if round % 4 > 1 {
                bytes[P::OMEGA + usize::from(random(k as u32))] = random(P::OMEGA as u32 + 3);
            }

            let decoded = Hints::decode::<P>(bytes);
            let expected = textbook(P::OMEGA, k, bytes);
            assert_eq!(decoded.is_some(), expected.is_some());
            if let (Some(decoded), Some(expected)) = (decoded, expected) {
                accepted += 1;
                for (i, expected) in expected[..k].iter().enumerate() {
                    let mut hint = [0; 256];
                    for j in decoded.of(i) {
                        hint[usize::from(*j)] = 1;
                    }
                    assert_eq!(hint, *expected);
                }
                let mut again = [0; 84];
                encode_hints::<P, _>(Portable, expected[..k].iter(), &mut again[..len]);
                assert_eq!(again[..len], *bytes);
            }
        }
        assert!((5_000..19_000).contains(&accepted));
    }

    #[test]
    fn hints_match_textbook() {
        check::<MlDsa44>(4);
        check::<MlDsa65>(6);
        check::<MlDsa87>(8);
    }
}

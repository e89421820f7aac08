//! R_q and T_q (FIPS 203, section 2.4), their vectors and matrices.

use zeroize::Zeroize;

use super::params::ParameterSet;
use crate::arch::Backend;
use crate::dimension::{Array, Dimension};
use crate::kernel::ml_kem::compression::{
    Canonicalise, CompressEncode, Decode12, DecodeDecompress, Encode12,
};
use crate::kernel::ml_kem::multiplication::{
    Factor, InnerProduct, OverRadix, TimesGamma, TimesRadix,
};
use crate::kernel::ntt::{InverseNtt, Ntt, Q3329};
use crate::wipe::wipe;

/// Length of ByteEncode₁₂ of a polynomial in bytes.
pub(super) const ENCODED_LEN: usize = 384;

/// An element of R_q: a polynomial. |x| ≤ q.
#[derive(Clone)]
pub(super) struct Rq(pub(super) [i16; 256]);

/// An element of T_q: the transform of a polynomial. |x| ≤ q.
#[derive(Clone)]
pub(super) struct Tq(pub(super) [i16; 256]);

/// A vector over R_q.
pub(super) type VectorR<P> = Array<<P as ParameterSet>::K, Rq>;
/// A vector over T_q.
pub(super) type VectorT<P> = Array<<P as ParameterSet>::K, Tq>;
/// A matrix over T_q, by rows.
pub(super) type MatrixT<P> = Array<<P as ParameterSet>::K, VectorT<P>>;

/// A k by k matrix of zeros.
pub(super) fn zero_matrix<P: ParameterSet>() -> MatrixT<P> {
    P::K::from_fn(|_| zero_vector_t::<P>())
}

pub(super) fn zero_vector_r<P: ParameterSet>() -> VectorR<P> {
    P::K::from_fn(|_| Rq::ZERO)
}

pub(super) fn zero_vector_t<P: ParameterSet>() -> VectorT<P> {
    P::K::from_fn(|_| Tq::ZERO)
}

impl Rq {
    pub(super) const ZERO: Self = Self([0; 256]);

    /// NTT (algorithm 9), which leaves zeros behind.
    pub(super) fn take_ntt<B: Backend>(&mut self, b: B) -> Tq {
        b.run(Ntt::<Q3329>(&mut self.0));
        let transformed = Tq(self.0);
        self.zeroize();
        transformed
    }

    /// Adds `other`; the caller's bounds exclude overflow.
    pub(super) fn add(&mut self, other: &Self) {
        for (x, y) in self.0.iter_mut().zip(&other.0) {
            *x += y;
        }
    }

    /// Subtracts `other`; the caller's bounds exclude overflow.
    pub(super) fn subtract(&mut self, other: &Self) {
        for (x, y) in self.0.iter_mut().zip(&other.0) {
            *x -= y;
        }
    }

    /// Whether all coefficients lie in ±`eta` modulo q. Runs in constant time.
    pub(super) fn is_small<B: Backend>(&mut self, b: B, eta: usize) -> bool {
        let eta = eta as i16;
        for x in &mut self.0 {
            *x += eta;
        }
        b.run(Canonicalise(&mut self.0));
        // negative exactly where a coefficient is out of range
        let excess = self.0.iter().fold(0, |excess, x| excess | (2 * eta - x));
        excess >= 0
    }

    /// ByteEncode_D(Compress_D(·)).
    pub(super) fn compress_encode<B: Backend>(&self, b: B, d: usize, output: &mut [u8]) {
        let f = &self.0;
        match d {
            1 => b.run(CompressEncode::<1> { f, output }),
            4 => b.run(CompressEncode::<4> { f, output }),
            5 => b.run(CompressEncode::<5> { f, output }),
            10 => b.run(CompressEncode::<10> { f, output }),
            _ => b.run(CompressEncode::<11> { f, output }),
        }
    }

    /// Decompress_D(ByteDecode_D(·)).
    pub(super) fn decode_decompress<B: Backend>(b: B, d: usize, input: &[u8]) -> Self {
        let mut f = Self::ZERO;
        match d {
            1 => b.run(DecodeDecompress::<1> { input, f: &mut f.0 }),
            4 => b.run(DecodeDecompress::<4> { input, f: &mut f.0 }),
            5 => b.run(DecodeDecompress::<5> { input, f: &mut f.0 }),
            10 => b.run(DecodeDecompress::<10> { input, f: &mut f.0 }),
            _ => b.run(DecodeDecompress::<11> { input, f: &mut f.0 }),
        }
        f
    }
}

impl Tq {
    pub(super) const ZERO: Self = Self([0; 256]);

    /// NTT⁻¹ (algorithm 10) of a result of [`Multiplier::inner_product`], which leaves
    /// zeros behind.
    pub(super) fn take_inverse_ntt<B: Backend>(&mut self, b: B) -> Rq {
        b.run(InverseNtt::<Q3329>(&mut self.0));
        let transformed = Rq(self.0);
        self.zeroize();
        transformed
    }

    /// NTT⁻¹ (algorithm 10) of anything else.
    pub(super) fn take_plain_inverse_ntt<B: Backend>(&mut self, b: B) -> Rq {
        // The inverse transform brings a factor R, which one product takes out.
        let mut f = self.take_inverse_ntt(b);
        b.run(OverRadix(&mut f.0));
        f
    }

    /// `self` + `other` for a result of [`Multiplier::inner_product`] that stays
    /// in T_q.
    pub(super) fn add<B: Backend>(&mut self, b: B, other: &Self) {
        b.run(TimesRadix(&mut self.0));
        for (x, y) in self.0.iter_mut().zip(&other.0) {
            *x += y;
        }
        b.run(Canonicalise(&mut self.0));
    }

    /// ByteEncode₁₂, into 384 bytes.
    pub(super) fn encode<B: Backend>(&self, b: B, output: &mut [u8]) {
        b.run(Encode12 { f: &self.0, output });
    }

    /// ByteDecode₁₂ of 384 bytes, and whether all coefficients were reduced. If not,
    /// the element breaks its bound and must not be used.
    pub(super) fn decode<B: Backend>(b: B, input: &[u8]) -> (Self, bool) {
        let mut f = Self::ZERO;
        let reduced = b.run(Decode12 { input, f: &mut f.0 });
        (f, reduced)
    }
}

/// A vector over T_q, ready to be multiplied. Wiped when dropped.
pub(super) struct Multiplier<P: ParameterSet> {
    vector: VectorT<P>,
    gammas: Array<P::K, [i16; 128]>,
}

impl<P: ParameterSet> Multiplier<P> {
    pub(super) fn new<B: Backend>(b: B, vector: VectorT<P>) -> Self {
        let gammas = P::K::from_fn(|i| {
            let mut output = [0; 128];
            b.run(TimesGamma {
                b: &vector.as_ref()[i].0,
                output: &mut output,
            });
            output
        });
        Self { vector, gammas }
    }

    /// The vector itself.
    pub(super) fn vector(&self) -> &VectorT<P> {
        &self.vector
    }

    /// The sum over i of `term(i)` · self\[i\] · R⁻¹.
    pub(super) fn inner_product<'a, B: Backend>(&self, b: B, term: impl Fn(usize) -> &'a Tq) -> Tq {
        let mut output = Tq::ZERO;
        b.run(InnerProduct {
            len: P::K::N,
            term: |i: usize| {
                let factor = Factor {
                    b: &self.vector.as_ref()[i].0,
                    b1_gamma: &self.gammas.as_ref()[i],
                };
                (&term(i).0, factor)
            },
            output: &mut output.0,
        });
        output
    }
}

impl<P: ParameterSet> Drop for Multiplier<P> {
    fn drop(&mut self) {
        self.vector.as_mut().iter_mut().zeroize();
        for gammas in self.gammas.as_mut() {
            wipe(gammas);
        }
    }
}

impl Zeroize for Rq {
    fn zeroize(&mut self) {
        wipe(&mut self.0);
    }
}

impl Zeroize for Tq {
    fn zeroize(&mut self) {
        wipe(&mut self.0);
    }
}

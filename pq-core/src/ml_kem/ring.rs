//! R_q and T_q (FIPS 203, section 2.4), their vectors and matrices.

use zeroize::Zeroize;

use super::params::ParameterSet;
use crate::arch::Backend;
use crate::dimension::{Array, Dimension};
use crate::kernel::ml_kem::addition::{Add, Subtract};
use crate::kernel::ml_kem::compression::{
    Canonicalise, CompressEncode, CompressedDifference, Decode12, DecodeDecompress, DecodeMessage,
    Encode12,
};
use crate::kernel::ml_kem::multiplication::{
    Elements, Factor, InnerProduct, MakeFactor, OverRadix, TimesRadixPlus,
};
use crate::kernel::ntt::{InverseNtt, Ntt, Q3329};
use crate::secret::{Secret, Zero, wipe};

/// Length of ByteEncode₁₂ of a polynomial in bytes.
pub(super) const ENCODED_LEN: usize = 384;

/// An element of R_q: a polynomial.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Rq(pub(super) [i16; 256]);

/// An element of T_q: the transform of a polynomial. |x| ≤ q.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Tq(pub(super) [i16; 256]);

/// A vector over R_q, wiped when dropped.
pub(super) type VectorR<P> = Secret<<P as ParameterSet>::K, Rq>;
/// A vector over T_q that is public.
pub(super) type VectorT<P> = Array<<P as ParameterSet>::K, Tq>;

/// A vector over T_q, all zero, to be written over.
pub(super) fn zero_t<P: ParameterSet>() -> VectorT<P> {
    P::K::from_fn(|_| Tq::ZERO)
}

/// A k by k matrix over T_q, by rows.
#[derive(Clone)]
pub(super) struct Matrix<P: ParameterSet>(Array<P::K, Array<P::K, Tq>>);

impl<P: ParameterSet> Matrix<P> {
    /// All entries zero, to be written over.
    pub(super) fn zero() -> Self {
        Self(P::K::from_fn(|_| P::K::from_fn(|_| Tq::ZERO)))
    }

    /// The entry in row i and column j.
    pub(super) fn entry(&self, i: usize, j: usize) -> &Tq {
        &self.0.as_ref()[i].as_ref()[j]
    }

    /// Row i.
    pub(super) fn row(&self, i: usize) -> &[Tq] {
        self.0.as_ref()[i].as_ref()
    }

    /// Column j.
    pub(super) fn column(&self, j: usize) -> Column<'_, P> {
        Column { matrix: self, j }
    }

    /// The entry in row i and column j, to be written over.
    pub(super) fn entry_mut(&mut self, i: usize, j: usize) -> &mut Tq {
        &mut self.0.as_mut()[i].as_mut()[j]
    }
}

/// A column of a matrix.
pub(super) struct Column<'a, P: ParameterSet> {
    matrix: &'a Matrix<P>,
    j: usize,
}

impl<'a, P: ParameterSet> Elements<'a> for Column<'a, P> {
    #[inline(always)]
    fn element(&self, i: usize) -> &'a [i16; 256] {
        &self.matrix.entry(i, self.j).0
    }
}

impl<'a> Elements<'a> for &'a [Tq] {
    #[inline(always)]
    fn element(&self, i: usize) -> &'a [i16; 256] {
        &self[i].0
    }
}

impl Zero for Rq {
    const ZERO: Self = Self([0; 256]);
}

impl Zeroize for Rq {
    fn zeroize(&mut self) {
        wipe(&mut self.0);
    }
}

impl Rq {
    /// self ← NTT⁻¹(the sum over i of a\[i\] ∘ `multiplier`\[i\]) (algorithm 10); gives
    /// |x| < q.
    pub(super) fn set_product<'t, P: ParameterSet, B: Backend>(
        &mut self,
        b: B,
        multiplier: &'t Multiplier<P>,
        a: impl Elements<'t>,
    ) {
        multiplier.write_inner_product(b, a, &mut self.0);
        b.run(InverseNtt::<Q3329>(&mut self.0));
    }

    /// self ← NTT⁻¹(f) (algorithm 10) for any f; gives |x| < q.
    pub(super) fn set_inverse_ntt<B: Backend>(&mut self, b: B, f: &Tq) {
        self.0.copy_from_slice(&f.0);
        // removes the factor R that the inverse transform adds
        b.run(OverRadix(&mut self.0));
        b.run(InverseNtt::<Q3329>(&mut self.0));
    }

    /// Adds `other`; the caller's bounds exclude overflow.
    pub(super) fn add<B: Backend>(&mut self, b: B, other: &Self) {
        b.run(Add(&mut self.0, &other.0));
    }

    /// Subtracts `other`; the caller's bounds exclude overflow.
    pub(super) fn subtract<B: Backend>(&mut self, b: B, other: &Self) {
        b.run(Subtract(&mut self.0, &other.0));
    }

    /// Whether all coefficients lie in ±`eta` modulo q; leaves them changed. Runs in
    /// constant time. |x| ≤ 7q.
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

    /// ByteEncode_D(Compress_D(self)), |x| ≤ 4q.
    pub(super) fn compress_encode<B: Backend>(&self, b: B, d: usize, output: &mut [u8]) {
        let f = &self.0;
        match d {
            1 => b.run(CompressEncode::<1> { f, output }),
            4 => b.run(CompressEncode::<4> { f, output }),
            5 => b.run(CompressEncode::<5> { f, output }),
            10 => b.run(CompressEncode::<10> { f, output }),
            11 => b.run(CompressEncode::<11> { f, output }),
            _ => debug_assert!(false, "no parameter set compresses to {d} bits"),
        }
    }

    /// Zero exactly if ByteEncode_D(Compress_D(self)), |x| ≤ 4q, is `input`. Runs in constant time.
    pub(super) fn compressed_difference<B: Backend>(&self, b: B, d: usize, input: &[u8]) -> u16 {
        let f = &self.0;
        match d {
            4 => b.run(CompressedDifference::<4> { f, input }),
            5 => b.run(CompressedDifference::<5> { f, input }),
            10 => b.run(CompressedDifference::<10> { f, input }),
            11 => b.run(CompressedDifference::<11> { f, input }),
            _ => {
                debug_assert!(false, "no parameter set compresses to {d} bits");
                u16::MAX
            }
        }
    }

    /// self ← Decompress_D(ByteDecode_D(input)), 0 ≤ x < q.
    pub(super) fn decode_decompress<B: Backend>(&mut self, b: B, d: usize, input: &[u8]) {
        decode_decompress(b, d, input, &mut self.0);
    }

    /// self ← Decompress₁(ByteDecode₁(m)), 0 ≤ x < q, in constant time.
    pub(super) fn decode_message<B: Backend>(&mut self, b: B, m: &[u8; 32]) {
        let f = &mut self.0;
        b.run(DecodeMessage { m, f });
    }
}

/// f ← Decompress_D(ByteDecode_D(input)), 0 ≤ x < q.
fn decode_decompress<B: Backend>(b: B, d: usize, input: &[u8], f: &mut [i16; 256]) {
    match d {
        4 => b.run(DecodeDecompress::<4> { input, f }),
        5 => b.run(DecodeDecompress::<5> { input, f }),
        10 => b.run(DecodeDecompress::<10> { input, f }),
        11 => b.run(DecodeDecompress::<11> { input, f }),
        _ => debug_assert!(false, "no parameter set compresses to {d} bits"),
    }
}

impl Zero for Tq {
    const ZERO: Self = Self([0; 256]);
}

impl Zeroize for Tq {
    fn zeroize(&mut self) {
        wipe(&mut self.0);
    }
}

impl Tq {
    /// self ← the sum over i of a\[i\] ∘ `multiplier`\[i\] + NTT(f), with |x| ≤ q in f. Overwrites
    /// f.
    pub(super) fn set_product_plus_ntt<'t, P: ParameterSet, B: Backend>(
        &mut self,
        b: B,
        multiplier: &'t Multiplier<P>,
        a: impl Elements<'t>,
        f: &mut Rq,
    ) {
        multiplier.write_inner_product(b, a, &mut self.0);
        b.run(Ntt::<Q3329>(&mut f.0));
        // compensates for the factor R⁻¹ of the product
        let (f, g) = (&mut self.0, &f.0);
        b.run(TimesRadixPlus { f, g });
    }

    /// self ← NTT(Decompress_D(ByteDecode_D(input))).
    pub(super) fn set_ntt_of_compressed<B: Backend>(&mut self, b: B, d: usize, input: &[u8]) {
        decode_decompress(b, d, input, &mut self.0);
        b.run(Ntt::<Q3329>(&mut self.0));
    }

    /// Reduces to 0 ≤ x < q, from |x| ≤ 8q.
    pub(super) fn reduce<B: Backend>(&mut self, b: B) {
        b.run(Canonicalise(&mut self.0));
    }

    /// ByteEncode₁₂(self), into 384 bytes.
    pub(super) fn encode<B: Backend>(&self, b: B, output: &mut [u8]) {
        b.run(Encode12 { f: &self.0, output });
    }

    /// self ← ByteDecode₁₂(input); returns whether all coefficients were reduced. If not, the
    /// element breaks its bound and must not be used. Runs in constant time.
    pub(super) fn decode<B: Backend>(&mut self, b: B, input: &[u8]) -> bool {
        let f = &mut self.0;
        b.run(Decode12 { input, f })
    }
}

/// ByteDecode₁₂ of each element; returns whether all coefficients were reduced. If not, the vector
/// must not be used. Runs in constant time.
pub(super) fn decode<B: Backend>(b: B, input: &[u8], vector: &mut [Tq]) -> bool {
    let elements = vector.iter_mut().zip(input.chunks_exact(ENCODED_LEN));
    elements.fold(true, |reduced, (element, input)| {
        reduced & element.decode(b, input)
    })
}

/// A vector over T_q, ready to be multiplied. Wiped when dropped.
pub(super) struct Multiplier<P: ParameterSet>(Secret<P::K, Factor>);

impl<P: ParameterSet> Multiplier<P> {
    /// All zero, to be written over.
    pub(super) fn zero() -> Self {
        Self(Secret::zero())
    }

    /// Copies `source`.
    pub(super) fn copy_from(&mut self, source: &Self) {
        self.0.copy_from(&source.0);
    }

    /// Sets element i to f, |x| ≤ q.
    pub(super) fn set<B: Backend>(&mut self, b: B, i: usize, f: &Tq) {
        self.set_factor(b, i, &f.0);
    }

    /// f ← element i, |x| ≤ q.
    pub(super) fn element(&self, i: usize, f: &mut Tq) {
        self.0[i].write(&mut f.0);
    }

    /// Sets element i to NTT(f), with |x| ≤ q in f. Overwrites f.
    pub(super) fn set_ntt<B: Backend>(&mut self, b: B, i: usize, f: &mut Rq) {
        b.run(Ntt::<Q3329>(&mut f.0));
        self.set_factor(b, i, &f.0);
    }

    fn set_factor<B: Backend>(&mut self, backend: B, i: usize, b: &[i16; 256]) {
        let factor = &mut self.0[i];
        backend.run(MakeFactor { b, factor });
    }

    /// output ← the sum over i of a\[i\] ∘ self\[i\] · R⁻¹
    fn write_inner_product<'t, B: Backend>(
        &'t self,
        b: B,
        a: impl Elements<'t>,
        output: &mut [i16; 256],
    ) {
        match P::K::N {
            2 => self.write_inner_product_of::<_, 2>(b, a, output),
            3 => self.write_inner_product_of::<_, 3>(b, a, output),
            4 => self.write_inner_product_of::<_, 4>(b, a, output),
            k => debug_assert!(false, "no parameter set has k = {k}"),
        }
    }

    /// [`write_inner_product`](Self::write_inner_product) with k = `LEN`.
    #[inline(always)]
    fn write_inner_product_of<'t, B: Backend, const LEN: usize>(
        &'t self,
        backend: B,
        a: impl Elements<'t>,
        output: &mut [i16; 256],
    ) {
        match self.0.first_chunk() {
            Some(b) => backend.run(InnerProduct::<LEN, _> { a, b, output }),
            None => debug_assert!(false, "there are fewer than {LEN} elements"),
        }
    }
}

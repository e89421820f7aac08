//! R_q and T_q (FIPS 204, section 2.3), their vectors and matrices.

use zeroize::Zeroize;

use super::params::{ParameterSet, match_constant};
use crate::arch::Backend;
use crate::dimension::{Array, Dimension};
use crate::kernel::ml_dsa::challenge::{AddProduct, Rotate, Rotations, Terms, Unrotate};
use crate::kernel::ml_dsa::multiplication::{InnerProduct, Multiply, OverRadix};
use crate::kernel::ml_dsa::rounding::{
    AddPower2Round, Below, Centre, Decompose, GAMMA2_44, GAMMA2_65_87, MakeHint, UseHint,
};
use crate::kernel::ntt::{InverseNtt, Ntt, NttOf, Q8380417};
use crate::secret::{Zero, wipe};

/// An element of R_q: a polynomial.
#[derive(Clone)]
pub(super) struct Rq(pub(super) [i32; 256]);

/// An element of T_q: the transform of a polynomial. |x| ≤ 10q.
#[derive(Clone)]
pub(super) struct Tq(pub(super) [i32; 256]);

/// An element of R_q with coefficients in −η ..= η, for products by challenges.
#[derive(Clone)]
pub(super) struct Small(Rotations);

/// A challenge c, for products with small elements: its nonzero coefficients.
#[repr(align(64))]
pub(super) struct Challenge {
    terms: [i16; 256],
    count: usize,
}

/// A k by ℓ matrix over T_q, by rows; 0 ≤ x < q.
#[derive(Clone)]
pub(super) struct Matrix<P: ParameterSet>(Array<P::Entries, Tq>);

impl<P: ParameterSet> Matrix<P> {
    pub(super) fn zero() -> Self {
        Self(P::Entries::from_fn(|_| Tq::ZERO))
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &[Tq]> {
        self.0.as_ref().chunks_exact(P::L::N)
    }

    /// Row `r`.
    pub(super) fn row(&self, r: usize) -> &[Tq] {
        &self.0.as_ref()[P::L::N * r..][..P::L::N]
    }

    /// The entry in row `r` and column `s`.
    pub(super) fn entry_mut(&mut self, r: usize, s: usize) -> &mut Tq {
        &mut self.0.as_mut()[P::L::N * r + s]
    }

    /// Every entry with the indices of its row and column.
    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = ((u8, u8), &mut Tq)> {
        let indices = (0..P::K::N as u8).flat_map(|r| (0..P::L::N as u8).map(move |s| (r, s)));
        indices.zip(self.0.as_mut())
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

impl Zero for Small {
    const ZERO: Self = Self([[0; 256]; 3]);
}

impl Zeroize for Small {
    fn zeroize(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}

impl Small {
    /// The place of η − s, to be written before [`rotate`](Self::rotate).
    pub(super) fn eta_less_s_mut(&mut self) -> &mut [u8; 256] {
        &mut self.0[1]
    }

    /// Makes an element from the η − s that was written to
    /// [`eta_less_s_mut`](Self::eta_less_s_mut).
    pub(super) fn rotate<P: ParameterSet, B: Backend>(&mut self, b: B) {
        b.run(Rotate {
            rotations: &mut self.0,
            eta: P::ETA as u8,
        });
    }

    /// output ← self
    fn write<P: ParameterSet, B: Backend>(&self, b: B, output: &mut [i32; 256]) {
        b.run(Unrotate {
            rotations: &self.0,
            eta: P::ETA as u8,
            s: output,
        });
    }
}

impl Challenge {
    /// Puts something everywhere.
    #[cfg(test)]
    pub(super) fn fill_for_tests(&mut self) {
        self.terms.fill(7);
    }

    #[cfg(test)]
    pub(super) fn terms(&self) -> &[i16] {
        &self.terms
    }

    pub(super) const ZERO: Self = Self {
        terms: [0; 256],
        count: 0,
    };

    /// self ← c
    pub(super) fn set<B: Backend>(&mut self, b: B, c: &Rq) {
        self.count = b.run(Terms {
            c: &c.0,
            terms: &mut self.terms,
        });
    }
}

impl Zeroize for Challenge {
    fn zeroize(&mut self) {
        wipe(&mut self.terms);
    }
}

impl Tq {
    /// self ← NTT(self) (algorithm 41), where self holds a polynomial before; |x| ≤ q.
    pub(super) fn transform<B: Backend>(&mut self, b: B) {
        b.run(Ntt::<Q8380417>(&mut self.0));
    }

    /// self ← NTT(s)
    pub(super) fn set_transform<P: ParameterSet, B: Backend>(&mut self, b: B, s: &Small) {
        s.write::<P, B>(b, &mut self.0);
        self.transform(b);
    }
}

impl Rq {
    /// output ← NTT(self) (algorithm 41); |x| ≤ q.
    pub(super) fn ntt<B: Backend>(&self, b: B, output: &mut Tq) {
        b.run(NttOf::<Q8380417> {
            f: &self.0,
            output: &mut output.0,
        });
    }

    /// self ← NTT⁻¹(f ∘ g) (algorithms 45 and 42); gives |x| < q.
    pub(super) fn set_product<B: Backend>(&mut self, b: B, f: &Tq, g: &Tq) {
        b.run(Multiply {
            a: &f.0,
            b: &g.0,
            output: &mut self.0,
        });
        b.run(InverseNtt::<Q8380417>(&mut self.0));
    }

    /// self ← NTT⁻¹(the inner product of `f`, a row of **Â**, and `g`); gives |x| < q.
    ///
    /// This is a row of MatrixVectorNTT (algorithm 48), with the sums of AddNTT (algorithm 44) inside.
    /// AddVectorNTT and ScalarVectorNTT (algorithms 46 and 47) are not functions of their own either:
    /// callers go through the elements of a vector, with [`set_product`](Self::set_product) for each,
    /// or add as `last` in [`set_inner_product_and`](Self::set_inner_product_and).
    pub(super) fn set_inner_product<B: Backend>(&mut self, b: B, f: &[Tq], g: &[Tq]) {
        b.run(InnerProduct {
            f,
            g,
            last: None,
            output: &mut self.0,
        });
        b.run(InverseNtt::<Q8380417>(&mut self.0));
    }

    /// self ← NTT⁻¹(the inner product of `f`, a row of **Â**, and `g`, plus the product of the pair
    /// `last`); gives |x| < q.
    pub(super) fn set_inner_product_and<B: Backend>(
        &mut self,
        b: B,
        f: &[Tq],
        g: &[Tq],
        last: (&Tq, &Tq),
    ) {
        b.run(InnerProduct {
            f,
            g,
            last: Some(last),
            output: &mut self.0,
        });
        b.run(InverseNtt::<Q8380417>(&mut self.0));
    }

    /// self ← s
    pub(super) fn set_small<P: ParameterSet, B: Backend>(&mut self, b: B, s: &Small) {
        s.write::<P, B>(b, &mut self.0);
    }

    /// self ← NTT⁻¹(f) mod± q, whose magnitude must be below 2²¹.
    pub(super) fn set_centred<B: Backend>(&mut self, b: B, f: &Tq) {
        self.0.copy_from_slice(&f.0);
        b.run(OverRadix(&mut self.0));
        b.run(InverseNtt::<Q8380417>(&mut self.0));
        b.run(Centre(&mut self.0));
    }

    /// (high, self) ← Power2Round(self + s), with high encoded as SimpleBitPack(high, 2^10 − 1).
    pub(super) fn add_power2round<P: ParameterSet, B: Backend>(
        &mut self,
        b: B,
        Small([s_plus_eta, ..]): &Small,
        high: &mut [u8],
    ) {
        b.run(AddPower2Round {
            f: &mut self.0,
            g_plus_eta: s_plus_eta,
            eta: P::ETA as u8,
            high,
        });
    }

    /// (high, self) ← Decompose(self); |x| < q.
    pub(super) fn decompose<P: ParameterSet, B: Backend>(&mut self, b: B, high: &mut Self) {
        let (f, high) = (&mut self.0, &mut high.0);
        match_constant!(P::GAMMA2 => {
            GAMMA2_44 => b.run(Decompose::<GAMMA2_44> { f, high }),
            GAMMA2_65_87 => b.run(Decompose::<GAMMA2_65_87> { f, high }),
        })
    }

    /// output ← SimpleBitPack(UseHint(hint, self), (q − 1) / 2γ₂ − 1), where the hint is 1 at
    /// `hints`; |x| < q. Afterwards self holds nothing useful.
    pub(super) fn use_hint<P: ParameterSet, B: Backend>(
        &mut self,
        b: B,
        hints: &[u8],
        output: &mut [u8],
    ) {
        let f = &mut self.0;
        match_constant!(P::GAMMA2 => {
            GAMMA2_44 => b.run(UseHint::<GAMMA2_44, 6> { f, hints, output }),
            GAMMA2_65_87 => b.run(UseHint::<GAMMA2_65_87, 4> { f, hints, output }),
        })
    }

    /// Replaces LowBits(w − cs₂) in self with MakeHint(−ct₀, w − cs₂ + ct₀), where `high` is
    /// HighBits(w − cs₂). Returns the number of ones in the hint, and whether ‖ct₀‖∞ < γ₂. If not,
    /// the hint is meaningless.
    #[must_use]
    pub(super) fn make_hint<P: ParameterSet, B: Backend>(
        &mut self,
        b: B,
        high: &Self,
        ct0: &Self,
    ) -> (usize, bool) {
        let (f, high, ct0) = (&mut self.0, &high.0, &ct0.0);
        match_constant!(P::GAMMA2 => {
            GAMMA2_44 => b.run(MakeHint::<GAMMA2_44> { f, high, ct0 }),
            GAMMA2_65_87 => b.run(MakeHint::<GAMMA2_65_87> { f, high, ct0 }),
        })
    }

    /// self ← self + cs, or self − cs; returns whether then ‖self‖∞ < `bound`.
    #[must_use]
    pub(super) fn add_product<P: ParameterSet, B: Backend, const SUBTRACT: bool>(
        &mut self,
        b: B,
        c: &Challenge,
        Small(rotations): &Small,
        bound: i32,
    ) -> bool {
        let f = &mut self.0;
        let terms = &c.terms[..c.count];
        match_constant!(P::ETA => {
            2 => b.run(AddProduct::<2, SUBTRACT> { f, terms, rotations, bound }),
            4 => b.run(AddProduct::<4, SUBTRACT> { f, terms, rotations, bound }),
        })
    }

    /// Whether ‖self‖∞ < `bound`.
    #[must_use]
    pub(super) fn below<B: Backend>(&self, b: B, bound: i32) -> bool {
        b.run(Below { f: &self.0, bound })
    }
}

impl AsRef<[i32; 256]> for Tq {
    fn as_ref(&self) -> &[i32; 256] {
        &self.0
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

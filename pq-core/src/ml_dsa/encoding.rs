//! Elements of R_q as bytes (FIPS 204, sections 7.1 and 7.2).

use super::params::{ParameterSet, match_constant};
use super::ring::{Rq, Small, Tq};
use crate::arch::Backend;
use crate::kernel::ml_dsa::encoding::{
    BitPack, BitUnpack, SimpleBitPack, SimpleBitUnpack, UnpackSmall,
};
use crate::kernel::ml_dsa::rounding::{D, GAMMA2_44, GAMMA2_65_87};

/// Length of an encoded polynomial of **t**₁ in bytes.
pub(super) const T1_LEN: usize = 320;
/// Length of an encoded polynomial of **t**₀ in bytes.
pub(super) const T0_LEN: usize = 32 * D as usize;
/// The greatest k · [`w1_len`] of the parameter sets, that of ML-DSA-87.
pub(super) const MAX_W1_ENCODED_LEN: usize = 8 * 128;
/// The greatest [`z_len`] of the parameter sets.
pub(super) const MAX_Z_LEN: usize = 640;

/// Length of an encoded polynomial of **s**₁ or **s**₂ in bytes: 32 · bitlen 2η.
pub(super) const fn s_len<P: ParameterSet>() -> usize {
    32 * (1 + (2 * P::ETA).ilog2() as usize)
}

/// Length of an encoded polynomial of **y** or **z** in bytes: 32 · bitlen(2γ₁ − 1).
pub(super) const fn z_len<P: ParameterSet>() -> usize {
    32 * (1 + P::GAMMA1.ilog2() as usize)
}

/// Length of an encoded polynomial of **w**₁ in bytes: 32 · bitlen((q − 1) / 2γ₂ − 1).
pub(super) const fn w1_len<P: ParameterSet>() -> usize {
    match_constant!(P::GAMMA2 => {
        GAMMA2_44 => 32 * 6,
        GAMMA2_65_87 => 32 * 4,
    })
}

impl Small {
    /// BitUnpack(input, η, η), for **s**₁ and **s**₂, in the form that [`rotate`](Self::rotate)
    /// takes. Returns whether all coefficients are in −η ..= η. Runs in constant time.
    #[must_use]
    pub(super) fn decode<P: ParameterSet, B: Backend>(&mut self, b: B, input: &[u8]) -> bool {
        let (top, top_less_x) = (P::ETA as u8, self.eta_less_s_mut());
        match_constant!(P::ETA => {
            2 => b.run(UnpackSmall::<3> { input, top, top_less_x }),
            4 => b.run(UnpackSmall::<4> { input, top, top_less_x }),
        })
    }
}

impl Tq {
    /// NTT(SimpleBitUnpack(input, 2^10 − 1) · 2^d), for **t**₁.
    pub(super) fn decode_t1<B: Backend>(&mut self, b: B, input: &[u8]) {
        let f = &mut self.0;
        b.run(SimpleBitUnpack::<10, D> { input, f });
        self.transform(b);
    }
}

impl Rq {
    /// BitPack(self, 2^(d−1) − 1, 2^(d−1)), for **t**₀.
    pub(super) fn encode_t0<B: Backend>(&self, b: B, output: &mut [u8]) {
        b.run(BitPack::<{ D as usize }> {
            f: &self.0,
            top: 1 << (D - 1),
            output,
        });
    }

    /// BitPack(self, η, η), for **s**₁ and **s**₂.
    pub(super) fn encode_s<P: ParameterSet, B: Backend>(&self, b: B, output: &mut [u8]) {
        let (f, top) = (&self.0, P::ETA);
        match_constant!(P::ETA => {
            2 => b.run(BitPack::<3> { f, top, output }),
            4 => b.run(BitPack::<4> { f, top, output }),
        })
    }

    /// BitPack(self, γ₁ − 1, γ₁), for **z**.
    pub(super) fn encode_z<P: ParameterSet, B: Backend>(&self, b: B, output: &mut [u8]) {
        let (f, top) = (&self.0, P::GAMMA1);
        match_constant!(P::GAMMA1.ilog2() => {
            17 => b.run(BitPack::<18> { f, top, output }),
            19 => b.run(BitPack::<20> { f, top, output }),
        })
    }

    /// BitUnpack(input, γ₁ − 1, γ₁), for **y** and **z**.
    pub(super) fn decode_z<P: ParameterSet, B: Backend>(&mut self, b: B, input: &[u8]) {
        let (f, top) = (&mut self.0, P::GAMMA1);
        match_constant!(P::GAMMA1.ilog2() => {
            17 => b.run(BitUnpack::<18> { input, top, f }),
            19 => b.run(BitUnpack::<20> { input, top, f }),
        })
    }

    /// SimpleBitPack(self, (q − 1) / 2γ₂ − 1), for **w**₁.
    ///
    /// An element's part of w1Encode (FIPS 204, algorithm 28).
    pub(super) fn encode_w1<P: ParameterSet, B: Backend>(&self, b: B, output: &mut [u8]) {
        let f = &self.0;
        match_constant!(P::GAMMA2 => {
            GAMMA2_44 => b.run(SimpleBitPack::<6> { f, output }),
            GAMMA2_65_87 => b.run(SimpleBitPack::<4> { f, output }),
        })
    }
}

//! The constant factors of the layers.

/// Constant factors cᵢ, each as two numbers.
pub(crate) struct Twiddles<T: 'static> {
    /// cᵢ · R mod± q for Montgomery products, cᵢ mod± q for Barrett's.
    pub(crate) factors: &'static [T],
    /// cᵢ · R · q⁻¹ mod± R for Montgomery products, cᵢ · R / q, rounded, for Barrett's, and half
    /// of that, rounded, for those with a rounded quotient.
    pub(crate) factors_over_q: &'static [T],
}

/// All factors of a ring, in one form.
pub(crate) struct Tables<T: 'static> {
    /// ζ^BitRev(k) for every k, 0 < k < 256 / `LAST_LEN`, as those of single layers.
    pub(crate) powers: Twiddles<T>,
    /// For the layers of length 1, 2, 4, 8 and 16, the factor of each of their
    /// 128 pairs, in the forward transform's order.
    pub(super) lanes: [Twiddles<T>; 5],
    /// The same in the inverse transform's order.
    pub(super) inverse_lanes: [Twiddles<T>; 5],
    /// R / (256 / `LAST_LEN`), which undoes the growth of the inverse transform and the R⁻¹
    /// that the multiplication before it left; and the same times the factor of its last
    /// layer. For Montgomery products, or for rounded ones.
    pub(super) inverse_scales: Twiddles<T>,
}

/// ζ^BitRev(k) mod q for 0 ≤ k < n, where BitRev reverses log₂ n bits: BitRev₇ of FIPS 203, and
/// BitRev₈ of FIPS 204, algorithm 43.
pub(super) const fn powers(q: i64, zeta: i64, n: usize) -> [i64; 256] {
    let mut powers = [0; 256];
    let mut power = 1;
    let mut exponent: usize = 0;
    while exponent < n {
        powers[exponent.reverse_bits() >> (usize::BITS - n.ilog2())] = power;
        power = power * zeta % q;
        exponent += 1;
    }
    powers
}

/// The power for each of the 128 pairs of the layer of length `len`.
pub(super) const fn spread(powers: &[i64; 256], len: usize, forward: bool) -> [i64; 128] {
    let blocks = 128 / len;
    let mut spread = [0; 128];
    let mut pair = 0;
    while pair < 128 {
        let block = pair / len;
        spread[pair] = powers[if forward {
            blocks + block
        } else {
            2 * blocks - 1 - block
        }];
        pair += 1;
    }
    spread
}

/// R / n mod q for n that divides q − 1: −(q − 1) / n is the inverse of n.
pub(super) const fn inverse_scale(q: i64, n: i64, bits: u32) -> i64 {
    (1 << bits) % q * (q - (q - 1) / n) % q
}

/// `residues` and `residues_over_q`, the forms of Barrett's factors, of a ring.
macro_rules! residues {
    ($ring:ident, $element:ty, radix: 1 << $bits:literal) => {
        /// c mod± q for each of `constants`.
        const fn residues<const N: usize>(constants: [i64; N]) -> [$element; N] {
            const Q: $element = $ring::Q;
            let mut residues = [0; N];
            let mut i = 0;
            while i < N {
                let c = constants[i] as $element;
                residues[i] = if c > Q / 2 { c - Q } else { c };
                i += 1;
            }
            residues
        }

        #[doc = concat!("(c mod± q) · 2^", $bits, " / q, rounded, for each of `constants`.")]
        const fn residues_over_q<const N: usize>(constants: [i64; N]) -> [$element; N] {
            const Q: i64 = $ring::Q as i64;
            let mut residues = residues(constants);
            let mut i = 0;
            while i < N {
                let c_times_radix = (residues[i] as i64) << $bits;
                residues[i] = (2 * c_times_radix + Q).div_euclid(2 * Q) as $element;
                i += 1;
            }
            residues
        }
    };
}
pub(super) use residues;

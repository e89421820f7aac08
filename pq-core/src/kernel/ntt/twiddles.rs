//! The constant factors of the layers.

/// Constant factors cᵢ, each as two numbers.
pub(crate) struct Twiddles<T: 'static> {
    /// cᵢ · R mod± q for Montgomery products, cᵢ mod± q for Barrett's.
    pub(crate) factors: &'static [T],
    /// cᵢ · R · q⁻¹ mod± R for Montgomery products, cᵢ · R / q, rounded, for Barrett's.
    pub(crate) factors_over_q: &'static [T],
}

/// ζ^BitRev(k) mod q for 0 ≤ k < n, where BitRev reverses log₂ n bits.
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

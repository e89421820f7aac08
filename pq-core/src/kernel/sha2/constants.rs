//! The constants of SHA-2, computed from what they are.

/// The first 64 bits of the fractional parts of the square roots of the first 16
/// primes: what the initial values are made of (section 5.3).
pub(crate) const SQUARE_ROOTS: [u64; 16] = fractions_of_roots(2);

/// K of SHA-256, by sixteens (section 4.2.2): the high halves of the first of SHA-512.
pub(super) const CONSTANTS_256: [[u32; 16]; 4] = {
    let mut halves = [[0; 16]; 4];
    let mut t = 0;
    while t < 64 {
        halves[t / 16][t % 16] = (CONSTANTS_512[t / 16][t % 16] >> 32) as u32;
        t += 1;
    }
    halves
};

/// K of SHA-512, by sixteens (section 4.2.3): the first 64 bits of the fractional parts of
/// the cube roots of the first 80 primes.
pub(super) const CONSTANTS_512: [[u64; 16]; 5] = {
    let roots: [u64; 80] = fractions_of_roots(3);
    let mut constants = [[0; 16]; 5];
    let mut t = 0;
    while t < 80 {
        constants[t / 16][t % 16] = roots[t];
        t += 1;
    }
    constants
};

/// The first 64 bits of the fractional parts of the roots of the first `N` primes.
const fn fractions_of_roots<const N: usize>(exponent: usize) -> [u64; N] {
    let mut roots = [0; N];
    let mut count = 0;
    let mut candidate = 2;
    while count < N {
        if is_prime(candidate) {
            roots[count] = fraction_of_root(candidate, exponent);
            count += 1;
        }
        candidate += 1;
    }
    roots
}

const fn is_prime(n: u64) -> bool {
    let mut divisor = 2;
    while divisor * divisor <= n {
        if n.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

/// The low 64 bits of the largest x with x^exponent ≤ n · 2^(64 · exponent); n < 512 and
/// exponent ≤ 3, so that x < 2⁶⁸ and nothing exceeds 256 bits.
const fn fraction_of_root(n: u64, exponent: usize) -> u64 {
    let mut target = [0; 4];
    target[exponent] = n;
    let mut x: [u64; 4] = [0; 4];
    let mut bit = 68;
    while bit > 0 {
        bit -= 1;
        x[bit / 64] |= 1 << (bit % 64);
        let mut power = x;
        let mut i = 1;
        while i < exponent {
            power = product(power, x);
            i += 1;
        }
        if exceeds(power, target) {
            x[bit / 64] &= !(1 << (bit % 64));
        }
    }
    x[0]
}

/// a · b mod 2²⁵⁶, least significant words first.
const fn product(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut product = [0; 4];
    let mut i = 0;
    while i < 4 {
        let mut carry = 0;
        let mut j = 0;
        while i + j < 4 {
            let sum = a[i] as u128 * b[j] as u128 + product[i + j] as u128 + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
            j += 1;
        }
        i += 1;
    }
    product
}

/// Whether a > b.
const fn exceeds(a: [u64; 4], b: [u64; 4]) -> bool {
    let mut i = 4;
    while i > 0 {
        i -= 1;
        if a[i] != b[i] {
            return a[i] > b[i];
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{CONSTANTS_256, CONSTANTS_512, SQUARE_ROOTS};

    /// The first and last as FIPS 180-4 prints them.
    #[test]
    fn constants_as_printed() {
        assert_eq!(CONSTANTS_256[0][..2], [0x428a_2f98, 0x7137_4491]);
        assert_eq!(CONSTANTS_256[3][14..], [0xbef9_a3f7, 0xc671_78f2]);
        assert_eq!(CONSTANTS_512[0][0], 0x428a_2f98_d728_ae22);
        assert_eq!(CONSTANTS_512[4][15], 0x6c44_198c_4a47_5817);
        assert_eq!(SQUARE_ROOTS[0], 0x6a09_e667_f3bc_c908);
        assert_eq!(SQUARE_ROOTS[15], 0x47b5_481d_befa_4fa4);
    }
}

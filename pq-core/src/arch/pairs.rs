//! Sums of products of pairs of coefficients, sixteen at a time: the defaults of the methods
//! of [`Backend`](super::Backend).

/// See [`Backend::add_pair_products`](super::Backend::add_pair_products).
#[inline(always)]
pub(super) fn add_products(a: &[i16; 32], b: &[i16; 32], sums: &mut [i32; 16]) {
    let pairs = a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0);
    for (sum, (a, b)) in sums.iter_mut().zip(pairs) {
        *sum += i32::from(a[0]) * i32::from(b[0]) + i32::from(a[1]) * i32::from(b[1]);
    }
}

/// See [`Backend::halves`](super::Backend::halves).
#[inline(always)]
pub(super) fn halves(even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
    let (mut low, mut high) = ([0; 32], [0; 32]);
    let halves = low.as_chunks_mut().0.iter_mut();
    let halves = halves.zip(high.as_chunks_mut().0);
    for ((low, high), (even, odd)) in halves.zip(even.iter().zip(odd)) {
        *low = [*even as i16, *odd as i16];
        *high = [(even >> 16) as i16, (odd >> 16) as i16];
    }
    [low, high]
}

/// See [`Backend::bit_pair_differences`](super::Backend::bit_pair_differences).
#[inline(always)]
pub(super) fn bit_differences(bytes: &[u8; 16], differences: &mut [i16; 32]) {
    for (differences, bytes) in differences.chunks_exact_mut(8).zip(bytes.as_chunks().0) {
        // Each pair of bits becomes their sum, each number the difference of two sums.
        let bits = u32::from_le_bytes(*bytes);
        let sums = (bits & 0x5555_5555) + (bits >> 1 & 0x5555_5555);
        for (i, difference) in differences.iter_mut().enumerate() {
            let pair = sums >> (4 * i);
            *difference = (pair & 3) as i16 - (pair >> 2 & 3) as i16;
        }
    }
}

/// The result of [`bit_differences`] for four bits.
#[cfg(target_arch = "x86_64")]
pub(super) const fn bit_difference(bits: u8) -> i8 {
    (bits & 1) as i8 + (bits >> 1 & 1) as i8 - (bits >> 2 & 1) as i8 - (bits >> 3 & 1) as i8
}

#[cfg(test)]
mod tests {
    use crate::arch::{Backend, on_each_backend};
    use crate::test_random::Random;

    #[test]
    fn pairs_match_their_definitions() {
        fn check<B: Backend>(b: B) {
            let mut random = Random::new(3);
            for round in 0..200 {
                // the ends of the range too; twice the square of -2^15 would overflow
                let mut pick = || match random.bits() {
                    x if round < 100 && x % 3 == 0 => i16::MAX,
                    x if round < 100 && x % 3 == 1 => -i16::MAX,
                    x => ((x >> 8) as i16).max(-i16::MAX),
                };
                let (x, y) = (
                    core::array::from_fn(|_| pick()),
                    core::array::from_fn(|_| pick()),
                );
                let mut sums = core::array::from_fn(|i| i as i32 - 8);
                b.add_pair_products(&x, &y, &mut sums);
                let product = |i: usize| i32::from(x[i]) * i32::from(y[i]);
                for (i, sum) in sums.iter().enumerate() {
                    assert_eq!(*sum, i as i32 - 8 + product(2 * i) + product(2 * i + 1));
                }

                let even: [i32; 16] = core::array::from_fn(|_| random.bits() as i32);
                let odd: [i32; 16] = core::array::from_fn(|_| random.bits() as i32);
                let [low, high] = b.halves(&even, &odd);
                for i in 0..32 {
                    let number = [even, odd][i % 2][i / 2];
                    assert_eq!(low[i], number as i16);
                    assert_eq!(high[i], (number >> 16) as i16);
                }
            }
        }

        on_each_backend!(b => check(b));
    }
}

//! The least and the greatest number that a value can be.

use core::fmt;
use core::ops::{Add, Mul, Shr, Sub};

/// All numbers from the first to the second. The type is so wide that no computation of lanes, or sum of their
/// products, overflows it.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Bounds(i128, i128);

impl Bounds {
    /// From `least` to `greatest`.
    pub(super) fn new(least: i64, greatest: i64) -> Self {
        assert!(least <= greatest, "nothing lies there");
        Self(least.into(), greatest.into())
    }

    /// From −`limit` to `limit`.
    pub(super) fn up_to(limit: i64) -> Self {
        Self::new(-limit, limit)
    }

    /// One number.
    pub(super) fn of(c: i64) -> Self {
        Self::new(c, c)
    }

    /// All numbers that a signed lane of so many bits can hold.
    pub(super) fn of_lane(bits: u32) -> Self {
        Self(-1 << (bits - 1), (1 << (bits - 1)) - 1)
    }

    /// The same without the least of them.
    pub(super) fn without_least(self) -> Self {
        Self(self.0 + 1, self.1)
    }

    /// The number, if there is only one.
    pub(super) fn constant(self) -> Option<i128> {
        (self.0 == self.1).then_some(self.0)
    }

    /// Whether all numbers lie in `other`.
    pub(super) fn within(self, other: Self) -> bool {
        other.0 <= self.0 && self.1 <= other.1
    }

    /// The bounds of the products by `factor`.
    pub(super) fn times(self, factor: i128) -> Self {
        self * Self(factor, factor)
    }

    /// The bounds of the quotients by 2^`shift`, for the numbers that 2^`shift` divides.
    pub(super) fn exact_quotient(self, shift: u32) -> Self {
        Self(-(-self.0 >> shift), self.1 >> shift)
    }
}

impl fmt::Debug for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.0, self.1)
    }
}

impl Add for Bounds {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

impl Sub for Bounds {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.1, self.1 - other.0)
    }
}

impl Mul for Bounds {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let ends = [
            self.0 * other.0,
            self.0 * other.1,
            self.1 * other.0,
            self.1 * other.1,
        ];
        let (least, greatest) = ends[1..]
            .iter()
            .fold((ends[0], ends[0]), |(least, greatest), x| {
                (least.min(*x), greatest.max(*x))
            });
        Self(least, greatest)
    }
}

/// The bounds of the quotients by a power of two, rounded down.
impl Shr<u32> for Bounds {
    type Output = Self;

    fn shr(self, shift: u32) -> Self {
        Self(self.0 >> shift, self.1 >> shift)
    }
}

/// x mod± 2^bits
pub(super) fn residue(x: i128, bits: u32) -> i128 {
    let unused = i128::BITS - bits;
    x << unused >> unused
}

#[cfg(test)]
mod tests {
    use super::{Bounds, residue};

    /// Every pair of small bounds: the results for the numbers between them reach exactly the bounds of the result.
    #[test]
    fn bounds_are_tight() {
        const ENDS: core::ops::RangeInclusive<i64> = -4..=4;
        let all = ENDS.flat_map(|a| (a..=4).map(move |b| (a, b)));
        let hull = |values: &mut dyn Iterator<Item = i64>| {
            let first = values.next()?;
            let ends = |(a, b): (i64, i64), x: i64| (a.min(x), b.max(x));
            let (least, greatest) = values.fold((first, first), ends);
            Some(Bounds::new(least, greatest))
        };
        for (a, b) in all.clone() {
            let x = Bounds::new(a, b);
            assert_eq!(Some(x >> 1), hull(&mut (a..=b).map(|x| x >> 1)));
            let divisible = &mut (a..=b).filter(|x| x % 4 == 0).map(|x| x / 4);
            if let Some(quotients) = hull(divisible) {
                assert_eq!(x.exact_quotient(2), quotients);
            }
            for (c, d) in all.clone() {
                let y = Bounds::new(c, d);
                let pairs = |f: fn(i64, i64) -> i64| {
                    hull(&mut (a..=b).flat_map(|x| (c..=d).map(move |y| f(x, y))))
                };
                assert_eq!(Some(x + y), pairs(|x, y| x + y));
                assert_eq!(Some(x - y), pairs(|x, y| x - y));
                assert_eq!(Some(x * y), pairs(|x, y| x * y));
                assert_eq!(x.within(y), c <= a && b <= d);
            }
        }
        assert_eq!(
            Bounds::of_lane(16),
            Bounds::new(i16::MIN.into(), i16::MAX.into())
        );
    }

    #[test]
    fn residues_are_those_of_casts() {
        for x in -70_000..70_000 {
            assert_eq!(residue(x, 16), i128::from(x as i16));
        }
    }
}

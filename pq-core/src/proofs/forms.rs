//! What a value is modulo q: a polynomial in the inputs of a kernel, of degree two at most.

extern crate alloc;

use alloc::vec;
use alloc::vec::Vec;

/// Monomials in ascending order, with their coefficients from 1 to q − 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form(Vec<(Monomial, i64)>);

/// Up to two inputs, in ascending order; missing ones come first.
type Monomial = [Option<u16>; 2];

impl Form {
    /// A constant.
    pub(super) fn constant(c: i64, q: i64) -> Self {
        Self(vec![([None; 2], c)]).scaled(1, q)
    }

    /// The input with this number.
    pub(super) fn input(number: u16) -> Self {
        Self(vec![([None, Some(number)], 1)])
    }

    /// The sum of `terms`, each a coefficient and one or two inputs.
    pub(super) fn sum(terms: impl IntoIterator<Item = (i64, Option<u16>, u16)>, q: i64) -> Self {
        let ordered = |(c, a, b): (i64, Option<u16>, u16)| {
            let mut monomial = [a, Some(b)];
            monomial.sort_unstable();
            (monomial, c)
        };
        let mut terms: Vec<_> = terms.into_iter().map(ordered).collect();
        terms.sort_unstable_by_key(|(monomial, _)| *monomial);
        terms.dedup_by(|(next, c), (monomial, sum)| {
            let same = next == monomial;
            if same {
                *sum += *c;
            }
            same
        });
        Self(terms).scaled(1, q)
    }

    /// The form times `factor`.
    pub(super) fn scaled(&self, factor: i64, q: i64) -> Self {
        let factor = factor.rem_euclid(q);
        let scaled = |(monomial, c): &(Monomial, i64)| {
            let c = c.rem_euclid(q) * factor % q;
            (c != 0).then_some((*monomial, c))
        };
        Self(self.0.iter().filter_map(scaled).collect())
    }

    /// The sum of the form and `factor` times `other`.
    pub(super) fn plus(&self, factor: i64, other: &Self, q: i64) -> Self {
        let factor = factor.rem_euclid(q);
        let mut sum = Vec::with_capacity(self.0.len().max(other.0.len()));
        let (mut left, mut right) = (self.0.as_slice(), other.0.as_slice());
        loop {
            let (monomial, c) = match (left.first(), right.first()) {
                (Some((m, c)), Some((n, d))) if m == n => {
                    (left, right) = (&left[1..], &right[1..]);
                    (*m, (c + factor * d) % q)
                }
                (Some((m, c)), n) if n.is_none_or(|(n, _)| m < n) => {
                    left = &left[1..];
                    (*m, *c)
                }
                (_, Some((n, d))) => {
                    right = &right[1..];
                    (*n, factor * d % q)
                }
                (_, None) => return Self(sum),
            };
            if c != 0 {
                sum.push((monomial, c));
            }
        }
    }

    /// A sum of inputs, with `forms` in place of the inputs.
    pub(super) fn of(&self, forms: &[Self], q: i64) -> Self {
        let mut sum = Self(Vec::new());
        for (monomial, c) in &self.0 {
            let [None, Some(input)] = monomial else {
                panic!("not a sum of inputs: {self:?}");
            };
            sum = sum.plus(*c, &forms[usize::from(*input)], q);
        }
        sum
    }

    /// The product, if its degree is at most two.
    pub(super) fn times(&self, other: &Self, q: i64) -> Option<Self> {
        let mut product = Self(Vec::new());
        for (monomial, c) in &self.0 {
            let part = other.0.iter().map(|(with, d)| {
                let [a, b] = [monomial, with];
                let mut inputs = a.iter().chain(b).copied().flatten();
                let (first, second) = (inputs.next(), inputs.next());
                let mut both = [first, second];
                both.sort_unstable();
                inputs.next().is_none().then_some((both, c * d % q))
            });
            let mut part: Vec<_> = part.collect::<Option<_>>()?;
            part.sort_unstable();
            product = product.plus(1, &Self(part), q);
        }
        Some(product)
    }
}

#[cfg(test)]
mod tests {
    use super::Form;
    use crate::test_random::Random;

    const Q: i64 = 97;

    /// The value of a form for these inputs.
    fn at(form: &Form, inputs: &[i64]) -> i64 {
        let term = |(monomial, c): &(super::Monomial, i64)| {
            let factors = monomial.iter().flatten();
            factors.fold(*c, |product, i| product * inputs[usize::from(*i)] % Q)
        };
        form.0.iter().map(term).sum::<i64>() % Q
    }

    /// The value of a sum or product of forms is the sum or product of their values.
    #[test]
    fn forms_are_functions() {
        let mut random = Random::new(1);
        for _ in 0..200 {
            let mut next = || i64::from(random.within(1000));
            let mut linear = || {
                let terms: [_; 4] = core::array::from_fn(|i| (next(), None, i as u16 % 3));
                Form::sum(terms, Q).plus(1, &Form::constant(next(), Q), Q)
            };
            let (f, g) = (linear(), linear());
            let inputs = [next().rem_euclid(Q), next().rem_euclid(Q), 5];
            let (x, y, c) = (at(&f, &inputs), at(&g, &inputs), next());
            let product = f.times(&g, Q).unwrap();
            assert_eq!(at(&product, &inputs), x * y % Q);
            assert_eq!(at(&f.plus(c, &g, Q), &inputs), (x + c * y).rem_euclid(Q));
            assert_eq!(at(&f.scaled(c, Q), &inputs), (x * c).rem_euclid(Q));
            assert_eq!(f.plus(-1, &f, Q), Form::constant(0, Q));
            let degree = |f: &Form| f.0.iter().map(|(m, _)| m.iter().flatten().count()).max();
            if degree(&product) == Some(2) && degree(&f) == Some(1) {
                assert_eq!(product.times(&f, Q), None);
            }
        }
    }
}

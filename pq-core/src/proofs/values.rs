//! What is known about the values of a computation, and the rules that derive more.
//!
//! A value stands for one number in each run of a kernel. For each value the table knows its
//! bounds, its polynomial in the inputs modulo q, if there is one, and how it was
//! made, if a rule needs that. It is a failure if a sum, difference or product leaves its lane and is not
//! allowed to wrap, or if a proof asks for something that the table cannot derive.
//!
//! Bounds alone cannot show that a reduction reduces: its two halves depend on each other.
//! [`Table::sub`] knows the two ways to subtract a multiple of q, with a proof of
//! each. Nothing else is assumed: no product modulo q as a whole, and no constant.

extern crate alloc;
extern crate std;

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use std::collections::HashMap;
use std::thread_local;

use super::bounds::{Bounds, residue};
use super::findings::Findings;
use super::forms::Form;
use super::traces;

/// A value in the table.
pub(super) type Id = u32;

#[derive(Clone)]
struct Value {
    bounds: Bounds,
    /// Its polynomial modulo q.
    form: Option<Rc<Form>>,
    origin: Origin,
}

/// How a value was made.
#[derive(Clone, Copy)]
enum Origin {
    Other,
    /// `factor · of mod± R`; `exact` if the product did not wrap.
    Low {
        factor: i128,
        of: Id,
        exact: bool,
    },
    /// `⌊(factor · of + plus) / 2^shift⌋`
    Floor {
        factor: i128,
        of: Id,
        plus: i128,
        shift: u32,
    },
}

struct Table {
    q: i64,
    values: Vec<Value>,
    findings: Findings<i64>,
    ids_of_constants: HashMap<i64, Id>,
    names: HashMap<(u32, i64), Id>,
    named: HashMap<(u32, Id), i64>,
    last_name: HashMap<u32, i64>,
    /// How many names were read from memory.
    loads: usize,
}

thread_local! {
    static TABLE: RefCell<Option<Table>> = const { RefCell::new(None) };
}

/// Runs a proof modulo q, with a table of its own. Returns the first failure, or the constants that the
/// kernel used, in the order of their first use. To show that the proof can fail, the constant with the number
/// `tampered` is increased by one.
pub(super) fn prove(
    q: i64,
    tampered: Option<usize>,
    proof: impl FnOnce(),
) -> Result<Vec<i64>, String> {
    let table = Table {
        q,
        values: Vec::new(),
        findings: Findings::new(tampered),
        ids_of_constants: HashMap::new(),
        names: HashMap::new(),
        named: HashMap::new(),
        last_name: HashMap::new(),
        loads: 0,
    };
    TABLE.set(Some(table));
    proof();
    let table = TABLE.take().expect("proofs are not nested");
    table.findings.result()
}

/// Calls `f` with the table of the running proof.
fn with<T>(f: impl FnOnce(&mut Table) -> T) -> T {
    TABLE.with_borrow_mut(|table| f(table.as_mut().expect("abstract lanes are for proofs")))
}

/// An input of the kernel, by its number.
pub(super) fn input(number: u16, bounds: Bounds) -> Id {
    with(|t| t.push(bounds, Some(Form::input(number)), Origin::Other))
}

/// A constant of the kernel or of its tables.
pub(super) fn constant(c: i64, bits: u32) -> Id {
    traces::note(("constant", c));
    with(|t| t.constant(c, bits))
}

/// The sum in a lane of `bits` bits, which must not overflow.
pub(super) fn add(x: Id, y: Id, bits: u32) -> Id {
    traces::note(("add", x, y));
    with(|t| {
        let bounds = t.bounds(x) + t.bounds(y);
        let form = t.combined(x, 1, y);
        t.in_lane("a sum", bounds, form, bits)
    })
}

/// The difference, which may overflow only with `wraps`.
pub(super) fn sub(x: Id, y: Id, wraps: bool, bits: u32) -> Id {
    traces::note(("sub", x, y));
    with(|t| t.sub(x, y, wraps, bits))
}

/// The product plus `sum`; neither must overflow.
pub(super) fn add_product(x: Id, y: Id, sum: Id, bits: u32) -> Id {
    traces::note(("add product", x, y, sum));
    with(|t| {
        let bounds = t.bounds(x) * t.bounds(y);
        let form = t.product(x, y);
        let product = t.in_lane("a product", bounds, form, bits);
        let bounds = t.bounds(sum) + bounds;
        let form = t.combined(sum, 1, product);
        t.in_lane("a sum of products", bounds, form, bits)
    })
}

/// `x · y mod± 2^bits`
pub(super) fn mul_low(x: Id, y: Id, bits: u32) -> Id {
    traces::note(("low half", x, y));
    with(|t| t.mul_low(x, y, bits))
}

/// `x mod± 2^bits`
pub(super) fn low(x: Id, bits: u32) -> Id {
    traces::note(("low bits", x, bits));
    with(|t| {
        if t.bounds(x).within(Bounds::of_lane(bits)) {
            return x;
        }
        let one = t.constant_as_it_is(1);
        t.mul_low(x, one, bits)
    })
}

/// `⌊x · y / 2^bits⌋`, where not both are the least number of the lane: NEON doubles their product, which then does not
/// fit.
pub(super) fn mul_high(x: Id, y: Id, bits: u32) -> Id {
    traces::note(("high half", x, y));
    with(|t| {
        let least = |x| !t.bounds(x).within(Bounds::of_lane(bits).without_least());
        let both = least(x) && least(y);
        t.check(!both, || {
            format!("a high half of the product of two least numbers of {bits} bits")
        });
        t.mul_floor(x, y, 0, bits)
    })
}

/// `x · y / 2^(bits − 1)`, rounded to the nearest, which must not overflow.
pub(super) fn mul_rounded(x: Id, y: Id, bits: u32) -> Id {
    traces::note(("rounded", x, y));
    with(|t| {
        let quotient = t.mul_floor(x, y, 1 << (bits - 2), bits - 1);
        let bounds = t.bounds(quotient);
        t.check(bounds.within(Bounds::of_lane(bits)), || {
            format!("a rounded product overflows {bits} bits: {bounds:?}")
        });
        quotient
    })
}

/// `⌊x / 2^by⌋`
pub(super) fn shift_right(x: Id, by: u32) -> Id {
    traces::note(("shift", x, by));
    with(|t| {
        let bounds = t.bounds(x) >> by;
        let origin = match t.values[x as usize].origin {
            // ⌊⌊y / 2^s⌋ / 2^n⌋ = ⌊y / 2^(s + n)⌋
            Origin::Floor {
                factor,
                of,
                plus,
                shift,
            } => Origin::Floor {
                factor,
                of,
                plus,
                shift: shift + by,
            },
            _ => Origin::Floor {
                factor: 1,
                of: x,
                plus: 0,
                shift: by,
            },
        };
        t.push(bounds, None, origin)
    })
}

/// The number of `bits` bits that stands for a value in memory.
pub(super) fn name(x: Id, bits: u32, q: i64) -> i64 {
    traces::note(("name", x));
    with(|t| t.name(x, bits, q))
}

/// The value that a number in memory stands for.
pub(super) fn named(n: i64, bits: u32, q: i64) -> Id {
    let id = with(|t| match t.names.get(&(bits, n)) {
        Some(id) => {
            t.loads += 1;
            *id
        }
        None => {
            t.check(!is_name(n, bits, q), || {
                format!("{n} was read from memory and is neither a name nor a factor")
            });
            t.constant(n, bits)
        }
    });
    traces::note(("named", id));
    id
}

/// How many values were read from memory so far; constants are not counted.
pub(super) fn loads() -> usize {
    with(|t| t.loads)
}

/// Checks the bounds of a value, and its polynomial modulo q.
pub(super) fn expect(what: &str, x: Id, bounds: Bounds, form: &Form) {
    with(|t| {
        let Value {
            bounds: actual,
            form: actual_form,
            ..
        } = t.values[x as usize].clone();
        t.check(actual.within(bounds), || {
            format!("{what} is in {actual:?}, not in {bounds:?}")
        });
        t.check(actual_form.as_deref() == Some(form), || {
            format!("{what} is another function of the inputs")
        });
    });
}

/// Checks a condition on the constants that a kernel passes to a method.
pub(super) fn expect_constants<const N: usize>(
    what: &str,
    of: [Id; N],
    condition: impl FnOnce([i128; N]) -> bool,
) {
    with(|t| {
        let constants = of.map(|id| t.bounds(id).constant());
        let holds = constants.iter().all(Option::is_some)
            && condition(constants.map(Option::unwrap_or_default));
        t.check(holds, || format!("{what}: not for {constants:?}"));
    });
}

/// Whether a number in memory may be a name. It has to be less than q by magnitude: kernels that check
/// their operands then find them within bounds. It must not be in any table of twiddle factors, in any
/// form: a number from such a table stands for itself.
fn is_name(n: i64, bits: u32, q: i64) -> bool {
    // c · R / q and c · R / 2q, rounded, and c · q⁻¹ mod± R for any |c| ≤ q / 2
    let is_over_q = |n: i64| 2 * residue(i128::from(n) * i128::from(q), bits).abs() <= q.into();
    // c and c · R mod q, where c is a power of ζ: its order divides 512
    let is_power = |n: i64| (0..9).fold(n, |power, _| power * power % q) == 1;
    let is_factor = |n: i64| is_power(n) || is_power(over_radix(n.rem_euclid(q), bits, q));
    n != 0
        && n.abs() < q
        && !is_over_q(n)
        && residue(2 * i128::from(n) * i128::from(q), bits).abs() > q.into()
        && (2 * n.abs() > q + 1 || !is_factor(n))
}

/// c / 2^shift mod q
fn over_radix(c: i64, shift: u32, q: i64) -> i64 {
    // (q + 1) / 2 is the inverse of 2
    (0..shift).fold(c, |c, _| c * ((q + 1) / 2) % q)
}

impl Table {
    fn check(&mut self, holds: bool, failure: impl FnOnce() -> String) {
        self.findings.check(holds, failure);
    }

    fn push(&mut self, bounds: Bounds, form: Option<Form>, origin: Origin) -> Id {
        self.values.push(Value {
            bounds,
            form: form.map(Rc::new),
            origin,
        });
        self.values.len() as Id - 1
    }

    fn bounds(&self, x: Id) -> Bounds {
        self.values[x as usize].bounds
    }

    fn form(&self, x: Id) -> Option<&Form> {
        self.values[x as usize].form.as_deref()
    }

    /// The form of `x + factor · y`.
    fn combined(&self, x: Id, factor: i64, y: Id) -> Option<Form> {
        Some(self.form(x)?.plus(factor, self.form(y)?, self.q))
    }

    /// The form of `x · y`.
    fn product(&self, x: Id, y: Id) -> Option<Form> {
        self.form(x)?.times(self.form(y)?, self.q)
    }

    /// A result that must fit its lane.
    fn in_lane(&mut self, what: &str, bounds: Bounds, form: Option<Form>, bits: u32) -> Id {
        let lane = Bounds::of_lane(bits);
        self.check(bounds.within(lane), || {
            format!("{what} overflows {bits} bits: {bounds:?}")
        });
        self.push(bounds, form, Origin::Other)
    }

    fn constant(&mut self, c: i64, bits: u32) -> Id {
        if let Some(id) = self.ids_of_constants.get(&c) {
            return *id;
        }
        let id = if self.findings.is_tampered(c) {
            self.constant_as_it_is(residue(i128::from(c) + 1, bits) as i64)
        } else {
            self.constant_as_it_is(c)
        };
        self.ids_of_constants.insert(c, id);
        id
    }

    fn constant_as_it_is(&mut self, c: i64) -> Id {
        let form = Form::constant(c, self.q);
        let bounds = Bounds::of(c);
        self.push(bounds, Some(form), Origin::Other)
    }

    /// Splits two operands into a constant and the other operand.
    fn with_constant(&self, x: Id, y: Id) -> Option<(i128, Id)> {
        match (self.bounds(x).constant(), self.bounds(y).constant()) {
            (_, Some(c)) => Some((c, x)),
            (Some(c), None) => Some((c, y)),
            (None, None) => None,
        }
    }

    /// `⌊(x · y + plus) / 2^shift⌋`
    fn mul_floor(&mut self, x: Id, y: Id, plus: i64, shift: u32) -> Id {
        let bounds = (self.bounds(x) * self.bounds(y) + Bounds::of(plus)) >> shift;
        let constant = self.with_constant(x, y);
        let origin = constant.map_or(Origin::Other, |(factor, of)| Origin::Floor {
            factor,
            of,
            plus: plus.into(),
            shift,
        });
        self.push(bounds, None, origin)
    }

    fn mul_low(&mut self, x: Id, y: Id, bits: u32) -> Id {
        let (bounds, lane) = (self.bounds(x) * self.bounds(y), Bounds::of_lane(bits));
        let exact = bounds.within(lane);
        let origin = match self.with_constant(x, y) {
            None => Origin::Other,
            // modulo R, factors can be multiplied
            Some((c, of)) => match self.values[of as usize].origin {
                Origin::Low {
                    factor,
                    of,
                    exact: false,
                } => Origin::Low {
                    factor: residue(c * factor, bits),
                    of,
                    exact: false,
                },
                _ => Origin::Low {
                    factor: c,
                    of,
                    exact,
                },
            },
        };
        if exact {
            let form = self.product(x, y);
            self.push(bounds, form, origin)
        } else {
            self.push(lane, None, origin)
        }
    }

    fn sub(&mut self, x: Id, y: Id, wraps: bool, bits: u32) -> Id {
        let reduced = self
            .montgomery(x, y, bits)
            .or_else(|| self.barrett(x, y, wraps));
        let lane = Bounds::of_lane(bits);
        if let Some((bounds, form)) = reduced
            && bounds.within(lane)
        {
            return self.push(bounds, form, Origin::Other);
        }
        let bounds = self.bounds(x) - self.bounds(y);
        if wraps && !bounds.within(lane) {
            return self.push(lane, None, Origin::Other);
        }
        let form = self.combined(x, -1, y);
        self.in_lane("a difference", bounds, form, bits)
    }

    /// Montgomery's way: `⌊f·b / R⌋ − ⌊p·m / R⌋` where `m = g·b mod± R` and `p·g ≡ f mod R`, for
    /// any value b.
    ///
    /// Then p·m ≡ p·g·b ≡ f·b mod R. Numbers that are equal modulo R have the same remainder, which rounding
    /// down removes from both, so the difference is (f·b − p·m) / R exactly. If q divides p, the difference is f·b / R
    /// modulo q.
    fn montgomery(&self, x: Id, y: Id, bits: u32) -> Option<(Bounds, Option<Form>)> {
        let Origin::Floor {
            factor: f,
            of: b,
            plus: 0,
            shift,
        } = self.values[x as usize].origin
        else {
            return None;
        };
        let Origin::Floor {
            factor: p,
            of: m,
            plus: 0,
            shift: shift_of_y,
        } = self.values[y as usize].origin
        else {
            return None;
        };
        let Origin::Low { factor: g, of, .. } = self.values[m as usize].origin else {
            return None;
        };
        let exact = shift == bits
            && shift_of_y == bits
            && of == b
            && residue(p * g, bits) == residue(f, bits);
        exact.then(|| {
            let twice_r = self.bounds(b).times(f) - self.bounds(m).times(p);
            let form = self.scaled_if_q_divides(p, b, f, bits);
            (twice_r.exact_quotient(bits), form)
        })
    }

    /// Barrett's way: `k·b − p·⌊(g·b + h) / 2^s⌋` for any value b, modulo R. h is 0, or is there for rounding.
    ///
    /// With the remainder r, 0 ≤ r < 2^s, the quotient is (g·b + h − r) / 2^s, so that the difference is
    /// ((k·2^s − p·g)·b + p·(r − h)) / 2^s. If this fits the lane, it is the result, whether the
    /// products wrapped or not; products that wrapped are allowed only if the difference may wrap. If q
    /// divides p, the result is k·b modulo q.
    fn barrett(&self, x: Id, y: Id, wraps: bool) -> Option<(Bounds, Option<Form>)> {
        let Origin::Low {
            factor: p,
            of: quotient,
            exact,
        } = self.values[y as usize].origin
        else {
            return None;
        };
        let Origin::Floor {
            factor: g,
            of: b,
            plus,
            shift,
        } = self.values[quotient as usize].origin
        else {
            return None;
        };
        let (k, exact) = if x == b {
            (1, exact)
        } else {
            match self.values[x as usize].origin {
                Origin::Low {
                    factor,
                    of,
                    exact: x_exact,
                } if of == b => (factor, exact && x_exact),
                _ => return None,
            }
        };
        (wraps || exact).then(|| {
            let error = self.bounds(b).times((k << shift) - p * g);
            let half = plus as i64;
            let remainder = Bounds::new(-half, (1 << shift) - 1 - half).times(p);
            let form = self.scaled_if_q_divides(p, b, k, 0);
            ((error + remainder).exact_quotient(shift), form)
        })
    }

    /// The form of `factor · b / 2^shift` modulo q, if q divides p.
    fn scaled_if_q_divides(&self, p: i128, b: Id, factor: i128, shift: u32) -> Option<Form> {
        let q = self.q;
        if p % i128::from(q) != 0 {
            return None;
        }
        let factor = factor.rem_euclid(i128::from(q)) as i64;
        Some(self.form(b)?.scaled(over_radix(factor, shift, q), q))
    }

    fn name(&mut self, x: Id, bits: u32, q: i64) -> i64 {
        if let Some(name) = self.named.get(&(bits, x)) {
            return *name;
        }
        let naming = traces::naming() as i64;
        let first = q - ((q / 8) | 1) * (naming / 2);
        let mut last = self.last_name.get(&bits).copied().unwrap_or(-first);
        let name = loop {
            // each number, and then its negative
            last = if last > 0 { -last } else { -last - 1 };
            assert!(last != 0, "there are fewer names than values in memory");
            let name = if naming % 2 == 0 { last } else { -last };
            if is_name(name, bits, q) {
                break name;
            }
        };
        self.last_name.insert(bits, last);
        self.names.insert((bits, name), x);
        self.named.insert((bits, x), name);
        name
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec::Vec;

    use super::{
        Bounds, Id, add, add_product, constant, input, low, mul_high, mul_low, name, named, prove,
        residue, shift_right, sub, with,
    };
    use crate::proofs::forms::Form;

    const Q: i64 = 17;
    const BITS: u32 = 8;

    /// A computation of one input, on values and on numbers, written once for both.
    struct Both {
        id: Id,
        numbers: Vec<i128>,
    }

    /// Each input within its bounds gives a number within the value's bounds, and the number is the form's
    /// value modulo q.
    fn check(of: &Both, inputs: &[i128], multiple: Option<i64>) {
        with(|t| {
            for number in &of.numbers {
                let number = Bounds::of(*number as i64);
                assert!(
                    number.within(t.bounds(of.id)),
                    "{number:?} is not in {:?}",
                    t.bounds(of.id)
                );
            }
            if let Some(multiple) = multiple {
                assert_eq!(t.form(of.id), Some(&Form::input(0).scaled(multiple, Q)));
                for (number, x) in of.numbers.iter().zip(inputs) {
                    assert_eq!((number - i128::from(multiple) * x) % i128::from(Q), 0);
                }
            }
        });
    }

    /// All pairs of bounds from a choice of numbers of 8 bits.
    fn all_bounds() -> impl Iterator<Item = (i64, i64)> {
        let ends = [-128, -100, -68, -17, -1, 0, 5, 34, 99, 127];
        ends.into_iter().flat_map(move |a| {
            ends.into_iter()
                .filter(move |b| a <= *b)
                .map(move |b| (a, b))
        })
    }

    /// Montgomery's products with every factor follow the rule, for every input.
    #[test]
    fn montgomery_products_of_every_input() {
        // 17 · 241 = 1 mod 2⁸, 2⁸ = 1 mod 17
        const Q_INVERSE: i128 = -15;
        for (least, greatest) in all_bounds() {
            for factor in -8..=8i128 {
                let over_q = residue(factor * Q_INVERSE, BITS);
                prove(Q, None, || {
                    let inputs: Vec<i128> = (least..=greatest).map(i128::from).collect();
                    let x = input(0, Bounds::new(least, greatest));
                    let (c, c_over_q) =
                        (constant(factor as i64, BITS), constant(over_q as i64, BITS));
                    let m = mul_low(x, c_over_q, BITS);
                    let q = constant(Q, BITS);
                    let id = sub(mul_high(x, c, BITS), mul_high(m, q, BITS), false, BITS);
                    let numbers = inputs.iter().map(|x| {
                        let m = residue(x * over_q, BITS);
                        ((x * factor) >> BITS) - ((m * i128::from(Q)) >> BITS)
                    });
                    let both = Both {
                        id,
                        numbers: numbers.collect(),
                    };
                    check(&both, &inputs, Some(factor as i64));
                })
                .unwrap();
            }
        }
    }

    /// The rule does not accept other factors.
    #[test]
    fn factors_have_to_belong_together() {
        for off in 1..256 {
            let difference = |off: i64| {
                prove(Q, None, || {
                    let x = input(0, Bounds::of_lane(BITS));
                    let m = mul_low(
                        x,
                        constant(residue((5 * -15 + off).into(), BITS) as i64, BITS),
                        BITS,
                    );
                    let high = mul_high(x, constant(5, BITS), BITS);
                    let id = sub(high, mul_high(m, constant(Q, BITS), BITS), false, BITS);
                    with(|t| assert_eq!(t.form(id).is_some(), off == 0));
                })
            };
            difference(0).unwrap();
            difference(off).unwrap();
        }
    }

    /// Barrett's products with every factor, also with quotients that are off by up to 2.
    #[test]
    fn barrett_products_of_every_input() {
        for (least, greatest) in all_bounds() {
            for factor in -8..=8i64 {
                for off in -2..=2 {
                    let over_q = (factor * 512 + Q).div_euclid(2 * Q) + off;
                    for by in [0, 2] {
                        prove(Q, None, || {
                            barrett(least, greatest, factor, over_q, by);
                        })
                        .unwrap();
                    }
                }
            }
        }
    }

    fn barrett(least: i64, greatest: i64, factor: i64, over_q: i64, by: u32) {
        let inputs: Vec<i128> = (least..=greatest).map(i128::from).collect();
        let x = input(0, Bounds::new(least, greatest));
        let quotient = mul_high(x, constant(over_q, BITS), BITS);
        let quotient = if by > 0 {
            shift_right(quotient, by)
        } else {
            quotient
        };
        let product = mul_low(x, constant(factor, BITS), BITS);
        let id = sub(
            product,
            mul_low(quotient, constant(Q, BITS), BITS),
            true,
            BITS,
        );
        let numbers = inputs.iter().map(|x| {
            let quotient = (x * i128::from(over_q)) >> (BITS + by);
            residue(x * i128::from(factor) - quotient * i128::from(Q), BITS)
        });
        let both = Both {
            id,
            numbers: numbers.collect(),
        };
        let known = with(|t| t.form(id).is_some());
        check(&both, &inputs, known.then_some(factor));
        if by == 0 && least >= -34 && greatest <= 34 && 2 * (over_q * Q - 256 * factor).abs() <= Q {
            assert!(known, "the rule finds what is in reach");
        }
    }

    /// A sum, a difference or a product that does not fit is a failure, and one that fits is not.
    #[test]
    fn overflows_are_found() {
        let x = |a, b| input(0, Bounds::new(a, b));
        prove(Q, None, || _ = add(x(0, 100), x(-28, 27), BITS)).unwrap();
        prove(Q, None, || _ = add(x(0, 100), x(0, 28), BITS)).unwrap_err();
        prove(Q, None, || _ = sub(x(-100, 0), x(0, 28), false, BITS)).unwrap();
        prove(Q, None, || _ = sub(x(-100, 0), x(0, 29), false, BITS)).unwrap_err();
        prove(Q, None, || _ = sub(x(-100, 0), x(0, 29), true, BITS)).unwrap();
        let products = |sum| add_product(x(-8, 8), x(-8, 8), x(sum, sum), BITS);
        prove(Q, None, || _ = products(63)).unwrap();
        prove(Q, None, || _ = products(64)).unwrap_err();
        // The product of two least numbers is one too great for NEON's high half, which doubles it first.
        let halves =
            |least, other| prove(Q, None, || _ = mul_high(x(least, 0), x(other, 127), BITS));
        halves(-128, -127).unwrap();
        halves(-127, -128).unwrap();
        halves(-128, -128).unwrap_err();
        let square = |least| {
            prove(Q, None, || {
                let x = x(least, 127);
                _ = mul_high(x, x, BITS);
            })
        };
        square(-127).unwrap();
        square(-128).unwrap_err();
        // a difference that wraps is some number of the lane; the table knows nothing more about it
        prove(Q, None, || {
            let id = sub(x(-100, 0), x(0, 29), true, BITS);
            with(|t| assert!(t.bounds(id) == Bounds::of_lane(BITS) && t.form(id).is_none()));
            let id = low(x(0, 128), BITS);
            with(|t| assert!(t.bounds(id) == Bounds::of_lane(BITS) && t.form(id).is_none()));
        })
        .unwrap();
    }

    /// A stored value is read again, numbers of tables stand for themselves, and all other numbers are refused.
    #[test]
    fn names_are_no_factors() {
        let q = 3329;
        prove(q, None, || {
            let x = input(0, Bounds::up_to(1));
            let n = name(x, 16, q);
            assert_eq!((named(n, 16, q), name(x, 16, q)), (x, n));
            assert!(n.abs() < q);
            // ζ and ζ · R, and both over q
            for factor in [17, -1103, 335, -335] {
                let id = named(factor, 16, q);
                with(|t| assert_eq!(t.bounds(id), Bounds::of(factor)));
            }
        })
        .unwrap();
        prove(q, None, || _ = named(q - 3, 16, q)).unwrap_err();
    }
}

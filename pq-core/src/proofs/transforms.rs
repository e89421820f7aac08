//! The transforms are the maps of the standards, entry by entry, and stay within their bounds.

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;

use super::backend::{Abstract, ROUNDS, on_each_width};
use super::bounds::Bounds;
use super::forms::Form;
use super::inputs::{Number, expect, polynomial};
use super::values::{self, prove};
use crate::arch::{Backend, Coefficients};
use crate::kernel::ntt::{InverseNtt, Ntt, NttOf, Q3329, Q8380417, Ring};

/// The constants of the standards for a ring.
pub(super) trait Standard: Ring<Element: Number> {
    const ZETA: i64;
    /// The forward transform's output for |x| ≤ q.
    const OUTPUT: (i64, i64);
    /// Constants of the transforms that may be greater by one.
    const SPARE: &'static [i64];
}

impl Standard for Q3329 {
    const ZETA: i64 = 17;
    const OUTPUT: (i64, i64) = (0, 3329);
    // The factor of Barrett's reduction: with 20160 results reach q + 1, for which the transforms have room.
    // `reductions` shows that it makes a difference.
    const SPARE: &'static [i64] = &[20159];
}

impl Standard for Q8380417 {
    const ZETA: i64 = 1753;
    const OUTPUT: (i64, i64) = (1 - 10 * 8_380_417, 10 * 8_380_417 - 1);
    const SPARE: &'static [i64] = &[];
}

fn q<R: Standard>() -> i64 {
    R::Element::Q
}

fn power<R: Standard>(base: i64, exponent: usize) -> i64 {
    (0..exponent).fold(1, |power, _| power * base % q::<R>())
}

/// ζ^(2 BitRev(i) + 1), the root of residue i of a transform (FIPS 203, section 4.3;
/// FIPS 204, section 7.5). There are 256 / `LAST_LEN` residues, each with `LAST_LEN` coefficients.
fn root<R: Standard>(i: usize) -> i64 {
    let bits = (256 / R::LAST_LEN).ilog2();
    let reversed = i.reverse_bits() >> (usize::BITS - bits);
    power::<R>(R::ZETA, 2 * reversed + 1)
}

/// The row of the transform's matrix for an output: the residue of f modulo X^`LAST_LEN` − ζ^….
fn forward_row<R: Standard>(output: usize) -> Form {
    let (i, place) = (output / R::LAST_LEN, output % R::LAST_LEN);
    let root = root::<R>(i);
    let mut entry = 1;
    let terms = (place..256).step_by(R::LAST_LEN).map(|input| {
        let this = entry;
        entry = entry * root % q::<R>();
        (this, None, input as u16)
    });
    Form::sum(terms, q::<R>())
}

/// The row of the inverse matrix, times R.
fn inverse_row<R: Standard>(output: usize, inverse_roots: &[i64; 256]) -> Form {
    let (j, place) = (output / R::LAST_LEN, output % R::LAST_LEN);
    let residues = 256 / R::LAST_LEN;
    // −(q − 1) / n is the inverse of n
    let inverse_of_count = q::<R>() - (q::<R>() - 1) / residues as i64;
    let radix = (1 << R::Element::BITS) % q::<R>();
    let scale = inverse_of_count * radix % q::<R>();
    let terms = (0..residues).map(|i| {
        let entry = scale * power::<R>(inverse_roots[i], j) % q::<R>();
        (entry, None, (R::LAST_LEN * i + place) as u16)
    });
    Form::sum(terms, q::<R>())
}

/// The matrices of a ring.
pub(super) struct Matrices {
    forward: [Form; 256],
    inverse: [Form; 256],
}

impl Matrices {
    pub(super) fn new<R: Standard>() -> Self {
        // ζ has the order 2 · residues, and so do its odd powers
        let residues = 256 / R::LAST_LEN;
        let inverse_roots = core::array::from_fn(|i| {
            let root = root::<R>(i % residues);
            power::<R>(root, 2 * residues - 1)
        });
        Self {
            forward: core::array::from_fn(forward_row::<R>),
            inverse: core::array::from_fn(|i| inverse_row::<R>(i, &inverse_roots)),
        }
    }
}

/// What to prove: for inputs up to `bound` · q, and with the constant number `tampered`, if any, increased by one.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    bound: i64,
    tampered: Option<usize>,
}

/// The bounds that the kernels state.
pub(super) const STATED: Claim = Claim {
    bound: 1,
    tampered: None,
};

pub(super) fn forward<B: Backend, R: Standard>(
    b: B,
    claim: Claim,
    matrices: &Matrices,
) -> Result<Vec<i64>, String> {
    prove(q::<R>(), claim.tampered, || {
        let mut f = polynomial::<R::Element>(0, Bounds::up_to(claim.bound * q::<R>()));
        b.run(Ntt::<R>(&mut f));
        let bounds = Bounds::new(R::OUTPUT.0, R::OUTPUT.1);
        expect(&f, bounds, |i| matrices.forward[i].clone());
    })
}

pub(super) fn forward_of<B: Backend, R: Standard>(
    b: B,
    claim: Claim,
    matrices: &Matrices,
) -> Result<Vec<i64>, String> {
    prove(q::<R>(), claim.tampered, || {
        let f = polynomial::<R::Element>(0, Bounds::up_to(claim.bound * q::<R>()));
        let mut output = polynomial::<R::Element>(256, Bounds::of_lane(R::Element::BITS));
        b.run(NttOf::<R> {
            f: &f,
            output: &mut output,
        });
        let bounds = Bounds::new(R::OUTPUT.0, R::OUTPUT.1);
        expect(&output, bounds, |i| matrices.forward[i].clone());
    })
}

pub(super) fn inverse<B: Backend, R: Standard>(
    b: B,
    claim: Claim,
    matrices: &Matrices,
) -> Result<Vec<i64>, String> {
    prove(q::<R>(), claim.tampered, || {
        let mut f = polynomial::<R::Element>(0, Bounds::up_to(claim.bound * q::<R>()));
        b.run(InverseNtt::<R>(&mut f));
        let bounds = Bounds::up_to(q::<R>() - 1);
        expect(&f, bounds, |i| matrices.inverse[i].clone());
    })
}

/// Barrett's reduction of |x| ≤ `bound` · q in one vector.
fn reduction<V>(token: V::Token, bound: i64, tampered: Option<usize>) -> Result<Vec<i64>, String>
where
    V: Coefficients<Element = i16>,
{
    prove(q::<Q3329>(), tampered, || {
        let mut f = polynomial::<i16>(0, Bounds::up_to(bound * q::<Q3329>()));
        for x in V::chunks_mut(&mut f) {
            Q3329::reduce(token, V::load(token, x)).store(x);
        }
        expect(&f, Bounds::new(0, q::<Q3329>()), |i| Form::input(i as u16));
    })
}

#[test]
fn reductions() {
    fn check<B: Backend>(b: B) {
        let constants = reduction::<B::I16s>(b, 8, None).unwrap();
        assert_eq!(constants, [20159, q::<Q3329>()]);
        for tampered in 0..2 {
            reduction::<B::I16s>(b, 8, Some(tampered)).unwrap_err();
        }
    }

    on_each_width!(b => check(b));
}

type Proof<B> = fn(B, Claim, &Matrices) -> Result<Vec<i64>, String>;

/// Proves all transforms, for every input and every output.
fn holds<B: Backend, R: Standard>(b: B, matrices: &Matrices) {
    let proofs: [Proof<B>; 3] = [forward::<B, R>, forward_of::<B, R>, inverse::<B, R>];
    for proof in proofs {
        proof(b, STATED, matrices).unwrap();
    }
}

#[test]
fn transforms_of_ml_kem() {
    let matrices = Matrices::new::<Q3329>();
    on_each_width!(b => holds::<_, Q3329>(b, &matrices));
    on_each_width!(b, ROUNDS => holds::<_, Q3329>(b, &matrices));
}

#[test]
fn transforms_of_ml_dsa() {
    let matrices = Matrices::new::<Q8380417>();
    on_each_width!(b => holds::<_, Q8380417>(b, &matrices));
}

type Transform<B, E> = fn(B, &mut [E; 256]);

/// All vectors stay in registers if there are 16 of 512 bits: each coefficient is loaded once. Otherwise groups of
/// vectors are loaded, twice.
#[test]
fn coefficients_stay_in_registers_where_they_fit() {
    fn check<B: Backend, R: Standard>(b: B, expected: usize) {
        let transforms: [Transform<B, R::Element>; 2] =
            [|b, f| b.run(Ntt::<R>(f)), |b, f| b.run(InverseNtt::<R>(f))];
        for transform in transforms {
            let mut loads = 0;
            let proof = prove(q::<R>(), None, || {
                let mut f = polynomial(0, Bounds::up_to(q::<R>()));
                transform(b, &mut f);
                loads = values::loads();
            });
            proof.unwrap();
            assert_eq!(loads, expected);
        }
    }

    check::<_, Q8380417>(Abstract::<16>, 256);
    check::<_, Q8380417>(Abstract::<8>, 512);
    check::<_, Q3329>(Abstract::<16>, 512);
    check::<_, Q3329>(Abstract::<32>, 512);
}

/// With inputs up to these bounds times q the proofs fail, on each width, because of an overflow.
fn fails_with_greater_inputs<R: Standard>(forward_bound: i64, inverse_bound: i64) {
    fn check<B: Backend, R: Standard>(b: B, bounds: [i64; 3], matrices: &Matrices) {
        let proofs: [Proof<B>; 3] = [forward::<B, R>, forward_of::<B, R>, inverse::<B, R>];
        for (proof, bound) in proofs.into_iter().zip(bounds) {
            let claim = Claim { bound, ..STATED };
            let failure = proof(b, claim, matrices).unwrap_err();
            assert!(failure.contains("overflows"), "{failure}");
        }
    }

    let matrices = Matrices::new::<R>();
    let bounds = [forward_bound, forward_bound, inverse_bound];
    on_each_width!(b => check::<_, R>(b, bounds, &matrices));
}

/// Where sums no longer fit: 16 bits hold 9.8q, and 32 bits 256.2q.
#[test]
fn greater_inputs_overflow() {
    fails_with_greater_inputs::<Q3329>(7, 2);
    fails_with_greater_inputs::<Q8380417>(256, 2);
}

/// Increases each constant in turn, whatever its use: a twiddle factor, q, or a constant of a reduction.
fn each_constant<B: Backend, R: Standard>(b: B, matrices: &Matrices) {
    let proofs: [Proof<B>; 2] = [forward::<B, R>, inverse::<B, R>];
    for proof in proofs {
        let constants = proof(b, STATED, matrices).unwrap();
        assert!(constants.len() > 2 * (256 / R::LAST_LEN - 1));
        for (tampered, c) in constants.into_iter().enumerate() {
            let tampered = Some(tampered);
            let holds = proof(b, Claim { tampered, ..STATED }, matrices).is_ok();
            assert_eq!(holds, R::SPARE.contains(&c), "{c}");
        }
    }
}

fn fails_with_each_constant<R: Standard>() {
    let matrices = Matrices::new::<R>();
    each_constant::<_, R>(Abstract::<1>, &matrices);
    each_constant::<_, R>(Abstract::<16>, &matrices);
}

#[test]
fn each_constant_of_ml_kem_matters() {
    fails_with_each_constant::<Q3329>();
}

/// On backends that round quotients.
#[test]
fn each_constant_of_rounded_products_matters() {
    let matrices = Matrices::new::<Q3329>();
    each_constant::<_, Q3329>(Abstract::<1, ROUNDS>, &matrices);
    each_constant::<_, Q3329>(Abstract::<16, ROUNDS>, &matrices);
}

#[test]
fn each_constant_of_ml_dsa_matters() {
    fails_with_each_constant::<Q8380417>();
}

/// The matrices are inverse to each other, up to the factor R. So if one is the standards' matrix, both
/// are.
#[test]
fn matrices_are_inverse() {
    fn check<R: Standard>() {
        let Matrices { forward, inverse } = Matrices::new::<R>();
        let radix = (1 << R::Element::BITS) % q::<R>();
        for (i, row) in inverse.iter().enumerate() {
            let product = row.of(&forward, q::<R>());
            assert_eq!(product, Form::input(i as u16).scaled(radix, q::<R>()));
        }
    }

    check::<Q3329>();
    check::<Q8380417>();
}

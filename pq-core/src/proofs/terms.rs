//! What is known about the words of a computation: each is a term over the inputs, in a normal form.
//!
//! A word is a sum modulo 2 (⊕) of *atoms*, each rotated and masked, and of a constant. Rotations, shifts, ⊕
//! and masks by constants are exact in this form, so all ways to compute one linear function of the atoms give the
//! same term. An atom is an input, a sum modulo 2^bits, or the nonlinear part of a function of single
//! bits. Sums are flat: the atom does not depend on the order in which addends come and cancel.
//!
//! Equal terms have equal ids. So two words with one id are the same function of the inputs, for all
//! inputs. The converse is not true: a proof can fail for a kernel that is correct.

extern crate alloc;
extern crate std;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::hash::{BuildHasherDefault, Hash, Hasher};
use std::collections::HashMap;
use std::thread_local;

use super::findings::Findings;
use super::traces;
use crate::test_random::Random;

/// A word in the table.
pub(super) type Id = u32;

/// The words of a vector in the table: where the first is.
#[derive(Clone, Copy)]
pub(super) struct Lanes(u32);

/// `constant ⊕ ⨁ ((atom ⋘ by) ∧ mask)`, with each atom and rotation at most once, in ascending order; no
/// mask is 0.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Form {
    constant: u64,
    atoms: Vec<(Rotated, u64)>,
}

/// An atom by its number, rotated to the left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Rotated {
    atom: usize,
    by: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Atom {
    /// The number, and the bits that may be set.
    Input(u16, u64),
    Sum(Sum),
    /// `linear ⊕ ⨁ (x ∧ y)`
    Products {
        linear: Id,
        products: Vec<[Id; 2]>,
    },
}

/// `constant + Σ factor · word mod 2^bits`, in ascending order of words; no factor is 0.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Sum {
    constant: u64,
    addends: Vec<(Id, u64)>,
}

/// A fast hash for short keys, which no attacker can choose.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words
            .iter()
            .for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    #[inline]
    fn write_u16(&mut self, n: u16) {
        self.write_u64(n.into());
    }

    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    #[inline]
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

struct Table {
    bits: u32,
    forms: Vec<Form>,
    ids: Map<Form, Id>,
    atoms: Vec<Atom>,
    numbers_of_atoms: Map<Atom, usize>,
    /// The bits of each atom that may be set.
    supports: Vec<u64>,
    findings: Findings<u64>,
    random: Random,
    names: Map<u64, Id>,
    named: Map<Id, u64>,
    /// The words of one vector after the other.
    lanes: Vec<Id>,
}

thread_local! {
    static TABLE: RefCell<Option<Table>> = const { RefCell::new(None) };
}

/// Runs a proof about words of `bits` bits, with a table of its own. Returns the first failure, or the
/// constants that the kernel used, in the order of their first use. To show that the proof can
/// fail, the constant with the number `tampered` is increased by one.
pub(super) fn prove(
    bits: u32,
    tampered: Option<usize>,
    proof: impl FnOnce(),
) -> Result<Vec<u64>, String> {
    let table = Table {
        bits,
        forms: Vec::new(),
        ids: Map::default(),
        atoms: Vec::new(),
        numbers_of_atoms: Map::default(),
        supports: Vec::new(),
        findings: Findings::new(tampered),
        random: Random::new(traces::naming() / 2),
        names: Map::default(),
        named: Map::default(),
        lanes: Vec::new(),
    };
    TABLE.set(Some(table));
    proof();
    let table = TABLE.take().expect("proofs are not nested");
    table.findings.result()
}

/// Calls `f` with the table of the running proof.
fn with<T>(f: impl FnOnce(&mut Table) -> T) -> T {
    TABLE.with_borrow_mut(|table| f(table.as_mut().expect("abstract words are for proofs")))
}

/// Makes a word, and lets observers see the operation and its operands.
fn step(operation: &str, operands: impl Hash, f: impl FnOnce(&mut Table) -> Form) -> Id {
    traces::note((operation, operands));
    with(|t| {
        let form = f(t);
        t.id(form)
    })
}

/// A vector of words.
pub(super) fn lanes(count: usize, id: &mut dyn FnMut(usize) -> Id) -> Lanes {
    let ids: Vec<Id> = (0..count).map(id).collect();
    with(|t| {
        let first = t.lanes.len() as u32;
        t.lanes.extend(ids);
        Lanes(first)
    })
}

/// A word of a vector.
pub(super) fn lane(lanes: Lanes, lane: usize) -> Id {
    with(|t| t.lanes[lanes.0 as usize + lane])
}

/// The input with this number; only the bits in `support` may be set.
pub(super) fn input(number: u16, support: u64) -> Id {
    with(|t| {
        let form = t.form_of(Atom::Input(number, support));
        t.id(form)
    })
}

/// A constant of the kernel.
pub(super) fn constant(c: u64) -> Id {
    step("constant", c, |t| {
        let wrong = t.findings.is_tampered(c);
        Form::constant(c.wrapping_add(wrong.into()) & t.all())
    })
}

/// A constant of the standard.
pub(super) fn number(c: u64) -> Id {
    with(|t| t.id(Form::constant(c)))
}

/// `x ⊕ y`
pub(super) fn xor(x: Id, y: Id) -> Id {
    step("xor", (x, y), |t| t.form(x).xor(t.form(y)))
}

/// `x ⋘ by`
pub(super) fn rotate_left(x: Id, by: u32) -> Id {
    step("rotate", (x, by), |t| t.form(x).rotated(by, t.bits))
}

/// `x ≫ by`
pub(super) fn shift_right(x: Id, by: u32) -> Id {
    step("shift", (x, by), |t| {
        t.form(x).rotated(t.bits - by, t.bits).masked(t.all() >> by)
    })
}

/// `x ≪ by`, with the most significant bits of `next` in the low bits.
pub(super) fn shift_in(x: Id, by: u32, next: Id) -> Id {
    step("shift in", (x, by, next), |t| {
        let below = (1 << by) - 1;
        let high = t.form(x).rotated(by, t.bits).masked(t.all() & !below);
        high.xor(&t.form(next).rotated(by, t.bits).masked(below))
    })
}

/// A function of three bits, applied to each bit of three words. Only its results for all eight choices matter.
pub(super) fn bitwise(f: impl Fn(u64, u64, u64) -> u64, words: [Id; 3]) -> Id {
    let truth = f(0b1010_1010, 0b1100_1100, 0b1111_0000) as u8;
    step("bitwise", (truth, words), |t| t.bitwise(truth, words))
}

/// `x + y mod 2^bits`
pub(super) fn add(x: Id, y: Id) -> Id {
    step("add", (x, y), |t| {
        let (f, g) = (t.form(x), t.form(y));
        if t.support(f) & t.support(g) == 0 {
            // no bit is carried
            return f.xor(g);
        }
        t.sum(x, 1, y)
    })
}

/// `x − y mod 2^bits`
pub(super) fn sub(x: Id, y: Id) -> Id {
    step("sub", (x, y), |t| t.sum(x, t.all(), y))
}

/// The number that stands for a word in memory: a constant stands for itself, any other word gets a unique number.
///
/// With 64 bits, the number is below 2⁵⁶. Adding a multiple of 2⁵⁶ to it gives a number that stands for the word plus
/// this multiple: kernels count in the last byte of an address.
pub(super) fn name(x: Id) -> u64 {
    traces::note(("name", x));
    with(|t| {
        let form = t.form(x);
        if form.atoms.is_empty() {
            return form.constant;
        }
        if let Some(name) = t.named.get(&x) {
            return *name;
        }
        let in_name = in_names(t.bits);
        let turned = if traces::naming() % 2 == 1 {
            in_name
        } else {
            0
        };
        let name = t.random.bits() & in_name ^ turned;
        let before = t.names.insert(name, x);
        assert!(before.is_none(), "two words have one name");
        t.named.insert(x, name);
        name
    })
}

/// A number of 64 bits that stands for a word, and has `top` as its most significant byte.
///
/// A kernel that counts in this byte makes the same of it whatever `top` is; one that writes a count over the byte, and
/// doesn't add to it, makes another word.
pub(super) fn name_with_top(x: Id, top: u8) -> u64 {
    let top = u64::from(top) << 56;
    name(sub(x, number(top))) | top
}

/// The word that a number in memory stands for.
pub(super) fn named(n: u64) -> Id {
    let (word, bits) = with(|t| (t.names.get(&(n & in_names(t.bits))).copied(), t.bits));
    match word {
        None => constant(n),
        Some(x) => {
            traces::note(("named", x));
            match n & !in_names(bits) {
                0 => x,
                more => add(x, number(more)),
            }
        }
    }
}

/// Makes a number in memory, of 64 bits, stand for a word.
pub(super) fn call(n: u64, x: Id) {
    let name = n & in_names(64);
    let x = sub(x, number(n & !name));
    with(|t| {
        let before = t.names.insert(name, x);
        assert!(name != 0 && before.is_none(), "two words have one name");
    });
}

/// The bits that names use.
fn in_names(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.min(56))
}

/// Checks that a word is the expected one.
pub(super) fn expect(what: &str, x: Id, expected: Id) {
    check(x == expected, what);
}

/// Checks a condition on the results.
pub(super) fn check(holds: bool, what: &str) {
    with(|t| {
        let failure = || format!("{what} is another function of the inputs");
        t.findings.check(holds, failure);
    });
}

/// The inputs that a word depends on, by their numbers.
pub(super) fn inputs_of(x: Id) -> BTreeSet<u16> {
    with(|t| {
        let mut inputs = BTreeSet::new();
        let (mut seen, mut left) = (BTreeSet::new(), vec![x]);
        while let Some(x) = left.pop() {
            if !seen.insert(x) {
                continue;
            }
            for (Rotated { atom, .. }, _) in &t.form(x).atoms {
                match &t.atoms[*atom] {
                    Atom::Input(number, _) => _ = inputs.insert(*number),
                    Atom::Sum(sum) => left.extend(sum.addends.iter().map(|(x, _)| *x)),
                    Atom::Products { linear, products } => {
                        left.push(*linear);
                        left.extend(products.as_flattened());
                    }
                }
            }
        }
        inputs
    })
}

impl Form {
    fn constant(constant: u64) -> Self {
        let atoms = Vec::new();
        Self { constant, atoms }
    }

    fn xor(&self, other: &Self) -> Self {
        let atoms = merged(&self.atoms, &other.atoms, |m, n| m ^ n);
        let constant = self.constant ^ other.constant;
        Self { constant, atoms }
    }

    fn masked(&self, mask: u64) -> Self {
        let atoms = self.atoms.iter().map(|(x, m)| (*x, m & mask));
        Self {
            constant: self.constant & mask,
            atoms: atoms.filter(|(_, m)| *m != 0).collect(),
        }
    }

    fn rotated(&self, by: u32, bits: u32) -> Self {
        let rotate = |x: u64| (x << by | x >> (bits - by)) & u64::MAX >> (64 - bits);
        let rotated = |(x, mask): &(Rotated, u64)| {
            let by = (x.by + by) % bits;
            (Rotated { by, ..*x }, rotate(*mask))
        };
        let mut atoms: Vec<_> = self.atoms.iter().map(rotated).collect();
        atoms.sort_unstable();
        Self {
            constant: rotate(self.constant),
            atoms,
        }
    }
}

/// Merges two ascending lists: `both` combines the values of keys that are in both. Zeros are left out.
fn merged<K: Copy + Ord>(
    left: &[(K, u64)],
    right: &[(K, u64)],
    both: impl Fn(u64, u64) -> u64,
) -> Vec<(K, u64)> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let (key, x) = match (left.peek(), right.peek()) {
            (Some((k, x)), Some((l, y))) if k == l => {
                let pair = (*k, both(*x, *y));
                left.next();
                right.next();
                pair
            }
            (Some((k, _)), Some((l, _))) if l < k => *right.next().expect("it is there"),
            (Some(_), _) => *left.next().expect("it is there"),
            (None, Some(_)) => *right.next().expect("it is there"),
            (None, None) => return merged,
        };
        if x != 0 {
            merged.push((key, x));
        }
    }
}

impl Table {
    /// A word with all bits set.
    fn all(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    fn form(&self, x: Id) -> &Form {
        &self.forms[x as usize]
    }

    fn id(&mut self, form: Form) -> Id {
        if let Some(id) = self.ids.get(&form) {
            return *id;
        }
        let id = self.forms.len() as Id;
        self.forms.push(form.clone());
        self.ids.insert(form, id);
        id
    }

    /// The form that is only this atom.
    fn form_of(&mut self, atom: Atom) -> Form {
        let next = self.atoms.len();
        let number = *self.numbers_of_atoms.entry(atom.clone()).or_insert(next);
        if number == next {
            let support = match &atom {
                Atom::Input(_, support) => *support,
                Atom::Sum(sum) => self.support_of_sum(sum),
                Atom::Products { .. } => self.all(),
            };
            self.atoms.push(atom);
            self.supports.push(support);
        }
        let rotated = Rotated {
            atom: number,
            by: 0,
        };
        Form {
            constant: 0,
            atoms: vec![(rotated, self.supports[number])],
        }
    }

    /// The bits that may be set.
    fn support(&self, form: &Form) -> u64 {
        let masks = form.atoms.iter().map(|(_, mask)| mask);
        masks.fold(form.constant, |support, mask| support | mask)
    }

    /// The bits of a sum that may be set: none below the lowest bit of its addends.
    fn support_of_sum(&self, sum: &Sum) -> u64 {
        let zeros = |(x, factor): &(Id, u64)| {
            self.support(self.form(*x)).trailing_zeros() + factor.trailing_zeros()
        };
        let zeros = sum.addends.iter().map(zeros);
        let zeros = zeros.fold(sum.constant.trailing_zeros(), u32::min);
        self.all() & self.all() << zeros
    }

    /// `x + factor · y mod 2^bits`
    fn sum(&mut self, x: Id, factor: u64, y: Id) -> Form {
        let (x, y) = (self.as_sum(x), self.as_sum(y));
        let all = self.all();
        let scaled: Vec<_> = y
            .addends
            .iter()
            .map(|(y, c)| (*y, c.wrapping_mul(factor) & all))
            .collect();
        let constant = x.constant.wrapping_add(y.constant.wrapping_mul(factor)) & all;
        let addends = merged(&x.addends, &scaled, |c, d| c.wrapping_add(d) & all);
        match addends[..] {
            [] => Form::constant(constant),
            [(x, 1)] if constant == 0 => self.form(x).clone(),
            _ => self.form_of(Atom::Sum(Sum { constant, addends })),
        }
    }

    /// A word as a sum, if need be with itself as the only addend.
    fn as_sum(&self, x: Id) -> Sum {
        let form = self.form(x);
        if form.atoms.is_empty() {
            return Sum {
                constant: form.constant,
                addends: Vec::new(),
            };
        }
        if let [(Rotated { atom, by: 0 }, mask)] = form.atoms[..]
            && form.constant == 0
            && mask == self.supports[atom]
            && let Atom::Sum(sum) = &self.atoms[atom]
        {
            return sum.clone();
        }
        Sum {
            constant: 0,
            addends: vec![(x, 1)],
        }
    }

    /// By the algebraic normal form. Words whose constant has 1 as its last bit are replaced by their complements, so
    /// that words and complements make the same products.
    fn bitwise(&mut self, mut truth: u8, words: [Id; 3]) -> Form {
        let ones = Form::constant(self.all());
        let words = [0, 1, 2].map(|v| {
            let word = self.form(words[v]).clone();
            if word.constant & 1 == 0 {
                return word;
            }
            // swap the results for 0 and for 1
            let at_0 = AT_0[v];
            truth = (truth & at_0) << (1 << v) | truth >> (1 << v) & at_0;
            word.xor(&ones)
        });
        // Möbius' transform: bit i is the coefficient of the product of those words whose bits are set in i
        for (v, at_0) in AT_0.iter().enumerate() {
            truth ^= (truth & at_0) << (1 << v);
        }
        let has = |i: usize| truth >> i & 1 == 1;
        assert!(!has(7), "no function of the kernels has products of three");
        let mut linear = Form::constant(if has(0) { self.all() } else { 0 });
        for (v, word) in words.iter().enumerate() {
            if has(1 << v) {
                linear = linear.xor(word);
            }
        }
        let mut products = Vec::new();
        for [v, w] in [[0, 1], [0, 2], [1, 2]] {
            if !has(1 << v | 1 << w) {
                continue;
            }
            let (x, y) = (&words[v], &words[w]);
            if x.atoms.is_empty() || x == y {
                linear = linear.xor(&if x == y {
                    y.clone()
                } else {
                    y.masked(x.constant)
                });
            } else if y.atoms.is_empty() {
                linear = linear.xor(&x.masked(y.constant));
            } else {
                let mut product = [self.id(x.clone()), self.id(y.clone())];
                product.sort_unstable();
                products.push(product);
            }
        }
        products.sort_unstable();
        // two equal products cancel
        let odd = |equal: &&[_]| equal.len() % 2 == 1;
        let products = products.chunk_by(|p, q| p == q).filter(odd);
        let products: Vec<_> = products.map(|equal| equal[0]).collect();
        if products.is_empty() {
            return linear;
        }
        let constant = Form::constant(linear.constant);
        let linear = self.id(linear.xor(&constant));
        self.form_of(Atom::Products { linear, products })
            .xor(&constant)
    }
}

/// The bits of a truth table where one of its three bits is 0.
const AT_0: [u8; 3] = [0b0101_0101, 0b0011_0011, 0b0000_1111];

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;
    use alloc::vec::Vec;

    use super::{
        Atom, Id, add, bitwise, call, constant, input, inputs_of, name, name_with_top, named,
        number, prove, rotate_left, shift_in, shift_right, sub, with, xor,
    };
    use crate::test_random::Random;

    fn rotated(x: u64, by: u32, bits: u32) -> u64 {
        let all = u64::MAX >> (64 - bits);
        if by == 0 {
            x
        } else {
            (x << by | x >> (bits - by)) & all
        }
    }

    /// The values of all words in the table for these inputs, by the meaning of forms and atoms. An atom only refers
    /// to words that were there before it.
    fn values(inputs: &[u64], bits: u32) -> Vec<u64> {
        let all = u64::MAX >> (64 - bits);
        with(|t| {
            let mut values = Vec::<u64>::new();
            for form in &t.forms {
                let mut value = form.constant;
                for (x, mask) in &form.atoms {
                    let at = |x: &Id| values[*x as usize];
                    let atom = match &t.atoms[x.atom] {
                        Atom::Input(number, support) => inputs[usize::from(*number)] & support,
                        Atom::Sum(sum) => {
                            let products = sum.addends.iter().map(|(x, c)| at(x).wrapping_mul(*c));
                            products.fold(sum.constant, u64::wrapping_add) & all
                        }
                        Atom::Products { linear, products } => {
                            let products = products.iter().map(|[x, y]| at(x) & at(y));
                            products.fold(at(linear), |sum, product| sum ^ product)
                        }
                    };
                    value ^= rotated(atom, x.by, bits) & mask;
                }
                values.push(value);
            }
            values
        })
    }

    type Bitwise = fn(u64, u64, u64) -> u64;

    const FUNCTIONS: [Bitwise; 8] = [
        |x, y, z| x ^ (!y & z),
        |x, y, z| x ^ (y & z),
        |x, y, z| x ^ (y | z),
        |x, y, z| (x & y) ^ (!x & z),
        |x, y, z| (x & y) ^ (x & z) ^ (y & z),
        |x, y, z| !(x | y) ^ z,
        |x, _, z| !x & !z,
        |_, y, _| !y,
    ];

    /// For all kinds of computations, the word has the value that the operations compute.
    #[test]
    fn words_are_what_was_computed() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let bits = [8, 32, 64][seed as usize % 3];
            let all = u64::MAX >> (64 - bits);
            prove(bits, None, || {
                let inputs: [_; 4] = core::array::from_fn(|_| random.bits() & all);
                let mut words = vec![];
                for (i, x) in inputs.iter().enumerate() {
                    let support = [all, all, all & all << 4, all >> 3][i];
                    words.push((input(i as u16, support), x & support));
                }
                for c in [0, 1, all, random.bits() & all, all & !7] {
                    words.push((constant(c), c));
                }
                for _ in 0..60 {
                    let mut pick = || words[random.below(words.len() as u32) as usize];
                    let [(x, a), (y, b), (z, c)] = [pick(), pick(), pick()];
                    let by = 1 + random.below(bits - 1);
                    words.push(match random.below(8) {
                        0 => (xor(x, y), a ^ b),
                        1 => (rotate_left(x, by), rotated(a, by, bits)),
                        2 => (shift_right(x, by), a >> by),
                        3 => (shift_in(x, by, y), (a << by | b >> (bits - by)) & all),
                        4 => (add(x, y), a.wrapping_add(b) & all),
                        5 => (sub(x, y), a.wrapping_sub(b) & all),
                        _ => {
                            let f = FUNCTIONS[random.below(8) as usize];
                            (bitwise(f, [x, y, z]), f(a, b, c) & all)
                        }
                    });
                }
                let values = values(&inputs, bits);
                for (id, expected) in words {
                    assert_eq!(values[id as usize], expected, "seed {seed}");
                }
            })
            .unwrap();
        }
    }

    /// One function computed in several ways is one word, and other functions are other words.
    #[test]
    fn equal_functions_are_found() {
        prove(32, None, || {
            let [x, y, z] = [0, 1, 2].map(|i| input(i, 0xffff_ffff));
            let ones = number(0xffff_ffff);
            let not = |x| xor(x, ones);
            assert_eq!(add(x, add(y, z)), add(add(z, x), y));
            assert_eq!(sub(add(x, y), y), x);
            assert_eq!(xor(xor(x, y), x), y);
            assert_eq!(shift_in(x, 7, x), rotate_left(x, 7));
            assert_eq!(rotate_left(rotate_left(x, 12), 20), x);
            let chi = bitwise(FUNCTIONS[0], [x, y, z]);
            assert_eq!(bitwise(FUNCTIONS[1], [x, not(y), z]), chi);
            assert_eq!(bitwise(FUNCTIONS[2], [not(x), y, not(z)]), chi);
            assert_ne!(bitwise(FUNCTIONS[0], [x, z, y]), chi);
            assert_ne!(add(x, y), xor(x, y));
            assert_ne!(rotate_left(x, 3), rotate_left(x, 4));
            let (high, low) = (input(3, 0xffff_0000), shift_right(x, 16));
            assert_eq!(add(high, low), xor(high, low));
            assert!(inputs_of(add(chi, high)).into_iter().eq([0, 1, 2, 3]));
        })
        .unwrap();
    }

    /// A stored word is read again. Adding to the last byte of a name adds to the word.
    #[test]
    fn names_stand_for_words() {
        prove(64, None, || {
            let x = input(0, u64::MAX);
            let n = name(x);
            assert_eq!((named(n), name(x)), (x, n));
            assert_eq!(named(n + (3 << 56)), add(x, number(3 << 56)));
            assert_eq!(named(5), number(5));
            for top in [0, 1, 0x7f, 0xff] {
                let n = name_with_top(x, top);
                assert_eq!((named(n), n >> 56), (x, top.into()));
                let counted = n.wrapping_add(3 << 56);
                assert_eq!(named(counted), add(x, number(3 << 56)), "{top}");
                // what does not add to the byte does not keep the word
                let over = n & u64::MAX >> 8 | 3 << 56;
                assert_eq!(named(over) == add(x, number(3 << 56)), top == 0, "{top}");
            }
            let y = input(1, u64::MAX);
            call(0x1234_5678_9abc_def0, y);
            assert_eq!(named(0x1234_5678_9abc_def0), y);
        })
        .unwrap();
        prove(64, Some(0), || assert_eq!(constant(5), number(6))).unwrap();
    }
}

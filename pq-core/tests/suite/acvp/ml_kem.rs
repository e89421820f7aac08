//! ML-KEM: keyGen, and encapDecap in both revisions.

use pq_core::Error;
use pq_core::arch::Backend;
use pq_core::ml_kem::{Ciphertext, DecapsulationKey, EncapsulationKey, ParameterSet, internal};
use serde::Deserialize;

use super::{Hex, Vectors};
use crate::tally::Tally;

#[test]
fn key_generation() {
    let path = "ML-KEM-keyGen-FIPS203/internalProjection";
    let Some(vectors) = Vectors::<Group<KeyGen>>::load(path, "ML-KEM", "keyGen") else {
        return;
    };
    let mut tally = Tally::new(format_args!("ACVP {path}"));
    for group in &vectors.groups {
        group.run("keyGen", &mut tally);
    }
    tally.finish(vectors.cases);
}

#[test]
fn encapsulation_and_decapsulation() {
    encap_decap("ML-KEM-encapDecap-FIPS203/internalProjection");
}

#[test]
fn encapsulation_and_decapsulation_tr1() {
    encap_decap("ML-KEM-encapDecap-FIPS203-tr1/internalProjection");
}

fn encap_decap(path: &str) {
    let Some(vectors) = Vectors::<EncapDecap>::load(path, "ML-KEM", "encapDecap") else {
        return;
    };
    let mut tally = Tally::new(format_args!("ACVP {path}"));
    for group in &vectors.groups {
        match group {
            EncapDecap::Encapsulation(group) => group.run("encapsulation", &mut tally),
            EncapDecap::Decapsulation(group) => group.run("decapsulation", &mut tally),
            EncapDecap::EncapsulationKeyCheck(group) => {
                group.run("encapsulationKeyCheck", &mut tally);
            }
            EncapDecap::DecapsulationKeyCheck(group) => {
                group.run("decapsulationKeyCheck", &mut tally);
            }
        }
    }
    tally.finish(vectors.cases);
}

/// Cases of one parameter set and one function. Unknown fields and values
/// make the file unreadable, so that a new mode can't go unnoticed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Group<C> {
    #[serde(rename = "tgId")]
    _id: u32,
    test_type: String,
    parameter_set: String,
    key_format: Option<KeyFormat>,
    tests: Vec<C>,
}

#[derive(Deserialize)]
#[serde(tag = "function", rename_all = "camelCase")]
enum EncapDecap {
    Encapsulation(Group<Encapsulation>),
    Decapsulation(Group<Decapsulation>),
    EncapsulationKeyCheck(Group<EncapsulationKeyCheck>),
    DecapsulationKeyCheck(Group<DecapsulationKeyCheck>),
}

/// The form of the decapsulation key that the case is about.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
enum KeyFormat {
    None,
    Seed,
    Expanded,
}

impl<C: Case> Group<C> {
    fn run(&self, function: &str, tally: &mut Tally) {
        let kind = match self.key_format {
            None | Some(KeyFormat::None) => format!("{function} {}", self.test_type),
            Some(format) => format!("{function} {}, key format {format:?}", self.test_type),
        };
        for case in &self.tests {
            with_ml_kem!(&*self.parameter_set, P => {
                case.check::<P>(self.key_format);
                on_each_backend!(backend => case.check_internal::<P, _>(backend));
            });
            tally.count(format_args!("{} {kind}", self.parameter_set));
        }
    }
}

trait Case {
    /// Runs the case through the public API.
    fn check<P: ParameterSet>(&self, key_format: Option<KeyFormat>);

    /// Runs the case through the standard's internal algorithms on one backend, where
    /// the case has anything to compute.
    fn check_internal<P: ParameterSet, B: Backend>(&self, backend: B);
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyGen {
    #[serde(rename = "tcId")]
    id: u32,
    #[serde(rename = "deferred")]
    _deferred: bool,
    d: Hex,
    z: Hex,
    ek: Hex,
    dk: Hex,
}

impl Case for KeyGen {
    fn check<P: ParameterSet>(&self, _: Option<KeyFormat>) {
        let seed = seed(&self.d, &self.z);
        let generated = DecapsulationKey::<P>::from_seed(&seed);
        self.check_key(&generated);
        assert_eq!(generated.seed(), Some(&seed), "case {}", self.id);

        let parsed = parse_expanded::<P>(&self.dk, self.id);
        self.check_key(&parsed);
        assert_eq!(parsed.seed(), None, "case {}", self.id);
    }

    fn check_internal<P: ParameterSet, B: Backend>(&self, backend: B) {
        let key = internal::keygen::<P, B>(backend, self.d.array(), self.z.array());
        self.check_key(&key);
    }
}

impl KeyGen {
    fn check_key<P: ParameterSet>(&self, key: &DecapsulationKey<P>) {
        let ek = key.encapsulation_key();
        assert_eq!(ek.as_bytes(), &*self.ek, "case {}", self.id);
        assert_eq!(key.to_expanded().as_ref(), &*self.dk, "case {}", self.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Encapsulation {
    #[serde(rename = "tcId")]
    id: u32,
    #[serde(rename = "deferred")]
    _deferred: bool,
    ek: Hex,
    dk: Hex,
    m: Hex,
    c: Hex,
    k: Hex,
}

impl Case for Encapsulation {
    fn check<P: ParameterSet>(&self, _: Option<KeyFormat>) {
        let id = self.id;
        let ek = parse_encapsulation_key::<P>(&self.ek, id);
        let (c, k) = ek.encapsulate(self.m.array());
        assert_eq!(c.as_bytes(), &*self.c, "case {id}");
        assert_eq!(k.as_bytes(), &*self.k, "case {id}");

        let dk = parse_expanded::<P>(&self.dk, id);
        assert_eq!(dk.encapsulation_key(), &ek, "case {id}");
        assert_eq!(dk.decapsulate(&c).as_bytes(), &*self.k, "case {id}");
    }

    fn check_internal<P: ParameterSet, B: Backend>(&self, backend: B) {
        let id = self.id;
        let ek = parse_encapsulation_key::<P>(&self.ek, id);
        let (c, k) = internal::encaps(backend, &ek, self.m.array());
        assert_eq!(c.as_bytes(), &*self.c, "case {id}");
        assert_eq!(k.as_bytes(), &*self.k, "case {id}");
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decapsulation {
    #[serde(rename = "tcId")]
    id: u32,
    #[serde(rename = "deferred")]
    _deferred: bool,
    /// d and z are only in the revised files.
    d: Option<Hex>,
    z: Option<Hex>,
    ek: Hex,
    dk: Hex,
    c: Hex,
    k: Hex,
    reason: DecapsulationReason,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
enum DecapsulationReason {
    #[serde(rename = "valid decapsulation")]
    Valid,
    #[serde(rename = "modified ciphertext")]
    ModifiedCiphertext,
}

impl Case for Decapsulation {
    fn check<P: ParameterSet>(&self, key_format: Option<KeyFormat>) {
        let id = self.id;
        let ciphertext = Ciphertext::<P>::from_bytes(&self.c).expect("of the right length");
        let mut keys = vec![parse_expanded::<P>(&self.dk, id)];
        if let (Some(d), Some(z)) = (&self.d, &self.z) {
            keys.push(DecapsulationKey::<P>::from_seed(&seed(d, z)));
        }
        // the revised files say which form each case is about: this form must be there
        assert!(
            key_format != Some(KeyFormat::Seed) || keys.len() == 2,
            "case {id}: no seed"
        );
        for key in keys {
            assert_eq!(
                key.encapsulation_key().as_bytes(),
                &*self.ek,
                "case {id}: encapsulation key"
            );
            assert_eq!(key.to_expanded().as_ref(), &*self.dk, "case {id}");
            let secret = key.decapsulate(&ciphertext);
            assert_eq!(secret.as_bytes(), &*self.k, "case {id}");
        }
        let implicitly_rejected = crate::peers::implicit_rejection(&self.dk, &self.c) == *self.k;
        assert_eq!(
            implicitly_rejected,
            self.reason == DecapsulationReason::ModifiedCiphertext,
            "case {id}: the reason that the file gives"
        );
    }

    fn check_internal<P: ParameterSet, B: Backend>(&self, backend: B) {
        let key = parse_expanded::<P>(&self.dk, self.id);
        let ciphertext = Ciphertext::from_bytes(&self.c).expect("of the right length");
        let secret = internal::decaps(backend, &key, &ciphertext);
        assert_eq!(secret.as_bytes(), &*self.k, "case {}", self.id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EncapsulationKeyCheck {
    #[serde(rename = "tcId")]
    id: u32,
    #[serde(rename = "deferred")]
    _deferred: bool,
    #[serde(rename = "testPassed")]
    passed: bool,
    ek: Hex,
    dk: Hex,
    reason: EncapsulationKeyReason,
}

#[derive(Clone, Copy, Deserialize)]
enum EncapsulationKeyReason {
    #[serde(rename = "valid encapsulation key")]
    Valid,
    #[serde(rename = "noisy linear system values too large")]
    ValuesTooLarge,
}

impl Case for EncapsulationKeyCheck {
    fn check<P: ParameterSet>(&self, _: Option<KeyFormat>) {
        let id = self.id;
        let parsed = EncapsulationKey::<P>::from_bytes(&self.ek);
        assert_eq!(parsed.is_ok(), self.passed, "case {id}");
        match (parsed, self.reason) {
            (Ok(ek), EncapsulationKeyReason::Valid) => {
                assert_eq!(ek.as_bytes(), &*self.ek, "case {id}");
            }
            (Err(error), EncapsulationKeyReason::ValuesTooLarge) => {
                assert_eq!(error, Error::UnreducedCoefficient, "case {id}");
            }
            (result, _) => panic!("case {id}: {result:?} contradicts the file's reason"),
        }
        // the file's decapsulation key is the one from before ek was spoilt
        parse_expanded::<P>(&self.dk, id);
    }

    fn check_internal<P: ParameterSet, B: Backend>(&self, _: B) {}
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecapsulationKeyCheck {
    #[serde(rename = "tcId")]
    id: u32,
    #[serde(rename = "deferred")]
    _deferred: bool,
    #[serde(rename = "testPassed")]
    passed: bool,
    ek: Hex,
    dk: Hex,
    reason: DecapsulationKeyReason,
}

#[derive(Clone, Copy, Deserialize)]
enum DecapsulationKeyReason {
    #[serde(rename = "valid decapsulation key")]
    Valid,
    #[serde(rename = "modified H")]
    ModifiedHash,
}

impl Case for DecapsulationKeyCheck {
    fn check<P: ParameterSet>(&self, _: Option<KeyFormat>) {
        let id = self.id;
        let parsed = DecapsulationKey::<P>::from_expanded(&self.dk);
        assert_eq!(parsed.is_ok(), self.passed, "case {id}");
        match (parsed, self.reason) {
            (Ok(key), DecapsulationKeyReason::Valid) => {
                let ek = key.encapsulation_key();
                assert_eq!(ek.as_bytes(), &*self.ek, "case {id}");
            }
            (Err(error), DecapsulationKeyReason::ModifiedHash) => {
                assert_eq!(error, Error::HashMismatch, "case {id}");
            }
            (result, _) => panic!("case {id}: {result:?} contradicts the file's reason"),
        }
    }

    fn check_internal<P: ParameterSet, B: Backend>(&self, _: B) {}
}

fn seed(d: &Hex, z: &Hex) -> [u8; 64] {
    let mut seed = [0; 64];
    seed[..32].copy_from_slice(d);
    seed[32..].copy_from_slice(z);
    seed
}

fn parse_expanded<P: ParameterSet>(dk: &[u8], id: u32) -> DecapsulationKey<P> {
    DecapsulationKey::from_expanded(dk).unwrap_or_else(|error| panic!("case {id}: {error}"))
}

fn parse_encapsulation_key<P: ParameterSet>(ek: &[u8], id: u32) -> EncapsulationKey<P> {
    EncapsulationKey::from_bytes(ek).unwrap_or_else(|error| panic!("case {id}: {error}"))
}

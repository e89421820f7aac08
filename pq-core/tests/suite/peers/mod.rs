//! Implementations of the same algorithms, ours and other people's, behind one
//! interface, so that a test can say "they all agree".

mod libcrux;
mod ours;
mod rustcrypto;

use core::fmt;

use shake::{ExtendableOutput, Shake256, Update, XofReader};

use crate::messages::{self, Hash};

/// One implementation of one parameter set.
pub(crate) trait Implementation {
    /// The name for messages.
    fn name(&self) -> &'static str;
}

/// ML-KEM.
pub(crate) trait Kem: Implementation {
    /// ML-KEM.KeyGen_internal, from d ‖ z.
    fn generate(&self, seed: &[u8; 64]) -> Box<dyn KemKey>;

    /// The key from its expanded form, dk.
    fn import(&self, dk: &[u8]) -> Box<dyn KemKey>;

    /// ML-KEM.Encaps_internal: the ciphertext and the shared secret.
    fn encapsulate(&self, ek: &[u8], m: &[u8; 32]) -> (Vec<u8>, [u8; 32]);
}

pub(crate) trait KemKey {
    fn encapsulation_key(&self) -> Vec<u8>;

    /// dk.
    fn expanded(&self) -> Vec<u8>;

    fn decapsulate(&self, ciphertext: &[u8]) -> [u8; 32];
}

/// ML-DSA.
pub(crate) trait Dsa: Implementation {
    /// ML-DSA.KeyGen_internal, from ξ.
    fn generate(&self, xi: &[u8; 32]) -> Box<dyn DsaKey>;

    /// The key from its expanded form, sk; `None` where the implementation has no
    /// such function.
    fn import(&self, sk: &[u8]) -> Option<Box<dyn DsaKey>>;

    /// Whether the signature is valid; `None` where the implementation doesn't cover
    /// this kind of input.
    fn verify(&self, verifying_key: &[u8], input: &Input<'_>, signature: &[u8]) -> Option<bool>;
}

pub(crate) trait DsaKey {
    fn verifying_key(&self) -> Vec<u8>;

    /// sk.
    fn expanded(&self) -> Vec<u8>;

    /// The signature; `None` where the implementation doesn't cover this kind of input.
    fn sign(&self, input: &Input<'_>, rnd: &[u8; 32]) -> Option<Vec<u8>>;
}

/// The data to be signed.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    Pure {
        message: &'a [u8],
        context: &'a [u8],
    },
    PreHash {
        hash: &'static Hash,
        message: &'a [u8],
        context: &'a [u8],
    },
    Mu(&'a [u8; 64]),
}

impl Input<'_> {
    /// M′, unless µ is given instead.
    fn message_representative(&self) -> Option<Vec<u8>> {
        match *self {
            Self::Pure { message, context } => {
                Some(messages::pure_message_representative(message, context))
            }
            Self::PreHash {
                hash,
                message,
                context,
            } => Some(hash.message_representative(message, context)),
            Self::Mu(_) => None,
        }
    }
}

/// For messages of failing tests.
impl fmt::Display for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure { .. } => f.write_str("a message"),
            Self::PreHash { hash, .. } => write!(f, "a {} digest", hash.name),
            Self::Mu(_) => f.write_str("µ"),
        }
    }
}

/// Everything that implements one parameter set.
pub(crate) struct Implementations<I: ?Sized> {
    /// The name of the parameter set.
    pub(crate) set: &'static str,
    /// Other people's; everything else is compared with the first of them.
    pub(crate) others: Vec<Box<I>>,
    /// The public API of pq-core, and each backend by itself.
    pub(crate) ours: Vec<Box<I>>,
}

impl<I: ?Sized> Implementations<I> {
    pub(crate) fn reference(&self) -> &I {
        &self.others[0]
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &I> {
        self.others.iter().chain(&self.ours).map(|one| &**one)
    }
}

/// Makes the `Implementations` of one parameter set, whose type has the same name everywhere.
macro_rules! implementations {
    ($interface:ident, $name:literal, $module:ident::$set:ident) => {{
        let mut implementations = Implementations::<dyn $interface> {
            set: $name,
            others: vec![Box::new(rustcrypto::$set), Box::new(libcrux::$set)],
            ours: vec![Box::new(ours::Public::<::pq_core::$module::$set>::new())],
        };
        on_each_backend!(backend => {
            let on_backend = ours::OnBackend::<::pq_core::$module::$set, _>::new(backend);
            implementations.ours.push(Box::new(on_backend));
        });
        implementations
    }};
}

pub(crate) fn kems() -> [Implementations<dyn Kem>; 3] {
    [
        implementations!(Kem, "ML-KEM-512", ml_kem::MlKem512),
        implementations!(Kem, "ML-KEM-768", ml_kem::MlKem768),
        implementations!(Kem, "ML-KEM-1024", ml_kem::MlKem1024),
    ]
}

pub(crate) fn dsas() -> [Implementations<dyn Dsa>; 3] {
    [
        implementations!(Dsa, "ML-DSA-44", ml_dsa::MlDsa44),
        implementations!(Dsa, "ML-DSA-65", ml_dsa::MlDsa65),
        implementations!(Dsa, "ML-DSA-87", ml_dsa::MlDsa87),
    ]
}

/// J(z ‖ c) of FIPS 203, with z from the end of the expanded key: the secret for a
/// ciphertext that was not made by encapsulation.
pub(crate) fn implicit_rejection(dk: &[u8], ciphertext: &[u8]) -> [u8; 32] {
    let z = dk.last_chunk::<32>().expect("dk ends in z");
    let mut secret = [0; 32];
    Shake256::default()
        .chain(z)
        .chain(ciphertext)
        .finalize_xof()
        .read(&mut secret);
    secret
}

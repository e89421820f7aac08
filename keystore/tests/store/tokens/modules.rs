//! Tokens behind PKCS#11, which `tests/token/run` sets up.

use alloc::sync::Arc;
use core::time::Duration;
use std::env;
use std::path::PathBuf;
use std::sync::{OnceLock, PoisonError, RwLock};

use pq_keystore::StoreOptions;
use pq_keystore::custody::{Pin, Pkcs11Options, Pkcs11Token, Token, TokenError, TokenName};
use pq_keystore::storage::Storage;

use super::passing::{Call, Passage, Passing};
use super::token;
use crate::places::{Memory, Place};

/// The options for the token of a module that a variable names, if it does.
pub(super) fn options(variable: &str) -> Option<Pkcs11Options> {
    let module = env::var_os(variable)?;
    let pin = PathBuf::from(env::var_os("PQ_KEYSTORE_TOKEN_PIN")?);
    let pin = Pin::read(&pin).unwrap();
    let options = Pkcs11Options::new(module, "pq-keystore").pin(pin);
    // All tests share the sessions.
    Some(options.wait(Duration::from_secs(120)))
}

/// Who reads SoftHSM's token, and who changes what is in it. While one thread of a process writes an object, SoftHSM 2.6 makes
/// it invalid when another reads the token's, and answers `CKR_GENERAL_ERROR` (its issue 573, mended after 2.6.1). Then the key
/// is not made. So there is nothing for a program to try again: tests do here in turn what it can't do at once.
static SOFTHSM: RwLock<()> = RwLock::new(());

/// Whether a token can do anything while it makes or removes keys.
pub(super) struct Turns {
    are_needed: bool,
}

impl Passage for Turns {
    fn pass<T>(
        &self,
        call: Call,
        act: impl FnOnce() -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let changes = match call {
            Call::Make | Call::Remove => true,
            Call::Use => false,
        };
        let (_reads, _writes);
        match (self.are_needed, changes) {
            (false, _) => {}
            (true, false) => _reads = SOFTHSM.read().unwrap_or_else(PoisonError::into_inner),
            (true, true) => _writes = SOFTHSM.write().unwrap_or_else(PoisonError::into_inner),
        }
        act()
    }
}

/// What a test does with the token of a variable that it opens itself, while no other does anything that stands against that.
pub(super) fn in_turn<T>(variable: &str, test: impl FnOnce() -> T) -> T {
    let turns = Turns::of(variable);
    let done = turns.pass(Call::Make, || Ok(test()));
    done.unwrap_or_else(|error| unreachable!("{error}"))
}

impl Turns {
    fn of(variable: &str) -> Self {
        Self {
            are_needed: variable == "PQ_KEYSTORE_SOFTHSM",
        }
    }
}

macro_rules! places {
    ($($(#[$doc:meta])* $place:ident: $variable:literal, $algorithm:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) struct $place {
            rows: Memory,
            token: Arc<Passing<Turns>>,
        }

        impl Place for $place {
            fn is_available() -> bool {
                let is_named = options($variable).is_some();
                if !is_named {
                    testing::skipped::cannot_run("tests/token/run sets up the token that it needs");
                }
                is_named
            }

            fn new() -> Self {
                static TOKEN: OnceLock<Arc<Passing<Turns>>> = OnceLock::new();
                let open = || {
                    let options = options($variable).unwrap();
                    let opened = in_turn($variable, || Pkcs11Token::open(options));
                    Arc::new(Passing {
                        token: Arc::new(opened.unwrap()),
                        passage: Turns::of($variable),
                    })
                };
                Self {
                    rows: Memory::new(),
                    token: TOKEN.get_or_init(open).clone(),
                }
            }

            fn open(&self) -> Arc<dyn Storage> {
                self.rows.open()
            }

            fn options(&self) -> StoreOptions {
                StoreOptions::default().token(token(), self.token.clone())
            }

            fn token(&self) -> Option<TokenName> {
                Some(token())
            }

            fn in_token(&self) -> Arc<dyn Token> {
                self.token.clone()
            }

            fn algorithm(name: &'static str) -> Option<&'static str> {
                $algorithm(name)
            }
        }
    )+};
}

places! {
    /// Rows in memory, and keys in kryoptic.
    Kryoptic: "PQ_KEYSTORE_KRYOPTIC", in_kryoptic;
    /// Rows in memory, and keys in SoftHSM.
    SoftHsm: "PQ_KEYSTORE_SOFTHSM", in_softhsm;
}

/// PKCS#11 has no composites and no X-Wing.
fn in_kryoptic(name: &'static str) -> Option<&'static str> {
    let is_hybrid = name.starts_with("MLDSA") || name == "X-Wing";
    (!is_hybrid).then_some(name)
}

/// SoftHSM 2.6 has PKCS#11 2.40, and so classical algorithms only.
fn in_softhsm(name: &'static str) -> Option<&'static str> {
    match name {
        "ML-DSA-44" | "ECDSA-P256" => Some("ECDSA-P256"),
        "ML-DSA-65" => Some("ECDSA-P384"),
        "ML-DSA-87" => Some("RSA-2048"),
        "Ed25519" => Some("Ed25519"),
        _ => None,
    }
}

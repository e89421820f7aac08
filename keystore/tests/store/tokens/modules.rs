//! Tokens behind PKCS#11, which `tests/token/run` sets up.

use alloc::sync::Arc;
use core::time::Duration;
use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use pq_keystore::StoreOptions;
use pq_keystore::custody::{Pin, Pkcs11Options, Pkcs11Token, Token, TokenName};
use pq_keystore::storage::Storage;

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

macro_rules! places {
    ($($(#[$doc:meta])* $place:ident: $variable:literal, $algorithm:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) struct $place {
            rows: Memory,
            token: Arc<Pkcs11Token>,
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
                static TOKEN: OnceLock<Arc<Pkcs11Token>> = OnceLock::new();
                let open = || Arc::new(Pkcs11Token::open(options($variable).unwrap()).unwrap());
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

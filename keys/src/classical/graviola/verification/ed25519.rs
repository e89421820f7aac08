//! Ed25519 by graviola.

use graviola::signing::eddsa::Ed25519VerifyingKey;
use pki_types::{InvalidSignature, alg_id};

use crate::classical::verification::ClassicalVerification;

pub(super) const ED25519: ClassicalVerification = ClassicalVerification {
    name: "Ed25519",
    key: alg_id::ED25519,
    signature: alg_id::ED25519,
    verify: |public_key, message, signature| {
        Ed25519VerifyingKey::from_bytes(public_key)
            .and_then(|key| key.verify(signature, message))
            .map_err(|_| InvalidSignature)
    },
};

//! Vector registers after operations.

use pq_core::arch::Avx2;
use pq_core::ml_dsa::{MlDsa65, SigningKey};
use pq_core::ml_kem::{DecapsulationKey, MlKem768};
use pq_core::slh_dsa::{self, SlhDsaShake128f};
use testing::skipped::cannot_run;

/// On the backend that operations choose.
#[test]
fn upper_halves_are_clear() {
    let Some(cpu) = Avx2::detect() else {
        cannot_run("this CPU has no AVX2, and no upper halves that could be in use");
        return;
    };
    cpu.clear_upper_halves();
    if cpu.upper_halves_in_use() != Some(false) {
        cannot_run("this CPU does not say whether upper halves are in use");
        return;
    }
    let check = || assert_eq!(cpu.upper_halves_in_use(), Some(false));

    let key = DecapsulationKey::<MlKem768>::from_seed(&[1; 64]);
    check();
    let (ciphertext, _) = key.encapsulation_key().encapsulate(&[2; 32]);
    check();
    drop(key.decapsulate(&ciphertext));
    check();
    drop(key);
    check();

    let key = SigningKey::<MlDsa65>::from_seed(&[3; 32]);
    check();
    let signature = key.sign(b"message", b"", &[4; 32]).unwrap();
    check();
    let verified = key.verifying_key().verify(b"message", b"", &signature);
    check();
    verified.unwrap();
    drop(key);
    check();

    let key = slh_dsa::SigningKey::<SlhDsaShake128f>::from_seed(&[5; 48]);
    check();
    drop(key);
    check();
}

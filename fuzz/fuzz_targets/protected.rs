//! Private keys under passphrases and PKCS#12 files: changed input is refused or is still the same key,
//! and hostile input costs its reader little.
#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
use fuzz::pki::PKI;
use libfuzzer_sys::fuzz_target;
use pq_x509::keys::protection::{
    Cipher, CostLimits, EncryptedPrivateKey, KeyDerivation, Prf, Protection,
};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm, PrivateKey, SubjectKey};
use pq_x509::pkcs12::{Pkcs12, Pkcs12Mac};

const PASSPHRASE: &str = "pass";

fuzz_target!(|input: Input<'_>| match input {
    Input::Key { which, edits } => {
        let (key, document) = &KEYS[usize::from(which) % KEYS.len()];
        if let Some(read) = read_key(&edits.of(document)) {
            assert_eq!(read.spki(), key.spki());
        }
    }
    Input::Store { which, edits } => {
        let document = &STORES[usize::from(which) % STORES.len()];
        if let Ok(read) = Pkcs12::from_der_within(&edits.of(document), PASSPHRASE, &limits()) {
            let [entry] = read.keys() else {
                panic!("other keys: {read:?}");
            };
            let key = entry.private_key().expect("the key that was written");
            assert_eq!(key.spki(), PKI.server_key.0.spki());
            assert_eq!(read.certificates().len(), 1);
        }
    }
    Input::Whole(bytes) => {
        read_key(bytes);
        // A valid MAC can't be found by chance.
        assert!(Pkcs12::from_der_within(bytes, PASSPHRASE, &limits()).is_err());
    }
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Key { which: u8, edits: DerEdits<'a> },
    Store { which: u8, edits: DerEdits<'a> },
    Whole(&'a [u8]),
}

/// Limits that keep each input quick.
fn limits() -> CostLimits {
    CostLimits::default()
        .with_iterations(64)
        .with_scrypt_memory(1 << 16)
        .with_scrypt_work(1 << 10)
}

fn read_key(der: &[u8]) -> Option<PrivateKey> {
    let encrypted = EncryptedPrivateKey::from_der(der).ok()?;
    assert_eq!(encrypted.as_der(), der);
    let pkcs8 = encrypted.decrypt_within(PASSPHRASE.as_bytes(), &limits());
    encrypted.key_of(&pkcs8.ok()?).ok()
}

const PBKDF2: KeyDerivation = KeyDerivation::Pbkdf2 {
    prf: Prf::HmacSha256,
    iterations: 1,
};

const SCRYPT: KeyDerivation = KeyDerivation::Scrypt {
    log_n: 1,
    r: 1,
    p: 1,
};

/// Keys with their encoded forms. Salts and initialization vectors differ in each run; everything
/// else is the same.
static KEYS: LazyLock<Vec<(PrivateKey, Vec<u8>)>> = LazyLock::new(|| {
    let kem = DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[1; 64]).expect("a seed");
    let signing = PrivateKey::Signing(PKI.server_key.0.clone());
    let mut keys = Vec::new();
    for key in [signing, PrivateKey::Decapsulation(kem)] {
        for (derivation, cipher) in [
            (PBKDF2, Cipher::Aes256Cbc),
            (PBKDF2, Cipher::Aes256Gcm),
            (SCRYPT, Cipher::Aes128Gcm),
        ] {
            let protection = protection(derivation, cipher);
            let der = key.to_encrypted_pkcs8_der(PASSPHRASE.as_bytes(), &protection);
            keys.push((key.clone(), der.expect("a key with a seed")));
        }
    }
    keys
});

fn protection(derivation: KeyDerivation, cipher: Cipher) -> Protection {
    Protection::default()
        .with_key_derivation(derivation)
        .with_cipher(cipher)
}

static STORES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let key = &PKI.server_key.0;
    let pkcs8 = key.to_pkcs8_der().expect("a key with a seed");
    let chain = [PKI.server.clone()];
    let store = Pkcs12::new().with_key(&pkcs8, Some("name"), &chain);
    let store = store.expect("a key");
    let (prf, iterations) = (Prf::HmacSha256, 1);
    let macs = [
        Pkcs12Mac::Pbmac1 { prf, iterations },
        Pkcs12Mac::Classic { prf, iterations },
    ];
    let protection = protection(PBKDF2, Cipher::Aes256Cbc);
    let written = macs.map(|mac| store.to_der(PASSPHRASE, &protection, mac));
    written.map(|der| der.expect("it can be written")).to_vec()
});

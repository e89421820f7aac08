//! What of a key in a token is in the memory of a TLS server that signs with it.

use alloc::sync::Arc;
use core::hint::black_box;
use std::env;
use std::process::Command;
use std::sync::Mutex;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, MlDsaParameterSetType, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::types::AuthPin;
use pq_keys::SubjectKey;
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey};
use pq_keystore::custody::{ObjectId, Pkcs11Token, Token, TokenError, TokenInput};
use served::needle::Needle;
use zeroize::Zeroizing;

use super::serving::{InToken, set_up};

/// What the other process is told to make.
const WANTED: &str = "PQ_KEYSTORE_TESTS_MAKE";

/// What it changes each byte of a secret by before it says it.
const CHANGE: u8 = 0x33;

/// A token in which another process makes the keys, so that this one knows their secrets and never had them.
struct MadeElsewhere {
    token: Pkcs11Token,
    secrets: Mutex<Vec<Needle>>,
}

impl Token for MadeElsewhere {
    fn generate(
        &self,
        algorithm: AnyAlgorithm,
        object: &ObjectId,
        _: &str,
    ) -> Result<AnyPublicKey, TokenError> {
        let made = Command::new(env::current_exe().unwrap())
            .args(["--exact", "--ignored", "--nocapture"])
            .arg("tokens::memory::makes_a_key_for_another_process")
            .env(WANTED, format!("{algorithm} {}", hex(object.as_bytes(), 0)))
            .output()
            .unwrap();
        let said = String::from_utf8(made.stdout).unwrap();
        let found = |name| said.lines().filter_map(move |line| line.strip_prefix(name));
        let public = unhex(found("public ").next().unwrap_or_else(|| panic!("{said}")));
        let secrets =
            found("secret ").map(|secret| Needle::of_changed_hex(secret, CHANGE ^ Needle::CHANGE));
        self.secrets.lock().unwrap().extend(secrets);
        let mut spki = AnyPrivateKey::generate(algorithm).unwrap().spki().to_vec();
        let start = spki.len() - public.len();
        spki[start..].copy_from_slice(&public);
        Ok(AnyPublicKey::from_spki_der(&spki).unwrap())
    }

    fn sign(&self, request: &TokenInput<'_>) -> Result<Vec<u8>, TokenError> {
        self.token.sign(request)
    }

    fn decapsulate(
        &self,
        object: &ObjectId,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<[u8; 32]>, TokenError> {
        self.token.decapsulate(object, ciphertext)
    }

    fn destroy(&self, object: &ObjectId) -> Result<(), TokenError> {
        self.token.destroy(object)
    }

    fn objects(&self, store: [u8; 16]) -> Result<Vec<ObjectId>, TokenError> {
        self.token.objects(store)
    }

    fn private_keys(&self, object: &ObjectId) -> Result<usize, TokenError> {
        self.token.private_keys(object)
    }

    fn description(&self) -> String {
        self.token.description()
    }
}

fn hex(bytes: &[u8], change: u8) -> String {
    bytes
        .iter()
        .map(|byte| format!("{:02x}", byte ^ change))
        .collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Not a test by itself: the other process, which makes a key and reads its secrets.
#[test]
#[ignore = "the other tests of this file run it"]
fn makes_a_key_for_another_process() {
    let Ok(wanted) = env::var(WANTED) else {
        return;
    };
    let (algorithm, object) = wanted.split_once(' ').unwrap();
    let module = Pkcs11::new(env::var_os("PQ_KEYSTORE_KRYOPTIC").unwrap()).unwrap();
    module
        .initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))
        .unwrap();
    let slot = module.get_slots_with_token().unwrap()[0];
    let session = module.open_rw_session(slot).unwrap();
    let pin = std::fs::read_to_string(env::var_os("PQ_KEYSTORE_TOKEN_PIN").unwrap()).unwrap();
    let pin = AuthPin::new(pin.trim_end().into());
    session.login(UserType::User, Some(&pin)).unwrap();

    let named = [Attribute::Token(true), Attribute::Id(unhex(object))];
    let mut public = named.to_vec();
    public.push(Attribute::Verify(true));
    let mut private = named.to_vec();
    private.extend([
        Attribute::Private(true),
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
        Attribute::Sign(true),
    ]);
    let is_ec = algorithm == "ECDSA-P256";
    let mechanism = match is_ec {
        true => {
            let curve = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
            public.push(Attribute::EcParams(curve.into()));
            Mechanism::EccKeyPairGen
        }
        false => {
            public.push(Attribute::ParameterSet(
                MlDsaParameterSetType::ML_DSA_65.into(),
            ));
            Mechanism::MlDsaKeyPairGen
        }
    };
    let (public, private) = session
        .generate_key_pair(&mechanism, &public, &private)
        .unwrap();
    let value = read(&session, private, AttributeType::Value);
    println!();
    match is_ec {
        true => {
            // The DER of an octet string.
            let point = read(&session, public, AttributeType::EcPoint);
            println!("public {}", hex(&point[2..], 0));
            println!("secret {}", hex(&value, CHANGE));
        }
        false => {
            println!(
                "public {}",
                hex(&read(&session, public, AttributeType::Value), 0)
            );
            // K, and the beginning of s1 (FIPS 204, algorithm 24).
            assert_eq!(value.len(), 4032);
            println!("secret {}", hex(&value[32..64], CHANGE));
            println!("secret {}", hex(&value[128..160], CHANGE));
        }
    }
}

fn read(session: &Session, key: ObjectHandle, kind: AttributeType) -> Vec<u8> {
    match session.get_attributes(key, &[kind]).unwrap().pop() {
        Some(Attribute::Value(value) | Attribute::EcPoint(value)) => value,
        other => panic!("{other:?}"),
    }
}

/// A server that has served, with its key in the token of a variable, and where it has the secrets of its key.
fn found_after_serving(variable: &str, algorithm: &str) -> Option<Vec<(u64, String)>> {
    let (options, openssl) = set_up(variable)?;
    let token = Arc::new(MadeElsewhere {
        token: Pkcs11Token::open(options).unwrap(),
        secrets: Mutex::default(),
    });
    let server = InToken::new(openssl, token.clone(), algorithm);
    let mut found = Vec::new();
    for _ in 0..4 {
        server.served();
        for secret in &*token.secrets.lock().unwrap() {
            found.extend(secret.places_in_this_process());
        }
    }
    for secret in &*token.secrets.lock().unwrap() {
        let shown = secret.shown();
        assert!(secret.is_in_this_process(), "the search finds nothing");
        black_box(shown);
    }
    server.shut_down();
    Some(found)
}

/// The module is code in the process, and leaves the private key on the heap of each thread that signed: kryoptic 1.5 the
/// expanded one. Nothing of it is on a stack, or where else a process can write.
#[test]
#[ignore = "it searches the memory of all tests, so tests/token/run runs it alone"]
fn a_server_with_a_key_in_kryoptic() {
    // Where the C library has the heap of a thread.
    const HEAP: u64 = 64 << 20;
    let Some(found) = found_after_serving("PQ_KEYSTORE_KRYOPTIC", "ML-DSA-65") else {
        return;
    };
    println!("found in {} places", found.len());
    for (at, line) in &found {
        let start = line.split('-').next().unwrap();
        let start = u64::from_str_radix(start, 16).unwrap();
        let is_heap = line.ends_with("[heap]") || start.is_multiple_of(HEAP);
        assert!(is_heap, "{at:x} in {line}");
    }
}

/// p11-kit has the module in a process of its own. It passes on the mechanisms that it knows, and ML-DSA is none of them.
#[test]
#[ignore = "it searches the memory of all tests, so tests/token/run runs it alone"]
fn a_server_with_a_key_behind_p11_kit() {
    if let Some(found) = found_after_serving("PQ_KEYSTORE_P11_KIT", "ECDSA-P256") {
        assert_eq!(found, []);
    }
}

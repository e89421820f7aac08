//! Files and keys of HPKE: changed input is refused, or is what its maker encrypted.
#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use fuzz::Bytes;
use libfuzzer_sys::fuzz_target;
use pq_hpke::{
    Aead, DecryptionError, Decryptor, Encryptor, Kdf, Receiver, RecipientKey, RecipientPublicKey,
    Sender, Suite, XWingPrivateKey, XWingPublicKey,
};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm};

fuzz_target!(|input: Input<'_>| match input {
    Input::OfMlKem(bytes) => check(&VALID.ml_kem, &bytes.of(&VALID.of_ml_kem)),
    Input::OfXWing(bytes) => check(&VALID.x_wing, &bytes.of(&VALID.of_x_wing)),
    Input::PrivateKey(bytes) => {
        let der = bytes.of(&VALID.private_key);
        if let Ok(key) = XWingPrivateKey::from_pkcs8_der(&der) {
            let read = XWingPrivateKey::from_pkcs8_der(&key.to_pkcs8_der()).unwrap();
            assert_eq!(read.as_bytes(), key.as_bytes());
        }
    }
    Input::PublicKey(bytes) => {
        let der = bytes.of(&VALID.public_key);
        if let Ok(key) = XWingPublicKey::from_spki_der(&der) {
            assert_eq!(key.to_spki_der(), der);
        }
    }
    Input::Context(context) => context.check(),
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    OfMlKem(Bytes<'a>),
    OfXWing(Bytes<'a>),
    PrivateKey(Bytes<'a>),
    PublicKey(Bytes<'a>),
    Context(Context<'a>),
}

/// Messages between two sides, one of which is changed on the way.
#[derive(Arbitrary, Debug)]
struct Context<'a> {
    kdf: u8,
    aead: u8,
    info: &'a [u8],
    aad: &'a [u8],
    messages: Vec<&'a [u8]>,
    encapsulated: Bytes<'a>,
    changed: u8,
    sealed: Bytes<'a>,
    exported: u16,
}

impl Context<'_> {
    fn check(&self) {
        let kdfs = [Kdf::HkdfSha256, Kdf::HkdfSha512, Kdf::Shake256];
        let aeads = [Aead::Aes128Gcm, Aead::Aes256Gcm, Aead::ChaCha20Poly1305];
        let suite = Suite {
            kdf: kdfs[usize::from(self.kdf) % kdfs.len()],
            aead: aeads[usize::from(self.aead) % aeads.len()],
        };
        let key = &VALID.key;
        let (sent, mut sender) = Sender::new(&VALID.recipient, suite, self.info).unwrap();
        let mut receiver = Receiver::new(key, suite, &sent, self.info).unwrap();
        let encapsulated = self.encapsulated.of(&sent);
        let mut other = match encapsulated == sent {
            true => None,
            false => Receiver::new(key, suite, &encapsulated, self.info).ok(),
        };
        for (index, message) in self.messages.iter().enumerate() {
            let sealed = sender.seal(self.aad, message).unwrap();
            if let Some(other) = &mut other {
                assert!(other.open(self.aad, &sealed).is_err());
            }
            if index == usize::from(self.changed) {
                let changed = self.sealed.of(&sealed);
                if changed != sealed {
                    assert!(receiver.open(self.aad, &changed).is_err());
                }
            }
            let opened = receiver.open(self.aad, &sealed);
            assert_eq!(opened.unwrap().as_slice(), *message);
        }
        let mut exported = [vec![0; self.exported.into()], vec![0; self.exported.into()]];
        let [ours, theirs] = &mut exported;
        let results = [
            sender.export(self.aad, ours),
            receiver.export(self.aad, theirs),
        ];
        assert_eq!(results[0].is_ok(), results[1].is_ok());
        assert_eq!(ours, theirs);
    }
}

/// Longer than a chunk.
static CONTENT: [u8; 65_600] = [7; 65_600];

/// A file for a key of each kind, and the keys.
struct Valid {
    key: RecipientKey,
    recipient: RecipientPublicKey,
    ml_kem: Decryptor,
    x_wing: Decryptor,
    of_ml_kem: Vec<u8>,
    of_x_wing: Vec<u8>,
    private_key: Vec<u8>,
    public_key: Vec<u8>,
}

static VALID: LazyLock<Valid> = LazyLock::new(|| {
    let encrypt = |recipient: RecipientPublicKey, content: &[u8]| {
        let mut file = Vec::new();
        let encryptor = Encryptor::new(recipient).info(b"info");
        encryptor.encrypt(content, &mut file).unwrap();
        file
    };
    let ml_kem = DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[1; 64]).unwrap();
    let x_wing = XWingPrivateKey::from_bytes(&[2; 32]).unwrap();
    let public = ml_kem.encapsulation_key().clone();
    Valid {
        key: RecipientKey::try_from(ml_kem.clone()).unwrap(),
        recipient: public.clone().try_into().unwrap(),
        of_ml_kem: encrypt(public.try_into().unwrap(), &CONTENT),
        of_x_wing: encrypt(x_wing.public_key().clone().into(), &CONTENT[..100]),
        private_key: x_wing.to_pkcs8_der().to_vec(),
        public_key: x_wing.public_key().to_spki_der().to_vec(),
        ml_kem: Decryptor::new(RecipientKey::try_from(ml_kem).unwrap()).info(b"info"),
        x_wing: Decryptor::new(x_wing).info(b"info"),
    }
});

/// Checks that the output is a beginning of the plaintext, and all of it if there is no error. Whoever knows the
/// public key can encrypt something else, but no fuzzer finds out how.
fn check(decryptor: &Decryptor, file: &[u8]) {
    let mut content = Vec::new();
    match decryptor.decrypt(file, &mut content) {
        Ok(_) => assert!(file == VALID.of_ml_kem || file == VALID.of_x_wing),
        Err(DecryptionError::Altered { written }) => assert_eq!(written, content.len() as u64),
        Err(_) => assert!(content.is_empty()),
    }
    assert!(CONTENT.starts_with(&content));
}

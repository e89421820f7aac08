//! The operations of pq-cms, pq-hpke and pq-ssh.

use aes::Aes256;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes_kw::AesKw;
use base64ct::{Base64, Encoding};
use bcrypt_pbkdf::bcrypt_pbkdf_with_memory;
use pq_cms::{EnvelopeBuilder, Opener, Recipient, RecipientKey};
use pq_hpke::{Decryptor, Encryptor, RecipientPublicKey, XWingPrivateKey};
use pq_ssh::{HashAlgorithm, HashedMessage, Passphrase, PrivateKey};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm};
use sha2::Sha256;

use crate::derived::{Hkdf, shake256};
use crate::operation::{Operation, fresh};
use crate::sought::Sought;

pub(crate) fn operations() -> Vec<Operation> {
    let groups = [messages(), files(), x_wing_keys(), ssh_keys()];
    groups.into_iter().flatten().collect()
}

/// Short content, and content that is long enough to be encrypted in pieces.
const LENGTHS: [usize; 2] = [100, 200_000];

/// AuthEnvelopedData, for a key of ML-KEM and for a key that both sides share.
fn messages() -> Vec<Operation> {
    let mut operations = Vec::new();
    for len in LENGTHS {
        operations.push(Operation::new(
            format!("pq-cms encrypt {len} to ML-KEM-768"),
            ml_kem,
            move |key| enveloped(to_ml_kem(key), len),
            |key, message| of_ml_kem_recipient(key, message),
        ));
        operations.push(Operation::new(
            format!("pq-cms open {len} by ML-KEM-768"),
            move || {
                let key = ml_kem();
                let message = enveloped(to_ml_kem(&key), len);
                (key, message)
            },
            |(key, message)| opened(RecipientKey::new(key), message),
            |(key, message), _| of_ml_kem_recipient(key, message),
        ));
        operations.push(Operation::new(
            format!("pq-cms encrypt {len} by a shared key"),
            fresh::<32>,
            move |key| enveloped(by_shared_key(key), len),
            |key, message| of_shared_key(key, message),
        ));
        operations.push(Operation::new(
            format!("pq-cms open {len} by a shared key"),
            move || {
                let key = fresh::<32>();
                let message = enveloped(by_shared_key(&key), len);
                (key, message)
            },
            |(key, message)| opened(RecipientKey::shared_key(b"id", &**key), message),
            |(key, message), _| of_shared_key(key, message),
        ));
    }
    operations
}

fn ml_kem() -> DecapsulationKey {
    DecapsulationKey::from_seed(KemAlgorithm::MlKem768, &*fresh::<64>()).expect("64 bytes")
}

fn to_ml_kem(key: &DecapsulationKey) -> Recipient {
    Recipient::key(key.encapsulation_key().clone(), b"id")
}

fn by_shared_key(key: &[u8; 32]) -> Recipient {
    Recipient::shared_key(b"id", key).expect("32 bytes")
}

fn enveloped(recipient: Recipient, len: usize) -> Vec<u8> {
    let mut message = Vec::new();
    let envelope = EnvelopeBuilder::new().recipient(recipient);
    let content = vec![b'.'; len];
    let encrypted = envelope.encrypt(&content[..], &mut message);
    encrypted.expect("it is written to memory");
    message
}

fn opened(key: RecipientKey<'_>, message: &[u8]) -> usize {
    let opened = Opener::new(key).open(message, 1 << 20);
    opened.expect("it was just made").0.len()
}

/// HKDF with an empty salt and CMSORIforKEMOtherInfo (RFC 9629, section 5).
fn of_ml_kem_recipient(key: &DecapsulationKey, message: &[u8]) -> Sought {
    let (_, ciphertext) = octets(message, &[0x82, 0x04, 0x40], 1088)
        .next()
        .expect("a ciphertext");
    let mut secret = [0; 32];
    key.decapsulate_into(ciphertext, &mut secret)
        .expect("of its length");
    let extracted = Sha256::hmac(&[0; 32], &[&secret]);
    let info = b"\x30\x10\x30\x0b\x06\x09\x60\x86\x48\x01\x65\x03\x04\x01\x2d\x02\x01\x20";
    let key = Sha256::hmac(&extracted, &[info, &[1]]);
    Sought::default()
        .secret("the secret of the KEM", &secret)
        .secret("the extracted key", &extracted)
        .and(of_key_encryption_key(&key, message))
}

fn of_shared_key(key: &[u8; 32], message: &[u8]) -> Sought {
    of_key_encryption_key(key, message)
}

/// The key that encrypts keys, the key of the content, and the key of GHASH.
fn of_key_encryption_key(key: &[u8], message: &[u8]) -> Sought {
    let wrap = AesKw::<Aes256>::new_from_slice(key).expect("32 bytes");
    let unwrapped = octets(message, &[0x28], 40).find_map(|(_, wrapped)| {
        let mut key = [0; 32];
        wrap.unwrap_key(wrapped, &mut key).ok()?;
        Some(key)
    });
    let content_key = unwrapped.expect("a wrapped key");
    Sought::default()
        .secret("the key that encrypts keys", key)
        .secret("the content's key", &content_key)
        .and(of_aes_gcm(&content_key))
}

fn of_aes_gcm(key: &[u8; 32]) -> Sought {
    let mut h = aes::Block::default();
    Aes256::new(key.into()).encrypt_block(&mut h);
    Sought::default().secret("the key of GHASH", &h)
}

/// All possible OCTET STRINGs of this length: where the contents begin, and the contents.
fn octets<'m>(
    message: &'m [u8],
    length: &[u8],
    len: usize,
) -> impl Iterator<Item = (usize, &'m [u8])> {
    let header = [&[4], length].concat();
    let starts = 0..message.len().saturating_sub(header.len() + len);
    starts.filter_map(move |start| {
        let contents = message[start..].strip_prefix(&header[..])?;
        Some((start, &contents[..len]))
    })
}

/// Files encrypted to keys of ML-KEM and of X-Wing.
fn files() -> Vec<Operation> {
    let mut operations = Vec::new();
    for len in LENGTHS {
        operations.push(Operation::new(
            format!("pq-hpke encrypt {len} to ML-KEM-768"),
            ml_kem,
            move |key| encrypted(of_ml_kem(key), len),
            |key, file| of_ml_kem_file(key, file),
        ));
        operations.push(Operation::new(
            format!("pq-hpke decrypt {len} by ML-KEM-768"),
            move || {
                let key = ml_kem();
                let file = encrypted(of_ml_kem(&key), len);
                (key, file)
            },
            |(key, file)| {
                let key = pq_hpke::RecipientKey::try_from(key.clone()).expect("it has a number");
                decrypted(key, file)
            },
            |(key, file), _| of_ml_kem_file(key, file),
        ));
        operations.push(Operation::new(
            format!("pq-hpke encrypt {len} to X-Wing"),
            x_wing,
            move |key| encrypted(key.public_key().clone().into(), len),
            |key, file| of_x_wing_file(key, file),
        ));
        operations.push(Operation::new(
            format!("pq-hpke decrypt {len} by X-Wing"),
            move || {
                let key = x_wing();
                let file = encrypted(key.public_key().clone().into(), len);
                (key, file)
            },
            |(key, file)| decrypted(key.clone().into(), file),
            |(key, file), _| of_x_wing_key(key.as_bytes()).and(of_x_wing_file(key, file)),
        ));
    }
    operations
}

fn of_ml_kem(key: &DecapsulationKey) -> RecipientPublicKey {
    let key = key.encapsulation_key().clone();
    key.try_into().expect("it has a number")
}

fn x_wing() -> XWingPrivateKey {
    XWingPrivateKey::from_bytes(&*fresh::<32>()).expect("32 bytes")
}

fn encrypted(recipient: RecipientPublicKey, len: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let content = vec![b'.'; len];
    let encrypted = Encryptor::new(recipient).encrypt(&content[..], &mut file);
    encrypted.expect("it is written to memory");
    file
}

fn decrypted(key: pq_hpke::RecipientKey, file: &[u8]) -> usize {
    let mut content = Vec::new();
    let decrypted = Decryptor::new(key).decrypt(file, &mut content);
    decrypted.expect("it was just made");
    content.len()
}

/// The length of the part before the encapsulated secret.
const HEADER: usize = 14;

fn of_ml_kem_file(key: &DecapsulationKey, file: &[u8]) -> Sought {
    let mut secret = [0; 32];
    let enc = &file[HEADER..][..1088];
    key.decapsulate_into(enc, &mut secret)
        .expect("of its length");
    of_schedule(&file[..HEADER], &secret)
}

fn of_x_wing_file(key: &XWingPrivateKey, file: &[u8]) -> Sought {
    let mut secret = [0; 32];
    let enc = &file[HEADER..][..1120];
    key.decapsulate_into(enc, &mut secret)
        .expect("of its length");
    of_schedule(&file[..HEADER], &secret)
}

/// KeySchedule with HKDF of SHA-256 (RFC 9180, section 5.1), whose info is the file's header.
fn of_schedule(header: &[u8], secret: &[u8; 32]) -> Sought {
    const VERSION: &[u8] = b"HPKE-v1";
    let id = [b"HPKE", &header[8..]].concat();
    let extract =
        |salt: &[u8], label: &[u8], ikm: &[u8]| Sha256::hmac(salt, &[VERSION, &id, label, ikm]);
    let context = [
        vec![0],
        extract(&[], b"psk_id_hash", &[]),
        extract(&[], b"info_hash", header),
    ];
    let context = context.concat();
    let extracted = extract(secret, b"secret", &[]);
    let expand =
        |label: &[u8]| Sha256::hmac(&extracted, &[&[0, 32], VERSION, &id, label, &context, &[1]]);
    let key = expand(b"key");
    Sought::default()
        .secret("the secret of the KEM", secret)
        .secret("the extracted key", &extracted)
        .secret("the key of the cipher", &key)
        .secret("the exporter's secret", &expand(b"exp"))
        .and(of_aes_gcm(key[..].try_into().expect("32 bytes")))
}

fn x_wing_keys() -> Vec<Operation> {
    vec![
        Operation::new(
            "pq-hpke XWingPrivateKey::generate",
            || (),
            |()| XWingPrivateKey::generate().expect("randomness"),
            |(), key| of_x_wing_key(key.as_bytes()),
        ),
        Operation::new(
            "pq-hpke XWingPrivateKey::from_bytes",
            fresh::<32>,
            |bytes| XWingPrivateKey::from_bytes(&**bytes).expect("32 bytes"),
            |bytes, _| of_x_wing_key(bytes),
        ),
        Operation::new(
            "pq-hpke XWingPrivateKey::from_pkcs8_der",
            || x_wing().to_pkcs8_der(),
            |der| XWingPrivateKey::from_pkcs8_der(der).expect("it was just written"),
            |_, key| of_x_wing_key(key.as_bytes()),
        ),
        Operation::new(
            "pq-hpke XWingPrivateKey::to_pkcs8_pem",
            x_wing,
            XWingPrivateKey::to_pkcs8_pem,
            |key, text| of_x_wing_key(key.as_bytes()).secret("the text", text.as_bytes()),
        ),
    ]
}

/// A private key, and its expansion (draft-connolly-cfrg-xwing-kem, section 5.2).
fn of_x_wing_key(bytes: &[u8; 32]) -> Sought {
    Sought::default()
        .secret("the private key", bytes)
        .secret("the expanded private key", &shake256(&[bytes], 96))
}

/// Keys of SSH, in files with and without a passphrase.
fn ssh_keys() -> Vec<Operation> {
    vec![
        Operation::new(
            "pq-ssh PrivateKey::generate",
            || (),
            |()| Box::new(ssh()),
            |(), key| of_ssh(key),
        ),
        Operation::new(
            "pq-ssh from_openssh, plain",
            || ssh().to_openssh(None).expect("randomness"),
            |text| Box::new(PrivateKey::from_openssh(text, None).expect("it was just written")),
            |_, key| of_ssh(key),
        ),
        Operation::new(
            "pq-ssh from_openssh, encrypted",
            || {
                let passphrase = fresh::<32>();
                let text = ssh().to_openssh(Some(&once(&*passphrase)));
                (text.expect("randomness"), passphrase)
            },
            |(text, passphrase)| {
                let key = PrivateKey::from_openssh(text, Some(&once(&**passphrase)));
                Box::new(key.expect("it was just written"))
            },
            |(text, passphrase), key| of_ssh(key).and(of_passphrase(text, &**passphrase)),
        ),
        Operation::new(
            "pq-ssh to_openssh, encrypted",
            || (Box::new(ssh()), fresh::<32>()),
            |(key, passphrase)| {
                key.to_openssh(Some(&once(&**passphrase)))
                    .expect("randomness")
            },
            |(key, passphrase), text| of_ssh(key).and(of_passphrase(text, &**passphrase)),
        ),
        Operation::new(
            "pq-ssh sign",
            || Box::new(ssh()),
            |key| {
                let message = HashedMessage::read(HashAlgorithm::Sha512, &b"message"[..])
                    .expect("it is in memory");
                key.sign("file", &message).expect("randomness").to_bytes()
            },
            |key, _| of_ssh(key),
        ),
    ]
}

fn ssh() -> PrivateKey {
    PrivateKey::generate().expect("randomness")
}

/// One round of the KDF leaves as much as many rounds.
fn once(passphrase: &[u8]) -> Passphrase<'_> {
    Passphrase::new(passphrase).rounds(1)
}

fn of_ssh(key: &PrivateKey) -> Sought {
    Sought::default().secret("the private key", &key.key().to_bytes())
}

/// A passphrase, and the key and IV that bcrypt makes from it and the file's salt.
fn of_passphrase(text: &str, passphrase: &[u8]) -> Sought {
    let lines: String = text
        .lines()
        .filter(|line| !line.starts_with("--"))
        .collect();
    let file = Base64::decode_vec(&lines).expect("base64");
    // after "openssh-key-v1", the cipher, the KDF, and two lengths
    let salt = &file[15 + 14 + 10 + 8..][..16];
    let (mut derived, mut memory) = ([0; 48], [0; 64]);
    bcrypt_pbkdf_with_memory(passphrase, salt, 1, &mut derived, &mut memory)
        .expect("neither is empty");
    Sought::default()
        .secret("the passphrase", passphrase)
        .secret("the key from the passphrase", &derived)
}

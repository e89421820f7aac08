//! Private keys under passphrases.

use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit};
use der::asn1::{AnyRef, OctetStringRef, Uint};
use der::{Decode, Encode, Sequence};
use pbkdf2::pbkdf2_hmac;
use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::pkcs5::pbes2::{
    EncryptionScheme, Kdf, Parameters, Pbkdf2Params, Pbkdf2Prf, ScryptParams,
};
use pq_keys::encoding::pem;
use pq_keys::protection::{
    Cipher, CostLimits, EncryptedPrivateKey, KeyDerivation, Prf, Protection, ProtectionError,
};
use pq_keys::{
    DecapsulationKey, KemAlgorithm, KeyError, PrivateKey, PrivateKeyForm, SignatureAlgorithm,
    SigningKey, SubjectKey,
};
use sha1::Sha1;
use sha2::{Digest, Sha512};
use spki::{AlgorithmIdentifierRef, ObjectIdentifier};
use testing::at_once::refused_at_once;

pub(crate) const PASSPHRASE: &[u8] = "pässword \u{1f511}".as_bytes();

const CHEAP: KeyDerivation = KeyDerivation::Pbkdf2 {
    prf: Prf::HmacSha256,
    iterations: 2,
};

pub(crate) const CIPHERS: [Cipher; 5] = [
    Cipher::Aes128Cbc,
    Cipher::Aes192Cbc,
    Cipher::Aes256Cbc,
    Cipher::Aes128Gcm,
    Cipher::Aes256Gcm,
];

pub(crate) fn cheap(cipher: Cipher) -> Protection {
    let protection = Protection::default().with_cipher(cipher);
    protection.with_key_derivation(CHEAP)
}

fn derivations() -> Vec<KeyDerivation> {
    let scrypt = |log_n, r, p| KeyDerivation::Scrypt { log_n, r, p };
    let pbkdf2 = |prf| KeyDerivation::Pbkdf2 { prf, iterations: 3 };
    vec![
        pbkdf2(Prf::HmacSha256),
        pbkdf2(Prf::HmacSha384),
        pbkdf2(Prf::HmacSha512),
        scrypt(1, 1, 1),
        scrypt(4, 8, 3),
    ]
}

fn ml_dsa() -> SigningKey {
    SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[7; 32]).unwrap()
}

fn ml_kem() -> DecapsulationKey {
    DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[7; 64]).unwrap()
}

fn slh_dsa(algorithm: SignatureAlgorithm) -> SigningKey {
    SigningKey::from_seed(algorithm, &vec![7; algorithm.seed_len()]).unwrap()
}

#[test]
fn what_is_encrypted_is_had_back() {
    let key = ml_dsa();
    for (derivation, cipher) in derivations()
        .into_iter()
        .flat_map(|derivation| CIPHERS.map(|cipher| (derivation, cipher)))
    {
        let protection = Protection::default()
            .with_key_derivation(derivation)
            .with_cipher(cipher);
        let pem = key.to_encrypted_pkcs8_pem(PASSPHRASE, &protection).unwrap();
        let read = SigningKey::from_encrypted_pkcs8_pem(&pem, PASSPHRASE).unwrap();
        assert_eq!(read.seed(), key.seed());
        let encrypted = EncryptedPrivateKey::from_pem(&pem).unwrap();
        assert_eq!(encrypted.protection(), protection);
        assert_eq!(encrypted.to_pem(), pem);
        let pkcs8 = encrypted.decrypt(PASSPHRASE).unwrap();
        assert_eq!(pkcs8, key.to_pkcs8_der_as(PrivateKeyForm::Seed).unwrap());
        for wrong in [&b""[..], b"password", &PASSPHRASE[1..]] {
            let refused = encrypted.decrypt_key(wrong).unwrap_err();
            assert_eq!(refused, ProtectionError::WrongPassphraseOrChanged);
        }
    }
}

#[test]
fn keys_of_all_kinds() {
    let protection = Protection::default().with_key_derivation(CHEAP);
    let kem = ml_kem().to_encrypted_pkcs8_der(PASSPHRASE, &protection);
    let kem = kem.unwrap();
    let read = DecapsulationKey::from_encrypted_pkcs8_der(&kem, PASSPHRASE).unwrap();
    assert_eq!(read.seed(), ml_kem().seed());
    let refused = SigningKey::from_encrypted_pkcs8_der(&kem, PASSPHRASE).unwrap_err();
    assert!(matches!(
        refused,
        ProtectionError::Key(KeyError::NotASignatureKey(KemAlgorithm::MlKem512))
    ));

    let slh_dsa = slh_dsa(SignatureAlgorithm::SlhDsaSha2_128f);
    let der = slh_dsa.to_encrypted_pkcs8_der(PASSPHRASE, &protection);
    let read = PrivateKey::from_encrypted_pkcs8_der(&der.unwrap(), PASSPHRASE).unwrap();
    assert_eq!(read.spki(), slh_dsa.spki());

    // keys of other algorithms
    let classical = p256_pkcs8();
    let encrypted = EncryptedPrivateKey::encrypt(&classical, PASSPHRASE, &protection).unwrap();
    let pkcs8 = encrypted.decrypt(PASSPHRASE).unwrap();
    assert_eq!(*pkcs8, classical);
    assert!(matches!(
        encrypted.key_of(&pkcs8).unwrap_err(),
        ProtectionError::Key(KeyError::UnsupportedAlgorithm(_))
    ));
}

fn p256_pkcs8() -> Vec<u8> {
    use pkcs8::EncodePrivateKey;

    let key = p256::SecretKey::from_slice(&[7; 32]).unwrap();
    key.to_pkcs8_der().unwrap().as_bytes().to_vec()
}

/// Against RustCrypto's implementation, both ways.
#[test]
fn agrees_with_pkcs5() {
    let pkcs8 = ml_dsa().to_pkcs8_der().unwrap();
    for (derivation, cipher) in derivations()
        .into_iter()
        .flat_map(|derivation| CIPHERS.map(|cipher| (derivation, cipher)))
    {
        let protection = Protection::default()
            .with_key_derivation(derivation)
            .with_cipher(cipher);
        let ours = EncryptedPrivateKey::encrypt(&pkcs8, PASSPHRASE, &protection).unwrap();
        let theirs = EncryptedPrivateKeyInfoRef::from_der(ours.as_der()).unwrap();
        let read = theirs.decrypt(PASSPHRASE).unwrap();
        let (read, written) = [read.as_bytes(), &pkcs8]
            .map(|der| pkcs8::PrivateKeyInfoRef::from_der(der).unwrap())
            .into();
        assert_eq!(read.private_key, written.private_key);
        assert_eq!(read.algorithm, written.algorithm);

        let theirs = pkcs8::PrivateKeyInfoRef::from_der(&pkcs8).unwrap();
        let theirs = theirs
            .encrypt_with_params(parameters(derivation, cipher), PASSPHRASE)
            .unwrap();
        let ours = EncryptedPrivateKey::from_der(theirs.as_bytes()).unwrap();
        assert_eq!(ours.protection(), protection);
        assert_eq!(ours.decrypt(PASSPHRASE).unwrap(), pkcs8);
    }
}

fn parameters(derivation: KeyDerivation, cipher: Cipher) -> Parameters {
    const SALT: &[u8] = &[5; 11];
    const IV: [u8; 16] = [9; 16];
    const NONCE: [u8; 12] = [9; 12];
    let kdf = match derivation {
        KeyDerivation::Pbkdf2 { prf, iterations } => Kdf::Pbkdf2(Pbkdf2Params {
            prf: match prf {
                Prf::HmacSha384 => Pbkdf2Prf::HmacWithSha384,
                Prf::HmacSha512 => Pbkdf2Prf::HmacWithSha512,
                _ => Pbkdf2Prf::HmacWithSha256,
            },
            ..Pbkdf2Params::hmac_sha256(iterations, SALT).unwrap()
        }),
        KeyDerivation::Scrypt { log_n, r, p } => Kdf::Scrypt(ScryptParams {
            salt: SALT.try_into().unwrap(),
            cost_parameter: 1 << log_n,
            block_size: r as u16,
            parallelization: p as u16,
            key_length: None,
        }),
        _ => unreachable!("there is no other"),
    };
    let encryption = match cipher {
        Cipher::Aes128Cbc => EncryptionScheme::Aes128Cbc { iv: IV },
        Cipher::Aes192Cbc => EncryptionScheme::Aes192Cbc { iv: IV },
        Cipher::Aes256Cbc => EncryptionScheme::Aes256Cbc { iv: IV },
        Cipher::Aes128Gcm => EncryptionScheme::Aes128Gcm { nonce: NONCE },
        _ => EncryptionScheme::Aes256Gcm { nonce: NONCE },
    };
    Parameters { kdf, encryption }
}

/// Each byte of the output, changed in two ways.
pub(crate) fn changes(der: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..der.len()).flat_map(move |at| {
        [0x01, 0xff].map(|change| {
            let mut changed = der.to_vec();
            changed[at] ^= change;
            (at, changed)
        })
    })
}

#[test]
fn every_change_is_refused() {
    // A changed iteration count must cost little.
    let limits = CostLimits::default().with_iterations(1000);
    let refuses = |changed: &[u8]| {
        let encrypted = EncryptedPrivateKey::from_der(changed)?;
        encrypted.key_of(&encrypted.decrypt_within(PASSPHRASE, &limits)?)
    };
    let keys = [
        PrivateKey::Signing(ml_dsa()),
        PrivateKey::Decapsulation(ml_kem()),
        PrivateKey::Signing(slh_dsa(SignatureAlgorithm::SlhDsaSha2_128f)),
    ];
    for (key, cipher) in keys
        .iter()
        .flat_map(|key| [Cipher::Aes256Cbc, Cipher::Aes256Gcm].map(|cipher| (key, cipher)))
    {
        let der = key.to_encrypted_pkcs8_der(PASSPHRASE, &cheap(cipher));
        let der = der.unwrap();
        assert!(refuses(&der).is_ok());
        for (at, changed) in changes(&der) {
            assert!(refuses(&changed).is_err(), "{key:?} {cipher:?} {at}");
        }
        for len in 0..der.len() {
            assert!(EncryptedPrivateKey::from_der(&der[..len]).is_err());
        }
        let longer = [&der[..], &[0]].concat();
        assert!(EncryptedPrivateKey::from_der(&longer).is_err());
    }
}

/// As another program writes it under AES-CBC, without a digest.
pub(crate) fn by_others(pkcs8: &[u8]) -> Vec<u8> {
    let theirs = pkcs8::PrivateKeyInfoRef::from_der(pkcs8).unwrap();
    let theirs = theirs.encrypt_with_params(parameters(CHEAP, Cipher::Aes256Cbc), PASSPHRASE);
    theirs.unwrap().as_bytes().to_vec()
}

/// Shows that what the documentation says about AES-CBC and a seed alone of others stays true.
#[test]
fn a_seed_alone_of_others_vouches_for_nothing() {
    let mut der = by_others(&ml_dsa().to_pkcs8_der().unwrap());
    // The block before the last: a changed first byte changes the end of the seed, and the padding after
    // that stays the same.
    let at = der.len() - 32;
    der[at] ^= 1;
    let other = SigningKey::from_encrypted_pkcs8_der(&der, PASSPHRASE).unwrap();
    assert_ne!(other.verifying_key(), ml_dsa().verifying_key());
}

/// The bytes of the PKCS#8 in a file under AES-256-CBC.
fn plaintext(file: &EncryptedPrivateKey) -> Vec<u8> {
    let theirs = EncryptedPrivateKeyInfoRef::from_der(file.as_der()).unwrap();
    theirs.decrypt(PASSPHRASE).unwrap().as_bytes().to_vec()
}

/// Encrypts any bytes as PBES2 does under AES-256-CBC.
fn encrypted_as_they_are(plaintext: &[u8]) -> EncryptedPrivateKey {
    let parameters = parameters(CHEAP, Cipher::Aes256Cbc);
    let encrypted = parameters.encrypt(PASSPHRASE, plaintext).unwrap();
    let algorithm = identifier(PBES2, None);
    let parameters = parameters.to_der().unwrap();
    let info = Info {
        algorithm: AlgorithmIdentifierRef {
            parameters: Some(AnyRef::from_der(&parameters).unwrap()),
            ..algorithm
        },
        encrypted: OctetStringRef::new(&encrypted).unwrap(),
    };
    EncryptedPrivateKey::from_der(&info.to_der().unwrap()).unwrap()
}

/// A PKCS#8 with these attributes behind its private key; its fields are below 128 bytes.
fn with_attributes(pkcs8: &[u8], attributes: &[&[u8]]) -> Vec<u8> {
    let attributes = attributes.concat();
    let fields = &pkcs8[2..];
    let header = [&[0xa0, 0x81, attributes.len() as u8][..], &attributes].concat();
    let len = (fields.len() + header.len()) as u8;
    [&[0x30, 0x81, len][..], fields, &header].concat()
}

/// messageDigest with the SHA-512 of some bytes.
fn digest_attribute(of: &[u8]) -> Vec<u8> {
    let head = hex::decode("304f06092a864886f70d01090431420440").unwrap();
    [&head[..], &Sha512::digest(of)].concat()
}

/// A friendlyName that is long enough for the attributes to have a length of two bytes.
const NAME: &[u8] = b"\x30\x51\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x14\x31\x44\x1e\x42\
    \0a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k";

/// What the documentation says, byte by byte.
#[test]
fn a_digest_stands_beside_a_key_under_cbc() {
    let pkcs8 = ml_dsa().to_pkcs8_der().unwrap();
    let file = EncryptedPrivateKey::encrypt(&pkcs8, PASSPHRASE, &cheap(Cipher::Aes256Cbc));
    let plaintext = plaintext(&file.unwrap());
    let attribute = digest_attribute(&pkcs8);
    let expected = [&[0x30, 0x81, 135][..], &pkcs8[2..], &[0xa0, 81], &attribute].concat();
    assert_eq!(hex::encode(&plaintext), hex::encode(&expected));

    // Attributes of its own stay, in DER's order: the digest stands before the name, another one before both or between.
    let other = digest_attribute(b"something else");
    for attributes in [
        vec![&other[..], NAME],
        vec![&attribute, NAME],
        vec![NAME, NAME],
    ] {
        let named = with_attributes(&pkcs8, &attributes);
        let file = EncryptedPrivateKey::encrypt(&named, PASSPHRASE, &cheap(Cipher::Aes256Cbc));
        let file = file.unwrap();
        assert_eq!(*file.decrypt(PASSPHRASE).unwrap(), named);
        file.decrypt_key(PASSPHRASE).unwrap();
    }
}

/// A stranger who has the file, and knows its first block, makes another key of it: of blocks whose plaintext is to be known
/// only the initialization vector or the block before is chosen, and every other block is noise.
#[test]
fn a_digest_cannot_be_cut_off() {
    const HEAD: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let pkcs8 = [&HEAD[..], &[7; 32]].concat();
    let xor = |a: &[u8], b: &[u8]| -> Vec<u8> { a.iter().zip(b).map(|(a, b)| a ^ b).collect() };
    let file = EncryptedPrivateKey::encrypt(&pkcs8, PASSPHRASE, &cheap(Cipher::Aes256Cbc));
    let file = file.unwrap();
    let plaintext = plaintext(&file);
    let info = Info::from_der(file.as_der()).unwrap();
    let mut algorithm = info.algorithm.to_der().unwrap();
    let iv = algorithm.len() - 16;
    let block = info.encrypted.as_bytes();
    let decrypted = xor(&plaintext[..16], &algorithm[iv..]);
    algorithm[iv..].copy_from_slice(&xor(&decrypted, &HEAD));
    let padding = xor(&decrypted, &[16; 16]);
    let cut = [&block[..32], &padding, &block[..16]].concat();
    let cut = |algorithm: &[u8]| {
        let info = Info {
            algorithm: AlgorithmIdentifierRef::from_der(algorithm).unwrap(),
            encrypted: OctetStringRef::new(&cut).unwrap(),
        };
        let file = EncryptedPrivateKey::from_der(&info.to_der().unwrap()).unwrap();
        file.decrypt(PASSPHRASE)
    };
    let refused = Err(ProtectionError::WrongPassphraseOrChanged);
    assert_eq!(cut(&algorithm), refused);
    // Without what the salt says the passphrase gives another key.
    let marked = algorithm.windows(8).position(|end| end == b"+SHA-512");
    algorithm[marked.unwrap()] ^= 1;
    assert_eq!(cut(&algorithm), refused);
}

#[test]
fn a_wrong_digest_is_refused_and_attributes_of_others_are_read() {
    let pkcs8 = ml_dsa().to_pkcs8_der().unwrap();
    let right = digest_attribute(&pkcs8);
    let wrong = digest_attribute(&pkcs8[1..]);
    for (attributes, is_read) in [
        (vec![&right[..]], true),
        (vec![&wrong], false),
        (vec![NAME, NAME], true),
    ] {
        let mut fields = pkcs8[2..].to_vec();
        let attributes = attributes.concat();
        fields.extend([0xa0, 0x81, attributes.len() as u8]);
        if attributes.len() < 128 {
            fields.remove(fields.len() - 2);
        }
        fields.extend(attributes);
        let plaintext = [&[0x30, 0x81, fields.len() as u8][..], &fields].concat();
        let read = encrypted_as_they_are(&plaintext).decrypt_key(PASSPHRASE);
        match is_read {
            true => assert_eq!(read.unwrap().spki(), ml_dsa().spki()),
            false => assert_eq!(read.unwrap_err(), ProtectionError::WrongPassphraseOrChanged),
        }
    }
}

/// Each form can be written, and is had back.
#[test]
fn each_form_under_each_cipher() {
    let key = PrivateKey::Signing(ml_dsa());
    for (form, cipher) in [
        PrivateKeyForm::Seed,
        PrivateKeyForm::Expanded,
        PrivateKeyForm::Both,
    ]
    .into_iter()
    .flat_map(|form| CIPHERS.map(|cipher| (form, cipher)))
    {
        let pkcs8 = key.to_pkcs8_der_as(form).unwrap();
        let file = EncryptedPrivateKey::encrypt(&pkcs8, PASSPHRASE, &cheap(cipher)).unwrap();
        assert_eq!(file.decrypt(PASSPHRASE).unwrap(), pkcs8);
    }
}

#[derive(Sequence)]
struct Info<'a> {
    algorithm: AlgorithmIdentifierRef<'a>,
    encrypted: &'a OctetStringRef,
}

#[derive(Sequence)]
struct Two<'a> {
    first: AlgorithmIdentifierRef<'a>,
    second: AlgorithmIdentifierRef<'a>,
}

#[derive(Sequence)]
struct Pbkdf2<'a> {
    salt: &'a OctetStringRef,
    iterations: Uint,
    key_len: Option<Uint>,
    prf: Option<AlgorithmIdentifierRef<'a>>,
}

#[derive(Sequence)]
struct Scrypt<'a> {
    salt: &'a OctetStringRef,
    n: Uint,
    r: Uint,
    p: Uint,
    key_len: Option<Uint>,
}

#[derive(Sequence)]
struct GcmParameters<'a> {
    nonce: &'a OctetStringRef,
    tag_len: Option<u8>,
}

const PBES2: &str = "1.2.840.113549.1.5.13";
const PBKDF2: &str = "1.2.840.113549.1.5.12";
const SCRYPT: &str = "1.3.6.1.4.1.11591.4.11";
const AES_256_CBC: &str = "2.16.840.1.101.3.4.1.42";
const AES_256_GCM: &str = "2.16.840.1.101.3.4.1.46";
const HMAC_SHA_256: &str = "1.2.840.113549.2.9";
const IV: &[u8] = &[0; 16];

fn identifier<'a>(oid: &str, parameters: Option<AnyRef<'a>>) -> AlgorithmIdentifierRef<'a> {
    AlgorithmIdentifierRef {
        oid: ObjectIdentifier::new_unwrap(oid),
        parameters,
    }
}

/// An encrypted key with parameters that nobody would write.
fn crafted(kdf: AlgorithmIdentifierRef<'_>, cipher: &str, iv: &[u8]) -> Vec<u8> {
    let iv = AnyRef::from(OctetStringRef::new(iv).unwrap());
    let params = Two {
        first: kdf,
        second: identifier(cipher, Some(iv)),
    };
    let params = params.to_der().unwrap();
    let encrypted = OctetStringRef::new(&[0; 64]).unwrap();
    let algorithm = identifier(PBES2, Some(AnyRef::from_der(&params).unwrap()));
    Info {
        algorithm,
        encrypted,
    }
    .to_der()
    .unwrap()
}

fn uint(bytes: &[u8]) -> Uint {
    Uint::new(bytes).unwrap()
}

fn pbkdf2(iterations: &[u8], key_len: Option<u8>, salt: &[u8], prf: Option<&str>) -> Vec<u8> {
    let params = Pbkdf2 {
        salt: OctetStringRef::new(salt).unwrap(),
        iterations: uint(iterations),
        key_len: key_len.map(|len| uint(&[len])),
        prf: prf.map(|oid| identifier(oid, Some(AnyRef::NULL))),
    };
    let params = params.to_der().unwrap();
    let kdf = identifier(PBKDF2, Some(AnyRef::from_der(&params).unwrap()));
    crafted(kdf, AES_256_CBC, IV)
}

fn scrypt(n: &[u8], r: &[u8], p: &[u8], key_len: Option<u8>) -> Vec<u8> {
    let params = Scrypt {
        salt: OctetStringRef::new(&[0; 16]).unwrap(),
        n: uint(n),
        r: uint(r),
        p: uint(p),
        key_len: key_len.map(|len| uint(&[len])),
    };
    let params = params.to_der().unwrap();
    let kdf = identifier(SCRYPT, Some(AnyRef::from_der(&params).unwrap()));
    crafted(kdf, AES_256_CBC, IV)
}

fn refusal(der: &[u8]) -> ProtectionError {
    refused_at_once(|| PrivateKey::from_encrypted_pkcs8_der(der, PASSPHRASE).unwrap_err())
}

#[test]
fn hostile_costs_are_refused_before_any_work() {
    for (iterations, found) in [
        (&[0x98, 0x96, 0x81][..], 10_000_001),
        (&[0xff; 4], 0xffff_ffff),
        (&[1, 0, 0, 0, 0], 1 << 32),
        (&[0xff; 8], u64::MAX),
        (&[0xff; 200], u64::MAX),
    ] {
        let der = pbkdf2(iterations, None, &[0; 8], Some(HMAC_SHA_256));
        let error = refusal(&der);
        let ProtectionError::TooManyIterations { found: said, .. } = error else {
            panic!("{error:?}");
        };
        assert_eq!(said, found);
        assert!(error.to_string().contains(&found.to_string()));
    }
    for (n, r, p) in [
        (&[0x20, 0, 0][..], &[8][..], &[1][..]),
        (&[2], &[0x3f, 0xff, 0xff, 0xff], &[1]),
        // 256 MiB for the N blocks, and as much for the p blocks
        (&[8], &[4, 0, 0], &[8]),
        (&[2], &[1], &[0x3f, 0xff, 0xff, 0xff]),
        (&[0x80, 0, 0, 0, 0, 0, 0, 0], &[0xff], &[0xff]),
    ] {
        let error = refusal(&scrypt(n, r, p, None));
        assert!(
            matches!(error, ProtectionError::TooMuchMemory { limit, .. } if limit == 257 << 20)
        );
    }
    // 128 and 256 MiB are allowed, but the work is too much
    for (n, p, found) in [(&[2, 0, 0], 17, 17 << 20), (&[4, 0, 0], 9, 18 << 20)] {
        let error = refusal(&scrypt(n, &[8], &[p], None));
        let limit = 16 << 20;
        assert_eq!(error, ProtectionError::TooMuchWork { found, limit });
    }
    // Impossible values of N, r and p; other implementations panic at two of them.
    for (n, r, p) in [
        (&[0][..], &[8][..], &[1][..]),
        (&[1], &[8], &[1]),
        (&[3], &[8], &[1]),
        (&[16], &[0], &[1]),
        (&[16], &[8], &[0]),
        (&[1, 0, 0, 0, 0, 0, 0, 0, 0], &[8], &[1]),
        (&[16], &[0xff; 4], &[0xff; 4]),
        (&[16], &[0xff; 9], &[1]),
    ] {
        let error = refusal(&scrypt(n, r, p, None));
        assert!(matches!(error, ProtectionError::Parameters(_)), "{error:?}");
    }
    // Nothing is written that nobody reads.
    let pkcs8 = ml_dsa().to_pkcs8_der().unwrap();
    for derivation in [
        KeyDerivation::Pbkdf2 {
            prf: Prf::HmacSha256,
            iterations: 0,
        },
        KeyDerivation::Pbkdf2 {
            prf: Prf::HmacSha256,
            iterations: u32::MAX,
        },
        KeyDerivation::Scrypt {
            log_n: 255,
            r: u32::MAX,
            p: u32::MAX,
        },
        KeyDerivation::Scrypt {
            log_n: 40,
            r: 8,
            p: 1,
        },
    ] {
        let protection = Protection::default().with_key_derivation(derivation);
        assert!(EncryptedPrivateKey::encrypt(&pkcs8, b"x", &protection).is_err());
    }
}

#[test]
fn limits_can_be_set() {
    let key = ml_dsa();
    let pbkdf2 = key.to_encrypted_pkcs8_der(PASSPHRASE, &cheap(Cipher::Aes256Gcm));
    let derivation = KeyDerivation::Scrypt {
        log_n: 4,
        r: 8,
        p: 2,
    };
    let scrypt = Protection::default().with_key_derivation(derivation);
    let scrypt = key.to_encrypted_pkcs8_der(PASSPHRASE, &scrypt);
    let within = |der: &[u8], limits: CostLimits| {
        let key = EncryptedPrivateKey::from_der(der).unwrap();
        key.decrypt_within(PASSPHRASE, &limits).map(|_| ())
    };
    let (pbkdf2, scrypt) = (pbkdf2.unwrap(), scrypt.unwrap());
    let limits = CostLimits::default();
    assert_eq!(within(&pbkdf2, limits.with_iterations(2)), Ok(()));
    assert!(within(&pbkdf2, limits.with_iterations(1)).is_err());
    assert_eq!(within(&scrypt, limits.with_scrypt_memory(19456)), Ok(()));
    assert!(within(&scrypt, limits.with_scrypt_memory(19455)).is_err());
    assert_eq!(within(&scrypt, limits.with_scrypt_work(256)), Ok(()));
    assert!(within(&scrypt, limits.with_scrypt_work(255)).is_err());
}

#[test]
fn parameters_that_are_refused() {
    use ProtectionError as Error;

    let sound = pbkdf2(&[1], Some(32), &[0; 8], Some(HMAC_SHA_256));
    assert_eq!(refusal(&sound), Error::WrongPassphraseOrChanged);
    let iterations = pbkdf2(&[0], None, &[0; 8], Some(HMAC_SHA_256));
    assert!(matches!(refusal(&iterations), Error::Parameters(_)));
    let (found, needed) = (16, 32);
    let expected = Error::KeyLength { found, needed };
    let shorter = pbkdf2(&[1], Some(16), &[0; 8], Some(HMAC_SHA_256));
    assert_eq!(refusal(&shorter), expected);
    assert_eq!(refusal(&scrypt(&[2], &[1], &[1], Some(16))), expected);
    let salt = pbkdf2(&[1], None, &[0; 1024], Some(HMAC_SHA_256));
    assert_eq!(refusal(&salt), Error::WrongPassphraseOrChanged);
    let salt = pbkdf2(&[1], None, &[0; 1025], Some(HMAC_SHA_256));
    assert!(matches!(
        refusal(&salt),
        Error::SaltLength { found: 1025, .. }
    ));
    // HMAC with SHA-224
    let other = pbkdf2(&[1], None, &[0; 8], Some("1.2.840.113549.2.8"));
    assert!(matches!(refusal(&other), Error::UnsupportedPrf(_)));

    let params = Pbkdf2 {
        salt: OctetStringRef::new(&[0; 8]).unwrap(),
        iterations: uint(&[1]),
        key_len: None,
        prf: Some(identifier(HMAC_SHA_256, None)),
    };
    let params = params.to_der().unwrap();
    let params = AnyRef::from_der(&params).unwrap();
    let kdf = identifier(PBKDF2, Some(params));
    assert_eq!(
        refusal(&crafted(kdf, AES_256_CBC, IV)),
        Error::WrongPassphraseOrChanged
    );
    for (cipher, iv) in [
        (AES_256_CBC, &IV[1..]),
        (AES_256_GCM, IV),
        (AES_256_CBC, &[]),
    ] {
        assert!(matches!(
            refusal(&crafted(kdf, cipher, iv)),
            Error::Parameters(_)
        ));
    }
    // DES-EDE3-CBC, PBKDF1's identifier, and PBES1 with MD5 and DES
    let des = "1.2.840.113549.3.7";
    assert_eq!(
        refusal(&crafted(kdf, des, &IV[..8])),
        Error::UnsupportedCipher(ObjectIdentifier::new_unwrap(des))
    );
    let other = identifier("1.2.840.113549.1.5.3", Some(params));
    assert!(matches!(
        refusal(&crafted(other, AES_256_CBC, IV)),
        Error::UnsupportedKeyDerivation(_)
    ));
    let info = Info {
        algorithm: other,
        encrypted: OctetStringRef::new(&[0; 8]).unwrap(),
    };
    assert!(matches!(
        refusal(&info.to_der().unwrap()),
        Error::UnsupportedScheme(_)
    ));
    let info = Info {
        algorithm: identifier(PBES2, None),
        ..info
    };
    assert!(matches!(
        refusal(&info.to_der().unwrap()),
        Error::Parameters(_)
    ));
}

/// RFC 8018's default function is read, left out or written, and never written.
#[test]
fn hmac_sha1_is_only_read() {
    let pkcs8 = ml_dsa().to_pkcs8_der().unwrap();
    let mut key = [0; 32];
    pbkdf2_hmac::<Sha1>(PASSPHRASE, &[5; 8], 3, &mut key);
    let mut ciphertext = [0; 64];
    ciphertext[..pkcs8.len()].copy_from_slice(&pkcs8);
    let cipher = cbc::Encryptor::<aes::Aes256>::new_from_slices(&key, IV).unwrap();
    let ciphertext = cipher.encrypt_padded::<Pkcs7>(&mut ciphertext, pkcs8.len());
    let ciphertext = ciphertext.unwrap();
    for prf in [None, Some("1.2.840.113549.2.7")] {
        let outline = pbkdf2(&[3], None, &[5; 8], prf);
        let info = Info {
            encrypted: OctetStringRef::new(ciphertext).unwrap(),
            ..Info::from_der(&outline).unwrap()
        };
        let file = EncryptedPrivateKey::from_der(&info.to_der().unwrap()).unwrap();
        assert_eq!(file.decrypt(PASSPHRASE).unwrap(), pkcs8);
        let protection = file.protection();
        assert!(protection.is_by_sha1());
        assert_eq!(
            EncryptedPrivateKey::encrypt(&pkcs8, PASSPHRASE, &protection).unwrap_err(),
            ProtectionError::Sha1IsOnlyRead
        );
        // A key of two blocks
        let limits = CostLimits::default().with_iterations(5);
        assert_eq!(
            file.decrypt_within(PASSPHRASE, &limits).unwrap_err(),
            ProtectionError::TooManyIterations { found: 6, limit: 5 }
        );
    }
    assert!(!Protection::default().is_by_sha1());
}

/// The notation of RFC 5084, and that of Botan and RustCrypto.
#[test]
fn the_other_notation_of_gcm() {
    let pkcs8 = ml_dsa().to_pkcs8_der().unwrap();
    let ours = EncryptedPrivateKey::encrypt(&pkcs8, PASSPHRASE, &cheap(Cipher::Aes256Gcm)).unwrap();
    let info = Info::from_der(ours.as_der()).unwrap();
    let params: Two<'_> = info.algorithm.parameters.unwrap().decode_as().unwrap();
    let nonce = params.second.parameters.unwrap();
    let with_tag = |tag_len: Option<u8>| {
        let other = GcmParameters {
            nonce: nonce.decode_as().unwrap(),
            tag_len,
        };
        let other = other.to_der().unwrap();
        let second = identifier(AES_256_GCM, Some(AnyRef::from_der(&other).unwrap()));
        let params = Two {
            first: params.first,
            second,
        };
        let params = params.to_der().unwrap();
        let algorithm = identifier(PBES2, Some(AnyRef::from_der(&params).unwrap()));
        let encrypted = info.encrypted;
        let der = Info {
            algorithm,
            encrypted,
        }
        .to_der()
        .unwrap();
        EncryptedPrivateKey::from_der(&der)?.decrypt(PASSPHRASE)
    };
    assert_eq!(with_tag(Some(16)).unwrap(), pkcs8);
    for other in [None, Some(12), Some(4)] {
        assert!(matches!(
            with_tag(other),
            Err(ProtectionError::Parameters(_))
        ));
    }
}

#[test]
fn what_is_not_written() {
    let key = ml_dsa();
    let protection = cheap(Cipher::Aes256Cbc);
    assert_eq!(
        key.to_encrypted_pkcs8_pem(b"", &protection).unwrap_err(),
        ProtectionError::EmptyPassphrase
    );
    let pkcs8 = key.to_pkcs8_der().unwrap();
    for bad in [
        &pkcs8[1..],
        &pkcs8[..pkcs8.len() - 1],
        &[],
        key.spki().as_ref(),
    ] {
        let refused = EncryptedPrivateKey::encrypt(bad, b"x", &protection).unwrap_err();
        assert!(matches!(refused, ProtectionError::NotPkcs8(_)));
    }
    let text = pem::encode("PRIVATE KEY", &pkcs8);
    assert!(matches!(
        EncryptedPrivateKey::from_pem(&text),
        Err(ProtectionError::Pem(_))
    ));
    // The same key gives a different file each time.
    let [one, other] = [(); 2].map(|()| key.to_encrypted_pkcs8_der(b"x", &protection).unwrap());
    assert_ne!(one, other);
}

/// A file with an empty passphrase, which somebody else wrote, is read.
#[test]
fn an_empty_passphrase_is_read() {
    let pkcs8 = ml_dsa().to_pkcs8_der().unwrap();
    let theirs = pkcs8::PrivateKeyInfoRef::from_der(&pkcs8).unwrap();
    let theirs = theirs
        .encrypt_with_params(parameters(CHEAP, Cipher::Aes256Gcm), b"")
        .unwrap();
    let ours = EncryptedPrivateKey::from_der(theirs.as_bytes()).unwrap();
    assert_eq!(ours.decrypt(b"").unwrap(), pkcs8);
}

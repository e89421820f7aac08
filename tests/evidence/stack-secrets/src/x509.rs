//! The operations of pq-x509.

use std::sync::Mutex;

use pq_core::ml_dsa::{self, MlDsa44, MlDsa65, MlDsa87};
use pq_core::ml_kem::{self, MlKem512, MlKem768, MlKem1024};
use pq_core::slh_dsa::{self, SlhDsaSha2_128f, SlhDsaShake128f};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::signing::{PreHash, SignatureOptions, SigningVariant};
use pq_x509::keys::{
    DecapsulationKey, KemAlgorithm, PrivateKey, PrivateKeyForm, PublicKey, SignatureAlgorithm,
    SigningKey, SubjectKey,
};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::CertificateRevocationListBuilder;

use crate::operation::{Operation, fresh};
use crate::sought::Sought;
use crate::{ml_dsa as of_ml_dsa, ml_kem as of_ml_kem, slh_dsa as of_slh_dsa};

pub(crate) fn operations() -> Vec<Operation> {
    let kinds = [
        Kind::ml_dsa::<MlDsa44>(SignatureAlgorithm::MlDsa44),
        Kind::ml_dsa::<MlDsa65>(SignatureAlgorithm::MlDsa65),
        Kind::ml_dsa::<MlDsa87>(SignatureAlgorithm::MlDsa87),
        Kind::slh_dsa::<SlhDsaShake128f>(SignatureAlgorithm::SlhDsaShake128f),
        Kind::slh_dsa::<SlhDsaSha2_128f>(SignatureAlgorithm::SlhDsaSha2_128f),
        Kind::ml_kem::<MlKem512>(KemAlgorithm::MlKem512),
        Kind::ml_kem::<MlKem768>(KemAlgorithm::MlKem768),
        Kind::ml_kem::<MlKem1024>(KemAlgorithm::MlKem1024),
    ];
    let operations = kinds.into_iter().flat_map(Kind::operations);
    operations.chain(hash_slh_dsa()).collect()
}

/// The description of a form, and a function that writes a key in it.
type OtherForm = (&'static str, fn(&PrivateKey) -> Vec<u8>);

/// A kind of key.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    algorithm: pq_x509::keys::Algorithm,
    /// The secrets of a key.
    secrets: fn(&PrivateKey) -> Sought,
}

impl Kind {
    pub(crate) fn ml_dsa<P: ml_dsa::ParameterSet>(algorithm: SignatureAlgorithm) -> Self {
        Self {
            algorithm: algorithm.into(),
            secrets: |key| {
                let key = match key.seed() {
                    Some(seed) => {
                        let seed = seed.try_into().expect("32 bytes");
                        ml_dsa::SigningKey::<P>::boxed_from_seed(seed)
                    }
                    None => ml_dsa::SigningKey::boxed_from_expanded(&key.to_expanded())
                        .expect("it was read before"),
                };
                of_ml_dsa::secrets_of(&key)
            },
        }
    }

    fn ml_kem<P: ml_kem::ParameterSet>(algorithm: KemAlgorithm) -> Self {
        Self {
            algorithm: algorithm.into(),
            secrets: |key| {
                let key = match key.seed() {
                    Some(seed) => {
                        let seed = seed.try_into().expect("64 bytes");
                        ml_kem::DecapsulationKey::<P>::boxed_from_seed(seed)
                    }
                    None => ml_kem::DecapsulationKey::boxed_from_expanded(&key.to_expanded())
                        .expect("it was read before"),
                };
                of_ml_kem::secrets_of(&key)
            },
        }
    }

    fn slh_dsa<P: slh_dsa::ParameterSet>(algorithm: SignatureAlgorithm) -> Self {
        Self {
            algorithm: algorithm.into(),
            secrets: |key| {
                let key = slh_dsa::SigningKey::<P>::boxed_from_bytes(&key.to_expanded());
                of_slh_dsa::secrets_of(&*key.expect("of this length"))
            },
        }
    }

    pub(crate) fn algorithm(self) -> pq_x509::keys::Algorithm {
        self.algorithm
    }

    pub(crate) fn secrets_of(self, key: &PrivateKey) -> Sought {
        (self.secrets)(key)
    }

    /// A new key.
    pub(crate) fn key(self) -> PrivateKey {
        from_seed(self.algorithm, &self.seed())
    }

    fn seed(self) -> Vec<u8> {
        fresh::<96>()[..self.algorithm.seed_len()].to_vec()
    }

    fn forms(self) -> &'static [PrivateKeyForm] {
        match self.algorithm.preferred_form() {
            // only SLH-DSA prefers this form
            PrivateKeyForm::Expanded => &[PrivateKeyForm::Expanded],
            _ => &[
                PrivateKeyForm::Seed,
                PrivateKeyForm::Expanded,
                PrivateKeyForm::Both,
            ],
        }
    }

    /// Forms that are read but not written.
    fn other_forms(self) -> &'static [OtherForm] {
        match self.algorithm.preferred_form() {
            PrivateKeyForm::Expanded => &[],
            _ => &[
                ("a bare seed", |key| {
                    pkcs8(key, key.seed().expect("has a seed"))
                }),
                ("a bare expanded key", |key| pkcs8(key, &key.to_expanded())),
                ("with the public key behind it", |key| {
                    let public = PublicKey::from_spki_der(&key.spki()).expect("valid");
                    let pair = [&key.to_expanded(), public.as_bytes()].concat();
                    pkcs8(key, &element(OCTET_STRING, &pair))
                }),
            ],
        }
    }

    fn operations(self) -> Vec<Operation> {
        let name = |operation: &str| format!("pq-x509 {} {operation}", self.algorithm);
        let algorithm = self.algorithm;
        let mut operations = vec![
            Operation::new(
                name("generate"),
                || (),
                move |()| match algorithm {
                    pq_x509::keys::Algorithm::Signature(algorithm) => {
                        PrivateKey::Signing(SigningKey::generate(algorithm).expect("randomness"))
                    }
                    pq_x509::keys::Algorithm::Kem(algorithm) => {
                        let key = DecapsulationKey::generate(algorithm);
                        PrivateKey::Decapsulation(key.expect("randomness"))
                    }
                    _ => unreachable!("there are two kinds"),
                },
                move |(), key| self.secrets_of(key),
            ),
            Operation::new(
                name("from_seed"),
                move || self.seed(),
                move |seed| from_seed(algorithm, seed),
                move |_, key| self.secrets_of(key),
            ),
            Operation::new(
                name("to_expanded"),
                move || self.key(),
                PrivateKey::to_expanded,
                move |key, _| self.secrets_of(key),
            ),
            Operation::new(
                name("clone and drop"),
                move || {
                    let key = self.key();
                    let sought = self.secrets_of(&key);
                    (Mutex::new(Some(key)), sought)
                },
                |(key, _)| {
                    let key = key.lock().expect("one thread").take();
                    drop(key.clone());
                    drop(key);
                },
                |(_, sought), ()| sought.clone(),
            ),
        ];
        for form in self.forms().iter().copied() {
            let name = |operation: &str| name(&format!("{operation}, {form:?}"));
            operations.extend([
                Operation::new(
                    name("from_pkcs8_der"),
                    move || self.key().to_pkcs8_der_as(form).expect("has a seed"),
                    |der| PrivateKey::from_pkcs8_der(der).expect("valid"),
                    move |der, key| self.secrets_of(key).and(document(der)),
                ),
                Operation::new(
                    name("from_pkcs8_pem"),
                    move || self.key().to_pkcs8_pem_as(form).expect("has a seed"),
                    |pem| PrivateKey::from_pkcs8_pem(pem).expect("valid"),
                    move |pem, key| {
                        let der = key.to_pkcs8_der_as(form);
                        let sought = self.secrets_of(key).and(text(pem));
                        // an expanded key does not contain its seed
                        der.map_or_else(|_| Sought::default(), |der| document(&der))
                            .and(sought)
                    },
                ),
                Operation::new(
                    name("to_pkcs8_der_as"),
                    move || self.key(),
                    move |key| key.to_pkcs8_der_as(form).expect("has a seed"),
                    move |key, der| self.secrets_of(key).and(document(der)),
                ),
                Operation::new(
                    name("to_pkcs8_pem_as"),
                    move || self.key(),
                    move |key| key.to_pkcs8_pem_as(form).expect("has a seed"),
                    move |key, pem| {
                        let der = key.to_pkcs8_der_as(form).expect("has a seed");
                        self.secrets_of(key).and(document(&der)).and(text(pem))
                    },
                ),
            ]);
        }
        for (form, write) in self.other_forms() {
            operations.push(Operation::new(
                name(&format!("from_pkcs8_der, {form}")),
                move || write(&self.key()),
                |der| PrivateKey::from_pkcs8_der(der).expect("valid"),
                move |der, key| {
                    let spki = key.spki();
                    self.secrets_of(key).and(document(der)).public(&spki)
                },
            ));
        }
        match algorithm {
            pq_x509::keys::Algorithm::Signature(_) => operations.extend(self.signing()),
            _ => operations.extend(self.encapsulating()),
        }
        operations
    }

    fn signing(self) -> [Operation; 7] {
        let name = |operation: &str| format!("pq-x509 {} {operation}", self.algorithm);
        let key = move || SigningKey::try_from(self.key()).expect("a key that signs");
        let secrets = move |key: &SigningKey| self.secrets_of(&PrivateKey::Signing(key.clone()));
        [
            Operation::new(
                name("sign"),
                key,
                |key| key.sign(b"a message").expect("randomness"),
                move |key, signature| secrets(key).public(signature),
            ),
            Operation::new(
                name("sign_with_randomness"),
                move || (key(), fresh::<32>()),
                |(key, rnd)| {
                    let signature = key.sign_with_randomness(b"a message", rnd);
                    signature.expect("a consistent key")
                },
                move |(key, rnd), signature| {
                    secrets(key)
                        .public(signature)
                        .secret("the randomness", &rnd[..])
                },
            ),
            Operation::new(
                name("sign_hashed"),
                key,
                |key| {
                    let options = SignatureOptions::new().pre_hash(PreHash::Sha512);
                    let hasher = key.hasher(&options).expect("a strong hash function");
                    let signature = key.sign_hashed(&hasher.finish(), SigningVariant::Hedged);
                    signature.expect("randomness")
                },
                move |key, signature| secrets(key).public(signature),
            ),
            Operation::new(
                name("check"),
                key,
                |key| key.check().expect("a consistent key"),
                move |key, ()| secrets(key),
            ),
            Operation::new(
                name("issue"),
                key,
                |key| {
                    let issuer = Issuer::self_signed(CertificateBuilder::ca("Root"), key);
                    let issuer = issuer.expect("a certificate");
                    let leaf = CertificateBuilder::server().dns_name("example.org");
                    let leaf = issuer.issue(leaf, &key.spki()).expect("a certificate");
                    [issuer.certificate().der().to_vec(), leaf.der().to_vec()].concat()
                },
                move |key, certificates| secrets(key).public(certificates),
            ),
            Operation::new(
                name("issue_revocation_list"),
                move || {
                    let key = key();
                    let issuer = Issuer::self_signed(CertificateBuilder::ca("Root"), key.clone());
                    (key, issuer.expect("a certificate"))
                },
                |(_, issuer)| {
                    let list = CertificateRevocationListBuilder::new(&[1]);
                    let list = issuer.issue_revocation_list(list).expect("a list");
                    list.der().to_vec()
                },
                move |(key, _), list| secrets(key).public(list),
            ),
            Operation::new(
                name("request"),
                key,
                |key| {
                    let request = CertificateRequest::builder().sign(key).expect("a request");
                    request.to_der().to_vec()
                },
                move |key, request| secrets(key).public(request),
            ),
        ]
    }

    fn encapsulating(self) -> [Operation; 4] {
        let name = |operation: &str| format!("pq-x509 {} {operation}", self.algorithm);
        let key = move || DecapsulationKey::try_from(self.key()).expect("a key that decapsulates");
        let encapsulated = move || {
            let key = key();
            let mut secret = Box::new([0; 32]);
            let ciphertext = key.encapsulation_key().encapsulate_into(&mut secret);
            (key, ciphertext.expect("randomness"), secret)
        };
        let secrets = move |key: &DecapsulationKey, secret: &[u8; 32]| {
            self.secrets_of(&PrivateKey::Decapsulation(key.clone()))
                .secret("the shared secret", secret)
        };
        [
            Operation::new(
                name("decapsulate"),
                encapsulated,
                |(key, ciphertext, _)| key.decapsulate(ciphertext).expect("of this length"),
                move |(key, _, expected), secret| {
                    assert_eq!(expected[..], secret.as_bytes()[..]);
                    secrets(key, expected)
                },
            ),
            Operation::new(
                name("decapsulate_into"),
                encapsulated,
                |(key, ciphertext, _)| {
                    let mut secret = Box::new([0; 32]);
                    let done = key.decapsulate_into(ciphertext, &mut secret);
                    done.expect("of this length");
                    secret
                },
                move |(key, _, expected), secret| {
                    assert_eq!(expected, secret);
                    secrets(key, secret)
                },
            ),
            Operation::new(
                name("encapsulate"),
                key,
                |key| key.encapsulation_key().encapsulate().expect("randomness"),
                |_, (_, secret)| Sought::default().secret("the shared secret", secret.as_bytes()),
            ),
            Operation::new(
                name("encapsulate_into"),
                key,
                |key| {
                    let mut secret = Box::new([0; 32]);
                    let done = key.encapsulation_key().encapsulate_into(&mut secret);
                    done.expect("randomness");
                    secret
                },
                |_, secret| Sought::default().secret("the shared secret", &secret[..]),
            ),
        ]
    }
}

/// The operations of a key for HashSLH-DSA (RFC 9909), whose identifier ends in another number.
fn hash_slh_dsa() -> [Operation; 3] {
    const PURE: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 21];
    let kind = Kind::slh_dsa::<SlhDsaSha2_128f>(SignatureAlgorithm::SlhDsaSha2_128f);
    let name = |operation| format!("pq-x509 HashSLH-DSA-SHA2-128f {operation}");
    let document_of_key = move || {
        let mut der = kind.key().to_pkcs8_der().expect("of one form").to_vec();
        let at = der.windows(PURE.len()).position(|bytes| bytes == PURE);
        der[at.expect("its identifier") + PURE.len() - 1] = 36;
        der
    };
    let key = move || SigningKey::from_pkcs8_der(&document_of_key()).expect("valid");
    let secrets = move |key: &SigningKey| kind.secrets_of(&PrivateKey::Signing(key.clone()));
    [
        Operation::new(
            name("from_pkcs8_der"),
            document_of_key,
            |der| SigningKey::from_pkcs8_der(der).expect("valid"),
            move |der, key| secrets(key).and(document(der)),
        ),
        Operation::new(
            name("to_pkcs8_der"),
            key,
            |key| key.to_pkcs8_der().expect("of one form"),
            move |key, der| secrets(key).and(document(der)),
        ),
        Operation::new(
            name("sign_with_randomness"),
            move || (key(), fresh::<32>()),
            |(key, randomness)| {
                let signature = key.sign_with_randomness(b"a message", randomness);
                signature.expect("a consistent key")
            },
            move |(key, randomness), signature| {
                let sought = secrets(key).public(signature);
                sought.secret("the randomness", &randomness[..])
            },
        ),
    ]
}

/// A PKCS#8 document for the algorithm of a key.
fn pkcs8(key: &PrivateKey, contents: &[u8]) -> Vec<u8> {
    const ALGORITHM: &[u8] = &[0x30, 11, 6, 9];
    let der = key.to_pkcs8_der().expect("has a seed");
    let at = der
        .windows(ALGORITHM.len())
        .position(|bytes| bytes == ALGORITHM);
    let algorithm = &der[at.expect("an identifier of 9 bytes")..][..13];
    let fields = [&[2, 1, 0], algorithm, &element(OCTET_STRING, contents)].concat();
    element(SEQUENCE, &fields)
}

/// A DER element.
fn element(tag: u8, contents: &[u8]) -> Vec<u8> {
    let len = u16::try_from(contents.len()).expect("short").to_be_bytes();
    let header: &[u8] = match len {
        [0, short @ ..=0x7f] => &[tag, short],
        [0, short] => &[tag, 0x81, short],
        [high, low] => &[tag, 0x82, high, low],
    };
    [header, contents].concat()
}

const OCTET_STRING: u8 = 4;
const SEQUENCE: u8 = 0x30;

fn from_seed(algorithm: pq_x509::keys::Algorithm, seed: &[u8]) -> PrivateKey {
    match algorithm {
        pq_x509::keys::Algorithm::Signature(algorithm) => {
            PrivateKey::Signing(SigningKey::from_seed(algorithm, seed).expect("of this length"))
        }
        pq_x509::keys::Algorithm::Kem(algorithm) => {
            let key = DecapsulationKey::from_seed(algorithm, seed);
            PrivateKey::Decapsulation(key.expect("of this length"))
        }
        _ => unreachable!("there are two kinds"),
    }
}

/// A PKCS#8 document. Up to the beginning of the key, it is the same for all keys.
pub(crate) fn document(der: &[u8]) -> Sought {
    let sought = Sought::default().secret("the PKCS#8 document", der);
    sought.public(&der[..HEADER])
}

/// The length of the public part of each document: version, algorithm, and the first of the lengths.
const HEADER: usize = 24;

/// PEM text, whose first line of contents begins in the same way for all keys.
pub(crate) fn text(pem: &str) -> Sought {
    let sought = Sought::default().secret("the PEM text", pem.as_bytes());
    let begin = pem.find('\n').expect("several lines") + 1;
    let end = pem.rfind("-----END").expect("an end");
    sought
        .public(&pem.as_bytes()[..begin + HEADER * 4 / 3])
        .public(&pem.as_bytes()[end - 8..])
}

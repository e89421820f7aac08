//! Messages of any length and in any BER encoding, with readers and writers that behave arbitrarily: the content
//! that is read is what was signed or encrypted, and all ways of reading a message agree.
#![no_main]

use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::sync::LazyLock;
use std::time::Duration;

use arbitrary::Arbitrary;
use fuzz::Edit;
use fuzz::der::{Contents, Element};
use fuzz::one_of;
use fuzz::pki::{FixedKey, at, validity};
use libfuzzer_sys::fuzz_target;
use pq_cms::{
    ContentCipher, DocumentSigner, EncodingError, EnvelopeBuilder, EnvelopingError, Kdf,
    ObjectIdentifier, Opener, OpeningError, Outline, PemWriter, Recipient, RecipientKey,
    SignedDataBuilder, VerificationError, VerificationTime, Verified, Verifier, decode_if_pem,
    digests, inspect, key_identifier,
};
use pq_x509::pki_types::UnixTime;
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use pq_x509::{
    Certificate, CertificateBuilder, ChainValidator, DecapsulationKey, Issuer, KemAlgorithm,
    KeyUsages, PreHash, SignError, SignatureAlgorithm, Signer, SubjectKey,
};
use rustls_pq::classical::{
    ClassicalAgreementKey, ClassicalAlgorithm, ClassicalKey, RsaScheme, verification_algorithms,
};

fuzz_target!(|input: Input<'_>| match input {
    Input::Encrypted(encrypted) => encrypted.check(),
    Input::Signed(signed) => signed.check(),
    Input::Mismatched(mismatched) => mismatched.check(),
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Encrypted(Encrypted<'a>),
    Signed(Signed<'a>),
    Mismatched(Mismatched),
}

#[derive(Arbitrary, Debug)]
struct AnyContent {
    len: Len,
    filling: Filling,
}

/// Lengths close to those of the pieces in which content is read.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Len {
    Few(u8),
    Piece(i8),
    Pieces(i8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Filling {
    Byte(u8),
    Counted,
    /// A SET that could be taken for signed attributes.
    Attributes,
}

const PIECE: usize = 64 * 1024;

impl AnyContent {
    fn bytes(&self) -> Vec<u8> {
        let len = match self.len {
            Len::Few(len) => len.into(),
            Len::Piece(more) => PIECE.saturating_add_signed(more.into()),
            Len::Pieces(more) => (2 * PIECE).saturating_add_signed(more.into()),
        };
        match self.filling {
            Filling::Byte(byte) => vec![byte; len],
            Filling::Counted => (0..len).map(|at| (at / 5) as u8).collect(),
            Filling::Attributes => {
                let value = primitive(OCTET_STRING, &vec![0; len]);
                let values = constructed(SET, vec![value]);
                let attribute = vec![primitive(OID, &[0x2a, 3]), values];
                encode(&constructed(SET, vec![constructed(SEQUENCE, attribute)]), 0)
            }
        }
    }

    /// Whether it could be taken for signed attributes, and so is never signed without attributes.
    fn is_attributes(&self) -> bool {
        matches!(self.filling, Filling::Attributes)
    }
}

/// How a reader gives bytes, and a writer takes them.
#[derive(Arbitrary, Debug)]
struct Pace {
    piece: u8,
    interrupts: bool,
    /// Fails after this many bytes.
    fails_at: Option<u16>,
}

impl Pace {
    fn piece(&self) -> usize {
        const PIECES: [usize; 8] = [PIECE, 1, 2, 7, 1000, PIECE - 1, PIECE + 1, 3 * PIECE];
        one_of(&PIECES, self.piece)
    }

    fn fails_at(&self) -> usize {
        self.fails_at.map_or(usize::MAX, Into::into)
    }

    fn reader<'b>(&self, bytes: &'b [u8]) -> BufReader<Source<'b>> {
        let source = Source {
            bytes,
            at: 0,
            piece: self.piece(),
            fails_at: self.fails_at(),
            interrupts: self.interrupts,
            is_interrupted: false,
        };
        BufReader::with_capacity(self.piece(), source)
    }

    fn writer(&self) -> Sink {
        Sink {
            bytes: Vec::new(),
            piece: self.piece(),
            fails_at: self.fails_at(),
        }
    }
}

struct Source<'b> {
    bytes: &'b [u8],
    at: usize,
    piece: usize,
    fails_at: usize,
    interrupts: bool,
    is_interrupted: bool,
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted = self.interrupts && !self.is_interrupted;
        if self.is_interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        if self.at >= self.fails_at {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let end = self.bytes.len().min(self.fails_at);
        let len = buffer.len().min(self.piece).min(end - self.at);
        buffer[..len].copy_from_slice(&self.bytes[self.at..][..len]);
        self.at += len;
        Ok(len)
    }
}

impl Seek for Source<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(at) => self.at = at as usize,
            SeekFrom::Current(by) => self.at = self.at.saturating_add_signed(by as isize),
            SeekFrom::End(_) => return Err(ErrorKind::Unsupported.into()),
        }
        Ok(self.at as u64)
    }
}

struct Sink {
    bytes: Vec<u8>,
    piece: usize,
    fails_at: usize,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.piece);
        let len = len.min(self.fails_at - self.bytes.len());
        if len == 0 && !bytes.is_empty() {
            return Err(ErrorKind::StorageFull.into());
        }
        self.bytes.extend(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How the same message is encoded again, in BER.
#[derive(Arbitrary, Debug)]
struct Rewriting {
    /// How many outer levels have indefinite lengths.
    indefinite: u8,
    /// Lengths of the pieces that content is split into.
    pieces: Vec<u8>,
    /// Every second piece is within another OCTET STRING.
    are_nested: bool,
}

impl Rewriting {
    fn write(&self, mut message: Element) -> Vec<u8> {
        if let Some(content) = content_of(&mut message)
            && let Contents::Bytes(bytes) = &content.contents
            && !self.pieces.is_empty()
        {
            let mut rest = &**bytes;
            let mut pieces = Vec::new();
            for (index, len) in self.pieces.iter().enumerate() {
                let (piece, after) = rest.split_at(rest.len().min(usize::from(*len)));
                rest = after;
                pieces.push(match self.are_nested && index % 2 == 0 {
                    true => constructed(
                        OCTET_STRING | CONSTRUCTED,
                        vec![primitive(OCTET_STRING, piece)],
                    ),
                    false => primitive(OCTET_STRING, piece),
                });
            }
            pieces.push(primitive(OCTET_STRING, rest));
            *content = constructed(content.tag | CONSTRUCTED, pieces);
        }
        encode(&message, usize::from(self.indefinite % 10))
    }
}

const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const OID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const CONSTRUCTED: u8 = 0x20;

const fn context(number: u8) -> u8 {
    0x80 | CONSTRUCTED | number
}

fn primitive(tag: u8, bytes: &[u8]) -> Element {
    Element {
        tag,
        contents: Contents::Bytes(bytes.to_vec()),
    }
}

fn constructed(tag: u8, inner: Vec<Element>) -> Element {
    Element {
        tag,
        contents: Contents::Elements(Vec::new(), inner),
    }
}

/// Reads one element of any length, and its contents if its tag says that it is constructed.
fn parse(ber: &mut &[u8]) -> Element {
    let [tag, first, rest @ ..] = *ber else {
        panic!("cut short")
    };
    *ber = rest;
    let end = match first {
        0x80 => None,
        0..0x80 => Some(usize::from(*first)),
        _ => {
            let (len, rest) = ber.split_at(usize::from(first & 0x7f));
            *ber = rest;
            Some(
                len.iter()
                    .fold(0, |len, byte| len << 8 | usize::from(*byte)),
            )
        }
    };
    let mut inner = Vec::new();
    let Some(len) = end else {
        while !ber.starts_with(&[0, 0]) {
            inner.push(parse(ber));
        }
        *ber = &ber[2..];
        return constructed(*tag, inner);
    };
    let (mut bytes, rest) = ber.split_at(len);
    *ber = rest;
    if tag & CONSTRUCTED == 0 {
        return primitive(*tag, bytes);
    }
    while !bytes.is_empty() {
        inner.push(parse(&mut bytes));
    }
    constructed(*tag, inner)
}

/// The element in BER, with indefinite lengths in this many outer levels.
fn encode(element: &Element, indefinite: usize) -> Vec<u8> {
    let inner = match &element.contents {
        Contents::Bytes(bytes) => bytes.clone(),
        Contents::Elements(_, inner) => (inner.iter())
            .flat_map(|it| encode(it, indefinite.saturating_sub(1)))
            .collect(),
    };
    let is_definite = indefinite == 0 || element.tag & CONSTRUCTED == 0;
    let len = inner.len().to_be_bytes();
    let len = &len[len.iter().take_while(|byte| **byte == 0).count()..];
    let mut bytes = vec![element.tag];
    match len {
        _ if !is_definite => bytes.push(0x80),
        [] => bytes.push(0),
        [len @ 0..0x80] => bytes.push(*len),
        _ => {
            bytes.push(0x80 | len.len() as u8);
            bytes.extend(len);
        }
    }
    bytes.extend(inner);
    if !is_definite {
        bytes.extend([0, 0]);
    }
    bytes
}

fn inner(element: &mut Element) -> &mut Vec<Element> {
    match &mut element.contents {
        Contents::Elements(_, inner) => inner,
        Contents::Bytes(_) => panic!("{:02x} has nothing in it", element.tag),
    }
}

/// The fields of a SignedData or an EnvelopedData.
fn fields(message: &mut Element) -> &mut Vec<Element> {
    inner(&mut inner(&mut inner(message)[1])[0])
}

/// Where the first field with this tag is.
fn place(fields: &[Element], tag: u8) -> Option<usize> {
    fields.iter().position(|field| field.tag == tag)
}

/// The OCTET STRING with the content, if it is there and in one piece.
fn content_of(message: &mut Element) -> Option<&mut Element> {
    let fields = fields(message);
    let at = place(fields, SEQUENCE)?;
    match inner(&mut fields[at]).last_mut() {
        Some(content) if content.tag == 0x80 => Some(content),
        Some(content) if content.tag == context(0) => match inner(content).as_mut_slice() {
            [octets] => Some(octets),
            _ => None,
        },
        _ => None,
    }
}

/// The message after encoding in PEM and decoding.
fn through_pem(message: &[u8], pace: &Pace) -> Vec<u8> {
    let mut writer = PemWriter::new(Vec::new()).unwrap();
    for piece in message.chunks(pace.piece()) {
        writer.write_all(piece).unwrap();
        writer.flush().unwrap();
    }
    let pem = writer.finish().unwrap();
    let mut read = Vec::new();
    let slow = BufReader::with_capacity(pace.piece().max(32), &*pem);
    let taken = decode_if_pem(slow).unwrap().read_to_end(&mut read);
    assert_eq!(taken.unwrap(), message.len());
    read
}

// Encrypted messages.

#[derive(Arbitrary, Debug)]
struct Encrypted<'a> {
    cipher: u8,
    content_type: u8,
    recipients: Vec<AnyRecipient>,
    key: AnyKey,
    changes: Vec<Change>,
    rewriting: Rewriting,
    in_pem: bool,
    /// Changes to the bytes, after all else.
    edits: Vec<Edit<'a>>,
    content: AnyContent,
    reader: Pace,
    writer: Pace,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum AnyRecipient {
    Kem { of: u8, kdf: u8, name: Name },
    KemCertificate { of: u8, kdf: u8 },
    Agreement { of: u8, name: Name },
    AgreementCertificate { of: u8 },
    Shared(u8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Name {
    Any,
    OfKey,
    OfCertificate,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum AnyKey {
    Kem {
        of: u8,
        certificate: bool,
    },
    Agreement {
        of: u8,
        certificate: bool,
    },
    Shared(u8),
    /// A key that nobody encrypts for.
    Strange,
}

/// A key and its certificate.
struct Owned<K> {
    key: K,
    certificate: Certificate,
}

struct Keys {
    kems: [Owned<DecapsulationKey>; 3],
    agreements: [Owned<ClassicalAgreementKey>; 3],
    strange: DecapsulationKey,
    /// A certificate of the first agreement key that only permits signatures.
    misused: Certificate,
    signers: Vec<Owned<Box<dyn Signer + Send + Sync>>>,
    root: ChainValidator,
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let ca = CertificateBuilder::ca("Root")
        .validity(validity())
        .serial_number(&[1]);
    let root = FixedKey::new(SignatureAlgorithm::MlDsa44, 1);
    let root = Issuer::self_signed(ca, root).unwrap();
    let leaf = |number| {
        CertificateBuilder::end_entity()
            .dns_name("a")
            .validity(validity())
            .serial_number(&[number])
    };
    let of_kem = |algorithm, number| {
        let key = DecapsulationKey::from_seed(algorithm, &[number; 64]).unwrap();
        let certificate = root.issue(leaf(number), key.encapsulation_key()).unwrap();
        Owned { key, certificate }
    };
    let of_agreement = |number, der: &[u8]| {
        let key = ClassicalAgreementKey::from_der(der).unwrap();
        let leaf = leaf(number).key_usage(KeyUsages::KeyAgreement);
        let certificate = root.issue(leaf, key.public_key()).unwrap();
        Owned { key, certificate }
    };
    let agreements = [
        of_agreement(5, &[&X25519_HEAD[..], &[9; 32]].concat()),
        of_agreement(6, &[&P256_HEAD[..], &[9; 32], &P256_CURVE].concat()),
        of_agreement(7, &[&P384_HEAD[..], &[9; 48], &P384_CURVE].concat()),
    ];
    let misused = root.issue(leaf(8), agreements[0].key.public_key()).unwrap();
    let raw = |algorithm, len| ClassicalKey::from_raw(algorithm, &vec![9; len]).unwrap();
    let rsa = include_str!("../../provider/tests/provider/rsa-2048.pem");
    let rsa = ClassicalKey::from_pem(rsa).unwrap();
    let mut signers: Vec<Box<dyn Signer + Send + Sync>> = vec![
        Box::new(FixedKey::new(SignatureAlgorithm::MlDsa44, 7)),
        Box::new(FixedKey::new(SignatureAlgorithm::MlDsa65, 7)),
        Box::new(raw(ClassicalAlgorithm::Ed25519, 32)),
        Box::new(raw(ClassicalAlgorithm::EcdsaP384, 48)),
    ];
    for scheme in RSA {
        let key = rsa.clone();
        signers.push(Box::new(RsaSigner { key, scheme }));
    }
    let signers = signers.into_iter().zip(9..).map(|(key, number)| Owned {
        certificate: root.issue(leaf(number), &*key).unwrap(),
        key,
    });
    Keys {
        kems: [
            of_kem(KemAlgorithm::MlKem512, 2),
            of_kem(KemAlgorithm::MlKem768, 3),
            of_kem(KemAlgorithm::MlKem1024, 4),
        ],
        strange: DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[5; 64]).unwrap(),
        agreements,
        misused,
        signers: signers.collect(),
        root: ChainValidator::new([root.certificate().clone()]).unwrap(),
    }
});

/// The bytes before a private key of X25519 in PKCS#8 (RFC 8410).
const X25519_HEAD: [u8; 16] = [
    0x30, 46, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 4, 34, 4, 32,
];

/// The bytes around a private key in ECPrivateKey (RFC 5915).
const P256_HEAD: [u8; 7] = [0x30, 49, 2, 1, 1, 4, 32];
const P256_CURVE: [u8; 12] = [0xa0, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P384_HEAD: [u8; 7] = [0x30, 62, 2, 1, 1, 4, 48];
const P384_CURVE: [u8; 9] = [0xa0, 7, 6, 5, 0x2b, 0x81, 4, 0, 0x22];

/// When messages are signed and verified, in seconds since 1970: within `fuzz::pki::VALID`.
const NOW: u64 = 1_800_000_000;

/// Keys that sender and recipient share, each one byte repeated, which [`check_secrecy`] looks for.
const SHARED: [(&[u8], &[u8]); 2] = [(b"short", &[0xa7; 16]), (b"long", &[0xa7; 32])];

const fn oid(text: &str) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(text)
}

/// Plain data, the only content type that is signed without attributes.
const DATA: ObjectIdentifier = oid("1.2.840.113549.1.7.1");

/// Content types.
const TYPES: [ObjectIdentifier; 3] = [
    DATA,
    oid("1.2.840.113549.1.7.2"),
    oid("1.3.6.1.4.1.99999.1"),
];

impl AnyRecipient {
    fn recipient(self) -> Recipient {
        const KDFS: [Kdf; 3] = [Kdf::HkdfSha256, Kdf::HkdfSha384, Kdf::HkdfSha512];

        match self {
            Self::Kem { of, kdf, name } => {
                let owned = one_of(&KEYS.kems.each_ref(), of);
                let key = owned.key.encapsulation_key();
                let name = name.of(key, &owned.certificate);
                Recipient::key(key.clone(), &name).kdf(one_of(&KDFS, kdf))
            }
            Self::KemCertificate { of, kdf } => {
                let recipient =
                    Recipient::certificate(&one_of(&KEYS.kems.each_ref(), of).certificate);
                recipient.unwrap().kdf(one_of(&KDFS, kdf))
            }
            Self::Agreement { of, name } => {
                let owned = one_of(&KEYS.agreements.each_ref(), of);
                let key = owned.key.public_key();
                let name = name.of(key, &owned.certificate);
                Recipient::agreement_key(key.clone(), &name).kdf(Kdf::HkdfSha512)
            }
            Self::AgreementCertificate { of } => {
                let Owned { key, certificate } = one_of(&KEYS.agreements.each_ref(), of);
                let key = key.public_key().clone();
                Recipient::agreement_certificate(certificate, key).unwrap()
            }
            Self::Shared(of) => {
                let (id, key) = one_of(&SHARED, of);
                Recipient::shared_key(id, key).unwrap()
            }
        }
    }

    /// Whether this is the recipient's key, and is found by the name in the message.
    fn is_of(self, key: AnyKey) -> bool {
        let is_same = |of: u8, other: u8| of % 3 == other % 3;
        match (self, key) {
            (
                Self::Kem { of, name, .. },
                AnyKey::Kem {
                    of: own,
                    certificate,
                },
            )
            | (
                Self::Agreement { of, name },
                AnyKey::Agreement {
                    of: own,
                    certificate,
                },
            ) => is_same(of, own) && !(certificate && matches!(name, Name::Any)),
            (Self::KemCertificate { of, .. }, AnyKey::Kem { of: own, .. })
            | (Self::AgreementCertificate { of }, AnyKey::Agreement { of: own, .. }) => {
                is_same(of, own)
            }
            (Self::Shared(of), AnyKey::Shared(own)) => of % 2 == own % 2,
            _ => false,
        }
    }
}

impl Name {
    fn of(self, key: &impl SubjectKey, certificate: &Certificate) -> Vec<u8> {
        match self {
            Self::Any => b"key".to_vec(),
            Self::OfKey => key_identifier(key).to_vec(),
            Self::OfCertificate => certificate.subject_key_id().unwrap().to_vec(),
        }
    }
}

impl AnyKey {
    fn key(self) -> RecipientKey<'static> {
        match self {
            Self::Kem { of, certificate } => {
                let owned = one_of(&KEYS.kems.each_ref(), of);
                match certificate {
                    true => RecipientKey::with_certificate(&owned.key, &owned.certificate).unwrap(),
                    false => RecipientKey::new(&owned.key),
                }
            }
            Self::Agreement { of, certificate } => {
                let Owned {
                    key,
                    certificate: own,
                } = one_of(&KEYS.agreements.each_ref(), of);
                match certificate {
                    true => RecipientKey::agreement_with_certificate(key, own).unwrap(),
                    false => RecipientKey::agreement(key),
                }
            }
            Self::Shared(of) => {
                let (id, key) = one_of(&SHARED, of);
                RecipientKey::shared_key(id, key)
            }
            Self::Strange => RecipientKey::new(&KEYS.strange),
        }
    }
}

/// A key and a certificate, which is its own or another's.
#[derive(Arbitrary, Debug)]
struct Mismatched {
    of: u8,
    certificate: u8,
    shared_len: u8,
}

impl Mismatched {
    fn check(&self) {
        let agreements = KEYS.agreements.iter().map(|it| &it.certificate);
        let certificates: Vec<_> = (KEYS.kems.iter().map(|it| &it.certificate))
            .chain(agreements)
            .chain([&KEYS.misused])
            .collect();
        let certificate = one_of(&certificates, self.certificate);
        let kem = &one_of(&KEYS.kems.each_ref(), self.of).key;
        let agreement = &one_of(&KEYS.agreements.each_ref(), self.of).key;
        let is_of = |key: &dyn SubjectKey| key.spki().as_ref() == certificate.spki().as_ref();
        let named = RecipientKey::with_certificate(kem, certificate);
        assert_eq!(named.is_ok(), is_of(kem));
        let named = RecipientKey::agreement_with_certificate(agreement, certificate);
        assert_eq!(named.is_ok(), is_of(agreement));

        let is_of_kem = KEYS.kems.iter().any(|it| is_of(&it.key));
        let key = agreement.public_key().clone();
        let is_own = is_of(agreement) && certificate != &KEYS.misused;
        let is_key = matches!(self.shared_len, 16 | 32);
        for (recipient, is_one) in [
            (Recipient::certificate(certificate), is_of_kem),
            (Recipient::agreement_certificate(certificate, key), is_own),
            (
                Recipient::shared_key(b"id", &vec![0xa7; self.shared_len.into()]),
                is_key,
            ),
        ] {
            assert_eq!(recipient.is_ok(), is_one);
            match recipient {
                Ok(recipient) => check_secrecy(&format!("{recipient:?}")),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}

/// A change to a message, some parts of which are not authenticated.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Change {
    AddRecipient {
        kind: Foreign,
        at: u8,
    },
    AddOriginator,
    AddUnauthenticated,
    RemoveAttributes,
    RepeatAttribute,
    CutTag(u8),
    CutContent(u8),
    AddUkm(u8),
    RetypeContent(u8),
    RemoveContent,
    Version(u8),
    /// Another last byte for an object identifier.
    Rename {
        which: u8,
        by: u8,
    },
    Trail,
}

/// Recipients whose keys are not here.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Foreign {
    Transport,
    Password,
    Other,
    OtherVersion,
    OfCertificate,
    Shared,
    Unknown,
    Large,
    Many,
}

impl Foreign {
    fn recipients(self) -> Vec<Element> {
        let number = |number| primitive(INTEGER, &[number]);
        let octets = |bytes: &[u8]| primitive(OCTET_STRING, bytes);
        let algorithm = || constructed(SEQUENCE, vec![primitive(OID, &[0x2a, 3])]);
        let id = || constructed(SEQUENCE, vec![octets(b"id")]);
        let shared = |version| vec![number(version), id(), algorithm(), octets(b"key")];
        vec![match self {
            Self::Transport => {
                let name = primitive(0x80, b"id");
                constructed(SEQUENCE, vec![number(2), name, algorithm(), octets(b"key")])
            }
            Self::Password => constructed(context(3), vec![number(0), algorithm(), octets(b"key")]),
            Self::Other => constructed(context(4), vec![primitive(OID, &[0x2a, 3]), octets(b"")]),
            Self::OtherVersion => constructed(context(1), vec![number(9)]),
            Self::OfCertificate => {
                let originator = constructed(context(0), vec![primitive(0x80, b"id")]);
                constructed(context(1), vec![number(3), originator])
            }
            Self::Shared => constructed(context(2), shared(4)),
            Self::Unknown => constructed(context(5), shared(4)),
            Self::Large => constructed(context(4), vec![octets(&[0; 70_000])]),
            Self::Many => {
                return vec![constructed(context(3), vec![number(0)]); 1030];
            }
        }]
    }
}

/// The result that an opener must come to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Opens,
    IsRefused,
    /// The model can't predict it.
    Unpredictable,
}

impl Encrypted<'_> {
    /// The changes, but not all of them, as some add a lot of bytes.
    fn changes(&self) -> &[Change] {
        &self.changes[..self.changes.len().min(8)]
    }

    fn check(&self) {
        const CIPHERS: [ContentCipher; 4] = [
            ContentCipher::Aes256Gcm,
            ContentCipher::Aes128Gcm,
            ContentCipher::Aes256Cbc,
            ContentCipher::Aes128Cbc,
        ];
        let recipients = &self.recipients[..self.recipients.len().min(4)];
        let cipher = one_of(&CIPHERS, self.cipher);
        let content_type = one_of(&TYPES, self.content_type);
        let mut builder = EnvelopeBuilder::new()
            .cipher(cipher)
            .content_type(content_type);
        for recipient in recipients {
            builder = builder.recipient(recipient.recipient());
        }
        check_secrecy(&format!("{builder:?}"));
        let content = self.content.bytes();

        let mut sink = self.writer.writer();
        let written = builder.encrypt(self.reader.reader(&content), &mut sink);
        let message = match written {
            Ok(()) => {
                assert!(self.reader.fails_at() > content.len());
                sink.bytes
            }
            Err(EnvelopingError::NoRecipient) => return assert!(recipients.is_empty()),
            Err(EnvelopingError::Encoding(error)) => {
                match error {
                    EncodingError::Read(_) => assert!(self.reader.fails_at() <= content.len()),
                    EncodingError::Write(_) => assert_eq!(sink.bytes.len(), self.writer.fails_at()),
                    other => panic!("{other}"),
                }
                let mut message = Vec::new();
                builder.encrypt(&*content, &mut message).unwrap();
                message
            }
            Err(error) => panic!("{error}"),
        };
        self.open(message, cipher, content_type, &content, recipients);
    }

    fn open(
        &self,
        message: Vec<u8>,
        cipher: ContentCipher,
        content_type: ObjectIdentifier,
        content: &[u8],
        recipients: &[AnyRecipient],
    ) {
        let mut fate = match recipients.iter().any(|it| it.is_of(self.key)) {
            true => Fate::Opens,
            false => Fate::IsRefused,
        };
        let mut element = parse(&mut &*message);
        let mut expected = Expected {
            content_type,
            recipients: recipients.len() as u64,
        };
        let mut is_trailed = false;
        for change in self.changes() {
            let becomes = change.apply(&mut element, self.key, cipher, &mut expected);
            is_trailed |= matches!(change, Change::Trail);
            fate = match (fate, becomes) {
                (Fate::IsRefused, _) | (_, Fate::IsRefused) => Fate::IsRefused,
                (Fate::Unpredictable, _) | (_, Fate::Unpredictable) => Fate::Unpredictable,
                _ => Fate::Opens,
            };
        }
        let mut message = self.rewriting.write(element);
        if self.in_pem {
            assert_eq!(through_pem(&message, &self.reader), message);
        }
        if is_trailed {
            message.push(0);
        }
        let before = message.clone();
        for edit in &self.edits {
            edit.apply(&mut message);
        }
        if message != before {
            fate = Fate::Unpredictable;
        }
        match inspect(self.reader.reader(&message)) {
            Ok(Outline::Enveloped(outline)) if fate == Fate::Opens => {
                assert_eq!(outline.content_type, expected.content_type);
                assert_eq!(outline.recipients_len, expected.recipients);
                assert_eq!(outline.is_authenticated, cipher.is_authenticated());
            }
            Ok(outline) => assert!(fate != Fate::Opens, "{outline:?}"),
            Err(error) => {
                let fails = self.reader.fails_at() <= message.len();
                assert!(fails || fate != Fate::Opens, "{error}");
            }
        }
        self.open_every_way(&message, cipher, fate, content, &expected);
    }

    fn open_every_way(
        &self,
        message: &[u8],
        cipher: ContentCipher,
        fate: Fate,
        content: &[u8],
        expected: &Expected,
    ) {
        let strict = Opener::new(self.key.key());
        check_secrecy(&format!("{strict:?}"));
        let opener = strict.clone().take_unauthenticated();
        let (kept, opened) = match opener.open_to_vec(message, 1 << 20) {
            Ok((kept, opened)) => {
                assert_ne!(fate, Fate::IsRefused);
                // Content that is not authenticated may be changed.
                if fate == Fate::Opens || opened.cipher.is_authenticated() {
                    assert!(*kept == *content);
                }
                if fate == Fate::Opens {
                    assert_eq!(opened.cipher, cipher);
                    assert_eq!(opened.content_type, expected.content_type);
                    assert_eq!(opened.recipients, expected.recipients);
                }
                assert_eq!(opened.len, kept.len() as u64);
                (Some(kept), Some(opened))
            }
            Err(error) => {
                assert_ne!(fate, Fate::Opens, "{error}");
                assert!(!error.to_string().is_empty());
                (None, None)
            }
        };
        let reads = self.reader.fails_at() > message.len();
        let fits = |content: &[u8]| self.writer.fails_at() >= content.len();

        let mut sink = self.writer.writer();
        let once = opener.open(self.reader.reader(message), &mut sink);
        match &kept {
            Some(kept) if reads && fits(kept) => {
                assert_eq!(once.ok(), opened);
                assert!(sink.bytes == **kept);
            }
            _ => assert!(once.is_err()),
        }

        let mut sink = self.writer.writer();
        match opener.open_seekable(self.reader.reader(message), &mut sink) {
            Ok(again) => {
                assert!(cipher_is_authenticated(&opened) && reads);
                assert_eq!(Some(again), opened);
                assert!(Some(&sink.bytes) == kept.as_deref());
            }
            Err(OpeningError::Encoding(EncodingError::Write(_))) => {
                let kept = kept.as_deref().expect("authentic content");
                assert!(!fits(kept) && kept.starts_with(&sink.bytes));
            }
            Err(_) => {
                assert!(sink.bytes.is_empty());
                assert!(!(reads && cipher_is_authenticated(&opened)));
            }
        }

        if let Some(kept) = &kept {
            let limited = strict.open_to_vec(message, kept.len());
            assert_eq!(limited.is_ok(), cipher_is_authenticated(&opened));
            if let Some(less) = kept.len().checked_sub(1) {
                assert!(strict.open_to_vec(message, less).is_err());
            }
        }
    }
}

fn cipher_is_authenticated(opened: &Option<pq_cms::Opened>) -> bool {
    opened
        .as_ref()
        .is_some_and(|it| it.cipher.is_authenticated())
}

struct Expected {
    content_type: ObjectIdentifier,
    recipients: u64,
}

impl Change {
    /// Changes the message, and returns the result that an opener must come to.
    fn apply(
        self,
        message: &mut Element,
        key: AnyKey,
        cipher: ContentCipher,
        expected: &mut Expected,
    ) -> Fate {
        if let Self::CutContent(len) = self {
            return cut_content(message, len.into());
        }
        let is_authenticated = cipher.is_authenticated();
        let noticed = match is_authenticated {
            true => Fate::IsRefused,
            false => Fate::Opens,
        };
        let fields = fields(message);
        match self {
            Self::AddRecipient { kind, at } => {
                let set = place(fields, SET).expect("recipients");
                let recipients = inner(&mut fields[set]);
                let at = usize::from(at) % (recipients.len() + 1);
                let new = kind.recipients();
                expected.recipients += new.len() as u64;
                recipients.splice(at..at, new);
                Fate::Opens
            }
            Self::AddOriginator => {
                if fields[1].tag != context(0) {
                    fields.insert(1, constructed(context(0), Vec::new()));
                }
                Fate::Opens
            }
            Self::AddUnauthenticated => {
                let tag = context(if is_authenticated { 2 } else { 1 });
                if fields.last().is_some_and(|last| last.tag != tag) {
                    fields.push(constructed(tag, Vec::new()));
                }
                Fate::Opens
            }
            Self::RemoveAttributes | Self::RepeatAttribute if !is_authenticated => Fate::Opens,
            Self::RemoveAttributes => match place(fields, context(1)) {
                Some(at) => {
                    fields.remove(at);
                    Fate::IsRefused
                }
                None => Fate::Opens,
            },
            Self::RepeatAttribute => match place(fields, context(1)) {
                Some(at) => {
                    let attributes = inner(&mut fields[at]);
                    attributes.extend(attributes.first().cloned());
                    Fate::IsRefused
                }
                None => Fate::Opens,
            },
            Self::CutTag(len) => match place(fields, OCTET_STRING) {
                Some(at) => match &mut fields[at].contents {
                    Contents::Bytes(tag) if usize::from(len) < tag.len() => {
                        tag.truncate(len.into());
                        Fate::IsRefused
                    }
                    _ => Fate::Opens,
                },
                None => Fate::Opens,
            },
            Self::CutContent(_) => unreachable!("it was cut above"),
            Self::AddUkm(len) => {
                let ukm = vec![primitive(OCTET_STRING, &vec![9; len.into()])];
                let set = place(fields, SET).expect("recipients");
                for recipient in inner(&mut fields[set]) {
                    let tag = recipient.tag;
                    let parts = inner(recipient);
                    match (tag, parts.get(1).map(|it| it.tag)) {
                        (KEM, Some(SEQUENCE)) => {
                            inner(&mut parts[1]).insert(6, constructed(context(0), ukm.clone()));
                        }
                        (AGREEMENT, Some(_)) if parts.len() > 2 => {
                            parts.insert(2, constructed(AGREEMENT, ukm.clone()));
                        }
                        _ => {}
                    }
                }
                // The keys that are derived from a secret depend on this, too.
                match key {
                    AnyKey::Shared(_) => Fate::Opens,
                    _ => Fate::IsRefused,
                }
            }
            Self::RetypeContent(by) => {
                let by = one_of(&TYPES, by);
                let at = place(fields, SEQUENCE).expect("content");
                inner(&mut fields[at])[0] = primitive(OID, by.as_bytes());
                match by == expected.content_type {
                    true => Fate::Opens,
                    false => {
                        // A further change may undo it.
                        expected.content_type = by;
                        match noticed {
                            Fate::Opens => Fate::Opens,
                            _ => Fate::Unpredictable,
                        }
                    }
                }
            }
            Self::RemoveContent => {
                let at = place(fields, SEQUENCE).expect("content");
                inner(&mut fields[at]).truncate(2);
                Fate::IsRefused
            }
            Self::Version(version) => {
                fields[0] = primitive(INTEGER, &[version & 0x7f]);
                let is_known = match is_authenticated {
                    true => version & 0x7f == 0,
                    false => matches!(version & 0x7f, 0 | 2..=4),
                };
                match is_known {
                    true => Fate::Opens,
                    // A further change may undo it.
                    false => Fate::Unpredictable,
                }
            }
            Self::Rename { which, by } => {
                rename(message, which, by);
                Fate::Unpredictable
            }
            Self::Trail => Fate::IsRefused,
        }
    }
}

/// Tags of recipients.
const KEM: u8 = context(4);
const AGREEMENT: u8 = context(1);

/// Cuts bytes off the end of the encrypted content.
fn cut_content(message: &mut Element, len: usize) -> Fate {
    match content_of(message) {
        Some(Element {
            contents: Contents::Bytes(bytes),
            ..
        }) if (1..=bytes.len()).contains(&len) => {
            bytes.truncate(bytes.len() - len);
            // The remaining whole blocks may end like padding.
            Fate::Unpredictable
        }
        _ => Fate::Opens,
    }
}

/// Changes the last byte of one of the object identifiers.
fn rename(element: &mut Element, which: u8, by: u8) {
    fn all<'e>(element: &'e mut Element, found: &mut Vec<&'e mut u8>) {
        match &mut element.contents {
            Contents::Bytes(bytes) => {
                if element.tag == OID {
                    found.extend(bytes.last_mut());
                }
            }
            Contents::Elements(_, inner) => inner.iter_mut().for_each(|it| all(it, found)),
        }
    }
    let mut found = Vec::new();
    all(element, &mut found);
    let at = usize::from(which) % found.len();
    // The ends of identifiers of hash functions, ciphers, key wraps and key derivations.
    const ENDS: [u8; 14] = [1, 2, 3, 5, 6, 19, 20, 21, 28, 29, 30, 42, 45, 46];
    *found[at] = one_of(&ENDS, by);
}

/// Checks that a text contains none of the shared keys.
fn check_secrecy(text: &str) {
    let hex = "a7".repeat(16);
    for bytes in [hex.to_uppercase(), hex, ["167"; 16].join(", ")] {
        assert!(!text.contains(&bytes));
    }
}

// Signed messages.

#[derive(Arbitrary, Debug)]
struct Signed<'a> {
    content_type: u8,
    signers: Vec<AnySigner>,
    is_detached: bool,
    without_certificates: bool,
    verifier: AnyVerifier,
    changes: Vec<SignedChange>,
    version: Option<u8>,
    rewriting: Rewriting,
    in_pem: bool,
    edits: Vec<Edit<'a>>,
    content: AnyContent,
    reader: Pace,
    writer: Pace,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct AnySigner {
    key: u8,
    /// The certificate belongs to another key.
    is_other: bool,
    digest: Option<u8>,
    without_attributes: bool,
    by_key_identifier: bool,
}

#[derive(Arbitrary, Debug)]
struct AnyVerifier {
    any_signer: bool,
    expect_no_attributes: bool,
    whole_limit: Option<u8>,
    is_without_classical: bool,
    is_at_time: bool,
}

/// A key of RSA that signs by one scheme.
struct RsaSigner {
    key: ClassicalKey,
    scheme: (RsaScheme, &'static str),
}

/// Schemes, and their identifiers in messages. `rsaEncryption`, the second one, names no hash function.
const RSA: [(RsaScheme, &str); 3] = [
    (RsaScheme::Pkcs1Sha256, "1.2.840.113549.1.1.11"),
    (RsaScheme::Pkcs1Sha512, "1.2.840.113549.1.1.1"),
    (RsaScheme::PssSha256, "1.2.840.113549.1.1.10"),
];

/// The digests that each of [`Keys::signers`] accepts, its usual one first: for ML-DSA those of RFC 9882, for others
/// the one of their signatures, which `rsaEncryption` leaves open.
const SIGNER_DIGESTS: [&[PreHash]; 7] = [
    &[
        PreHash::Sha512,
        PreHash::Sha256,
        PreHash::Sha384,
        PreHash::Sha3_256,
        PreHash::Sha3_384,
        PreHash::Sha3_512,
        PreHash::Shake128,
        PreHash::Shake256,
    ],
    &[
        PreHash::Sha512,
        PreHash::Sha384,
        PreHash::Sha3_384,
        PreHash::Sha3_512,
        PreHash::Shake256,
    ],
    &[PreHash::Sha512],
    &[PreHash::Sha384],
    &[PreHash::Sha256],
    &[PreHash::Sha512, PreHash::Sha256, PreHash::Sha384],
    &[PreHash::Sha256],
];

/// The first of [`Keys::signers`] that is classical.
const FIRST_CLASSICAL: usize = 2;

/// The one of [`Keys::signers`] that says `rsaEncryption`, and signs with SHA-512 whatever the digest is.
const RSA_ENCRYPTION: usize = 5;

impl AnySigner {
    fn place(&self) -> usize {
        usize::from(self.key) % SIGNER_DIGESTS.len()
    }

    /// The hash function that was set, if any.
    fn chosen_digest(&self) -> Option<PreHash> {
        let all: Vec<PreHash> = digests().collect();
        self.digest.map(|digest| one_of(&all, digest))
    }

    fn digest(&self) -> PreHash {
        let usual = SIGNER_DIGESTS[self.place()][0];
        self.chosen_digest().unwrap_or(usual)
    }

    /// Whether it signs this content.
    fn signs(&self, content_type: ObjectIdentifier, content: &AnyContent) -> bool {
        let is_plain = content_type == DATA && !content.is_attributes();
        !self.is_other
            && SIGNER_DIGESTS[self.place()].contains(&self.digest())
            && (is_plain || !self.without_attributes)
    }
}

impl SubjectKey for RsaSigner {
    fn spki(&self) -> pq_x509::pki_types::SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }
}

impl Signer for RsaSigner {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        use pq_x509::x509_cert::der::Decode;

        /// SHA-256, its mask and 32 bytes of salt (RFC 4055, section 3.1).
        const PSS: [u8; 54] = [
            0x30, 0x34, 0xa0, 0x0f, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03,
            0x04, 0x02, 0x01, 0x05, 0x00, 0xa1, 0x1c, 0x30, 0x1a, 0x06, 0x09, 0x2a, 0x86, 0x48,
            0x86, 0xf7, 0x0d, 0x01, 0x01, 0x08, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01,
            0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0xa2, 0x03, 0x02, 0x01, 0x20,
        ];
        let parameters: &[u8] = match self.scheme.0 {
            RsaScheme::PssSha256 => &PSS,
            _ => &[0x05, 0x00],
        };
        AlgorithmIdentifierOwned {
            oid: oid(self.scheme.1),
            parameters: Some(Decode::from_der(parameters).unwrap()),
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        (self.key.sign_with(message, self.scheme.0)).map_err(SignError::new)
    }
}

/// A change to a signed message.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum SignedChange {
    /// A certificate of another kind than X.509, which verifiers ignore.
    AddCertificate(u8),
    AddList {
        is_other: bool,
    },
    RepeatDigest,
    AddDigest,
    ManyDigests,
    SwapAttributes(u8),
    RepeatAttribute(u8),
    RepeatValue(u8),
    ManyAttributes(u8),
    RetypeContent(u8),
    RemoveDigests,
    AddNulls,
    RemoveSigners,
    Trail,
}

impl Signed<'_> {
    fn changes(&self) -> &[SignedChange] {
        &self.changes[..self.changes.len().min(8)]
    }

    fn signers(&self) -> &[AnySigner] {
        &self.signers[..self.signers.len().min(3)]
    }

    fn check(&self) {
        let content_type = one_of(&TYPES, self.content_type);
        let mut builder = SignedDataBuilder::new()
            .content_type(content_type)
            .signing_time(at(NOW));
        for any in self.signers() {
            let owned = &KEYS.signers[any.place()];
            let certificate = match any.is_other {
                true => &KEYS.misused,
                false => &owned.certificate,
            };
            let mut signer = DocumentSigner::with_signer(certificate, &*owned.key);
            if let Some(digest) = any.chosen_digest() {
                signer = signer.digest(digest);
            }
            if any.without_attributes {
                signer = signer.without_attributes();
            }
            if any.by_key_identifier {
                signer = signer.by_key_identifier();
            }
            builder = builder.signer(signer);
        }
        match self.without_certificates {
            true => builder = builder.without_certificates(),
            false => builder = builder.certificates([&KEYS.misused]),
        }
        assert!(!format!("{builder:?}").is_empty());
        let content = self.content.bytes();

        let mut sink = self.writer.writer();
        let signed = match self.is_detached {
            true => (builder.sign_detached(self.reader.reader(&content)))
                .map(|message| sink.bytes = message),
            false => builder.sign(self.reader.reader(&content), &mut sink),
        };
        let reads = self.reader.fails_at() > content.len();
        let can_be_signed = reads
            && !self.signers().is_empty()
            && (self.signers().iter()).all(|it| it.signs(content_type, &self.content));
        match signed {
            Ok(()) => {
                assert!(can_be_signed);
                self.verify(sink.bytes, content_type, &content);
            }
            Err(error) => {
                let is_full = !self.is_detached && self.writer.fails_at() == sink.bytes.len();
                assert!(!can_be_signed || is_full, "{error}");
            }
        }
    }

    fn verify(&self, message: Vec<u8>, content_type: ObjectIdentifier, content: &[u8]) {
        let mut element = parse(&mut &*message);
        let mut changed = Changed {
            content_type,
            least_version: 1,
            attributes: false,
            has_digests: true,
            has_nulls: false,
            has_signers: true,
        };
        for change in self.changes() {
            change.apply(&mut element, &mut changed);
        }
        let expected_version = self.version_of(&changed);
        let version = self.version.map_or(expected_version, |it| it & 0x7f);
        fields(&mut element)[0] = primitive(INTEGER, &[version]);
        let is_trailed = (self.changes().iter()).any(|it| matches!(it, SignedChange::Trail));
        let is_well_formed = version == expected_version
            && inner(&mut fields(&mut element)[1]).len() <= MAX_DIGESTS
            && !is_trailed;
        let mut message = self.rewriting.write(element);
        if self.in_pem {
            assert_eq!(through_pem(&message, &self.reader), message);
        }
        if is_trailed {
            message.push(0);
        }
        let before = message.clone();
        for edit in &self.edits {
            edit.apply(&mut message);
        }
        let is_edited = message != before;
        let reads = self.reader.fails_at() > message.len();

        let inspected = inspect(self.reader.reader(&message));
        if !is_edited {
            assert_eq!(inspected.is_ok(), is_well_formed && reads);
            if let Ok(outline) = inspected {
                let Outline::Signed(outline) = outline else {
                    panic!("{outline:?}");
                };
                assert_eq!(outline.content_type, changed.content_type);
                let len = (!self.is_detached).then_some(content.len() as u64);
                assert_eq!(outline.content_len, len);
            }
        }

        let judge = |is_hashed| {
            let is_valid = |it: &&AnySigner| {
                is_well_formed && self.is_valid(it, &changed, is_hashed, content.len())
            };
            Verdict {
                content_type,
                len: content.len() as u64,
                all: self.signers().len(),
                valid: self.signers().iter().filter(is_valid).count(),
                any_signer: self.verifier.any_signer,
                is_edited,
            }
        };
        let verdict = judge(self.is_detached || self.verifier.expect_no_attributes);
        let certificates = KEYS.signers.iter().map(|it| it.certificate.clone());
        let verifier = self.configured(Verifier::with_signers(certificates).unwrap());

        if self.is_detached {
            assert!(verifier.verify_to_vec(&*message, 1 << 20).is_err());
            verdict.check(&verifier.verify_detached(&*message, self.reader.reader(content)));
            let other = [content, b"!"].concat();
            assert!(verifier.verify_detached(&*message, &*other).is_err());
            return;
        }
        assert!(verifier.verify_detached(&*message, content).is_err());
        let take = |verifier: &Verifier<'_>| {
            let (read, verified) = verifier.verify_to_vec(&*message, content.len())?;
            assert!(read == content);
            Ok(verified)
        };
        let whole = take(&verifier);
        verdict.check(&whole);
        let mut sink = self.writer.writer();
        let verified = verifier.verify(self.reader.reader(&message), &mut sink);
        let is_taken = reads && self.writer.fails_at() >= content.len();
        assert!(content.starts_with(&sink.bytes) || is_edited);
        assert_eq!(verified.is_ok(), whole.is_ok() && is_taken);
        if let Some(less) = content.len().checked_sub(1) {
            assert!(verifier.verify_to_vec(&*message, less).is_err());
        }
        let chains = take(&self.configured(Verifier::with_chains(&KEYS.root)));
        match self.without_certificates {
            true => assert!(chains.is_err()),
            false => judge(false).check(&chains),
        }
    }

    /// The version that a message must have (RFC 5652, section 5.1).
    fn version_of(&self, changed: &Changed) -> u8 {
        let is_named = changed.has_signers && self.signers().iter().any(|it| it.by_key_identifier);
        match changed.content_type != DATA || is_named {
            true => changed.least_version.max(3),
            false => changed.least_version,
        }
    }

    /// Whether a signature is valid after these changes. Without attributes, a key of ML-DSA signs content of any
    /// length if it `is_hashed`; otherwise only content that a verifier keeps in memory.
    fn is_valid(&self, signer: &AnySigner, changed: &Changed, is_hashed: bool, len: usize) -> bool {
        let digest = signer.digest();
        let is_sha_2 = matches!(digest, PreHash::Sha256 | PreHash::Sha384 | PreHash::Sha512);
        let is_classical = signer.place() >= FIRST_CLASSICAL;
        let limit = self
            .verifier
            .whole_limit
            .map_or(1 << 20, |it| PIECE.max(usize::from(it) << 10));
        let is_intact = match signer.without_attributes {
            true => is_hashed && !is_classical || len <= limit,
            false => !changed.attributes,
        };
        is_intact
            && changed.content_type == one_of(&TYPES, self.content_type)
            && changed.has_signers
            && changed.has_digests
            && (!changed.has_nulls || is_sha_2)
            && !(is_classical && self.verifier.is_without_classical)
            && (signer.place() != RSA_ENCRYPTION || digest == PreHash::Sha512)
    }

    fn configured<'v>(&self, mut verifier: Verifier<'v>) -> Verifier<'v> {
        if !self.verifier.is_without_classical {
            verifier = verifier.algorithms(verification_algorithms().unwrap());
        }
        if self.verifier.any_signer {
            verifier = verifier.any_signer();
        }
        if self.verifier.expect_no_attributes {
            verifier = verifier.expect_no_attributes();
        }
        if self.verifier.is_at_time {
            verifier = verifier.time(VerificationTime::At(UnixTime::since_unix_epoch(
                Duration::from_secs(NOW),
            )));
        }
        match self.verifier.whole_limit {
            Some(limit) => verifier.whole_limit(usize::from(limit) << 10),
            None => verifier,
        }
    }
}

/// The result that a verifier must come to.
struct Verdict {
    content_type: ObjectIdentifier,
    len: u64,
    /// How many signatures there are.
    all: usize,
    /// How many of them are valid.
    valid: usize,
    any_signer: bool,
    /// The message was changed at random, so the numbers may be others.
    is_edited: bool,
}

impl Verdict {
    fn check(&self, verified: &Result<Verified, VerificationError>) {
        let is_taken = self.valid > 0 && (self.any_signer || self.valid == self.all);
        match verified {
            Ok(verified) => {
                assert_eq!(verified.content_type, self.content_type);
                assert_eq!(verified.len, self.len);
                assert!(verified.refused.is_empty() || self.any_signer);
                if !self.is_edited {
                    assert!(is_taken);
                    assert_eq!(verified.signers.len(), self.valid);
                    assert_eq!(verified.refused.len(), self.all - self.valid);
                }
            }
            Err(error) => assert!(!is_taken || self.is_edited, "{error}"),
        }
    }
}

/// How many hash functions a message may announce.
const MAX_DIGESTS: usize = 16;

/// The effects of the changes to a message.
struct Changed {
    content_type: ObjectIdentifier,
    /// The version that its certificates and lists require.
    least_version: u8,
    /// The signed attributes differ from those that were signed.
    attributes: bool,
    /// It announces the hash functions of its signers.
    has_digests: bool,
    /// It announces hash functions with NULL parameters, which only those of SHA-2 may have.
    has_nulls: bool,
    has_signers: bool,
}

impl SignedChange {
    fn apply(self, message: &mut Element, changed: &mut Changed) {
        let fields = fields(message);
        let signers = fields.len() - 1;
        match self {
            Self::AddCertificate(kind) => {
                let kind = kind % 3 + 1;
                let at = match place(fields, context(0)) {
                    Some(at) => at,
                    None => {
                        fields.insert(3, constructed(context(0), Vec::new()));
                        3
                    }
                };
                inner(&mut fields[at]).push(constructed(context(kind), Vec::new()));
                changed.least_version = changed.least_version.max(kind + 2);
            }
            Self::AddList { is_other } => {
                let at = match place(fields, context(1)) {
                    Some(at) => at,
                    None => {
                        fields.insert(signers, constructed(context(1), Vec::new()));
                        signers
                    }
                };
                let tag = if is_other { context(1) } else { SEQUENCE };
                inner(&mut fields[at]).push(constructed(tag, Vec::new()));
                if is_other {
                    changed.least_version = 5;
                }
            }
            Self::RepeatDigest => {
                let digests = inner(&mut fields[1]);
                digests.extend(digests.first().cloned());
            }
            Self::AddDigest => {
                let unknown = primitive(OID, &[0x2a, 3]);
                inner(&mut fields[1]).push(constructed(SEQUENCE, vec![unknown]));
            }
            Self::ManyDigests => {
                let digests = inner(&mut fields[1]);
                let one = digests.first().cloned();
                digests.extend(one.into_iter().cycle().take(300));
            }
            // A second swap might undo the first.
            Self::SwapAttributes(_) if changed.attributes => {}
            Self::SwapAttributes(at) => {
                changed.attributes = true;
                change_attributes(&mut fields[signers], |attributes| {
                    let len = attributes.len();
                    attributes.swap(usize::from(at) % len, (usize::from(at) + 1) % len);
                });
            }
            Self::RepeatAttribute(at) => {
                changed.attributes = true;
                change_attributes(&mut fields[signers], |attributes| {
                    let at = usize::from(at) % attributes.len();
                    attributes.insert(at, attributes[at].clone());
                });
            }
            Self::RepeatValue(at) => {
                changed.attributes = true;
                change_attributes(&mut fields[signers], |attributes| {
                    let at = usize::from(at) % attributes.len();
                    let values = inner(&mut inner(&mut attributes[at])[1]);
                    values.extend(values.first().cloned());
                });
            }
            Self::RetypeContent(by) => {
                changed.content_type = one_of(&TYPES, by);
                let at = place(fields, SEQUENCE).expect("content");
                inner(&mut fields[at])[0] = primitive(OID, changed.content_type.as_bytes());
            }
            Self::RemoveDigests => {
                inner(&mut fields[1]).clear();
                changed.has_digests = false;
            }
            Self::AddNulls => {
                changed.has_nulls = true;
                for digest in inner(&mut fields[1]) {
                    let parts = inner(digest);
                    if parts.len() == 1 {
                        parts.push(primitive(0x05, &[]));
                    }
                }
            }
            Self::ManyAttributes(more) => {
                changed.attributes = true;
                change_attributes(&mut fields[signers], |attributes| {
                    for number in 0..=more {
                        let ends = [number >> 7 | 0x80, number & 0x7f];
                        let id = primitive(OID, &[&[0x2a, 0x86][..], &ends].concat());
                        let values = constructed(SET, Vec::new());
                        attributes.push(constructed(SEQUENCE, vec![id, values]));
                    }
                    attributes.sort_by_key(|it| encode(it, 0));
                });
            }
            Self::RemoveSigners => {
                inner(&mut fields[signers]).clear();
                changed.has_signers = false;
            }
            // The byte is added after the message is encoded.
            Self::Trail => {}
        }
    }
}

/// Changes the attributes of every signer that has any.
fn change_attributes(signers: &mut Element, change: impl Fn(&mut Vec<Element>)) {
    for signer in inner(signers) {
        let fields = inner(signer);
        if let Some(at) = (1..fields.len()).rfind(|at| fields[*at].tag == context(0)) {
            change(inner(&mut fields[at]));
        }
    }
}

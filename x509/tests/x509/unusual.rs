//! Documents that are well-formed DER with unusual values: each is read and judged, or refused with a sentence that says
//! what it is about. Only what is no DER is called that.

use der::Encode;
use der::asn1::{ObjectIdentifier, OctetString};
use pq_x509::certificate::Certificate;
use pq_x509::certificate::Validity;
use pq_x509::issuing::{IssueError, Issuer};
use pq_x509::keys::Signer;
use pq_x509::keys::encoding::syntax::{elements, is_der};
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder, OcspResponse};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::{CertificateRevocationList, CertificateRevocationListBuilder};

use crate::pki::{Pki, sign};

/// A value with this first byte and these contents.
fn value(tag: u8, contents: &[u8]) -> Vec<u8> {
    let with_length = OctetString::new(contents).unwrap().to_der().unwrap();
    [&[tag], &with_length[1..]].concat()
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    value(0x30, &parts.concat())
}

/// 2.25 and a UUID: 20 bytes, for a number of 128 bits.
const UUID: [u8; 20] = [
    0x69, 131, 240, 157, 167, 235, 207, 222, 224, 199, 161, 167, 178, 192, 148, 140, 200, 249, 215,
    118,
];
const UUID_TEXT: &str = "2.25.329800735698586629295641978511506172918";

fn oid(dotted: &str) -> Vec<u8> {
    ObjectIdentifier::new_unwrap(dotted).to_der().unwrap()
}

fn extension(kind: &[u8], critical: bool, contents: &[u8]) -> Vec<u8> {
    let critical: &[u8] = if critical { &[1, 1, 0xff] } else { &[] };
    sequence(&[kind, critical, &value(4, contents)])
}

/// A name whose common name is of this type.
fn name(tag: u8, text: &[u8]) -> Vec<u8> {
    let attribute = sequence(&[&oid("2.5.4.3"), &value(tag, text)]);
    sequence(&[&value(0x31, &attribute)])
}

/// The fields of a signed document's body.
#[derive(Clone)]
struct Body(Vec<Vec<u8>>);

impl Body {
    fn of(document: &[u8]) -> Self {
        let parts = elements(document).next().unwrap();
        let body = elements(parts.value).next().unwrap();
        Self(
            elements(body.value)
                .map(|field| field.whole.to_vec())
                .collect(),
        )
    }

    fn der(&self) -> Vec<u8> {
        value(0x30, &self.0.concat())
    }

    /// The first byte of its tag tells a field from others that are alike.
    fn replace(&mut self, place: usize, field: Vec<u8>) {
        self.0[place] = field;
    }

    /// Puts an extension in the place of the one of its kind, or else at the end of the list, which is the last field.
    fn set_extension(&mut self, new: &[u8]) {
        let list = self.0.last().unwrap();
        let tag = list[0];
        let list = elements(elements(list).next().unwrap().value)
            .next()
            .unwrap()
            .value
            .to_vec();
        let kind = |extension: &[u8]| {
            let extension = elements(extension).next().unwrap();
            elements(extension.value).next().unwrap().whole.to_vec()
        };
        let others = elements(&list)
            .map(|one| one.whole.to_vec())
            .filter(|one| kind(one) != kind(new));
        let all: Vec<u8> = others.chain([new.to_vec()]).flatten().collect();
        *self.0.last_mut().unwrap() = value(tag, &value(0x30, &all));
    }
}

/// What becomes of a certificate.
enum Verdict {
    /// It is read, and valid.
    Valid,
    /// It is read, and refused with a sentence that has this in it.
    Invalid(&'static str),
    /// It is not read, with a sentence that has this in it.
    Unread(&'static str),
}
use Verdict::{Invalid, Unread, Valid};

const SERIAL: usize = 1;
const VALIDITY: usize = 4;
const SUBJECT: usize = 5;
const KEY: usize = 6;

/// What no sentence may say about a document that is DER.
const BLAMES_DER: [&str; 4] = ["not valid DER", "not well-formed", "malformed", "no DER"];

type Row = (&'static str, fn(&mut Body), Verdict);

fn alternative_names(extra: &[u8]) -> Vec<u8> {
    let names = sequence(&[&value(0x82, b"example.org"), extra]);
    extension(&oid("2.5.29.17"), false, &names)
}

/// A key of RSA of so many bytes.
fn rsa(bytes: usize) -> Vec<u8> {
    let modulus = value(2, &[vec![0], vec![0xff; bytes]].concat());
    let key = sequence(&[&modulus, &value(2, &[1, 0, 1])]);
    let algorithm = sequence(&[&oid("1.2.840.113549.1.1.1"), &[5, 0]]);
    sequence(&[&algorithm, &value(3, &[vec![0], key].concat())])
}

const ROWS: &[Row] = &[
    (
        "an RSA key of 2048 bits",
        |body| body.replace(KEY, rsa(256)),
        Valid,
    ),
    (
        "an RSA key of 8192 bits",
        |body| body.replace(KEY, rsa(1024)),
        Valid,
    ),
    (
        "an RSA key of 512 bits",
        |body| body.replace(KEY, rsa(64)),
        Invalid("has 512 bits, and only keys of 2048"),
    ),
    (
        "an RSA key of 2040 bits",
        |body| body.replace(KEY, rsa(255)),
        Invalid("has 2040 bits, and only keys of 2048"),
    ),
    (
        "an RSA key of 8200 bits",
        |body| body.replace(KEY, rsa(1025)),
        Invalid("has 8200 bits, and only keys of 2048"),
    ),
    (
        "an RSA key for PSS alone of 512 bits",
        |body| {
            let key = rsa(64);
            let key = elements(elements(&key).next().unwrap().value)
                .nth(1)
                .unwrap();
            let algorithm = sequence(&[&oid("1.2.840.113549.1.1.10")]);
            body.replace(KEY, sequence(&[&algorithm, key.whole]));
        },
        Invalid("has 512 bits, and only keys of 2048"),
    ),
    (
        "an RSA key that is none",
        |body| {
            let algorithm = sequence(&[&oid("1.2.840.113549.1.1.1"), &[5, 0]]);
            body.replace(KEY, sequence(&[&algorithm, &value(3, &[0, 4, 1, 7])]));
        },
        Invalid("the key in the certificate of"),
    ),
    ("nothing", |_| {}, Valid),
    (
        "a negative serial number",
        |body| body.replace(SERIAL, value(2, &[0x80])),
        Valid,
    ),
    (
        "the serial number 0",
        |body| body.replace(SERIAL, value(2, &[0])),
        Valid,
    ),
    (
        "a serial number of 22 octets",
        |body| body.replace(SERIAL, value(2, &[1; 22])),
        Unread("its serial number has 22 octets"),
    ),
    (
        "a serial number of another type",
        |body| body.replace(SERIAL, value(4, &[1])),
        Unread("its serial number has a value of type OCTET STRING in place of INTEGER"),
    ),
    (
        "times of GeneralizedTime before 2050",
        |body| {
            let times = [value(24, b"20200101000000Z"), value(24, b"20480101000000Z")];
            body.replace(VALIDITY, sequence(&[&times[0], &times[1]]));
        },
        Valid,
    ),
    (
        "times with fractions of a second",
        |body| {
            let times = [
                value(24, b"20200101000000.5Z"),
                value(24, b"20480101000000Z"),
            ];
            body.replace(VALIDITY, sequence(&[&times[0], &times[1]]));
        },
        Unread("its validity has"),
    ),
    (
        "no time at the end",
        |body| body.replace(VALIDITY, sequence(&[&value(23, b"200101000000Z")])),
        Unread("its validity has"),
    ),
    (
        "a subject of UniversalString",
        |body| body.replace(SUBJECT, name(28, &[0, 0, 0, b'a', 0, 1, 0xf6, 0])),
        Valid,
    ),
    (
        "a subject of UniversalString that is none",
        |body| body.replace(SUBJECT, name(28, &[0, 0, 0])),
        Unread("its subject has a value of a type that is not read here (tag 0x1c)"),
    ),
    (
        "a subject of TeletexString",
        |body| body.replace(SUBJECT, name(20, b"\xfcber")),
        Valid,
    ),
    (
        "a subject of GraphicString",
        |body| body.replace(SUBJECT, name(25, b"a")),
        Unread("its subject has a value of a type that is not read here (tag 0x19)"),
    ),
    (
        "a subject with an attribute of a UUID",
        |body| {
            let attribute = sequence(&[&value(6, &UUID), &value(12, b"a")]);
            body.replace(SUBJECT, sequence(&[&value(0x31, &attribute)]));
        },
        Unread("its subject has an object identifier that is too long"),
    ),
    (
        "a subject with an empty text",
        |body| body.replace(SUBJECT, name(12, b"")),
        Valid,
    ),
    (
        "unique identifiers",
        |body| {
            body.0.insert(7, value(0x81, &[0, 1, 2]));
            body.0.insert(8, value(0x82, &[4, 0x10]));
        },
        Valid,
    ),
    (
        "an unknown field",
        |body| body.0.push(value(0xa9, &[])),
        Unread("its form has an unknown field (tag 0xa9)"),
    ),
    (
        "no subject",
        |body| drop(body.0.remove(SUBJECT)),
        Unread("its"),
    ),
    (
        "a key with the identifier of a UUID",
        |body| {
            let algorithm = sequence(&[&value(6, &UUID)]);
            body.replace(KEY, sequence(&[&algorithm, &value(3, &[0, 1])]));
        },
        Unread("its public key has an object identifier that is too long"),
    ),
    (
        "version 4",
        |body| body.replace(0, value(0xa0, &[2, 1, 3])),
        Unread("its version has"),
    ),
    (
        "an extension with the identifier of a UUID",
        |body| body.set_extension(&extension(&value(6, &UUID), false, &[5, 0])),
        Valid,
    ),
    (
        "an extension with a number of 40 bits",
        |body| {
            let kind = [0x2b, 6, 1, 4, 1, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 1];
            body.set_extension(&extension(&value(6, &kind), false, b"anything"));
        },
        Valid,
    ),
    (
        "a critical extension with the identifier of a UUID",
        |body| body.set_extension(&extension(&value(6, &UUID), true, &[5, 0])),
        Unread(UUID_TEXT),
    ),
    (
        "a critical extension that nobody knows",
        |body| body.set_extension(&extension(&oid("1.3.6.1.4.1.99999.1"), true, &[5, 0])),
        Invalid("has a critical extension (1.3.6.1.4.1.99999.1)"),
    ),
    (
        "two extensions with the identifier of one UUID",
        |body| {
            let one = extension(&value(6, &UUID), false, &[5, 0]);
            body.set_extension(&[one.clone(), one].concat());
        },
        Unread("more than once"),
    ),
    (
        "a key usage of four octets",
        |body| {
            body.set_extension(&extension(
                &oid("2.5.29.15"),
                true,
                &[3, 5, 0, 0x80, 0, 0, 0],
            ))
        },
        Valid,
    ),
    (
        "a key usage with bit 17",
        |body| {
            body.set_extension(&extension(
                &oid("2.5.29.15"),
                true,
                &[3, 4, 6, 0x80, 0, 0x40],
            ))
        },
        Valid,
    ),
    (
        "a key usage with nothing but bit 17",
        |body| body.set_extension(&extension(&oid("2.5.29.15"), true, &[3, 4, 6, 0, 0, 0x40])),
        Invalid("digitalSignature, nonRepudiation, keyCertSign and cRLSign"),
    ),
    (
        "a key usage of another type",
        |body| body.set_extension(&extension(&oid("2.5.29.15"), true, &[2, 1, 1])),
        Unread("its keyUsage extension has a value of type INTEGER in place of BIT STRING"),
    ),
    (
        "purposes of a UUID beside the server's",
        |body| {
            let purposes = sequence(&[&value(6, &UUID), &oid("1.3.6.1.5.5.7.3.1")]);
            body.set_extension(&extension(&oid("2.5.29.37"), false, &purposes));
        },
        Valid,
    ),
    (
        "the purpose of a UUID alone",
        |body| {
            let purposes = sequence(&[&value(6, &UUID)]);
            body.set_extension(&extension(&oid("2.5.29.37"), false, &purposes));
        },
        Invalid("extended key usage"),
    ),
    (
        "an x400Address",
        |body| {
            let address = value(0xa3, &sequence(&[&value(0x61, &value(19, b"SE"))]));
            body.set_extension(&alternative_names(&address));
        },
        Valid,
    ),
    (
        "an ediPartyName",
        |body| {
            let party = value(0xa5, &value(0xa1, &value(28, &[0, 0, 0, b'a'])));
            body.set_extension(&alternative_names(&party));
        },
        Valid,
    ),
    (
        "an otherName of a UUID",
        |body| {
            let other = value(
                0xa0,
                &[value(6, &UUID), value(0xa0, &value(12, b"a"))].concat(),
            );
            body.set_extension(&alternative_names(&other));
        },
        Valid,
    ),
    (
        "a registeredID of a UUID",
        |body| body.set_extension(&alternative_names(&value(0x88, &UUID))),
        Valid,
    ),
    (
        "a directoryName of UniversalString",
        |body| {
            body.set_extension(&alternative_names(&value(
                0xa4,
                &name(28, &[0, 0, 0, b'a']),
            )))
        },
        Valid,
    ),
    (
        "an unknown kind of name",
        |body| body.set_extension(&alternative_names(&value(0x89, b"a"))),
        Unread("its subjectAltName extension has a name with the unknown tag 0x89"),
    ),
    (
        "a DNS name outside of ASCII",
        |body| body.set_extension(&alternative_names(&value(0x82, b"\xfc.example"))),
        Unread("its subjectAltName extension has a name with characters outside of ASCII"),
    ),
    (
        "an authority's name and a long serial number",
        |body| {
            let issuer = value(0xa1, &value(0xa4, &name(28, &[0, 0, 0, b'a'])));
            let id = sequence(&[&value(0x80, &[1; 20]), &issuer, &value(0x82, &[1; 30])]);
            body.set_extension(&extension(&oid("2.5.29.35"), false, &id));
        },
        Valid,
    ),
    (
        "policies of UUIDs",
        |body| {
            let policies = sequence(&[&sequence(&[&value(6, &UUID)])]);
            body.set_extension(&extension(&oid("2.5.29.32"), false, &policies));
        },
        Valid,
    ),
    (
        "critical policies",
        |body| {
            let policies = sequence(&[&sequence(&[&value(6, &UUID)])]);
            body.set_extension(&extension(&oid("2.5.29.32"), true, &policies));
        },
        Invalid("has a critical extension (2.5.29.32)"),
    ),
    (
        "a path length that is negative",
        |body| {
            let constraints = sequence(&[&[1, 1, 0xff], &[2, 1, 0x80]]);
            body.set_extension(&extension(&oid("2.5.29.19"), true, &constraints));
        },
        Unread("its basicConstraints extension has"),
    ),
    (
        "an empty list of extensions",
        |body| *body.0.last_mut().unwrap() = value(0xa3, &[0x30, 0]),
        Invalid("the certificate is not for example.org"),
    ),
];

#[test]
fn certificates() {
    let pki = Pki::new();
    let good = Body::of(pki.leaf().der());
    let validator = pki.validator();
    let server = ServerName::try_from("example.org").unwrap();
    let mut wrong = Vec::new();
    for (what, edit, expected) in ROWS {
        let mut body = good.clone();
        edit(&mut body);
        let der = sign(&body.der(), pki.ca.signer());
        assert!(is_der(&der), "{what}");
        let chain = [&der[..], pki.ca.certificate().der()];
        let read = Certificate::from_der(&der);
        if let Ok(read) = &read {
            assert_eq!(read.der()[..], der[..], "{what}");
            assert_eq!(
                read.verify_signature(pki.ca.certificate(), &[]),
                Ok(()),
                "{what}"
            );
        }
        let valid = validator.validate_server(&chain, &server, UnixTime::now());
        let (unread, invalid) = (read.err(), valid.err());
        let said = [
            unread.as_ref().map(ToString::to_string),
            invalid.map(|error| error.to_string()),
        ];
        let is_expected = match (expected, &said) {
            (Valid, [None, None]) => true,
            (Invalid(text), [None, Some(said)]) => said.contains(text),
            (Unread(text), [Some(said), Some(_)]) => said.contains(text),
            _ => false,
        };
        let is_blamed =
            (said.iter().flatten()).any(|said| BLAMES_DER.iter().any(|blame| said.contains(blame)));
        if !is_expected || is_blamed {
            wrong.push(format!("{what}: {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A signature with parameters that its algorithm doesn't have, and one that is not whole octets.
#[test]
fn signatures() {
    let pki = Pki::new();
    let mut body = Body::of(pki.leaf().der());
    let algorithm = sequence(&[&oid("2.16.840.1.101.3.4.3.17"), &[5, 0]]);
    body.replace(2, algorithm.clone());
    let signature = Signer::sign(pki.ca.signer(), &body.der()).unwrap();
    let with_null = sequence(&[
        &body.der(),
        &algorithm,
        &value(3, &[vec![0], signature].concat()),
    ]);
    let mut bits = pki.leaf().der().to_vec();
    let unused = bits.len() - 2421;
    bits[unused] = 3;
    *bits.last_mut().unwrap() &= 0xf8;
    for (der, said_alone, said_of_chain) in [
        (
            with_null,
            "the signature is of algorithm 2.16.840.1.101.3.4.3.17 with parameters that are not verified here",
            "the signature of a certificate in the chain is of algorithm 2.16.840.1.101.3.4.3.17 with parameters",
        ),
        (
            bits,
            "the signature, its algorithm or the key has a value of type BIT STRING that is not allowed there",
            "has a form that path validation does not read, such as",
        ),
    ] {
        assert!(is_der(&der));
        let read = Certificate::from_der(&der).unwrap();
        let ca = pki.ca.certificate();
        let alone = read.verify_signature(ca, &[]).unwrap_err().to_string();
        assert!(alone.contains(said_alone), "{alone}");
        let chain = pki.validate(&pki.chain(read)).unwrap_err().to_string();
        assert!(chain.contains(said_of_chain), "{chain}");
    }
}

/// A CA whose name has a UniversalString is a sound one, but can't be continued.
#[test]
fn a_ca_with_a_universal_string() {
    let pki = Pki::new();
    let name_of_ca = name(28, &[0, 0, 0, b'C', 0, 0, 0, b'A']);
    let mut body = Body::of(pki.ca.certificate().der());
    body.replace(SUBJECT, name_of_ca);
    let ca = Certificate::from_der(&sign(&body.der(), pki.root.signer())).unwrap();
    // The leaf names its issuer as a UTF8String.
    assert_eq!(pki.validate(&[pki.leaf(), ca.clone()]), Ok(3));
    let error = Issuer::new(ca, pki.ca.signer()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("its subject has a UniversalString")
    );
}

/// Extensions that nobody knows, in a request, in a list and in its entries.
#[test]
fn identifiers_of_any_length_elsewhere() {
    let pki = Pki::new();
    let unknown = extension(&value(6, &UUID), false, &[5, 0]);
    let critical = extension(&value(6, &UUID), true, &[5, 0]);
    for (extra, is_read) in [(&unknown, true), (&critical, false)] {
        let request = CertificateRequest::builder().dns_name("example.org");
        let request = request.sign(&pki.leaf_key).unwrap();
        let mut body = Body::of(request.to_der());
        let names = sequence(&[&value(0x82, b"example.org")]);
        let names = extension(&oid("2.5.29.17"), false, &names);
        let asked = value(0x31, &sequence(&[&names, extra]));
        let attribute = sequence(&[&oid("1.2.840.113549.1.9.14"), &asked]);
        body.replace(3, value(0xa0, &attribute));
        let request = CertificateRequest::from_der(&sign(&body.der(), &pki.leaf_key)).unwrap();
        match request.verify() {
            Ok(request) => assert_eq!(request.dns_names(), ["example.org"]),
            Err(error) => {
                assert!(!is_read);
                let said = error.to_string();
                assert!(said.contains("its list of requested extensions has an object identifier"));
            }
        }
        let list = (pki.ca)
            .issue_revocation_list(CertificateRevocationListBuilder::new(&[1]))
            .unwrap();
        let mut body = Body::of(list.der());
        body.set_extension(extra);
        let list = CertificateRevocationList::from_der(&sign(&body.der(), pki.ca.signer()));
        assert_eq!(list.is_ok(), is_read);
        if let Err(error) = list {
            assert!(error.to_string().contains(UUID_TEXT), "{error}");
        }
        // The entries are before the list's own extensions.
        let entry = sequence(&[
            &[2, 1, 7],
            &value(23, b"260101000000Z"),
            &sequence(&[extra]),
        ]);
        body.0.insert(body.0.len() - 1, sequence(&[&entry]));
        body.set_extension(&unknown);
        let list = CertificateRevocationList::from_der(&sign(&body.der(), pki.ca.signer()));
        assert_eq!(list.is_ok(), is_read);
        if let Ok(list) = list {
            assert_eq!(list.entries().len(), 1);
        }
    }
}

/// What is no DER is called that.
#[test]
fn no_der() {
    let pki = Pki::new();
    let good = pki.leaf().der().to_vec();
    let mut body = Body::of(&good);
    body.replace(SERIAL, value(2, &[0, 1]));
    let needless_zero = sign(&body.der(), pki.ca.signer());
    for der in [
        &good[..good.len() - 1],
        &[&good[..], &[0]].concat(),
        b"",
        b"-----BEGIN",
        &needless_zero,
    ] {
        let error = Certificate::from_der(der).unwrap_err().to_string();
        assert!(error.contains("not valid DER"), "{error}");
    }
}

/// Whatever is in the place of each field and of each value in it: a value of another type, or of none that `der`
/// knows. Nothing of this is valid, or it is as good as what it replaces; and nothing blames the encoding.
#[test]
fn each_value_replaced() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let list = pki
        .ca
        .issue_revocation_list(CertificateRevocationListBuilder::new(&[1]))
        .unwrap();
    let request = CertificateRequest::builder()
        .common_name("a")
        .dns_name("example.org")
        .sign(&pki.leaf_key)
        .unwrap();
    let asked = OcspRequest::builder()
        .certificate(&leaf, pki.ca.certificate())
        .build();
    let response = OcspResponder::ca(&pki.ca)
        .respond(
            &asked.unwrap(),
            std::time::SystemTime::now(),
            Validity::days(1),
            |_: &[u8]| Ok::<_, IssueError>(CertStatus::Good),
        )
        .unwrap();
    type Read = fn(&[u8]) -> Option<String>;
    let basic = response_bytes(response.der());
    type Document<'a> = (&'a [u8], Read);
    let documents: [Document<'_>; 5] = [
        (leaf.der(), |der| {
            Certificate::from_der(der)
                .err()
                .map(|error| error.to_string())
        }),
        (list.der(), |der| {
            CertificateRevocationList::from_der(der)
                .err()
                .map(|error| error.to_string())
        }),
        (request.to_der(), |der| {
            CertificateRequest::from_der(der)
                .err()
                .map(|error| error.to_string())
        }),
        (response.der(), |der| {
            OcspResponse::from_der(der)
                .err()
                .map(|error| error.to_string())
        }),
        (&basic, |basic| {
            // OCSPResponse: successful, and the bytes of a basic response
            let bytes = sequence(&[&oid("1.3.6.1.5.5.7.48.1.1"), &value(4, basic)]);
            let response = sequence(&[&[0x0a, 1, 0], &value(0xa0, &bytes)]);
            OcspResponse::from_der(&response)
                .err()
                .map(|error| error.to_string())
        }),
    ];
    let others = [
        value(1, &[0xff]),
        value(2, &[1; 30]),
        value(2, &[0xff]),
        value(5, &[]),
        value(6, &UUID),
        value(0x0c, b"a"),
        value(0x1c, &[0, 0, 0, b'a']),
        value(0x18, b"20300101000000Z"),
        value(0x18, b"00010101000000Z"),
        value(0x30, &[]),
        value(0x31, &[]),
        value(0x89, &[]),
        value(0xaf, &[]),
        vec![0x1f, 31, 1, 0],
    ];
    for (document, read) in documents {
        assert_eq!(read(document), None);
        let places = places(document, 0);
        assert!(places.len() > 2);
        for path in places {
            for other in &others {
                let changed = replaced(document, &path, other);
                assert!(is_der(&changed));
                if let Some(said) = read(&changed) {
                    let blames = BLAMES_DER.iter().find(|blame| said.contains(**blame));
                    assert_eq!(blames, None, "{path:?} {other:02x?}: {said}");
                }
            }
        }
    }
}

/// The basic response in a response.
fn response_bytes(response: &[u8]) -> Vec<u8> {
    let inside = |der, place| elements(der).nth(place).unwrap().value;
    inside(inside(inside(inside(response, 0), 1), 0), 1).to_vec()
}

/// The ways to all values of a document, each a list of places; octet strings and the signature are left alone.
fn places(der: &[u8], depth: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for (place, element) in elements(der).enumerate() {
        if depth > 0 && element.value.len() < 1000 || element.tag & 0x20 == 0 {
            found.push(vec![place]);
        }
        if element.tag & 0x20 != 0 {
            let below = places(element.value, depth + 1).into_iter();
            found.extend(below.map(|path| [vec![place], path].concat()));
        }
    }
    found
}

fn replaced(der: &[u8], path: &[usize], other: &[u8]) -> Vec<u8> {
    let (first, rest) = path.split_first().unwrap();
    let parts = elements(der)
        .enumerate()
        .map(|(place, element)| match rest {
            _ if place != *first => element.whole.to_vec(),
            [] => other.to_vec(),
            rest => value(element.tag, &replaced(element.value, rest, other)),
        });
    parts.flatten().collect()
}

/// Names with each type of DirectoryString (RFC 5280 section 4.1.2.4) and unusual texts, and one whose attributes are in
/// another order than DER's.
fn unusual_names() -> Vec<Vec<u8>> {
    let text = "\u{10ffff}\0\u{e9}e\u{301} ";
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let utf_32: Vec<u8> = text
        .chars()
        .flat_map(|one| u32::from(one).to_be_bytes())
        .collect();
    let attribute = |tag, text: &[u8]| sequence(&[&oid("2.5.4.3"), &value(tag, text)]);
    let disordered = [attribute(12, b"b"), attribute(12, b"a")].concat();
    let beside_others = [attribute(12, b"a"), attribute(28, &utf_32)].concat();
    vec![
        name(20, b"\xfc\0\x1b ber"),
        name(19, b" a@*_&  b "),
        name(28, &utf_32),
        name(28, b""),
        name(12, text.as_bytes()),
        name(30, &utf_16),
        sequence(&[&value(0x31, &disordered)]),
        sequence(&[&value(0x31, &beside_others)]),
    ]
}

/// What is read and written again is the same bytes, and names are compared whatever their types.
#[test]
fn names_keep_their_bytes() {
    const ISSUER: usize = 3;
    let pki = Pki::new();
    let request = CertificateRequest::builder().dns_name("example.org");
    let request = request.sign(&pki.leaf_key).unwrap();
    let list = CertificateRevocationListBuilder::new(&[1]);
    let list = pki.ca.issue_revocation_list(list).unwrap();
    for name in unusual_names() {
        let mut body = Body::of(pki.leaf().der());
        body.replace(ISSUER, name.clone());
        body.replace(SUBJECT, name.clone());
        let der = sign(&body.der(), pki.ca.signer());
        let certificate = Certificate::from_der(&der).unwrap();
        assert_eq!(certificate.der().as_ref(), der);
        assert_eq!(certificate.issuer_der(), name);
        assert_eq!(certificate.subject_der(), name);
        let again = Certificate::from_pem(&certificate.to_pem()).unwrap();
        assert_eq!(again.into_der().as_ref(), der);
        assert_eq!(certificate.issuer(), certificate.subject());

        let mut body = Body::of(request.to_der());
        body.replace(1, name.clone());
        let der = sign(&body.der(), &pki.leaf_key);
        let asked = CertificateRequest::from_der(&der).unwrap();
        assert_eq!(asked.to_der(), der);
        assert_eq!(asked.subject_der(), name);
        assert_eq!(asked.parsed().info.subject, *certificate.subject());
        let is_the_same = certificate.subject().to_der().unwrap() == name;
        match asked.verify() {
            Ok(verified) => {
                assert!(is_the_same);
                assert_eq!(verified.subject(), certificate.subject());
            }
            Err(error) => {
                assert!(!is_the_same);
                assert!(
                    error
                        .to_string()
                        .contains("its subject has a UniversalString, or")
                );
            }
        }

        let mut body = Body::of(list.der());
        body.replace(2, name.clone());
        let der = sign(&body.der(), pki.ca.signer());
        let read = CertificateRevocationList::from_der(&der).unwrap();
        assert_eq!(read.der().as_ref(), der);
        assert_eq!(read.issuer_der(), name);
        assert_eq!(read.issuer(), certificate.issuer());

        let (of_ca, response) = answered_by(&pki, &name);
        let read = OcspResponse::from_der(&response).unwrap();
        assert_eq!(read.der(), response);
        assert!(read.responder().is(&of_ca));
        assert_eq!(read.certificates()[0].der(), of_ca.der());
        assert_eq!(read.certificates()[0].subject_der(), name);
    }
}

/// A CA of this name, and an OCSP response by it, with its certificate.
fn answered_by(pki: &Pki, name: &[u8]) -> (Certificate, Vec<u8>) {
    let mut ca = Body::of(pki.ca.certificate().der());
    ca.replace(SUBJECT, name.to_vec());
    let ca = Certificate::from_der(&sign(&ca.der(), pki.root.signer())).unwrap();
    let mut leaf = Body::of(pki.leaf().der());
    leaf.replace(3, name.to_vec());
    let leaf = Certificate::from_der(&sign(&leaf.der(), pki.ca.signer())).unwrap();
    let asked = OcspRequest::builder()
        .certificate(&leaf, &ca)
        .build()
        .unwrap();
    assert!(asked.certificates()[0].is_by(&ca));
    let again = OcspRequest::from_der(asked.der()).unwrap();
    assert_eq!(again.der(), asked.der());
    let response = OcspResponder::ca(&pki.ca)
        .respond(
            &asked,
            std::time::SystemTime::now(),
            Validity::days(1),
            |_: &[u8]| Ok::<_, IssueError>(CertStatus::Good),
        )
        .unwrap();
    let basic = response_bytes(response.der());
    let mut body = Body::of(&basic);
    body.replace(0, value(0xa1, name));
    let signed = sign(&body.der(), pki.ca.signer());
    let signed = elements(&signed).next().unwrap().value;
    let basic = sequence(&[signed, &value(0xa0, &sequence(&[ca.der()]))]);
    let bytes = sequence(&[&oid("1.3.6.1.5.5.7.48.1.1"), &value(4, &basic)]);
    (ca, sequence(&[&[0x0a, 1, 0], &value(0xa0, &bytes)]))
}

/// What is left out for `der` has to be what it claims to be.
#[test]
fn long_identifiers_of_no_extensions() {
    let pki = Pki::new();
    let kind = value(6, &UUID);
    for extra in [
        sequence(&[&kind]),
        sequence(&[&kind, &[5, 0]]),
        sequence(&[&kind, &value(4, b""), &[5, 0]]),
        sequence(&[&kind, &[1, 1, 0], &[5, 0]]),
    ] {
        let mut body = Body::of(pki.leaf().der());
        let fields = elements(body.0.last().unwrap()).next().unwrap().value;
        let list = elements(fields).next().unwrap().value;
        let list = value(0xa3, &value(0x30, &[list, &extra].concat()));
        *body.0.last_mut().unwrap() = list;
        let der = sign(&body.der(), pki.ca.signer());
        assert!(Certificate::from_der(&der).is_err(), "{extra:02x?}");
    }
}

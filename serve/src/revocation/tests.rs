//! CAs and lists for the tests of this room, and what they hear of the log.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::Once;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::revocation::CertificateRevocationList;
use pq_x509::x509_cert::der::asn1::{Any, BitString};
use pq_x509::x509_cert::der::{Decode, Encode, Tagged};

pub(super) fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[seed; 32]).unwrap()
}

pub(super) fn ca(seed: u8) -> Issuer<SigningKey> {
    Issuer::self_signed(CertificateBuilder::ca("CA"), key(seed)).unwrap()
}

/// The list of the CA with this seed, about certificates with the URL `a:/b`. `end` are further fields of
/// issuingDistributionPoint.
pub(super) fn of_url(
    list: &CertificateRevocationList,
    seed: u8,
    end: &[u8],
) -> CertificateRevocationList {
    let url = [0xa0, 8, 0xa0, 6, 0x86, 4, b'a', b':', b'/', b'b'];
    let point = [&url[..], end].concat();
    let len = point.len() as u8;
    let extension = [
        &[0x30, len + 9, 6, 3, 0x55, 29, 28, 4, len + 2, 0x30, len][..],
        &point,
    ];
    let extension = Any::from_der(&extension.concat()).unwrap();
    resigned(list, seed, |body| {
        change_extensions(body, |all| all.push(extension))
    })
}

/// A list of the CA with this seed, changed and signed again.
pub(super) fn resigned(
    list: &CertificateRevocationList,
    seed: u8,
    change: impl FnOnce(&mut Vec<Any>),
) -> CertificateRevocationList {
    let key = key(seed);
    let mut parts = Vec::<Any>::from_der(list.der()).unwrap();
    let mut body: Vec<Any> = parts[0].decode_as().unwrap();
    change(&mut body);
    let body = body.to_der().unwrap();
    parts[0] = Any::from_der(&body).unwrap();
    let signature = BitString::from_bytes(&key.sign(&body).unwrap()).unwrap();
    parts[2] = Any::encode_from(&signature).unwrap();
    CertificateRevocationList::from_der(&parts.to_der().unwrap()).unwrap()
}

pub(super) fn change_extensions(body: &mut [Any], change: impl FnOnce(&mut Vec<Any>)) {
    let field = body.last_mut().unwrap();
    let mut all = Vec::<Any>::from_der(field.value()).unwrap();
    change(&mut all);
    *field = Any::new(field.tag(), all.to_der().unwrap()).unwrap();
}

/// What the log is told by this thread meanwhile, from the level `info` on.
pub(super) fn log_of(run: impl FnOnce()) -> String {
    // One for the process: a callsite that another thread comes to first would be off for one of this thread.
    static START: Once = Once::new();
    START.call_once(|| {
        let lines = tracing_subscriber::fmt().with_ansi(false);
        lines.with_writer(|| Lines).init();
    });
    LINES.take();
    run();
    String::from_utf8(LINES.take()).unwrap()
}

thread_local! {
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The lines of this thread.
struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! How much memory revocation lists, OCSP responses and chains take beside their length, whoever made them. SECURITY.md
//! has these limits.
//!
//! Each is measured in a process of its own, by the greatest memory that the process ever had.

#![cfg(target_os = "linux")]

use std::process::Command;
use std::{env, fs, thread};

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::ocsp::OcspResponse;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CertificateRevocationList;
use pq_x509::validation::{ChainValidator, Purpose};

/// How many times its length a document may take.
const FACTOR: usize = 16;

const LEN: usize = 4 << 20;

#[test]
fn entries_of_lists() {
    a_list(&entry(&[]));
}

#[test]
fn entries_with_a_reason() {
    let reason = [&[6, 3, 0x55, 0x1d, 21][..], &[4, 3, 0x0a, 1, 1]].concat();
    a_list(&entry(&tlv(0x30, &tlv(0x30, &reason))));
}

#[test]
fn entries_with_many_extensions() {
    let tiny = tlv(0x30, &[6, 1, 0x2a, 4, 0]);
    a_list(&entry(&tlv(0x30, &tiny.repeat(100))));
}

#[track_caller]
fn a_list(entry: &[u8]) {
    let list = list(&entry.repeat(LEN / entry.len()));
    measure(list.len(), || {
        let list = CertificateRevocationList::from_der(&list);
        assert!(list.is_ok_and(|list| list.entries().len() > 1000));
    });
}

/// An entry whose parts are as small as parts can be, so that what it is read into is many times larger.
fn entry(extensions: &[u8]) -> Vec<u8> {
    let number = [2, 1, 1];
    let date = tlv(0x17, b"260101000000Z");
    tlv(0x30, &[&number, &date[..], extensions].concat())
}

/// The greatest that is read.
#[test]
fn answers_of_responses() {
    let sha1 = tlv(0x30, &[6, 1, 0x2a]);
    let id = tlv(0x30, &[&sha1[..], &[4, 0, 4, 0, 2, 1, 1]].concat());
    let date = tlv(0x18, b"20260101000000Z");
    let answer = tlv(0x30, &[&id[..], &[0x80, 0], &date].concat());
    // An answer has nine values, and a response at most 100,000.
    let response = response(&answer.repeat(11_000));
    measure(response.len(), || {
        let response = OcspResponse::from_der(&response);
        assert!(response.is_ok_and(|response| response.answers().len() > 1000));
    });
}

#[test]
fn certificates_of_chains() {
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key()).unwrap();
    let stranger = Issuer::self_signed(CertificateBuilder::ca("Stranger"), key()).unwrap();
    let leaf = CertificateBuilder::server().dns_name("example.org");
    let leaf = ca.issue(leaf, &key()).unwrap();
    let mut chain = vec![stranger.certificate().der().clone(); 500];
    chain.insert(0, leaf.der().clone());
    let len = chain.iter().map(|one| one.len()).sum();
    let validator = ChainValidator::new([ca.certificate().clone()]).unwrap();
    measure(len, || {
        let valid = validator.validate(&chain, Purpose::ServerAuth, None, UnixTime::now());
        assert!(valid.is_ok());
    });
}

/// Checks that a call takes no more memory than this many bytes allow: in a process of its own, because
/// memory that was freed stays with a process.
#[track_caller]
fn measure(len: usize, call: impl FnOnce()) {
    let thread = thread::current();
    let test = thread.name().unwrap();
    if env::var(IN_PROCESS).is_err() {
        let program = env::current_exe().unwrap();
        let status = Command::new(program)
            .args(["--exact", test, "--nocapture"])
            .env(IN_PROCESS, "")
            .status();
        assert!(status.unwrap().success());
        return;
    }
    // This counts memory that making the document took and that was freed, so the result is rather too large.
    let before = kilobytes("VmRSS:");
    call();
    let peak = (kilobytes("VmHWM:") - before) << 10;
    println!(
        "{test}: {len} bytes take {peak}, {} times as much",
        peak / len
    );
    assert!(peak <= FACTOR * len + (1 << 20), "{len} bytes take {peak}");
}

const IN_PROCESS: &str = "PQ_X509_MEMORY_IN_PROCESS";

fn kilobytes(which: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(which));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse().unwrap()
}

/// ML-DSA-44.
const ALGORITHM: [u8; 13] = [0x30, 11, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 17];

fn list(entries: &[u8]) -> Vec<u8> {
    let date = tlv(0x17, b"260101000000Z");
    let body = [
        &[2, 1, 1][..],
        &ALGORITHM,
        &[0x30, 0],
        &date,
        &date,
        &tlv(0x30, entries),
    ];
    let body = tlv(0x30, &body.concat());
    tlv(0x30, &[&body[..], &ALGORITHM, &[3, 2, 0, 0]].concat())
}

fn response(answers: &[u8]) -> Vec<u8> {
    let responder = tlv(0xa2, &tlv(4, &[0; 20]));
    let date = tlv(0x18, b"20260101000000Z");
    let body = tlv(0x30, &[&responder[..], &date, &tlv(0x30, answers)].concat());
    let basic = tlv(0x30, &[&body[..], &ALGORITHM, &[3, 2, 0, 0]].concat());
    let kind = [6, 9, 0x2b, 6, 1, 5, 5, 7, 0x30, 1, 1];
    let bytes = tlv(0x30, &[&kind[..], &tlv(4, &basic)].concat());
    tlv(0x30, &[&[0x0a, 1, 0][..], &tlv(0xa0, &bytes)].concat())
}

fn tlv(tag: u8, value: &[u8]) -> Vec<u8> {
    let len = value.len().to_be_bytes();
    let len = &len[len.iter().position(|byte| *byte != 0).unwrap_or(7)..];
    let long = [0x80 | len.len() as u8];
    let form: &[u8] = if value.len() < 0x80 { &[] } else { &long };
    [&[tag], form, len, value].concat()
}

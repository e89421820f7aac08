//! PEM around messages.

use std::io::{Read, Write};

use pq_cms::{EncodingError, PemWriter, decode_if_pem};
use pq_x509::keys::encoding::pem;

use crate::bytes::OneByOne;

fn encode(der: &[u8]) -> String {
    let mut pem = PemWriter::new(Vec::new()).unwrap();
    pem.write_all(der).unwrap();
    String::from_utf8(pem.finish().unwrap()).unwrap()
}

fn decode(text: impl AsRef<[u8]>) -> std::io::Result<Vec<u8>> {
    let mut der = Vec::new();
    let from = decode_if_pem(text.as_ref()).map_err(std::io::Error::other)?;
    let mut from = from;
    from.read_to_end(&mut der)?;
    Ok(der)
}

#[test]
fn of_any_length() {
    for len in (1..200).chain([12287, 12288, 12289, 100_000]) {
        let der: Vec<u8> = (0..len).map(|i: u32| (i * 7) as u8).collect();
        let text = encode(&der);
        assert_eq!(text, pem::encode("CMS", &der), "{len}");
        assert_eq!(decode(&text).unwrap(), der, "{len}");
        let crlf = format!(
            "Subject: x\r\n\r\n{}\r\nand more",
            text.replace('\n', "\r\n")
        );
        assert_eq!(decode(crlf).unwrap(), der);
        assert_eq!(decode(text.replace("CMS", "PKCS7")).unwrap(), der);
        let mut one_by_one = Vec::new();
        let mut from = decode_if_pem(OneByOne(text.as_bytes())).unwrap();
        from.read_to_end(&mut one_by_one).unwrap();
        assert_eq!(one_by_one, der);
    }
}

#[test]
fn der_is_left_alone() {
    for der in [
        &[0x30, 0x80, 6, 0, 0, 0][..],
        &[0x30, 0x82, 1, 0],
        &[0x30, 0x45, 6, 1, 2],
    ] {
        assert_eq!(decode(der).unwrap(), der);
    }
}

#[test]
fn damage_is_an_error() {
    let text = encode(&[7; 100]);
    let end = text.find("-----END").unwrap();
    for cut in 0..text.len() - 2 {
        assert!(decode(&text[..cut]).is_err(), "{cut}");
    }
    for (old, new) in [("Bw", "B!"), ("Bw", "B"), ("\n", "=\n"), ("Bw", "Bw==")] {
        let start = text.find('\n').unwrap() + 1;
        let damaged = format!("{}{}", &text[..start], text[start..].replacen(old, new, 1));
        assert!(decode(&damaged).is_err(), "{damaged}");
    }
    assert!(decode(format!("{}AAAA\n{}", &text[..end], &text[end..])).is_err());
    let other = text.replace("CMS", "CERTIFICATE");
    assert!(matches!(
        decode_if_pem(other.as_bytes()),
        Err(EncodingError::NoPem)
    ));
}

/// What `openssl cms -sign` and `-encrypt` write without `-outform`.
#[test]
fn messages_in_mime_are_told_as_such() {
    for text in [
        "MIME-Version: 1.0\nContent-Type: multipart/signed; protocol=\"application/x-pkcs7-signature\"\n\nThis is\n",
        "To: x\r\nMIME-Version: 1.0\r\ncontent-type:application/pkcs7-mime; smime-type=signed-data\r\n\r\nMIAG\r\n",
        "Content-Type: application/x-pkcs7-mime\n\nMIAG\n",
    ] {
        let refused = decode_if_pem(OneByOne(text.as_bytes())).err().unwrap();
        assert!(matches!(refused, EncodingError::Mime), "{refused:?}");
        assert!(refused.to_string().contains("-outform DER"), "{refused}");
    }
    for other in ["Content-Type: text/plain\n\nx", "Content-Type", ""] {
        let refused = decode_if_pem(other.as_bytes()).err().unwrap();
        assert!(matches!(refused, EncodingError::NoPem), "{refused:?}");
    }
}

/// How a text is read: as the reader in memory does, also if it arrives byte by byte.
fn check_as_in_memory(text: &[u8]) {
    let in_memory = pem::decode_first(text, "CMS");
    let in_pieces = decode_if_pem(OneByOne(text));
    let mut der = Vec::new();
    let in_pieces = in_pieces.map(|mut from| from.read_to_end(&mut der).map(|_| der));
    let name = String::from_utf8_lossy(text);
    match (decode(text), in_pieces, in_memory) {
        (Ok(at_once), Ok(Ok(in_pieces)), Ok(in_memory)) => {
            assert_eq!((&at_once, &in_pieces), (&*in_memory, &*in_memory), "{name}");
        }
        (Err(_), Err(_) | Ok(Err(_)), Err(_)) => {}
        (at_once, in_pieces, in_memory) => {
            let in_pieces = in_pieces.map_err(|error| error.to_string());
            panic!("{name}: {at_once:?}, {in_pieces:?}, {in_memory:?}");
        }
    }
}

#[test]
fn all_that_the_reader_in_memory_reads() {
    let text = encode(&[7; 100]);
    let lines: Vec<&str> = text.lines().collect();
    let (begin, end) = (lines[0], lines[lines.len() - 1]);
    let body = lines[1..lines.len() - 1].concat();
    let long = encode(&vec![9; 200_000]);
    for good in [
        text.clone(),
        long.replace('\n', ""),
        long.clone(),
        lines.join(" \t\r\n"),
        lines.join("\n\n  "),
        format!("{begin}{body}{end}"),
        format!("\u{feff}{text}"),
        format!("{}{text}", "x".repeat(200_000)),
        format!("{}{text}", "-".repeat(200_000)),
        format!("-----BEGIN X-----\n!\n-----END Y-----{text}"),
        format!("-----BEGIN X-----\n{text}-----BEGIN CMS-----"),
        format!("x{}{text}", " ".repeat(20_000)),
        format!("x {}", text.replacen('\n', " \r\n", 1)),
        format!("x\n{}{begin}{body}{end}", " ".repeat(20_000)),
        format!("x-----END X----- {begin} {body}{end}"),
        text.replace("CMS", "PKCS7"),
        text.replace("CMS", "PKCS #7 SIGNED DATA"),
    ] {
        let read = decode(&good);
        assert!(read.is_ok(), "{good}: {read:?}");
        check_as_in_memory(good.as_bytes());
    }
    check_as_in_memory(&[b"Schl\xfcssel\n", text.as_bytes(), b"\xff"].concat());
    for bad in [
        format!("-----BEGIN X-----\n{body}\n{end}\n{text}"),
        format!("{body}\n{end}\n{text}"),
        format!("-----BEGIN CMS----\n{body}\n{end}\n{text}"),
        format!("{begin}\n{body}\n-----END X-----\n{text}"),
        format!("{begin}\n{body}\n-----END CMS---\n{text}"),
        format!("{begin}\n{body}\n-----END PKCS7-----\n"),
        format!("{begin}\n{body}\n{text}"),
        format!("{begin}\n{end}\n"),
        format!("Subject: {begin}{body}{end}\n{text}"),
        format!(
            "x{}{begin}{}{body}\n{end}",
            " ".repeat(20_000),
            " ".repeat(20_000)
        ),
        format!("{begin}\nX-Header: y\n\n{body}\n{end}\n"),
        "text".into(),
        String::new(),
    ] {
        let read = decode(&bad);
        assert!(read.is_err(), "{bad}");
        check_as_in_memory(bad.as_bytes());
    }
}

#[test]
fn every_changed_byte_is_judged_as_in_memory() {
    let text = encode(&[7; 60]).into_bytes();
    for at in 0..text.len() {
        for other in *b"\0\n -=:AB\xff" {
            let mut changed = text.clone();
            changed[at] = other;
            check_as_in_memory(&changed);
        }
        check_as_in_memory(&[&text[..at], &text[at + 1..]].concat());
        check_as_in_memory(&text[..at]);
    }
}

/// It takes as long as another text of its length, and says what is wrong.
#[test]
fn a_text_of_marks_is_read_once() {
    for part in [
        "-----BEGIN \n",
        "x-----BEGIN X-----",
        "-----BEGIN X-----\n-----END Y-----",
        "-----",
        " ",
    ] {
        let text = part.repeat(4_000_000 / part.len());
        let refused = decode_if_pem(text.as_bytes());
        assert!(matches!(refused, Err(EncodingError::NoPem)), "{part}");
    }
}

//! PEM around messages.

use std::io::{Read, Write};

use pq_cms::{EncodingError, PemWriter, decode_if_pem};

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
        assert_eq!(
            text,
            pq_x509::keys::encoding::pem::encode("CMS", &der),
            "{len}"
        );
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

//! Signatures and lists of allowed signers: each rule of the format has its error, and changed bytes are noticed.

use core::time::Duration;
use std::io::{self, Read};

use base64ct::{Base64, Encoding};
use pq_keys::pki_types::UnixTime;
use pq_ssh::{
    AllowedSigners, HashAlgorithm, HashedMessage, KeyError, KeyName, LineError, MessageHasher,
    NotAllowed, PublicKey, Signature, SignatureError,
};

use crate::{KEY, armored, bytes_of, other_key, string};

const LABEL: &str = "SSH SIGNATURE";
const MESSAGE: &[u8] = b"a message";

fn hashed(message: &[u8]) -> HashedMessage {
    HashedMessage::read(HashAlgorithm::Sha512, message).expect("a slice can be read")
}

fn signature() -> Signature {
    KEY.sign("file", &hashed(MESSAGE)).expect("randomness")
}

#[test]
fn signatures_are_read_as_they_were_written() {
    for &hash in HashAlgorithm::ALL {
        for &name in KeyName::ALL {
            let message = HashedMessage::read(hash, MESSAGE).expect("a slice");
            let key = KEY.clone().with_name(name);
            let signature = key.sign("git", &message).expect("randomness");
            let text = signature.to_armored();
            let read = Signature::from_armored(&text).expect("its own text");
            assert_eq!(read, signature);
            assert_eq!(bytes_of(&text), signature.to_bytes());
            assert_eq!(
                (
                    read.namespace(),
                    read.hash_algorithm(),
                    read.public_key().name()
                ),
                ("git", hash, name)
            );
            // whatever the file of the key calls it
            assert_eq!(read.verify(KEY.public_key(), "git", &message), Ok(()));
        }
    }
}

/// The composite key itself signs the bytes that PROTOCOL.sshsig describes.
#[test]
fn the_signature_is_the_composites_of_the_documented_bytes() {
    let mut hasher = pq_core::ml_dsa::PreHash::Sha512.hasher();
    hasher.update(MESSAGE);
    let digest = hasher.finish();
    let signed = [
        b"SSHSIG".to_vec(),
        string(b"file"),
        string(b""),
        string(b"sha512"),
        string(digest.as_bytes()),
    ]
    .concat();
    let bytes = signature().to_bytes();
    let composite = &bytes[bytes.len() - 2484..];
    assert_eq!(KEY.key().public_key().verify(&signed, composite), Ok(()));
}

#[test]
fn a_signature_is_for_one_key_purpose_and_message() {
    let (signature, message) = (signature(), hashed(MESSAGE));
    let verify = |key: &PublicKey, namespace: &str, message: &HashedMessage| {
        signature
            .verify(key, namespace, message)
            .expect_err("it is for another")
    };
    let key = KEY.public_key();
    assert_eq!(
        verify(other_key().public_key(), "file", &message),
        SignatureError::OtherKey(key.fingerprint())
    );
    for wanted in ["", "fil", "file ", "File", "git"] {
        assert_eq!(
            verify(key, wanted, &message),
            SignatureError::OtherNamespace {
                signed: "file".to_owned(),
                wanted: wanted.to_owned()
            }
        );
    }
    let sha256 = HashedMessage::read(HashAlgorithm::Sha256, MESSAGE).expect("a slice");
    assert_eq!(
        verify(key, "file", &sha256),
        SignatureError::OtherHash {
            signed: HashAlgorithm::Sha512,
            hashed: HashAlgorithm::Sha256
        }
    );
    for other in [&b""[..], b"a messagf", b"a message\0"] {
        let refused = verify(key, "file", &hashed(other));
        assert!(matches!(refused, SignatureError::Signature(_)), "{refused}");
    }
}

#[test]
fn no_byte_of_a_signature_can_be_changed() {
    let bytes = signature().to_bytes();
    let message = hashed(MESSAGE);
    let is_valid = |bytes: &[u8]| {
        Signature::from_armored(&armored(LABEL, bytes))
            .and_then(|signature| signature.verify(KEY.public_key(), "file", &message))
            .is_ok()
    };
    assert!(is_valid(&bytes));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(!is_valid(&changed), "{at}");
        assert!(!is_valid(&bytes[..at]), "{at}");
    }
    assert!(!is_valid(&[&*bytes, b"\0"].concat()));
}

/// A signature in its parts.
fn parts(namespace: &[u8], reserved: &[u8], hash: &[u8], name: &[u8], more: &[u8]) -> Vec<u8> {
    let inner = [string(name), string(&[0; 2484]), more.to_vec()].concat();
    [
        b"SSHSIG\0\0\0\x01".to_vec(),
        string(&KEY.public_key().to_blob()),
        string(namespace),
        string(reserved),
        string(hash),
        string(&inner),
    ]
    .concat()
}

#[test]
fn each_rule_has_its_error() {
    const NAME: &[u8] = b"ssh-mldsa44-ed25519";
    let refused = |bytes: &[u8]| Signature::from_bytes(bytes).expect_err("it is wrong");
    let right = parts(b"file", b"later", b"sha512", NAME, b"");
    let read = Signature::from_bytes(&right).expect("it is only not valid");
    assert_eq!(read.to_bytes(), right);

    assert_eq!(refused(b""), SignatureError::NotASignature);
    assert_eq!(refused(b"SSHSIG\0\0\0\x02"), SignatureError::Version(2));
    assert_eq!(
        refused(&parts(b"", b"", b"sha512", NAME, b"")),
        SignatureError::EmptyNamespace
    );
    for namespace in [&b"a\nb"[..], b"\xff", &[b'n'; 1025]] {
        let error = refused(&parts(namespace, b"", b"sha512", NAME, b""));
        assert!(matches!(error, SignatureError::Namespace(_)), "{error}");
    }
    for hash in [&b"sha1"[..], b"", b"SHA512", b"sha384"] {
        let error = refused(&parts(b"file", b"", hash, NAME, b""));
        assert!(matches!(error, SignatureError::UnknownHash(_)), "{error}");
    }
    let error = refused(&parts(b"file", b"", b"sha512", b"ssh-ed25519", b""));
    assert!(matches!(
        error,
        SignatureError::Key(KeyError::OtherAlgorithm(_))
    ));
    let old = KeyName::OpenSsh.as_str().as_bytes();
    let error = refused(&parts(b"file", b"", b"sha512", old, b""));
    assert!(matches!(
        error,
        SignatureError::Key(KeyError::OtherName { .. })
    ));
    let error = refused(&parts(b"file", b"", b"sha512", NAME, b"\0"));
    assert!(matches!(error, SignatureError::Wire(_)));
    for namespace in ["", "a\nb"] {
        assert!(KEY.sign(namespace, &hashed(MESSAGE)).is_err());
    }
}

/// Gives a message in pieces of all lengths, with interruptions.
struct Pieces<'m>(&'m [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = self.1.min(self.0.len()).min(to.len());
        to[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        Ok(len)
    }
}

#[test]
fn a_message_may_come_in_pieces() {
    let message = vec![0xa5; 100_000];
    let whole = hashed(&message);
    assert_eq!(
        HashedMessage::read(HashAlgorithm::Sha512, Pieces(&message, 0))
            .expect("only interruptions"),
        whole
    );
    let mut hasher = MessageHasher::new(HashAlgorithm::Sha512);
    for piece in message.chunks(997) {
        hasher.update(piece);
    }
    assert_eq!(hasher.finish(), whole);
    assert_ne!(hashed(&message[1..]), whole);
}

fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

#[test]
fn a_list_says_who_may_sign_what_and_when() {
    let (signature, message) = (signature(), hashed(MESSAGE));
    let line = KEY.public_key().to_line();
    let other = other_key().public_key().to_line();
    let verify = |list: String, time| {
        let signers = AllowedSigners::parse(&list).expect("a list");
        signers.verify("me@example.org", "file", at(time), &signature, &message)
    };
    let key = KEY.public_key().fingerprint();
    let unknown = Err(NotAllowed::UnknownKey {
        key: key.clone(),
        principal: "me@example.org".to_owned(),
    });
    let too_early_or_late = Err(NotAllowed::Time { key: key.clone() });
    let other_purpose = Err(NotAllowed::Namespace {
        key,
        namespace: "file".to_owned(),
    });

    let permitted = [
        format!("me@example.org {line}"),
        format!("# comment\n\n \"me@example.org\" {line}\r\n"),
        format!("*@example.org,you namespaces=\"git,fi?e\" {line}"),
        format!("ssh-user,me@* NAMESPACES=\"file\",valid-before=\"19700103Z\" {line}"),
        format!("me@example.org ,namespaces=\"file\",,valid-before=\"19700103z\" {line}"),
        format!("me@example.org valid-before=\"19700103UTC\" {line}"),
        format!("me@example.org {other}\nme@example.org ssh-ed25519 AAAA\nme@example.org {line}"),
        format!("me@example.org namespaces=\"git\" {line}\nme@example.org {line}"),
    ];
    for list in permitted {
        assert_eq!(verify(list.clone(), 86_400), Ok(()), "{list}");
    }
    for list in [
        String::new(),
        format!("you@example.org {line}"),
        format!("*,!me@* {line}"),
        format!("me@example.org {other}"),
        format!("me@example.org cert-authority {line}"),
        format!("#me@example.org {line}"),
    ] {
        assert_eq!(verify(list.clone(), 86_400), unknown, "{list}");
    }
    for namespaces in ["git", "", "*,!file", "File"] {
        let list = format!("me@example.org namespaces=\"{namespaces}\" {line}");
        assert_eq!(verify(list, 86_400), other_purpose, "{namespaces}");
    }
    let times = "valid-after=\"19700102Z\",valid-before=\"197001030000Z\"";
    let list = format!("me@example.org {times} {line}");
    for (time, is_valid) in [
        (86_399, false),
        (86_400, true),
        (172_800, true),
        (172_801, false),
    ] {
        let expected = if is_valid {
            Ok(())
        } else {
            too_early_or_late.clone()
        };
        assert_eq!(verify(list.clone(), time), expected, "{time}");
    }

    let signers = AllowedSigners::parse(format!("me@example.org {line}")).expect("a list");
    let refused = signers.verify("me@example.org", "file", at(0), &signature, &hashed(b""));
    assert!(matches!(refused, Err(NotAllowed::Signature(_))));
    let refused = signers.verify("me@example.org", "git", at(0), &signature, &message);
    assert!(matches!(
        refused,
        Err(NotAllowed::Signature(SignatureError::OtherNamespace { .. }))
    ));
}

/// A line that can't be read permits nothing, and the others count.
#[test]
fn a_wrong_line_permits_nothing_and_disables_no_other() {
    let (signature, message) = (signature(), hashed(MESSAGE));
    let line = KEY.public_key().to_line();
    let may_sign = |signers: &AllowedSigners| {
        let verified = signers.verify("me", "file", at(0), &signature, &message);
        verified.is_ok()
    };
    let refused = |wrong: &str| {
        let wrong = wrong.replace("KEY", &line);
        // The file is of another kind.
        let alone = AllowedSigners::parse(&wrong).expect_err("it has no line that can be read");
        let of_others = format!("you ssh-ed25519 AAAA\n{wrong}");
        let of_others = AllowedSigners::parse(of_others).expect("a list");
        assert!(!may_sign(&of_others), "{wrong}");
        assert_eq!(of_others.left_out()[0].line, 2);
        for (list, number) in [
            (format!("me {line}\n{wrong}\n"), 2),
            (format!("{wrong}\r\n\nme {line}"), 1),
        ] {
            let signers = AllowedSigners::parse(&list).expect("a list");
            assert!(may_sign(&signers), "{list}");
            assert_eq!(signers.left_out().len(), 1, "{list}");
            assert_eq!(signers.left_out()[0].line, number);
        }
        assert_eq!(alone.line, 1);
        alone.error
    };
    for (wrong, error) in [
        ("me", LineError::Key(KeyError::NoKey)),
        ("me cert-authority", LineError::Key(KeyError::NoKey)),
        ("\"me KEY", LineError::Key(KeyError::UnclosedQuote)),
        (
            "me namespaces=\"a KEY",
            LineError::Key(KeyError::UnclosedQuote),
        ),
        ("me namespaces=\"file\", KEY", LineError::EndsInComma),
        ("me cert-authority,, KEY", LineError::EndsInComma),
        ("me , KEY", LineError::EndsInComma),
        ("me touch KEY", LineError::UnknownOption("touch".to_owned())),
        ("me namespaces KEY", LineError::Option("namespaces")),
        ("me namespaces=file KEY", LineError::Option("namespaces")),
        (
            "me namespaces=\"a\",namespaces=\"b\" KEY",
            LineError::Option("namespaces"),
        ),
        (
            "me valid-after=\"20260101\" KEY",
            LineError::Time("valid-after"),
        ),
        (
            "me valid-before=\"later\" KEY",
            LineError::Time("valid-before"),
        ),
        (
            "me valid-after=\"20260102Z\",valid-before=\"20260101Z\" KEY",
            LineError::EmptyValidity,
        ),
    ] {
        assert_eq!(refused(wrong), error, "{wrong}");
    }
    assert!(matches!(
        refused("me cert-authority=\"a\" KEY"),
        LineError::UnknownOption(_)
    ));
}

/// Only the line's own words say that it is about keys of another algorithm: if what its base64 says counted, a changed bit
/// would make the line vanish without a word.
#[test]
fn a_damaged_line_of_the_own_algorithm_is_left_out() {
    let line = KEY.public_key().to_line();
    let words: Vec<_> = line.split(' ').collect();
    let (name, base64) = (words[0], words[1]);
    let blob = Base64::decode_vec(base64).unwrap();
    // The length of the name in the key, the name, and the length of the rest.
    for at in 0..27 {
        let mut blob = blob.clone();
        blob[at] ^= 1;
        let damaged = format!("you {name} {}", Base64::encode_string(&blob));
        let signers = AllowedSigners::parse(format!("{damaged}\nme {line}\n")).unwrap();
        let [left_out] = signers.left_out() else {
            panic!("byte {at}: {:?}", signers.left_out());
        };
        assert_eq!(left_out.line, 1);
        // Nor is it a list.
        AllowedSigners::parse(damaged).unwrap_err();
    }
}

/// A comment says nothing about who may sign, and other people's lines need not be ours.
#[test]
fn lines_of_others_and_comments_may_have_any_bytes() {
    let (signature, message) = (signature(), hashed(MESSAGE));
    let line = KEY.public_key().to_line();
    let cases: [(&[u8], usize); 6] = [
        (b"me LINE M\xfcller", 0),
        (b"me LINE \x1b[1m", 0),
        (b"\xfcbel LINE", 0),
        (b"you namespaces=\"\xfc\" LINE", 1),
        (
            b"you touch-required,valid-after=\"20260101\" ssh-ed25519 AAAA M\xfcller",
            0,
        ),
        (b"# M\xfcller", 0),
    ];
    for (wrong, left_out) in cases {
        let mut list = Vec::new();
        for piece in wrong.split_inclusive(|byte| *byte == b' ') {
            match piece.trim_ascii() {
                b"LINE" => list.extend([line.as_bytes(), b" "].concat()),
                _ => list.extend(piece),
            }
        }
        list.extend(format!("\nme {line}\n").bytes());
        let signers = AllowedSigners::parse(&list).expect("a list");
        let verified = signers.verify("me", "file", at(0), &signature, &message);
        assert_eq!(verified, Ok(()));
        assert_eq!(
            signers.left_out().len(),
            left_out,
            "{}",
            wrong.escape_ascii()
        );
        if left_out == 1 {
            assert_eq!(signers.left_out()[0].error, LineError::NotUtf8);
        }
    }
    // With the comment of other bytes, the line itself counts, and so it does with another principal, and before a NUL.
    for list in [
        [b"me ", line.as_bytes(), b" M\xfcller"].concat(),
        [b"\xfc,me ", line.as_bytes()].concat(),
        [b"m\"e\" ", line.as_bytes()].concat(),
        [b"me ", line.as_bytes(), b"\0"].concat(),
    ] {
        let signers = AllowedSigners::parse(&list).expect("a list");
        let verified = signers.verify("me", "file", at(0), &signature, &message);
        assert_eq!(verified, Ok(()), "{}", list.escape_ascii());
    }
    // But a key that is cut off by such a byte is none.
    let list = [b"me ", &line.as_bytes()[..100], b"\xfc"].concat();
    let refused = AllowedSigners::parse(&list).expect_err("its only line has no key");
    assert_eq!(refused.error, LineError::NotUtf8);
}

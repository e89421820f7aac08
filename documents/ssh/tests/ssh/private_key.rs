//! Private key files: each rule of the format has its error, changed bytes are noticed, and limits hold exactly.

use core::time::Duration;

use pq_ssh::{
    ArmorError, HashAlgorithm, HashedMessage, KeyError, KeyName, Passphrase, PrivateKey,
    PrivateKeyError, TextError,
};
use testing::spent::Spent;

use crate::{COMMENT, KEY, armored, bytes_of, other_key, string};

const LABEL: &str = "OPENSSH PRIVATE KEY";
const PASSPHRASE: &[u8] = b"a passphrase, in which may be \0 and \xff";

/// The cheapest settings: these tests read many files.
fn passphrase() -> Passphrase<'static> {
    Passphrase::new(PASSPHRASE).rounds(1).accept_rounds(16)
}

/// The parts of a file, each of which a test may change.
struct File {
    cipher: &'static [u8],
    kdf: &'static [u8],
    options: Vec<u8>,
    count: u32,
    public: Vec<u8>,
    section: Section,
    trailing: &'static [u8],
}

struct Section {
    checks: [u32; 2],
    name: &'static [u8],
    public: Vec<u8>,
    seeds: Vec<u8>,
    comment: Vec<u8>,
    padding: Option<Vec<u8>>,
}

impl File {
    fn new() -> Self {
        let key = KEY.public_key();
        Self {
            cipher: b"none",
            kdf: b"none",
            options: Vec::new(),
            count: 1,
            public: key.to_blob(),
            section: Section {
                checks: [0x0123_4567; 2],
                name: b"ssh-mldsa44-ed25519",
                public: key.key().as_bytes().to_vec(),
                seeds: KEY.key().to_bytes().to_vec(),
                comment: COMMENT.as_bytes().to_vec(),
                padding: None,
            },
            trailing: b"",
        }
    }

    fn read(edit: impl FnOnce(&mut Self)) -> Result<PrivateKey, PrivateKeyError> {
        let mut file = Self::new();
        edit(&mut file);
        let bytes = [
            &b"openssh-key-v1\0"[..],
            &string(file.cipher),
            &string(file.kdf),
            &string(&file.options),
            &file.count.to_be_bytes(),
            &string(&file.public),
            &string(&file.section.to_bytes()),
            file.trailing,
        ];
        PrivateKey::from_openssh(&armored(LABEL, &bytes.concat()), Some(&passphrase()))
    }
}

impl Section {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [
            &self.checks[0].to_be_bytes(),
            &self.checks[1].to_be_bytes(),
            &*string(self.name),
            &string(&self.public),
            &string(&self.seeds),
            &string(&self.comment),
        ]
        .concat();
        match &self.padding {
            Some(padding) => bytes.extend_from_slice(padding),
            None => bytes.extend((1..8).take(bytes.len().next_multiple_of(8) - bytes.len())),
        }
        bytes
    }
}

#[test]
fn files_are_read_as_they_were_written() {
    for &name in KeyName::ALL {
        // for every length of padding
        for len in 0..20 {
            let key = KEY.clone().with_name(name);
            let key = key.with_comment(&"c".repeat(len)).expect("a comment");
            for passphrase in [None, Some(&passphrase())] {
                let text = key.to_openssh(passphrase).expect("randomness");
                let read = PrivateKey::from_openssh(&text, passphrase).expect("its own file");
                assert_eq!(read.public_key(), key.public_key());
                assert_eq!(read.key().to_bytes(), key.key().to_bytes());
                assert!(text.lines().all(|line| line.len() <= 70));
            }
        }
    }
    assert!(File::read(|_| {}).is_ok());
}

#[test]
fn a_passphrase_is_asked_for_and_checked() {
    let text = KEY.to_openssh(Some(&passphrase())).expect("randomness");
    let read = |passphrase: Option<&Passphrase<'_>>| {
        PrivateKey::from_openssh(&text, passphrase).map(|_| ())
    };
    assert_eq!(read(None), Err(PrivateKeyError::PassphraseNeeded));
    assert_eq!(
        read(Some(&Passphrase::new(b"another"))),
        Err(PrivateKeyError::WrongPassphrase)
    );
    let empty = Passphrase::new(b"");
    assert_eq!(read(Some(&empty)), Err(PrivateKeyError::EmptyPassphrase));
    for nothing in [empty, passphrase().rounds(0)] {
        assert_eq!(
            KEY.to_openssh(Some(&nothing)).map(|_| ()),
            Err(PrivateKeyError::EmptyPassphrase)
        );
    }
    // Each file has its own salt.
    assert_ne!(
        text,
        KEY.to_openssh(Some(&passphrase())).expect("randomness")
    );
}

/// A hostile number of rounds ends in an error, not in an hour.
#[test]
fn too_many_rounds_are_refused_at_once() {
    let options = |rounds: u32| [string(&[9; 16]), rounds.to_be_bytes().to_vec()].concat();
    let begun = Spent::now();
    for rounds in [17, 1 << 20, u32::MAX] {
        let read = File::read(|file| {
            (file.cipher, file.kdf, file.options) = (b"aes256-ctr", b"bcrypt", options(rounds));
        });
        assert_eq!(
            read.map(|_| ()),
            Err(PrivateKeyError::TooManyRounds { rounds, limit: 16 })
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn malformed_encryption_is_refused() {
    let with = |cipher, kdf, options: &[u8]| {
        File::read(|file| {
            (file.cipher, file.kdf, file.options) = (cipher, kdf, options.to_vec());
        })
        .expect_err("it is malformed")
    };
    let one = 1_u32.to_be_bytes();
    let malformed = [
        with(b"none", b"none", b"\0"),
        with(b"aes256-ctr", b"bcrypt", &[&*string(b""), &one].concat()),
        with(
            b"aes256-ctr",
            b"bcrypt",
            &[&*string(&[1; 65]), &one].concat(),
        ),
        with(
            b"aes256-ctr",
            b"bcrypt",
            &[&*string(&[1; 16]), &[0; 4]].concat(),
        ),
    ];
    for error in malformed {
        assert!(matches!(error, PrivateKeyError::Malformed(_)), "{error}");
    }
    for options in [
        &b""[..],
        &string(&[1; 16]),
        &[&*string(&[1; 16]), &one, b"\0"].concat(),
    ] {
        let error = with(b"aes256-ctr", b"bcrypt", options);
        assert!(matches!(error, PrivateKeyError::Wire(_)), "{error}");
    }
    for (cipher, kdf) in [
        (&b"none"[..], &b"bcrypt"[..]),
        (b"aes256-ctr", b"none"),
        (b"aes256-cbc", b"bcrypt"),
        (b"\x1b[2J\xff", b""),
    ] {
        let error = with(cipher, kdf, b"");
        assert!(
            matches!(error, PrivateKeyError::Encryption { .. }),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .bytes()
                .all(|c| (b' '..=b'~').contains(&c))
        );
    }
}

/// Files of `ssh-keygen -Z` (OpenSSH 10.6), made for this test. No byte of them can be changed.
#[test]
fn keys_under_ciphers_with_a_tag_are_read() {
    for text in [
        include_str!("of_openssh/aes256-gcm.key"),
        include_str!("of_openssh/chacha20-poly1305.key"),
    ] {
        let read = |text: &str, passphrase: &'static [u8]| {
            PrivateKey::from_openssh(text, Some(&Passphrase::new(passphrase)))
        };
        let key = read(text, b"right").expect("a key of OpenSSH");
        assert_eq!(key.public_key().comment(), "a comment");
        let wrong = read(text, b"wrong").expect_err("another passphrase");
        assert_eq!(wrong, PrivateKeyError::WrongPassphrase);

        let bytes = bytes_of(text);
        let section = bytes.len() - 16 - 8..bytes.len();
        for at in section {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let error = read(&armored(LABEL, &changed), b"right").expect_err("it was changed");
            assert_eq!(error, PrivateKeyError::WrongPassphrase, "{at}");
        }
        for bytes in [&bytes[..bytes.len() - 1], &[&*bytes, b"\0"].concat()] {
            let error = read(&armored(LABEL, bytes), b"right").expect_err("its tag is no tag");
            assert!(matches!(error, PrivateKeyError::Wire(_)), "{error}");
        }
    }
}

#[test]
fn each_rule_has_its_error() {
    fn refused(edit: impl FnOnce(&mut File)) -> PrivateKeyError {
        File::read(edit).expect_err("it is wrong")
    }
    assert_eq!(refused(|f| f.count = 0), PrivateKeyError::KeyCount(0));
    assert_eq!(
        refused(|f| f.count = u32::MAX),
        PrivateKeyError::KeyCount(u32::MAX)
    );
    assert_eq!(
        refused(|f| f.section.checks[1] ^= 1),
        PrivateKeyError::WrongPassphrase
    );
    assert!(matches!(
        refused(|f| f.trailing = b"\0"),
        PrivateKeyError::Wire(_)
    ));

    // The public key, its copy beside the private key, and the private key all have to agree.
    let other = other_key();
    let mismatches = [
        refused(|f| f.public = other.public_key().to_blob()),
        refused(|f| f.section.public = other.public_key().key().as_bytes().to_vec()),
        refused(|f| f.section.seeds = other.key().to_bytes().to_vec()),
        refused(|f| f.section.seeds[..32].copy_from_slice(&[7; 32])),
        refused(|f| f.section.seeds[32..].copy_from_slice(&[7; 32])),
        refused(|f| f.section.name = b"ssh-mldsa44-ed25519@openssh.com"),
    ];
    for error in mismatches {
        assert_eq!(error, PrivateKeyError::PublicKeyMismatch);
    }
    for len in [0, 32, 63, 65, 96] {
        let error = refused(|f| f.section.seeds.resize(len, 0));
        assert!(matches!(error, PrivateKeyError::Key(_)), "{len}: {error}");
    }
    let error = refused(|f| f.section.name = b"ssh-ed25519");
    let other = KeyError::OtherAlgorithm("ssh-ed25519".to_owned());
    assert_eq!(error, PrivateKeyError::PublicKey(other));

    let comments = [
        (b"\n".to_vec(), TextError::ControlCharacter("the comment")),
        (b"\xff".to_vec(), TextError::NotUtf8("the comment")),
        (
            vec![b'c'; 1025],
            TextError::TooLong {
                what: "the comment",
                len: 1025,
            },
        ),
    ];
    for (comment, error) in comments {
        let refused = refused(|f| f.section.comment = comment);
        assert_eq!(
            refused,
            PrivateKeyError::PublicKey(KeyError::Comment(error))
        );
    }

    // The comment of 20 bytes leaves room for other bytes.
    let right = File::new().section.to_bytes();
    let end = right
        .windows(COMMENT.len())
        .position(|w| w == COMMENT.as_bytes());
    let right = right[end.expect("it is there") + COMMENT.len()..].to_vec();
    let len = u8::try_from(right.len()).expect("it is short");
    assert_eq!(right, (1..=len).collect::<Vec<_>>());
    for padding in [
        Vec::new(),
        (1..len).collect(),
        (1..=len + 1).collect(),
        (1..=len + 8).collect(),
        vec![0; right.len()],
    ] {
        let error = refused(|f| f.section.padding = Some(padding.clone()));
        assert!(
            matches!(error, PrivateKeyError::Malformed(_)),
            "{padding:?}: {error}"
        );
    }
}

/// The position of the comment in the file without armor: nothing protects the comment.
fn comment_in(bytes: &[u8]) -> core::ops::Range<usize> {
    let comment = COMMENT.as_bytes();
    let start = bytes
        .windows(comment.len())
        .position(|window| window == comment);
    let start = start.expect("it is there");
    start..start + comment.len()
}

#[test]
fn no_byte_of_a_plain_file_can_be_changed_but_the_comment() {
    let text = KEY.to_openssh(None).expect("randomness");
    let bytes = bytes_of(&text);
    let comment = comment_in(&bytes);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let read = PrivateKey::from_openssh(&armored(LABEL, &changed), None);
        match read {
            Ok(read) if comment.contains(&at) => {
                assert!(read.public_key().is_same_key(KEY.public_key()));
                assert_ne!(read.public_key().comment(), COMMENT);
            }
            Ok(_) => panic!("a change of byte {at} was not seen"),
            Err(_) => {}
        }
    }
    for len in 0..bytes.len() {
        let cut = PrivateKey::from_openssh(&armored(LABEL, &bytes[..len]), None);
        assert!(cut.is_err(), "{len}");
    }
}

/// The cipher is a stream cipher, so a byte of the comment can be changed here, too.
#[test]
fn no_byte_of_an_encrypted_file_can_be_changed_but_the_comment() {
    let plain = bytes_of(&KEY.to_openssh(None).expect("randomness"));
    let bytes = bytes_of(&KEY.to_openssh(Some(&passphrase())).expect("randomness"));
    // The longer names, the salt and the rounds come before the section.
    let more = (10 - 4) + (6 - 4) + (4 + 16 + 4);
    let comment = comment_in(&plain);
    let comment = comment.start + more..comment.end + more;
    let section = bytes.len() - 1500;
    // Each try takes a round of bcrypt, so only some of the encrypted bytes are changed.
    for at in (0..120)
        .chain((120..section).step_by(61))
        .chain((section..bytes.len()).step_by(23))
    {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let read = PrivateKey::from_openssh(&armored(LABEL, &changed), Some(&passphrase()));
        let is_comment = comment.contains(&at);
        assert!(
            read.is_err() || is_comment,
            "a change of byte {at} was not seen"
        );
    }
}

/// A change to the text can only make another line break.
#[test]
fn no_character_of_the_armor_can_be_changed_but_line_breaks() {
    let text = KEY.to_openssh(None).expect("randomness");
    let comment = comment_in(&bytes_of(&text));
    let mut characters = 0;
    for (at, c) in text.char_indices() {
        let in_body = at > 35 && at < text.len() - 34;
        let may_be_comment = in_body && {
            let byte = characters * 3 / 4;
            byte + 2 > comment.start && byte < comment.end
        };
        characters += usize::from(in_body && c != '\n');
        for other in ["A", "=", " ", "\n", "\r", "\0", "-", "\u{e9}"] {
            if other.starts_with(c) || c == '\n' && other == "\r" {
                continue;
            }
            let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            let read = PrivateKey::from_openssh(&changed, None);
            assert!(
                read.is_err() || may_be_comment,
                "{other:?} for {c:?} at {at}"
            );
        }
    }
}

/// The longest salt, the most rounds, the longest comment and the longest file, and one beyond.
#[test]
fn one_beyond_each_limit() {
    let encrypted = |salt: usize, rounds: u32| {
        let options = [string(&vec![9; salt]), rounds.to_be_bytes().to_vec()].concat();
        let read = File::read(|file| {
            (file.cipher, file.kdf, file.options) = (b"aes256-ctr", b"bcrypt", options);
        });
        read.expect_err("the section is not encrypted")
    };
    for (salt, rounds, is_tried) in [(64, 1, true), (65, 1, false), (1, 16, true), (1, 17, false)] {
        let error = encrypted(salt, rounds);
        // What was decrypted has no sense.
        let was_tried = !matches!(
            &error,
            PrivateKeyError::TooManyRounds { .. }
                | PrivateKeyError::Malformed("its salt is far too long")
        );
        assert_eq!(was_tried, is_tried, "{salt} {rounds}: {error}");
    }
    let options = [&*string(&[9; 16]), &513_u32.to_be_bytes()].concat();
    let file = [
        &b"openssh-key-v1\0"[..],
        &string(b"aes256-ctr"),
        &string(b"bcrypt"),
        &string(&options),
        &1_u32.to_be_bytes(),
        &string(&KEY.public_key().to_blob()),
        &string(&[0; 32]),
    ];
    let read = PrivateKey::from_openssh(
        &armored(LABEL, &file.concat()),
        Some(&Passphrase::new(b"x")),
    );
    assert_eq!(
        read.map(|_| ()),
        Err(PrivateKeyError::TooManyRounds {
            rounds: 513,
            limit: 512
        })
    );
    for (len, is_read) in [(1024, true), (1025, false)] {
        let read = File::read(|file| file.section.comment = vec![b'x'; len]);
        assert_eq!(read.is_ok(), is_read, "{len}");
        assert_eq!(
            KEY.clone().with_comment(&"x".repeat(len)).is_ok(),
            is_read,
            "{len}"
        );
        let message =
            HashedMessage::read(HashAlgorithm::Sha512, &b""[..]).expect("it is in memory");
        assert_eq!(
            KEY.sign(&"x".repeat(len), &message).is_ok(),
            is_read,
            "{len}"
        );
    }
    for (len, is_armor) in [(32 << 10, true), ((32 << 10) + 1, false)] {
        let begin = format!("-----BEGIN {LABEL}-----\n");
        let text = begin.clone() + &"x".repeat(len - begin.len());
        let error = PrivateKey::from_openssh(&text, None).expect_err("it is no armor");
        let is_short = matches!(error, PrivateKeyError::Armor(ArmorError::NoEnd(_)));
        assert_eq!(is_short, is_armor, "{len}: {error}");
    }
}

//! Public keys: lines, options, names and fingerprints, and the errors for lines and bytes that are no keys.

use pq_keys::composite::{CompositeAlgorithm, CompositeKey};
use pq_ssh::{AuthorizedKey, KeyError, KeyName, PublicKey, WireError};

use crate::{COMMENT, KEY, string};

/// In the form in which `ssh-keygen -l` of OpenSSH 10.6 writes it.
const FINGERPRINT: &str = "SHA256:YHFaNBK5AlpwYu/6raJx5SflWNqTCQdkAcGWbp3frmA";

#[test]
fn the_fingerprint_is_that_of_openssh() {
    assert_eq!(KEY.public_key().fingerprint(), FINGERPRINT);
}

#[test]
fn lines_are_read_as_they_were_written() {
    for &name in KeyName::ALL {
        for comment in ["", COMMENT, "with blanks, \u{e9} and \"quotes\""] {
            let key = KEY.public_key().clone().with_name(name);
            let key = key.with_comment(comment).expect("a comment");
            let line = key.to_line();
            for line in [
                line.clone(),
                format!("{line}\n"),
                format!("{line}\r\n"),
                format!(" \t{line} \t"),
                line.replacen(' ', " \t", 2),
            ] {
                assert_eq!(PublicKey::from_line(&line).as_ref(), Ok(&key), "{line:?}");
            }
            assert!(line.starts_with(&format!("{name} AAAA")));
            assert_eq!(PublicKey::from_blob(&key.to_blob()), key.with_comment(""));
        }
    }
}

/// One key, but two fingerprints: the name is hashed, too.
#[test]
fn under_both_names_it_is_one_key() {
    let key = KEY.public_key();
    let other = key.clone().with_name(KeyName::OpenSsh);
    assert!(key.is_same_key(&other));
    assert_ne!(key, &other);
    assert_ne!(key.fingerprint(), other.fingerprint());
    assert!(!key.is_same_key(crate::other_key().public_key()));
}

#[test]
fn options_are_kept() {
    let line = KEY.public_key().to_line();
    for options in [
        "restrict",
        "command=\"echo \\\"a b\\\" c\",no-pty",
        "from=\"10.0.0.0/8 \",environment=\"A=ssh-rsa \"",
    ] {
        let with_options = format!("{options} {line}");
        let key = AuthorizedKey::from_line(&with_options).expect("options and a key");
        assert_eq!(
            (key.options(), key.public_key()),
            (options, KEY.public_key())
        );
        assert_eq!(key.to_line(), with_options);
        assert_eq!(
            AuthorizedKey::from_line(&format!(" {options} \t{line}\n")),
            Ok(key)
        );
        assert!(matches!(
            PublicKey::from_line(&with_options),
            Err(KeyError::OtherAlgorithm(_))
        ));
    }
    let plain = AuthorizedKey::from_line(&line).expect("a key");
    assert_eq!((plain.options(), plain.to_line()), ("", line));
}

#[test]
fn lines_that_are_none_say_why() {
    let line = KEY.public_key().to_line();
    let words: Vec<&str> = line.split(' ').collect();
    let of = |line: &str| AuthorizedKey::from_line(line).expect_err("it is wrong");
    let other = |name: &str| KeyError::OtherAlgorithm(name.to_owned());
    for nothing in [
        "",
        "\n",
        "  ",
        "# a comment",
        words[0],
        "restrict",
        "a=\"b c\" ",
    ] {
        assert_eq!(of(nothing), KeyError::NoKey, "{nothing:?}");
    }
    assert_eq!(
        of(&format!("ssh-ed25519 {}", words[1])),
        other("ssh-ed25519")
    );
    assert_eq!(of(&format!("a ssh-rsa {}", words[1])), other("ssh-rsa"));
    assert_eq!(
        of(&format!("ssh-mldsa44-ed25519-cert-v01 {}", words[1])),
        other("ssh-mldsa44-ed25519-cert-v01")
    );
    assert_eq!(of(&format!("a=\"b {line}")), KeyError::UnclosedQuote);
    assert_eq!(of(&format!("{line}\n{line}")), KeyError::SeveralLines);
    assert_eq!(of(&"a".repeat(40_000)), KeyError::LineTooLong(40_000));
    for damaged in [&words[1][1..], &words[1][..1000], "=", "AAA", "\u{e9}"] {
        let refused = of(&format!("{} {damaged}", words[0]));
        let is_cut = matches!(refused, KeyError::Base64 | KeyError::Wire(_));
        assert!(is_cut, "{damaged}: {refused}");
    }
    assert_eq!(
        of(&line.replacen("ed25519", "ed25519@openssh.com", 1)),
        KeyError::OtherName {
            line: KeyName::OpenSsh,
            key: KeyName::Standard.to_string()
        }
    );
    for comment in ["a\u{7}", "\u{1b}[31m", "\u{85}"] {
        let refused = of(&format!("{line}{comment}"));
        assert!(matches!(refused, KeyError::Comment(_)), "{refused}");
    }
    assert!(matches!(
        of(&(line + &"a".repeat(1025))),
        KeyError::Comment(_)
    ));
}

#[test]
fn blobs_that_are_none_say_why() {
    let blob = KEY.public_key().to_blob();
    let name = string(b"ssh-mldsa44-ed25519");
    for len in 0..blob.len() {
        let cut = PublicKey::from_blob(&blob[..len]);
        assert_eq!(
            cut,
            Err(KeyError::Wire(WireError::Truncated("the public key"))),
            "{len}"
        );
    }
    let trailing = PublicKey::from_blob(&[&*blob, b"\0"].concat());
    assert!(matches!(
        trailing,
        Err(KeyError::Wire(WireError::TrailingBytes { count: 1, .. }))
    ));
    let key = KEY.public_key().key().as_bytes();
    for wrong in [&[][..], &key[..1312], &key[..1343], &[key, b"\0"].concat()] {
        let refused = PublicKey::from_blob(&[&*name, &string(wrong)].concat());
        assert!(matches!(refused, Err(KeyError::Key(_))), "{refused:?}");
    }
    // Changes before the key itself are noticed; a change in the key makes another key.
    for at in 0..name.len() + 4 {
        let mut changed = blob.clone();
        changed[at] ^= 1;
        assert!(PublicKey::from_blob(&changed).is_err(), "{at}");
    }
}

#[test]
fn other_combinations_are_refused() {
    let algorithm = CompositeAlgorithm::MlDsa65Ed25519Sha512;
    let key = CompositeKey::generate(algorithm).expect("a key");
    assert_eq!(
        PublicKey::new(key.public_key().clone()),
        Err(KeyError::OtherCombination(algorithm))
    );
}

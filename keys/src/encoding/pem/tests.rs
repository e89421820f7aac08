use alloc::format;
use alloc::string::ToString;

use super::*;

/// The error of a text with an unreadable block.
fn unreadable(label: &str, line: usize, damage: Damage) -> PemError {
    PemError::Unreadable {
        label: label.into(),
        line,
        damage,
    }
}

#[test]
fn finds_its_blocks_among_others() {
    let text = format!(
        "subject: x\n{}{}\nmore text\n{}",
        encode("THIS", b"one"),
        encode("OTHER", b"two"),
        encode("THIS", b"three"),
    );
    let all = decode_all(&text, "THIS").unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].as_slice(), b"one");
    assert_eq!(all[1].as_slice(), b"three");
    assert_eq!(decode_first(&text, "OTHER").unwrap().as_slice(), b"two");
    assert_eq!(
        decode_first(&text, "THAT"),
        Err(PemError::Missing {
            label: "THAT",
            found: vec!["THIS".into(), "OTHER".into(), "THIS".into()],
        })
    );
}

#[test]
fn the_first_of_several_labels_is_found_by_its_place() {
    let (this, that) = (encode("THIS", b"one"), encode("THAT", b"two"));
    for labels in [["THIS", "THAT"], ["THAT", "THIS"]] {
        for (text, label, contents) in [
            (format!("{this}{that}"), "THIS", b"one"),
            (format!("text\n{that}{this}"), "THAT", b"two"),
        ] {
            let found = decode_first_of(&text, &labels).unwrap();
            assert_eq!((found.0, found.1.as_slice()), (label, &contents[..]));
        }
        // One that does not end is the first all the same.
        let cut = format!("-----BEGIN THIS-----\n{that}");
        let refused = decode_first_of(&cut, &labels).unwrap_err();
        assert_eq!(refused, unreadable("THIS", 1, Damage::NoEnd));
        let none = decode_first_of("text", &labels).unwrap_err();
        assert!(matches!(none, PemError::Missing { label, .. } if label == labels[0]));
    }
}

#[test]
fn labels_dont_write_the_log() {
    let text = "-----BEGIN \u{1b}[2J-----\n".repeat(1000);
    let message = decode_first(&text, "THIS").unwrap_err().to_string();
    assert!(message.contains("\\u{1b}[2J, "), "{message}");
    assert!(message.len() < 1000 && !message.contains('\u{1b}'));
    let block = blocks(text.as_bytes()).next().unwrap();
    assert!(!block.decode().unwrap_err().to_string().contains('\u{1b}'));
}

/// Different functions read and write secret and public blocks.
#[test]
fn public_blocks_are_as_private_ones() {
    for len in 1..200 {
        let contents: Vec<u8> = (0..len).map(|byte: u8| byte.wrapping_mul(151)).collect();
        let private = encode("PRIVATE KEY", &contents);
        let public = encode("PUBLIC KEY", &contents);
        assert_eq!(public, private.replace("PRIVATE", "PUBLIC"));
    }
}

/// How a text may look that means the same: with the name of each way. `{}` is where base64 is.
fn rewritten(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let lines: Vec<&str> = text.lines().collect();
    let joined = |separator: &str| lines.join(separator).into_bytes();
    let each = |change: &dyn Fn(&str) -> String| {
        let changed: Vec<String> = lines.iter().map(|line| change(line)).collect();
        (changed.join("\n") + "\n").into_bytes()
    };
    let is_mark = |line: &str| line.starts_with("-----");
    let of_width = |width: usize| {
        let wrap = |line: &str| match is_mark(line) {
            true => line.to_string(),
            false => {
                let pieces: Vec<&[u8]> = line.as_bytes().chunks(width).collect();
                String::from_utf8(pieces.join(&b'\n')).unwrap()
            }
        };
        each(&wrap)
    };
    let characters: String = lines
        .iter()
        .copied()
        .filter(|line| !is_mark(line))
        .collect();
    let (begin, end) = (lines[0], lines[lines.len() - 1]);
    let around = |before: &[u8], after: &[u8]| [before, text.as_bytes(), after].concat();
    vec![
        ("as it is", text.into()),
        ("CRLF", joined("\r\n")),
        ("CR", joined("\r")),
        ("no line end at the end", joined("\n")),
        ("blanks at line ends", each(&|line| format!("{line} "))),
        ("tabs at line ends", each(&|line| format!("{line}\t "))),
        ("indented", each(&|line| format!("   {line}"))),
        ("quoted by an empty line", each(&|line| format!("{line}\n"))),
        ("an empty line after BEGIN", {
            text.replacen('\n', "\n\n", 1).into()
        }),
        ("a blank line before END", {
            text.replace("-----END", " \t\n-----END").into()
        }),
        ("76 characters", of_width(76)),
        ("uneven lines", of_width(7)),
        ("one character in a line", of_width(1)),
        ("one line", format!("{begin}\n{characters}\n{end}").into()),
        ("in one line", format!("{begin}{characters}{end}").into()),
        ("vertical tabs and form feeds", joined("\x0b\n\x0c")),
        ("a BOM", around(b"\xef\xbb\xbf", b"")),
        ("text in Latin-1 before it", around(b"Schl\xfcssel\n", b"")),
        ("text in Latin-1 after it", around(b"", b"Schl\xfcssel\n")),
        ("NUL after it", around(b"", b"\0\0")),
        ("no line end before it", around(b"-----END X-----", b"")),
        ("another block", around(encode("X", b"x").as_bytes(), b"")),
        (
            "a broken block",
            around(b"-----BEGIN X-----\n!\n-----END X-----\n", b""),
        ),
        (
            "one that does not end",
            around(b"-----BEGIN X-----\nAAAA\n", b""),
        ),
        (
            "one with another end",
            around(b"-----BEGIN X-----\n-----END Y-----\n", b""),
        ),
        ("one after it", around(b"", b"-----BEGIN X-----\n")),
    ]
}

/// Any blanks between the characters, and any text around the block, leave its contents as they are.
#[test]
fn what_is_written_is_read_however_it_is_wrapped() {
    for (len, label) in [1, 2, 3, 47, 48, 49, 95, 96, 200]
        .into_iter()
        .flat_map(|len| ["THIS", "CERTIFICATE"].map(|label| (len, label)))
    {
        let contents: Vec<u8> = (0..len).map(|byte: u8| byte.wrapping_mul(151)).collect();
        for (way, text) in rewritten(&encode(label, &contents)) {
            let read = decode_first(&text, label);
            assert_eq!(read.as_deref(), Ok(&contents), "{label}, {len}, {way}");
            let all = decode_all(&text, label).unwrap();
            assert_eq!(all.len(), 1, "{way}");
            assert!(is_in(&text) && !is_der(&text), "{way}");
        }
    }
}

/// A byte that is changed, lost or added never makes other contents without an error, but for those in which base64
/// itself means other bytes then; and never makes the block disappear, but for changes of all of its labels.
#[test]
fn changed_blocks_are_read_as_they_are_or_refused() {
    for label in ["THIS", "CERTIFICATE"] {
        let text = encode(label, &[7; 60]);
        let lines = |text: &[u8]| {
            text.iter()
                .filter(|byte| !byte.is_ascii_whitespace())
                .count()
        };
        for at in 0..text.len() {
            let changes = (0..=255).map(|other| {
                let mut changed = text.clone().into_bytes();
                changed[at] = other;
                changed
            });
            let shorter = [&text.as_bytes()[..at], &text.as_bytes()[at + 1..]].concat();
            let cut = text.as_bytes()[..at].to_vec();
            let is_mark = |at: usize| {
                let begin = text.find('\n').unwrap();
                at < begin || at >= text.find("-----END").unwrap()
            };
            for changed in changes.chain([shorter]) {
                match decode_first(&changed, label) {
                    Ok(contents) if *contents == [7; 60] => {}
                    Ok(_) => assert!(!is_mark(at) && lines(&changed) == lines(text.as_bytes())),
                    Err(error) => assert!(matches!(error, PemError::Unreadable { .. }), "{at}"),
                }
            }
            let is_begun = at > "-----BEGIN THIS".len().max(label.len() + 11);
            match decode_all(&cut, label) {
                Ok(contents) => assert!(at + 1 >= text.len() && *contents[0] == [7; 60], "{at}"),
                Err(error) if is_begun => {
                    assert!(matches!(error, PemError::Unreadable { .. }), "{at}");
                }
                Err(_) => {}
            }
        }
    }
}

#[test]
fn damage_is_named() {
    let good = encode("THIS", &[7; 60]);
    let body = good.lines().nth(1).unwrap();
    let (begin, end) = ("-----BEGIN THIS-----\n", "-----END THIS-----\n");
    for (text, damage) in [
        (format!("{begin}{body}\n"), Damage::NoEnd),
        (format!("{begin}{body}\n{good}"), Damage::NoEnd),
        (format!("{begin}{body}\n----END THIS-----\n"), Damage::NoEnd),
        (format!("{body}\n{end}"), Damage::NoBegin),
        (
            format!("----BEGIN THIS-----\n{body}\n{end}"),
            Damage::NoBegin,
        ),
        (
            format!("{begin}{body}\n-----END THAT-----\n"),
            Damage::OtherEnd("THAT".into()),
        ),
        (
            format!("-----BEGIN THAT-----\n{body}\n{end}"),
            Damage::OtherEnd("THIS".into()),
        ),
        (
            format!("-----BEGIN THIS----\n{body}\n{end}"),
            Damage::Dashes,
        ),
        (format!("-----BEGIN THIS\n{body}\n{end}"), Damage::Dashes),
        (format!("{begin}{body}\n-----END THIS---\n"), Damage::Dashes),
        (format!("{begin}{end}"), Damage::Empty),
        (format!("{begin} \n\n{end}"), Damage::Empty),
        (format!("{begin}{body}\n?\n{end}"), Damage::Characters),
        (format!("{begin}{body}\n\u{a0}\n{end}"), Damage::Characters),
        (format!("{begin}> {body}\n{end}"), Damage::Characters),
        (format!("{begin}AAAA\nA\n{end}"), Damage::Base64),
        (format!("{begin}AA==\nAAAA\n{end}"), Damage::Base64),
        (format!("{begin}AAA\n{end}"), Damage::Base64),
        (format!("{begin}AB==\n{end}"), Damage::Base64),
        (
            format!("{begin}Comment: x\n\n{body}\n{end}"),
            Damage::Headers,
        ),
        (
            format!("{begin}Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{body}\n{end}"),
            Damage::LegacyEncryption,
        ),
    ] {
        for label in ["THIS", "CERTIFICATE"] {
            let text = text.replace("THIS", label);
            let is_named = |error: PemError| match error {
                PemError::Unreadable {
                    damage: found,
                    line,
                    ..
                } => {
                    let expected = match &damage {
                        Damage::OtherEnd(label) if label == "THIS" => {
                            Damage::OtherEnd(text_label(&text))
                        }
                        other => other.clone(),
                    };
                    assert_eq!(found, expected, "{text}");
                    let is_late = matches!(damage, Damage::NoBegin);
                    assert!(is_late || line == 1, "{text}");
                }
                PemError::Missing { .. } => panic!("missing: {text}"),
            };
            is_named(decode_first(&text, label).unwrap_err());
            is_named(decode_all(&text, label).unwrap_err());
            // after a good one, and in front of it
            let good = good.replace("THIS", label);
            assert_eq!(
                *decode_first(&(good.clone() + &text), label).unwrap(),
                [7; 60]
            );
            decode_all(&(good.clone() + &text), label).unwrap_err();
            decode_first(&(text.clone() + &good), label).unwrap_err();
            // Whoever looks for something else does not care.
            let other = encode("OTHER", b"other");
            assert_eq!(*decode_first(&(text + &other), "OTHER").unwrap(), b"other");
        }
    }
}

fn text_label(text: &str) -> String {
    text.rsplit("-----END ")
        .next()
        .unwrap()
        .trim_end()
        .trim_end_matches('-')
        .into()
}

#[test]
fn errors_say_which_block() {
    let good = encode("CERTIFICATE", &[7; 100]);
    let damaged = good.replacen("Bw", "B!", 1);
    let text = format!("text\n{good}\nmore text\n{damaged}{good}");
    let line = 2 + good.lines().count() + 2;
    let refused = decode_all(&text, "CERTIFICATE").unwrap_err();
    assert_eq!(refused, unreadable("CERTIFICATE", line, Damage::Characters));
    assert_eq!(
        refused.to_string(),
        "the PEM block \"CERTIFICATE\" in line 9 has something else in it than base64; get the text again"
    );
}

#[test]
fn other_labels_that_mean_the_same() {
    for (label, others) in [
        ("CERTIFICATE", &["X509 CERTIFICATE"][..]),
        ("CERTIFICATE REQUEST", &["NEW CERTIFICATE REQUEST"]),
        ("CMS", &["PKCS7", "PKCS #7 SIGNED DATA"]),
    ] {
        for other in others {
            let text = encode(label, b"contents").replace(label, other);
            assert_eq!(*decode_first(&text, label).unwrap(), b"contents");
            let block = blocks(text.as_bytes()).next().unwrap();
            assert_eq!((&*block.label(), block.is_of(label)), (*other, true));
            let mixed = text.replace(&format!("END {other}"), &format!("END {label}"));
            let refused = decode_first(&mixed, label).unwrap_err();
            assert_eq!(
                refused,
                unreadable(other, 1, Damage::OtherEnd(label.into()))
            );
        }
    }
    let text = encode("TRUSTED CERTIFICATE", b"contents");
    for text in [text.clone(), encode("CERTIFICATE", b"first") + &text] {
        let refused = decode_all(&text, "CERTIFICATE").unwrap_err();
        assert!(matches!(
            refused,
            PemError::Unreadable {
                damage: Damage::Trust,
                ..
            }
        ));
    }
    assert!(matches!(
        decode_first(&text, "PRIVATE KEY"),
        Err(PemError::Missing { .. })
    ));
}

/// Programs print names in front of a certificate, and whoever asked for it chose them.
#[test]
fn no_block_within_a_line_of_other_text() {
    let good = encode("CERTIFICATE", &[7; 48]);
    let body = good.lines().nth(1).unwrap();
    let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----");
    let refused = |text: &str, line| {
        let found = decode_first(text, "CERTIFICATE");
        let expected = unreadable("CERTIFICATE", line, Damage::WithinLine);
        assert_eq!(found, Err(expected.clone()), "{text}");
        assert_eq!(decode_all(text, "CERTIFICATE"), Err(expected), "{text}");
    };
    for before in [
        "Subject: O=",
        "\u{feff}# ",
        "x \t",
        "text\n  - ",
        "-----END X-----x",
    ] {
        let line = 1 + before.matches('\n').count();
        for blank in ["", " ", "\t"] {
            let block = format!("{before}{begin}{blank}{body}\n{end}\n");
            refused(&block, line);
            refused(&block.replace('\n', "\r"), 1);
            refused(&(block.clone() + &good), line);
            refused(
                &format!("{before}{begin}{blank}{body}{end}{blank}\n{good}"),
                line,
            );
        }
        // If nothing but blanks follows in the line, it is a file whose last line had no end.
        for blank in ["\n", " \t\r\n", "\x0c\r"] {
            let block = format!("{before}{begin}{blank}{body}\n{end}\n");
            assert_eq!(*decode_first(&block, "CERTIFICATE").unwrap(), [7; 48]);
        }
        // Whoever looks for something else does not care.
        let key = encode("THIS", b"key");
        let text = format!("{before}{begin}{body}{end}{key}");
        assert_eq!(*decode_first(&text, "THIS").unwrap(), b"key");
    }
    let marked = format!("-----END X----- {begin} {body} {end} {begin} {body} {end}");
    assert_eq!(decode_all(&marked, "CERTIFICATE").unwrap().len(), 2);
}

/// A text of marks, or of blanks between them, takes as long as another of its length, and an error about it little memory.
#[test]
fn texts_of_marks_take_no_longer_than_others() {
    const LEN: usize = 2_000_000;
    for part in [
        "-----BEGIN \n",
        "-----BEGIN CERTIFICATE-----",
        "x-----BEGIN CERTIFICATE-----",
        "-----BEGIN CERTIFICATE----- ",
        "-----END CERTIFICATE-----\n",
        "-----BEGIN X-----AA==-----END X-----",
        "-----BEGIN X-----\n-----END Y-----",
        "-----BEGIN ",
        "-----",
        "-",
        " ",
        "\n",
        "\0",
    ] {
        let text = part.repeat(LEN / part.len());
        match decode_all(&text, "PRIVATE KEY").unwrap_err() {
            PemError::Missing { found, .. } => assert!(found.len() <= 16),
            error => panic!("{error}"),
        }
        let _ = decode_all(&text, "CERTIFICATE").map(|blocks| panic!("{}", blocks.len()));
        assert!(blocks(text.as_bytes()).count() < LEN / 10);
    }
}

/// Of NUL and of UTF-16 nothing is taken for a block, and what is said about them is true.
#[test]
fn text_in_other_encodings() {
    let text = encode("THIS", &[7; 60]);
    for bytes in [
        text.encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<_>>(),
        text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        vec![0; 100],
    ] {
        assert!(!is_in(&bytes) && !is_der(&bytes));
        let refused = decode_first(&bytes, "THIS").unwrap_err().to_string();
        assert!(
            refused.ends_with("none at all; it may be DER, or text in UTF-16"),
            "{refused}"
        );
    }
    for place in [text.find('\n').unwrap(), text.find("-----END").unwrap()] {
        let mut within = text.clone();
        within.insert(place, '\0');
        let refused = decode_first(&within, "THIS");
        assert_eq!(refused, Err(unreadable("THIS", 1, Damage::Characters)));
    }
}

#[test]
fn der_is_not_taken_for_text() {
    let text = encode("THIS", &[7; 100]);
    // A comment in a certificate may have PEM in it.
    let der = [&[0x30, 0x82, 1, 0][..], text.as_bytes()].concat();
    assert!(is_der(&der) && !is_in(&der));
    assert!(is_der(&[0x30, 3, 1, 1, 1]) && !is_in(&[0x30, 3, 1, 1, 1]));
    assert!(!is_der(b"text") && !is_in(b"text") && !is_der(b"") && !is_in(b""));
    let zero = format!("0 is the first line\n{text}");
    assert!(is_in(zero.as_bytes()) && !is_der(zero.as_bytes()));
}

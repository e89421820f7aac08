//! PEM as other programs, editors and mail leave it: the same wherever a file is read.

use pq_x509::keys::encoding::pem;

use crate::folder::Folder;

/// A folder with a file of each kind, and the commands that read it.
fn folder() -> Folder {
    let folder = Folder::with_ca();
    folder.write("passphrase", "secret");
    for command in [
        "key new ML-DSA-44 --out a.key --public a.pub",
        "key encrypt a.key --passphrase-file passphrase --out locked.key",
        "key new ECDSA-P256 --out ec.key",
        "cert request --key a.key --name a.example --out a.csr",
        "cert self-sign --key a.key --name a.example --out a.pem",
        "cms sign passphrase --key a.key --cert a.pem --pem --out a.cms",
        "ca init --dir ca --name Example --dns a.example --algorithm ML-DSA-44",
    ] {
        folder.pqtls(command).ok();
    }
    folder.write("chain.pem", folder.read("www.pem") + &folder.read("ca.pem"));
    folder
}

const COMMANDS: [(&str, &str); 15] = [
    ("a.key", "key show f"),
    ("a.key", "key public f"),
    ("ec.key", "key show f"),
    ("locked.key", "key show f --passphrase-file passphrase"),
    ("a.pub", "key show f"),
    ("www.pem", "cert show f"),
    ("www.pem", "key public f"),
    ("chain.pem", "cert show f"),
    ("chain.pem", "cert verify f --roots ca-root.pem"),
    ("ca-root.pem", "cert verify chain.pem --roots f"),
    (
        "none.crl",
        "cert verify chain.pem --roots ca-root.pem --crl f",
    ),
    ("none.crl", "cert lint f"),
    ("a.csr", "cert lint f"),
    ("a.cms", "cms show f"),
    ("a.cms", "cms verify f --signer a.pem"),
];

/// Ways to write the same text.
fn rewritten(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let each = |change: &dyn Fn(&str) -> String| -> Vec<u8> {
        let lines = text.lines().map(|line| change(line) + "\n");
        lines.collect::<String>().into_bytes()
    };
    let is_mark = |line: &str| line.starts_with("-----");
    let around = |before: &[u8], after: &[u8]| [before, text.as_bytes(), after].concat();
    vec![
        ("CRLF", each(&|line| format!("{line}\r"))),
        ("blanks at line ends", each(&|line| format!("{line} \t"))),
        ("indented", each(&|line| format!("  {line}"))),
        ("empty lines", each(&|line| format!("{line}\n"))),
        ("uneven lines", {
            each(&|line| match is_mark(line) {
                true => line.into(),
                false => line.replace('M', "M\n"),
            })
        }),
        ("one line", {
            each(&|line| match is_mark(line) {
                true => format!("\n{line}\n"),
                false => line.into(),
            })
        }),
        (
            "no line end between blocks",
            text.replace("-----\n-----", "----------").into(),
        ),
        ("no line end at the end", text.trim_end().into()),
        ("BOM", around(b"\xef\xbb\xbf", b"")),
        ("Latin-1 before it", around(b"Schl\xfcssel\n", b"")),
        ("Latin-1 after it", around(b"", b"Schl\xfcssel\n")),
        (
            "broken block before it",
            around(b"-----BEGIN X-----\n!\n-----END X-----\n", b""),
        ),
        (
            "block without an end before it",
            around(b"-----BEGIN X-----\n", b""),
        ),
        (
            "block without an end after it",
            around(b"", b"-----BEGIN X-----\n"),
        ),
    ]
}

/// What a command says, without the line that has the time.
fn without_time(said: &str) -> String {
    let lines = said.lines().filter(|line| !line.starts_with("valid "));
    lines.map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn files_of_every_kind_are_read_however_they_are_written() {
    let folder = folder();
    for (file, command) in COMMANDS {
        let text = folder.read(file);
        folder.write("f", &text);
        let expected = without_time(folder.pqtls(command).ok());
        for (way, rewritten) in rewritten(&text) {
            folder.write("f", rewritten);
            let found = folder.pqtls(command);
            assert_eq!(
                (without_time(found.stdout()), found.stderr(), found.status()),
                (expected.clone(), "", 0),
                "{file}, {command}: {way}"
            );
        }
    }
}

/// A file of requests is read in pieces, of any number and in any way.
#[test]
fn requests_in_pieces() {
    let folder = folder();
    let text = folder.read("a.csr").repeat(3);
    for (way, rewritten) in rewritten(&text) {
        folder.write("f", rewritten);
        let signed = folder.pqtls("ca sign f --dir ca --out signed.pem --leaf-only --force");
        assert_eq!((signed.stderr(), signed.status()), ("", 0), "{way}");
        assert_eq!(
            folder.read("signed.pem").matches("BEGIN").count(),
            3,
            "{way}"
        );
    }
}

/// Damage of the block that is wanted is an error that says where it is, and never that there is no such block.
#[test]
fn what_is_damaged_is_refused() {
    let folder = folder();
    for (file, command) in COMMANDS {
        let text = folder.read(file);
        let (_, last) = text.trim_end().rsplit_once("-----BEGIN ").unwrap();
        let (label, _) = last.split_once("-----").unwrap();
        let line = text.lines().count() - last.lines().count() + 1;
        let before = &text[..text.len() - last.trim_end().len() - "-----BEGIN \n".len()];
        let changed =
            |from: &str, to: &str| format!("{before}-----BEGIN {}\n", last.replacen(from, to, 1));
        let end = format!("-----END {label}-----");
        for (damaged, words) in [
            (
                changed("\nM", "\nM?"),
                "has something else in it than base64",
            ),
            (changed("\nM", "\nX: y\n\nM"), "has headers as of RFC 1421"),
            (
                changed("\n-----END", "\nA\n-----END"),
                "incomplete, or goes on",
            ),
            (changed(&end, ""), "does not end"),
            (changed(&end, "-----END X-----"), "ends as \"X\""),
            (changed(&end, "-----END X-----") + &text, "ends as \"X\""),
            (
                changed(&end, &end[..end.len() - 1]),
                "without all of its dashes",
            ),
        ] {
            folder.write("f", &damaged);
            let found = folder.pqtls(command);
            let complaint = found.stderr();
            assert!(found.status() != 0, "{command}: {damaged}");
            assert!(
                complaint.contains(words),
                "{command}: {complaint}\n{damaged}"
            );
            let place = format!("the PEM block \"{label}\" in line {line} ");
            assert!(complaint.contains(&place), "{command}: {complaint}");
        }
        let beginless = text.replacen("-----BEGIN", "----BEGIN", 1);
        folder.write("f", &beginless);
        let found = folder.pqtls(command);
        assert!(
            found.status() != 0 && found.stderr().contains("no BEGIN line"),
            "{command}"
        );
    }
}

#[test]
fn labels_of_others() {
    let folder = folder();
    for (file, command, label, other) in [
        ("www.pem", "cert show f", "CERTIFICATE", "X509 CERTIFICATE"),
        (
            "a.csr",
            "cert lint f",
            "CERTIFICATE REQUEST",
            "NEW CERTIFICATE REQUEST",
        ),
        ("a.cms", "cms show f", "CMS", "PKCS7"),
        ("a.cms", "cms show f", "CMS", "PKCS #7 SIGNED DATA"),
    ] {
        let text = folder.read(file);
        folder.write("f", &text);
        let expected = folder.pqtls(command).ok().to_owned();
        // With the dashes: "CMS" alone stands in one of some forty files by chance, within the base64.
        let (label, renamed) = (format!(" {label}-----"), format!(" {other}-----"));
        folder.write("f", text.replace(&label, &renamed));
        assert_eq!(folder.pqtls(command).ok(), expected, "{other}");
    }
    let trusted = folder
        .read("ca.pem")
        .replace(" CERTIFICATE-", " TRUSTED CERTIFICATE-");
    folder.write("f", folder.read("www.pem") + &trusted);
    folder.pqtls("cert show f").fails(
        3,
        "is a certificate with OpenSSL's own data on what to trust it for",
    );
    folder.write("f", folder.read("a.key") + &trusted);
    folder.pqtls("key show f").ok();
}

/// What has no label in RFC 7468 has one elsewhere: GnuTLS writes PKCS#12 in PEM, and OpenSSL has labels for OCSP.
#[test]
fn der_in_pem() {
    let folder = folder();
    folder
        .pqtls("key export www.key --certs www.pem --passphrase-file passphrase --out a.p12")
        .ok();
    for command in [
        "ca sign a.csr --dir ca --out signed.pem",
        "cert ocsp-request signed.pem --out a.ocsp",
        "ca ocsp a.ocsp --dir ca --out a.resp",
    ] {
        folder.pqtls(command);
    }
    for (file, label, command) in [
        (
            "a.p12",
            "PKCS12",
            "key import f --passphrase-file passphrase",
        ),
        (
            "a.ocsp",
            "OCSP REQUEST",
            "ca ocsp f --dir ca --out new.resp --force",
        ),
        (
            "a.resp",
            "OCSP RESPONSE",
            "cert verify signed.pem --roots ca/root.pem --ocsp f",
        ),
    ] {
        for content in [
            folder.bytes(file),
            pem::encode(label, &folder.bytes(file)).into(),
        ] {
            folder.write("f", content);
            folder.pqtls(command).ok();
        }
        let damaged = pem::encode(label, &folder.bytes(file)).replacen("\nM", "\nM?", 1);
        folder.write("f", damaged);
        folder
            .pqtls(command)
            .fails(3, &format!("the PEM block \"{label}\" in line 1 has "));
    }
}

/// Whoever asks for a certificate chooses its names, and programs print these in front of it.
#[test]
fn a_block_in_a_name_is_not_read() {
    let folder = folder();
    for (file, command) in COMMANDS {
        let text = folder.read(file);
        let at = text.find("-----BEGIN ").unwrap();
        let one_line = text[at..].lines().collect::<String>();
        folder.write("f", format!("        Subject: O={one_line}\n{text}"));
        let found = folder.pqtls(command);
        let complaint = found.stderr();
        assert!(
            found.status() != 0
                && complaint.contains("in line 1 stands within a line of other text"),
            "{command}: {complaint}"
        );
    }
}

/// Of many other blocks, a message names some; and a file of nothing but the beginnings of blocks is a short message, too.
#[test]
fn messages_about_many_blocks() {
    let folder = Folder::new();
    let others: String = (0..100_000)
        .map(|i| pem::encode("X", b"x").replace('X', &format!("X{i}")))
        .collect();
    folder.write("f", others);
    let found = folder.pqtls("cert show f");
    found.fails(
        3,
        "f has no certificate, but a block \"X0\" and a block \"X1\" and ",
    );
    assert!(
        found
            .stderr()
            .contains("a block \"X15\" and others; name another file"),
        "{}",
        found.stderr()
    );
    for (begin, words) in [
        (
            "-----BEGIN \n",
            "f has no certificate, but a block \"\"; name another file",
        ),
        (
            "-----BEGIN CERTIFICATE\n",
            "the PEM block \"CERTIFICATE\" in line 1 does not end",
        ),
        (
            "-----BEGIN CERTIFICATE-----x",
            "the PEM block \"CERTIFICATE\" in line 1 does not end",
        ),
    ] {
        folder.write("f", begin.repeat(200_000));
        folder.pqtls("cert show f").fails(3, words);
    }
}

/// A file of requests is read in pieces, and none of them is taken for DER, and so passed over, since it begins as DER does.
#[test]
fn no_request_is_passed_over() {
    let folder = folder();
    let text = folder.bytes("a.csr");
    folder.write("f", [&text[..], b"0\x82\n", &text].concat());
    let signed = folder.pqtls("ca sign f --dir ca --out signed.pem --leaf-only");
    assert_ne!(signed.status(), 0, "{}", signed.stdout());
}

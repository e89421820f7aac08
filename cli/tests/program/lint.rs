//! `pqtls cert lint`.

use pq_x509::certificate::Certificate;
use pq_x509::keys::encoding::pem;
use pq_x509::linting::all_rules;

use crate::folder::Folder;

/// The DER of `www.pem`, whose serial number is negative.
fn with_negative_number(folder: &Folder) -> Vec<u8> {
    let certificate = Certificate::from_pem(&folder.read("www.pem")).unwrap();
    let number = certificate.serial_number();
    let mut der = certificate.der().to_vec();
    let mut places = der.windows(number.len());
    let at = places.position(|bytes| bytes == number).unwrap();
    // Negative, and whatever follows not needless.
    der[at] = 0x81;
    der
}

#[test]
fn what_this_program_makes_breaks_no_rule() {
    let folder = Folder::with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    for command in [
        "cert request --key a.key --name a.example --out a.csr",
        "cert self-sign --key a.key --ca --subject Root --out root.pem",
        "cert self-sign --key a.key --name a.example --validity 45d --out a.pem",
        "ca init --name CA --dns a.example --ip 192.0.2.0/24 --algorithm ML-DSA-44 \
         --crl-url http://ca.example/ca.crl",
        "ca issue a.example 192.0.2.1 --key a.key --validity 45d --out issued.pem",
        "ca issue --common-name 'Robot 7' --profile client --key a.key --out robot.pem",
        "ca revoke robot.pem --reason superseded",
        "ca crl --out ca.crl",
        "ca crl --root --out root.crl",
    ] {
        folder.shell(&format!("pqtls {command}")).ok();
    }
    let linted = folder.pqtls(
        "cert lint www.pem ca.pem ca-root.pem none.crl www.crl a.csr root.pem a.pem ca/root.pem \
         issued.pem robot.pem ca.crl root.crl --severity notice",
    );
    let last = linted.ok().lines().last().unwrap();
    assert_eq!(last, "17 documents: nothing found", "{}", linted.stdout());
}

#[test]
fn findings_have_their_rule_and_the_worst_decides_the_status() {
    let folder = Folder::with_ca();
    folder.write("bad.der", with_negative_number(&folder));
    let linted = folder.pqtls("cert lint www.pem bad.der");
    assert_eq!((linted.status(), linted.stderr()), (1, ""));
    let [sound, bad, finding, summary] = linted.stdout().lines().collect::<Vec<_>>()[..] else {
        panic!("{}", linted.stdout());
    };
    assert_eq!(
        sound,
        "www.pem: certificate 1 \"www.example.org\": nothing found"
    );
    assert_eq!(bad, "bad.der: certificate 1 \"www.example.org\"");
    assert!(finding.starts_with("  error    the serial number "));
    assert!(
        finding
            .ends_with(" is negative (rfc5280-serial-number-positive, RFC 5280 section 4.1.2.2)")
    );
    assert_eq!(summary, "2 documents: 1 error");

    // A notice, which is no error.
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    folder
        .pqtls("cert self-sign --key a.key --name a.example --validity 800d --out long.pem")
        .ok();
    let linted = folder.pqtls("cert lint long.pem");
    assert!(
        linted
            .ok()
            .contains("\n  notice   is a server's and valid for 801 days"),
        "{}",
        linted.ok()
    );
    for (severity, status) in [("error", 0), ("warning", 0), ("notice", 1)] {
        let linted = folder.pqtls(&format!("cert lint long.pem --severity {severity}"));
        assert_eq!(linted.status(), status, "{severity}");
    }
}

#[test]
fn what_cant_be_read_is_linted_all_the_same() {
    let folder = Folder::with_ca();
    let mut der = with_negative_number(&folder);
    // The length of the signature's BIT STRING is too great by one.
    let signature = der.len() - 2421;
    der[signature - 1] += 1;
    let text = folder.read("ca.pem") + &pem(&der) + &folder.read("www.crl");
    let linted = folder.pqtls_reading(text, "cert lint -");
    assert_eq!(linted.status(), 1);
    let printed = linted.stdout();
    for words in [
        "standard input: certificate 1 \"CN=Example CA\": nothing found\n",
        "standard input: certificate 2 that can't be read\n",
        "(asn1-syntax, ",
        "(rfc5280-serial-number-positive, ",
        "standard input: revocation list 3 \"CN=Example Root CA\": nothing found\n",
        "standard input: revocation list 4 \"CN=Example CA\": nothing found\n",
        "4 documents: 2 errors\n",
    ] {
        assert!(printed.contains(words), "{printed}");
    }
}

fn pem(der: &[u8]) -> String {
    use base64ct::{Base64, Encoding};
    let base64 = Base64::encode_string(der);
    format!("-----BEGIN CERTIFICATE-----\n{base64}\n-----END CERTIFICATE-----\n")
}

#[test]
fn files_without_documents_are_refused() {
    let folder = Folder::with_ca();
    folder.pqtls("cert lint www.key").fails(
        3,
        "www.key has no certificate or revocation list or certificate request",
    );
    folder
        .pqtls("cert lint www.pem none.pem")
        .fails(3, "can't read none.pem");
    folder.pqtls("cert lint").fails(2, "<FILE>");
    folder
        .pqtls("cert lint www.pem --severity fatal")
        .fails(2, "--severity");
    folder
        .pqtls("cert lint www.pem --list")
        .fails(2, "cannot be used with");
}

#[test]
fn every_rule_is_listed() {
    let folder = Folder::new();
    let listed = folder.pqtls("cert lint --list");
    assert_eq!(listed.ok().lines().count(), all_rules().count());
    for rule in all_rules() {
        assert!(listed.ok().contains(&format!(" {}: ", rule.name())));
    }
}

/// What a stranger sends takes no more than some megabytes: certificates and requests have a limit, and beyond a number
/// of values only the beginning is looked at.
#[test]
fn long_documents_are_refused_and_many_values_are_found() {
    let folder = Folder::with_ca();
    let wrap = |tag: u8, contents: &[u8]| {
        let len = u32::try_from(contents.len()).unwrap().to_be_bytes();
        [&[tag, 0x83][..], &len[1..], contents].concat()
    };
    // A certificate's body with some million tiny extensions.
    let of_extensions = |number: usize| {
        let tiny = [0x30, 5, 6, 1, 0x2a, 4, 0].repeat(number);
        let algorithm = [0x30, 4, 6, 2, 0x2a, 3];
        let body = [
            &[0xa0, 3, 2, 1, 2, 2, 1, 1][..],
            &algorithm,
            &[0x30, 0],
            &[0x30, 30],
            &b"\x17\x0d260101000000Z".repeat(2),
            &[0x30, 0],
            &[0x30, 9],
            &algorithm,
            &[3, 1, 0],
            &wrap(0xa3, &wrap(0x30, &tiny)),
        ];
        let body = wrap(0x30, &body.concat());
        let der = wrap(0x30, &[&body[..], &algorithm, &[3, 1, 0]].concat());
        pem::encode("CERTIFICATE", &der)
    };
    folder.write("long.pem", of_extensions(1_200_000));
    folder
        .pqtls("cert lint long.pem")
        .fails(3, "long.pem: a certificate of 8400");
    folder.write("many.pem", of_extensions(100_000));
    let linted = folder.pqtls("cert lint many.pem");
    assert_eq!(linted.status(), 1, "{}", linted.stderr());
    let says = |text: &str| assert!(linted.stdout().contains(text), "{}", linted.stdout());
    says("has more than 10000 values in it");
    says("has more than one 1.2");
}

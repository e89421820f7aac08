//! `pqtls show`: what a file has, of whatever kind.

use base64ct::Encoding as _;
use pq_x509::revocation::CertificateRevocationList;
use pq_x509::x509_cert::certificate::Rfc5280;
use pq_x509::x509_cert::crl::CertificateList;
use pq_x509::x509_cert::der::asn1::{BitString, OctetString};
use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::der::{Decode, Encode};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::crl::dp::IssuingDistributionPoint;
use pq_x509::x509_cert::request::CertReq;
use serde_json::Value;

use crate::folder::Folder;

/// Everything that the program's other commands make, or take, can be looked at.
#[test]
fn whatever_a_file_has_is_shown() {
    let folder = Folder::with_ca();
    folder.write("pw", "passphrase\n");
    folder
        .pqtls("key new ML-DSA-44 --out a.key --public a.pub")
        .ok();
    for command in [
        "cert request --key a.key --name a.example --subject CN=A,O=B --out a.csr",
        "cert bundle www.pem ca.pem --out chain.pem",
        "cert ocsp-request chain.pem --out ocsp.req",
        "key encrypt a.key --passphrase-file pw --out secret.key",
        "key export www.key --certs www.pem --passphrase-file pw --out www.p12",
        "key public a.key --format jwk --out a.jwk",
        "key public a.key --format cose --out a.cose",
        "ca init --name CA --algorithm ML-DSA-44",
        "ca issue a.example --key a.pub --out signed.pem",
        "ca ocsp --for signed.pem --out ocsp.response",
        "ssh new --out id --comment me",
        "ssh new --out id2 --encrypt --passphrase-file pw",
        "ssh sign a.pub --key id --out sig",
    ] {
        folder.pqtls(command).ok();
    }
    folder.write("set", format!("{{\"keys\": [{}]}}", folder.read("a.jwk")));
    let both = folder.read("a.csr") + &folder.read("www.crl");
    folder.write("both", both);
    for (file, words) in [
        (
            "a.csr",
            &[
                "certificate request\n  subject       CN=A,O=B\n  names         a.example\n",
                "  key           ML-DSA-44\n  fingerprint   sha256:",
                "  proof         yes: its key signed it\n",
            ][..],
        ),
        (
            "www.crl",
            &[
                "revocation list\n  issued by     CN=Example Root CA\n",
                "  revoked       1 certificate\n  entry ",
                " (keyCompromise)\n",
            ],
        ),
        ("both", &["certificate request\n", "\n\nrevocation list\n"]),
        (
            "chain.pem",
            &["www.example.org\n  issued by     CN=Example CA\n"],
        ),
        ("ocsp.req", &["OCSP request\n  certificate   "]),
        (
            "ocsp.response",
            &["OCSP response\n  responder     ", " is good at "],
        ),
        ("a.key", &["private key\n  algorithm     ML-DSA-44\n"]),
        (
            "secret.key --passphrase-file pw",
            &["private key\n", "  encrypted     AES-256-CBC"],
        ),
        (
            "a.pub",
            &["public key\n  algorithm     ML-DSA-44\n  use           sign\n"],
        ),
        ("a.jwk", &["public key\n  algorithm     ML-DSA-44\n"]),
        ("a.cose", &["public key\n  algorithm     ML-DSA-44\n"]),
        (
            "set",
            &["set of JSON Web Keys\n  key           ML-DSA-44, thumbprint "],
        ),
        (
            "www.p12 --passphrase-file pw",
            &[
                "PKCS#12 file\n  key           private key of ML-DSA-44",
                "www.example.org, until ",
            ],
        ),
        (
            "id",
            &[
                "SSH private key\n  algorithm     ssh-mldsa44-ed25519",
                "  comment       me\n",
            ],
        ),
        ("id2 --passphrase-file pw", &["SSH private key\n"]),
        (
            "id.pub",
            &["SSH public key\n  algorithm     ssh-mldsa44-ed25519"],
        ),
        (
            "sig",
            &["SSH signature\n  namespace     file\n  hash          sha512\n"],
        ),
    ] {
        let shown = folder.pqtls(&format!("show {file}"));
        for words in words {
            assert!(shown.ok().contains(words), "{file}: {}", shown.ok());
        }
        let report = folder.pqtls(&format!("show {file} --json"));
        let report: Value = serde_json::from_str(report.ok()).unwrap();
        assert!(!report["items"].as_array().unwrap().is_empty(), "{file}");
    }
    folder
        .pqtls("cert show a.csr")
        .fails(3, "\"pqtls show\" shows what it asks for");
    folder.pqtls("show pw").fails(3, "pw is neither PEM nor");
    // A request whose signature is another's is shown as such.
    let mut changed = folder.pqtls("cert request --key a.key --name a.example --der");
    let mut der = changed.stdout_bytes().to_vec();
    *der.last_mut().unwrap() ^= 1;
    folder.write("changed.csr", der);
    changed = folder.pqtls("show changed.csr");
    assert!(
        changed.ok().contains("  proof         no: "),
        "{}",
        changed.ok()
    );
}

/// Names that Microsoft's programs ask for in an attribute of their own, which `pqtls ca sign` certifies, are shown.
#[test]
fn names_in_microsofts_attribute_are_shown() {
    let folder = Folder::with_ca();
    let der = folder.pqtls("cert request --key www.key --name a.example --der");
    let mut request = CertReq::from_der(der.stdout_bytes()).unwrap();
    let mut attribute = request.info.attributes.get(0).unwrap().clone();
    attribute.oid = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.2.1.14");
    request.info.attributes = vec![attribute].try_into().unwrap();
    folder.write("microsoft.csr", request.to_der().unwrap());
    let shown = folder.pqtls("show microsoft.csr");
    assert!(
        shown.ok().contains("  names         a.example\n"),
        "{}",
        shown.ok()
    );
}

/// A proof is checked for itself, whatever names are asked for; that no certificate is made with those is said, too.
#[test]
fn the_proof_of_a_request_does_not_depend_on_its_names() {
    let folder = Folder::with_ca();
    let der = folder.pqtls("cert request --key www.key --name a.example --der");
    let request = CertReq::from_der(der.stdout_bytes()).unwrap();
    // A registered ID in place of a DNS name
    let mut signed = request.info.to_der().unwrap();
    let place = signed.windows(9).position(|nine| nine == b"a.example");
    signed[place.unwrap() - 2] = 0x88;
    folder.write("signed", &signed);
    folder
        .pqtls("sign signed --key www.key --out signature")
        .ok();
    let request = CertReq {
        info: Decode::from_der(&signed).unwrap(),
        signature: BitString::from_bytes(&folder.bytes("signature")).unwrap(),
        ..request
    };
    folder.write("full.csr", request.to_der().unwrap());
    let shown = folder.pqtls("show full.csr");
    for words in [
        "  proof         yes: its key signed it\n",
        "  pqtls ca sign refuses it: a subject alternative name",
    ] {
        assert!(shown.ok().contains(words), "{}", shown.ok());
    }
}

/// All keys of a set are named, also those of types that are not read here; so is such a key alone.
#[test]
fn json_web_keys_of_other_types_are_named() {
    let folder = Folder::with_ca();
    folder
        .pqtls("key public www.key --format jwk --out a.jwk")
        .ok();
    let ec = r#"{"kty":"EC","crv":"P-256","alg":"ES256","kid":"e","x":"AA","y":"AA"}"#;
    let rsa = r#"{"kty":"RSA","n":"AA","e":"AQAB"}"#;
    let okp = r#"{"kty":"OKP","crv":"Ed25519","x":"AA","d":"AA"}"#;
    let oct = r#"{"kty":"oct","alg":"HS256","k":"AA"}"#;
    let own = folder.read("a.jwk");
    let set = format!(r#"{{"keys":[{ec},{rsa},{okp},{oct},{own},{{}}]}}"#);
    folder.write("set.jwks", set);
    folder.write("empty.jwks", r#"{"keys":[]}"#);
    folder.write("ec.jwk", ec);
    let shown = folder.pqtls("show set.jwks");
    for words in [
        "  key           ML-DSA-44, thumbprint ",
        "  not read here EC, P-256, alg ES256, key id \"e\"\n",
        "  not read here RSA\n",
        "  not read here OKP, Ed25519, with its private part\n",
        "  not read here oct, alg HS256, with its private part\n",
        "  left out      key 6 of the set is left out: ",
    ] {
        assert!(shown.ok().contains(words), "{words}: {}", shown.ok());
    }
    let shown = folder.pqtls("show empty.jwks");
    assert_eq!(shown.ok(), "set of JSON Web Keys\n  key           none\n");
    let shown = folder.pqtls("show ec.jwk");
    assert_eq!(
        shown.ok(),
        "JSON Web Key\n  not read here EC, P-256, alg ES256, key id \"e\"\n"
    );
}

/// What `ssh-keygen -t ed25519 -C me` and `ssh-keygen -Y sign` write: what can be told is, without a passphrase.
#[test]
fn keys_of_sshs_other_algorithms_are_named() {
    fn string(bytes: &[u8]) -> Vec<u8> {
        let len = u32::try_from(bytes.len()).unwrap();
        [&len.to_be_bytes()[..], bytes].concat()
    }

    let folder = Folder::new();
    let public = [string(b"ssh-ed25519"), string(&[7; 32])].concat();
    let private = [&[0; 8][..], &public, &string(&[8; 64]), &string(b"me")].concat();
    let armored = |label: &str, bytes: &[u8]| {
        let base64 = base64ct::Base64::encode_string(bytes);
        format!("-----BEGIN {label}-----\n{base64}\n-----END {label}-----\n")
    };
    let key = |cipher: &[u8], private: &[u8]| {
        let begin = [b"openssh-key-v1\0", &*string(cipher), &string(b"bcrypt")].concat();
        let rest = [
            string(b""),
            vec![0, 0, 0, 1],
            string(&public),
            string(private),
        ]
        .concat();
        armored("OPENSSH PRIVATE KEY", &[begin, rest].concat())
    };
    folder.write("id", key(b"none", &private));
    folder.write("secret", key(b"aes256-ctr", &[9; 64]));
    let fields = [&*public, b"git", b"", b"sha512", b"signature"];
    let fields: Vec<u8> = fields.into_iter().flat_map(string).collect();
    let signature = [b"SSHSIG\0\0\0\x01", &*fields].concat();
    folder.write("sig", armored("SSH SIGNATURE", &signature));
    let algorithm = "  algorithm     ssh-ed25519\n  fingerprint   SHA256:";
    for (file, words) in [
        (
            "id",
            ["SSH private key\n", algorithm, "  comment       me\n"],
        ),
        (
            "secret",
            [
                "SSH private key\n",
                algorithm,
                "  encrypted     aes256-ctr\n",
            ],
        ),
        (
            "sig",
            [
                "SSH signature\n  namespace     git\n",
                algorithm,
                "  hash          sha512\n",
            ],
        ),
    ] {
        let shown = folder.pqtls(&format!("show {file}"));
        for words in words {
            assert!(shown.ok().contains(words), "{file}: {}", shown.ok());
        }
    }
}

/// What an indirect list is about, and since when a key is invalid, decide whether an entry counts.
#[test]
fn extensions_of_lists_are_shown() {
    let folder = Folder::with_ca();
    let list = CertificateRevocationList::all_from_pem(&folder.read("www.crl")).unwrap();
    let mut list = CertificateList::<Rfc5280>::from_der(list[1].der()).unwrap();
    let extension = |oid: &str, der: &[u8]| Extension {
        extn_id: ObjectIdentifier::new_unwrap(oid),
        critical: true,
        extn_value: OctetString::new(der).unwrap(),
    };
    let point = IssuingDistributionPoint {
        distribution_point: None,
        only_contains_user_certs: true,
        only_contains_ca_certs: false,
        only_some_reasons: None,
        indirect_crl: true,
        only_contains_attribute_certs: false,
    };
    let body = &mut list.tbs_cert_list;
    let point = extension("2.5.29.28", &point.to_der().unwrap());
    body.crl_extensions.as_mut().unwrap().push(point);
    let entry = &mut body.revoked_certificates.as_mut().unwrap()[0];
    let since = extension("2.5.29.24", b"\x18\x0f20260102030405Z");
    entry.crl_entry_extensions.as_mut().unwrap().push(since);
    folder.write("oc.crl", list.to_der().unwrap());
    let shown = folder.pqtls("show oc.crl");
    for words in [
        "  extension     issuingDistributionPoint: end entities only, certificates of other issuers, too (indirect)\n",
        " (keyCompromise); invalidityDate: 2026-01-02T03:04:05Z\n",
    ] {
        assert!(shown.ok().contains(words), "{}", shown.ok());
    }
}

/// What is of other commands is told from what nobody knows, and bytes that begin as a map of CBOR are none.
#[test]
fn files_of_other_commands_are_named() {
    let folder = Folder::with_ca();
    folder
        .pqtls("key new X-Wing --out x.key --public x.pub")
        .ok();
    folder.pqtls("jwt sign --key www.key --out a.jwt").ok();
    folder.pqtls("encrypt ca.pem --to x.pub --out a.hpke").ok();
    folder.write("raw", [0xa3, 0x77, 0x91, 0x02, 0xff]);
    folder.write(
        "a.smime",
        "MIME-Version: 1.0\nContent-Type: multipart/signed; micalg=sha-256\n\nx\n",
    );
    for (file, words) in [
        (
            "a.jwt",
            "a.jwt is a JSON Web Token; \"pqtls jwt verify\" verifies it",
        ),
        ("a.hpke", "\"pqtls decrypt\" opens it"),
        ("a.smime", "a.smime is an S/MIME message"),
        ("raw", "raw is neither PEM nor"),
    ] {
        folder.pqtls(&format!("show {file}")).fails(3, words);
    }
}

/// A certificate of 1960 says so.
#[test]
fn times_before_1970_are_shown() {
    let folder = Folder::with_ca();
    let der = folder.pqtls("cert self-sign --key www.key --name a.example --der");
    let mut der = der.stdout_bytes().to_vec();
    // The first UTCTime is notBefore.
    let time = der.windows(2).position(|tag| tag == [0x17, 13]).unwrap();
    der[time + 2..time + 4].copy_from_slice(b"60");
    folder.write("old.der", der);
    let shown = folder.pqtls("cert show old.der");
    assert!(shown.ok().contains("(from 1960-"), "{}", shown.ok());
    let end = folder.read("www.pem");
    let end = pq_x509::certificate::Certificate::from_pem(&end).unwrap();
    let at = pq_x509::x509_cert::der::DateTime::from_unix_duration(
        core::time::Duration::from_secs(end.not_after().as_secs() + 1),
    );
    let shown = folder.pqtls(&format!("cert show www.pem --at {}", at.unwrap()));
    assert!(
        shown.ok().contains("expired less than a day ago"),
        "{}",
        shown.ok()
    );
}

/// A file may have anything beside a certificate: nothing of it hides the rest.
#[test]
fn all_of_a_file_is_shown_in_its_order() {
    let folder = Folder::with_ca();
    for command in [
        "ssh new --out id --comment me",
        "ssh sign ca.pem --key id --out sig",
        "cert bundle www.pem ca.pem --out chain.pem",
        "cert ocsp-request chain.pem --out ocsp.req",
        "cms sign ca.pem --key www.key --cert www.pem --pem --out m",
    ] {
        folder.pqtls(command).ok();
    }
    let ocsp: String = base64ct::Base64::encode_string(&folder.bytes("ocsp.req"));
    let ocsp = format!("-----BEGIN OCSP REQUEST-----\n{ocsp}\n-----END OCSP REQUEST-----\n");
    let other = "-----BEGIN DH PARAMETERS-----\nAAAA\n-----END DH PARAMETERS-----\n";
    let parts = [
        ("SSH private key", folder.read("id")),
        ("www.example.org", folder.read("www.pem")),
        ("OCSP request", ocsp),
        ("not understood", other.into()),
        (
            "SSH public key",
            format!("a comment\n{}", folder.read("id.pub")),
        ),
        ("SSH signature", folder.read("sig")),
        ("message (CMS)", folder.read("m")),
        ("CN=Example CA", folder.read("ca.pem")),
        ("revocation list", folder.read("www.crl")),
    ];
    let titles = |text: &str| {
        let groups = text
            .split("\n\n")
            .map(|group| group.lines().next().unwrap());
        groups.map(String::from).collect::<Vec<_>>()
    };
    let mut mixed = parts.to_vec();
    for _ in 0..2 {
        let text: String = mixed.iter().map(|(_, part)| &**part).collect();
        folder.write("mixed", text);
        let shown = folder.pqtls("show mixed");
        let mut wanted: Vec<_> = mixed.iter().map(|(title, _)| (*title).to_owned()).collect();
        let place = wanted.iter().position(|title| title == "revocation list");
        wanted.insert(place.unwrap(), "revocation list".into());
        assert_eq!(titles(shown.ok()), wanted);
        assert!(
            shown
                .ok()
                .contains("  what          block \"DH PARAMETERS\"\n")
        );
        let report = folder.pqtls("show mixed --json");
        let report: Value = serde_json::from_str(report.ok()).unwrap();
        assert_eq!(report["items"].as_array().unwrap().len(), 10);
        mixed.reverse();
    }
    // Lines of SSH's, of which one is something else
    let line = folder.read("id.pub");
    folder.write("keys", format!("{line}command alone\n{line}"));
    let shown = folder.pqtls("show keys");
    let titles = titles(shown.ok());
    assert_eq!(
        titles,
        ["SSH public key", "not understood", "SSH public key"]
    );
    assert!(shown.ok().contains("  what          line 2\n"));
    // A file with nothing else than that is refused.
    folder.write("other", other);
    folder
        .pqtls("show other")
        .fails(3, "but a block \"DH PARAMETERS\"");
}

/// Files of other commands say which command they are for.
#[test]
fn commands_point_to_each_other() {
    let folder = Folder::with_ca();
    for command in [
        "ssh new --out id",
        "key new ML-KEM-512 --out kem.key --public kem.pub",
        "key new X25519 --out x.key --public x.pub",
        "key new X-Wing --out xw.key",
        "cms sign ca.pem --key www.key --cert www.pem --detached --out detached",
        "cms encrypt ca.pem --to kem.pub --out encrypted",
        "cms encrypt ca.pem --to kem.pub --pem --out encrypted.pem",
    ] {
        folder.pqtls(command).ok();
    }
    for file in ["encrypted", "encrypted.pem"] {
        let shown = folder.pqtls(&format!("show {file}"));
        assert!(shown.ok().contains("  more          \"pqtls cms show\"\n"));
        folder
            .pqtls(&format!("decrypt {file} --key kem.key --out plain"))
            .fails(3, "decrypt it with \"pqtls cms decrypt\"");
    }
    folder
        .pqtls("sign ca.pem --key id --out s")
        .fails(3, "sign with \"pqtls ssh sign\"");
    folder
        .pqtls("verify ca.pem --key id.pub --signature detached")
        .fails(3, "\"pqtls ssh\" signs and verifies");
    folder
        .pqtls("cms verify detached --signer www.pem")
        .fails(1, "this file with --signature");
    for (key, name) in [
        ("x.pub", "X25519"),
        ("x.key", "X25519"),
        ("xw.key", "X-Wing"),
    ] {
        folder
            .pqtls(&format!("key public {key} --format jwk"))
            .fails(
                1,
                &format!("of ML-DSA (RFC 9964) alone, and this key is of {name}"),
            );
    }
}

/// Somebody may have made the file to take memory: whoever shows it takes a bounded amount, or says why not.
#[cfg(target_os = "linux")]
#[test]
fn no_file_takes_much_memory() {
    const MIB: usize = 1 << 20;
    /// What the program may have in addresses, in KiB; some of that is itself.
    const ROOM: usize = 256 * 1024;

    fn der(tag: u8, contents: &[u8]) -> Vec<u8> {
        let len = (contents.len() as u32).to_be_bytes();
        [&[tag, 0x84], &len[..], contents].concat()
    }

    let folder = Folder::with_ca();
    let certificate = folder.read("www.pem");
    let repeated = |what: &[u8], len: usize| what.repeat(len / what.len());
    let limit = "is larger than 16 MiB, and only files of revocation lists may be; split it";
    let items = "has more than 4096 items, the most that are shown; split it";
    let tiny_block = b"-----BEGIN A-----\n-----END A-----\n";
    let tiny_message = b"-----BEGIN CMS-----\nMAMGASo=\n-----END CMS-----\n";
    let line = b"a AAAAAWE=\n";
    let mut nested = vec![0x30, 0x80];
    nested.extend([6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2]);
    nested.extend(repeated(&[0xa0, 0x80], 15 * MIB));
    let set = |member: &[u8], len| [b"{\"keys\":[", &*repeated(member, len), b"{}]}"].concat();
    for (name, content, words) in [
        ("blocks", repeated(tiny_block, 15 * MIB), items),
        ("messages", repeated(tiny_message, 15 * MIB), items),
        (
            "certificates",
            repeated(certificate.as_bytes(), 15 * MIB),
            "",
        ),
        ("more", repeated(certificate.as_bytes(), 17 * MIB), limit),
        ("lines", repeated(line, 15 * MIB), items),
        ("words", repeated(b"a ", 15 * MIB), "is neither PEM nor"),
        ("jwks", set(b"{},", MIB - 100), "more than 65536 values"),
        ("some", set(b"{},", 60_000), ""),
        (
            "large",
            set(b"{},", 15 * MIB),
            "may have at most 1048576; make it shorter",
        ),
        (
            "members",
            set(b"{\"kty\":\"\"},", MIB - 100),
            "more than 65536 values",
        ),
        (
            "nulls",
            der(0x30, &repeated(&[5, 0], 15 * MIB)),
            "is neither PEM nor",
        ),
        ("nested", nested, "message"),
        ("zeros", vec![0; 300 * MIB], limit),
    ] {
        folder.write(name, content);
        for json in ["", " --json"] {
            let limited = format!("ulimit -v {ROOM}; exec pqtls show {name}{json} > out");
            let shown = folder.shell(&limited);
            match words {
                "" => assert_eq!((shown.stderr(), shown.status()), ("", 0), "{name}"),
                words => {
                    assert!(shown.stderr().contains(words), "{name}: {}", shown.stderr());
                    assert_eq!(shown.status(), 3, "{name}");
                }
            }
        }
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
}

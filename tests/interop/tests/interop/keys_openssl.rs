//! Private keys, public keys and requests of ML-DSA and ML-KEM, between this project and
//! OpenSSL.

use core::net::{IpAddr, Ipv4Addr};

use interop::openssl::Workdir;
use interop::pki::{NAME, Pki, generate};
use pq_x509::certificate::Certificate;
use pq_x509::keys::{
    Algorithm, DecapsulationKey, EncapsulationKey, KemAlgorithm, PrivateKey, PrivateKeyForm,
    PublicKey, SignatureAlgorithm, SubjectKey, VerifyingKey,
};
use pq_x509::request::CertificateRequest;
use pq_x509::x509_cert::der::asn1::Any;
use pq_x509::x509_cert::der::{Encode, Tag};

/// OpenSSL reads what we write; and if it writes the same key in the same form, it
/// writes the same bytes.
#[test]
fn openssl_reads_our_private_keys() {
    let Some(work) = Workdir::new() else { return };
    for key in one_key_of_each() {
        let algorithm = key.algorithm();
        for form in FORMS {
            let ours = key.to_pkcs8_der_as(form).expect("the key has a seed");
            work.write("ours.der", &ours);
            work.run("pkey -in ours.der -inform DER -check -noout")
                .assert_line("Key is valid");

            work.run("pkey -in ours.der -inform DER -pubout -outform DER -out public.der");
            assert_eq!(
                work.read("public.der"),
                key.spki().as_ref(),
                "{algorithm}, {form:?}"
            );

            work.run(&format!(
                "pkey -in ours.der -inform DER -out theirs.der -outform DER -provparam {}",
                output_format(algorithm, form)
            ));
            assert_eq!(work.read("theirs.der"), *ours, "{algorithm}, {form:?}");

            let pem = key.to_pkcs8_pem_as(form).expect("the key has a seed");
            work.write("ours.pem", pem.as_bytes());
            work.run("pkey -in ours.pem -pubout -outform DER -out public.der");
            assert_eq!(work.read("public.der"), key.spki().as_ref());
        }
    }
}

/// We read what OpenSSL writes, and write it back byte for byte.
#[test]
fn we_read_private_keys_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    for algorithm in algorithms() {
        for form in FORMS {
            work.run(&format!(
                "genpkey -algorithm {algorithm} -out theirs.pem -outpubkey public.pem -provparam {}",
                output_format(algorithm, form)
            ));
            let pem = work.read_text("theirs.pem");
            let key = PrivateKey::from_pkcs8_pem(&pem)
                .unwrap_or_else(|err| panic!("{algorithm}, {form:?}: {err}"));

            assert_eq!(key.algorithm(), algorithm);
            let public = PublicKey::from_spki_pem(&work.read_text("public.pem"))
                .unwrap_or_else(|err| panic!("{algorithm}: {err}"));
            assert_eq!(key.spki(), public.spki());
            let ours = key
                .to_pkcs8_pem_as(form)
                .expect("this form needs no more than it gave");
            assert_eq!(*ours, pem, "{algorithm}, {form:?}");
            // The seed can't be computed from an expanded key.
            assert_eq!(
                key.to_pkcs8_der().is_ok(),
                form != PrivateKeyForm::Expanded,
                "{algorithm}, {form:?}"
            );
        }

        // Without options, OpenSSL writes seed and expanded key.
        work.run(&format!("genpkey -algorithm {algorithm} -out default.pem"));
        let pem = work.read_text("default.pem");
        let key = PrivateKey::from_pkcs8_pem(&pem).expect("the default form can be read");
        let both = key.to_pkcs8_pem_as(PrivateKeyForm::Both);
        assert_eq!(*both.expect("the key has a seed"), pem);
    }
}

/// Files of other tools, in which a key stands bare or is followed by its public key; and forms that
/// nobody reads.
#[test]
fn forms_beside_the_standards() {
    let Some(work) = Workdir::new() else { return };
    for key in one_key_of_each() {
        let algorithm = key.algorithm();
        let seed = key.seed().expect("the key was made from a seed");
        let expanded = key.to_expanded();
        let public = PublicKey::from_spki_der(&key.spki()).expect("our own key");
        let pair = [&expanded, public.as_bytes()].concat();
        let rest = u8::try_from(seed.len() - 2).expect("a short seed");
        let starting = |start: u8| [&[start, rest], &seed[2..]].concat();
        let octets = |contents: &[u8]| der(Tag::OctetString, contents);
        for (what, contents, is_read) in [
            ("bare seed", seed.to_vec(), true),
            ("bare seed, as if tagged as one", starting(0x80), true),
            ("bare seed, as if an OCTET STRING", starting(0x04), true),
            ("bare seed, as if a SEQUENCE", starting(0x30), true),
            ("bare expanded key", expanded.to_vec(), true),
            ("pair of OQS", octets(&pair), true),
            ("bare pair", pair.clone(), false),
            ("seed in an OCTET STRING", octets(seed), false),
            ("short seed", seed[1..].to_vec(), false),
            ("long seed", [seed, &[0]].concat(), false),
            ("short expanded key", expanded[1..].to_vec(), false),
            ("long expanded key", [&expanded[..], &[0]].concat(), false),
            ("short pair", octets(&pair[1..]), false),
            ("nothing", Vec::new(), false),
        ] {
            let identifier = algorithm.identifier().to_der().expect("an identifier");
            let fields = [der(Tag::Integer, &[0]), identifier, octets(&contents)];
            let der = der(Tag::Sequence, &fields.concat());
            let ours = PrivateKey::from_pkcs8_der(&der);
            assert_eq!(ours.is_ok(), is_read, "{algorithm}, {what}");
            work.write("key.der", &der);
            let read = "pkey -in key.der -inform DER";
            match ours {
                Ok(ours) => {
                    work.run(&format!("{read} -pubout -outform DER -out public.der"));
                    assert_eq!(work.read("public.der"), ours.spki().as_ref(), "{what}");
                }
                Err(_) => drop(work.run_failing(&format!("{read} -noout"))),
            }
        }
    }
}

/// Both sides make the same key from the same seed.
#[test]
fn seeds_expand_alike() {
    let Some(work) = Workdir::new() else { return };
    for key in one_key_of_each() {
        let algorithm = key.algorithm();
        let seed = key.seed().expect("the key was made from a seed");
        let seed: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
        work.run(&format!(
            "genpkey -algorithm {algorithm} -pkeyopt hexseed:{seed} -outform DER -out theirs.der"
        ));
        let ours = key.to_pkcs8_der_as(PrivateKeyForm::Both);
        assert_eq!(
            *ours.expect("the key has a seed"),
            work.read("theirs.der"),
            "{algorithm}"
        );
    }
}

#[test]
fn public_keys() {
    let Some(work) = Workdir::new() else { return };
    for key in one_key_of_each() {
        let public = PublicKey::from_spki_der(&key.spki()).expect("our own key");
        work.write("ours.pem", public.to_spki_pem());
        work.run("pkey -pubin -in ours.pem -outform DER -out theirs.der");
        assert_eq!(work.read("theirs.der"), public.to_spki_der());
        work.run("pkey -pubin -in ours.pem -out theirs.pem");
        assert_eq!(work.read_text("theirs.pem"), public.to_spki_pem());
        work.run("pkey -pubin -in ours.pem -pubcheck -noout")
            .assert_line("Key is valid");

        // And a file with the wrong kind of key is recognized.
        let der = work.read("theirs.der");
        let signs = SignatureAlgorithm::ML_DSA
            .iter()
            .any(|algorithm| key.algorithm() == (*algorithm).into());
        assert_eq!(VerifyingKey::from_spki_der(&der).is_ok(), signs);
        assert_eq!(EncapsulationKey::from_spki_der(&der).is_ok(), !signs);
    }
}

/// OpenSSL checks our requests, and issues from them.
#[test]
fn openssl_takes_our_requests() {
    let Some(work) = Workdir::new() else { return };
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let key = generate(algorithm);
        let request = CertificateRequest::builder()
            .common_name("applicant")
            .dns_name(NAME)
            .ip_address(IpAddr::V4(Ipv4Addr::LOCALHOST))
            .sign(&key)
            .expect("the key signs");
        work.write("request.pem", request.to_pem());
        work.run("req -in request.pem -verify -noout")
            .assert_contains("Certificate request self-signature verify OK");
        let text = work.run("req -in request.pem -noout -text");
        text.assert_contains("Subject: CN=applicant");
        text.assert_contains(&format!("DNS:{NAME}, IP Address:127.0.0.1"));

        work.run(&format!(
            "req -x509 -newkey {algorithm} -noenc -keyout ca.key -subj /CN=ca -out ca.pem \
             -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign"
        ));
        work.run("x509 -req -in request.pem -CA ca.pem -CAkey ca.key -copy_extensions copy -out leaf.pem");
        work.run(&format!(
            "verify -x509_strict -CAfile ca.pem -verify_hostname {NAME} leaf.pem"
        ));
        let leaf = Certificate::from_pem(&work.read_text("leaf.pem")).expect("a certificate");
        assert_eq!(leaf.spki().as_ref(), key.verifying_key().to_spki_der());
    }
}

/// We check requests of OpenSSL, and issue from them.
#[test]
fn we_take_requests_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    for &algorithm in SignatureAlgorithm::ML_DSA {
        work.run(&format!(
            "req -new -newkey {algorithm} -noenc -keyout leaf.key -subj /CN=applicant \
             -addext subjectAltName=DNS:{NAME},IP:127.0.0.1 -out request.pem"
        ));
        let request = CertificateRequest::from_pem(&work.read_text("request.pem"))
            .expect("the request can be read");
        let verified = request.verify().expect("the applicant has the key");

        let pki = Pki::new(algorithm);
        let leaf = pki
            .intermediate()
            .issue(verified.certificate().server_auth(), &verified)
            .expect("the request can be granted");
        assert_eq!(leaf.dns_names(), [NAME]);
        assert_eq!(leaf.ip_addresses(), [IpAddr::V4(Ipv4Addr::LOCALHOST)]);

        work.write("root.pem", pki.root().to_pem());
        work.write(
            "intermediate.pem",
            pki.intermediate().certificate().to_pem(),
        );
        work.write("leaf.pem", leaf.to_pem());
        work.run(&format!(
            "verify -x509_strict -purpose sslserver -verify_hostname {NAME} \
             -CAfile root.pem -untrusted intermediate.pem leaf.pem"
        ));
        // The certificate is for the key that OpenSSL has.
        work.run("pkey -in leaf.key -pubout -outform DER -out public.der");
        assert_eq!(leaf.spki().as_ref(), work.read("public.der"));
    }
}

/// A request whose signature is not by its own key proves nothing.
#[test]
fn tampered_requests_are_refused_by_both() {
    let Some(work) = Workdir::new() else { return };
    for &algorithm in SignatureAlgorithm::ML_DSA {
        work.run(&format!(
            "req -new -newkey {algorithm} -noenc -keyout leaf.key -subj /CN=applicant \
             -outform DER -out request.der"
        ));
        let mut der = work.read("request.der");
        let name = der
            .windows(9)
            .position(|window| window == b"applicant")
            .expect("the name is in the request");
        der[name] = b'A';

        work.write("tampered.der", &der);
        work.run_failing("req -in tampered.der -inform DER -verify -noout")
            .assert_contains("Certificate request self-signature verify failure");
        CertificateRequest::from_der(&der)
            .expect("its syntax is right")
            .verify()
            .expect_err("its signature is wrong");
    }
}

fn der(tag: Tag, contents: &[u8]) -> Vec<u8> {
    let value = Any::new(tag, contents).and_then(|value| value.to_der());
    value.expect("a short value")
}

fn algorithms() -> impl Iterator<Item = Algorithm> {
    let signing = SignatureAlgorithm::ML_DSA
        .iter()
        .copied()
        .map(Algorithm::from);
    signing.chain(KemAlgorithm::ALL.iter().copied().map(Algorithm::from))
}

fn one_key_of_each() -> impl Iterator<Item = PrivateKey> {
    let signing = SignatureAlgorithm::ML_DSA
        .iter()
        .map(|&algorithm| PrivateKey::Signing(generate(algorithm)));
    let decapsulation = KemAlgorithm::ALL.iter().map(|&algorithm| {
        let key = DecapsulationKey::generate(algorithm);
        PrivateKey::Decapsulation(key.expect("the operating system has randomness"))
    });
    signing.chain(decapsulation)
}

/// The provider parameter that makes OpenSSL write `form`.
fn output_format(algorithm: Algorithm, form: PrivateKeyForm) -> String {
    let family = match algorithm {
        Algorithm::Kem(_) => "ml-kem",
        _ => "ml-dsa",
    };
    let format = match form {
        PrivateKeyForm::Seed => "seed-only",
        PrivateKeyForm::Expanded => "priv-only",
        PrivateKeyForm::Both => "seed-priv",
    };
    format!("{family}.output_formats={format}")
}

const FORMS: [PrivateKeyForm; 3] = [
    PrivateKeyForm::Seed,
    PrivateKeyForm::Expanded,
    PrivateKeyForm::Both,
];

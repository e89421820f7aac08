//! The program `pqtls` and OpenSSL: each reads and verifies every file that the other makes.

use std::process::Command;

use interop::openssl::Workdir;
use interop::process::Output;

/// The names of algorithms, the same for both programs.
const KEMS: [&str; 3] = ["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"];
const ML_DSA: [&str; 3] = ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"];
const SLH_DSA: [&str; 2] = ["SLH-DSA-SHA2-128f", "SLH-DSA-SHAKE-128f"];

/// The forms of a private key as pqtls and as OpenSSL name them.
const FORMS: [(&str, &str); 3] = [
    ("seed", "seed-only"),
    ("expanded", "priv-only"),
    ("both", "seed-priv"),
];

#[test]
fn openssl_reads_keys_of_pqtls() {
    let Some(work) = Work::new() else { return };
    for algorithm in KEMS.into_iter().chain(ML_DSA) {
        for (form, name) in FORMS {
            work.pqtls(&format!(
                "key new {algorithm} --form {form} --out ours.key --public ours.pub --force"
            ));
            work.pqtls("key convert ours.key --format der --out ours.der --force");
            // OpenSSL writes this key in this form with the same bytes.
            work.openssl(&format!(
                "pkey -in ours.key -outform DER -out theirs.der -provparam {}",
                output_format(algorithm, name)
            ));
            work.assert_same("ours.der", "theirs.der");
            work.assert_openssl_reads_key("ours");
        }
    }
    for algorithm in SLH_DSA {
        work.pqtls(&format!(
            "key new {algorithm} --out ours.key --public ours.pub --force"
        ));
        work.pqtls("key convert ours.key --format der --out ours.der --force");
        work.assert_openssl_reads_key("ours");
    }
}

/// OpenSSL passes over the digest beside them.
#[test]
fn openssl_reads_classical_keys_that_pqtls_encrypts() {
    let Some(work) = Work::new() else { return };
    work.dir.write("pw", "correct horse\n");
    for algorithm in ["Ed25519", "X25519", "ECDSA-P256", "RSA-2048"] {
        work.pqtls(&format!(
            "key new {algorithm} --encrypt --passphrase-file pw --out ours.key --public ours.pub --force"
        ));
        work.openssl("pkey -in ours.key -passin file:pw -pubout -out theirs.pub");
        work.assert_same("ours.pub", "theirs.pub");
    }
}

#[test]
fn pqtls_reads_keys_of_openssl() {
    let Some(work) = Work::new() else { return };
    let in_forms = KEMS.into_iter().chain(ML_DSA).flat_map(|algorithm| {
        FORMS.map(|(form, name)| {
            let option = format!("-provparam {}", output_format(algorithm, name));
            (algorithm, Some(form), option)
        })
    });
    for (algorithm, form, option) in
        in_forms.chain(SLH_DSA.map(|algorithm| (algorithm, None, String::new())))
    {
        work.openssl(&format!(
            "genpkey -algorithm {algorithm} -out theirs.key -outpubkey theirs.pub {option}"
        ));
        work.pqtls("key check theirs.key")
            .assert_contains(&format!("sound private key of {algorithm}"));
        if let Some(form) = form {
            let form = form.replace("both", "seed and expanded");
            work.pqtls("key show theirs.key").assert_contains(&form);
        }
        // And writes them again unchanged.
        for (command, ours, theirs) in [
            ("key convert theirs.key", "ours.key", "theirs.key"),
            ("key public theirs.key", "ours.pub", "theirs.pub"),
            ("key public theirs.pub", "ours.pub", "theirs.pub"),
        ] {
            work.pqtls(&format!("{command} --out {ours} --force"));
            work.assert_same(ours, theirs);
        }
    }
}

#[test]
fn each_makes_the_signatures_of_the_other() {
    let Some(work) = Work::new() else { return };
    work.dir.write("message", "a message");
    for algorithm in ML_DSA.into_iter().chain(SLH_DSA) {
        work.pqtls(&format!(
            "key new {algorithm} --out a.key --public a.pub --force"
        ));
        for (ours, theirs) in [
            ("", ""),
            ("--context release", "-pkeyopt context-string:release"),
        ] {
            let sign = format!("sign --key a.key message {ours} --force");
            work.pqtls(&format!("{sign} --deterministic --out ours.sig"));
            work.openssl(&format!(
                "pkeyutl -sign -rawin -inkey a.key -in message -out theirs.sig \
                 -pkeyopt deterministic:1 {theirs}"
            ));
            work.assert_same("ours.sig", "theirs.sig");
            work.pqtls(&format!(
                "verify --key a.pub --signature theirs.sig message {ours}"
            ));
            work.pqtls(&format!("{sign} --out ours.sig"));
            work.openssl(&format!(
                "pkeyutl -verify -rawin -pubin -inkey a.pub -in message -sigfile ours.sig {theirs}"
            ))
            .assert_contains("Signature Verified Successfully");
        }
    }
    // OpenSSL signs a µ that pqtls computed, and pqtls verifies the signature.
    for algorithm in ML_DSA {
        work.pqtls(&format!(
            "key new {algorithm} --out a.key --public a.pub --force"
        ));
        work.pqtls("mu --key a.pub message --context release --format raw --out mu --force");
        work.openssl("pkeyutl -sign -inkey a.key -in mu -out mu.sig -pkeyopt mu:1");
        work.pqtls("verify --key a.pub --signature mu.sig message --context release");
    }
}

#[test]
fn each_recovers_the_secrets_of_the_other() {
    let Some(work) = Work::new() else { return };
    for algorithm in KEMS {
        work.pqtls(&format!(
            "key new {algorithm} --out a.key --public a.pub --force"
        ));
        work.pqtls("encaps --key a.pub --out ct --secret ours --force");
        work.openssl("pkeyutl -decap -inkey a.key -in ct -secret theirs");
        work.assert_same("ours", "theirs");
        work.openssl("pkeyutl -encap -pubin -inkey a.pub -out ct -secret theirs");
        work.pqtls("decaps --key a.key ct --out ours --force");
        work.assert_same("ours", "theirs");
    }
}

#[test]
fn openssl_goes_by_a_ca_of_pqtls() {
    for (algorithm, root) in [
        ("ML-DSA-44", "ML-DSA-44"),
        ("ML-DSA-65", "SLH-DSA-SHA2-128f"),
    ] {
        let Some(work) = Work::new() else { return };
        work.make_ca(algorithm, root);
        work.pqtls("ca crl --root --out root.crl");
        work.pqtls("ca crl --out none.crl");
        let lists = ["root.crl", "none.crl"].map(|file| work.dir.read_text(file));
        work.dir.write("lists.pem", lists.concat());

        for key in ["ca/root", "ca/issuing", "server", "client"] {
            work.openssl(&format!("pkey -in {key}.key -check -noout"))
                .assert_line("Key is valid");
            work.openssl(&format!("x509 -in {key}.pem -noout -pubkey -out x509.pub"));
            work.openssl(&format!("pkey -in {key}.key -pubout -out key.pub"));
            work.assert_same("x509.pub", "key.pub");
        }
        for (format, request) in [("PEM", "server.csr"), ("DER", "server.csr.der")] {
            work.openssl(&format!(
                "req -in {request} -inform {format} -verify -noout"
            ))
            .assert_contains("self-signature verify OK");
        }
        let server = "-purpose sslserver -verify_hostname www.example.org -verify_ip 192.0.2.7";
        for (file, purpose) in [
            ("server.pem", server),
            ("bundle.pem", server),
            ("client.pem", "-purpose sslclient"),
        ] {
            work.openssl(&verify_with_lists(file, purpose))
                .assert_line(&format!("{file}: OK"));
        }
        work.openssl("verify -x509_strict -CAfile self-signed.pem self-signed.pem");
        for (list, issuer) in [("root.crl", "ca/root.pem"), ("none.crl", "ca/issuing.pem")] {
            work.openssl(&format!("crl -in {list} -noout -CAfile {issuer}"))
                .assert_contains("verify OK");
        }

        // One is revoked, and the other one is not.
        work.pqtls("ca revoke client.pem --reason keyCompromise");
        work.pqtls("ca crl --der --out client.crl");
        work.openssl("crl -in client.crl -inform DER -noout -text -CAfile ca/issuing.pem")
            .assert_contains("Key Compromise");
        work.openssl("crl -in client.crl -inform DER -out client.crl.pem");
        let lists = ["root.crl", "client.crl.pem"].map(|file| work.dir.read_text(file));
        work.dir.write("lists.pem", lists.concat());
        work.dir
            .run_failing(&verify_with_lists("client.pem", "-purpose sslclient"))
            .assert_contains("certificate revoked");
        work.openssl(&verify_with_lists("server.pem", server));
    }
}

/// Each key of a CA signs the lists and OCSP responses of its own certificates, before and after others took its place,
/// with another name and with the same one.
#[test]
fn openssl_goes_by_a_ca_with_several_keys() {
    for same_name in [false, true] {
        let Some(work) = Work::new() else { return };
        work.make_ca("ML-DSA-44", "ML-DSA-44");
        let issue = |name: &str| {
            let key = format!("--key server.key --out {name}.pem");
            work.pqtls(&format!("ca issue {name}.example.org {key}"));
        };
        ["old-good", "old-bad"].iter().for_each(|name| issue(name));
        let name = if same_name { " --same-name" } else { "" };
        work.pqtls(&format!("ca rollover{name}"));
        ["new-good", "new-bad"].iter().for_each(|name| issue(name));
        work.pqtls("ca revoke old-bad.pem new-bad.pem --reason superseded");
        work.pqtls("ca crl --root --out root.crl");
        work.pqtls("ca crl --issuer issuing --out old.crl");
        work.pqtls("ca crl --out new.crl");
        for (list, issuer, other) in [
            ("old.crl", "ca/issuing.pem", "ca/issuing-2.pem"),
            ("new.crl", "ca/issuing-2.pem", "ca/issuing.pem"),
        ] {
            let verify = |issuer: &str| format!("crl -in {list} -noout -text -CAfile {issuer}");
            let shown = work.openssl(&verify(issuer));
            shown.assert_contains("verify OK");
            let revoked = shown.to_string().matches("Serial Number: ").count();
            assert_eq!(revoked, if same_name { 2 } else { 1 }, "{shown}");
            // of another name, or of the same name with another key
            let refused = match same_name {
                true => "verify failure",
                false => "Error getting CRL issuer certificate",
            };
            work.dir.attempt(&verify(other)).assert_contains(refused);
        }
        let lists = ["root.crl", "old.crl", "new.crl"].map(|file| work.dir.read_text(file));
        work.dir.write("lists.pem", lists.concat());
        for good in ["old-good.pem", "new-good.pem"] {
            work.openssl(&verify_with_lists(good, "-purpose sslserver"))
                .assert_line(&format!("{good}: OK"));
        }
        for bad in ["old-bad.pem", "new-bad.pem"] {
            work.dir
                .run_failing(&verify_with_lists(bad, "-purpose sslserver"))
                .assert_contains("certificate revoked");
        }
        // A list of the other key alone is none.
        let lists = ["root.crl", "new.crl"].map(|file| work.dir.read_text(file));
        work.dir.write("lists.pem", lists.concat());
        work.dir
            .run_failing(&verify_with_lists("old-bad.pem", "-purpose sslserver"))
            .assert_contains("unable to get certificate CRL");

        for (of, issuer) in [("old", "ca/issuing.pem"), ("new", "ca/issuing-2.pem")] {
            for (how, says) in [("good", ": good"), ("bad", ": revoked")] {
                let file = format!("{of}-{how}.pem");
                work.openssl(&format!(
                    "ocsp -issuer {issuer} -cert {file} -reqout asked.request -no_nonce"
                ));
                work.pqtls("ca ocsp asked.request --out answer.ocsp --force");
                let checked = work.openssl(&format!(
                    "ocsp -issuer {issuer} -cert {file} -respin answer.ocsp -CAfile ca/root.pem -verify_other {issuer}"
                ));
                checked.assert_contains("Response verify OK");
                checked.assert_contains(&format!("{file}{says}"));
            }
        }
    }
}

/// What is below a new root is accepted by who trusts only the old one, and a CA below another is as any CA.
#[test]
fn openssl_accepts_what_is_below_a_certified_ca() {
    let Some(work) = Work::new() else { return };
    work.make_ca("ML-DSA-44", "ML-DSA-44");
    work.pqtls("ca init --name Example --dir new --dns example.org --algorithm ML-DSA-44");
    work.pqtls("ca issue www.example.org --dir new --key server.key --out below-new.pem");
    work.pqtls("ca certify new/root.pem --out new-with-old.pem");
    work.pqtls("ca init --name Team --dir team --under ca --dns team.example.org");
    work.pqtls("ca issue www.team.example.org --dir team --key server.key --out below-team.pem");
    let chain = ["below-new.pem", "new-with-old.pem"].map(|file| work.dir.read_text(file));
    work.dir.write("chain.pem", chain.concat());
    for (file, chain) in [
        ("below-new.pem", "chain.pem"),
        ("below-team.pem", "below-team.pem"),
    ] {
        work.openssl(&format!(
            "verify -x509_strict -CAfile ca/root.pem -untrusted {chain} -purpose sslserver {file}"
        ))
        .assert_line(&format!("{file}: OK"));
    }
    // By a request, which OpenSSL certifies.
    work.pqtls("ca init --name Waiting --dir waiting --request waiting.csr");
    work.dir.issue_chain(["-newkey ML-DSA-44"; 3], "");
    work.dir.write(
        "ca.ext",
        "basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign,cRLSign\n\
         subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n",
    );
    work.openssl(
        "x509 -req -in waiting.csr -CA root.pem -CAkey root.key -days 30 -extfile ca.ext -out waiting.pem",
    );
    work.pqtls("ca install waiting.pem --root root.pem --dir waiting");
    work.pqtls("ca issue www.example.org --dir waiting --key server.key --out below-waiting.pem");
    work.openssl(
        "verify -x509_strict -CAfile root.pem -untrusted below-waiting.pem below-waiting.pem",
    );
}

/// OpenSSL makes keys, requests, certificates and lists; and each signs requests of the other.
#[test]
fn pqtls_goes_by_a_ca_of_openssl() {
    let Some(work) = Work::new() else { return };
    let new_key = |algorithm: &str| format!("-newkey {algorithm}");
    for algorithms in [
        ["ML-DSA-44"; 3],
        ["SLH-DSA-SHA2-128f", "ML-DSA-65", "ML-DSA-87"],
    ] {
        let keys = algorithms.map(new_key);
        work.dir
            .issue_chain(keys.each_ref().map(String::as_str), "");
        work.dir.write(
            "client.ext",
            "keyUsage=critical,digitalSignature\nextendedKeyUsage=clientAuth\n",
        );
        work.dir.issue_below("intermediate", "client", &keys[2]);
        for name in ["root", "intermediate"] {
            work.dir.make_list(name, None);
            work.dir
                .write(&format!("{name}.crl"), work.dir.read("list.pem"));
        }
        // The CA's list again, now with the client on it.
        work.dir.make_list("intermediate", Some("client"));
        work.openssl("crl -in list.pem -outform DER -out client.crl");

        for name in ["root", "intermediate", "leaf", "client"] {
            work.pqtls(&format!("key check {name}.key --cert {name}.pem"));
            work.openssl(&format!("x509 -in {name}.pem -outform DER -out {name}.der"));
            work.pqtls(&format!("cert show {name}.der"))
                .assert_contains(&format!("CN={name}\n"));
        }
        for (subject, purpose, list, expected) in [
            ("leaf", "server --name localhost", "intermediate.crl", None),
            ("client", "client", "intermediate.crl", None),
            ("leaf", "server --name localhost", "client.crl", None),
            ("client", "client", "client.crl", Some("was revoked at ")),
            (
                "client",
                "server",
                "client.crl",
                Some("does not allow this purpose"),
            ),
        ] {
            work.pqtls(&format!(
                "cert bundle root.pem intermediate.pem {subject}.pem --out chain.pem --force"
            ));
            let verified = work.attempt(&format!(
                "cert verify chain.pem --roots root.pem --purpose {purpose} --crl root.crl --crl {list}"
            ));
            let status = match expected {
                None => 0,
                Some(words) => {
                    verified.assert_contains(words);
                    1
                }
            };
            assert_eq!(verified.code(), Some(status), "{verified}");
        }
    }

    work.make_ca("ML-DSA-44", "ML-DSA-44");
    work.openssl(&format!("{} -out theirs.csr", new_request("a.example.org")));
    work.openssl("req -in theirs.csr -outform DER -out theirs.csr.der");
    for request in ["theirs.csr", "theirs.csr.der"] {
        work.pqtls(&format!("ca sign {request} --out signed.pem --force"));
        work.openssl("verify -CAfile ca/root.pem -untrusted signed.pem -verify_hostname a.example.org signed.pem");
    }
    work.openssl(
        "x509 -req -in server.csr -CA intermediate.pem -CAkey intermediate.key -copy_extensions copy \
         -out signed.pem",
    );
    work.pqtls("cert bundle signed.pem intermediate.pem --out chain.pem --force");
    work.pqtls("cert verify chain.pem --roots root.pem --name www.example.org");
}

fn new_request(name: &str) -> String {
    format!(
        "req -new -newkey ML-DSA-65 -noenc -keyout theirs.key -subj /CN={name} -addext subjectAltName=DNS:{name}"
    )
}

fn verify_with_lists(file: &str, options: &str) -> String {
    format!(
        "verify -x509_strict -CAfile ca/root.pem -untrusted {file} -crl_check_all -CRLfile lists.pem \
         {options} {file}"
    )
}

/// A folder in which both programs run.
struct Work {
    dir: Workdir,
}

impl Work {
    fn new() -> Option<Self> {
        Some(Self {
            dir: Workdir::new()?,
        })
    }

    fn openssl(&self, line: &str) -> Output {
        self.dir.run(line)
    }

    /// Runs `pqtls <line>` to its successful end.
    #[track_caller]
    fn pqtls(&self, line: &str) -> Output {
        let output = self.attempt(line);
        assert!(output.success(), "this should succeed: {output}");
        output
    }

    fn attempt(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interop-pqtls"));
        command.args(line.split_whitespace()).env_remove("PQTLS_CA");
        self.dir.run_other(&mut command)
    }

    /// Makes a CA in `ca`, and certificates of it: `server.pem` and `client.pem` from requests, with the server's
    /// chain in another file, and beside them a self-signed certificate.
    fn make_ca(&self, algorithm: &str, root: &str) {
        self.pqtls(&format!(
            "ca init --name Example --dns example.org --ip 192.0.2.0/24 --algorithm {algorithm} \
             --root {root}"
        ));
        for name in ["server", "client"] {
            self.pqtls(&format!("key new {algorithm} --out {name}.key --force"));
        }
        let request = "cert request --key server.key --name www.example.org --name 192.0.2.7";
        self.pqtls(&format!("{request} --out server.csr"));
        self.pqtls(&format!("{request} --der --out server.csr.der"));
        self.pqtls("ca sign server.csr --out server.pem");
        self.pqtls("cert request --key client.key --name robot.example.org --out client.csr");
        self.pqtls("ca sign client.csr --profile client --out client.pem --force");
        self.pqtls("cert bundle ca/issuing.pem server.pem --out bundle.pem");
        self.pqtls("cert self-sign --key server.key --name www.example.org --out self-signed.pem");
    }

    /// Checks that OpenSSL reads the key in `{name}.key` and `{name}.der`, whose public half is in `{name}.pub`.
    #[track_caller]
    fn assert_openssl_reads_key(&self, name: &str) {
        for input in [format!("{name}.key"), format!("{name}.der -inform DER")] {
            self.openssl(&format!("pkey -in {input} -check -noout"))
                .assert_line("Key is valid");
            self.openssl(&format!("pkey -in {input} -pubout -out read.pub"));
            self.assert_same("read.pub", &format!("{name}.pub"));
        }
        self.openssl(&format!("pkey -pubin -in {name}.pub -pubcheck -noout"))
            .assert_line("Key is valid");
    }

    #[track_caller]
    fn assert_same(&self, first: &str, second: &str) {
        assert_eq!(self.dir.read(first), self.dir.read(second));
    }
}

/// The option that makes OpenSSL write a private key in one form.
fn output_format(algorithm: &str, form: &str) -> String {
    let family = algorithm[..6].to_ascii_lowercase();
    format!("{family}.output_formats={form}")
}

//! Names that certify more than was permitted, and subjects without bound.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use super::found;

/// The program in a folder of its own, and the folder with the inputs.
struct Work {
    folder: tempfile::TempDir,
    found: PathBuf,
}

impl Work {
    fn new() -> Option<Self> {
        let found = found()?.path("files");
        let folder = tempfile::tempdir().expect("a folder");
        Some(Self { folder, found })
    }

    fn attempt(&self, line: &str) -> Output {
        let found = self.found.display().to_string();
        let words = line.split_whitespace();
        Command::new(env!("CARGO_BIN_EXE_interop-pqtls"))
            .args(words.map(|word| word.replace("FOUND", &found)))
            .current_dir(self.folder.path())
            .env_remove("PQTLS_CA")
            .output()
            .expect("it is built with this test")
    }

    #[track_caller]
    fn succeeds(&self, line: &str) -> String {
        let output = self.attempt(line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[track_caller]
    fn is_refused(&self, line: &str, why: &str) {
        let output = self.attempt(line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{line}");
        assert!(said.contains(why), "{line}: {said}");
    }
}

/// `cert lint` calls the certificates errors, or says nothing of characters that aren't shown.
#[test]
fn requests_for_names_that_no_certificate_may_have() {
    let Some(work) = Work::new() else { return };
    work.succeeds("ca init --name CA --dns example.org --algorithm ML-DSA-44");
    // Whatever the policy permits.
    let policy = work.folder.path().join("ca/policy.toml");
    let text = fs::read_to_string(&policy).expect("the CA has one");
    let text = text
        .replace(
            "profiles = [\"server\"",
            "profiles = [\"client\", \"server\"",
        )
        .replace("#country = []", "country = [\"DEU\"]");
    let long = |length: usize| "x".repeat(length);
    let permitted = format!(
        "common-name = [\"{}\", \"{}\", \"abc\u{202e}gnp\"]",
        long(65),
        long(5000)
    );
    fs::write(&policy, text.replace("common-name = [\"*\"]", &permitted)).expect("a policy");
    for (request, why) in [
        ("cn-65", "65 characters, and no policy permits more than 64"),
        (
            "cn-5000",
            "5000 characters, and no policy permits more than 64",
        ),
        ("country-DEU", "the subject's country is \"DEU\""),
        ("cn-bidi", "U+202E"),
    ] {
        work.is_refused(
            &format!("ca sign FOUND/{request}.csr --out {request}.pem"),
            why,
        );
        assert!(!work.folder.path().join(format!("{request}.pem")).exists());
    }
}

/// Microsoft's programs ask for alternative names in an attribute of their own.
#[test]
fn a_request_with_extensions_of_microsoft() {
    let Some(work) = Work::new() else { return };
    work.succeeds("ca init --name CA --dns example.org --algorithm ML-DSA-44");
    work.succeeds("ca sign FOUND/microsoft-extension-oid.csr --out signed.pem");
    work.succeeds("cert verify signed.pem --roots ca/root.pem --name www.example.org");
}

/// These were made, and then clients accepted them for no name.
#[test]
fn wildcards_with_a_single_label() {
    let Some(work) = Work::new() else { return };
    let chain = "FOUND/constrained-localhost-and-wildcard.pem --roots FOUND/constrained-root.pem";
    work.is_refused(&format!("cert verify {chain} --name localhost"), "");
    let why = "has a single label after the";
    work.is_refused("dev localhost *.localhost --data-dir data", why);
    assert!(
        !work.folder.path().join("data").exists(),
        "nothing was made"
    );
    work.succeeds("key new ML-DSA-44 --out a.key");
    for name in ["*.localhost", "*.test", "*.internal"] {
        work.is_refused(
            &format!("cert self-sign --key a.key --name {name} --out a.pem"),
            why,
        );
        work.is_refused(
            &format!("cert request --key a.key --name {name} --out a.csr"),
            why,
        );
    }
}

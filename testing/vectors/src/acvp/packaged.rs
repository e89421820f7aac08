//! The vectors that come in packages of the registry, for checkouts without the folder of all vectors.
//!
//! cargo knows where the packages are. It downloads them for `cargo test --workspace`, and compiles none of them for
//! this: one is a peer of the benchmarks, and tests/interop names the other.

use core::fmt;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Once, OnceLock};

use serde_json::Value;
use testing::skipped::cannot_run;

use crate::decompressed;

/// Why a file of vectors is not there.
#[derive(Clone, Copy)]
pub(super) enum Missing {
    /// No package has it.
    InPackages,
    /// This package has it, but is not there.
    Package(&'static str),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("../shared/vectors/acvp is not there beside the checkout, ")?;
        match self {
            Self::InPackages => f.write_str("and no package ships these vectors"),
            Self::Package(name) => write!(
                f,
                "nor is the package {name}: `cargo fetch --locked` downloads it"
            ),
        }
    }
}

/// The text of a file of vectors, by the path that it has in the folder of all vectors.
pub(super) fn text(path: &str) -> Result<String, Missing> {
    let (folder, _) = path.split_once('/').expect("a folder and a file");
    match folder {
        "ML-KEM-keyGen-FIPS203"
        | "ML-KEM-encapDecap-FIPS203"
        | "ML-DSA-keyGen-FIPS204"
        | "ML-DSA-sigGen-FIPS204"
        | "ML-DSA-sigVer-FIPS204" => {
            // The internal projection has both the prompts and the results.
            let file = package("oqs-sys")?
                .join("liboqs/tests/ACVP_Vectors")
                .join(folder)
                .join("internalProjection.json");
            let text = fs::read_to_string(&file)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let mut file: Value = serde_json::from_str(&text).expect("JSON");
            as_in_later_releases(&mut file);
            if folder == "ML-DSA-sigGen-FIPS204" {
                leave_out_hashed(&mut file);
            }
            Ok(file.to_string())
        }
        "SLH-DSA-keyGen-FIPS205" => {
            let file = package("fips205")?
                .join("tests/nist_vectors")
                .join(folder)
                .join("internalProjection.json.gz");
            Ok(decompressed(&file))
        }
        _ => Err(Missing::InPackages),
    }
}

/// liboqs has vectors of an earlier release: keys of decapsulation stand once for a group there, and encapsulation
/// has a reason, which says nothing.
fn as_in_later_releases(file: &mut Value) {
    for group in file["testGroups"].as_array_mut().expect("groups") {
        let group = group.as_object_mut().expect("a group");
        let encapsulates = group
            .get("function")
            .is_some_and(|name| name == "encapsulation");
        let keys = ["ek", "dk"].map(|name| (name, group.remove(name)));
        for case in group["tests"].as_array_mut().expect("tests") {
            let case = case.as_object_mut().expect("a test");
            for (name, key) in &keys {
                if let Some(key) = key {
                    case.insert((*name).to_owned(), key.clone());
                }
            }
            if encapsulates {
                case.remove("reason");
            }
        }
    }
}

/// The signatures of HashML-DSA in that release, 1.1.0.38, are not those that FIPS 204 and the later release's vectors
/// ask for, from its first one on. liboqs does not use them either.
fn leave_out_hashed(file: &mut Value) {
    let groups = file["testGroups"].as_array_mut().expect("groups");
    groups.retain(|group| group["preHash"] != "preHash");
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        cannot_run(
            "ACVP ML-DSA-sigGen-FIPS204, HashML-DSA: no package ships these vectors as corrected",
        );
    });
}

/// What the cargo that runs these tests says; nothing where there are no processes.
fn cargo(options: &[&str]) -> Option<String> {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = Command::new(program)
        .args(options)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    String::from_utf8(run.stdout).ok()
}

/// The folder of a package that the workspace's lock file has.
fn package(name: &'static str) -> Result<&'static Path, Missing> {
    static PACKAGES: OnceLock<Option<Value>> = OnceLock::new();
    let metadata = PACKAGES.get_or_init(|| {
        let version = cargo(&["--version", "--verbose"])?;
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))?;
        // What is not there stays away: tests use no network. Packages for other platforms need not be there.
        let options = ["metadata", "--format-version=1", "--offline", "--locked"];
        let said = cargo(&[&options[..], &["--filter-platform", host]].concat())?;
        serde_json::from_str(&said).ok()
    });
    let folders = metadata.iter().flat_map(|said| said["packages"].as_array());
    let mut found = folders.flatten().filter(|package| package["name"] == name);
    found
        .find_map(|package| Path::new(package["manifest_path"].as_str()?).parent())
        .ok_or(Missing::Package(name))
}

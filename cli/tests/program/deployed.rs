//! The folder `deploy/ca`: what a machine's administrator copies to run `pqtls ca serve`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testing::skipped::skip;

use crate::folder::Folder;

/// The highest exposure that `systemd-analyze security` may give the unit, in tenths.
const EXPOSURE: &str = "20";

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/ca")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(place().join(name)).unwrap()
}

/// The words of the unit's command after the program.
fn of_the_unit() -> Vec<String> {
    let unit = text("pqtls-ca.service").replace("\\\n", " ");
    let line = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    let words = line.unwrap().split_whitespace().map(str::to_owned);
    words.skip(1).collect()
}

/// The containers, as a program reads them. `None` if there is none that reads YAML, which is said.
fn compose() -> Option<Value> {
    let script = "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)";
    let read = Command::new("python3")
        .args(["-c", script])
        .arg(place().join("compose.yaml"))
        .output();
    let Some(read) = read.ok().filter(|read| {
        let said = String::from_utf8_lossy(&read.stderr);
        !said.contains("ModuleNotFoundError")
    }) else {
        skip("there is no Python that reads YAML: Debian's package python3-yaml has it");
        return None;
    };
    assert!(
        read.status.success(),
        "{}",
        String::from_utf8_lossy(&read.stderr)
    );
    Some(serde_json::from_slice(&read.stdout).unwrap())
}

/// The server takes these options, and ends because there is no such CA.
#[track_caller]
fn takes(words: &[String]) {
    assert_eq!(words[..2], ["ca", "serve"]);
    let folder = Folder::new();
    let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    let said = folder.shell(&format!("pqtls {}", quoted.join(" ")));
    let complaint = said.stderr();
    assert_eq!(said.status(), 3, "{complaint}");
    assert!(complaint.contains("is not a CA's folder"), "{complaint}");
}

#[test]
fn the_unit_has_options_of_the_program() {
    takes(&of_the_unit());
}

#[test]
fn the_unit_is_confined() {
    let Ok(version) = Command::new("systemd-analyze").arg("--version").output() else {
        skip("there is no systemd-analyze: Debian's package systemd has it");
        return;
    };
    assert!(version.status.success());
    let folder = Folder::new();
    // Its program need not be installed here.
    let program = env!("CARGO_BIN_EXE_pqtls");
    let unit = text("pqtls-ca.service").replace("/usr/local/bin/pqtls", program);
    folder.write("pqtls-ca.service", unit);
    folder
        .shell("systemd-analyze verify ./pqtls-ca.service")
        .ok();
    let check = format!(
        "systemd-analyze security --offline=true --threshold={EXPOSURE} ./pqtls-ca.service"
    );
    let checked = folder.shell(&check);
    assert_eq!(checked.status(), 0, "{}", checked.stdout());
}

#[test]
fn the_containers_have_options_of_the_program() {
    let Some(compose) = compose() else { return };
    let services = compose["services"].as_object().unwrap();
    let proxy = text("haproxy.cfg");
    let replicas: Vec<_> = services
        .iter()
        .filter(|(name, _)| name.starts_with("ca-"))
        .collect();
    assert_eq!(replicas.len(), 3);
    for (name, replica) in replicas {
        let words = replica["command"].as_array().unwrap();
        let words: Vec<_> = words
            .iter()
            .map(|word| word.as_str().unwrap().to_owned())
            .collect();
        takes(&words);
        assert_eq!(replica["user"], "10001:10001");
        assert_eq!(replica["read_only"], true);
        for port in ["8443", "8080"] {
            assert!(words.iter().any(|word| word.ends_with(&format!(":{port}"))));
            assert!(proxy.contains(&format!("server {name} {name}:{port}\n")));
        }
        assert!(words.contains(&"--metrics=0.0.0.0:9464".to_owned()));
    }
    assert!(proxy.contains("check port 9464"));
    // Each secret and each network that a container names is there.
    for (name, service) in services {
        for kind in ["secrets", "networks"] {
            for named in service[kind].as_array().into_iter().flatten() {
                let named = named.as_str().unwrap();
                assert!(
                    compose[kind].get(named).is_some(),
                    "{name}: {kind}: {named}"
                );
            }
        }
    }
    // The image's user is that of the replicas.
    assert!(text("Containerfile").contains("\nUSER 10001:10001\n"));
}

//! `pqtls bench`: not how fast the program is, but what the reports say.

use serde_json::Value;

use crate::folder::Folder;

fn json(folder: &Folder, command: &str) -> Value {
    serde_json::from_str(folder.pqtls(&format!("bench {command} --json")).ok()).unwrap()
}

#[test]
fn rows_are_chosen_by_their_names() {
    let folder = Folder::new();
    let of_kem = json(&folder, "ML-KEM-768 --time 0.001");
    let operations = of_kem["operations"].as_array().unwrap();
    let names: Vec<&str> = operations
        .iter()
        .map(|one| one["operation"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["key generation", "encapsulation", "decapsulation"]);
    assert!(of_kem["issuing"].is_null() && of_kem["openssl"].is_null());
    for one in operations {
        assert_eq!(one["algorithm"], "ML-KEM-768");
        let backends = one["backends"].as_array().unwrap();
        assert_eq!(backends.last().unwrap()["name"], "portable");
        for backend in backends {
            let p50 = backend["p50"].as_f64().unwrap();
            let p95 = backend["p95"].as_f64();
            assert!(p50 > 0.0 && p95.is_none_or(|p95| p95 >= p50), "{backend}");
        }
    }

    let of_issuing = json(&folder, "issuing --time 0.001");
    assert_eq!(of_issuing["operations"].as_array().unwrap().len(), 0);
    for backend in of_issuing["issuing"]["backends"].as_array().unwrap() {
        let primitives = backend["primitives_per_second"].as_f64().unwrap();
        for way in ["one_file", "many_files"] {
            let rate = |of: &str| backend[way][of].as_f64().unwrap();
            assert!(
                rate("per_second") > 0.0 && rate("percent") > 0.0,
                "{backend}"
            );
            assert!(rate("with_files_per_second") < primitives, "{backend}");
        }
    }

    folder.pqtls("bench Ed448 singing").fails(
        2,
        "no row of \"pqtls bench\" has Ed448, singing in its name",
    );
    folder
        .pqtls("bench --time 0")
        .fails(2, "write a number from 0.001 to 600");
}

#[test]
fn the_text_is_a_page_with_tables() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("above")).unwrap();
    let shown = folder.pqtls("bench ML-DSA-65 --time 0.001 --in above");
    let page = shown.ok();
    for part in [
        "# How fast pqtls is\n",
        "\n## ML-DSA\n",
        "\n| ML-DSA-65 verification ",
        "\n## Certificates of ML-DSA-65\n",
        "\n| `pqtls ca sign`, one file to one ",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    assert!(!page.contains("OpenSSL"), "{page}");
    let above = std::fs::read_dir(folder.path().join("above")).unwrap();
    assert_eq!(above.count(), 0, "the CA's folder is removed");
    folder
        .pqtls("bench issuing --time 0.001 --in no/such")
        .fails(3, "can't write no/such");
}

#[test]
fn documents_are_measured_where_they_are_named() {
    let folder = Folder::new();
    let found = json(&folder, "documents --size 1");
    let documents = &found["documents"];
    assert_eq!(found["operations"].as_array().unwrap().len(), 0);
    let operations = documents["operations"].as_array().unwrap();
    let names: Vec<_> = operations.iter().map(|one| one["name"].as_str()).collect();
    let expected = ["signing", "verifying", "encrypting", "decrypting"];
    assert_eq!(names, expected.map(Some));
    for one in operations {
        assert!(one["pqtls"]["per_second"].as_f64().unwrap() > 0.0, "{one}");
        assert!(one["openssl"].is_null());
    }
    let shown = folder.pqtls("bench documents --size 1");
    let page = shown.ok();
    for part in ["\n## Documents of 1 MiB\n", "\n| decrypting "] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    folder
        .pqtls("bench documents --size 0")
        .fails(2, "0 is not in 1..=65536");
}

#[test]
fn a_backend_of_another_cpu_is_refused_in_every_command() {
    let folder = Folder::new();
    folder
        .shell("PQ_CORE_BACKEND=abacus pqtls key new --out a.key")
        .fails(
            2,
            "PQ_CORE_BACKEND names \"abacus\", which this CPU doesn't have",
        );
    folder
        .shell("PQ_CORE_BACKEND=portable pqtls key new --out a.key")
        .ok();
}

/// With shell scripts that print what OpenSSL prints.
#[cfg(unix)]
mod beside_openssl {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::json;
    use crate::folder::Folder;

    fn folder_with(openssl: &str) -> Folder {
        let folder = Folder::new();
        folder.write("openssl", format!("#!/bin/sh\n{openssl}"));
        let path = folder.path().join("openssl");
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        folder
    }

    /// It takes a second for what takes us less than a millisecond, and signs nothing.
    const NEW: &str = "\
        case $1 in\n\
        version) echo 'OpenSSL 3.5.9 1 Jan 2030 (Library: OpenSSL 3.5.9)' ;;\n\
        speed) echo '+R15:1:x:1.0'; echo \"+F9:13:1.0:2.0:4.0\" ;;\n\
        x509) sleep 0.01 ;;\n\
        esac\n";
    const COMPARE: &str = "--time 0.001 --compare --openssl ./openssl";

    #[test]
    fn its_figures_stand_beside_ours() {
        let folder = folder_with(NEW);
        let found = json(&folder, &format!("ML-KEM-512 issuing {COMPARE}"));
        assert_eq!(found["openssl"]["version"], "3.5.9");
        let means = [1e9, 5e8, 2.5e8];
        for (one, mean) in found["operations"].as_array().unwrap().iter().zip(means) {
            assert_eq!(one["openssl"]["mean"], mean);
            let times = mean / one["backends"][0]["mean"].as_f64().unwrap();
            let said = one["openssl"]["times"].as_f64().unwrap();
            assert!((said / times - 1.0).abs() < 1e-6, "{one}");
        }
        let of_loop = &found["issuing"]["openssl"];
        assert_eq!(of_loop["requests"], 4);
        assert!(of_loop["per_second"].as_f64().unwrap() < 100.0, "{of_loop}");

        let shown = folder.pqtls(&format!("bench ML-KEM-512 issuing {COMPARE}"));
        for part in [
            "| OpenSSL 3.5.9 |",
            " 1.00 s |",
            "`openssl x509 -req` for each",
        ] {
            assert!(
                shown.ok().contains(part),
                "{part:?} is not in {}",
                shown.ok()
            );
        }
    }

    #[test]
    fn its_documents_stand_beside_ours() {
        let folder = folder_with(&NEW.replace("x509)", "cms)"));
        let command = "bench documents --size 1 --compare --openssl ./openssl";
        let shown = folder.pqtls(command);
        let shown = shown.ok();
        for part in ["| OpenSSL 3.5.9 |", "`openssl cms` does the same"] {
            assert!(shown.contains(part), "{part:?} is not in {shown}");
        }
        let folder = folder_with(&NEW.replace("x509) sleep 0.01", "cms) exit 1"));
        let found = json(&folder, "documents --size 1 --compare --openssl ./openssl");
        assert!(found["documents"]["operations"][0]["openssl"].is_null());
    }

    #[test]
    fn one_that_signs_nothing_has_no_row() {
        let folder = folder_with(&NEW.replace("sleep 0.01", "exit 1"));
        let found = json(&folder, &format!("issuing {COMPARE}"));
        assert!(found["issuing"]["openssl"].is_null());
    }

    #[test]
    fn an_old_one_is_said_to_have_none_of_it() {
        let folder = folder_with(&NEW.replace("3.5.9 1", "3.4.1 1"));
        let shown = folder.pqtls(&format!("bench ML-KEM-512 {COMPARE}"));
        let said = "3.4.1, which has none of these algorithms; 3.5 is the first that does";
        assert!(shown.ok().contains(said), "{}", shown.ok());
        assert!(!shown.ok().contains("times"), "{}", shown.ok());
    }

    #[test]
    fn none_is_told() {
        let folder = folder_with("echo LibreSSL 4.0.0");
        folder.pqtls(&format!("bench {COMPARE}")).fails(
            3,
            "./openssl is not OpenSSL's program: asked for its version, it says \"LibreSSL 4.0.0\"",
        );
        folder
            .pqtls("bench --compare --openssl ./missing")
            .fails(3, "can't run ./missing");
        folder
            .pqtls("bench --openssl ./openssl")
            .fails(2, "--compare");
    }
}

//! `pqtls dev`. Programs that change trust stores are replaced by scripts that note what they are asked to do.

use alloc::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::thread;

use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{Ca, CertificateBuilder, EndEntity, Issuer};
use pq_x509::keys::{SignatureAlgorithm, Signer, SigningKey};
use rustls_pq::classical::ClassicalKey;

use crate::folder::{Folder, SYSTEM_STORE};

const ROOTS: &str = ".local/share/pqtls/dev/local/roots.pem";

/// What `update-ca-certificates` does.
const MAKE_BUNDLE: &str = r#"
made="$PQTLS_DEV_SYSTEM_STORE.made"
mkdir -p "$made"
for file in "$PQTLS_DEV_SYSTEM_STORE"/*.crt; do [ ! -e "$file" ] || { cat "$file"; echo; }; done \
    > "$made/ca-certificates.crt""#;

/// A store of the system, and the database of a browser with the program that changes it.
pub(crate) fn make_trust_stores(folder: &Folder) {
    for name in [SYSTEM_STORE, ".pki/nssdb", "bin"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    folder.write(".pki/nssdb/cert9.db", "");
    program(
        folder,
        "update-ca-certificates",
        &format!("echo \"update-ca-certificates $*\" >> \"$HOME/log\"\n{MAKE_BUNDLE}"),
    );
    program(
        folder,
        "certutil",
        r#"
        [ "$1" = -L ] || echo "certutil $1" >> "$HOME/log"
        command=$1
        while [ $# -gt 0 ]; do
            case $1 in
            -d) folder=${2#sql:} ;;
            -n) name=$2 ;;
            -t) trust=$2 ;;
            -i) file=$2 ;;
            esac
            shift
        done
        case $command in
        -L)
            if [ -n "$name" ]; then cat "$folder/$name"; exit; fi
            echo; echo "Certificate Nickname    Trust Attributes"; echo
            for file in "$folder"/*; do
                [ "${file##*/}" = cert9.db ] || echo "${file##*/}    C,,"
            done ;;
        -A) [ "$trust" = C,, ] && cp "$file" "$folder/$name" ;;
        -D) rm "$folder/$name" ;;
        esac
        "#,
    );
}

fn program(folder: &Folder, name: &str, script: &str) {
    let file = folder.path().join("bin").join(name);
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn certificate(folder: &Folder, file: &str) -> Certificate {
    Certificate::from_pem(&folder.read(file)).unwrap()
}

/// The names of files in a folder.
fn names_in(folder: &Folder, inner: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder.path().join(inner)).unwrap();
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|entry| name(entry.unwrap().path())).collect()
}

#[test]
fn one_command_makes_what_clients_of_both_kinds_trust() {
    let folder = Folder::new();
    let made = folder.pqtls("dev localhost 127.0.0.1 ::1 App.test *.app.test");
    assert!(
        made.ok()
            .contains("root.pem: a new root for local names, ML-DSA-65")
    );
    for (file, algorithm) in [
        ("localhost", "ML-DSA-65"),
        ("localhost-classical", "ECDSA-P256"),
    ] {
        let line = format!("{file}.pem, {file}.key: {algorithm}, until ");
        assert!(made.ok().contains(&line), "{}", made.ok());
        for name in ["localhost", "127.0.0.1", "::1", "app.test", "www.app.test"] {
            let verify = format!("cert verify {file}.pem --roots {ROOTS} --name {name}");
            folder.pqtls(&verify).ok();
        }
        folder
            .pqtls(&format!(
                "cert verify {file}.pem --roots {ROOTS} --name b.test"
            ))
            .fails(1, "b.test");
        folder
            .pqtls(&format!("key check {file}.key --cert {file}.pem"))
            .ok();
        let needed = format!("cert needs-renewal {file}.pem --expires-within 364d");
        assert_eq!(folder.pqtls(&needed).status(), 0);
        let shown = folder.pqtls(&format!("cert show {file}.pem"));
        assert!(shown.ok().contains(algorithm));
    }
}

#[test]
fn what_is_printed_can_be_pasted() {
    let folder = Folder::new();
    let path = folder.path().to_str().unwrap().to_owned();
    let lines = |command: &str| folder.shell(command).ok().to_owned();
    let made = lines("pqtls dev app.test localhost");
    for line in [
        "tls-server --cert app.test-classical.pem --key app.test-classical.key --cert app.test.pem \
         --key app.test.key",
        &format!("ssl_certificate {path}/app.test.pem;"),
        &format!("ssl_certificate_key {path}/app.test-classical.key;"),
        "ssl_conf_command SignatureAlgorithms ecdsa_secp256r1_sha256:mldsa65;",
        &format!("curl --cacert {path}/{ROOTS} https://localhost:8443/"),
        "pqtls dev --install",
    ] {
        assert!(made.contains(&format!("  {line}\n")), "{line}: {made}");
    }
    fs::create_dir(folder.path().join("my files")).unwrap();
    let made = lines("pqtls dev '*.app.test' --out-dir 'my files'");
    for line in [
        "--cert 'my files/_wildcard.app.test.pem'",
        &format!("ssl_certificate \"{path}/my files/_wildcard.app.test.pem\";"),
        "--connect-to ::127.0.0.1:8443 https://www.app.test:8443/",
    ] {
        assert!(made.contains(line), "{line}: {made}");
    }
    assert!(!made.contains("--install"), "the roots are not new");
    let made = lines("pqtls dev b.test --any-name --data-dir 'my files'");
    assert!(made.contains("  pqtls dev --install --any-name --data-dir 'my files'\n"));
    let made = lines("pqtls dev ::1");
    assert!(made.contains("'https://[::1]:8443/'"), "{made}");
    assert!(made.contains("__1.pem"), "{made}");
}

/// Go, rustls and browsers refuse roots.pem.
#[test]
fn each_client_is_told_its_file_of_roots() {
    let folder = Folder::new();
    let made = folder.pqtls("dev localhost --data-dir data");
    let roots = folder.path().join("data/local");
    for (clients, file) in [
        ("curl, Python and others with OpenSSL", "roots.pem"),
        (
            "Firefox and other browsers, Go, and rustls with our tls-client",
            "roots-for-browsers.pem",
        ),
    ] {
        let file = roots.join(file);
        assert!(file.exists());
        let line = format!("  {clients} take {}\n", file.display());
        assert!(made.ok().contains(&line), "{line}: {}", made.ok());
    }
}

#[test]
fn a_dry_run_makes_nothing() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    let names = || names_in(&folder, "");
    let before = names();
    for (options, scope) in [("", "local"), (" --any-name", "any-name")] {
        let command = format!("dev --install --dry-run{options} --data-dir data");
        let planned = folder.pqtls(&format!("{command} a.test"));
        let root = folder
            .path()
            .join(format!("data/{scope}/root-classical.pem"));
        let expected = [
            format!("{}: to be made, with its key\n", root.display()),
            "a.test-classical.pem: to be made, with its key\n".into(),
            format!(
                "system store {}: to be installed\n",
                folder.path().join(SYSTEM_STORE).display()
            ),
        ];
        for line in expected {
            assert!(planned.ok().contains(&line), "{line}: {}", planned.ok());
        }
        folder.pqtls(&command).ok();
        assert_eq!(names(), before);
    }
    // With roots, it makes no certificates either.
    folder.pqtls("dev b.test --data-dir data").ok();
    let before = names();
    let planned = folder.pqtls("dev a.test --install --dry-run --data-dir data");
    assert!(
        planned
            .ok()
            .contains("a.test.pem: to be made, with its key\n")
    );
    assert!(!planned.ok().contains("root.pem: to be made"));
    assert_eq!(names(), before);
}

#[cfg(unix)]
#[test]
fn keys_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.shell("umask 000; pqtls dev localhost").ok();
    let mode = |name: &str| {
        let metadata = fs::metadata(folder.path().join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    let roots = ".local/share/pqtls/dev/local";
    for key in ["root.key", "root-classical.key"] {
        assert_eq!(mode(&format!("{roots}/{key}")), 0o600);
    }
    for folder in [roots, ".local/share/pqtls/dev"] {
        assert_eq!(mode(folder), 0o700);
    }
    for key in ["localhost.key", "localhost-classical.key"] {
        assert_eq!(mode(key), 0o600);
    }
}

#[test]
fn roots_are_made_once_by_processes_that_start_together() {
    let folder = Folder::new();
    thread::scope(|scope| {
        for number in 0..8 {
            let command = format!("dev a{number}.test --data-dir data");
            let folder = &folder;
            scope.spawn(move || assert_eq!(folder.pqtls(&command).status(), 0));
        }
    });
    assert_eq!(names_in(&folder, "data"), ["local".to_owned()].into());
    for number in 0..8 {
        for file in [
            format!("a{number}.test"),
            format!("a{number}.test-classical"),
        ] {
            folder
                .pqtls(&format!(
                    "cert verify {file}.pem --roots data/local/roots.pem"
                ))
                .ok();
        }
    }
}

/// A certificate that a thief of the root's key could issue.
fn steal(folder: &Folder, root: &str, key: impl Signer, name: &str) {
    let root = Issuer::new(certificate(folder, root), key).unwrap();
    let builder = match name.parse() {
        Ok(address) => CertificateBuilder::server().ip_address(address),
        Err(_) => CertificateBuilder::server().dns_name(name),
    };
    let leaf_key = ClassicalKey::generate("ECDSA-P256".parse().unwrap()).unwrap();
    let leaf = root.issue(builder.client_auth(), &leaf_key).unwrap();
    folder.write("stolen.pem", leaf.to_pem());
    let ca = CertificateBuilder::ca("Another CA");
    assert!(root.issue_ca(ca, &leaf_key).is_err(), "no CA below it");
}

#[test]
fn whoever_steals_a_root_can_speak_for_local_names_alone() {
    let folder = Folder::new();
    folder.pqtls("dev localhost").ok();
    let roots = ".local/share/pqtls/dev/local";
    let text = |file: &str| folder.read(&format!("{roots}/{file}"));
    for (name, is_permitted) in [
        ("www.example.org", false),
        ("192.0.2.1", false),
        ("2001:db8::1", false),
        ("other.test", true),
        ("10.1.2.3", true),
    ] {
        for is_classical in [false, true] {
            if is_classical {
                let key = ClassicalKey::from_pem(&text("root-classical.key")).unwrap();
                steal(&folder, &format!("{roots}/root-classical.pem"), key, name);
            } else {
                let key = SigningKey::from_pkcs8_pem(&text("root.key")).unwrap();
                steal(&folder, &format!("{roots}/root.pem"), key, name);
            }
            let verify = format!("cert verify stolen.pem --roots {ROOTS}");
            let verified = folder.pqtls(&format!("{verify} --name {name}"));
            match is_permitted {
                true => assert!(verified.ok().contains("valid")),
                false => verified.fails(1, "name constraints"),
            }
            folder
                .pqtls(&format!("{verify} --purpose client"))
                .fails(1, "");
        }
    }
}

/// A common name is a host's to some clients, whatever alternative names there are.
#[test]
fn whoever_steals_a_root_can_put_no_host_into_a_subject() {
    let folder = Folder::new();
    folder.pqtls("dev localhost").ok();
    let roots = ".local/share/pqtls/dev/local";
    let key = SigningKey::from_pkcs8_pem(&folder.read(&format!("{roots}/root.key"))).unwrap();
    let root = Issuer::new(certificate(&folder, &format!("{roots}/root.pem")), key).unwrap();
    let key = ClassicalKey::generate("ECDSA-P256".parse().unwrap()).unwrap();
    let leaf = |builder: CertificateBuilder<EndEntity>| {
        folder.write("stolen.pem", root.issue(builder, &key).unwrap().to_pem());
        folder.pqtls(&format!("cert verify stolen.pem --roots {ROOTS}"))
    };
    let server = || CertificateBuilder::server().ip_address("127.0.0.1".parse().unwrap());
    leaf(server()).ok();
    for name in [
        "*.evil.example.com",
        "intranet",
        "evil.com.",
        "w*.evil.com",
        "localhost",
    ] {
        leaf(server().common_name(name)).fails(1, "name constraints");
    }
    leaf(server().email_address("a@localhost")).fails(1, "name constraints");
    leaf(server().uri("https://localhost/")).fails(1, "name constraints");
}

/// Roots of older versions limit no subjects. They can still be removed.
#[test]
fn roots_without_a_limit_of_subjects_are_refused() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    folder.pqtls("dev localhost --install").ok();
    let roots = ".local/share/pqtls/dev/local";
    let old = folder.read(&format!("{roots}/root-classical-for-browsers.pem"));
    folder.write(&format!("{roots}/root-classical.pem"), old);
    for command in ["dev localhost", "dev other.test", "dev --install"] {
        folder.pqtls(command).fails(
            1,
            "root-classical.pem may be another's, or an older version's",
        );
    }
    folder.pqtls("dev --uninstall").ok();
}

#[test]
fn other_names_are_refused_or_have_roots_of_their_own() {
    let folder = Folder::new();
    for name in ["www.example.org", "192.0.2.1", "localhost.example.org"] {
        folder
            .pqtls(&format!("dev localhost {name}"))
            .fails(4, &format!("{name} is not a local name"));
    }
    for name in ["a..test", "app.test.", "*", "*.*.test", "b\u{fc}ro.test"] {
        folder
            .pqtls(&format!("dev localhost {name}"))
            .fails(1, "neither an IP address nor a DNS name");
    }
    for name in [
        "*.localhost",
        "*.test",
        "*.internal",
        "*.Local",
        "*.example",
    ] {
        folder
            .pqtls(&format!("dev localhost {name}"))
            .fails(1, "has a single label after the");
    }
    folder.write("localhost.pem", "precious");
    folder
        .pqtls("dev localhost")
        .fails(3, "localhost.pem exists");
    folder
        .shell("SUDO_USER=alice pqtls dev localhost")
        .fails(2, "run it without");
    assert!(!folder.path().join(".local").exists(), "nothing was made");
    folder
        .shell("SUDO_USER=alice pqtls dev --data-dir data app.test")
        .ok();
    folder.pqtls("dev app.test --force").ok();
    let made = folder.pqtls("dev www.example.org 192.0.2.1 localhost --any-name");
    assert!(
        made.ok().contains("a new root for any name"),
        "{}",
        made.ok()
    );
    let roots = ".local/share/pqtls/dev/any-name/roots.pem";
    for file in ["www.example.org", "www.example.org-classical"] {
        folder
            .pqtls(&format!(
                "cert verify {file}.pem --roots {roots} --name 192.0.2.1"
            ))
            .ok();
        folder
            .pqtls(&format!("cert verify {file}.pem --roots {ROOTS}"))
            .fails(1, "");
    }
}

#[test]
fn certificates_for_the_same_names_are_renewed_and_others_are_left() {
    let folder = Folder::new();
    folder.pqtls("dev localhost app.test").ok();
    let before = folder.files();
    let renewed = folder.pqtls("dev localhost app.test");
    assert_eq!(renewed.ok().matches(": renewed, ").count(), 2);
    let after = folder.files();
    assert_eq!(before.len(), after.len());
    assert!(before.iter().all(|(file, content)| after[file] != *content));

    // Other certificates of these roots, certificates of other roots, half of a pair, and no certificate.
    let exists = |command: &str, file: &str| {
        folder.pqtls(command).fails(3, &format!("{file} exists; "));
    };
    let names =
        "localhost.pem is of the same roots, but for other names (localhost, app.test); name these";
    for command in ["dev localhost", "dev localhost app.test other.test"] {
        folder.pqtls(command).fails(3, names);
    }
    exists("dev localhost app.test --data-dir other", "localhost.key");
    let key = folder.read("localhost-classical.key");
    folder
        .pqtls("key new ECDSA-P256 --out localhost-classical.key --force")
        .ok();
    exists("dev localhost app.test", "localhost-classical.key");
    folder.write("localhost-classical.key", &key);
    fs::remove_file(folder.path().join("localhost.key")).unwrap();
    exists("dev localhost app.test", "localhost.pem");
    folder.write("b.test.pem", "precious");
    exists("dev b.test", "b.test.pem");
    // What somebody has added to such files.
    folder.pqtls("dev c.test").ok();
    for (file, added) in [
        ("c.test.pem", folder.read("localhost.pem")),
        ("c.test.pem", "notes".into()),
        ("c.test.key", folder.read("c.test.pem")),
        ("c.test.key", key),
    ] {
        let own = folder.read(file);
        folder.write(file, own.clone() + &added);
        exists("dev c.test", "c.test.key");
        folder.write(file, own);
    }
    folder.pqtls("dev c.test").ok();

    let both = [
        ROOTS.to_owned(),
        ROOTS.replace("roots.pem", "roots-for-browsers.pem"),
    ];
    let before = both.each_ref().map(|file| folder.read(file));
    for file in &both {
        fs::remove_file(folder.path().join(file)).unwrap();
    }
    folder.pqtls("dev b.test --force").ok();
    assert_eq!(both.each_ref().map(|file| folder.read(file)), before);
    folder.pqtls("dev localhost --force").ok();
    folder
        .pqtls(&format!("cert verify localhost.pem --roots {ROOTS}"))
        .ok();
}

#[test]
fn roots_are_where_one_says_or_among_the_users_data() {
    let folder = Folder::new();
    let path = folder.path().to_str().unwrap();
    for (variables, option, place) in [
        ("", "", ".local/share/pqtls/dev"),
        ("XDG_DATA_HOME=relative", "", ".local/share/pqtls/dev"),
        (&format!("XDG_DATA_HOME={path}/data"), "", "data/pqtls/dev"),
        ("PQTLS_DEV_DIR=variable", "", "variable"),
        ("PQTLS_DEV_DIR=variable", "--data-dir option", "option"),
    ] {
        folder
            .shell(&format!("{variables} pqtls dev localhost --force {option}"))
            .ok();
        assert!(folder.path().join(place).join("local/root.key").is_file());
        folder
            .pqtls(&format!(
                "cert verify localhost.pem --roots {place}/local/roots.pem"
            ))
            .ok();
    }
}

/// A CA's certificate for what `pqtls dev` calls local.
fn limited_to_local_names(ca: CertificateBuilder<Ca>) -> CertificateBuilder<Ca> {
    const DOMAINS: [&str; 6] = [
        "localhost",
        "test",
        "local",
        "internal",
        "home.arpa",
        "example",
    ];
    const NETWORKS: [(&str, u8); 8] = [
        ("127.0.0.0", 8),
        ("10.0.0.0", 8),
        ("172.16.0.0", 12),
        ("192.168.0.0", 16),
        ("169.254.0.0", 16),
        ("::1", 128),
        ("fc00::", 7),
        ("fe80::", 10),
    ];
    let ca = DOMAINS.into_iter().fold(ca, CertificateBuilder::permit_dns);
    let ca = NETWORKS.into_iter().fold(ca, |ca, (address, len)| {
        ca.permit_ip(address.parse().unwrap(), len)
    });
    ca.permit_email("none.invalid").permit_uri("none.invalid")
}

/// With some of their files lost, roots are of no use any more.
#[test]
fn roots_without_all_of_their_files_are_said_to_be_removed() {
    for (file, keeps) in [
        ("root.key", 0),
        ("root.pem", 100),
        ("root-classical.pem", 0),
    ] {
        let folder = Folder::new();
        folder.pqtls("dev a.test --data-dir data").ok();
        let path = folder.path().join("data/local").join(file);
        let text = fs::read(&path).unwrap();
        match keeps {
            0 => fs::remove_file(&path).unwrap(),
            some => fs::write(&path, &text[..some]).unwrap(),
        }
        let refused = folder.pqtls("dev b.test --data-dir data");
        let words = "data/local, and run this again for new roots";
        assert!(
            refused.stderr().contains(words),
            "{file}: {}",
            refused.stderr()
        );
        fs::remove_dir_all(folder.path().join("data/local")).unwrap();
        folder.pqtls("dev b.test --data-dir data").ok();
    }
}

#[cfg(unix)]
#[test]
fn a_roots_key_that_others_can_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.pqtls("dev a.test --data-dir data").ok();
    let key = folder.path().join("data/local/root.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let made = folder.pqtls("dev b.test --data-dir data");
    assert_eq!(made.status(), 0);
    let words = "data/local/root.key can be read by other users";
    assert!(made.stderr().contains(words), "{}", made.stderr());
}

#[test]
fn a_root_that_has_expired_is_told() {
    let folder = Folder::new();
    folder.pqtls("dev localhost").ok();
    let roots = folder.path().join(".local/share/pqtls/dev/local");
    let text = fs::read_to_string(roots.join("root.key")).unwrap();
    let with_end = |days| {
        let key = || SigningKey::from_pkcs8_pem(&text).unwrap();
        let day = core::time::Duration::from_secs(24 * 60 * 60);
        let start = std::time::SystemTime::now() - 10 * day;
        let old = || {
            let all = Validity::starting(start, days * day);
            let old = CertificateBuilder::ca("Old").path_len(0).server_auth();
            limited_to_local_names(old.validity(all))
        };
        // Roots without these limits are refused for that.
        let limited = old().exclude_directory(pq_x509::certificate::Name::default());
        let root = Issuer::self_signed(limited, key()).unwrap();
        fs::write(roots.join("root.pem"), root.certificate().to_pem()).unwrap();
        let for_browsers = Issuer::self_signed(old(), key()).unwrap();
        let file = roots.join("root-for-browsers.pem");
        fs::write(file, for_browsers.certificate().to_pem()).unwrap();
        root.certificate().not_after()
    };
    with_end(9);
    folder.pqtls("dev app.test").fails(1, "has expired");
    // The certificate ends with its root.
    let end = with_end(12);
    folder.pqtls("dev app.test").ok();
    let leaf = certificate(&folder, "app.test.pem");
    assert!(end.as_secs() - leaf.not_after().as_secs() <= 1);
}

/// What the programs were asked to do since the last time.
fn log(folder: &Folder) -> String {
    let log = folder.read("log");
    folder.write("log", "");
    log
}

#[cfg(unix)]
#[test]
fn roots_are_installed_once_and_taken_out_again() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    let profile = folder.path().join(".mozilla/firefox/a.default");
    fs::create_dir_all(&profile).unwrap();
    fs::write(profile.join("cert9.db"), "").unwrap();
    // Roots of others.
    folder.write(&format!("{SYSTEM_STORE}/other.crt"), "other");
    folder.write("log", "");

    let installed = folder.pqtls("dev localhost --install");
    assert_eq!(installed.ok().matches(": installed\n").count(), 3);
    let expected = "update-ca-certificates \ncertutil -A\ncertutil -A\n";
    assert_eq!(log(&folder), expected);
    let in_store = names_in(&folder, SYSTEM_STORE);
    assert_eq!(in_store.len(), 3);
    let roots = ["root.pem", "root-classical.pem"]
        .map(|file| folder.read(&format!(".local/share/pqtls/dev/local/{file}")));
    for name in in_store.iter().filter(|name| *name != "other.crt") {
        assert!(
            name.starts_with("pqtls-dev-") && name.ends_with(".crt"),
            "{name}"
        );
        assert!(roots.contains(&folder.read(&format!("{SYSTEM_STORE}/{name}"))));
    }
    // NSS knows no ML-DSA.
    for database in [".pki/nssdb", ".mozilla/firefox/a.default"] {
        let names = names_in(&folder, database);
        let label = names.iter().find(|name| *name != "cert9.db").unwrap();
        let file = ".local/share/pqtls/dev/local/root-classical-for-browsers.pem";
        assert_eq!(
            folder.read(&format!("{database}/{label}")),
            folder.read(file)
        );
    }

    let again = folder.pqtls("dev --install");
    assert_eq!(again.ok().matches(": installed already\n").count(), 3);
    assert_eq!(log(&folder), "");

    // The user's other roots, for any name.
    folder.pqtls("dev --any-name --install").ok();
    assert_eq!(names_in(&folder, SYSTEM_STORE).len(), 5);
    log(&folder);

    let planned = folder.pqtls("dev --uninstall --dry-run");
    assert_eq!(planned.ok().matches("  sudo rm ").count(), 4);
    assert_eq!(
        (log(&folder), names_in(&folder, SYSTEM_STORE).len()),
        (String::new(), 5)
    );

    let removed = folder.pqtls("dev --uninstall");
    assert_eq!(removed.ok().matches(": removed\n").count(), 3);
    let expected = "update-ca-certificates --fresh\n".to_owned() + &"certutil -D\n".repeat(4);
    assert_eq!(log(&folder), expected);
    assert_eq!(
        names_in(&folder, SYSTEM_STORE),
        ["other.crt".to_owned()].into()
    );
    assert_eq!(
        names_in(&folder, ".pki/nssdb"),
        ["cert9.db".to_owned()].into()
    );

    let again = folder.pqtls("dev --uninstall");
    assert_eq!(again.ok().matches(": nothing to remove\n").count(), 3);
    assert_eq!(log(&folder), "");
}

/// Roots outlive their folder in the stores: whoever has removed it, or uses another one, gets rid of them as well.
#[cfg(unix)]
#[test]
fn roots_are_taken_out_whose_folder_is_gone() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    let data = folder.path().join(".local/share/pqtls/dev");
    folder.pqtls("dev --install --any-name").ok();
    folder.pqtls("dev --install").ok();
    // Others' certificates under such names, and files that are no certificates.
    let other = Issuer::self_signed(
        CertificateBuilder::ca("pqtls dev CA for others"),
        SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap(),
    );
    let other = other.unwrap().certificate().to_pem();
    let others = ["pqtls-dev-0123456789abcdef", "pqtls-dev-notes"];
    for (name, content) in others.iter().zip([&other, "notes"]) {
        folder.write(&format!("{SYSTEM_STORE}/{name}.crt"), content);
        folder.write(&format!(".pki/nssdb/{name}"), content);
    }
    let installed = |folder: &Folder| names_in(folder, SYSTEM_STORE).len() - others.len();
    assert_eq!(installed(&folder), 4);
    fs::remove_dir_all(&data).unwrap();
    folder.pqtls("dev --install").ok();
    assert_eq!(installed(&folder), 6);

    let removed = folder.pqtls("dev --uninstall");
    assert_eq!(removed.ok().matches(": removed\n").count(), 2);
    // Six roots in the system's store, of which NSS takes half.
    assert_eq!(removed.stdout().matches("\n  pqtls-dev-").count(), 9);
    let crt = others.map(|name| format!("{name}.crt"));
    assert_eq!(names_in(&folder, SYSTEM_STORE), crt.into());
    let left = names_in(&folder, ".pki/nssdb");
    assert_eq!(left.len(), others.len() + 1, "{left:?}");
    assert!(data.exists(), "files stay");

    fs::remove_dir_all(&data).unwrap();
    let again = folder.pqtls("dev --uninstall");
    assert_eq!(again.ok().matches(": nothing to remove\n").count(), 2);
    assert!(!data.exists());
}

/// Whatever an administrator has written beside it, a root that programs trust is there, and is taken out.
#[cfg(unix)]
#[test]
fn roots_with_text_in_any_encoding_beside_them_are_taken_out() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    folder.pqtls("dev --install").ok();
    for name in names_in(&folder, SYSTEM_STORE) {
        let file = folder.path().join(SYSTEM_STORE).join(name);
        let text = [b"f\xfcr Entwickler\n", &*fs::read(&file).unwrap()].concat();
        fs::write(&file, text).unwrap();
    }
    let again = folder.pqtls("dev --install");
    assert_eq!(again.ok().matches(": installed already\n").count(), 2);
    folder.pqtls("dev --uninstall").ok();
    assert_eq!(names_in(&folder, SYSTEM_STORE), BTreeSet::new());
}

/// What a killed process left has a name of its own, and disturbs nobody.
#[test]
fn a_draft_that_was_left_disturbs_no_later_run() {
    let folder = Folder::new();
    let left = ".local/share/pqtls/dev/.pqtls-left00";
    fs::create_dir_all(folder.path().join(left)).unwrap();
    folder.write(&format!("{left}/root.key"), "left");
    folder.write(".pqtls-left00", "left");
    folder.write(".pqtls-replaced-left00", "left");
    folder.pqtls("dev localhost").ok();
    folder.pqtls("dev localhost --force").ok();
    for name in [".pqtls-left00", ".pqtls-replaced-left00"] {
        assert_eq!(folder.read(name), "left");
    }
}

/// Who can write to the data folder could have everybody's names certified.
#[cfg(unix)]
#[test]
fn roots_that_this_program_would_not_make_are_not_installed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    make_trust_stores(&folder);
    folder.write("log", "");
    folder.pqtls("dev localhost").ok();
    let roots = folder.path().join(".local/share/pqtls/dev/local");
    let read = |file: &str| fs::read_to_string(roots.join(file)).unwrap();
    let (key, pem) = (read("root.key"), read("root.pem"));
    let key = || SigningKey::from_pkcs8_pem(&key).unwrap();
    let own = |builder| Issuer::self_signed(builder, key()).unwrap();
    let other_key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let another = Issuer::self_signed(CertificateBuilder::ca("Another"), other_key).unwrap();
    let ca = || {
        CertificateBuilder::ca("pqtls dev CA")
            .path_len(0)
            .server_auth()
    };
    for (planted, words) in [
        (
            own(CertificateBuilder::ca("Any")).certificate().to_pem(),
            "is not limited",
        ),
        (own(ca()).certificate().to_pem(), "is not limited"),
        (
            own(ca().permit_dns("test").permit_dns("com"))
                .certificate()
                .to_pem(),
            "is not limited",
        ),
        (
            another
                .issue_ca(ca(), key())
                .unwrap()
                .certificate()
                .to_pem(),
            "not signed by itself",
        ),
    ] {
        fs::write(roots.join("root.pem"), planted).unwrap();
        let install = folder.pqtls("dev --install");
        install.fails(1, "root.pem may be another's");
        install.fails(1, words);
        assert_eq!(log(&folder), "");
        assert!(names_in(&folder, SYSTEM_STORE).is_empty());
    }
    fs::write(roots.join("root.pem"), pem).unwrap();

    let data = roots.parent().unwrap();
    for path in [
        data.to_owned(),
        roots.clone(),
        roots.join("root.pem"),
        roots.join("root.key"),
    ] {
        let mode = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode.mode() | 0o020)).unwrap();
        let words = format!(
            "{} belongs to another user, or others can change it",
            path.display()
        );
        folder.pqtls("dev b.test").fails(1, &words);
        fs::set_permissions(&path, mode).unwrap();
        if std::os::unix::fs::chown(&path, Some(65533), None).is_ok() {
            folder.pqtls("dev b.test").fails(1, &words);
            std::os::unix::fs::chown(&path, Some(0), None).unwrap();
        }
    }
    folder.pqtls("dev --install").ok();
}

/// The program that changes one store exchanges the root before it gets to the next.
#[cfg(unix)]
#[test]
fn what_was_checked_is_what_is_installed() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    let roots = ".local/share/pqtls/dev/local";
    folder.pqtls("dev localhost").ok();
    let checked = folder.read(&format!("{roots}/root-classical-for-browsers.pem"));
    let exchange = format!("echo evil > \"$HOME/{roots}/root-classical-for-browsers.pem\"");
    program(&folder, "update-ca-certificates", &exchange);
    folder.pqtls("dev --install").ok();
    assert_eq!(
        folder.read(&format!("{roots}/root-classical-for-browsers.pem")),
        "evil\n"
    );
    let names = names_in(&folder, ".pki/nssdb");
    let label = names.iter().find(|name| *name != "cert9.db").unwrap();
    assert_eq!(folder.read(&format!(".pki/nssdb/{label}")), checked);
}

#[cfg(unix)]
#[test]
fn what_java_took_from_the_system_is_taken_out_too() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    fs::create_dir_all(folder.path().join(format!("{SYSTEM_STORE}.made/java"))).unwrap();
    folder.write(&format!("{SYSTEM_STORE}.made/java/cacerts"), "");
    // It has what begins with the digits 0 to 7.
    let script =
        r#"case "$*" in *:pqtls-dev-[0-7]*) echo "keytool $1" >> "$HOME/log" ;; *) exit 1 ;; esac"#;
    program(&folder, "keytool", script);
    folder.pqtls("dev --install").ok();
    let names = names_in(&folder, SYSTEM_STORE);
    let first_digit = |name: &String| name.strip_prefix("pqtls-dev-").map(|id| id.as_bytes()[0]);
    let digits = names.iter().filter_map(first_digit);
    let in_java = digits.filter(|digit| (b'0'..=b'7').contains(digit)).count();
    folder.write("log", "");
    folder.pqtls("dev --uninstall").ok();
    let log = log(&folder);
    assert_eq!(log.matches("keytool -delete").count(), in_java, "{log}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_takes_other_rights_is_printed_and_the_rest_is_done() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    // Nobody can make files there.
    let install = "PQTLS_DEV_SYSTEM_STORE=/sys pqtls dev --install";
    let done = folder.shell(install);
    assert_eq!((done.status(), done.stderr()), (3, ""));
    let printed = done.stdout();
    assert!(
        printed.contains("system store /sys: to be installed by hand, as only the"),
        "{printed}"
    );
    assert_eq!(printed.matches("  sudo install -m 644 ").count(), 2);
    assert!(
        printed.contains("  sudo update-ca-certificates\n"),
        "{printed}"
    );
    assert!(printed.contains(".pki/nssdb: installed\n"), "{printed}");
    assert_eq!(log(&folder), "certutil -A\n");
}

#[cfg(unix)]
#[test]
fn a_store_is_as_it_was_if_its_program_fails() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    let failing = "echo 'E: no space' >&2; exit 1";
    let working = MAKE_BUNDLE;
    program(&folder, "update-ca-certificates", failing);
    let failed = folder.pqtls("dev --install");
    assert_eq!(failed.status(), 3);
    let words = "by hand, as update-ca-certificates failed: E: no space:\n  sudo install";
    assert!(failed.stdout().contains(words), "{}", failed.stdout());
    assert!(names_in(&folder, SYSTEM_STORE).is_empty());

    program(&folder, "update-ca-certificates", working);
    folder.pqtls("dev --install").ok();
    let installed = names_in(&folder, SYSTEM_STORE);
    program(&folder, "update-ca-certificates", failing);
    assert_eq!(folder.pqtls("dev --uninstall").status(), 3);
    assert_eq!(names_in(&folder, SYSTEM_STORE), installed);
}

/// Whether programs trust roots of this program.
fn trusted(folder: &Folder) -> usize {
    let bundle = folder.read(&format!("{SYSTEM_STORE}.made/ca-certificates.crt"));
    bundle.matches("-----BEGIN CERTIFICATE-----").count()
}

/// The files of the store and what is made of them are changed one after the other.
#[cfg(unix)]
#[test]
fn a_store_whose_change_was_interrupted_is_changed_by_the_next_run() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    let update = "update-ca-certificates";
    // As the signal that ends it with its terminal: it kills its parent, too.
    let killed = "kill -KILL $PPID";
    program(&folder, update, MAKE_BUNDLE);
    folder.pqtls("dev localhost").ok();
    program(&folder, update, killed);
    assert!(folder.pqtls("dev --install").was_killed());
    assert_eq!(names_in(&folder, SYSTEM_STORE).len(), 2);
    program(&folder, update, MAKE_BUNDLE);
    let installed = folder.pqtls("dev --install");
    assert!(installed.ok().contains("system-store: installed\n"));
    assert_eq!(trusted(&folder), 2);

    program(&folder, update, killed);
    assert!(folder.pqtls("dev --uninstall").was_killed());
    assert_eq!(
        (names_in(&folder, SYSTEM_STORE).len(), trusted(&folder)),
        (0, 2)
    );
    program(&folder, update, MAKE_BUNDLE);
    let removed = folder.pqtls("dev --uninstall");
    assert!(removed.ok().contains("system-store: removed\n"));
    assert_eq!(trusted(&folder), 0);
    let again = folder.pqtls("dev --uninstall");
    assert!(again.ok().contains("system-store: nothing to remove\n"));
}

/// A program that fails may have made something all the same.
#[cfg(unix)]
#[test]
fn what_a_failing_program_made_is_made_anew() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    let failing = format!("{MAKE_BUNDLE}\nexit 1");
    program(&folder, "update-ca-certificates", &failing);
    assert_eq!(folder.pqtls("dev --install").status(), 3);
    assert_eq!(
        (names_in(&folder, SYSTEM_STORE).len(), trusted(&folder)),
        (0, 0)
    );

    program(&folder, "update-ca-certificates", MAKE_BUNDLE);
    folder.pqtls("dev --install").ok();
    // A file that was there before is there again.
    let file = names_in(&folder, SYSTEM_STORE).pop_first().unwrap();
    let file = format!("{SYSTEM_STORE}/{file}");
    folder.write(&file, b"before \xff");
    program(&folder, "update-ca-certificates", &failing);
    assert_eq!(folder.pqtls("dev --install").status(), 3);
    assert_eq!(folder.bytes(&file), b"before \xff");
    program(&folder, "update-ca-certificates", MAKE_BUNDLE);
    folder.pqtls("dev --install").ok();
    program(&folder, "update-ca-certificates", &failing);
    assert_eq!(folder.pqtls("dev --uninstall").status(), 3);
    assert_eq!(
        (names_in(&folder, SYSTEM_STORE).len(), trusted(&folder)),
        (2, 2)
    );
}

#[cfg(unix)]
#[test]
fn without_certutil_its_package_is_named() {
    let folder = Folder::new();
    make_trust_stores(&folder);
    fs::remove_file(folder.path().join("bin/certutil")).unwrap();
    let program = env!("CARGO_BIN_EXE_pqtls");
    let done = folder.shell(&format!("PATH=\"$HOME/bin\" {program} dev --install"));
    assert_eq!(done.status(), 3);
    let words = "as certutil is not installed; it is in the package libnss3-tools";
    assert!(done.stdout().contains(words), "{}", done.stdout());
    assert!(
        done.stdout().contains("  certutil -A -d sql:"),
        "{}",
        done.stdout()
    );
    // What may be there is told from the file, and not taken for nothing.
    let uninstall = format!("PATH=\"$HOME/bin\" {program} dev --uninstall");
    let done = folder.shell(&uninstall);
    assert!(done.ok().contains("nssdb: nothing to remove\n"));
    let label = "pqtls-dev-0123456789abcdef";
    folder.write(
        ".pki/nssdb/cert9.db",
        format!("rows \u{1} {label}\u{0}more"),
    );
    let done = folder.shell(&uninstall);
    assert_eq!(done.status(), 3);
    assert!(done.stdout().contains(words), "{}", done.stdout());
    let command = format!(".pki/nssdb -n {label}\n");
    assert!(done.stdout().contains(&command), "{}", done.stdout());
}

#[test]
fn without_a_trust_store_nothing_is_claimed() {
    let folder = Folder::new();
    let done = folder.pqtls("dev --install");
    assert_eq!(done.status(), 3);
    assert!(done.stdout().contains("no trust store was found"));
    folder.pqtls("dev --uninstall").ok();
}

#[test]
fn a_command_line_asks_for_something_and_not_for_both() {
    let folder = Folder::new();
    for (command, words) in [
        ("dev", "<NAME"),
        ("dev --install --uninstall", "--uninstall"),
        ("dev localhost --uninstall", "--uninstall"),
        ("dev localhost --dry-run", "--install"),
    ] {
        folder.pqtls(command).fails(2, words);
    }
    folder
        .pqtls("dev localhost --out-dir none")
        .fails(3, "make its folder first");
}

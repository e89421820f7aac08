//! What holds for every command: files, standard input and output, exit statuses.

use std::fs;

use crate::folder::Folder;

#[test]
fn nothing_is_replaced_unless_forced() {
    let folder = Folder::new();
    folder.write("taken", "kept");
    for command in [
        "key new --out taken",
        "key new --out new.key --public taken",
        "key new --out taken --public new.pub",
    ] {
        folder.pqtls(command).fails(
            3,
            "taken exists; choose another name, or replace it with --force",
        );
    }
    folder.pqtls("key new --out taken --force").ok();
    folder.pqtls("key check taken").ok();
}

/// Of a message in whose place its signature is written, only the signature would be left.
#[test]
fn what_is_read_is_not_replaced() {
    let folder = Folder::with_ca();
    folder
        .pqtls("key new ML-DSA-44 --out a.key --public a.pub")
        .ok();
    folder
        .pqtls("cert self-sign --key a.key --name a.example --out a.pem")
        .ok();
    folder
        .pqtls("cert request --key a.key --name a.example.org --out a.csr")
        .ok();
    folder
        .pqtls("key new ML-KEM-768 --out kem.key --public kem.pub")
        .ok();
    folder.pqtls("encaps --key kem.pub --out e --secret s").ok();
    folder
        .pqtls("ca init --name Example --dns example.org --algorithm ML-DSA-44")
        .ok();
    folder.pqtls("ssh new --out ssh.key").ok();
    folder.write("m", "message");
    folder.write("claims", "{\"sub\":\"a\"}");
    folder
        .shell("ln -s m link && ln m second && mkdir d && cp a.csr d/a.pem")
        .ok();
    let before = folder.files();
    for command in [
        "sign --key a.key m --out m",
        "sign --key a.key m --out m --force",
        "sign --key a.key ./m --out d/../m --force",
        "sign --key a.key m --out link --force",
        "sign --key a.key link --out m --force",
        "sign --key a.key m --out second --force",
        "mu --key a.pub m --out m --force",
        "mu --key a.pub m --out a.pub --force",
        "encaps --key kem.pub --out kem.pub --secret x --force",
        "encaps --key kem.pub --out x --secret kem.pub --force",
        "decaps --key kem.key e --out e --force",
        "encrypt m --to kem.pub --out m --force",
        "encrypt m --to kem.pub --out kem.pub --force",
        "cms sign m --key a.key --cert a.pem --out m --force",
        "cms sign m --key a.key --cert a.pem --out a.pem --force",
        "cms sign m --detached --key a.key --cert a.pem --out m --force",
        "cms encrypt m --to kem.pub --out m --force",
        "jwt sign --key a.key --claims claims --no-expiry --out claims --force",
        "ssh sign m --key ssh.key --out m --force",
        "cert ocsp-request www.pem --issuer ca.pem --out www.pem --force",
        "key export a.key --certs a.pem --passphrase-file m --out a.pem --force",
        "ca issue a.example.org --key a.pub --out a.pub --force",
        "ca sign a.csr --out a.csr --force",
        "ca sign d/a.pem --out-dir d --force",
        "ca ocsp a.csr --out a.csr --force",
        "key convert a.key --form seed --out a.key --force",
        "key public a.pub --out a.pub --force",
        "cert bundle a.pem --out a.pem --force",
    ] {
        folder
            .pqtls(command)
            .fails(3, "is what this command reads, and would be lost");
    }
    folder
        .shell("pqtls sign --key a.key - --out m --force < m")
        .fails(3, "is what this command reads, and would be lost");
    assert_eq!(folder.files(), before);
    folder
        .pqtls("sign --key a.key /dev/null --out /dev/null")
        .ok();
}

/// What is given has an effect, or is refused: whoever gives revocation lists expects that they are read.
#[test]
fn no_option_is_without_effect() {
    let folder = Folder::new();
    for command in [
        "cms verify a.cms --signer a.pem --crl none.crl",
        "cms verify a.cms --signer a.pem --at 2030-01-01",
        "cms verify a.cms --signer a.pem --at-signing-time",
        "cms verify a.cms --signer a.pem --certs b.pem",
        "cms verify a.cms --signer a.pem --force",
        "cms verify a --signer a.pem --signature a.cms --force",
        "cert verify a.pem --roots b.pem --ocsp-request a.req",
        "key convert a.key --algorithm ML-DSA-65 --passphrase-file pw",
        "ca init --name A --no-passphrase --passphrase-file pw",
        "ca init --name A --no-intermediate --root ML-DSA-44",
        "ca init --name A --no-intermediate --validity 1y",
        "ca init --name A --only-hosts",
        "ca issue a.example --key a.key --algorithm ML-DSA-44",
        "ca ocsp a.req --passphrase-file pw",
        "ca ocsp a.req --key a.key --cert a.pem --ca-passphrase-file pw",
        "ca show a.pem --out b.pem",
        "ca list --valid --revoked",
        "dev --uninstall --force",
        "dev --uninstall --out-dir x",
        "dev --install --validity 1d",
        "dev --install --dry-run --force",
        "jwt verify --key a.pub a.jwt --issuer a --any-issuer",
        "jwt sign --key a.key --no-expiry --validity 1h",
        "sign --key a.key a --mu --context x",
        "sign --key a.key a --mu --pre-hash SHA-512",
        "verify --key a.pub --signature a.sig a --mu --context x",
        "cert lint --list --severity error",
    ] {
        let refused = folder.pqtls(command);
        assert_eq!(refused.status(), 2, "{command}: {}", refused.stderr());
        assert!(refused.stderr().contains("--"), "{}", refused.stderr());
    }
    assert!(folder.files().is_empty());
}

#[test]
fn two_results_dont_share_a_file() {
    let folder = Folder::new();
    folder
        .pqtls("key new --out a --public a")
        .fails(3, "a can't be two files at once");
    folder
        .pqtls("key new --out a --public ./a --force")
        .fails(3, "can't be two files at once");
}

#[cfg(unix)]
#[test]
fn private_files_are_private_and_others_are_not() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let mode = |name| {
        fs::metadata(folder.path().join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    folder
        .shell("umask 022; pqtls key new --out a.key --public a.pub")
        .ok();
    assert_eq!((mode("a.key"), mode("a.pub")), (0o600, 0o644));
    folder
        .shell("umask 000; pqtls key convert a.key --format hex --out a.hex")
        .ok();
    assert_eq!(mode("a.hex"), 0o600);
    // A file that anybody could read is replaced by one that nobody else can.
    folder
        .shell("umask 022; : > b.key; pqtls key new --out b.key --force")
        .ok();
    assert_eq!(mode("b.key"), 0o600);
}

/// Commands take from a file what they need, and write a file of any name.
#[test]
fn force_is_not_the_end_of_a_private_key() {
    let folder = Folder::with_ca();
    folder.pqtls("key new ML-KEM-512 --out box.key").ok();
    folder
        .pqtls("key convert www.key --format jwk --out jwk")
        .ok();
    folder
        .pqtls("key convert www.key --format der --out der")
        .ok();
    folder
        .pqtls("cert request --key www.key --name www.example.org --out www.csr")
        .ok();
    for (name, parts) in [
        ("web.pem", ["www.key", "www.pem"]),
        ("asked.pem", ["www.key", "www.csr"]),
    ] {
        folder.write(name, parts.map(|part| folder.read(part)).concat());
    }
    folder.write("copy.pem", folder.read("web.pem"));
    let lost = "has a private key, which would be lost; choose another name";
    let read = "is what this command reads, and would be lost";
    for (command, why) in [
        ("key public ca.pem --out www.key --force", lost),
        ("key public ca.pem --out jwk --force", lost),
        ("key public ca.pem --out der --force", lost),
        ("cert bundle copy.pem ca.pem --out web.pem --force", lost),
        (
            "cert request --key www.key --name www.example.org --out www.key --force",
            read,
        ),
        (
            "cms encrypt ca.pem --to box.key --out box.key --force",
            read,
        ),
        ("encrypt ca.pem --to box.key --out box.key --force", read),
        (
            "key encrypt copy.pem --out web.pem --force --passphrase-env HOME",
            "web.pem has certificates beside the private key, which would be lost",
        ),
    ] {
        let before = folder.files();
        folder.pqtls(command).fails(3, why);
        assert_eq!(folder.files(), before, "{command}");
    }
    // A key takes the place of a key.
    folder
        .pqtls("key encrypt www.key --out www.key --force --passphrase-env HOME")
        .ok();
    folder.pqtls("key new ML-DSA-44 --out jwk --force").ok();
    folder.pqtls("key public ca.pem --out www.pem --force").ok();
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_owner_and_its_readers() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    let folder = Folder::with_ca();
    let path = |name: &str| folder.path().join(name);
    let set = |name: &str, mode| {
        fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap()
    };
    let mode = |name: &str| fs::metadata(path(name)).unwrap().mode() & 0o7777;
    let is_root = chown(path("www.key"), Some(1234), Some(4321)).is_ok();
    set("www.key", 0o640);
    folder
        .pqtls("key encrypt www.key --out www.key --force --passphrase-env HOME")
        .ok();
    assert_eq!(mode("www.key"), 0o640);
    let key = fs::metadata(path("www.key")).unwrap();
    assert!(!is_root || (key.uid(), key.gid()) == (1234, 4321));
    set("www.pem", 0o600);
    folder
        .pqtls("cert bundle ca.pem --out www.pem --force")
        .ok();
    assert_eq!(mode("www.pem"), 0o600);
}

/// As where a volume is not mounted: the key would be on another one.
#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_not_replaced() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("mnt/tls.key", folder.path().join("tls.key")).unwrap();
    for force in ["", " --force"] {
        let new = folder.pqtls(&format!("key new ML-DSA-44 --out tls.key{force}"));
        new.fails(3, "tls.key is a link to a file that isn't there");
    }
    assert!(folder.path().join("tls.key").is_symlink());
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_the_file_that_it_leads_to_is_replaced() {
    let folder = Folder::new();
    folder.write("real.key", "old");
    std::os::unix::fs::symlink("real.key", folder.path().join("link.key")).unwrap();
    folder
        .pqtls("key new --out link.key")
        .fails(3, "link.key exists");
    folder.pqtls("key new --out link.key --force").ok();
    assert!(
        fs::symlink_metadata(folder.path().join("link.key"))
            .unwrap()
            .is_symlink()
    );
    folder.pqtls("key check real.key").ok();
}

#[test]
fn files_that_cant_be_written_are_named() {
    let folder = Folder::new();
    folder
        .pqtls("key new --out no/such.key")
        .fails(3, "can't write no/such.key");
    folder
        .pqtls("key new --out no/such.key")
        .fails(3, "make its folder first");
    folder
        .pqtls("key new --out .")
        .fails(3, ". is a folder; name a file in it");
    folder.pqtls("key new --out ..").fails(3, ".. is a folder");
    folder
        .pqtls("key new --out a.key --public no/such.pub")
        .fails(3, "can't write no/such.pub");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_is_read_only_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::set_permissions(&inner, PermissionsExt::from_mode(0o555)).unwrap();
    // Only a folder in which nobody can make files stops root.
    let is_stopped = fs::write(inner.join("probe"), "").is_err();
    let inner = if is_stopped { "inner" } else { "/sys" };
    folder
        .pqtls(&format!("key new --out {inner}/a.key --public a.pub"))
        .fails(3, "choose a folder that you may write to");
    folder
        .pqtls(&format!("key new --out a.key --public {inner}/a.pub"))
        .fails(3, "choose a folder that you may write to");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_leaves_nothing_behind() {
    let folder = Folder::new();
    folder
        .pqtls("key new --out /dev/full")
        .fails(3, "can't write /dev/full");
    folder
        .pqtls("key new --out /dev/full")
        .fails(3, "make room");
    folder
        .pqtls("key new --out a.key --public /dev/full")
        .fails(3, "can't write /dev/full");
    folder
        .shell("pqtls key new > /dev/full")
        .fails(3, "can't write to standard output");
    folder.pqtls("key new --out a.key").ok();
    folder
        .shell("pqtls key show a.key > /dev/full")
        .fails(3, "can't write to standard output");
    folder
        .shell("pqtls key show a.key --json > /dev/full")
        .fails(3, "standard output");
    assert_eq!(
        folder
            .shell("pqtls --help > /dev/full 2> /dev/full")
            .status(),
        3
    );
    // A device is written to, not replaced.
    folder.pqtls("key new --out /dev/null").ok();
}

/// Of reports, lists and help.
#[test]
fn whoever_reads_may_stop_reading() {
    let folder = Folder::with_ca();
    for command in [
        "completion bash",
        "man",
        "--help",
        "cert show www.pem",
        "key show www.key --json",
    ] {
        let outcome = folder.pqtls_to_nobody(command);
        assert_eq!((outcome.stderr(), outcome.status()), ("", 0), "{command}");
    }
}

/// What is gone with its reader would be missed.
#[test]
fn a_result_that_nobody_reads_is_told() {
    let folder = Folder::with_ca();
    folder.pqtls("key new X-Wing --out box.key").ok();
    folder.pqtls("encrypt www.pem --to box.key --out box").ok();
    folder
        .pqtls("ca init --name Example --dns example.org --no-passphrase")
        .ok();
    folder.write("claims", "{\"x\":1}");
    for command in [
        "key new",
        "sign --key www.key ca.pem --format hex",
        "encrypt www.pem --to box.key",
        "decrypt box --key box.key",
        "cms sign ca.pem --key www.key --cert www.pem",
        "jwt sign --key www.key --claims claims --no-expiry",
        "ca crl",
    ] {
        folder.pqtls_to_nobody(command).fails(
            3,
            "can't write to standard output: Broken pipe (os error 32)",
        );
    }
}

/// Not a file of that name without the slash.
#[test]
fn a_name_that_ends_as_a_folder_s_is_no_file() {
    let folder = Folder::new();
    for name in ["keyd/", "keyd//", "keyd/."] {
        folder
            .pqtls(&format!("key new --out {name}"))
            .fails(3, "is the name of a folder, by how it ends; name a file");
    }
    folder
        .pqtls("ssh new --out keyd/")
        .fails(3, "is the name of a folder");
}

#[test]
fn a_name_that_begins_as_an_option_follows_an_equals_sign() {
    let folder = Folder::new();
    for (command, tip) in [
        ("key new --out -x.pem", "follows '=', as in '--out=-x.pem'"),
        ("key new -o -x.pem", "follows '=', as in '-o=-x.pem'"),
        ("cert show -x.pem", "use '-- -x'"),
    ] {
        folder.pqtls(command).fails(2, tip);
    }
    folder.pqtls("key new --out=-x.pem").ok();
    folder.pqtls("key new --public a.pub -o=-y.pem").ok();
    folder.pqtls("key show -- -x.pem").ok();
}

#[test]
fn input_that_cant_be_read_is_named() {
    let folder = Folder::new();
    folder
        .pqtls("key show missing.key")
        .fails(3, "can't read missing.key");
    folder
        .pqtls("key show missing.key")
        .fails(3, "check the name");
    folder.pqtls("key show .").fails(3, "name a file in it");
    folder
        .pqtls_reading("", "key show -")
        .fails(3, "standard input is empty");
    folder.write("large", vec![b'x'; 5 * 1024 * 1024]);
    folder
        .pqtls("key show large")
        .fails(3, "large is larger than 4194304 bytes");
}

#[test]
fn standard_input_is_read_once() {
    let folder = Folder::with_ca();
    let key = folder.read("www.key");
    folder
        .pqtls_reading(&key, "key check - --cert -")
        .fails(3, "standard input can be read once");
    folder
        .pqtls_reading(&key, "key check - --cert www.pem")
        .ok();
}

#[test]
fn what_is_wrong_with_a_command_line_is_said_with_status_2() {
    let folder = Folder::new();
    folder.pqtls("key shwo").fails(2, "'show'");
    folder.pqtls("key new --from x").fails(2, "--form");
    folder.pqtls("key show").fails(2, "<FILE>");
    folder
        .pqtls("key new --json")
        .fails(2, "with --json the report goes to standard output");
    folder
        .pqtls("completion bash --json")
        .fails(2, "with --json");
    folder.pqtls("key new --out a.key").ok();
    folder
        .pqtls("key convert a.key --format hex --form both")
        .fails(2, "choose with --form");
    let nothing = folder.pqtls("");
    assert_eq!(nothing.status(), 2);
    assert!(nothing.stderr().contains("Usage: pqtls"));
}

/// Who types a command line as it was before the key was always named by `--key` is told today's, which is right.
#[test]
fn a_former_command_line_gets_the_one_of_today() {
    let folder = Folder::new();
    for (former, today) in [
        ("sign a.key f --out s", "sign --key a.key f --out s"),
        (
            "sign --context x -o s a.key",
            "sign --context x -o s --key a.key",
        ),
        ("verify a.pub s f", "verify --key a.pub --signature s f"),
        ("verify a.pub -", "verify --key a.pub --signature -"),
        (
            "mu a.pub f --json --out m",
            "mu --key a.pub f --json --out m",
        ),
        (
            "encaps k --out-ciphertext c --out-secret=s",
            "encaps --key k --out c --secret s",
        ),
        ("decaps k c", "decaps --key k c"),
        (
            "--json jwt sign k --valid-for 1h",
            "--json jwt sign --key k --validity 1h",
        ),
        (
            "jwt verify k t --issuer i",
            "jwt verify --key k t --issuer i",
        ),
        (
            "cert request k --name a.example",
            "cert request --key k --name a.example",
        ),
        (
            "cert self-sign k --subject A --days 30",
            "cert self-sign --key k --subject A --validity 30d",
        ),
        ("cert ocsp-request c i", "cert ocsp-request c --issuer i"),
        (
            "cert needs-renewal c --days=14",
            "cert needs-renewal c --expires-within 14d",
        ),
        (
            "ssh verify f s --signers l --identity a",
            "ssh verify f --signature s --signers l --identity a",
        ),
        (
            "cms verify s --content f --signer c",
            "cms verify --signature s f --signer c",
        ),
        ("key check k --certificate c", "key check k --cert c"),
        ("key export k --certificates c", "key export k --certs c"),
        ("key import p --certificates c", "key import p --certs c"),
        ("key public k --to jwk", "key public k --format jwk"),
        ("key convert k --to hex", "key convert k --format hex"),
    ] {
        folder
            .pqtls(former)
            .fails(2, &format!("today it is:\n  pqtls {today}\n"));
        let parsed = folder.pqtls(today);
        assert!(
            !parsed.stderr().contains("Usage:"),
            "{today}: {}",
            parsed.stderr()
        );
    }
    for option in ["file f", "fd 3", "env PW"] {
        for command in ["crl --out l", "sign r --out c", "certify r --out c"] {
            folder
                .pqtls(&format!("ca {command} --passphrase-{option}"))
                .fails(
                    2,
                    &format!("today it is:\n  pqtls ca {command} --ca-passphrase-{option}\n"),
                );
        }
    }
    // Who only forgot the key is told so.
    folder.pqtls("sign release.txt --out s").fails(
        2,
        "pqtls: --key is missing; if the argument is meant for it",
    );
    // Nothing is advised for what was wrong before.
    for wrong in ["sign a.key f --nonsense", "verify a.pub"] {
        let refused = folder.pqtls(wrong);
        refused.fails(2, "--key <FILE>");
        assert!(!refused.stderr().contains("today"));
    }
}

#[test]
fn every_command_has_a_manual_page() {
    fn count(command: &clap::Command) -> usize {
        1 + command.get_subcommands().map(count).sum::<usize>()
    }
    let folder = Folder::new();
    fs::create_dir(folder.path().join("man1")).unwrap();
    let pages = folder.pqtls("man --out-dir man1");
    assert_eq!(
        pages.ok().lines().count(),
        count(&pqtls_commands::command())
    );
    assert!(pages.ok().contains("man1/pqtls-key-new.1\n"));
    let page = folder.read("man1/pqtls-cert.1");
    assert!(page.contains(".TH pqtls-cert 1  \"pqtls "), "{page}");
    assert!(page.contains("pqtls\\-cert\\-show(1)"), "{page}");
    assert!(!page.contains("help(1)"), "{page}");
    for (page, sections) in [
        ("pqtls-key-new.1", &[".SH \"EXAMPLES\"\n"][..]),
        ("pqtls.1", &[".SH \"EXIT STATUS\"\n"]),
        (
            "pqtls-completion.1",
            &[".SH \"EXAMPLES\"\n", ".SH \"NOTES\"\n"],
        ),
    ] {
        let page = folder.read(&format!("man1/{page}"));
        assert!(!page.contains("EXTRA"), "{page}");
        for section in sections {
            assert!(page.contains(section), "{page}");
        }
    }
    assert_eq!(folder.pqtls("man").ok(), folder.read("man1/pqtls.1"));
    folder.pqtls("man --out-dir man1").fails(3, "exists");
}

/// No name of a value is so long that it leaves no room for what explains it.
#[test]
fn help_is_readable_in_a_narrow_terminal() {
    const COLUMNS: usize = 40;

    fn visit(folder: &Folder, command: &clap::Command, name: &str) {
        let help = folder.shell(&format!("COLUMNS={COLUMNS} {name} -h"));
        let (_, options) = help.ok().split_once("\nOptions:\n").unwrap();
        let options = options.split("\nExamples:\n").next().unwrap();
        // Headings are not wrapped.
        for line in options.lines().filter(|line| line.starts_with(' ')) {
            assert!(line.trim_end().len() <= COLUMNS, "{name}: {line}");
        }
        for subcommand in command.get_subcommands() {
            if subcommand.get_name() != "help" {
                let name = format!("{name} {}", subcommand.get_name());
                visit(folder, subcommand, &name);
            }
        }
    }
    visit(&Folder::new(), &pqtls_commands::command(), "pqtls");
}

#[test]
fn completion_knows_profiles_and_reasons() {
    let script = Folder::new().pqtls("completion bash").ok().to_owned();
    let profiles = "compgen -W \"server client server+client any ocsp-responder\"";
    assert!(script.contains(profiles));
    assert_eq!(
        script
            .matches("unspecified keyCompromise cACompromise ")
            .count(),
        2
    );
}

/// Whoever reads JSON gets one document, and the words of standard error in it.
#[test]
fn failures_are_json_if_that_is_asked_for() {
    let folder = Folder::with_ca();
    for (command, status, words) in [
        ("key show missing --json", 3, "can't read missing"),
        ("--json key shwo", 2, "'shwo'"),
        ("cert show --json", 2, "<FILE>"),
        (
            "sign a.key f --json --out s",
            2,
            "pqtls sign --key a.key f --json --out s",
        ),
        ("cert verify www.pem --roots www.pem --json", 1, "not a CA"),
    ] {
        let failed = folder.pqtls(command);
        failed.fails(status, words);
        let report: serde_json::Value = serde_json::from_str(failed.stdout()).unwrap();
        assert_eq!(report["schema"], "pqtls/failure/1", "{command}");
        assert_eq!(report["exit_status"], status);
        assert!(
            report["error"].as_str().unwrap().contains(words),
            "{report}"
        );
    }
    // A refusal has its own report, and nothing else.
    let refused = folder.pqtls("cert verify www.pem --roots ca-root.pem --json");
    let report: serde_json::Value = serde_json::from_str(refused.stdout()).unwrap();
    assert_eq!(report["schema"], "pqtls/cert-verify/1");
}

#[test]
fn every_exit_status_is_in_the_help() {
    let folder = Folder::new();
    let help = folder.pqtls("--help");
    for status in 0..=5 {
        assert!(help.ok().contains(&format!("\n  {status}  ")), "{status}");
    }
}

#[test]
fn nothing_in_a_pipe_is_coloured() {
    let folder = Folder::with_ca();
    for command in [
        "cert show www.pem",
        "--help",
        "cert verify www.pem --roots ca-root.pem",
    ] {
        let outcome = folder.pqtls(command);
        assert!(!outcome.stdout().contains('\u{1b}') && !outcome.stderr().contains('\u{1b}'));
    }
}

#[test]
fn colours_can_be_forced_and_are_off_by_no_color() {
    let folder = Folder::with_ca();
    let show = "pqtls cert show www.pem --at 2100-01-01";
    let coloured = folder.shell(&format!("CLICOLOR_FORCE=1 {show}"));
    assert!(coloured.ok().contains("\u{1b}[31mexpired"));
    let plain = folder.shell(&format!("NO_COLOR=1 CLICOLOR_FORCE=1 {show}"));
    assert!(!plain.ok().contains('\u{1b}'));
}

/// By `script`, which every Debian has.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_colours_and_no_der() {
    let folder = Folder::with_ca();
    let on_terminal = |variables: &str, command: &str| {
        let line = format!("{variables} TERM=xterm script -qec '{command}' /dev/null");
        folder.shell(&line).stdout().to_owned()
    };
    let show = "pqtls cert show www.pem --at 2100-01-01";
    assert!(on_terminal("", show).contains("\u{1b}[31mexpired"));
    assert!(!on_terminal("NO_COLOR=1", show).contains('\u{1b}'));
    assert!(on_terminal("", "pqtls key new --der").contains("bytes are not for a terminal"));
    assert!(on_terminal("", "pqtls key new").contains("-----BEGIN PRIVATE KEY-----"));
}

#[test]
fn what_is_stopped_in_the_middle_leaves_all_files_as_they_were() {
    let folder = Folder::with_ca();
    folder.write("kept.key", "kept");
    let before = folder.files();
    let half_a_key = &folder.read("www.key")[..60];
    for out in ["kept.key --force", "new.key"] {
        folder.stop_reading(half_a_key, &format!("key convert - --out {out}"));
        assert_eq!(folder.files(), before);
    }
}

#[test]
fn names_in_certificates_move_no_cursor() {
    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::{SignatureAlgorithm, SigningKey};
    use pq_x509::x509_cert::der::asn1::Ia5String;
    use pq_x509::x509_cert::ext::pkix::SubjectAltName;
    use pq_x509::x509_cert::ext::pkix::name::GeneralName;
    let folder = Folder::new();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), &key).unwrap();
    let builder = CertificateBuilder::server().common_name("a");
    let mut tbs = root.prepare(builder, &key).unwrap();
    tbs.subject = "CN=a\u{1b}[2Jb\nc".parse().unwrap();
    let name = Ia5String::new("a\u{1b}[2Jb\nc").unwrap();
    let names = SubjectAltName(vec![GeneralName::DnsName(name)]);
    tbs.set_extension(false, &names).unwrap();
    folder.write("evil.pem", tbs.sign(&key).unwrap().to_pem());
    let shown = folder.pqtls("cert show evil.pem --all");
    assert!(!shown.ok().contains('\u{1b}'));
    assert!(
        shown.ok().contains("names         a\\u{1b}[2Jb\\nc\n"),
        "{}",
        shown.ok()
    );
}

#[test]
fn der_goes_into_pipes() {
    let folder = Folder::new();
    let der = folder.pqtls("key new --der");
    assert_eq!(der.status(), 0);
    folder.pqtls_reading(der.stdout_bytes(), "key check -").ok();
}

/// A key would go to whoever reads.
#[cfg(unix)]
#[test]
fn nothing_goes_through_what_others_may_have_put_there() {
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    const OTHER: u32 = 65533;
    let folder = Folder::new();
    // as /tmp is
    let open = folder.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
    // Somebody reads from each pipe, so that a program that opens one does not wait.
    let write_to = |path: &str, options: &str| {
        folder.shell(&format!(
            "(cat {path} > /dev/null 2>&1) & pqtls key new --out {path} {options}; status=$?; kill $! 2> /dev/null; exit $status"
        ))
    };
    let refused = |path: &str| {
        for options in ["", "--force", "--public a.pub"] {
            write_to(path, options).fails(3, &format!("{path} is a pipe, a device or a link"));
        }
    };
    folder
        .shell("mkfifo own open/own open/pipe && ln open/pipe open/second")
        .ok();
    refused("open/pipe");
    refused("open/second");
    write_to("own", "").ok();
    write_to("open/own", "").ok();
    symlink("../own", open.join("link")).unwrap();
    write_to("open/link", "").ok();
    symlink("open/pipe", folder.path().join("to-pipe")).unwrap();
    refused("to-pipe");
    // Only the administrator can make things that are another user's.
    folder.shell("mkfifo open/others").ok();
    if chown(open.join("others"), Some(OTHER), None).is_ok() {
        refused("open/others");
        lchown(open.join("link"), Some(OTHER), None).unwrap();
        refused("open/link");
        // a link to a file, which would be replaced where the link leads
        folder.write("precious", "precious");
        symlink("../precious", open.join("to-file")).unwrap();
        lchown(open.join("to-file"), Some(OTHER), None).unwrap();
        refused("open/to-file");
        // a folder of another user
        folder.shell("mkdir theirs && mkfifo theirs/pipe").ok();
        for path in ["theirs", "theirs/pipe"] {
            chown(folder.path().join(path), Some(OTHER), None).unwrap();
        }
        refused("theirs/pipe");
    }
    // What the shell made is its user's.
    let piped = folder.shell("pqtls key new --out /dev/fd/3 3>&1 | cat");
    assert!(piped.ok().starts_with("-----BEGIN PRIVATE KEY-----"));
    folder.pqtls("key new --out /dev/null").ok();
    folder
        .shell("pqtls key new --out /dev/stdout | pqtls key check -")
        .ok();
}

/// A key that is replaced comes back, if the other file of the command can't be written: the certificate beside it is still
/// the old one's.
#[cfg(target_os = "linux")]
#[test]
fn a_key_that_was_replaced_comes_back_if_something_else_fails() {
    let folder = Folder::new();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    let before = folder.files();
    let line = "pqtls key new ML-DSA-44 --out a.key --public - --force";
    let full = folder.shell(&format!("{line} > /dev/full"));
    full.fails(3, "can't write to standard output");
    assert!(folder.files() == before);
    folder.shell(&format!("{line} > /dev/null")).ok();
    let after = folder.files();
    assert!(after != before && after.len() == 1);
}

/// A script or a page has no place for a report, and no --out.
#[test]
fn scripts_and_pages_are_no_reports() {
    let folder = Folder::new();
    for (command, words) in [
        ("completion bash --json", "leave --json out\n"),
        ("man --json", "or name a folder with --out-dir"),
    ] {
        let refused = folder.pqtls(command);
        refused.fails(2, words);
        assert!(
            !refused.stderr().contains("--out\n"),
            "{}",
            refused.stderr()
        );
    }
}

/// A file to sign is no key, whatever was an argument before.
#[test]
fn a_file_without_a_key_is_not_suggested_as_one() {
    let folder = Folder::with_ca();
    folder.write("m", "content\n");
    for command in ["sign m", "verify m", "sign www.key"] {
        let refused = folder.pqtls(command);
        assert_eq!(refused.status(), 2);
        let is_suggested = refused.stderr().contains("as it was before");
        assert_eq!(
            is_suggested,
            command == "sign www.key",
            "{}",
            refused.stderr()
        );
    }
}

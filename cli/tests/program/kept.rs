//! What no result takes the place of, also not with `--force`.

use std::fs;

use crate::folder::Folder;

const READ: &str = "is what this command reads, and would be lost: the result would take its place; choose another name";
const OF_CA: &str = "is a file of the CA itself";
const LOST: &str = "has a private key, which would be lost";

fn with_ca() -> Folder {
    let folder = Folder::new();
    for command in [
        "ca init --name Example --dns example.org --no-passphrase --algorithm ML-DSA-44",
        "key new ML-DSA-44 --out a.key --public a.pub",
        "cert request --key a.key --name a.example.org --out a.csr",
    ] {
        folder.pqtls(command).ok();
    }
    folder.write("m", "message");
    folder
}

fn issued(folder: &Folder) -> usize {
    let list = folder.pqtls("ca list --json");
    list.ok().matches("serial_number").count()
}

#[test]
fn a_private_key_in_every_form_that_is_read() {
    let folder = with_ca();
    for (format, file) in [
        ("cose", "k.cose"),
        ("jwk", "k.jwk"),
        ("hex", "k.hex"),
        ("base64", "k.b64"),
        ("der", "k.der"),
    ] {
        folder
            .pqtls(&format!("key convert a.key --format {format} --out {file}"))
            .ok();
    }
    folder
        .pqtls("key convert a.key --format hex --form expanded --out k.expanded")
        .ok();
    folder.write("far.pem", "\n".repeat(3 << 20) + &folder.read("a.key"));
    folder.pqtls("key show far.pem").ok();
    folder.write(
        "escaped.jwk",
        folder.read("k.jwk").replace("\"priv\"", "\"\\u0070riv\""),
    );
    folder.pqtls("key show escaped.jwk").ok();
    for file in ["k.cose", "k.jwk", "k.der", "far.pem", "escaped.jwk"] {
        for command in ["key public a.pub", "sign --key a.key m --format hex"] {
            folder
                .pqtls(&format!("{command} --out {file} --force"))
                .fails(3, LOST);
        }
    }
    if cfg!(unix) {
        for file in ["k.hex", "k.b64", "k.expanded"] {
            folder
                .pqtls(&format!("key public a.pub --out {file} --force"))
                .fails(3, "has what may be a raw private key, for its owner alone");
        }
    }
    // A key of another form, and public ones.
    folder.pqtls("key new --out k.cose --force").ok();
    folder
        .pqtls("key public a.pub --format cose --out pub.cose")
        .ok();
    folder
        .pqtls("key public a.pub --format jwk --out pub.cose --force")
        .ok();
}

#[test]
fn what_a_result_has_not_all_of() {
    let folder = with_ca();
    let root = folder.read("ca/root.pem");
    folder.write("text.pem", format!("mine\n{root}"));
    folder
        .pqtls("ca issue b.example.org --key a.pub --out old.pem")
        .ok();
    folder
        .pqtls("ca init --dir other --name Other --no-passphrase --algorithm ML-DSA-44")
        .ok();
    let foreign = folder.read("old.pem") + &folder.read("other/root.pem");
    folder.write("foreign.pem", foreign);
    folder.write("with-text.pem", format!("mine\n{}", folder.read("old.pem")));
    folder.write("two", folder.read("a.key") + &folder.read("a.csr"));
    folder
        .pqtls("key convert a.key --form both --out both.key")
        .ok();
    for command in [
        "cert bundle text.pem --out text.pem --force",
        "cert bundle ca/root.pem ca/issuing.pem --out ca/root.pem --force",
        "ca show old.pem --pem --out old.pem --force",
        "ca renew foreign.pem --out foreign.pem --force",
        "ca renew with-text.pem --out with-text.pem --force",
        "key encrypt two --out two --force --passphrase-env HOME",
        "key encrypt both.key --form expanded --out both.key --force --passphrase-env HOME",
        "key convert both.key --form expanded --out both.key --force",
        "key public a.pub --out a.pub --force",
    ] {
        let before = issued(&folder);
        folder.pqtls(command).fails(3, READ);
        assert_eq!(issued(&folder), before, "{command}");
    }
    for command in [
        "key encrypt a.key --out a.key --force --passphrase-env HOME",
        "key decrypt a.key --out a.key --force --passphrase-env HOME",
        "key encrypt ca/issuing.key --out ca/issuing.key --force --passphrase-env HOME",
        "ca crl --ca-passphrase-env HOME --out ca.crl",
        "key decrypt ca/issuing.key --out ca/issuing.key --force --passphrase-env HOME",
        "ca renew old.pem --out old.pem --force",
    ] {
        folder.pqtls(command).ok();
    }
}

/// Also what has its name from another option, and what is read from a descriptor.
#[cfg(unix)]
#[test]
fn what_is_read_by_any_option() {
    let folder = with_ca();
    folder.write("id", "correct horse battery\n");
    folder
        .shell("cp id id2.pub && cp id a.pem && ln -s id link")
        .ok();
    for command in [
        "ssh new --encrypt --passphrase-file id --out id --force",
        "ssh new --encrypt --passphrase-file link --out id --force",
        "ssh new --encrypt --passphrase-file id --out link --force",
        "ssh new --encrypt --passphrase-file id2.pub --out id2 --force",
        "ca sign a.csr --out-dir . --ca-passphrase-file a.pem --force",
    ] {
        folder.pqtls(command).fails(3, READ);
    }
    for line in [
        "pqtls key new --encrypt --passphrase-fd 3 --out id --force 3< id",
        "pqtls sign --key a.key m --format hex --out - 1<> m",
        "pqtls sign --key a.key - --format hex --out - < m 1<> m",
    ] {
        folder.shell(line).fails(3, READ);
    }
    // What is appended takes no place.
    folder
        .shell("pqtls cert bundle ca/issuing.pem >> a.pem; pqtls cert bundle a.pem >> a.pem")
        .ok();
}

/// Nothing is issued, or used up, that can't be written afterwards.
#[test]
fn what_would_be_lost_is_refused_before_anything_is_issued() {
    let folder = with_ca();
    fs::create_dir(folder.path().join("out")).unwrap();
    folder
        .shell("cp a.csr h1.csr && cp a.csr h2.csr && cp a.csr h3.csr && cp a.key out/h2.pem")
        .ok();
    folder
        .pqtls("ca issue b.example.org --key a.pub --out old.pem")
        .ok();
    folder.write("kek", [7; 32]);
    folder.shell("chmod 600 kek").ok();
    let before = issued(&folder);
    for to in ["a.key", "kek"] {
        for command in [
            "ca sign h1.csr h2.csr",
            "ca issue c.example.org --key a.pub",
            "ca renew old.pem",
            "ca crl",
            "ca ocsp --for old.pem",
        ] {
            folder
                .pqtls(&format!("{command} --out {to} --force"))
                .fails(3, "which would be lost");
        }
    }
    folder
        .pqtls("ca sign h1.csr h2.csr h3.csr --out-dir out --force")
        .fails(3, LOST);
    assert!(!folder.path().join("out/h1.pem").exists());
    assert_eq!(issued(&folder), before);
}

#[test]
fn a_file_of_any_ca_is_kept_from_every_command() {
    let folder = with_ca();
    folder
        .pqtls("ca init --dir team --name Team --dns example.org --no-passphrase --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca issue b.example.org --key a.pub --out old.pem")
        .ok();
    for file in [
        "ca/ledger/journal",
        "ca/ledger/other",
        "team/ledger/journal",
        "team/policy.toml",
        "./ca/../team/issuing.pem",
        "team/issuing-2.key",
    ] {
        for command in [
            "sign --key a.key m --format hex",
            "ca crl --root",
            "cert self-sign --key a.key --name a.example",
            "ssh new",
        ] {
            folder
                .pqtls(&format!("{command} --out {file} --force"))
                .fails(3, OF_CA);
        }
    }
    folder.pqtls("ca list --dir team").ok();
    // Other folders of such names are none.
    fs::create_dir(folder.path().join("other")).unwrap();
    folder.pqtls("key new ML-DSA-44 --out other/root.key").ok();
    folder
        .pqtls("cert self-sign --key other/root.key --name a.example --out other/root.pem")
        .ok();
    folder.pqtls("ca crl --out ca/ca.crl").ok();
}

#[cfg(unix)]
#[test]
fn where_the_links_of_a_ca_lead_is_kept() {
    use std::os::unix::fs::symlink;

    let folder = with_ca();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("data")).unwrap();
    for (file, to) in [
        ("ledger/journal", "../../data/journal"),
        ("policy.toml", "../data/policy"),
    ] {
        let from = path("ca").join(file);
        fs::rename(&from, from.parent().unwrap().join(to)).unwrap();
        symlink(to, from).unwrap();
    }
    for file in ["data/journal", "data/policy"] {
        for command in ["ca crl", "sign --key a.key m --format hex"] {
            folder
                .pqtls(&format!("{command} --out {file} --force"))
                .fails(3, OF_CA);
        }
    }
    folder.pqtls("ca crl --out data/ca.crl").ok();
    symlink("issuing-2.pem", path("ca/issuing-2.pem")).unwrap();
    folder.pqtls("ca crl --out data/ca.crl --force").fails(
        3,
        "ca/issuing-2.pem is a link in a CA's folder that can't be followed",
    );
    // Another CA's, or none.
    folder
        .pqtls("sign --key a.key m --format hex --out sig")
        .ok();
    folder
        .pqtls("sign --key a.key m --format hex --out data/journal --force")
        .fails(3, OF_CA);
}

/// What is refused for the sake of others' files hinders nobody at his own.
#[test]
fn ordinary_results_go_on() {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Ex --algorithm ML-DSA-44 --no-passphrase")
        .ok();
    // A root's key comes back under a passphrase, to where nothing is.
    folder
        .shell("mv ca/root.key away.key; printf secret > pass")
        .ok();
    folder
        .pqtls("key encrypt away.key --passphrase-file pass --out ca/root.key")
        .ok();
    folder
        .pqtls("key decrypt ca/root.key --passphrase-file pass --out ca/root.key --force")
        .ok();
    folder
        .pqtls("key decrypt ca/root.key --passphrase-file pass --out ca/policy.toml --force")
        .fails(3, "is a file of the CA itself");
    // A document that is as long as a key, and stays its owner's.
    folder
        .pqtls("key new ML-KEM-768 --out box.key --public box.pub")
        .ok();
    for len in [64, 96, 7] {
        folder.write("document", vec![0x80_u8; len]);
        folder
            .pqtls("encrypt document --to box.pub --out sealed --force")
            .ok();
        folder
            .pqtls("decrypt sealed --key box.key --out opened --force")
            .ok();
        assert_eq!(folder.bytes("opened").len(), len);
    }
    // Where all new files are for their owner alone, the next result has the place of the last.
    folder.pqtls("key new Ed25519 --out ed.key").ok();
    folder
        .pqtls("key new ML-DSA-44 --out m.key --public m.pub")
        .ok();
    for command in [
        "mu document --key m.pub --out mu.bin --force",
        "key public ed.key --format hex --out public --force",
    ] {
        for _ in 0..2 {
            folder.shell(&format!("umask 077; pqtls {command}")).ok();
        }
    }
    // A policy of somebody's own makes no CA's folder.
    folder
        .shell("mkdir own; echo x = 1 > own/policy.toml; cp ca/root.pem ca/root.key own/")
        .ok();
    folder
        .pqtls("cert self-sign --key ed.key --ca --subject Own --out own/root.pem --force")
        .ok();
    // The key of which openssl names the curve beside it.
    folder.pqtls("key new ECDSA-P256 --out ec.key").ok();
    folder
        .shell("(printf -- '-----BEGIN EC PARAMETERS-----\\nBggqhkjOPQMBBw==\\n-----END EC PARAMETERS-----\\n'; cat ec.key) > both.key; chmod 600 both.key")
        .ok();
    folder
        .pqtls("key encrypt both.key --passphrase-file pass --out both.key --force")
        .ok();
}

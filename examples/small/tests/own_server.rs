//! Runs the server of one's own as systemd would, and a client that asks it.
#![cfg(target_os = "linux")]

use core::time::Duration;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};

use pq_serving::client::{Request, Trust, fetch};
use pq_serving::demonstration::Pki;

/// The server's README shows the whole program, in a block that no doctest runs: it needs files.
#[test]
fn is_what_the_readme_shows() {
    let (head, program) = include_str!("../own_server.rs").split_once("\n\n").unwrap();
    assert!(head.starts_with("//!"));
    let shown = format!("```rs\n{program}```\n");
    assert!(include_str!("../../../serve/README.md").contains(&shown));
    assert!(program.lines().count() <= 40);
}

#[tokio::test]
async fn answers_reloads_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
    let files = pki.write(folder.path()).unwrap();
    let notify = folder.path().join("notify");
    let systemd = UnixDatagram::bind(&notify).unwrap();
    systemd
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let told = || {
        let mut text = [0; 1024];
        let length = systemd.recv(&mut text).unwrap();
        String::from_utf8_lossy(&text[..length]).trim().to_owned()
    };

    let mut server = Command::new(env!("CARGO_BIN_EXE_own-server"))
        .args(["--listen", "127.0.0.1:0", "--cert"])
        .arg(&files.server.0)
        .arg("--key")
        .arg(&files.server.1)
        .env("NOTIFY_SOCKET", &notify)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = server.id().to_string();
    let signal = |name: &str| {
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    };
    let mut address = String::new();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut address).unwrap();
    assert_eq!(told(), "READY=1");

    let trust = Trust::from_pem_file(&files.root).unwrap();
    let report = fetch(Request {
        address: Some(address.trim().parse().unwrap()),
        ..Request::new("https://localhost/".parse().unwrap(), trust)
    });
    let body = report.await.unwrap().response.body;
    assert_eq!(&*body, b"hello over X25519MLKEM768\n");

    signal("HUP");
    assert!(told().starts_with("RELOADING=1"));
    assert_eq!(told(), "READY=1");
    signal("TERM");
    assert_eq!(told(), "STOPPING=1");
    let mut log = String::new();
    let mut errors = server.stderr.take().unwrap();
    errors.read_to_string(&mut log).unwrap();
    assert!(server.wait().unwrap().success(), "{log}");
    assert!(log.contains("certificates unchanged"), "{log}");
}

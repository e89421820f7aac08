//! What the program listens on besides TCP, and what it tells systemd.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use pq_serving::demonstration::Pki;
use pq_x509::certificate::Certificate;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio_rustls::TlsConnector;

use crate::client::{Client, PATIENCE};
use crate::program::{PROGRAM, Program};

#[tokio::test]
async fn listens_on_a_unix_socket_and_removes_it_at_the_end() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("socket");
    // What a server that was killed has left.
    drop(UnixListener::bind(&path).unwrap());
    let address = format!("unix:{},660", path.display());
    let program = Program::start(&["--listen", &address]);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o660
    );
    // At both, and the number of clients on the socket has no share.
    program.client().page().await.unwrap();
    for _ in 0..2 {
        let answer = ask(&program.client(), &path).await;
        assert!(answer.contains("X25519MLKEM768"), "{answer}");
    }
    let (_, log, code) = program.stop("TERM");
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("peer=unix"), "{log}");
    assert!(!path.exists());
}

#[tokio::test]
async fn metrics_are_on_a_unix_socket() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("metrics");
    let _program = Program::start(&["--metrics", &format!("unix:{}", path.display())]);
    let mut unix = UnixStream::connect(&path).await.unwrap();
    unix.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    unix.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with("ready\n"), "{answer}");
}

/// Without TCP, it prints no command that connects by it.
#[tokio::test]
async fn serves_on_a_unix_socket_alone() {
    let folder = TempDir::new().unwrap();
    let mut server = Command::new(PROGRAM)
        .args(["--listen", "unix:socket"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    let root = fs::read_to_string(folder.path().join("pki/root.pem"));
    let root = root.map(|pem| Certificate::from_pem(&pem).unwrap());
    let unused = (Ipv4Addr::LOCALHOST, 0).into();
    let client = root.map(|root| Client::new(unused, &root, &[], None));
    let answer = match &client {
        Ok(client) => ask(client, &folder.path().join("socket")).await,
        Err(error) => error.to_string(),
    };
    // Before anything is claimed, so that no process is left.
    server.kill().unwrap();
    server.wait().unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(first, "Serving on unix:socket\n");
    for by_tcp in ["s_client", "localhost:0", "0.0.0.0"] {
        assert!(!rest.contains(by_tcp), "{rest}");
    }
    assert!(answer.contains("X25519MLKEM768"), "{answer}");
}

/// The socket of another server is left alone, and so is a file.
#[test]
fn a_path_that_is_taken_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("socket");
    let _other = UnixListener::bind(&path).unwrap();
    for (address, expected) in [
        (
            format!("unix:{}", path.display()),
            "another process listens there",
        ),
        ("systemd".into(), "no such socket was inherited"),
        ("unix:".into(), "give an address with a port such as"),
        (
            format!("unix:{},9", path.display()),
            "give an address with a port such as",
        ),
    ] {
        let output = Command::new(PROGRAM)
            .args(["--listen", &address])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success());
        assert!(said.contains(expected), "{address}: {said}");
    }
}

/// As systemd gives one: as descriptor 3, with a name.
#[tokio::test]
async fn serves_an_inherited_socket() {
    for (name, address) in [("web", "systemd"), ("web", "systemd:web")] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let inherited = listener.local_addr().unwrap();
        let program = with_descriptor(listener.into(), name, address);
        let root = program.root();
        let client = Client::new(inherited, &root, &[], None);
        assert_eq!(client.page().await.unwrap()["protocol"], "TLS 1.3");
    }

    let folder = TempDir::new().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let program = with_descriptor(listener.into(), "local", "systemd:local");
    assert!(ask(&program.client(), &path).await.contains("TLS 1.3"));
    program.stop("TERM");
    // It belongs to whoever has made it.
    assert!(path.exists());
}

/// As systemd gives one to each process with Accept=yes.
#[test]
fn an_inherited_connection_is_refused() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let folder = TempDir::new().unwrap();
    let output = inheriting(connection.into(), "web")
        .args(["--listen", "systemd"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("set Accept=no"), "{said}");
}

/// A name that is written in two ways goes unnoticed otherwise.
#[test]
fn an_inherited_socket_that_nobody_asks_for_is_told() {
    let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let command = inheriting(tcp.into(), "web:other");
    let folder = TempDir::new().unwrap();
    let program = Program::spawn(command, folder, &["--listen", "systemd:web"]);
    let (_, log, _) = program.stop("TERM");
    assert!(log.contains("name=\"other\""), "{log}");
    assert!(!log.contains("name=\"web\""), "{log}");
}

/// Type=notify-reload: each state in its turn.
#[test]
fn tells_systemd_when_it_is_ready_reloads_and_stops() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notify");
    let systemd = UnixDatagram::bind(&path).unwrap();
    tells_its_states(&systemd, path.as_os_str());
}

/// As container managers and users' own starters give one.
#[cfg(target_os = "linux")]
#[test]
fn tells_its_states_over_a_socket_without_a_file() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;

    // A name that nobody else has.
    let folder = TempDir::new().unwrap();
    let name = folder.path().display().to_string();
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let systemd = UnixDatagram::bind_addr(&address).unwrap();
    tells_its_states(&systemd, format!("@{name}").as_ref());
}

fn tells_its_states(systemd: &UnixDatagram, socket: &OsStr) {
    systemd.set_read_timeout(Some(PATIENCE)).unwrap();
    let heard = || {
        let mut told = [0; 1024];
        let length = systemd.recv(&mut told).unwrap();
        String::from_utf8(told[..length].to_vec()).unwrap()
    };
    let mut command = Command::new(PROGRAM);
    command.env("NOTIFY_SOCKET", socket);
    let program = Program::spawn(command, TempDir::new().unwrap(), &[]);
    assert_eq!(heard().trim(), "READY=1");
    program.signal("HUP");
    let reloading = heard();
    assert!(
        reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="),
        "{reloading}"
    );
    assert_eq!(heard().trim(), "READY=1");
    let (_, log, code) = program.stop("TERM");
    assert_eq!(heard().trim(), "STOPPING=1");
    assert_eq!(code, Some(0), "{log}");
}

/// Whoever has asked for the reload waits for its end before it goes on.
#[test]
fn says_that_it_is_ready_again_once_the_files_were_read() {
    let folder = TempDir::new().unwrap();
    let systemd = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    systemd.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut states = vec!["READY=1"];
    let mut hear = || {
        let mut told = [0; 1024];
        let length = systemd.recv(&mut told).unwrap();
        let told = String::from_utf8_lossy(&told[..length]).into_owned();
        assert!(told.starts_with(states.remove(0)), "{told}");
        states.extend(["RELOADING=1", "READY=1"]);
    };
    let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
    let pki_folder = folder.path().join("pki");
    pki.write(&pki_folder).unwrap();
    let [chain, key] = ["server.pem", "server.key"].map(|name| pki_folder.join(name));
    let mut command = Command::new(PROGRAM);
    command
        .env("NOTIFY_SOCKET", folder.path().join("notify"))
        .args(["--watch=86400", "--cert"])
        .arg(chain)
        .arg("--key")
        .arg(key);
    let program = Program::spawn(command, TempDir::new().unwrap(), &[]);
    hear();
    for _ in 0..20 {
        program.signal("HUP");
        hear();
        hear();
    }
    let (_, log, _) = program.stop("KILL");
    assert_eq!(log.matches("certificates unchanged").count(), 20, "{log}");
}

/// A connection takes a descriptor, and the usual limit is as large as that of connections.
#[cfg(target_os = "linux")]
#[test]
fn has_descriptors_for_its_connections() {
    let started = |limit: &str| {
        let mut shell = Command::new("sh");
        let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
        shell.args(["-c", &script, PROGRAM]);
        Program::spawn(shell, TempDir::new().unwrap(), &["--max-connections=200"])
    };
    let warning = "more connections than the process may have descriptors";
    for (limit, allowed, is_enough) in [("-Sn 100", "264", true), ("-n 100", "100", false)] {
        let program = started(limit);
        let limits = fs::read_to_string(format!("/proc/{}/limits", program.id())).unwrap();
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max open files"));
        let soft = line.unwrap().split_whitespace().nth(3);
        assert_eq!(soft, Some(allowed));
        let (_, log, _) = program.stop("TERM");
        assert_eq!(log.contains(warning), !is_enough, "{log}");
    }
}

/// Starts the program with one more socket.
fn with_descriptor(socket: OwnedFd, name: &str, address: &str) -> Program {
    let command = inheriting(socket, name);
    Program::spawn(command, TempDir::new().unwrap(), &["--listen", address])
}

/// The program with one more socket, as descriptors 3 and 4: it is told of as many as there are names.
fn inheriting(socket: OwnedFd, names: &str) -> Command {
    let mut shell = Command::new("sh");
    // The shell's process becomes that of the program.
    let script = "exec 3<&0 4<&0 0</dev/null; LISTEN_PID=$$ exec \"$0\" \"$@\"";
    shell
        .args(["-c", script, PROGRAM])
        .env("LISTEN_FDNAMES", names)
        .env("LISTEN_FDS", names.split(':').count().to_string())
        .stdin(Stdio::from(socket));
    shell
}

/// The page, over a Unix socket.
async fn ask(client: &Client, path: &Path) -> String {
    let start = Instant::now();
    let unix = UnixStream::connect(path).await.unwrap();
    let connector = TlsConnector::from(client.config());
    let mut tls = connector
        .connect("localhost".try_into().unwrap(), unix)
        .await
        .unwrap();
    tls.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    let read = tokio::time::timeout(PATIENCE, tls.read_to_string(&mut answer)).await;
    read.unwrap_or_else(|_| panic!("no answer in {:?}", start.elapsed()))
        .unwrap();
    answer
}

//! The page `docs/ca.md`: from nothing to a CA with three replicas, and what is done with it. Its commands are run one after the other, each of
//! which has to succeed; the machines are folders of this one, and the database and the addresses are those of this test.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::io::copy;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use alloc::sync::Arc;

use databases::Cluster;

use crate::ca_served::{Serving, ask, until};
use crate::folder::Folder;

const PAGE: &str = include_str!("../../../docs/ca.md");
/// Where the page has a machine's copy of the CA's folder.
const PLACE: &str = "/var/lib/pqtls-ca";
/// The replicas' machines.
const MACHINES: usize = 3;

/// A port that was free just now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A proxy that passes each connection on to the next of the ports on which somebody listens. It lives as long as the process.
fn proxy(ports: Vec<u16>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    let next = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (ports, next) = (ports.clone(), next.clone());
            thread::spawn(move || {
                let tries = ports.iter().map(|_| next.fetch_add(1, Ordering::Relaxed));
                let mut connected = tries.filter_map(|number| {
                    TcpStream::connect(("127.0.0.1", ports[number % ports.len()])).ok()
                });
                if let Some(server) = connected.next() {
                    pass_on(client, server);
                }
            });
        }
    });
    own
}

/// Passes on what comes from either side until both have ended.
fn pass_on(client: TcpStream, server: TcpStream) {
    let (mut from_client, mut to_client) = (client.try_clone().unwrap(), client);
    let (mut from_server, mut to_server) = (server.try_clone().unwrap(), server);
    let answers = thread::spawn(move || {
        // Either side may end a connection.
        let _ = copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    let _ = copy(&mut from_client, &mut to_server);
    let _ = to_server.shutdown(Shutdown::Write);
    answers.join().unwrap();
}

/// What stands for the page's machines.
struct Machines {
    folder: Folder,
    cluster: Cluster,
    /// What replaces each word of the page. Each is used.
    replaced: Vec<(&'static str, String, AtomicUsize)>,
    /// For each replica: `--listen` and `--plain`.
    ports: Vec<(u16, u16)>,
    serving: Vec<Serving>,
}

impl Machines {
    /// `None` if there is no PostgreSQL, which is said.
    fn new() -> Option<Self> {
        let cluster = Cluster::new(&["fsync=off", "synchronous_commit=off"])?;
        let host = cluster.folder().display().to_string().replace('/', "%2F");
        let ports: Vec<_> = (0..MACHINES).map(|_| (free_port(), free_port())).collect();
        let tls = proxy(ports.iter().map(|(tls, _)| *tls).collect());
        let plain = proxy(ports.iter().map(|(_, plain)| *plain).collect());
        let http = free_port();
        let database = format!("postgres://postgres@{host}/postgres");
        let replaced = [
            // The algorithm makes no difference but of time.
            (
                "pqtls ca init ",
                "pqtls ca init --ip 127.0.0.0/8 --algorithm ML-DSA-44 ".into(),
            ),
            (
                "postgres://ca@db.example.org/ca?sslrootcert=/etc/ssl/db-root.pem",
                format!("{database}?connect_timeout=120&timeout=120"),
            ),
            ("postgresql://ca@db.example.org/ca", format!("'{database}'")),
            ("https://ca.example.org", format!("https://127.0.0.1:{tls}")),
            ("http://ca.example.org", format!("http://127.0.0.1:{plain}")),
            ("--name ca.example.org", "--name 127.0.0.1".into()),
            ("www.example.org", "127.0.0.1".into()),
            ("--http-01", format!("--http-01=127.0.0.1:{http}")),
            (
                " --acme ",
                format!(" --acme --ask 127.0.0.0/8 --resolver 127.0.0.1:1 --http-01-port {http} "),
            ),
            ("127.0.0.1:9464", "127.0.0.1:0".into()),
        ];
        Some(Self {
            folder: Folder::new(),
            cluster,
            replaced: replaced
                .into_iter()
                .map(|(word, here)| (word, here, AtomicUsize::new(0)))
                .collect(),
            ports,
            serving: Vec::new(),
        })
    }

    /// A line of the page as it is here.
    fn here(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for (word, here, count) in &self.replaced {
            if line.contains(word) {
                count.fetch_add(1, Ordering::Relaxed);
                line = line.replace(word, here);
            }
        }
        line
    }

    /// Runs a line: on each machine if it is about the place of a copy.
    fn run(&mut self, line: &str) {
        let here = self.here(line);
        if !here.contains(PLACE) {
            self.folder.shell(&here).ok();
            return;
        }
        for machine in 0..MACHINES {
            let place = self.folder.path().join(format!("machine-{machine}"));
            let here = here.replace(PLACE, place.to_str().unwrap());
            match line.starts_with("pqtls ca serve ") {
                true => self.serve(machine, &here),
                false => {
                    self.folder.shell(&here).ok();
                }
            }
        }
    }

    fn serve(&mut self, machine: usize, line: &str) {
        let (tls, plain) = self.ports[machine];
        let line = line
            .replace("0.0.0.0:443", &format!("127.0.0.1:{tls}"))
            .replace("0.0.0.0:80", &format!("127.0.0.1:{plain}"));
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec {line}")]);
        let log = format!("log-{machine}");
        self.serving.push(Serving::of(&self.folder, command, &log));
        until("there is a list", || {
            ask(plain, "GET /lists/issuing.crl", "", b"").0 == 200
        });
    }

    /// A client's certificate, which verifies. Returns who issued it.
    fn obtain(&self, name: &str) -> &'static str {
        let line = format!(
            "pqtls cert obtain www.example.org --from https://ca.example.org/acme/directory --trust offline/root.pem \
             --http-01 --new-key {name}.key --out {name}.pem"
        );
        self.folder.shell(&self.here(&line)).ok();
        self.verify(name);
        let shown = self.folder.pqtls(&format!("show {name}.pem"));
        match shown.ok().contains("CN=Example CA 2 (") {
            true => "issuing-2",
            false => "issuing",
        }
    }

    fn verify(&self, name: &str) {
        self.folder
            .pqtls(&format!("cert verify {name}.pem --roots offline/root.pem"))
            .ok();
    }
}

/// The commands of the page's section of this name.
fn section(title: &str) -> Vec<&'static str> {
    let (_, section) = PAGE.split_once(&format!("\n## {title}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("```sh\n").skip(1);
    blocks
        .flat_map(|block| block.split("```").next().unwrap().lines())
        .collect()
}

#[test]
fn every_command_of_the_page_on_cas_succeeds() {
    let Some(mut machines) = Machines::new() else {
        return;
    };
    let database = machines.cluster.start();
    let mut count = 0;
    let mut run = |machines: &mut Machines, title: &str| {
        for line in section(title) {
            machines.run(line);
            count += 1;
        }
    };
    run(&mut machines, "From nothing to three replicas");
    run(&mut machines, "Clients");
    run(&mut machines, "Back up");

    // A machine is lost, and nobody notices.
    drop(machines.serving.remove(0));
    assert_eq!(machines.obtain("without-one"), "issuing");

    // The database is lost, and what was made since the backup.
    machines.serving.clear();
    run(&mut machines, "Disasters");
    let listed = machines.folder.pqtls("ca list --json");
    let listed: serde_json::Value = serde_json::from_str(listed.ok()).unwrap();
    assert!(!listed["certificates"].as_array().unwrap().is_empty());
    let serve = section("From nothing to three replicas").pop().unwrap();
    machines.run(serve);
    machines.obtain("restored");

    // Clients get certificates before each step of the rollover and after it.
    for (number, line) in section("Roll the issuing key over").into_iter().enumerate() {
        machines.run(line);
        count += 1;
        machines.obtain(&format!("step-{number}"));
    }
    until("the new key issues", || {
        machines.obtain("new") == "issuing-2"
    });
    for name in ["web", "restored", "step-0", "new"] {
        machines.verify(name);
    }
    let unused: Vec<_> = machines
        .replaced
        .iter()
        .filter(|(_, _, count)| count.load(Ordering::Relaxed) == 0)
        .map(|(word, ..)| word)
        .collect();
    assert!(unused.is_empty(), "{unused:?}");
    let blocks = PAGE.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    assert_eq!(lines.count(), count);
    drop(database);
}

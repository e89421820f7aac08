//! The replicas: processes that are killed and started again.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU16, Ordering};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;

use super::names::Names;
use crate::ca_served::{try_ask, until};
use crate::folder::Folder;
use crate::served::port_of;

/// One of them. Its ports are 0 while it starts.
#[derive(Default)]
struct Ports {
    tls: AtomicU16,
    plain: AtomicU16,
}

struct Replica {
    child: Mutex<Child>,
    ports: Arc<Ports>,
    line: String,
    log: PathBuf,
    folder: PathBuf,
}

/// All of them. They end when this is dropped.
pub(super) struct Replicas(Vec<Replica>);

/// Where clients reach them, as if a balancer were in front of them.
pub(super) const URL: &str = "https://localhost";

impl Replicas {
    /// Starts so many, and waits until all serve.
    pub(super) fn start(
        folder: &Folder,
        count: usize,
        [_, objects]: &[String; 2],
        names: &Names,
    ) -> Self {
        let replicas = (0..count).map(|number| {
            // As on a machine of its own, which has a copy of the CA's folder.
            folder.shell(&format!("cp -r ca ca-{number}")).ok();
            let line = format!(
                "ca serve --dir ca-{number} --name localhost --url {URL} --listen 127.0.0.1:0 --plain 127.0.0.1:0 \
                 --list-every 1s --acme --acme-objects {objects} --ask 127.0.0.0/8 --resolver {} --http-01-port {}",
                names.resolver, names.http
            );
            let log = folder.path().join(format!("log-{number}"));
            let ports = Arc::default();
            let path = folder.path().to_owned();
            let child = Mutex::new(spawn(&path, &line, &log, &ports));
            Replica {
                child,
                ports,
                line,
                log,
                folder: path,
            }
        });
        let replicas = Self(replicas.collect());
        until("all replicas serve", || {
            let mut all = replicas.0.iter();
            all.all(|one| one.ports.tls.load(Ordering::Relaxed) > 0)
        });
        replicas
    }

    /// As `kill -9`, and starts it again, unless it does not serve yet. Those that ended by themselves, since there was no
    /// database, are started, too. Returns whether it was killed.
    pub(super) fn kill(&self, number: usize) -> bool {
        let serves = self.0[number].ports.tls.load(Ordering::Relaxed) > 0;
        for (index, one) in self.0.iter().enumerate() {
            let mut child = one.child.lock().unwrap();
            if index == number && serves {
                child.kill().unwrap();
                child.wait().unwrap();
            } else if child.try_wait().unwrap().is_none() {
                continue;
            }
            one.ports.tls.store(0, Ordering::Relaxed);
            *child = spawn(&one.folder, &one.line, &one.log, &one.ports);
        }
        serves
    }

    /// The ports of those that serve, as far as is known.
    pub(super) fn ports(&self) -> Vec<u16> {
        let ports = self.0.iter();
        let ports = ports.map(|one| one.ports.tls.load(Ordering::Relaxed));
        ports.filter(|port| *port > 0).collect()
    }

    /// The revocation lists that they hand out now.
    pub(super) fn lists(&self) -> Vec<Vec<u8>> {
        let lists = self.0.iter().filter_map(|one| {
            let port = one.ports.plain.load(Ordering::Relaxed);
            try_ask(port, "GET /lists/issuing.crl", "", b"").ok()
        });
        let found = lists.filter(|(status, _)| *status == 200);
        found.map(|(_, list)| list).collect()
    }
}

fn spawn(folder: &Path, line: &str, log: &Path, ports: &Arc<Ports>) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pqtls"));
    let log = File::options().create(true).append(true).open(log).unwrap();
    command
        .args(line.split_whitespace())
        .current_dir(folder)
        .env_remove("PQTLS_CA")
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log);
    let mut child = command.spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let ports = ports.clone();
    thread::spawn(move || {
        let mut lines = output.lines().map_while(Result::ok);
        let (Some(tls), Some(plain)) = (lines.next(), lines.next()) else {
            return;
        };
        // The directory's line says that ACME is there.
        if lines.next().is_some() {
            ports.plain.store(port_of(&plain), Ordering::Relaxed);
            ports.tls.store(port_of(&tls), Ordering::Relaxed);
        }
        lines.for_each(drop);
    });
    child
}

impl Drop for Replicas {
    fn drop(&mut self) {
        for one in &self.0 {
            let mut child = one.child.lock().unwrap();
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
